//! Real programs as checkers: an answer in the wrong form is sent back once in the same conversation, and whoever is told
//! to write finds that it cannot.

use crate::script::{FILE, audit, auditor, figures, judge, verdict};
use crate::stage::Stage;
use serde_json::Value;
use std::path::Path;
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{Action, ModelScript, RequestKind, ScriptEntry, Turn};

/// Words where an object was asked for, then an object that is no verdict: one repair in the same conversation, then a
/// person has to look.
fn is_asked_to_mend_its_answer_once(program: AgentProgram) {
    let vague = Turn::say("It looks fine to me.").usage(figures(1));
    let wrong = Turn::say(r#"{"verdict":"maybe"}"#).usage(figures(2));
    let script = ModelScript::new().entry(judge(1).turn(vague).turn(wrong).last_again());
    let Some(stage) = Stage::with(&[program], script) else { return };
    let played = stage.played(stage.start_judge(program, &["--rounds", "1"]));
    let played = played.exits_with(11, &stage);
    let reason = "the judge left no readable answer, also when asked again";
    assert!(played.explained().contains(reason), "{:#}", played.outcome);
    assert!(played.explained().contains("maybe"), "{:#}", played.outcome);
    assert_eq!(stage.facts_of("repair-asked").len(), 1);
    let conversations: Vec<String> = stage
        .model
        .requests()
        .into_iter()
        .filter_map(|request| match request.kind {
            RequestKind::Turn { conversation, .. } => Some(conversation),
            _ => None,
        })
        .collect();
    assert!(conversations.len() >= 2, "{conversations:?}");
    assert!(conversations.iter().all(|name| *name == conversations[0]), "{conversations:?}");
    let last = stage.model.requests().pop().unwrap().prompt;
    assert!(last.contains("## What is wrong"), "{last}");
    // Claude asks for the object again by itself, so it is told what is wrong with that one.
    if program != AgentProgram::Claude {
        assert!(last.contains("the final message holds no JSON object"), "{last}");
    }
    stage.assert_all_counted();
}

/// Told to change the tree, every worktree beside it and its own outbox to a yes, and then to say no.
fn told_to_write(checker: ScriptEntry, file: &str, [yes, no]: [Value; 2]) -> ModelScript {
    let forged = yes.to_string();
    let everywhere = format!(
        "for place in \"${{cwd}}\" \"${{cwd}}\"/../*; do echo forged > \"$place/forged.txt\"; done; \
         echo forged > {FILE}; printf %s '{forged}' > \"$WINDLASS_OUTBOX/{file}\""
    );
    let write = |path: &str, text: &str| Action::Write { path: path.to_owned(), text: text.to_owned() };
    let tries = Turn::shell(&everywhere)
        .then(write("${cwd}/forged.txt", "forged"))
        .then(write(&format!("${{outbox}}/{file}"), &forged))
        .then(Action::Answer(no.clone()));
    let entry = checker.turn(tries.usage(figures(1))).turn(Turn::answer(no).usage(figures(2)));
    ModelScript::new().entry(entry)
}

fn cannot_write(program: AgentProgram) {
    let script = told_to_write(judge(1), "verdict.json", [verdict("pass"), verdict("reject")]);
    let Some(stage) = Stage::with(&[program], script) else { return };
    let played = stage.played(stage.start_judge(program, &["--rounds", "1"]));
    let played = played.exits_with(10, &stage);
    assert_eq!(played.outcome["judge_verdict"], "reject");
    let left = forged_files(stage.world.path(), "verdict.json");
    assert_eq!(left, Vec::<String>::new(), "a reader wrote");
    stage.assert_all_counted();
}

fn cannot_write_as_auditor(program: AgentProgram) {
    let script = told_to_write(auditor(), "audit.json", [audit("pass"), audit("fail")]);
    let Some(stage) = Stage::with(&[program], script) else { return };
    let played = stage.played(stage.start_auditor(program, &["--rounds", "1"]));
    let played = played.exits_with(10, &stage);
    let said = (&played.outcome["judge_verdict"], &played.outcome["audit_gate"]);
    assert_eq!(said, (&"pass".into(), &"fail".into()));
    let left = forged_files(stage.world.path(), "audit.json");
    assert_eq!(left, Vec::<String>::new(), "a reader wrote");
    stage.assert_all_counted();
}

/// Files that only a forger writes, one of them the answer in the outbox.
fn forged_files(directory: &Path, answer: &str) -> Vec<String> {
    let answer = Path::new("outbox").join(answer);
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() == "forged.txt" || entry.path().ends_with(&answer) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

each_program!(is_asked_to_mend_its_answer_once);
each_program!(cannot_write);
each_program!(cannot_write_as_auditor);

#[test]
fn the_acp_adapter_cannot_write_as_judge() {
    cannot_write(AgentProgram::ClaudeAgentAcp);
}

#[test]
fn the_acp_adapter_cannot_write_as_auditor() {
    cannot_write_as_auditor(AgentProgram::ClaudeAgentAcp);
}
