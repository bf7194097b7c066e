//! Flows as a simulation makes them up: one to three levels, with and without sensors, both cap rules, both keeps.

use crate::choices::Choices;
use crate::profile::{cap, gate};
use std::collections::BTreeMap;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::feedback_control::spec::{
    Actuator, AgentText, CapRule, ControlSpec, Dialect, Keep, Node, NodeBudget, OnError, Sensor, Workplace,
};
use windlass_protocols::{CommitId, Millis, Role, TaskId};

const ROLES: [Role; 3] = [Role::Sensor, Role::Controller, Role::Actuator];

pub(crate) fn spec(choices: &mut Choices) -> ControlSpec {
    let root = flow(choices);
    let caps = Caps {
        rounds: root.max_iterations,
        time: cap(choices, 40 * 60_000).map(Millis),
        tokens: cap(choices, 80_000),
        cost_micros: cap(choices, 40_000),
        output_bytes: None,
        step_time: Millis::minutes(30),
        step_idle: None,
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    };
    let flat = root.child().is_none() && choices.once_in(2);
    ControlSpec {
        task: TaskId::new("TASK-1"),
        text: "bring both figures to nothing".to_owned(),
        caps,
        dialect: if flat { Dialect::Flat } else { Dialect::Hierarchical },
        run_name: if flat { String::new() } else { "run_20260102_001".to_owned() },
        root,
        cap_rule: choices.weighted(&[(3, CapRule::JudgeTheLast), (1, CapRule::StrictOriginal)]),
        keep: choices.weighted(&[(1, Keep::Last), (1, Keep::Best)]),
        steady_limit: choices.weighted(&[(2, 0), (2, 1), (2, 2), (1, 3)]),
        patience: Patience::default(),
        base_branch: "main".to_owned(),
        workplace: Workplace::OwnWorktree,
        taken_along: false,
        place: Place {
            repository: "/r".to_owned(),
            common_dir: "/r/.git".to_owned(),
            run_dir: "/r/.ai-loop".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new("commit-base"),
            doer_branch: "ai-loop/bring-both".to_owned(),
            judge_branch: String::new(),
            agents: ROLES.map(|role| (role, "first".to_owned())).into(),
            fallbacks: fallbacks(choices),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: gate(choices),
        },
    }
}

/// Makes a flow one that must be refused.
pub(crate) fn spoil(spec: &mut ControlSpec, how: u32) {
    match how {
        0 => spec.caps.rounds = 0,
        1 => spec.text.clear(),
        2 => spec.root.max_iterations = 0,
        _ => spec.root.sensors = vec![sensor("twice", None), sensor("twice", None)],
    }
}

fn fallbacks(choices: &mut Choices) -> BTreeMap<Role, Vec<String>> {
    let roles = ROLES.into_iter().filter(|_| choices.once_in(3));
    roles.map(|role| (role, vec!["second".to_owned()])).collect()
}

fn flow(choices: &mut Choices) -> Node {
    let depth = choices.weighted(&[(3, 0), (2, 1), (1, 2)]);
    let mut node = node(choices, 0, Actuator::Direct(file("loop-actuator")));
    for level in 1..=depth {
        node = self::node(choices, level, Actuator::Cascade(Box::new(node)));
    }
    node.max_iterations = choices.weighted(&[(2, 3), (2, 1), (2, 2), (1, 5)]);
    node
}

fn node(choices: &mut Choices, level: u32, actuator: Actuator) -> Node {
    Node {
        id: format!("level-{level}"),
        controller: file("loop-controller"),
        actuator,
        sensors: sensors(choices),
        max_iterations: choices.weighted(&[(1, 2), (1, 1)]),
        on_error: choices.weighted(&[(1, OnError::FailFast), (1, OnError::ReportToParent)]),
        budget: NodeBudget {
            time: None,
            tokens: if choices.once_in(5) { Some(u64::from(choices.below(4_000)) + 1) } else { None },
            cost_micros: None,
        },
    }
}

/// None, one or both figures of the plant, by command or by an agent, required or not.
fn sensors(choices: &mut Choices) -> Vec<Sensor> {
    let figures: &[&str] =
        choices.weighted(&[(4, &["a", "b"] as &[&str]), (2, &["a"]), (2, &["b"]), (1, &[])]);
    let mut sensors = Vec::new();
    for name in figures {
        let command = (!choices.once_in(4)).then(|| format!("measure {name}"));
        sensors.push(Sensor { required: !choices.once_in(5), ..sensor(name, command) });
    }
    sensors
}

fn sensor(name: &str, command: Option<String>) -> Sensor {
    Sensor {
        name: name.to_owned(),
        file: file(&format!("loop-sensor-{name}")),
        command,
        target: "is nothing".to_owned(),
        required: true,
        timeout: None,
    }
}

fn file(name: &str) -> AgentText {
    AgentText { path: format!(".claude/agents/{name}.md"), text: format!("# {name}") }
}
