//! Repositories as the original leaves them, written by hand in its three forms: agent files as its set-up writes them, the flow,
//! and what a run of its own left behind in files and commits. Nothing here is made by the program under test.

use super::plant::{BRANCH, Plant};
use std::fmt::Write as _;
use windlass_artifact_formats::control_loop::{ViewedCommit, seen_by_viewer};

/// A run of the original that ended before ours begins.
pub(super) const EARLIER: &str = ".ai-loop/runs/run_20260224_001";

/// The two forms that have a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A child measures when it is entered; reports of sensors do not say whether they passed.
    C1,
    /// They do, and a child begins with stubs.
    C2,
}

/// Front matter and text of an agent file, with the tools that the original gives to its role.
fn agent(name: &str, role: &str, body: &str) -> String {
    let (tools, without, model) = match role {
        "sensor" => ("Read, Glob, Bash, Write", "Edit, NotebookEdit", "haiku"),
        "controller" => ("Read, Glob, Grep, Bash, Write", "Edit, NotebookEdit", "opus"),
        _ => ("Read, Edit, Write, Glob, Grep", "Bash, NotebookEdit", "sonnet"),
    };
    format!(
        "---\nname: {name}\ndescription: The {role} of an AI loop\ntools: {tools}\ndisallowedTools: {without}\nmodel: {model}\n---\n\n{body}"
    )
}

fn sensor(plant: &Plant, output: &str, target: u32) {
    let body = format!(
        "# Sensor: high\n\nYou take one measurement and report it. Do not judge, do not repair.\n\n## Measurement\n\nRun this command:\n\n    test \"$(cat value)\" -ge {target}\n\n## Output\n\nWrite the report to `{output}` with the front matter key `sensor` and the sections `## Command` and `## Output`.\n\n## Rules\n\n- Run nothing else.\n"
    );
    let _ = plant
        .repository
        .write(".claude/agents/loop-sensor-high.md", &agent("loop-sensor-high", "sensor", &body));
}

fn actuator(plant: &Plant, input: &str, output: &str) {
    let body = format!(
        "# Actuator\n\nRead the plan in `{input}`, edit files, report to `{output}`.\n\n## Rules\n\n- Run no commands, make no commits.\n"
    );
    let _ =
        plant.repository.write(".claude/agents/loop-actuator.md", &agent("loop-actuator", "actuator", &body));
}

/// Agent files alone; the controller lists the sensors with their targets.
pub(super) fn flat(target: u32) -> Plant {
    let plant = Plant::bare();
    sensor(&plant, ".ai-loop/sensor-high-output.md", target);
    actuator(&plant, ".ai-loop/controller-output.md", ".ai-loop/actuator-output.md");
    let body = format!(
        "# Loop Controller\n\n## Sensors\n\n### 1. high (priority: 1)\n- **Output file:** `.ai-loop/sensor-high-output.md`\n- **Target:** at least {target}\n\n## Output\n\nWrite the decision to `.ai-loop/controller-output.md`.\n"
    );
    plant
        .repository
        .write(".claude/agents/loop-controller.md", &agent("loop-controller", "controller", &body))
        .write(".ai-loop/.gitkeep", "")
        .commit("set up the loop");
    plant
}

/// What a flat run of the original leaves that was cut off while its actuator was at work: the checkout on the run's branch, two
/// commits, and files that say that the second iteration is running.
pub(super) fn cut_off(plant: &Plant) {
    plant.repository.git(&["checkout", "-q", "-b", "ai-loop/old-thing"]);
    let state = |iteration: u32| {
        let text = format!(
            "---\niteration: {iteration}\nstatus: running\nmax-iterations: 10\nbase-branch: main\nbranch: ai-loop/old-thing\n---\n\n# Task\n\nOld thing\n"
        );
        let _ = plant.repository.write(".ai-loop/orchestrator-output.md", &text);
    };
    let _ = plant.repository.write(".ai-loop/sensor-high-output.md", &report(Form::C1, "fail"));
    state(0);
    plant.repository.commit(
        "ai-loop: iteration 0 — initial measurement\n\n[iteration] 0\n[status] running\n[target-met] false\n[sensors] high: fail\n[action] initial measurement",
    );
    state(1);
    let _ = plant
        .repository
        .write(".ai-loop/controller-output.md", DECISION)
        .write(".ai-loop/actuator-output.md", ACTION);
    plant.repository.commit(
        "ai-loop: iteration 1 — raised it\n\n[iteration] 1\n[status] running\n[target-met] false\n[sensors] high: fail\n[action] raised it",
    );
    // The state of the next iteration is written before anything is done for it.
    state(2);
    plant.repository.commit("keep what the loop had begun");
}

const DECISION: &str = "---\ntarget-met: false\n---\n\n# Controller Output\n\n## Gap Analysis\n\n- high: too low.\n\n## Action Plan\n\n1. Raise `value`.\n";
const OUTER_DECISION: &str =
    "---\ntarget-met: true\n---\n\n# Controller Output\n\n## Gap Analysis\n\nNothing is missing.\n";
const ACTION: &str =
    "# Actuator Output\n\n## What Was Done\n\nRaised it.\n\n## Files Changed\n\n- `value` (modified)\n";

fn report(form: Form, status: &str) -> String {
    let status = match form {
        Form::C1 => String::new(),
        Form::C2 => format!("status: {status}\n"),
    };
    format!(
        "---\nsensor: high\n{status}---\n\n# Sensor Output: high\n\n## Command\n\ntest \"$(cat value)\" -ge 1\n\n## Output\n\nexit code 0, no output\n"
    )
}

/// A flow of these nodes, each inside the one before, and one run of it that has ended and was merged.
pub(super) fn nested(form: Form, nodes: &[&str], target: u32) -> Plant {
    let plant = Plant::bare();
    sensor(&plant, "{output-path}", target);
    actuator(&plant, "{input-path}", "{output-path}");
    for (depth, node) in nodes.iter().enumerate() {
        let inner = match nodes.get(depth + 1) {
            Some(_) => "- The inner loop: `{artifacts-path}/../{child-node-id}/result-output.md`\n",
            None => "",
        };
        let body = format!(
            "# Loop Controller: {node}\n\n- Node: `{{node-path}}`\n- Artifacts: `{{artifacts-path}}`\n{inner}\n## Sensors\n\n{{sensors-section}}\n\n## Output\n\nWrite the decision to `{{artifacts-path}}/controller-output.md`.\n"
        );
        let name = format!("loop-controller-{node}");
        let _ =
            plant.repository.write(&format!(".claude/agents/{name}.md"), &agent(&name, "controller", &body));
    }
    plant
        .repository
        .write(".ai-loop/flow.yaml", &flow(nodes))
        .write(".ai-loop/runs/.gitkeep", "")
        .commit("set up the loop");
    earlier_run(&plant, form, nodes);
    plant
}

fn flow(nodes: &[&str]) -> String {
    let mut text = String::from("version: 1\ndefaults:\n  termination:\n    on_error: fail-fast\nflow:\n");
    for (depth, node) in nodes.iter().enumerate() {
        let indent = "  ".repeat(depth * 2 + 1);
        let most = if depth + 1 == nodes.len() { 10 } else { 5 };
        let _ = write!(
            text,
            "{indent}id: {node}\n{indent}type: loop\n{indent}controller: .claude/agents/loop-controller-{node}.md\n{indent}sensors:\n{indent}  - .claude/agents/loop-sensor-high.md\n{indent}termination:\n{indent}  max_iterations: {most}\n{indent}actuator:\n"
        );
        let _ = match nodes.get(depth + 1) {
            Some(_) => write!(text, "{indent}  strategy: composite\n{indent}  child:\n"),
            None => {
                write!(text, "{indent}  strategy: direct\n{indent}  agent: .claude/agents/loop-actuator.md\n")
            }
        };
    }
    text
}

/// Overwritten in place and committed in each iteration, as the original does; its `run-state.md` says `running` for ever, and its
/// task was pasted in as it came.
fn earlier_run(plant: &Plant, form: Form, nodes: &[&str]) {
    let paths: Vec<String> = (1..=nodes.len()).map(|depth| nodes[..depth].join("/")).collect();
    let write = |path: &str, text: &str| {
        let _ = plant.repository.write(&format!("{EARLIER}/{path}"), text);
    };
    write(
        "run-state.md",
        &format!(
            "---\nrun-id: run_20260224_001\nstatus: running\nactive-node-path: {0}\nexecution-stack: [{0}]\nbranch: ai-loop/older\nbase-branch: main\ntask: raise: the \"value\"\n---\n",
            nodes[0]
        ),
    );
    for (depth, path) in paths.iter().enumerate() {
        let files = format!("nodes/{path}");
        let parent = if depth == 0 { "root" } else { paths[depth - 1].as_str() };
        let node = nodes[depth];
        write(
            &format!("{files}/orchestrator-output.md"),
            &format!(
                "---\niteration: 1\nstatus: complete\nmax-iterations: 5\nnode-path: {path}\nparent-node-path: {parent}\n---\n\n# Task (setpoint)\n\nRaise the value\n"
            ),
        );
        write(&format!("{files}/sensor-high-output.md"), &report(form, "pass"));
        if depth + 1 == nodes.len() {
            write(&format!("{files}/controller-output.md"), DECISION);
            write(&format!("{files}/actuator-output.md"), ACTION);
        } else {
            write(&format!("{files}/controller-output.md"), OUTER_DECISION);
        }
        write(
            &format!("{files}/result-output.md"),
            &format!(
                "---\nstatus: complete\ntarget-met: true\ntermination-reason: target-met\nrun-id: run_20260224_001\nnode-id: {node}\nnode-path: {path}\nparent-node-path: {parent}\niterations-executed: 1\n---\n\n# Result: {node}\n\n## Summary\n\nRaised.\n\n## Metrics Delta\n\nhigh: fail to pass\n\n## Key Observations for Parent Controller\n\nNone.\n"
            ),
        );
        let subject = nodes[..=depth].join(" > ");
        let label = format!("{}1", "1.".repeat(depth));
        plant.repository.commit(&format!(
            "ai-loop[{subject}]: iteration {label} — raised it\n\n[node-path] {path}\n[level] {depth}\n[iteration] {label}\n[status] complete\n[target-met] true\n[sensors] high: pass\n[action] raised it"
        ));
    }
}

/// The commits of our run as the original's viewer shows them: it passes over none, and each stands at its node and depth.
pub(super) fn shown_by_the_viewer(plant: &Plant) -> Vec<ViewedCommit> {
    let ids = plant.repository.git(&["rev-list", "--reverse", &format!("HEAD..{BRANCH}")]);
    let seen = ids.lines().map(|id| {
        let message = plant.repository.git(&["show", "-s", "--format=%B", id]);
        let seen = seen_by_viewer(&message).unwrap_or_else(|| panic!("the viewer passes over {message}"));
        let path = seen.node_path.clone().expect("the viewer wants a path");
        assert_eq!(seen.nodes, Some(path.replace('/', " > ")));
        let dots = seen.iteration.matches('.').count();
        assert_eq!(usize::try_from(seen.level), Ok(path.matches('/').count()), "{seen:?}");
        assert_eq!(usize::try_from(seen.level), Ok(dots), "one number for each level: {seen:?}");
        let known = ["pass", "fail", "pending"];
        assert!(seen.sensors.iter().all(|sensor| known.contains(&sensor.status.as_str())), "{seen:?}");
        seen
    });
    seen.collect()
}
