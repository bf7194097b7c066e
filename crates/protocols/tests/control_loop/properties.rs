//! What holds for every control loop, whatever happens to it: nothing panics, refusals change nothing, caps hold, replay is
//! exact, and every run comes to an end. `Script::observe` holds each step against replay and invariants.

use crate::script::{Script, reopen, start};
use crate::words::{
    around, caps, change, command, done, leaf, lines, malformed, met, of, plan, prose, reading, report,
    unmet_without_a_plan,
};
use proptest::prelude::*;
use windlass_protocols::effect::Effect;
use windlass_protocols::explain::explain;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::outcome::{
    Answer, Measured, Outcome, Reading, ReadingStatus, StepEnd, Trouble, Usage, WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::end::NodeEnd;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::feedback_control::spec::{CapRule, ControlSpec, Keep, NodeBudget, OnError};
use windlass_protocols::{CommitId, Millis, Observation, Role, TreeId};

fn spec() -> BoxedStrategy<ControlSpec> {
    let shape = (0..3_usize, 0..3_usize, any::<bool>(), any::<bool>());
    let rules = (1..4_u32, 0..4_u32, any::<bool>(), any::<bool>(), any::<bool>());
    let room = (proptest::option::weighted(0.2, 1..200_u64), proptest::option::weighted(0.3, 1..120_u64));
    (shape, rules, room)
        .prop_map(
            |((depth, sensors, agents, required), (cap, patience, strict, best, report), (run, node))| {
                let mut own = Vec::new();
                own.extend((0..sensors).map(|number| command(&format!("command-{number}"))));
                own.extend(agents.then(|| prose("look")));
                if let Some(first) = own.first_mut() {
                    first.required = required;
                }
                let mut flow = leaf("leaf", own.clone(), cap);
                flow.budget = NodeBudget { tokens: node, ..NodeBudget::default() };
                flow.on_error = if report { OnError::ReportToParent } else { OnError::FailFast };
                for level in 0..depth {
                    flow = around(&format!("level-{level}"), own.clone(), cap, flow);
                }
                let mut spec = of(flow);
                spec.caps = caps(cap);
                spec.caps.tokens = run;
                spec.steady_limit = patience;
                spec.cap_rule = if strict { CapRule::StrictOriginal } else { CapRule::JudgeTheLast };
                spec.keep = if best { Keep::Best } else { Keep::Last };
                spec
            },
        )
        .boxed()
}

#[derive(Clone, Debug)]
enum Happening {
    /// The awaited step ends; the first number says how well, the second which tree comes of it.
    Answer(u8, u8),
    Misfit(u8),
    Stop,
    Reopen(CapChange, Option<String>, NewLimits),
}

fn happening() -> BoxedStrategy<Happening> {
    let caps = (0..3_u32, 0..100_u64).prop_map(|(more_rounds, more_tokens)| CapChange {
        more_rounds,
        more_tokens,
        ..CapChange::default()
    });
    prop_oneof![
        20 => (any::<u8>(), 0..6_u8).prop_map(|(how, tree)| Happening::Answer(how, tree)),
        1 => any::<u8>().prop_map(Happening::Misfit),
        1 => Just(Happening::Stop),
        2 => (caps, proptest::option::of("[a-z]{1,5}"), limits())
            .prop_map(|(caps, note, limits)| Happening::Reopen(caps, note, limits)),
    ]
    .boxed()
}

/// Also for nodes that the flow may not have.
fn limits() -> impl Strategy<Value = NewLimits> {
    let more = proptest::collection::vec((1..3_u32, 0..3_u32), 0..2);
    (proptest::option::of(0..3_u32), more)
        .prop_map(|(steady_limit, more_iterations)| NewLimits { steady_limit, more_iterations })
}

fn answer(role: Role, how: u8, sensor: Option<&str>) -> Answer {
    match (how % 11, role) {
        (0, _) => Answer::Missing,
        (1, _) => malformed(),
        (2, Role::Controller) => unmet_without_a_plan(),
        (3..=5, Role::Controller) => met(),
        (_, Role::Controller) => plan(),
        (2, _) => met(),
        (_, Role::Actuator) => done(),
        (_, _) => Answer::Reading(read(sensor.unwrap_or_default(), how)),
    }
}

fn read(sensor: &str, how: u8) -> Reading {
    let status = if how.is_multiple_of(3) { ReadingStatus::Fail } else { ReadingStatus::Pass };
    let mut reading = reading(sensor, status, true);
    reading.edited = if how.is_multiple_of(17) { lines(&["a"]) } else { Vec::new() };
    reading
}

fn trouble(how: u8) -> Option<Trouble> {
    let why = "of the provider".to_owned();
    match how % 29 {
        0 => Some(Trouble::Limited { until: None, why }),
        1 => Some(Trouble::Unavailable { why }),
        2 => Some(Trouble::Misconfigured { why }),
        3 => Some(Trouble::Failed { why }),
        4 => Some(Trouble::CapPassed { dimension: Dimension::Tokens }),
        _ => None,
    }
}

/// An outcome that fits the request: well, badly, lost or interrupted.
fn fitting(request: &Effect, how: u8, tree: u8) -> Outcome {
    let usage = Usage { tokens: u64::from(how % 12), duration: Millis(3), ..Usage::default() };
    let refusable = matches!(
        request,
        Effect::PrepareWorkspaces | Effect::CaptureChange { .. } | Effect::CommitIteration(_)
    );
    match how {
        0..12 => return Outcome::Lost { reason: "gone".to_owned(), usage },
        12..18 => return Outcome::Interrupted { usage },
        18..24 if refusable => return Outcome::Refused { reason: "no".to_owned() },
        _ => {}
    }
    let tree = if tree == 0 { "base-tree".to_owned() } else { format!("tree-{tree}") };
    match request {
        Effect::PrepareWorkspaces => {
            Outcome::Prepared { base: CommitId::new("base"), base_tree: TreeId::new("base-tree") }
        }
        Effect::Measure(asked) => Outcome::Measured(Measured {
            tree: asked.tree.clone(),
            readings: asked.sensors.iter().map(|sensor| read(&sensor.name, how)).collect(),
            usage,
            gate: Vec::new(),
        }),
        Effect::RunAgent(asked) => {
            let sensor = asked.node.as_ref().and_then(|node| node.sensor.as_deref());
            let mut report = report(asked.role, answer(asked.role, how, sensor));
            report.usage = usage;
            report.trouble = trouble(how);
            report.end = StepEnd::Exited { code: i32::from(how.is_multiple_of(19)) };
            if how.is_multiple_of(23) && !asked.role.may_write() {
                report.workspace = WorkspaceAfter::Changed { paths: lines(&["a"]) };
            }
            Outcome::from(report)
        }
        Effect::CaptureChange { round } => {
            let mut change = change(*round, &tree);
            change.hazards = if how.is_multiple_of(21) { lines(&["a link out"]) } else { Vec::new() };
            Outcome::ChangeCaptured(change)
        }
        Effect::CommitIteration(asked) => Outcome::IterationCommitted {
            commit: CommitId::new(format!("{} on {} at {}", asked.label, asked.parent, asked.decided_at.0)),
            tree: asked.plant.clone(),
            setup_edited: if how.is_multiple_of(5) { lines(&[".ai-loop/flow.yaml"]) } else { Vec::new() },
        },
        Effect::Wait(_) => Outcome::Waited,
        Effect::CloseRun(_) => Outcome::Closed,
        Effect::RunChecks(_)
        | Effect::LandChange(_)
        | Effect::ReadQueue { .. }
        | Effect::RunSuite(_)
        | Effect::CommitItem(_)
        | Effect::InspectGate(_)
        | Effect::Plane(_) => unreachable!("a step of another loop"),
    }
}

fn misfit(how: u8) -> Outcome {
    match how % 3 {
        0 => Outcome::Measured(Measured {
            tree: TreeId::new("elsewhere"),
            readings: Vec::new(),
            usage: Usage::default(),
            gate: Vec::new(),
        }),
        1 => Outcome::from(report(Role::Judge, Answer::Missing)),
        _ => Outcome::ChangeCaptured(change(99, "tree-1")),
    }
}

fn play(spec: ControlSpec, happenings: &[Happening]) -> Script {
    let mut script = Script::unborn();
    script.observe(start(spec)).expect("the spec is a good one");
    for happening in happenings {
        let waiting = script.run().unsettled.iter().next();
        let observation = match (happening, waiting) {
            (Happening::Answer(how, tree), Some((effect, request))) => {
                Observation::EffectFinished { effect: *effect, outcome: fitting(request, *how, *tree) }
            }
            (Happening::Misfit(how), Some((effect, _))) => {
                Observation::EffectFinished { effect: *effect, outcome: misfit(*how) }
            }
            (Happening::Reopen(caps, note, limits), _) => {
                Observation::Reopened { caps: *caps, note: note.clone(), limits: limits.clone() }
            }
            (Happening::Answer(..) | Happening::Misfit(_), None) => {
                reopen(CapChange { more_rounds: 1, more_tokens: 50, ..CapChange::default() }, None)
            }
            (Happening::Stop, _) => Observation::StopRequested { reason: "lunch".to_owned() },
        };
        let expected = match (happening, waiting) {
            (Happening::Answer(..), Some(_)) => Some(true),
            (Happening::Misfit(_), Some(_)) => Some(false),
            _ => None,
        };
        let taken = script.observe(observation).is_ok();
        assert_eq!(
            expected.unwrap_or(taken),
            taken,
            "an answer was taken that does not fit, or one refused that does"
        );
        assert!(!explain(script.run()).now.is_empty());
        capped(&script);
    }
    script
}

/// At every level no more actuations than the cap, which the watcher of the facts cannot know better than this.
fn capped(script: &Script) {
    let Some(started) = &script.run().started else { return };
    let state = script.state();
    for frame in &state.stack {
        let node = state.spec.node(frame.depth as usize);
        let cap = if frame.depth == 0 { started.budget.caps.rounds } else { node.max_iterations };
        assert!(frame.actuations <= cap, "{} actuations of {cap} at depth {}", frame.actuations, frame.depth);
        if frame.end == Some(NodeEnd::TargetMet) && frame.measured.as_ref() == state.plant.as_ref() {
            let plant = state.plant.as_ref().expect("something was measured");
            assert_eq!(frame.failing(node, plant), Vec::<String>::new());
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_loop_breaks_a_rule_whatever_happens_to_it(
        spec in spec(),
        happenings in proptest::collection::vec(happening(), 0..80),
    ) {
        play(spec, &happenings);
    }

    #[test]
    fn every_loop_comes_to_an_end_when_its_steps_do(
        spec in spec(),
        happenings in proptest::collection::vec(happening(), 0..30),
        trees in proptest::collection::vec(0..6_u8, 600),
    ) {
        let mut script = play(spec, &happenings);
        for tree in trees {
            let Some((effect, request)) = script.run().unsettled.iter().next() else { break };
            let outcome = fitting(request, 100 + tree, tree);
            let body = Observation::EffectFinished { effect: *effect, outcome };
            prop_assert!(script.observe(body).is_ok());
        }
        prop_assert!(script.run().ended, "the run does not end");
    }
}
