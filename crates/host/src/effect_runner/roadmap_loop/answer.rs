//! From what a role of a roadmap loop left to what a decision may use. Most answer with files in their worktree, which are
//! read with the control plane; an investigator answers with a report.

use crate::context::RunContext;
use crate::outbox::{Left, read_answer};
use std::path::Path;
use windlass_control_api::Fault;
use windlass_process_supervisor::Redaction;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::Answer;
use windlass_protocols::{ArtifactRef, Role};

const REPORT: &str = "recovery.json";

/// The form that a program is held to where it can be.
pub(in super::super) fn schema() -> String {
    "{\"type\":\"object\"}".to_owned()
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
    let bytes = match (read_answer(outbox, REPORT), spoken) {
        (Left::Content(bytes), _) => redaction.of(&bytes),
        (_, Some(spoken)) if !spoken.trim().is_empty() => redaction.of(spoken.as_bytes()),
        (Left::NotAFile(fault), _) => return Ok(Answer::Malformed { faults: vec![fault] }),
        (Left::Nothing, _) => return Ok(Answer::Missing),
    };
    evidence.push(context.evidence.seal(&format!("{REPORT}.as-left"), &bytes)?);
    Ok(Answer::Malformed { faults: vec!["reports cannot be read yet".to_owned()] })
}
