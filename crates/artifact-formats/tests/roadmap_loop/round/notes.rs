//! Sections 10.5, 18 and 25.3: implementation notes, direct evidence of simple tasks, and how far workers are.

use windlass_artifact_formats::roadmap_loop::closeout::CloseoutMode;
use windlass_artifact_formats::roadmap_loop::round::{
    DirectEvidence, Notes, RoundPlan, Worker, WorkerState, Workplace, consumes, handoff_faults, worker_state,
};

use super::{NUMBERED, fan_out_record, sentences};

pub(crate) const NOTES: &str = "### Changes Made
- src/parser.rs: spans

### Tests
- spans_of_rows: proves that rows have spans

### Notes
none
";

pub(crate) const DIRECT: &str = "### Changes Made
- src/parser.rs: spans

### Direct Verification
- Command: `make test`
  Result: pass. 4 examples, 0 failures
- Command: `git diff --check`
  Result: PASS

### Direct Closeout
- Mode: none
- Status changes: none
- Completion pointers: none
- History entries: none
- Semantic update reason: none
";

fn a_worker() -> Worker {
    RoundPlan::from_record(NUMBERED, &fan_out_record(NUMBERED).to_string()).expect("a plan").workers.remove(0)
}

#[test]
fn notes_say_what_was_changed_and_tested() {
    let notes = Notes::parse(NOTES).unwrap();
    assert_eq!(notes.changes_made, "- src/parser.rs: spans");
    assert!(notes.tests.contains("spans_of_rows") && !notes.claims_direct);
    assert!(Notes::parse(DIRECT).unwrap().claims_direct);
    for (from, expected) in [("### Changes Made", "### Changes Made"), ("### Tests", "### Tests")] {
        let found = sentences(Notes::parse(&NOTES.replace(from, "### Other")));
        assert!(found.starts_with("implementation-notes.md") && found.contains(expected), "{found}");
    }
    assert!(sentences(Notes::parse("### Changes Made\n\n### Tests\nx\n")).contains("must not be empty"));
}

#[test]
fn direct_evidence_is_pairs_that_pass_and_a_closeout() {
    let evidence = DirectEvidence::parse(DIRECT, "milestone-4").unwrap();
    let commands: Vec<&str> = evidence.checks.iter().map(|check| check.command.as_str()).collect();
    assert_eq!(commands, ["make test", "git diff --check"]);
    assert_eq!(evidence.closeout.mode, CloseoutMode::None);
    let closing = DIRECT
        .replace("Mode: none", "Mode: status-only")
        .replace("Completion pointers: none", "Completion pointers: the round\n  closed it");
    let closing = DirectEvidence::parse(&closing, "milestone-4").unwrap().closeout;
    assert_eq!(closing.completion_pointers[0].text, "the round closed it");
}

#[test]
fn missing_ambiguous_or_failing_direct_evidence_does_not_count() {
    for (from, to, expected) in [
        ("### Direct Verification", "### Verification", "### Direct Verification"),
        ("### Direct Closeout", "### Closeout", "### Direct Closeout"),
        ("### Changes Made", "### Changes", "### Changes Made"),
        ("Result: PASS", "Result: fail, one test", "did not pass"),
        ("Result: PASS", "Result: after a fix, rerun passed", "must begin with pass or fail"),
        ("Result: PASS", "Result: not run", "must begin with pass or fail"),
        ("  Result: PASS\n", "", "has no result"),
        ("- Command: `git diff --check`\n", "", "has no command"),
        ("Mode: none", "Mode: semantic-update-required", "cannot change the roadmap"),
        ("Status changes: none", "Status changes: milestone-4 to done", "allows no status changes"),
        ("- History entries: none\n", "", "History entries:"),
    ] {
        let text = DIRECT.replacen(from, to, 1);
        assert_ne!(text, DIRECT);
        let found = sentences(DirectEvidence::parse(&text, "milestone-4"));
        assert!(found.contains(expected), "{from}: {found}");
    }
    let empty = "### Changes Made\nx\n\n### Direct Verification\nall fine\n\n### Direct Closeout\n";
    assert!(sentences(DirectEvidence::parse(empty, "m")).contains("no pair of Command and Result"));
}

#[test]
fn a_worker_is_pending_running_complete_integrated_or_blocked() {
    let worker = a_worker();
    let state = |place, notes, handoff, round| worker_state(&worker, place, notes, handoff, round);
    let ready = "### Handoff\n- Status: ready\n- Blocker: none\n";
    let blocked = "### Handoff\n- Status: blocked\n- Blocker: the grammar\n  is not decided\n";
    let integrated = "### Integrated Workers\n- `lexer`: taken whole\n- parser.\n";
    let wanted = WorkerState::Blocked("the grammar is not decided".to_owned());
    assert_eq!(state(Workplace::Absent, None, None, None), WorkerState::Pending);
    assert_eq!(state(Workplace::Present, None, None, None), WorkerState::Running);
    assert_eq!(
        state(Workplace::Present, Some(NOTES), Some("### Handoff\nsoon\n"), None),
        WorkerState::Running
    );
    assert_eq!(state(Workplace::Present, None, Some(ready), Some(NOTES)), WorkerState::Complete);
    assert_eq!(state(Workplace::Absent, None, Some(ready), Some(integrated)), WorkerState::Integrated);
    assert_eq!(state(Workplace::Present, None, Some(blocked), None), wanted);
    assert_eq!(
        state(Workplace::Present, Some("### Blocker\nthe grammar is not decided\n"), None, None),
        wanted
    );
    assert!(matches!(
        state(Workplace::Present, None, Some("Status: blocked"), None),
        WorkerState::Blocked(_)
    ));
    assert!(matches!(state(Workplace::Unobservable, None, None, None), WorkerState::Blocked(_)));
    assert!(consumes(integrated, "parser") && !consumes(integrated, "pars") && !consumes(NOTES, "parser"));
}

#[test]
fn rule_18_a_handoff_says_ready_or_blocked_once_and_else_where_it_goes_wrong() {
    let said = |text: &str| handoff_faults("lexer", text).map(|faults| faults.to_string());
    for fine in ["- Status: ready\n", "Status: `completed`\n", "- Status: blocked\n- Blocker: the grammar\n"]
    {
        assert_eq!(said(fine), None, "{fine}");
    }
    // Said twice and the same is said once.
    assert_eq!(said("- Status: ready\n\nMore words.\n\n- Status: done\n"), None);
    for (text, expected) in [
        ("### Handoff\nAll done.\n", "there is no line `Status:`; it must say ready or blocked"),
        ("", "there is no line `Status:`"),
        (
            "### Handoff\n- Status: nearly there\n",
            "line 2: Status: must be ready or blocked; found \"nearly there\"",
        ),
        ("- Status:\n", "line 1: Status: must be ready or blocked; found \"\""),
        (
            "- Status: ready\n- Blocker: none\n- Status: blocked\n",
            "line 3: Status: says something else than line 1",
        ),
        ("<!-- Status: ready\n", "line 1: a comment is opened and not closed"),
    ] {
        let found = said(text).unwrap_or_else(|| panic!("{text:?} is no handoff"));
        assert!(found.starts_with("workers/lexer/handoff.md") && found.contains(expected), "{found}");
    }
}
