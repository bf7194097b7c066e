//! Maker and checkers of different vendors, where the user wants that.

use super::Stage;

#[test]
fn the_same_vendor_twice_is_refused_with_the_reason() {
    let stage = Stage::new();
    let run = |flags: &[&str], code: u8| {
        stage.run(&[&["--dry-run", "--distinct-vendors"], flags].concat()).exits_with(code).stderr
    };
    run(&["--doer", "codex", "--judge", "claude"], 0);
    run(&["--doer", "codex", "--judge", "opencode:anthropic/claude-opus"], 0);
    let said = run(&["--doer", "codex", "--judge", "copilot:gpt-5.1"], 2);
    assert!(said.contains("`codex` and the judge `copilot:gpt-5.1` are both of openai"), "{said}");
    let said = run(&["--doer", "codex", "--judge", "claude", "--judge-fallback", "codex"], 2);
    assert!(said.contains("the judge `codex` are both of openai"), "{said}");
    let said = run(&["--doer", "codex", "--judge", "opencode"], 2);
    assert!(said.contains("nobody can tell the vendor of the judge's agent `opencode`"), "{said}");
}

#[test]
fn two_vendors_work_together() {
    let stage = Stage::new();
    stage.install_codex();
    stage.install_claude();
    let outcome = stage.outcome(0, &["--doer", "claude", "--judge", "codex", "--distinct-vendors"]);
    assert_eq!(outcome["status"], "accepted");
}
