//! Why a goal loop is where it is: in iterations and items, and the command that goes on.

use super::end::{Cap, Cause, End, NotReady, Proposed};
use super::integrity::waive_command;
use super::next::is_worked_up;
use super::person::at_hand;
use super::queue::Standing;
use super::state::State;
use crate::explain::{Explanation, room_for_more, waited_for, waiting};
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
    let steps = run.unsettled.iter().map(|(effect, request)| waited_for(run, *effect, request));
    let mut because: Vec<String> = steps.collect();
    because.extend(counters(state));
    if let Some(open) = &state.open {
        let causes = state.item(&open.item).causes;
        because.extend(
            causes.iter().map(|failed| {
                format!("iteration {} of {}: {}", failed.iteration, open.item, failed.sentence())
            }),
        );
    }
    because.extend(state.last_failure.iter().map(|how| format!("the last agent of this iteration {how}")));
    let doing = waiting(run).unwrap_or_else(|| state.stage.words().to_string());
    let now = match &state.open {
        Some(open) => format!("iteration {}, {}: {doing}", open.number, named(state, &open.item)),
        None => doing,
    };
    Explanation {
        now,
        because,
        commands: alloc::vec![format!("windlass resume {id}"), format!("windlass stop {id}")],
    }
}

fn ended(run: &Run, state: &State, end: &End, id: &str) -> Explanation {
    let mut because = Vec::new();
    let mut commands = Vec::new();
    let resume = resume_command(run, state, end, id);
    let now = match end {
        End::Success => {
            commands.push(format!("windlass verify {id}"));
            "SUCCESS: everything in scope is complete".to_string()
        }
        End::HardKill { cap } => {
            match cap {
                Cap::Rework { item } => {
                    because.extend(causes_of(state, item));
                    commands.push(answer_command(run, state, id));
                    commands.push(resume);
                    commands.extend(item_ways(id));
                }
                Cap::Destructive { .. } => commands.extend([resume].into_iter().chain(item_ways(id))),
                Cap::Commits => {
                    because.push(more_commits(state));
                    commands.push(resume);
                }
                Cap::Iterations | Cap::Used { .. } => commands.push(resume),
            }
            format!("HARD KILL: {}", cap.sentence())
        }
        End::Escalated { cause } => {
            because.push(cause.words());
            because.extend(cause.item().into_iter().flat_map(|item| causes_of(state, item)));
            because.push(format!("suggestion: {}", cause.suggestion()));
            commands.extend(after_escalation(cause, answer_command(run, state, id), resume, id));
            "ESCALATED: a person has to look".to_string()
        }
        End::AsAsked { iteration } => {
            because.push("one iteration was asked for".to_string());
            commands.push(resume);
            match state.past.last() {
                Some(past) => {
                    format!("iteration {iteration} is done: {} is complete", named(state, &past.item))
                }
                None => format!("iteration {iteration} is done"),
            }
        }
        End::AwaitsApproval { item, proposed } => {
            let (what, why, look) = proposal(proposed);
            commands.push(format!("windlass approve {id} --tree {}", proposed.name()));
            commands.push(format!("windlass reject {id} --reason \"…\""));
            commands.push(format!("windlass {look} {id}"));
            because.push(why);
            because.extend(state.open.iter().flat_map(|open| open.gate.story()));
            format!("{} waits for your word on {what}", named(state, item))
        }
        End::Paused { iteration } => {
            because.push("at L1 every iteration is let go on by a person".to_string());
            commands.push(resume);
            format!("iteration {iteration} is done")
        }
        End::Stopped { by, reason } => {
            because.push(format!("{by} asked it to stop: {reason}"));
            commands.push(resume);
            "stopped".to_string()
        }
        End::NotReady { why } => {
            because.push(why.words());
            // What is mended is committed, and a run stands on the commit it began with.
            commands.push(start_again(state));
            match why {
                NotReady::RedBaseline { .. } => "it did not begin: the baseline is red".to_string(),
                _ => "it did not begin".to_string(),
            }
        }
    };
    because.extend(counters(state));
    because.extend(state.commits.iter().map(|(item, commit)| format!("read {commit} ({item})")));
    Explanation { now, because, commands }
}

/// What is proposed, why it is, and the command that shows it.
fn proposal(proposed: &Proposed) -> (&'static str, String, &'static str) {
    match proposed {
        Proposed::Change { tree } => {
            let why = format!("tree {tree} passed the tests and the evaluator; nothing is committed yet");
            ("its change", why, "diff")
        }
        Proposed::Design { artifact } => {
            ("its design", format!("its design is the artifact {}", artifact.name), "show")
        }
    }
}

/// Only ways that can help: who hears no answer is not answered, and what is verified is not thrown away.
pub(super) fn after_escalation(cause: &Cause, answer: String, again: String, id: &str) -> Vec<String> {
    let mut ways = match cause {
        Cause::BuilderAsks { .. } => alloc::vec![answer],
        Cause::SameCauseTwice { .. }
        | Cause::Regression { .. }
        | Cause::NoDesign { .. }
        | Cause::ScopeCreep { .. } => alloc::vec![answer, again],
        Cause::BuilderKeepsFailing { .. } => alloc::vec![again, answer],
        Cause::GateFindings { findings, .. } => alloc::vec![waive_command(findings, id), answer],
        Cause::WorkspaceChanged { role, .. } => {
            alloc::vec![format!("windlass goal run --{role} …"), again]
        }
        Cause::NothingReady { .. } | Cause::Unreadable { .. } => {
            alloc::vec!["windlass goal check".to_string(), again]
        }
        Cause::NoVerdict { .. }
        | Cause::Hazard { .. }
        | Cause::CommitRefused { .. }
        | Cause::AgentNotStarted { .. }
        | Cause::AgentKeepsFailing { .. }
        | Cause::StepKeepsGettingLost { .. }
        | Cause::CaptureRefused { .. } => alloc::vec![again],
    };
    if cause.item().is_some() && !matches!(cause, Cause::CommitRefused { .. }) {
        ways.extend(item_ways(id));
    }
    ways
}

/// More iterations are not more commits, so that has to be said.
fn more_commits(state: &State) -> String {
    match state.spec.tightened.commits {
        Some(cap) => format!("it was begun with at most {cap} commits; more take a new run"),
        None => "for more, raise `Commits` in docs/loop-budget.md and then resume".to_string(),
    }
}

pub(super) fn item_ways(id: &str) -> [String; 2] {
    [format!("windlass take-over {id}"), format!("windlass skip {id}")]
}

fn causes_of(state: &State, item: &str) -> Vec<String> {
    let causes = state.item(item).causes;
    causes.iter().map(|failed| format!("iteration {}: {}", failed.iteration, failed.cause)).collect()
}

fn named(state: &State, id: &str) -> String {
    match state.queue.as_ref().and_then(|queue| queue.item(id)) {
        Some(item) if !item.name.is_empty() => format!("{id} — {}", item.name),
        _ => id.to_string(),
    }
}

/// The counters and the queue in two lines.
fn counters(state: &State) -> Vec<String> {
    let (Some(queue), Some(limits)) = (&state.queue, state.limits()) else { return Vec::new() };
    let accepted = queue.in_scope().filter(|item| state.standing(item) == Standing::Accepted).count();
    alloc::vec![
        format!(
            "iterations {}/{} · commits {}/{}",
            state.iteration,
            limits.iterations,
            state.commits.len(),
            limits.commits
        ),
        format!("{accepted} of {} items in scope are accepted", queue.in_scope().count()),
    ]
}

/// The command with everything the run would otherwise be refused or ended for.
pub(super) fn resume_command(run: &Run, state: &State, end: &End, id: &str) -> String {
    let mut room = room(run, state);
    // An item that failed as often as it may is tried again where somebody gives room for that.
    if is_stuck(state, end) && !room.contains(ONE_MORE) {
        room.insert_str(0, ONE_MORE);
    }
    format!("windlass resume {id}{room}")
}

/// An answer is room for an item; the run may need some beside it.
pub(super) fn answer_command(run: &Run, state: &State, id: &str) -> String {
    format!("windlass answer {id} \"…\"{}", room(run, state))
}

const ONE_MORE: &str = " --rounds +1";

fn room(run: &Run, state: &State) -> String {
    let (Some(started), Some(limits)) = (&run.started, state.limits()) else { return String::new() };
    let mut budget = started.budget;
    budget.caps.time = budget.caps.time.or(limits.time);
    budget.caps.tokens = budget.caps.tokens.or(limits.tokens);
    budget.caps.cost_micros = budget.caps.cost_micros.or(limits.cost_micros);
    let iteration = if state.iteration >= limits.iterations { ONE_MORE } else { "" };
    format!("{iteration}{}", room_for_more(budget))
}

/// What stopped the loop is an item that may not be tried again as things are.
fn is_stuck(state: &State, end: &End) -> bool {
    let Some(queue) = &state.queue else { return false };
    match end {
        End::Escalated { cause: Cause::NothingReady { .. } } => {
            queue.in_scope().any(|item| state.standing(item) == Standing::Aside && is_worked_up(state, item))
        }
        End::Escalated { .. } | End::HardKill { .. } => {
            at_hand(state).and_then(|id| queue.item(&id)).is_some_and(|item| is_worked_up(state, item))
        }
        _ => false,
    }
}

/// A new run with the same agents.
fn start_again(state: &State) -> String {
    let agents = &state.spec.place.agents;
    let flags = agents.iter().map(|(role, agent)| format!("--{role} '{}'", agent.replace('\'', "'\\''")));
    core::iter::once("windlass goal run".to_string()).chain(flags).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::after_escalation;
    use crate::kernel::gate::{FindingName, GateFinding};
    use crate::protocol::goal_contract::end::Cause;
    use crate::vocabulary::Role;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn ways(cause: &Cause) -> Vec<String> {
        after_escalation(cause, "answer".to_string(), "again".to_string(), "r")
    }

    #[test]
    fn only_ways_are_shown_that_can_help() {
        let item = || "F001".to_string();
        let reason = || "because".to_string();
        let by_hand = ["windlass take-over r", "windlass skip r"];
        let asks = Cause::BuilderAsks { item: item(), question: reason() };
        assert_eq!(ways(&asks), [&["answer"], &by_hand[..]].concat());
        let verdict = Cause::NoVerdict { item: item(), faults: Vec::new() };
        assert_eq!(ways(&verdict), [&["again"], &by_hand[..]].concat(), "an evaluator hears no answer");
        let refused = Cause::CommitRefused { item: item(), reason: reason() };
        assert_eq!(ways(&refused), ["again"], "what is verified is not thrown away");
        let not_started = Cause::AgentNotStarted { role: Role::Builder, reason: reason() };
        assert_eq!(ways(&not_started), ["again"]);
        let waiting = Cause::NothingReady { waiting: Vec::new() };
        assert_eq!(ways(&waiting), ["windlass goal check", "again"]);
        let findings = alloc::vec![GateFinding { kind: FindingName::TestSkipped, about: Vec::new() }];
        let gate = Cause::GateFindings { item: item(), findings };
        assert_eq!(ways(&gate)[..2], ["windlass waive r test-skipped --reason \"…\"", "answer"]);
        let edited = Cause::WorkspaceChanged { item: item(), role: Role::Evaluator, paths: Vec::new() };
        assert_eq!(ways(&edited)[0], "windlass goal run --evaluator …");
    }
}
