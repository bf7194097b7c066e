//! Where an unfinished run goes on, how a run directory is recognised, and what departs from its layout.

use windlass_artifact_formats::task_loop::{
    AuditMode, DoerStart, Entry, EntryKind, FinalVerdict, Gate, LayoutProblem, NeedsHuman, Position,
    RunDirectory, RunDirectoryName, RunKind, RunRules, Stated, Verdict, check_layout,
};

const RULES: RunRules = RunRules { max_rounds: 3, audit: AuditMode::Required, needs_human: NeedsHuman::Stop };

/// A listing from file names below the run directory; the directories above them are added.
fn listing(files: &[&str]) -> RunDirectory {
    let mut entries = vec![Entry { path: "rounds".to_owned(), kind: EntryKind::Directory }];
    for file in files.iter().chain(&["task.txt", "worktrees.env"]) {
        let mut path = *file;
        let mut kind = EntryKind::File;
        if let Some(directory) = path.strip_suffix('/') {
            path = directory;
            kind = EntryKind::Directory;
        }
        entries.push(Entry { path: path.to_owned(), kind });
        while let Some((parent, _)) = path.rsplit_once('/') {
            entries.push(Entry { path: parent.to_owned(), kind: EntryKind::Directory });
            path = parent;
        }
    }
    RunDirectory::new(entries)
}

fn round(number: u32, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("rounds/round-{number}/{name}")).collect()
}

fn run(rounds: &[Vec<String>]) -> RunDirectory {
    listing(&rounds.concat().iter().map(String::as_str).collect::<Vec<_>>())
}

const DELIVERED: [&str; 3] = ["doer.prompt.md", "handoff.json", "patch.diff"];
const JUDGED: [&str; 5] = ["doer.prompt.md", "handoff.json", "patch.diff", "judge.prompt.md", "verdict.json"];
const AUDITED: [&str; 7] = [
    "doer.prompt.md",
    "handoff.json",
    "patch.diff",
    "judge.prompt.md",
    "verdict.json",
    "audit.prompt.md",
    "audit.json",
];

fn judged(verdict: Verdict) -> RunDirectory {
    run(&[round(1, &JUDGED)]).with_verdict(1, Stated::Known(verdict))
}

fn audited(gate: Gate) -> RunDirectory {
    let pass = Stated::Known(Verdict::Pass);
    run(&[round(1, &AUDITED)]).with_verdict(1, pass).with_gate(1, Stated::Known(gate))
}

fn summary(rounds_completed: u32, final_verdict: FinalVerdict) -> Position {
    Position::WriteSummary { rounds_completed, final_verdict }
}

#[test]
fn prompt_only_goes_on_with_the_same_doer() {
    let again = Position::Doer { round: 1, start: DoerStart::Again };
    for names in
        [&["doer.prompt.md"][..], &["doer.prompt.md", "patch.diff"], &["doer.prompt.md", "handoff.json"]]
    {
        assert_eq!(run(&[round(1, names)]).position(RULES), again, "{names:?}");
    }
    assert_eq!(listing(&["rounds/round-1/"]).position(RULES), again);
}

#[test]
fn patch_and_hand_off_without_verdict_go_on_with_the_judge() {
    assert_eq!(run(&[round(1, &DELIVERED)]).position(RULES), Position::TransferAndJudge { round: 1 });
}

#[test]
fn an_unreadable_verdict_is_asked_for_again() {
    let directory = run(&[round(1, &JUDGED)]).with_verdict(1, Stated::Unreadable);
    assert_eq!(directory.position(RULES), Position::TransferAndJudge { round: 1 });
}

#[test]
fn a_reject_with_rounds_left_goes_on_with_the_next_doer_and_that_feedback() {
    let next = Position::Doer { round: 2, start: DoerStart::AfterVerdict { round: 1 } };
    assert_eq!(judged(Verdict::Reject).position(RULES), next);
}

#[test]
fn a_reject_in_the_last_round_goes_on_with_the_summary() {
    let rules = RunRules { max_rounds: 1, ..RULES };
    assert_eq!(judged(Verdict::Reject).position(rules), summary(1, FinalVerdict::Reject));
}

#[test]
fn needs_human_stops_unless_the_original_behaviour_is_asked_for() {
    assert_eq!(judged(Verdict::NeedsHuman).position(RULES), summary(1, FinalVerdict::NeedsHuman));
    assert_eq!(audited(Gate::NeedsHuman).position(RULES), summary(1, FinalVerdict::NeedsHuman));
    let rules = RunRules { needs_human: NeedsHuman::Continue, ..RULES };
    let after_verdict = Position::Doer { round: 2, start: DoerStart::AfterVerdict { round: 1 } };
    assert_eq!(judged(Verdict::NeedsHuman).position(rules), after_verdict);
    let after_audit = Position::Doer { round: 2, start: DoerStart::AfterAudit { round: 1 } };
    assert_eq!(audited(Gate::NeedsHuman).position(rules), after_audit);
}

#[test]
fn a_pass_without_audit_goes_on_with_the_auditor() {
    assert_eq!(judged(Verdict::Pass).position(RULES), Position::TransferAndAudit { round: 1 });
    let unreadable = audited(Gate::Pass).with_gate(1, Stated::Unreadable);
    assert_eq!(unreadable.position(RULES), Position::TransferAndAudit { round: 1 });
}

#[test]
fn a_pass_with_the_audit_skipped_goes_on_with_the_summary() {
    let rules = RunRules { audit: AuditMode::Skipped, ..RULES };
    assert_eq!(judged(Verdict::Pass).position(rules), summary(1, FinalVerdict::Pass));
}

#[test]
fn a_gate_decides_like_the_state_machine() {
    assert_eq!(audited(Gate::Pass).position(RULES), summary(1, FinalVerdict::Pass));
    let next = Position::Doer { round: 2, start: DoerStart::AfterAudit { round: 1 } };
    assert_eq!(audited(Gate::Fail).position(RULES), next);
    let rules = RunRules { max_rounds: 1, ..RULES };
    assert_eq!(audited(Gate::Fail).position(rules), summary(1, FinalVerdict::Reject));
}

#[test]
fn only_the_highest_round_counts() {
    let directory = run(&[round(1, &JUDGED), round(2, &DELIVERED), round(10, &["doer.prompt.md"])])
        .with_verdict(1, Stated::Known(Verdict::Reject));
    assert_eq!(directory.position(RULES), Position::Doer { round: 10, start: DoerStart::Again });
}

#[test]
fn an_audit_beside_a_reject_counts_for_nothing() {
    let directory = run(&[round(1, &AUDITED)])
        .with_verdict(1, Stated::Known(Verdict::Reject))
        .with_gate(1, Stated::Known(Gate::Pass));
    let next = Position::Doer { round: 2, start: DoerStart::AfterVerdict { round: 1 } };
    assert_eq!(directory.position(RULES), next);
}

#[test]
fn a_verdict_without_hand_off_or_patch_counts_for_nothing() {
    let directory =
        run(&[round(1, &["doer.prompt.md", "verdict.json"])]).with_verdict(1, Stated::Known(Verdict::Pass));
    assert_eq!(directory.position(RULES), Position::Doer { round: 1, start: DoerStart::Again });
}

#[test]
fn the_ends_of_a_run_are_recognised() {
    assert_eq!(listing(&["summary.json"]).position(RULES), Position::Finished);
    assert_eq!(listing(&[]).position(RULES), Position::Doer { round: 1, start: DoerStart::Fresh });
    let bare = RunDirectory::new([Entry { path: "task.txt".to_owned(), kind: EntryKind::File }]);
    assert_eq!(bare.position(RULES), Position::Prepare);
    assert!(!bare.is_run());
    assert!(listing(&[]).is_run());
}

#[test]
fn a_link_in_place_of_a_file_is_not_the_file() {
    let link = Entry { path: "summary.json".to_owned(), kind: EntryKind::Other };
    let directory = RunDirectory::new([link]);
    assert_eq!(directory.position(RULES), Position::Prepare);
    let expected = LayoutProblem::WrongKind { path: "summary.json".to_owned(), expected: "regular file" };
    assert!(check_layout(&directory, RunKind::Real).contains(&expected));
}

#[test]
fn run_directory_names_end_in_date_and_time() {
    let name = RunDirectoryName::parse("TASK-a-b-20260102-030405").unwrap();
    assert_eq!(
        (name.task_id.as_str(), name.date.as_str(), name.time.as_str()),
        ("TASK-a-b", "20260102", "030405")
    );
    assert_eq!(name.to_string(), "TASK-a-b-20260102-030405");
    for other in
        ["20260102-030405", "-20260102-030405", "T-2026010-030405", "T-20260102-03040x", "T-20260102", "runs"]
    {
        assert_eq!(RunDirectoryName::parse(other), None, "{other}");
    }
}

#[test]
fn a_whole_run_has_no_layout_problem() {
    let last = ["doer.last.md", "judge.last.md", "audit.last.md", "eval-results.json", "audit-results.json"];
    let logs = ["logs/cmd-01.stdout.log", "logs/cmd-01.stderr.log"];
    let top =
        ["summary.json", "windlass.json", "worktrees/doer/src/any.rs", "worktrees/judge/"].map(str::to_owned);
    let rounds = [round(1, &JUDGED), round(2, &AUDITED), round(2, &last), round(2, &logs), top.to_vec()];
    let directory = run(&rounds)
        .with_verdict(1, Stated::Known(Verdict::Reject))
        .with_verdict(2, Stated::Known(Verdict::Pass))
        .with_gate(2, Stated::Known(Gate::Pass));
    assert_eq!(check_layout(&directory, RunKind::Real), []);
}

#[test]
fn every_departure_from_the_layout_is_named() {
    let cases: [(&str, &str); 6] = [
        ("notes.txt", "notes.txt does not belong into a run directory"),
        ("rounds/round-01/doer.prompt.md", "rounds/round-01 does not belong into a run directory"),
        ("rounds/round-2/doer.prompt.md", "rounds/round-1 is missing"),
        (
            "rounds/round-1/logs/cmd-1.stdout.log",
            "rounds/round-1/logs/cmd-1.stdout.log does not belong into a run directory",
        ),
        (
            "rounds/round-1/judge.prompt.md",
            "rounds/round-1/judge.prompt.md exists although the doer has not delivered",
        ),
        (
            "rounds/round-1/audit.json",
            "rounds/round-1/audit.json exists although the judge has not passed the round",
        ),
    ];
    for (file, problem) in cases {
        let problems: Vec<String> =
            check_layout(&listing(&[file]), RunKind::Real).iter().map(ToString::to_string).collect();
        assert!(problems.contains(&problem.to_owned()), "{file}: {problems:?}");
    }
    let missing = check_layout(&RunDirectory::default(), RunKind::Real);
    let named: Vec<String> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["task.txt is missing", "rounds is missing", "worktrees.env is missing"]);
}

#[test]
fn a_dry_run_holds_prompts_and_summary_only() {
    let entry = |path: &str, kind| Entry { path: path.to_owned(), kind };
    let prompts = ["doer", "judge", "audit"].map(|role| format!("rounds/round-1/{role}.prompt.md"));
    let mut entries: Vec<Entry> = prompts.iter().map(|path| entry(path, EntryKind::File)).collect();
    entries.push(entry("task.txt", EntryKind::File));
    entries.push(entry("summary.json", EntryKind::File));
    entries.push(entry("rounds", EntryKind::Directory));
    entries.push(entry("rounds/round-1", EntryKind::Directory));
    assert_eq!(check_layout(&RunDirectory::new(entries.clone()), RunKind::DryRun), []);
    entries.push(entry("worktrees.env", EntryKind::File));
    entries.push(entry("rounds/round-1/verdict.json", EntryKind::File));
    assert_eq!(check_layout(&RunDirectory::new(entries), RunKind::DryRun).len(), 2);
}
