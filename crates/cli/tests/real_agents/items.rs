//! One item of a goal loop, built and graded by real programs: failed once with a root cause, built again by somebody
//! who was told it, passed and committed.

use crate::script::{answering, figures};
use crate::stage::{Stage, word_for};
use serde_json::{Value, json};
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{ModelScript, ScriptEntry, Turn};

const QUEUE: &str = r#"{ "features": [ { "id": "F001", "name": "Word", "priority": 1, "status": "not-started",
  "description": "word.txt says right", "acceptance_criteria": ["word.txt says right"],
  "contract": { "deliverable": "word.txt", "verification": "grep" }, "dependencies": [], "affected_files": ["word.txt"] } ] }
"#;

const CONTRACT: &str = "# Loop Contract\n\n## Goal (verifiable end state)\nThe word is right.\n\n## Scope (in-scope feature IDs)\n\
    - Include: [F001]\n\n## Autonomy Level\nL2 (assisted)\n\n## Verification (what can say \"no\")\n- Full test suite green\n\
    - Test command: `sh test.sh`\n\n## Triage Inbox\n(empty)\n";

const CAUSE: &str = "the word is wrong";

fn evaluation(pass: bool) -> Value {
    let score = |score: u8| json!({ "score": score, "reason": "seen in the change" });
    let (word, low) = if pass { ("PASS", 5) } else { ("FAIL", 2) };
    let cause = if pass {
        json!({ "category": "none", "location": "", "text": "" })
    } else {
        json!({ "category": "correctness", "location": "word.txt", "text": CAUSE })
    };
    json!({
        "item_id": "F001", "verdict": word, "cause": cause, "issues": [], "fix": "", "waivers": [],
        "scores": { "completeness": score(5), "correctness": score(low), "code_quality": score(5),
            "test_coverage": score(4), "architecture_fit": score(5) },
    })
}

fn building(entry: ScriptEntry, word: &str) -> ScriptEntry {
    let command = format!(
        "echo {word} > word.txt && printf '## Built\\n\\nWrite the {word} word.\\n' > \"$WINDLASS_OUTBOX/report.md\""
    );
    entry.turn(Turn::shell(&command).usage(figures(1))).turn(Turn::say("Done.").usage(figures(2)))
}

fn is_built_graded_and_committed(program: AgentProgram) {
    let builder = || ScriptEntry::when("You build exactly one item");
    let evaluator = || ScriptEntry::when("You grade exactly one item");
    let script = ModelScript::new()
        .entry(building(builder().and(CAUSE), "right"))
        .entry(building(builder(), "wrong"))
        .entry(answering(evaluator().and("+right"), evaluation(true)))
        .entry(answering(evaluator(), evaluation(false)));
    let Some(stage) = Stage::with(&[program], script) else { return };
    stage
        .repository
        .write("docs/FEATURES.json", QUEUE)
        .write("docs/LOOP.md", CONTRACT)
        .write("test.sh", "echo 'ok 1 - there is a shell'\n")
        .commit("set up");
    let running = stage.world.start_windlass(&[
        "goal",
        "run",
        "--repo",
        stage.repository.text(),
        "--yes",
        "--json",
        "--agent",
        &word_for(program),
    ]);
    let played = stage.played(running).exits_with(0, &stage);
    assert_eq!(played.outcome["goal"]["outcome"], "SUCCESS", "{:#}", played.outcome);
    let branch = played.outcome["goal"]["branch"].as_str().unwrap().to_owned();
    assert_eq!(stage.repository.git(&["show", &format!("{branch}:word.txt")]), "right");
    let subjects = stage.repository.git(&["log", "--format=%s", &branch]);
    assert!(subjects.contains("feat(F001): Write the right word"), "{subjects}");
    let results: Vec<&Value> = played.outcome["goal"]["iterations_done"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["result"])
        .collect();
    assert_eq!(results, ["rework", "accepted"], "{:#?}", stage.turns());
    stage.assert_all_counted();
    let _ = stage.world.windlass(&["verify", &stage.id()]).exits_with(0);
}

#[test]
fn codex_builds_and_grades_an_item() {
    is_built_graded_and_committed(AgentProgram::Codex);
}

#[test]
fn claude_builds_and_grades_an_item() {
    is_built_graded_and_committed(AgentProgram::Claude);
}

/// The other programs answer in the same ways as these three, and start more slowly.
#[test]
fn copilot_builds_and_grades_an_item() {
    is_built_graded_and_committed(AgentProgram::Copilot);
}
