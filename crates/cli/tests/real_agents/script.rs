//! What the model says to each role, in the order of a usual run. Nothing here names a program or its tools.

use serde_json::{Value, json};
use windlass_test_support::scripted_model::{Action, ModelScript, ScriptEntry, Turn, Usage};

pub(crate) const TASK: &str = "TASK-1";

/// The file that the task is about, and what it must say in the end.
pub(crate) const FILE: &str = "word.txt";
pub(crate) const RIGHT: &str = "right";

/// Figures that differ from turn to turn, so that one that is left out or counted twice cannot hide.
pub(crate) const fn figures(number: u64) -> Usage {
    Usage { input: 1000 + 7 * number, cached: 100 + number, output: 50 + 3 * number, reasoning: 0 }
}

pub(crate) fn doer(round: u32) -> ScriptEntry {
    ScriptEntry::when("Role: doer").and(&format!("Round: {round} of"))
}

pub(crate) fn judge(round: u32) -> ScriptEntry {
    ScriptEntry::when("Role: judge").and(&format!("Round: {round} of"))
}

pub(crate) fn auditor() -> ScriptEntry {
    ScriptEntry::when("Role: auditor")
}

/// A command for the shell of the doer: it writes the file and hands over.
pub(crate) fn work(word: &str) -> String {
    format!("echo {word} > {FILE} && {}", hand_over())
}

/// The hand-off by a shell command, to where the environment says.
pub(crate) fn hand_over() -> String {
    let handoff = json!({
        "task_id": TASK, "summary": "wrote the word", "requirements_touched": [], "files_touched": [FILE],
        "assumptions": [], "smoke_checks": [], "notes": "",
    });
    format!("printf '%s' '{handoff}' > \"$WINDLASS_OUTBOX/handoff.json\"")
}

pub(crate) fn verdict(word: &str) -> Value {
    let complaint = "the word is wrong";
    let (reasons, changes) = match word {
        "pass" => (json!([]), json!([])),
        _ => (json!([{ "check": "word", "details": complaint }]), json!([complaint])),
    };
    json!({
        "task_id": TASK, "verdict": word, "reasons": reasons, "required_changes": changes,
        "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": "",
        "waivers": [],
    })
}

pub(crate) fn audit(gate: &str) -> Value {
    json!({
        "task_id": TASK, "gate": gate, "risk": { "level": "low", "reasons": [] }, "findings": [],
        "policy": { "artifact_integrity": "pass", "eval_commands": "pass" },
        "traceability": { "task_id_match": "pass", "requirements_coverage": "pass", "issues": [] },
        "required_actions": [], "notes": "",
    })
}

/// A doer that does this in its shell and says that it is done.
pub(crate) fn working(entry: ScriptEntry, command: &str) -> ScriptEntry {
    entry.turn(Turn::shell(command).usage(figures(1))).turn(Turn::say("Done.").usage(figures(2)))
}

/// A checker that looks at the file and answers.
pub(crate) fn answering(entry: ScriptEntry, answer: Value) -> ScriptEntry {
    entry
        .turn(Turn::read(&format!("${{cwd}}/{FILE}")).usage(figures(3)))
        .turn(Turn::answer(answer).usage(figures(4)))
        // A program with a tool for the answer asks once more after it was used.
        .turn(Turn::new(Action::Say("That is my answer.".to_owned())).usage(figures(5)))
}

/// A wrong word in the first round, which the judge sends back, and the right one in the second.
pub(crate) fn two_rounds() -> ModelScript {
    ModelScript::new()
        .entry(working(doer(1), &work("wrong")))
        .entry(working(doer(2).and("the word is wrong"), &work(RIGHT)))
        .entry(answering(judge(1), verdict("reject")))
        .entry(answering(judge(2), verdict("pass")))
        .entry(answering(auditor(), audit("pass")))
}

/// The same, but a check sends the first round back before the judge is asked.
pub(crate) fn sent_back_by_a_check() -> ModelScript {
    ModelScript::new()
        .entry(working(doer(1), &work("wrong")))
        .entry(working(doer(2).and("`grep right word.txt` exited with 1"), &work(RIGHT)))
        .entry(answering(judge(2), verdict("pass")))
        .entry(answering(auditor(), audit("pass")))
}
