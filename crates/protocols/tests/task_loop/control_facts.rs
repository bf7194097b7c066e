//! One fact of every variant of the control loop, with every variant of what it carries, for the stored form. New ones go
//! to the end, here and in the fixture.

use crate::harness::words::{STEP, agent_report, artifact, caps, change, lines, spec};
use windlass_protocols::effect::{
    Ask, CommitIteration, Effect, Measure, NodeStep, RunAgent, SensorRun, StepLimits,
};
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::kernel::gate::GateReport;
use windlass_protocols::outcome::{
    Action, Answer, Better, CapturedChange, Decision, Measured, Metric, Outcome, Reading, ReadingStatus,
    StepEnd,
};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd, NodeStatus, Stall};
use windlass_protocols::protocol::feedback_control::facts::{
    Fact as ControlFact, NewLimits, OutKind, RetryKind,
};
use windlass_protocols::protocol::feedback_control::spec::{
    Actuator, AgentText, CapRule, ControlSpec, Dialect, Keep, Node, NodeBudget, OnError, Sensor, Workplace,
};
use windlass_protocols::protocol::feedback_control::stage::Stage;
use windlass_protocols::protocol::feedback_control::steadiness::Remark;
use windlass_protocols::{Actor, CommitId, EffectId, Fact, Millis, Role, RunId, TaskId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let mut facts = vec![
        started(control_spec()),
        started(ControlSpec {
            dialect: Dialect::Flat,
            run_name: String::new(),
            root: Node { budget: NodeBudget::default(), ..leaf() },
            cap_rule: CapRule::StrictOriginal,
            keep: Keep::Last,
            patience: Patience { tries: 1, ..Patience::default() },
            workplace: Workplace::InPlace,
            ..control_spec()
        }),
    ];
    facts.extend(
        requests()
            .into_iter()
            .zip(200..)
            .map(|(request, id)| Fact::EffectRequested { effect: EffectId(id), request }),
    );
    facts.extend(
        outcomes()
            .into_iter()
            .zip(200..)
            .map(|(outcome, id)| Fact::EffectSettled { effect: EffectId(id), outcome }),
    );
    let control = steps().into_iter().chain(troubles()).chain(node_ends()).chain(ends()).chain(new_limits());
    facts.extend(control.map(Fact::FeedbackControl));
    facts
}

fn started(spec: ControlSpec) -> Fact {
    Fact::RunStarted {
        version: windlass_protocols::fact::FACT_VERSION,
        run: RunId::new("run-2"),
        spec: Spec::FeedbackControl(Box::new(spec)),
        by: Actor::Human("ada".to_owned()),
    }
}

fn agent_text(path: &str) -> AgentText {
    AgentText { path: format!(".claude/agents/{path}.md"), text: "do it".to_owned() }
}

fn leaf() -> Node {
    Node {
        id: "inner".to_owned(),
        controller: agent_text("loop-controller-inner"),
        actuator: Actuator::Direct(agent_text("loop-actuator")),
        sensors: vec![Sensor {
            name: "look".to_owned(),
            file: agent_text("loop-sensor-look"),
            command: None,
            target: "it looks good".to_owned(),
            required: false,
            timeout: None,
        }],
        max_iterations: 10,
        on_error: OnError::ReportToParent,
        budget: NodeBudget { time: Some(Millis(60_000)), tokens: Some(1_000), cost_micros: Some(2_000) },
    }
}

/// Two levels, both kinds of sensors, a budget for the inner node.
pub(crate) fn control_spec() -> ControlSpec {
    ControlSpec {
        task: TaskId::new("TASK-2"),
        text: "make it fast".to_owned(),
        caps: caps(5),
        dialect: Dialect::Hierarchical,
        run_name: "run_20260102_001".to_owned(),
        root: Node {
            id: "outer".to_owned(),
            controller: agent_text("loop-controller-outer"),
            actuator: Actuator::Cascade(Box::new(leaf())),
            sensors: vec![Sensor {
                name: "tests".to_owned(),
                file: agent_text("loop-sensor-tests"),
                command: Some("make test".to_owned()),
                target: "exits 0".to_owned(),
                required: true,
                timeout: None,
            }],
            max_iterations: 5,
            on_error: OnError::FailFast,
            budget: NodeBudget::default(),
        },
        cap_rule: CapRule::JudgeTheLast,
        keep: Keep::Best,
        steady_limit: 3,
        patience: Patience::default(),
        base_branch: "main".to_owned(),
        workplace: Workplace::OwnWorktree,
        taken_along: false,
        place: spec().place,
    }
}

const LIMITS: StepLimits =
    StepLimits { total: Millis(60_000), idle: None, output_bytes: None, tokens: None, cost_micros: None };

fn requests() -> Vec<Effect> {
    let agent = |role, sensor: Option<&str>| {
        Effect::RunAgent(RunAgent {
            role,
            round: 1,
            attempt: 2,
            tree: Some(TreeId::new("tree-1")),
            ask: Ask::Fresh { feedback: lines(&["try another way"]), history: Vec::new() },
            inputs: vec![artifact("controller-output.md")],
            limits: LIMITS,
            agent: None,
            session: None,
            node: Some(NodeStep { depth: 1, label: "1.2".to_owned(), sensor: sensor.map(str::to_owned) }),
            item: None,
            work: None,
        })
    };
    let sensor = |name: &str| SensorRun {
        name: name.to_owned(),
        command: "make test".to_owned(),
        required: true,
        total: None,
    };
    let mut requests = vec![
        agent(Role::Sensor, Some("look")),
        agent(Role::Controller, None),
        agent(Role::Actuator, None),
        Effect::Measure(Measure {
            depth: 0,
            label: "1".to_owned(),
            tree: TreeId::new("tree-1"),
            sensors: vec![sensor("tests"), sensor("lint")],
            limits: LIMITS,
        }),
    ];
    let statuses =
        [NodeStatus::Running, NodeStatus::Complete, NodeStatus::MaxIterationsReached, NodeStatus::Error];
    requests.extend(statuses.map(|status| {
        Effect::CommitIteration(CommitIteration {
            depth: 0,
            label: "1".to_owned(),
            parent: CommitId::new("base-commit"),
            plant: TreeId::new("tree-1"),
            status,
            target_met: status == NodeStatus::Complete,
            action: "edited files".to_owned(),
            sensors: vec![
                ("tests".to_owned(), ReadingStatus::Pass),
                ("lint".to_owned(), ReadingStatus::Fail),
                ("look".to_owned(), ReadingStatus::Pending),
            ],
            decided_at: Millis(1_700_000_000_000),
        })
    }));
    requests
}

/// With everything that may be absent, then without.
fn readings() -> Vec<Reading> {
    let metric = |name: &str, better| Metric {
        name: name.to_owned(),
        thousandths: -1_500,
        finer: 0,
        unit: "ms".to_owned(),
        better,
    };
    let bare = Reading {
        sensor: "look".to_owned(),
        status: ReadingStatus::Pass,
        required: false,
        cause: None,
        metrics: Vec::new(),
        edited: Vec::new(),
        artifact: artifact("sensor-look-output.md"),
        log: None,
        tests: None,
    };
    let full = Reading {
        sensor: "tests".to_owned(),
        status: ReadingStatus::Fail,
        required: true,
        cause: Some("not-runnable".to_owned()),
        metrics: vec![metric("speed", Better::Higher), metric("latency", Better::Lower)],
        edited: lines(&["Cargo.lock"]),
        artifact: artifact("sensor-tests-output.md"),
        log: Some(artifact("tests.log")),
        tests: None,
    };
    vec![full, bare]
}

fn decision(target_met: bool) -> Decision {
    Decision {
        target_met,
        plan: (!target_met).then(|| artifact("plan.md")),
        summary: "make it faster".to_owned(),
        artifact: artifact("controller-output.md"),
        waivers: Vec::new(),
    }
}

fn action() -> Action {
    Action {
        summary: "a cache".to_owned(),
        artifact: Some(artifact("actuator-output.md")),
        commands_off: true,
    }
}

fn outcomes() -> Vec<Outcome> {
    let agent = |role, answer| Outcome::from(agent_report(role, StepEnd::Exited { code: 0 }, answer, STEP));
    let read = readings();
    vec![
        agent(Role::Sensor, Answer::Reading(read[1].clone())),
        agent(Role::Controller, Answer::Decision(decision(true))),
        agent(Role::Controller, Answer::Decision(decision(false))),
        agent(Role::Actuator, Answer::Action(action())),
        Outcome::Measured(Measured {
            tree: TreeId::new("tree-1"),
            readings: read,
            usage: STEP,
            gate: Vec::new(),
        }),
        committed(Vec::new()),
        Outcome::ChangeCaptured(CapturedChange {
            reverted: lines(&[".ai-loop/flow.yaml"]),
            ..change(1, "tree-1")
        }),
    ]
}

fn committed(setup_edited: Vec<String>) -> Outcome {
    let (commit, tree) = (CommitId::new("commit-1"), TreeId::new("tree-2"));
    Outcome::IterationCommitted { commit, tree, setup_edited }
}

fn steps() -> Vec<ControlFact> {
    let tree = || TreeId::new("tree-1");
    let mut facts = vec![
        ControlFact::BaseFixed { commit: CommitId::new("base-commit"), tree: TreeId::new("base-tree") },
        ControlFact::NodeEntered { depth: 0, setpoint: None },
        ControlFact::NodeEntered { depth: 1, setpoint: Some(artifact("plan.md")) },
        ControlFact::MeasurementSkipped { depth: 1 },
        ControlFact::IterationOpened { depth: 1, iteration: 1 },
        ControlFact::ReadingsTaken { depth: 1, tree: tree(), readings: readings(), gate: Vec::new() },
        ControlFact::DecisionTaken { depth: 1, tree: tree(), decision: decision(false) },
        ControlFact::ClaimRefused { depth: 1, failing: lines(&["tests"]), gate: Vec::new() },
        ControlFact::ActionTaken { depth: 1, action: action() },
        ControlFact::ChangeTaken { depth: 1, change: change(1, "tree-1") },
        ControlFact::IterationCommitted {
            depth: 1,
            label: "1.1".to_owned(),
            commit: CommitId::new("commit-1"),
        },
        ControlFact::ChildReturned { depth: 1, end: NodeEnd::MaxIterations },
    ];
    let remarks = [
        Remark::Unchanged { iterations: 2 },
        Remark::Returned { to: "1".to_owned(), times: 2 },
        Remark::Worse { than: "1".to_owned(), iterations: 2 },
        Remark::NothingChanged { times: 2 },
    ];
    facts.extend(remarks.map(|remark| ControlFact::Remarked { depth: 0, remark }));
    facts
}

fn troubles() -> Vec<ControlFact> {
    let stages = [
        Stage::Preparing,
        Stage::Measuring,
        Stage::Deciding,
        Stage::Acting,
        Stage::Capturing,
        Stage::Committing,
        Stage::Closing,
    ];
    let mut facts =
        vec![ControlFact::RepairAsked { role: Role::Controller, faults: lines(&["no target-met"]) }];
    facts.extend(stages.map(|stage| ControlFact::StepRetried {
        stage,
        why: "gone".to_owned(),
        kind: RetryKind::Lost,
    }));
    facts.extend([OutKind::Limited, OutKind::Unavailable, OutKind::Misconfigured].map(|kind| {
        ControlFact::AgentOut {
            role: Role::Actuator,
            agent: "codex".to_owned(),
            until: Millis(1_700_000_000_000),
            kind,
            why: "try again later".to_owned(),
        }
    }));
    facts
}

const STALLS: [Stall; 4] = [Stall::Stagnation, Stall::Oscillation, Stall::Regression, Stall::NoChange];

fn node_ends() -> Vec<ControlFact> {
    let mut ends = vec![
        NodeEnd::TargetMet,
        NodeEnd::MaxIterations,
        NodeEnd::Spent { dimension: Dimension::Tokens },
        NodeEnd::Failed { cause: Cause::FalseClaim { failing: lines(&["tests"]) } },
    ];
    ends.extend(STALLS.map(|how| NodeEnd::Stalled { how }));
    ends.into_iter().map(|end| ControlFact::NodeConcluded { depth: 0, end }).collect()
}

fn ends() -> Vec<ControlFact> {
    let reason = || "because".to_owned();
    let role = Role::Sensor;
    let mut ends = vec![
        End::Complete,
        End::Exhausted { dimension: Dimension::Rounds },
        End::Stopped { by: "ada".to_owned(), reason: reason() },
        End::SetupFailed { reason: reason() },
    ];
    ends.extend(STALLS.map(|how| End::Stalled { how }));
    let causes = [
        Cause::NoReadableAnswer { role, faults: lines(&["no front matter"]) },
        Cause::FalseClaim { failing: lines(&["tests"]) },
        Cause::WorkspaceChanged { role, paths: lines(&["a"]) },
        Cause::Hazard { hazards: lines(&["a link leads out of the tree"]) },
        Cause::AgentNotStarted { role, reason: reason() },
        Cause::AgentKeepsFailing { role, why: reason() },
        Cause::StepKeepsGettingLost { stage: Stage::Measuring },
        Cause::CaptureRefused { reason: reason() },
        Cause::CommitRefused { reason: reason() },
    ];
    ends.extend(causes.map(|cause| End::NeedsHuman { cause }));
    ends.into_iter().map(|end| ControlFact::Concluded { end }).collect()
}

fn new_limits() -> Vec<ControlFact> {
    let patient = NewLimits { steady_limit: Some(5), more_iterations: Vec::new() };
    let deeper = NewLimits { steady_limit: None, more_iterations: vec![(1, 2)] };
    [patient, deeper].map(|limits| ControlFact::LimitsChanged { limits }).to_vec()
}

/// What a look at the gate ran is said, a change is known when it is made again, and figures that stand have a name.
pub(crate) fn since_what_is_doubted_is_not_the_best() -> Vec<Fact> {
    let report = GateReport {
        tree: TreeId::new("tree-1"),
        ran_with_base: lines(&["make test"]),
        findings: Vec::new(),
        new_tests: Vec::new(),
        evidence: Vec::new(),
        usage: STEP,
        red: Vec::new(),
    };
    let change = CapturedChange { fingerprint: Some("f00d".to_owned()), ..change(1, "tree-1") };
    let facts = [
        ControlFact::GateInspected { depth: 0, report },
        ControlFact::ChangeTaken { depth: 0, change },
        ControlFact::Remarked { depth: 0, remark: Remark::Repeated { times: 2 } },
        ControlFact::NodeConcluded { depth: 0, end: NodeEnd::Stalled { how: Stall::Plateau } },
        ControlFact::Concluded { end: End::Stalled { how: Stall::Plateau } },
    ];
    let taken_along = started(ControlSpec { taken_along: true, ..control_spec() });
    facts.map(Fact::FeedbackControl).into_iter().chain([taken_along]).collect()
}

/// Somebody edited the flow while a run worked with the copy it had pinned.
pub(crate) fn since_edits_are_told() -> Vec<Fact> {
    let paths = || lines(&[".ai-loop/flow.yaml"]);
    vec![
        Fact::EffectSettled { effect: EffectId(206), outcome: committed(paths()) },
        Fact::FeedbackControl(ControlFact::SetupEdited { paths: paths() }),
    ]
}

/// Every variant has a number here, so that a new one does not compile until it has an example below `COUNT`.
pub(crate) const fn variant(fact: &ControlFact) -> usize {
    match fact {
        ControlFact::BaseFixed { .. } => 0,
        ControlFact::NodeEntered { .. } => 1,
        ControlFact::MeasurementSkipped { .. } => 2,
        ControlFact::IterationOpened { .. } => 3,
        ControlFact::ReadingsTaken { .. } => 4,
        ControlFact::Remarked { .. } => 5,
        ControlFact::DecisionTaken { .. } => 6,
        ControlFact::ClaimRefused { .. } => 7,
        ControlFact::ActionTaken { .. } => 8,
        ControlFact::ChangeTaken { .. } => 9,
        ControlFact::RepairAsked { .. } => 10,
        ControlFact::StepRetried { .. } => 11,
        ControlFact::AgentOut { .. } => 12,
        ControlFact::NodeConcluded { .. } => 13,
        ControlFact::IterationCommitted { .. } => 14,
        ControlFact::ChildReturned { .. } => 15,
        ControlFact::Concluded { .. } => 16,
        ControlFact::LimitsChanged { .. } => 17,
        ControlFact::GateInspected { .. } => 18,
        ControlFact::SetupEdited { .. } => 19,
    }
}

pub(crate) const COUNT: usize = 20;
