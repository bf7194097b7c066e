//! Tracing, audit checks, feedback, and the verdicts and audits the engine writes itself.

use windlass_artifact_formats::task_loop::{
    ArtifactState, AuditCheck, AuditDraft, AuditReport, AuditResults, CheckName, CheckStatus, CommandEnding,
    CommandResult, EvalResults, FailedCheck, Finding, Gate, Handoff, LogNames, Reason, RequirementId,
    RiskLevel, Traceability, TracedIds, Verdict, VerdictDraft, VerdictReport, audit_for_failed_checks,
    collect_audit_checks, fallback_audit, fallback_verdict, feedback, last_lines, verdict_for_failed_checks,
};
use windlass_artifact_formats::{ExtraKeys, FaultKind, Reading};

fn ids(texts: &[&str]) -> Vec<RequirementId> {
    texts.iter().map(|text| RequirementId::parse(text).expect("the tests use sound ids")).collect()
}

fn handoff(task_id: &str, touched: &[&str]) -> Handoff {
    Handoff {
        task_id: task_id.to_owned(),
        summary: String::new(),
        requirements_touched: ids(touched),
        files_touched: Vec::new(),
        assumptions: Vec::new(),
        smoke_checks: Vec::new(),
        notes: String::new(),
        extra: ExtraKeys::default(),
    }
}

fn verdict(task_id: &str, checked: &[&str], missing: &[&str]) -> VerdictReport {
    VerdictReport {
        verdict: Verdict::Pass,
        reasons: Vec::new(),
        required_changes: Vec::new(),
        requirements_checked: ids(checked),
        requirements_missing: ids(missing),
        ..fallback_verdict(task_id)
    }
}

fn command(name: &str, exit_code: i32) -> CommandResult {
    CommandResult::from_exit_code(name, exit_code, &LogNames::in_directory("logs", 1))
}

fn statuses(checks: &[AuditCheck]) -> Vec<(&str, &str)> {
    checks.iter().map(|check| (check.name.as_str(), check.status.as_str())).collect()
}

fn draft(gate: Gate) -> AuditDraft {
    AuditDraft {
        task_id: "T".to_owned(),
        gate,
        risk_level: None,
        findings: Vec::new(),
        required_actions: Vec::new(),
        notes: String::new(),
    }
}

#[test]
fn tracing_follows_its_four_rules() {
    let trace = |touched: &[&str], checked: &[&str], missing: &[&str]| {
        Traceability::of(&handoff("T", touched), &verdict("T", checked, missing))
    };
    let nothing = trace(&[], &["RQ-001"], &[]);
    assert_eq!((nothing.ids, nothing.status()), (TracedIds::NoneTouched, CheckStatus::Unknown));
    let silent = trace(&["RQ-001"], &[], &[]);
    assert_eq!((silent.ids, silent.status()), (TracedIds::NoneInVerdict, CheckStatus::Fail));
    let gap = trace(&["RQ-001", "RQ-002", "RQ-002"], &["RQ-001"], &[]);
    assert_eq!((gap.status(), gap.untraced), (CheckStatus::Fail, ids(&["RQ-002"])));
    let covered = trace(&["RQ-001", "RQ-002"], &["RQ-001"], &["RQ-002"]);
    assert_eq!(covered.status(), CheckStatus::Pass);
    assert!(covered.contradicts_pass(), "an unmet requirement must not sail through a pass");
    assert!(!trace(&["RQ-001"], &["RQ-001"], &[]).contradicts_pass());
}

#[test]
fn six_checks_in_order_pass_on_sound_artifacts() {
    let checks = collect_audit_checks(
        &ArtifactState::Valid(handoff("T", &["RQ-001"])),
        &ArtifactState::Valid(verdict("T", &["RQ-001"], &[])),
    );
    let expected = [
        ("handoff_present", "pass"),
        ("verdict_present", "pass"),
        ("handoff_json_valid", "pass"),
        ("verdict_json_valid", "pass"),
        ("task_id_alignment", "pass"),
        ("requirements_traceability", "pass"),
    ];
    assert_eq!(statuses(&checks), expected);
}

#[test]
fn a_missing_or_broken_artifact_fails_its_checks() {
    let broken = VerdictReport::parse(b"[]", &Reading::default()).unwrap_err();
    let checks = collect_audit_checks(&ArtifactState::Missing, &ArtifactState::Invalid(broken));
    let expected = [
        ("handoff_present", "fail"),
        ("verdict_present", "pass"),
        ("handoff_json_valid", "unknown"),
        ("verdict_json_valid", "fail"),
        ("task_id_alignment", "fail"),
        ("requirements_traceability", "unknown"),
    ];
    assert_eq!(statuses(&checks), expected);
}

#[test]
fn task_ids_align_only_if_both_are_given_and_equal() {
    for (left, right, status) in [("T", "T", "pass"), ("T", "U", "fail"), ("", "", "fail"), ("T", "", "fail")]
    {
        let checks = collect_audit_checks(
            &ArtifactState::Valid(handoff(left, &[])),
            &ArtifactState::Valid(verdict(right, &[], &[])),
        );
        assert_eq!(statuses(&checks)[4], ("task_id_alignment", status), "{left:?} {right:?}");
    }
}

#[test]
fn an_audit_is_derived_from_its_results() {
    let checks = vec![
        AuditCheck::new(CheckName::TaskIdAlignment, CheckStatus::Fail, "two tasks"),
        AuditCheck::new(CheckName::RequirementsTraceability, CheckStatus::Unknown, ""),
    ];
    let results =
        AuditResults::new("/r", "/h", "/v", checks, vec![command("make a", 0), command("make b", 3)]);
    assert_eq!((results.summary.checks_failed, results.summary.commands_failed), (1, 1));
    assert!(results.contradicts_pass());
    let own = Finding::new("licence", "none given");
    let audit = AuditDraft { findings: vec![own.clone()], ..draft(Gate::Fail) }.with_results(&results);
    let integrity = Finding::new("integrity", "task_id_alignment: two tasks");
    let policy = Finding::new("policy", "command failed with exit code 3: make b");
    assert_eq!(audit.findings, [integrity.clone(), policy.clone(), own.clone()]);
    assert_eq!(audit.traceability.issues, [integrity.details.clone(), policy.details.clone()]);
    assert_eq!(audit.risk.reasons, [integrity.details, policy.details, own.details]);
    assert_eq!(audit.risk.level, RiskLevel::Medium);
    assert_eq!(audit.policy.artifact_integrity, CheckStatus::Fail);
    assert_eq!(audit.policy.eval_commands, CheckStatus::Fail);
    assert_eq!(audit.traceability.task_id_match, CheckStatus::Fail);
    assert_eq!(audit.traceability.requirements_coverage, CheckStatus::Unknown);
    assert!(audit.checked().is_ok());
}

#[test]
fn policy_without_commands_is_unknown_and_with_green_ones_passes() {
    let results = |commands| AuditResults::new("/r", "/h", "/v", Vec::new(), commands);
    let audit = draft(Gate::Pass).with_results(&results(Vec::new()));
    assert_eq!(audit.policy.artifact_integrity, CheckStatus::Pass);
    assert_eq!(audit.policy.eval_commands, CheckStatus::Unknown);
    assert_eq!(audit.traceability.task_id_match, CheckStatus::Unknown);
    let audit = draft(Gate::Pass).with_results(&results(vec![command("make", 0)]));
    assert_eq!(audit.policy.eval_commands, CheckStatus::Pass);
}

#[test]
fn failed_commands_become_reasons_of_a_drafted_verdict() {
    let draft = VerdictDraft {
        task_id: "T".to_owned(),
        verdict: Verdict::Reject,
        reasons: Vec::new(),
        required_changes: Vec::new(),
        suggested_tests: Vec::new(),
        requirements_checked: Vec::new(),
        requirements_missing: Vec::new(),
        notes: String::new(),
    };
    let refused = draft.clone().with_results(None).unwrap_err();
    assert!(refused.has(FaultKind::ReasonMissing));
    let results = EvalResults::new("/r", vec![command("make a", 0), command("make b", 2)]);
    assert_eq!((results.summary.commands, results.summary.passed, results.summary.failed), (2, 1, 1));
    let report = draft.with_results(Some(&results)).unwrap();
    assert_eq!(report.reasons, [Reason::new("eval", "command failed with exit code 2: make b")]);
}

#[test]
fn feedback_of_a_verdict_has_reasons_then_changes() {
    let mut report = verdict("T", &[], &[]);
    report.reasons = vec![Reason::new("eval", "tests red"), Reason::new("style", " \n")];
    report.required_changes = vec!["fix the tests".to_owned(), String::new()];
    assert_eq!(feedback::from_verdict(&report), "- [eval] tests red\n- fix the tests");
    assert_eq!(
        feedback::from_stored_verdict(report.render().as_bytes()).unwrap(),
        feedback::from_verdict(&report)
    );
}

#[test]
fn feedback_of_an_audit_has_findings_then_actions() {
    let mut audit = fallback_audit("T");
    audit.findings = vec![Finding::new("policy", "no licence")];
    audit.required_actions = vec!["add one".to_owned()];
    assert_eq!(feedback::from_audit(&audit), "- [policy] no licence\n- add one");
}

#[test]
fn the_fallback_verdict_asks_for_a_human_and_is_a_valid_file() {
    let report = fallback_verdict("TASK-1");
    assert_eq!(report.verdict, Verdict::NeedsHuman);
    assert_eq!(report.reasons.len(), 1);
    assert_eq!(report.reasons[0].check, "orchestrator");
    assert_eq!(report.required_changes.len(), 1);
    assert!(report.suggested_tests.is_empty() && report.requirements_checked.is_empty());
    let read = VerdictReport::parse(report.render().as_bytes(), &Reading::from_agent("TASK-1"));
    assert_eq!(read.unwrap(), report);
}

#[test]
fn the_fallback_audit_asks_for_a_human_and_is_a_valid_file() {
    let audit = fallback_audit("TASK-1");
    assert_eq!((audit.gate, audit.risk.level), (Gate::NeedsHuman, RiskLevel::High));
    assert_eq!(audit.findings.len(), 1);
    assert_eq!(audit.findings[0].category, "orchestrator");
    let unknown = CheckStatus::Unknown;
    assert_eq!((audit.policy.artifact_integrity, audit.policy.eval_commands), (unknown, unknown));
    assert_eq!(
        (audit.traceability.task_id_match, audit.traceability.requirements_coverage),
        (unknown, unknown)
    );
    assert_eq!((audit.traceability.issues.len(), audit.required_actions.len()), (1, 1));
    assert_eq!(AuditReport::parse(audit.render().as_bytes(), &Reading::from_agent("TASK-1")).unwrap(), audit);
}

#[test]
fn a_failed_required_check_is_a_reject_with_command_code_and_last_lines() {
    let failed = [
        FailedCheck {
            command: "cargo test".to_owned(),
            ending: CommandEnding::ExitCode(101),
            output_tail: "1 failed\nerror: test failed\n".to_owned(),
        },
        FailedCheck {
            command: "make lint".to_owned(),
            ending: CommandEnding::TimedOut,
            output_tail: String::new(),
        },
    ];
    let report = verdict_for_failed_checks("T", &failed).checked().unwrap();
    assert_eq!(report.verdict, Verdict::Reject);
    assert_eq!(report.required_changes.len(), 2);
    assert!(report.reasons.iter().all(|reason| reason.check == "eval"));
    assert_eq!(
        report.reasons[0].details,
        "required check ended with exit code 101: cargo test\nlast lines of its output:\n1 failed\nerror: test failed"
    );
    assert!(report.reasons[1].details.contains("time limit: make lint"));
    assert!(report.notes.contains("engine because a required check failed"));
    let audit = audit_for_failed_checks("T", &failed).checked().unwrap();
    assert_eq!((audit.gate, audit.policy.eval_commands), (Gate::Fail, CheckStatus::Fail));
    assert!(audit.findings.iter().all(|finding| finding.category == "policy"));
    assert_eq!(audit.findings[0].details, report.reasons[0].details);
    assert_eq!(audit.required_actions, report.required_changes);
}

#[test]
fn the_last_lines_are_bounded_in_lines_and_bytes_and_free_of_nul() {
    assert_eq!(last_lines("a\nb\nc\n", 2, 100), "b\nc");
    assert_eq!(last_lines("ééé", 5, 3), "é");
    assert_eq!(last_lines("a\0b", 5, 100), "a\u{fffd}b");
    assert_eq!(last_lines("", 5, 100), "");
}
