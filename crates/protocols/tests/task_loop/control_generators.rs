//! Arbitrary stored values of the control loop: specs, effects, outcomes and facts in any order, sense or not.

use crate::control_facts::control_spec;
use crate::generators::{
    artifact, commit, limits, number, out_kind, retry_kind, role, small, text, texts, tree, usage,
};
use crate::harness::words::change;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocols::Millis;
use windlass_protocols::effect::{CommitIteration, Effect, Measure, NodeStep, SensorRun};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{
    Action, Answer, Better, CapturedChange, Decision, Measured, Metric, Outcome, Reading, ReadingStatus,
};
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd, NodeStatus, Stall};
use windlass_protocols::protocol::feedback_control::facts::{Fact as ControlFact, NewLimits};
use windlass_protocols::protocol::feedback_control::spec::{CapRule, ControlSpec, Keep};
use windlass_protocols::protocol::feedback_control::stage::Stage;
use windlass_protocols::protocol::feedback_control::steadiness::Remark;

pub(crate) fn spec() -> BoxedStrategy<ControlSpec> {
    (any::<bool>(), any::<bool>(), any::<bool>(), 0..4_u32)
        .prop_map(|(nested, strict, best, steady_limit)| {
            let mut spec = control_spec();
            if let (false, Some(child)) = (nested, spec.root.child().cloned()) {
                spec.root = child;
            }
            spec.cap_rule = if strict { CapRule::StrictOriginal } else { CapRule::JudgeTheLast };
            spec.keep = if best { Keep::Best } else { Keep::Last };
            spec.steady_limit = steady_limit;
            spec
        })
        .boxed()
}

fn sensor() -> BoxedStrategy<String> {
    select(vec!["tests", "look", "nobody's"]).prop_map(str::to_owned).boxed()
}

fn status() -> BoxedStrategy<ReadingStatus> {
    select(vec![ReadingStatus::Pass, ReadingStatus::Fail, ReadingStatus::Pending]).boxed()
}

pub(crate) fn reading() -> BoxedStrategy<Reading> {
    let metric = (text(), any::<i64>(), any::<bool>()).prop_map(|(name, thousandths, rises)| Metric {
        unit: name.clone(),
        name,
        thousandths,
        finer: thousandths.signum() * 7,
        better: if rises { Better::Higher } else { Better::Lower },
    });
    let rest = (option::of(text()), vec(metric, 0..3), texts(), option::of(artifact()), option::of(small()));
    (sensor(), status(), any::<bool>(), artifact(), rest)
        .prop_map(|(sensor, status, required, artifact, (cause, metrics, edited, log, tests))| Reading {
            sensor,
            status,
            required,
            cause,
            metrics,
            edited,
            artifact,
            log,
            tests,
        })
        .boxed()
}

fn decision() -> BoxedStrategy<Decision> {
    (any::<bool>(), option::of(artifact()), text(), artifact())
        .prop_map(|(target_met, plan, summary, artifact)| Decision {
            target_met,
            plan,
            summary,
            artifact,
            waivers: Vec::new(),
        })
        .boxed()
}

fn action() -> BoxedStrategy<Action> {
    (text(), option::of(artifact()), any::<bool>())
        .prop_map(|(summary, artifact, commands_off)| Action { summary, artifact, commands_off })
        .boxed()
}

pub(crate) fn answer() -> BoxedStrategy<Answer> {
    prop_oneof![
        reading().prop_map(Answer::Reading),
        decision().prop_map(Answer::Decision),
        action().prop_map(Answer::Action),
    ]
    .boxed()
}

pub(crate) fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        (tree(), vec(reading(), 0..3), usage()).prop_map(|(tree, readings, usage)| Outcome::Measured(
            Measured { tree, readings, usage, gate: Vec::new() }
        )),
        (commit(), tree(), texts()).prop_map(|(commit, tree, setup_edited)| Outcome::IterationCommitted {
            commit,
            tree,
            setup_edited
        }),
    ]
    .boxed()
}

pub(crate) fn node_step() -> BoxedStrategy<NodeStep> {
    (small(), text(), option::of(sensor()))
        .prop_map(|(depth, label, sensor)| NodeStep { depth, label, sensor })
        .boxed()
}

pub(crate) fn effect() -> BoxedStrategy<Effect> {
    let run = (sensor(), text(), any::<bool>(), option::of(number().prop_map(Millis)))
        .prop_map(|(name, command, required, total)| SensorRun { name, command, required, total });
    let status_word = select(vec![NodeStatus::Running, NodeStatus::Complete, NodeStatus::Error]);
    prop_oneof![
        (small(), text(), tree(), vec(run, 0..3), limits()).prop_map(
            |(depth, label, tree, sensors, limits)| {
                Effect::Measure(Measure { depth, label, tree, sensors, limits })
            }
        ),
        (small(), text(), commit(), tree(), status_word, vec((sensor(), status()), 0..3), number()).prop_map(
            |(depth, label, parent, plant, word, sensors, moment)| {
                Effect::CommitIteration(CommitIteration {
                    depth,
                    action: label.clone(),
                    label,
                    parent,
                    plant,
                    status: word,
                    target_met: word == NodeStatus::Complete,
                    sensors,
                    decided_at: Millis(moment),
                })
            }
        ),
    ]
    .boxed()
}

fn stage() -> BoxedStrategy<Stage> {
    select(vec![
        Stage::Preparing,
        Stage::Measuring,
        Stage::Inspecting,
        Stage::Deciding,
        Stage::Committing,
        Stage::Closing,
    ])
    .boxed()
}

fn cause() -> BoxedStrategy<Cause> {
    prop_oneof![
        (role(), texts()).prop_map(|(role, faults)| Cause::NoReadableAnswer { role, faults }),
        texts().prop_map(|failing| Cause::FalseClaim { failing }),
        (role(), texts()).prop_map(|(role, paths)| Cause::WorkspaceChanged { role, paths }),
        texts().prop_map(|hazards| Cause::Hazard { hazards }),
        (role(), text()).prop_map(|(role, reason)| Cause::AgentNotStarted { role, reason }),
        (role(), text()).prop_map(|(role, why)| Cause::AgentKeepsFailing { role, why }),
        stage().prop_map(|stage| Cause::StepKeepsGettingLost { stage }),
        text().prop_map(|reason| Cause::CaptureRefused { reason }),
        text().prop_map(|reason| Cause::CommitRefused { reason }),
    ]
    .boxed()
}

fn stall() -> BoxedStrategy<Stall> {
    let stalls = [Stall::Stagnation, Stall::Oscillation, Stall::Regression, Stall::NoChange, Stall::Plateau];
    select(stalls.to_vec()).boxed()
}

fn dimension() -> BoxedStrategy<Dimension> {
    select(vec![Dimension::Rounds, Dimension::Minutes, Dimension::Money, Dimension::DayTokens]).boxed()
}

fn node_end() -> BoxedStrategy<NodeEnd> {
    prop_oneof![
        Just(NodeEnd::TargetMet),
        Just(NodeEnd::MaxIterations),
        stall().prop_map(|how| NodeEnd::Stalled { how }),
        dimension().prop_map(|dimension| NodeEnd::Spent { dimension }),
        cause().prop_map(|cause| NodeEnd::Failed { cause }),
    ]
    .boxed()
}

fn end() -> BoxedStrategy<End> {
    prop_oneof![
        Just(End::Complete),
        dimension().prop_map(|dimension| End::Exhausted { dimension }),
        stall().prop_map(|how| End::Stalled { how }),
        cause().prop_map(|cause| End::NeedsHuman { cause }),
        (text(), text()).prop_map(|(by, reason)| End::Stopped { by, reason }),
        text().prop_map(|reason| End::SetupFailed { reason }),
    ]
    .boxed()
}

fn remark() -> BoxedStrategy<Remark> {
    prop_oneof![
        small().prop_map(|iterations| Remark::Unchanged { iterations }),
        (text(), small()).prop_map(|(to, times)| Remark::Returned { to, times }),
        (text(), small()).prop_map(|(than, iterations)| Remark::Worse { than, iterations }),
        small().prop_map(|times| Remark::NothingChanged { times }),
        small().prop_map(|times| Remark::Repeated { times }),
    ]
    .boxed()
}

fn captured() -> BoxedStrategy<CapturedChange> {
    (small(), tree(), texts())
        .prop_map(|(round, tree, reverted)| CapturedChange { reverted, ..change(round, tree.as_str()) })
        .boxed()
}

pub(crate) fn fact() -> BoxedStrategy<ControlFact> {
    let work = prop_oneof![
        (commit(), tree()).prop_map(|(commit, tree)| ControlFact::BaseFixed { commit, tree }),
        (small(), option::of(artifact()))
            .prop_map(|(depth, setpoint)| ControlFact::NodeEntered { depth, setpoint }),
        small().prop_map(|depth| ControlFact::MeasurementSkipped { depth }),
        (small(), small()).prop_map(|(depth, iteration)| ControlFact::IterationOpened { depth, iteration }),
        (small(), tree(), vec(reading(), 0..3)).prop_map(|(depth, tree, readings)| {
            ControlFact::ReadingsTaken { depth, tree, readings, gate: Vec::new() }
        }),
        (small(), remark()).prop_map(|(depth, remark)| ControlFact::Remarked { depth, remark }),
        (small(), tree(), decision()).prop_map(|(depth, tree, decision)| ControlFact::DecisionTaken {
            depth,
            tree,
            decision
        }),
        (small(), texts()).prop_map(|(depth, failing)| ControlFact::ClaimRefused {
            depth,
            failing,
            gate: Vec::new()
        }),
        (small(), action()).prop_map(|(depth, action)| ControlFact::ActionTaken { depth, action }),
        (small(), captured()).prop_map(|(depth, change)| ControlFact::ChangeTaken { depth, change }),
    ];
    let rest = prop_oneof![
        (role(), texts()).prop_map(|(role, faults)| ControlFact::RepairAsked { role, faults }),
        (stage(), text(), retry_kind()).prop_map(|(stage, why, kind)| ControlFact::StepRetried {
            stage,
            why,
            kind
        }),
        (role(), text(), number(), out_kind(), text()).prop_map(|(role, agent, until, kind, why)| {
            ControlFact::AgentOut { role, agent, until: Millis(until), kind, why }
        }),
        (small(), node_end()).prop_map(|(depth, end)| ControlFact::NodeConcluded { depth, end }),
        (small(), text(), commit()).prop_map(|(depth, label, commit)| ControlFact::IterationCommitted {
            depth,
            label,
            commit
        }),
        (small(), node_end()).prop_map(|(depth, end)| ControlFact::ChildReturned { depth, end }),
        end().prop_map(|end| ControlFact::Concluded { end }),
        (option::of(small()), vec((small(), small()), 0..3)).prop_map(|(steady_limit, more_iterations)| {
            ControlFact::LimitsChanged { limits: NewLimits { steady_limit, more_iterations } }
        }),
        texts().prop_map(|paths| ControlFact::SetupEdited { paths }),
    ];
    prop_oneof![2 => work, 1 => rest].boxed()
}
