//! Verdicts and audits the engine writes itself: when a role left nothing, and when a required check failed.
//! It knows wording only; when to write them is decided by the protocol.

use super::audit::{AuditPolicy, AuditReport, AuditTraceability, Finding, Gate, Risk, RiskLevel};
use super::audit_collector::failed_command;
use super::command_result::CheckStatus;
use super::eval_results::EvalResults;
use super::requirement::RequirementId;
use super::verdict::{Reason, Verdict, VerdictReport};
use crate::extra_keys::ExtraKeys;
use crate::fault::ArtifactFaults;

/// A required check that the engine ran and that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    pub command: String,
    pub ending: CommandEnding,
    /// The last lines of what it printed; see [`last_lines`].
    pub output_tail: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnding {
    ExitCode(i32),
    Signal(i32),
    TimedOut,
    /// It never ran, for example because its program is missing.
    NotStarted,
}

impl CommandEnding {
    fn in_words(self) -> String {
        match self {
            Self::ExitCode(code) => format!("ended with exit code {code}"),
            Self::Signal(number) => format!("was ended by signal {number}"),
            Self::TimedOut => "ran into its time limit".to_owned(),
            Self::NotStarted => "could not be started".to_owned(),
        }
    }
}

impl FailedCheck {
    fn details(&self) -> String {
        let first = format!("required check {}: {}", self.ending.in_words(), self.command.trim());
        let tail = self.output_tail.trim_end();
        if tail.trim().is_empty() {
            return format!("{first} (it printed nothing)");
        }
        format!("{first}\nlast lines of its output:\n{tail}")
    }

    fn required_change(&self) -> String {
        format!("Make this required check succeed: {}", self.command.trim())
    }
}

/// The verdict for a judge that left no `verdict.json`.
pub fn fallback_verdict(task_id: &str) -> VerdictReport {
    VerdictReport {
        task_id: task_id.to_owned(),
        verdict: Verdict::NeedsHuman,
        reasons: vec![Reason::new("orchestrator", "the judge ended without writing verdict.json")],
        required_changes: vec!["Run the judge again and have it write verdict.json.".to_owned()],
        suggested_tests: Vec::new(),
        requirements_checked: Vec::new(),
        requirements_missing: Vec::new(),
        notes: "Written by the engine because the judge left no verdict.".to_owned(),
        waivers: Vec::new(),
        extra: ExtraKeys::default(),
    }
}

/// The audit for an auditor that left no `audit.json`.
pub fn fallback_audit(task_id: &str) -> AuditReport {
    let silence = "the auditor ended without writing audit.json";
    AuditReport {
        task_id: task_id.to_owned(),
        gate: Gate::NeedsHuman,
        risk: Risk { level: RiskLevel::High, reasons: vec![silence.to_owned()], extra: ExtraKeys::default() },
        findings: vec![Finding::new("orchestrator", silence)],
        policy: AuditPolicy {
            artifact_integrity: CheckStatus::Unknown,
            eval_commands: CheckStatus::Unknown,
            extra: ExtraKeys::default(),
        },
        traceability: AuditTraceability {
            task_id_match: CheckStatus::Unknown,
            requirements_coverage: CheckStatus::Unknown,
            issues: vec![silence.to_owned()],
            extra: ExtraKeys::default(),
        },
        required_actions: vec!["Run the auditor again and have it write audit.json.".to_owned()],
        notes: "Written by the engine because the auditor left no audit.".to_owned(),
        extra: ExtraKeys::default(),
    }
}

/// The verdict when required checks failed: what was measured outweighs any opinion, so no judge is needed.
pub fn verdict_for_failed_checks(task_id: &str, failed: &[FailedCheck]) -> VerdictReport {
    VerdictReport {
        task_id: task_id.to_owned(),
        verdict: Verdict::Reject,
        reasons: failed.iter().map(|check| Reason::new("eval", check.details())).collect(),
        required_changes: failed.iter().map(FailedCheck::required_change).collect(),
        suggested_tests: failed.iter().map(|check| check.command.trim().to_owned()).collect(),
        requirements_checked: Vec::new(),
        requirements_missing: Vec::new(),
        notes: "Written by the engine because a required check failed.".to_owned(),
        waivers: Vec::new(),
        extra: ExtraKeys::default(),
    }
}

/// The audit when required audit commands failed.
pub fn audit_for_failed_checks(task_id: &str, failed: &[FailedCheck]) -> AuditReport {
    let details: Vec<String> = failed.iter().map(FailedCheck::details).collect();
    AuditReport {
        task_id: task_id.to_owned(),
        gate: Gate::Fail,
        risk: Risk { level: RiskLevel::High, reasons: details.clone(), extra: ExtraKeys::default() },
        findings: details.iter().map(|text| Finding::new("policy", text)).collect(),
        policy: AuditPolicy {
            artifact_integrity: CheckStatus::Unknown,
            eval_commands: CheckStatus::Fail,
            extra: ExtraKeys::default(),
        },
        traceability: AuditTraceability {
            task_id_match: CheckStatus::Unknown,
            requirements_coverage: CheckStatus::Unknown,
            issues: details,
            extra: ExtraKeys::default(),
        },
        required_actions: failed.iter().map(FailedCheck::required_change).collect(),
        notes: "Written by the engine because a required check failed.".to_owned(),
        extra: ExtraKeys::default(),
    }
}

/// What a caller states about a verdict; executed commands add their own reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictDraft {
    pub task_id: String,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
    pub required_changes: Vec<String>,
    pub suggested_tests: Vec<String>,
    pub requirements_checked: Vec<RequirementId>,
    pub requirements_missing: Vec<RequirementId>,
    pub notes: String,
}

impl VerdictDraft {
    /// Completes the draft: failed commands become reasons, and a refusal without any reason is not written.
    pub fn with_results(self, results: Option<&EvalResults>) -> Result<VerdictReport, ArtifactFaults> {
        let failures = results.into_iter().flat_map(EvalResults::failures);
        let reasons = self.reasons.into_iter();
        let report = VerdictReport {
            task_id: self.task_id,
            verdict: self.verdict,
            reasons: reasons
                .chain(failures.map(|result| Reason::new("eval", failed_command(result))))
                .collect(),
            required_changes: self.required_changes,
            suggested_tests: self.suggested_tests,
            requirements_checked: self.requirements_checked,
            requirements_missing: self.requirements_missing,
            notes: self.notes,
            waivers: Vec::new(),
            extra: ExtraKeys::default(),
        };
        report.checked()
    }
}

/// The end of an output, bounded in lines and in bytes, with NUL made visible so that it fits into an artifact.
pub fn last_lines(output: &str, max_lines: usize, max_bytes: usize) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let kept = &lines[lines.len().saturating_sub(max_lines)..];
    let text = kept.join("\n").replace('\0', "\u{fffd}");
    let mut start = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
