//! The file of a role that gave no usable word, was overruled, or was not asked because a check was red. Only the text;
//! where it goes is known elsewhere.

use crate::effect_runner::ending;
use windlass_artifact_formats::task_loop::{
    AuditReport, FailedCheck, Finding, Gate, Reason, Verdict, VerdictReport, audit_for_failed_checks,
    fallback_audit, fallback_verdict, verdict_for_failed_checks,
};
use windlass_protocols::Role;
use windlass_protocols::outcome::{ChecksReport, VerdictWord};

/// Name and text of the file. `checks` is the last measurement of the round, whose red results it quotes.
pub(crate) fn render(
    task: &str,
    checks: Option<&ChecksReport>,
    role: Role,
    (word, why): (VerdictWord, &str),
) -> (&'static str, String) {
    let red: Vec<FailedCheck> = checks.into_iter().flat_map(ChecksReport::red).map(failed).collect();
    match (role, word) {
        (Role::Auditor, VerdictWord::Reject) => {
            (AuditReport::FILE_NAME, failing_gate(task, &red, why).render())
        }
        (Role::Auditor, VerdictWord::Pass | VerdictWord::NeedsHuman) => {
            (AuditReport::FILE_NAME, fallback_audit(task).render())
        }
        (_, VerdictWord::Reject) => (VerdictReport::FILE_NAME, rejection(task, &red, why).render()),
        (_, VerdictWord::Pass | VerdictWord::NeedsHuman) => {
            (VerdictReport::FILE_NAME, fallback_verdict(task).render())
        }
    }
}

fn failed(result: &windlass_protocols::outcome::CheckResult) -> FailedCheck {
    FailedCheck {
        command: result.command.clone(),
        ending: ending(&result.end),
        output_tail: result.tail.clone(),
    }
}

fn failing_gate(task: &str, red: &[FailedCheck], why: &str) -> AuditReport {
    if !red.is_empty() {
        return audit_for_failed_checks(task, red);
    }
    let mut file = fallback_audit(task);
    file.gate = Gate::Fail;
    file.findings = vec![Finding::new("orchestrator", why)];
    file.required_actions = vec![why.to_owned()];
    file
}

fn rejection(task: &str, red: &[FailedCheck], why: &str) -> VerdictReport {
    if !red.is_empty() {
        return verdict_for_failed_checks(task, red);
    }
    let mut file = fallback_verdict(task);
    file.verdict = Verdict::Reject;
    file.reasons = vec![Reason::new("orchestrator", why)];
    file.required_changes.clear();
    file
}
