//! From what a role of a roadmap loop left to what a decision may use. Most answer with files in their worktree, which are
//! read with the control plane; an investigator answers with a report.

use crate::context::RunContext;
use crate::fault::bug;
use crate::outbox::{Left, read_answer};
use std::path::Path;
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::roadmap_loop::round::{ProvenStage, RecoveryAction, RecoveryReport};
use windlass_control_api::Fault;
use windlass_process_supervisor::Redaction;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::{Answer, Diagnosis};
use windlass_protocols::protocol::roadmap_rounds::plane::RoundStage;
use windlass_protocols::{ArtifactRef, Role};

/// A line of a log, and what the next agent is told: not longer than this.
const MAX_LINE_CHARS: usize = 400;

/// The form that a program is held to where it can be.
pub(in super::super) fn schema() -> String {
    RecoveryReport::answer_schema()
}

pub(in super::super) fn read(
    context: &RunContext,
    (outbox, redaction): (&Path, &Redaction),
    asked: &RunAgent,
    spoken: Option<&str>,
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    if asked.role != Role::Investigator {
        return Ok(Answer::InWorktree);
    }
    let name = RecoveryReport::FILE_NAME;
    let bytes = match (read_answer(outbox, name), spoken) {
        (Left::Content(bytes), _) => redaction.of(&bytes),
        (_, Some(spoken)) if !spoken.trim().is_empty() => redaction.of(spoken.as_bytes()),
        (Left::NotAFile(fault), _) => return Ok(Answer::Malformed { faults: vec![fault] }),
        (Left::Nothing, _) => return Ok(Answer::Missing),
    };
    evidence.push(context.evidence.seal(&format!("{name}.as-left"), &bytes)?);
    let work = asked.work.as_ref().ok_or_else(|| bug("an investigator without its work"))?;
    let report = match RecoveryReport::parse(&bytes, &Reading::from_agent(&work.work.round)) {
        Ok(report) => report,
        Err(faults) => {
            return Ok(Answer::Malformed {
                faults: faults.faults().iter().map(ToString::to_string).collect(),
            });
        }
    };
    Ok(Answer::Diagnosis(Diagnosis {
        summary: one_line(&report.diagnosis),
        advice: one_line(&report.action_details),
        proves: proven(report.proven_stage),
        escalate: report.recommended_action == RecoveryAction::Escalate,
        artifact: context.evidence.seal(name, report.render().as_bytes())?,
    }))
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_LINE_CHARS).collect()
}

const fn proven(stage: ProvenStage) -> Option<RoundStage> {
    match stage {
        ProvenStage::Plan => Some(RoundStage::Plan),
        ProvenStage::Implement => Some(RoundStage::Implement),
        ProvenStage::Review => Some(RoundStage::Review),
        ProvenStage::FinalizeRound => Some(RoundStage::FinalizeRound),
        ProvenStage::UpdateRequested | ProvenStage::Blocked => None,
    }
}
