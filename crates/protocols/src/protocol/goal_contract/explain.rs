//! Why a goal loop is where it is: in iterations and items, and the command that goes on.

use super::end::{Cap, Cause, End, NotReady, Proposed};
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
        because.extend(causes.iter().map(|failed| {
            format!(
                "iteration {} of {}: {}: {}",
                failed.iteration,
                open.item,
                failed.by.words(),
                failed.cause
            )
        }));
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
            commands.push(resume.clone());
            if let Cap::Rework { item } = cap {
                because.extend(causes_of(state, item));
                commands.extend(item_ways(id));
            }
            format!("HARD KILL: the cap on {} is reached", cap.words())
        }
        End::Escalated { cause } => {
            because.push(cause.words());
            because.extend(cause.item().into_iter().flat_map(|item| causes_of(state, item)));
            because.push(format!("suggestion: {}", cause.suggestion()));
            commands.extend(after_escalation(cause, &resume, id));
            "ESCALATED: a person has to look".to_string()
        }
        End::AwaitsApproval { item, proposed } => {
            commands.push(format!("windlass approve {id} --tree {}", proposed.name()));
            commands.push(format!("windlass reject {id} --reason \"…\""));
            let what = match proposed {
                Proposed::Change { tree } => {
                    commands.push(format!("windlass diff {id}"));
                    because.push(format!(
                        "tree {tree} passed the tests and the evaluator; nothing is committed yet"
                    ));
                    "its change"
                }
                Proposed::Design { artifact } => {
                    commands.push(format!("windlass show {id}"));
                    because.push(format!("its design is the artifact {}", artifact.name));
                    "its design"
                }
            };
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

fn after_escalation(cause: &Cause, resume: &str, id: &str) -> Vec<String> {
    let answer = format!("windlass answer {id} \"…\"");
    match cause {
        Cause::BuilderAsks { .. } | Cause::SameCauseTwice { .. } | Cause::Regression { .. } => {
            core::iter::once(answer).chain(item_ways(id)).collect()
        }
        _ if cause.item().is_some() => core::iter::once(resume.to_string()).chain(item_ways(id)).collect(),
        _ => alloc::vec![resume.to_string()],
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
    let mut command = format!("windlass resume {id}");
    let out = matches!(end, End::HardKill { cap: Cap::Iterations | Cap::Commits })
        || state.limits().is_some_and(|limits| state.iteration >= limits.iterations);
    if out {
        command.push_str(" --rounds +1");
    }
    if let (Some(started), Some(limits)) = (&run.started, state.limits()) {
        let mut budget = started.budget;
        budget.caps.time = budget.caps.time.or(limits.time);
        budget.caps.tokens = budget.caps.tokens.or(limits.tokens);
        budget.caps.cost_micros = budget.caps.cost_micros.or(limits.cost_micros);
        command.push_str(&room_for_more(budget));
    }
    command
}

/// A new run with the same agents.
fn start_again(state: &State) -> String {
    let agents = &state.spec.place.agents;
    let flags = agents.iter().map(|(role, agent)| format!("--{role} '{}'", agent.replace('\'', "'\\''")));
    core::iter::once("windlass goal run".to_string()).chain(flags).collect::<Vec<_>>().join(" ")
}
