//! From whatever lies in an outbox to what a decision may use: read safely, validated, put into its canonical form and
//! sealed. What cannot be read is kept as evidence and its faults go back to the agent.

use super::criteria;
use crate::context::RunContext;
use crate::outbox::{Left, MAX_ANSWER_BYTES, read_answer};
use std::path::Path;
use windlass_artifact_formats::gate::Waiver;
use windlass_artifact_formats::task_loop::{
    AuditReport, CheckStatus, Gate, Handoff as HandoffFile, Verdict as VerdictValue, VerdictReport, feedback,
};
use windlass_artifact_formats::{ArtifactFaults, Reading};
use windlass_control_api::Fault;
use windlass_process_supervisor::Redaction;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::kernel::gate::FindingName;
use windlass_protocols::outcome::{Answer, Audit, Handoff, Verdict, VerdictWord};
use windlass_protocols::{ArtifactRef, Role};

/// A checker may say a lot; the next prompt and the journal must not grow without bound.
const MAX_FEEDBACK_BYTES: usize = 32 * 1024;

pub(super) fn read(
    context: &RunContext,
    (outbox, redaction): (&Path, &Redaction),
    asked: &RunAgent,
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    let name = file_name(asked.role);
    let bytes = match read_answer(outbox, name) {
        Left::Nothing => return Ok(Answer::Missing),
        Left::NotAFile(fault) => return Ok(Answer::Malformed { faults: vec![fault] }),
        Left::Content(bytes) => redaction.of(&bytes),
    };
    evidence.push(context.evidence.seal(&format!("{name}.as-left"), &bytes)?);
    match interpret(context, asked, &bytes)? {
        Ok(answer) => Ok(answer),
        Err(faults) => Ok(Answer::Malformed { faults: faults.0.iter().map(ToString::to_string).collect() }),
    }
}

/// An answer that the agent gave in its own words, because it may write nothing.
pub(super) fn spoken(
    context: &RunContext,
    asked: &RunAgent,
    text: &str,
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    evidence.push(context.evidence.seal(&format!("{}.as-left", file_name(asked.role)), text.as_bytes())?);
    if text.len() as u64 > MAX_ANSWER_BYTES {
        let fault = format!("the answer is larger than {MAX_ANSWER_BYTES} bytes");
        return Ok(Answer::Malformed { faults: vec![fault] });
    }
    match interpret(context, asked, text.as_bytes())? {
        Ok(answer) => Ok(answer),
        Err(faults) => Ok(Answer::Malformed { faults: faults.0 }),
    }
}

const fn file_name(role: Role) -> &'static str {
    match role {
        Role::Doer => HandoffFile::FILE_NAME,
        Role::Auditor => AuditReport::FILE_NAME,
        _ => VerdictReport::FILE_NAME,
    }
}

/// What one role's bytes say; the canonical text is sealed under the file's own name.
fn interpret(context: &RunContext, asked: &RunAgent, bytes: &[u8]) -> Result<Result<Answer, Faults>, Fault> {
    let task = context.spec.task().as_str();
    let reading = Reading::from_agent(task);
    Ok(match asked.role {
        Role::Doer => match HandoffFile::parse(bytes, &reading) {
            Ok(file) => Ok(Answer::Handoff(handoff(context, &file)?)),
            Err(faults) => Err(Faults::from(faults)),
        },
        Role::Judge
        | Role::Sensor
        | Role::Controller
        | Role::Actuator
        | Role::Planner
        | Role::Builder
        | Role::Evaluator
        | Role::Implementer
        | Role::Reviewer
        | Role::Investigator => match VerdictReport::parse(bytes, &reading) {
            Ok(file) => match criteria::left_unsaid(context, asked, &file)? {
                unsaid if unsaid.is_empty() => Ok(Answer::Verdict(verdict(context, &file)?)),
                unsaid => Err(Faults(unsaid)),
            },
            Err(faults) => Err(Faults::from(faults)),
        },
        Role::Auditor => match AuditReport::parse(bytes, &reading) {
            Ok(file) => Ok(Answer::Audit(audit(context, &file)?)),
            Err(faults) => Err(Faults::from(faults)),
        },
    })
}

struct Faults(Vec<String>);

impl From<ArtifactFaults> for Faults {
    fn from(faults: ArtifactFaults) -> Self {
        Self(faults.faults().iter().map(ToString::to_string).collect())
    }
}

pub(crate) fn handoff(context: &RunContext, file: &HandoffFile) -> Result<Handoff, Fault> {
    Ok(Handoff {
        requirements_touched: file.requirements_touched.iter().map(|id| id.as_str().to_owned()).collect(),
        artifact: context.evidence.seal(HandoffFile::FILE_NAME, file.render().as_bytes())?,
    })
}

pub(crate) fn verdict(context: &RunContext, file: &VerdictReport) -> Result<Verdict, Fault> {
    let ids = |list: &[windlass_artifact_formats::task_loop::RequirementId]| {
        list.iter().map(|id| id.as_str().to_owned()).collect()
    };
    let word = match file.verdict {
        VerdictValue::Pass => VerdictWord::Pass,
        VerdictValue::Reject => VerdictWord::Reject,
        VerdictValue::NeedsHuman => VerdictWord::NeedsHuman,
    };
    Ok(Verdict {
        word,
        feedback: bounded(&feedback::from_verdict(file), "judge"),
        requirements_checked: ids(&file.requirements_checked),
        requirements_missing: ids(&file.requirements_missing),
        artifact: context.evidence.seal(VerdictReport::FILE_NAME, file.render().as_bytes())?,
        waivers: waived(&file.waivers),
    })
}

/// A checker's waivers in the words of a decision.
pub(crate) fn waived(waivers: &[Waiver]) -> Vec<windlass_protocols::kernel::gate::Waiver> {
    let known = |waiver: &Waiver| {
        let finding = FindingName::from_name(waiver.finding.as_str())?;
        Some(windlass_protocols::kernel::gate::Waiver { finding, reason: waiver.reason.clone() })
    };
    waivers.iter().filter_map(known).collect()
}

pub(crate) fn audit(context: &RunContext, file: &AuditReport) -> Result<Audit, Fault> {
    let word = match file.gate {
        Gate::Pass => VerdictWord::Pass,
        Gate::Fail => VerdictWord::Reject,
        Gate::NeedsHuman => VerdictWord::NeedsHuman,
    };
    let members = [
        ("policy.artifact_integrity", file.policy.artifact_integrity),
        ("policy.eval_commands", file.policy.eval_commands),
        ("traceability.task_id_match", file.traceability.task_id_match),
        ("traceability.requirements_coverage", file.traceability.requirements_coverage),
    ];
    let contradictions = members
        .iter()
        .filter(|(_, status)| *status == CheckStatus::Fail)
        .map(|(name, _)| format!("{name} says fail"))
        .collect();
    Ok(Audit {
        word,
        feedback: bounded(&feedback::from_audit(file), "auditor"),
        contradictions,
        artifact: context.evidence.seal(AuditReport::FILE_NAME, file.render().as_bytes())?,
    })
}

/// Feedback as lines, cut where it would bury everything else; a refusal without any word still says who refused.
fn bounded(text: &str, who: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    for line in text.lines() {
        bytes += line.len();
        if bytes > MAX_FEEDBACK_BYTES {
            lines.push(format!("- [orchestrator] the {who} said more than fits here; see its file"));
            return lines;
        }
        lines.push(line.to_owned());
    }
    if lines.is_empty() {
        lines.push(format!("- [orchestrator] the {who} gave no reason"));
    }
    lines
}
