//! Why is this run where it is? State in, sentences and the next command out, as data; a face decides how they look.

use crate::effect::{Effect, RunAgent};
use crate::kernel::budget::{Budget, Dimension};
use crate::protocol::{Protocol, feedback_control, goal_contract, judged_task, roadmap_rounds};
use crate::run::Run;
use crate::vocabulary::{EffectId, Millis};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const MICROS_A_CENT: u64 = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One line: what it is doing or how it ended.
    pub now: String,
    pub because: Vec<String>,
    /// What goes on from here, as arguments of the program.
    pub commands: Vec<String>,
}

pub fn explain(run: &Run) -> Explanation {
    let Some(started) = &run.started else {
        return Explanation {
            now: "the run has not started".to_string(),
            because: Vec::new(),
            commands: Vec::new(),
        };
    };
    let id = started.id.as_str();
    let (mut explanation, was_stopped) = match &started.protocol {
        Protocol::JudgedTask(state) => (
            judged_task::explain::explain(run, state, id),
            matches!(&state.end, Some(judged_task::end::End::Stopped { .. })),
        ),
        Protocol::FeedbackControl(state) => (
            feedback_control::explain::explain(run, state, id),
            matches!(&state.end, Some(feedback_control::end::End::Stopped { .. })),
        ),
        Protocol::GoalContract(state) => (
            goal_contract::explain::explain(run, state, id),
            matches!(&state.end, Some(goal_contract::end::End::Stopped { .. })),
        ),
        Protocol::RoadmapRounds(state) => (
            roadmap_rounds::explain::explain(run, state, id),
            matches!(&state.end, Some(roadmap_rounds::end::End::Stopped { .. })),
        ),
    };
    if let Some(taken) = &run.taken_over {
        let stood = core::mem::replace(&mut explanation.now, format!("{} works on it by hand", taken.by));
        explanation.because.insert(0, format!("it was taken over on {}; before that: {stood}", taken.branch));
        explanation.commands =
            alloc::vec![format!("windlass hand-back {id}"), format!("windlass hand-back {id} --discard")];
    } else if run.dismissed {
        explanation.now.push_str(" (dismissed)");
    }
    let said = was_stopped && run.ended;
    if let Some(stop) = run.stop.as_ref().filter(|_| !said) {
        explanation.because.push(format!("{} asked it to stop: {}", stop.by, stop.reason));
    }
    explanation
}

/// The agent that is asked instead of the role's own, if this is one.
pub fn stand_in<'a>(run: &Run, request: &'a Effect) -> Option<&'a str> {
    let Effect::RunAgent(RunAgent { role, agent: Some(agent), .. }) = request else { return None };
    let own = run.started.as_ref()?.protocol.place().agents.get(role)?;
    (own != agent).then_some(agent.as_str())
}

/// A step that is under way, in words.
pub(crate) fn waited_for(run: &Run, effect: EffectId, request: &Effect) -> String {
    let by = stand_in(run, request).map(|agent| format!(", its fallback {agent}")).unwrap_or_default();
    format!("step {effect} is waited for: {}{by}", describe(request))
}

/// In words, when nothing but a moment is waited for.
pub(crate) fn waiting(run: &Run) -> Option<String> {
    run.unsettled.values().find_map(|request| match request {
        Effect::Wait(wait) => Some(format!("waits until {} to ask the {}", wait.until.utc(), wait.role)),
        _ => None,
    })
}

/// What is waited for, or was.
pub fn describe(request: &Effect) -> String {
    match request {
        Effect::RunAgent(RunAgent { role, node: Some(node), .. }) => match &node.sensor {
            Some(sensor) => format!("the sensor {sensor} of iteration {}", node.label),
            None => format!("the {role} of iteration {}", node.label),
        },
        Effect::Measure(measure) => {
            format!("{} sensors of iteration {}", measure.sensors.len(), measure.label)
        }
        Effect::RunAgent(RunAgent { role, item: Some(item), round, .. }) => {
            format!("the {role} of {item}, iteration {round}")
        }
        Effect::RunAgent(RunAgent { role, work: Some(place), .. }) => {
            format!("the {role} of {}: {}", place.work.round, place.work.kind.words())
        }
        Effect::Plane(step) => step.describe(),
        Effect::ReadQueue { .. } => "the contract and the queue".to_string(),
        Effect::RunSuite(suite) => format!("the test suite on tree {}", suite.tree),
        Effect::CommitItem(commit) => match &commit.item {
            Some(item) => format!("the commit of {item}"),
            None => "the closing commit".to_string(),
        },
        Effect::CommitIteration(commit) => format!("the commit of iteration {}", commit.label),
        Effect::RunAgent(agent) => {
            format!("the {} of round {}, attempt {}", agent.role, agent.round, agent.attempt)
        }
        Effect::RunChecks(checks) => format!("{} checks on tree {}", checks.commands.len(), checks.tree),
        Effect::InspectGate(gate) => {
            format!("{} checks with the base's own tests on tree {}", gate.commands.len(), gate.tree)
        }
        Effect::CaptureChange { round } => format!("the snapshot of round {round}"),
        Effect::Wait(wait) => format!("the {}'s provider: {}", wait.role, wait.why),
        Effect::PrepareWorkspaces => "the workspaces".to_string(),
        Effect::LandChange(land) => format!("landing tree {}", land.tree),
        Effect::CloseRun(_) => "the summary".to_string(),
    }
}

/// What `resume` has to be given so that it is not refused for a cap.
pub(crate) fn room_for_more(mut budget: Budget) -> String {
    let mut flags = String::new();
    while let Some(dimension) = budget.exhausted() {
        flags.push_str(&more_room(&budget, dimension));
        budget.lift(dimension);
    }
    flags
}

/// Half as much again as there was, beyond what was used: an agent can report more than its cap, and that has to be covered
/// first.
fn more_room(budget: &Budget, dimension: Dimension) -> String {
    let (used, caps) = (&budget.used, &budget.caps);
    let more = |used: u64, cap: Option<u64>, unit: u64| {
        let cap = cap.unwrap_or(used);
        used.saturating_sub(cap).div_ceil(unit).saturating_add(cap.div_ceil(2).div_ceil(unit).max(1))
    };
    match dimension {
        Dimension::Rounds => " --rounds +1".to_string(),
        // Never caps of the run itself; `Budget::exhausted` does not name them.
        Dimension::StepTokens
        | Dimension::StepMoney
        | Dimension::DayTokens
        | Dimension::DayMoney
        | Dimension::RepositoryTokens
        | Dimension::RepositoryMoney => String::new(),
        Dimension::Minutes => {
            let cap = caps.time.map(|time| time.0);
            format!(" --minutes +{}", more(used.duration.0, cap, Millis::minutes(1).0))
        }
        Dimension::Tokens => format!(" --tokens +{}", more(used.tokens, caps.tokens, 1)),
        Dimension::Money => {
            let cents = more(used.cost_micros, caps.cost_micros, MICROS_A_CENT);
            format!(" --money +{}.{:02}", cents / 100, cents % 100)
        }
        Dimension::OutputBytes => {
            format!(" --output-mb +{}", more(used.output_bytes, caps.output_bytes, 1024 * 1024))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{more_room, room_for_more};
    use crate::kernel::budget::{Budget, Caps, Dimension, Spend};
    use crate::outcome::Usage;
    use crate::vocabulary::Millis;

    fn budget(minutes: u64, tokens: u64, micros: u64) -> Budget {
        let caps = Caps {
            rounds: 1,
            time: Some(Millis::minutes(minutes)),
            tokens: Some(tokens),
            cost_micros: Some(micros),
            output_bytes: None,
            step_time: Millis::minutes(1),
            step_idle: None,
            step: Spend::default(),
            day: Spend::default(),
            repository: Spend::default(),
        };
        Budget { caps, used: Usage::default() }
    }

    #[test]
    fn the_room_that_is_suggested_is_in_proportion_to_the_cap() {
        for (minutes, tokens, micros, expected) in [
            (60, 200_000, 10_000_000, [" --minutes +30", " --tokens +100000", " --money +5.00"]),
            (1, 500, 200_000, [" --minutes +1", " --tokens +250", " --money +0.10"]),
            (1, 1, 1, [" --minutes +1", " --tokens +1", " --money +0.01"]),
        ] {
            let mut budget = budget(minutes, tokens, micros);
            budget.used.duration = Millis::minutes(minutes);
            (budget.used.tokens, budget.used.cost_micros) = (tokens, micros);
            assert_eq!(room_for_more(budget), expected.concat());
        }
    }

    #[test]
    fn what_was_used_beyond_the_cap_is_covered_first() {
        let mut budget = budget(10, 1000, 1_000_000);
        budget.used.tokens = 9000;
        assert_eq!(more_room(&budget, Dimension::Tokens), " --tokens +8500");
    }
}
