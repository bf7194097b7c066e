//! When a control loop waits for a person, and what it would help to do.

use super::end::{Cause, End};
use super::explain::{resume_command, standing, still_open, waive_command};
use super::state::State;
use super::steadiness::Remark;
use crate::inbox::{Question, Waiting, room};
use crate::run::Run;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// More remarks than these say nothing new.
const REMARKS: usize = 5;

pub(crate) fn waiting(run: &Run, state: &State, id: &str) -> Option<Waiting> {
    let (cause, suggestion) = match state.end.as_ref()? {
        End::NeedsHuman { cause } => (still_open(state, cause).words(), suggestion(cause)),
        End::Stalled { how } => (
            format!("it goes nowhere: {}", how.words()),
            "tell the controller what it does not see, or change the set-up and start again",
        ),
        // Who stopped it or gave it too little room knows; nobody is asked.
        End::Complete | End::Exhausted { .. } | End::Stopped { .. } | End::SetupFailed { .. } => return None,
    };
    let more = room(&resume_command(run, state, id), id);
    let mut commands = alloc::vec![
        format!("windlass answer {id} \"…\"{more}"),
        format!("windlass retry {id}{more}"),
        format!("windlass skip {id}"),
    ];
    if let Some(End::NeedsHuman { cause }) = &state.end
        && let Cause::GateFindings { findings } = still_open(state, cause)
    {
        commands.insert(0, waive_command(id, &findings));
    }
    if state.commits > 0 {
        let (branch, base) = (&state.spec.place.doer_branch, &state.spec.base_branch);
        commands.push(format!("git log --oneline {base}..{branch}"));
    }
    Some(Waiting {
        question: Question::Answer,
        cause,
        said: state.last_failure.iter().map(|how| format!("the last agent {how}")).collect(),
        tree: state.plant.clone(),
        tried: tried(state),
        suggestion: suggestion.to_string(),
        commands,
    })
}

fn tried(state: &State) -> Vec<String> {
    let nodes = state.stack.iter().map(|frame| standing(state, frame));
    let remarks = state.stack.first().into_iter().flat_map(|frame| frame.remarks.iter().map(Remark::words));
    nodes.chain(remarks.take(REMARKS)).collect()
}

const fn suggestion(cause: &Cause) -> &'static str {
    match cause {
        Cause::NoReadableAnswer { .. } => "look at what it left, then retry",
        Cause::FalseClaim { .. } => "tell the controller why these sensors count, or mend the sensors",
        Cause::WorkspaceChanged { .. } => {
            "retry; give the role an agent that can only read if it happens again"
        }
        Cause::Hazard { .. } | Cause::CaptureRefused { .. } => {
            "tell the actuator to leave out what the message names"
        }
        Cause::AgentNotStarted { .. } => {
            "mend what the message names (`windlass agents` shows what is there), then retry"
        }
        Cause::AgentKeepsFailing { .. } => "look at what it printed, then retry",
        Cause::StepKeepsGettingLost { .. } => {
            "see whether the machine is short of memory or disk (`windlass doctor`), then retry"
        }
        Cause::GateFindings { .. } => {
            "look at what the change did to its tests and sensors; waive it by name if it should be so, or say what is wrong"
        }
        Cause::CommitRefused { .. } => "mend what the message names in the repository, then retry",
    }
}
