//! When a task loop waits for a person, and what it would help to do.

use super::end::{Cause, End};
use super::explain::{cause_in_words, resume_command, words_behind};
use super::state::State;
use crate::inbox::{Question, Waiting, room};
use crate::run::Run;
use crate::vocabulary::Role;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn waiting(run: &Run, state: &State, id: &str) -> Option<Waiting> {
    let end = state.end.as_ref()?;
    let cause = match end {
        End::NeedsHuman { cause } => cause,
        // Who stopped it or gave it too little room knows; nobody is asked.
        End::Accepted { .. }
        | End::Rejected { .. }
        | End::Exhausted { .. }
        | End::Stopped { .. }
        | End::SetupFailed { .. } => return None,
    };
    let lands = matches!(cause, Cause::LandingRefused { .. });
    Some(Waiting {
        question: if lands { Question::Landing } else { Question::Answer },
        cause: cause_in_words(cause, state),
        said: words_behind(cause, state),
        tree: state.change.as_ref().map(|change| change.tree.clone()),
        tried: state.history.clone(),
        suggestion: suggestion(cause),
        commands: if lands { ways_to_land(id) } else { ways_on(run, state, (end, cause), id) },
    })
}

fn ways_to_land(id: &str) -> Vec<String> {
    alloc::vec![
        format!("windlass approve {id}"),
        format!("windlass approve {id} --current"),
        format!("windlass skip {id}"),
    ]
}

fn ways_on(run: &Run, state: &State, (end, cause): (&End, &Cause), id: &str) -> Vec<String> {
    let more = room(&resume_command(run, state, end, id), id);
    let answer = format!("windlass answer {id} \"…\"{more}");
    let retry = format!("windlass retry {id}{more}");
    let mut ways = match cause {
        Cause::JudgeAsked | Cause::AuditorAsked | Cause::Stuck { .. } => alloc::vec![answer, retry],
        Cause::GateFindings { findings } => {
            let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
            alloc::vec![format!("windlass waive {id} {} --reason \"…\"", names.join(" ")), answer]
        }
        Cause::NoReadableAnswer { .. }
        | Cause::WorkspaceChanged { .. }
        | Cause::AgentNotStarted { .. }
        | Cause::AgentKeepsFailing { .. }
        | Cause::StepKeepsGettingLost { .. }
        | Cause::CaptureRefused { .. }
        | Cause::LandingRefused { .. } => alloc::vec![retry, answer],
    };
    if state.base.is_some() && state.round > 0 {
        ways.push(format!("windlass take-over {id}"));
    }
    ways.push(format!("windlass skip {id}"));
    ways
}

fn suggestion(cause: &Cause) -> String {
    match cause {
        Cause::JudgeAsked | Cause::AuditorAsked => {
            "read what is asked and answer it; the doer is told in the next round".to_string()
        }
        Cause::NoReadableAnswer { role, .. } => {
            format!("look at what the {role} left, then let it be asked again")
        }
        Cause::WorkspaceChanged { role, .. } => {
            format!("let the {role} be asked again; give it an agent that can only read if it happens again")
        }
        Cause::AgentNotStarted { .. } => {
            "mend what the message names (`windlass agents` shows what is there), then retry".to_string()
        }
        Cause::AgentKeepsFailing { role: Role::Doer, .. } => {
            "look at what the doer printed, then retry, or take the work over".to_string()
        }
        Cause::AgentKeepsFailing { role, .. } => format!("look at what the {role} printed, then retry"),
        Cause::StepKeepsGettingLost { .. } => {
            "see whether the machine is short of memory or disk (`windlass doctor`), then retry".to_string()
        }
        Cause::Stuck { .. } => {
            "say in other words what is wrong with the change, or take the work over".to_string()
        }
        Cause::CaptureRefused { .. } => {
            "take what the message names out of the doer's worktree, then retry".to_string()
        }
        Cause::GateFindings { .. } => {
            "look at what the change did to its tests and checks; waive it by name if it should be so, or say what is wrong"
                .to_string()
        }
        Cause::LandingRefused { .. } => {
            "land it on a branch of its own, or mend the reason and land it on the current one".to_string()
        }
    }
}
