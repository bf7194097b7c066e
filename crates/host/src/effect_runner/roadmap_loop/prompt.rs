//! What a role of a roadmap loop is told, put together from the plane that was read and from the repository. The wording
//! lives in `artifact-formats`.

use crate::context::RunContext;
use crate::fault::bug;
use std::path::Path;
use windlass_agent_drivers::AnswerBy;
use windlass_control_api::Fault;
use windlass_protocols::Run;
use windlass_protocols::effect::RunAgent;

pub(in super::super) fn render(
    _context: &RunContext,
    _asked: &RunAgent,
    _run: &Run,
    (_outbox, _answer_by): (&Path, AnswerBy),
) -> Result<String, Fault> {
    Err(bug("prompts of this loop are not written yet"))
}
