//! What the engine itself can say before an auditor speaks: six checks on the artifacts, requirement tracing, and
//! the members of `audit.json` that follow from them. It knows artifacts only, not trees or commands.

use super::audit::{AuditPolicy, AuditReport, AuditTraceability, Finding, Gate, Risk, RiskLevel};
use super::audit_results::{AuditCheck, AuditResults, CheckName};
use super::command_result::{CheckStatus, CommandResult};
use super::handoff::Handoff;
use super::requirement::RequirementId;
use super::verdict::VerdictReport;
use crate::extra_keys::ExtraKeys;
use crate::fault::ArtifactFaults;

/// An artifact as the collector met it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactState<T> {
    Missing,
    Invalid(ArtifactFaults),
    Valid(T),
}

/// How the requirements a change touched appear in its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traceability {
    pub ids: TracedIds,
    /// Touched, but neither checked nor missing in the verdict.
    pub untraced: Vec<RequirementId>,
    /// Named by the verdict as not met.
    pub missing: Vec<RequirementId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedIds {
    /// The hand-off names no ids, so there is nothing to trace.
    NoneTouched,
    /// The hand-off names ids and the verdict none at all.
    NoneInVerdict,
    Named,
}

impl Traceability {
    pub fn of(handoff: &Handoff, verdict: &VerdictReport) -> Self {
        Self::between(
            &handoff.requirements_touched,
            &verdict.requirements_checked,
            &verdict.requirements_missing,
        )
    }

    fn between(touched: &[RequirementId], checked: &[RequirementId], missing: &[RequirementId]) -> Self {
        let ids = if touched.is_empty() {
            TracedIds::NoneTouched
        } else if checked.is_empty() && missing.is_empty() {
            TracedIds::NoneInVerdict
        } else {
            TracedIds::Named
        };
        let mut untraced: Vec<RequirementId> = Vec::new();
        for id in touched {
            if !checked.contains(id) && !missing.contains(id) && !untraced.contains(id) {
                untraced.push(id.clone());
            }
        }
        Self { ids, untraced, missing: missing.to_vec() }
    }

    /// The `requirements_traceability` check. A missing id counts as traced here: the verdict did speak of it.
    pub fn status(&self) -> CheckStatus {
        match self.ids {
            TracedIds::NoneTouched => CheckStatus::Unknown,
            TracedIds::Named if self.untraced.is_empty() => CheckStatus::Pass,
            TracedIds::NoneInVerdict | TracedIds::Named => CheckStatus::Fail,
        }
    }

    /// Whether a verdict `pass` would contradict the verdict's own list of unmet requirements.
    pub fn contradicts_pass(&self) -> bool {
        !self.missing.is_empty()
    }

    fn details(&self) -> String {
        match self.ids {
            TracedIds::NoneTouched => "the hand-off names no requirement ids".to_owned(),
            TracedIds::NoneInVerdict => "the verdict names no requirement ids".to_owned(),
            TracedIds::Named if self.untraced.is_empty() => {
                "every touched requirement appears in the verdict".to_owned()
            }
            TracedIds::Named => {
                let ids = self.untraced.iter().map(RequirementId::as_str).collect::<Vec<_>>().join(", ");
                format!("touched requirements absent from the verdict: {ids}")
            }
        }
    }
}

/// The six checks, in the order the files list them.
pub fn collect_audit_checks(
    handoff: &ArtifactState<Handoff>,
    verdict: &ArtifactState<VerdictReport>,
) -> Vec<AuditCheck> {
    vec![
        present(CheckName::HandoffPresent, "handoff.json", handoff),
        present(CheckName::VerdictPresent, "verdict.json", verdict),
        valid(CheckName::HandoffJsonValid, "handoff.json", handoff),
        valid(CheckName::VerdictJsonValid, "verdict.json", verdict),
        task_id_alignment(handoff.value(), verdict.value()),
        requirements_traceability(handoff.value(), verdict.value()),
    ]
}

impl<T> ArtifactState<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Valid(value) => Some(value),
            Self::Missing | Self::Invalid(_) => None,
        }
    }
}

fn present<T>(name: CheckName, file: &str, state: &ArtifactState<T>) -> AuditCheck {
    match state {
        ArtifactState::Missing => AuditCheck::new(name, CheckStatus::Fail, format!("{file} is missing")),
        _ => AuditCheck::new(name, CheckStatus::Pass, format!("{file} is present")),
    }
}

fn valid<T>(name: CheckName, file: &str, state: &ArtifactState<T>) -> AuditCheck {
    match state {
        ArtifactState::Missing => AuditCheck::new(
            name,
            CheckStatus::Unknown,
            format!("{file} is missing, so nothing could be read"),
        ),
        ArtifactState::Invalid(faults) => AuditCheck::new(name, CheckStatus::Fail, faults.to_string()),
        ArtifactState::Valid(_) => AuditCheck::new(name, CheckStatus::Pass, format!("{file} is well formed")),
    }
}

fn task_id_alignment(handoff: Option<&Handoff>, verdict: Option<&VerdictReport>) -> AuditCheck {
    let in_handoff = handoff.map_or("", |handoff| handoff.task_id.trim());
    let in_verdict = verdict.map_or("", |verdict| verdict.task_id.trim());
    if !in_handoff.is_empty() && in_handoff == in_verdict {
        return AuditCheck::new(
            CheckName::TaskIdAlignment,
            CheckStatus::Pass,
            "both files name the same task",
        );
    }
    let shown = |id: &str| {
        if id.is_empty() { "no task".to_owned() } else { format!("task {id}") }
    };
    let details = format!("the hand-off names {}, the verdict {}", shown(in_handoff), shown(in_verdict));
    AuditCheck::new(CheckName::TaskIdAlignment, CheckStatus::Fail, details)
}

fn requirements_traceability(handoff: Option<&Handoff>, verdict: Option<&VerdictReport>) -> AuditCheck {
    let touched = handoff.map_or(&[][..], |handoff| &handoff.requirements_touched);
    let checked = verdict.map_or(&[][..], |verdict| &verdict.requirements_checked);
    let missing = verdict.map_or(&[][..], |verdict| &verdict.requirements_missing);
    let trace = Traceability::between(touched, checked, missing);
    AuditCheck::new(CheckName::RequirementsTraceability, trace.status(), trace.details())
}

/// What is needed beside the results to write an `audit.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditDraft {
    pub task_id: String,
    pub gate: Gate,
    /// `None` means `medium`.
    pub risk_level: Option<RiskLevel>,
    pub findings: Vec<Finding>,
    pub required_actions: Vec<String>,
    pub notes: String,
}

impl AuditDraft {
    /// Completes the draft with everything that follows from the results: findings, risk, policy, traceability.
    pub fn with_results(self, results: &AuditResults) -> AuditReport {
        let checks = results.failed_checks().map(|check| {
            let details = format!("{}: {}", check.name, check.details);
            Finding::new("integrity", details)
        });
        let commands =
            results.failed_commands().map(|command| Finding::new("policy", failed_command(command)));
        let derived: Vec<Finding> = checks.chain(commands).collect();
        let issues = derived.iter().map(|finding| finding.details.clone()).collect();
        let findings: Vec<Finding> = derived.into_iter().chain(self.findings).collect();
        let reasons = findings.iter().map(|finding| finding.details.clone()).collect();
        AuditReport {
            task_id: self.task_id,
            gate: self.gate,
            risk: Risk {
                level: self.risk_level.unwrap_or(RiskLevel::Medium),
                reasons,
                extra: ExtraKeys::default(),
            },
            findings,
            policy: policy_of(results),
            traceability: AuditTraceability {
                task_id_match: results.status_of(CheckName::TaskIdAlignment),
                requirements_coverage: results.status_of(CheckName::RequirementsTraceability),
                issues,
                extra: ExtraKeys::default(),
            },
            required_actions: self.required_actions,
            notes: self.notes,
            extra: ExtraKeys::default(),
        }
    }
}

pub(super) fn failed_command(command: &CommandResult) -> String {
    format!("command failed with exit code {}: {}", command.exit_code, command.command)
}

fn policy_of(results: &AuditResults) -> AuditPolicy {
    let failed = |any: bool| if any { CheckStatus::Fail } else { CheckStatus::Pass };
    let eval_commands = if results.commands.is_empty() {
        CheckStatus::Unknown
    } else {
        failed(results.failed_commands().next().is_some())
    };
    let artifact_integrity = failed(results.failed_checks().next().is_some());
    AuditPolicy { artifact_integrity, eval_commands, extra: ExtraKeys::default() }
}
