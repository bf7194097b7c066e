//! Why a task loop is where it is.

use super::end::{Cause, End};
use super::spec::Landing;
use super::state::State;
use crate::effect::{Ask, Effect, RunAgent};
use crate::explain::{Explanation, room_for_more, waited_for, waiting};
use crate::kernel::budget::Dimension;
use crate::kernel::gate::{GateFinding, NewTests};
use crate::run::Run;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn explain(run: &Run, state: &State, id: &str) -> Explanation {
    match &state.end {
        Some(end) if run.ended => ended(run, state, end, id),
        Some(_) | None => under_way(run, state, id),
    }
}

fn under_way(run: &Run, state: &State, id: &str) -> Explanation {
    let mut because = Vec::new();
    for (effect, request) in &run.unsettled {
        because.push(waited_for(run, *effect, request));
        because.extend(told(request));
    }
    because.extend(state.last_failure.iter().map(|how| format!("the last agent of this round {how}")));
    Explanation {
        now: format!("round {}: {}", state.round, doing(run, state)),
        because,
        commands: alloc::vec![format!("windlass resume {id}"), format!("windlass stop {id}")],
    }
}

fn doing(run: &Run, state: &State) -> String {
    waiting(run).unwrap_or_else(|| state.stage.words().to_string())
}

/// What the agent at work was told about earlier ones.
fn told(request: &Effect) -> Vec<String> {
    match request {
        Effect::RunAgent(RunAgent { role, ask: Ask::Fresh { feedback, .. }, .. }) => {
            feedback.iter().map(|line| format!("told to the {role}: {line}")).collect()
        }
        Effect::RunAgent(RunAgent { role, ask: Ask::Repair { faults }, .. }) => {
            faults.iter().map(|fault| format!("the {role} is asked to mend its answer: {fault}")).collect()
        }
        _ => Vec::new(),
    }
}

fn ended(run: &Run, state: &State, end: &End, id: &str) -> Explanation {
    let resume = resume_command(run, state, end, id);
    let mut because = Vec::new();
    let mut commands = Vec::new();
    let now = match end {
        End::Accepted { tree } => {
            because.push(format!("{} passed tree {tree}", who_passed(state)));
            if state.spec.checks.is_empty() {
                because.push("no check was run: the run has none".to_string());
            }
            because.extend(state.integrity.story());
            match &state.landed {
                Some((commit, reference)) => because.push(format!("landed as {commit} on {reference}")),
                None if state.spec.landing == Landing::None => {
                    because.push("it was not landed because nobody asked for that".to_string());
                    commands.push(format!("windlass land {id}"));
                }
                None => {}
            }
            commands.push(format!("windlass verify {id}"));
            commands.push(format!("windlass diff {id}"));
            format!("accepted in round {}", state.round)
        }
        End::Rejected { by } => {
            because.push(by.words().to_string());
            because.extend(state.feedback.iter().cloned());
            because.extend(state.integrity.new_tests.iter().map(NewTests::words));
            commands.push(resume);
            let rounds = state.rounds_completed;
            format!("rejected after {rounds} {}", if rounds == 1 { "round" } else { "rounds" })
        }
        End::NeedsHuman { cause } => {
            let (sentence, command) = human(cause, state, resume, id);
            because.push(sentence);
            because.extend(words_behind(cause, state));
            // A branch of its own can always be had; the current one only once its reason is mended.
            let again =
                matches!(cause, Cause::LandingRefused { .. }) && state.spec.landing == Landing::Current;
            let current = again.then(|| format!("{command} --current"));
            commands.push(command);
            commands.extend(current);
            "needs a person".to_string()
        }
        End::Exhausted { dimension } => {
            because.push(format!("nothing is left of its {dimension}"));
            commands.push(resume);
            format!("out of {dimension}")
        }
        End::Stopped { by, reason } => {
            because.push(format!("{by} asked it to stop: {reason}"));
            commands.push(resume);
            "stopped".to_string()
        }
        End::SetupFailed { reason } => {
            because.push(reason.clone());
            commands.push(resume);
            "could not be set up".to_string()
        }
    };
    Explanation { now, because, commands }
}

/// What was said in the state that asks for a person. What an earlier round was told is not behind every cause.
pub(super) fn words_behind(cause: &Cause, state: &State) -> Vec<String> {
    match cause {
        Cause::JudgeAsked | Cause::AuditorAsked | Cause::Stuck { .. } => state.feedback.clone(),
        Cause::AgentKeepsFailing { role, .. } => {
            state.last_failure.iter().map(|how| format!("the last time the {role} {how}")).collect()
        }
        Cause::GateFindings { findings } => findings.iter().map(GateFinding::words).collect(),
        Cause::NoReadableAnswer { .. }
        | Cause::WorkspaceChanged { .. }
        | Cause::AgentNotStarted { .. }
        | Cause::StepKeepsGettingLost { .. }
        | Cause::CaptureRefused { .. }
        | Cause::LandingRefused { .. } => Vec::new(),
    }
}

/// Only those who looked: a run without checks was accepted on the word of agents alone, and says so.
fn who_passed(state: &State) -> &'static str {
    match (state.spec.checks.is_empty(), state.gate.is_some()) {
        (false, true) => "the checks, the judge and the auditor",
        (false, false) => "the checks and the judge",
        (true, true) => "the judge and the auditor",
        (true, false) => "the judge",
    }
}

/// The command with everything the run would otherwise be refused for.
pub(super) fn resume_command(run: &Run, state: &State, end: &End, id: &str) -> String {
    let mut command = format!("windlass resume {id}");
    let Some(started) = &run.started else {
        return command;
    };
    let out_of_rounds = matches!(end, End::Exhausted { dimension: Dimension::Rounds });
    if out_of_rounds || state.needs_another_round(started.budget.caps.rounds) {
        command.push_str(" --rounds +1");
    }
    command.push_str(&room_for_more(started.budget));
    command
}

/// Why a person is asked, in one sentence.
pub(super) fn cause_in_words(cause: &Cause, state: &State) -> String {
    human(cause, state, String::new(), "").0
}

fn human(cause: &Cause, state: &State, resume: String, id: &str) -> (String, String) {
    let with_note = format!("{resume} --note \"…\"");
    match cause {
        Cause::JudgeAsked => ("the judge asks for a person".to_string(), with_note),
        Cause::AuditorAsked => ("the auditor asks for a person".to_string(), with_note),
        Cause::NoReadableAnswer { role, faults } => (
            format!("the {role} left no readable answer, also when asked again: {}", faults.join("; ")),
            resume,
        ),
        Cause::WorkspaceChanged { role, paths } => (
            format!("the {role} may only read, and changed {}; its word does not count", paths.join(", ")),
            resume,
        ),
        // What its provider or its own program refused did start.
        Cause::AgentNotStarted { role, reason } if *reason == state.last_outage => {
            (format!("the {role} cannot work as it is set up: {reason}"), resume)
        }
        Cause::AgentNotStarted { role, reason } => {
            (format!("the {role} could not be started: {reason}"), resume)
        }
        Cause::AgentKeepsFailing { role, why } => (format!("the {role} keeps failing: it {why}"), resume),
        Cause::StepKeepsGettingLost { stage } => {
            (format!("nobody ever saw the end of this step: {}", stage.words()), resume)
        }
        Cause::Stuck { round } => {
            (format!("the doer keeps handing over the change that round {round} rejected"), with_note)
        }
        Cause::CaptureRefused { reason } => (format!("the snapshot could not be taken: {reason}"), resume),
        Cause::LandingRefused { reason } => (
            format!("the change is accepted, but could not be landed: {reason}"),
            format!("windlass land {id}"),
        ),
        Cause::GateFindings { findings } => {
            let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
            (
                "the judge passed a change that changes what measures it, and did not waive all of that"
                    .to_string(),
                format!("windlass waive {id} {} --reason \"…\"", names.join(" ")),
            )
        }
    }
}
