//! Small values the scripts speak in: nodes, sensors, readings, reports. Nothing here knows what a run decides.

use std::collections::BTreeMap;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{CapChange, Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::place::Place;
use windlass_protocols::outcome::{
    Action, AgentReport, Answer, Better, CapturedChange, Count, Decision, Metric, Price, Reading,
    ReadingStatus, StepEnd, TokenKinds, Told, Usage, WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::spec::{
    Actuator, AgentText, CapRule, ControlSpec, Dialect, Keep, Node, NodeBudget, OnError, Sensor, Workplace,
};
use windlass_protocols::{ArtifactRef, CommitId, Digest, Millis, Role, TaskId, TreeId};

pub(crate) const BASE: &str = "base-commit";
pub(crate) const BASE_TREE: &str = "base-tree";

/// What each answered step of a script uses.
pub(crate) const STEP: Usage = Usage {
    duration: Millis(1_000),
    output_bytes: 100,
    tokens: 10,
    cost_micros: 5,
    kinds: TokenKinds { input: 0, cached: 0, output: 0, reasoning: 0 },
    told: Told { count: Count::All, price: Price::AsAmount },
    held_by: None,
};

pub(crate) const NO_MORE: CapChange = CapChange {
    more_rounds: 0,
    more_time: Millis(0),
    more_tokens: 0,
    more_cost_micros: 0,
    more_output_bytes: 0,
};

pub(crate) const ONE_MORE: CapChange = CapChange { more_rounds: 1, ..NO_MORE };

pub(crate) fn artifact(name: &str) -> ArtifactRef {
    ArtifactRef { name: name.to_owned(), digest: Digest::new(format!("digest of {name}")), bytes: 7 }
}

pub(crate) fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn file(name: &str) -> AgentText {
    AgentText { path: format!(".claude/agents/{name}.md"), text: format!("# {name}") }
}

/// A sensor with a command.
pub(crate) fn command(name: &str) -> Sensor {
    Sensor {
        name: name.to_owned(),
        file: file(name),
        command: Some(format!("make {name}")),
        target: "exits 0".to_owned(),
        required: true,
        timeout: None,
    }
}

/// A sensor that only an agent can be.
pub(crate) fn prose(name: &str) -> Sensor {
    Sensor { command: None, ..command(name) }
}

pub(crate) fn optional(sensor: Sensor) -> Sensor {
    Sensor { required: false, ..sensor }
}

pub(crate) fn leaf(id: &str, sensors: Vec<Sensor>, max_iterations: u32) -> Node {
    Node {
        id: id.to_owned(),
        controller: file(&format!("loop-controller-{id}")),
        actuator: Actuator::Direct(file("loop-actuator")),
        sensors,
        max_iterations,
        on_error: OnError::FailFast,
        budget: NodeBudget::default(),
    }
}

pub(crate) fn around(id: &str, sensors: Vec<Sensor>, max_iterations: u32, child: Node) -> Node {
    Node { actuator: Actuator::Cascade(Box::new(child)), ..leaf(id, sensors, max_iterations) }
}

pub(crate) fn caps(rounds: u32) -> Caps {
    Caps {
        rounds,
        time: None,
        tokens: None,
        cost_micros: None,
        output_bytes: None,
        step_time: Millis::minutes(10),
        step_idle: None,
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    }
}

/// A hierarchical run of that flow: any patience, the last content is kept, caps as the root says.
pub(crate) fn of(root: Node) -> ControlSpec {
    let roles = [Role::Sensor, Role::Controller, Role::Actuator];
    ControlSpec {
        task: TaskId::new("TASK-1"),
        text: "make it green".to_owned(),
        caps: caps(root.max_iterations),
        dialect: Dialect::Hierarchical,
        run_name: "run_20260102_001".to_owned(),
        root,
        cap_rule: CapRule::JudgeTheLast,
        keep: Keep::Last,
        steady_limit: 0,
        patience: Patience::default(),
        base_branch: "main".to_owned(),
        workplace: Workplace::OwnWorktree,
        taken_along: false,
        place: Place {
            repository: "/repo".to_owned(),
            common_dir: "/repo/.git".to_owned(),
            run_dir: "/repo/.ai-loop".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new(BASE),
            doer_branch: "ai-loop/make-it-green".to_owned(),
            judge_branch: String::new(),
            agents: roles.map(|role| (role, "first".to_owned())).into(),
            fallbacks: BTreeMap::new(),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: windlass_protocols::kernel::gate::GateRules::default(),
        },
    }
}

/// One level with one required command, `tests`.
pub(crate) fn flat(max_iterations: u32) -> ControlSpec {
    let root = leaf("root", vec![command("tests")], max_iterations);
    ControlSpec { dialect: Dialect::Flat, run_name: String::new(), ..of(root) }
}

pub(crate) fn strict(spec: ControlSpec) -> ControlSpec {
    ControlSpec { cap_rule: CapRule::StrictOriginal, ..spec }
}

/// Two levels, each with one required command: `tests` outside, `build` inside.
pub(crate) fn nested(outer: u32, inner: u32) -> ControlSpec {
    of(around("outer", vec![command("tests")], outer, leaf("inner", vec![command("build")], inner)))
}

pub(crate) fn three_levels() -> ControlSpec {
    let inner = leaf("inner", vec![command("lint")], 2);
    let middle = around("middle", vec![command("build")], 2, inner);
    of(around("outer", vec![command("tests")], 2, middle))
}

pub(crate) fn reading(sensor: &str, status: ReadingStatus, required: bool) -> Reading {
    Reading {
        sensor: sensor.to_owned(),
        status,
        required,
        cause: None,
        metrics: Vec::new(),
        edited: Vec::new(),
        artifact: artifact(&format!("sensor-{sensor}-output.md")),
        log: None,
        tests: None,
    }
}

pub(crate) fn figure(name: &str, value: i64, better: Better) -> Metric {
    Metric { name: name.to_owned(), thousandths: value * 1_000, finer: 0, unit: String::new(), better }
}

pub(crate) fn met() -> Answer {
    Answer::Decision(Decision {
        target_met: true,
        plan: None,
        summary: "all is well".to_owned(),
        artifact: artifact("controller-output.md"),
        waivers: Vec::new(),
    })
}

pub(crate) fn plan() -> Answer {
    Answer::Decision(Decision {
        target_met: false,
        plan: Some(artifact("plan.md")),
        summary: "repair the tests".to_owned(),
        artifact: artifact("controller-output.md"),
        waivers: Vec::new(),
    })
}

pub(crate) fn unmet_without_a_plan() -> Answer {
    Answer::Decision(Decision {
        target_met: false,
        plan: None,
        summary: String::new(),
        artifact: artifact("controller-output.md"),
        waivers: Vec::new(),
    })
}

pub(crate) fn malformed() -> Answer {
    Answer::Malformed { faults: lines(&["no target-met"]) }
}

pub(crate) fn done() -> Answer {
    Answer::Action(Action {
        summary: "edited the parser".to_owned(),
        artifact: Some(artifact("actuator-output.md")),
        commands_off: true,
    })
}

pub(crate) fn report(role: Role, answer: Answer) -> AgentReport {
    AgentReport {
        commands_off: false,
        role,
        end: StepEnd::Exited { code: 0 },
        answer,
        workspace: if role.may_write() { WorkspaceAfter::MayDiffer } else { WorkspaceAfter::Unchanged },
        evidence: Vec::new(),
        usage: STEP,
        trouble: None,
        session: None,
        model: None,
        last_words: String::new(),
    }
}

pub(crate) fn change(round: u32, tree: &str) -> CapturedChange {
    CapturedChange {
        round,
        tree: TreeId::new(tree),
        files_changed: 1,
        fingerprint: None,
        hazards: Vec::new(),
        patch: artifact("patch.diff"),
        reverted: Vec::new(),
        findings: Vec::new(),
        left_out: Vec::new(),
        gate: Vec::new(),
        protected: Vec::new(),
    }
}
