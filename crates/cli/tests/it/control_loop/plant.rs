//! A repository whose content is one number, sensors that read it, and agents made of a few lines of shell. The setpoint
//! is reached by counting.

use crate::world;
use serde_json::Value;
use std::fmt::Write as _;
use windlass_artifact_formats::control_loop::{ViewedCommit, read_loop_commit};
use windlass_test_support::{Output, Repository, Untouched, World};

pub(crate) const TASK: &str = "Raise the value";
pub(crate) const BRANCH: &str = "ai-loop/raise-the-value";

/// Says that the target is met from this value on, and else plans to add one.
pub(crate) fn counting_controller(target: u32) -> String {
    format!(
        r#"v=$(cat value)
if [ "$v" -ge {target} ]; then printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nThe value is %s.\n' "$v"
else printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nThe value is %s.\n\n## Action Plan\n\n1. Add one to `value`.\n' "$v"
fi > "$WINDLASS_OUTBOX/controller-output.md""#
    )
}

pub(crate) const ADDING_ACTUATOR: &str = r#"v=$(cat value); echo $((v + 1)) > value
printf '# Actuator Output\n\n## What Was Done\n\nAdded one.\n\n## Files Changed\n\n- `value` (modified)\n' > "$WINDLASS_OUTBOX/actuator-output.md""#;

pub(crate) struct Plant {
    pub(crate) world: World,
    pub(crate) repository: Repository,
}

impl Plant {
    /// Set up in the flat form with one sensor that wants at least this value; committed.
    pub(crate) fn flat(target: u32) -> Self {
        let plant = Self::bare();
        plant.sensor("high", &format!("test \"$(cat value)\" -ge {target}"));
        plant.role("loop-controller", "# Controller\n\nCompare and plan.\n");
        plant.role("loop-actuator", "# Actuator\n\nEdit files.\n");
        plant.repository.commit("set up");
        plant
    }

    /// Set up with a flow of so many levels below the outermost one, each with the same sensor.
    pub(crate) fn levels(below: usize, target: u32) -> Self {
        let plant = Self::bare();
        plant.sensor("high", &format!("test \"$(cat value)\" -ge {target}"));
        plant
            .role("loop-actuator", "# Actuator\n\nRead {input-path}, edit files, report to {output-path}.\n");
        let names = ["outer", "middle", "inner"];
        let nodes = &names[..=below];
        for node in nodes {
            plant.role(
                &format!("loop-controller-{node}"),
                "# Controller of {node-path}\n\n{sensors-section}\n\nFiles: {artifacts-path}\n",
            );
        }
        plant.repository.write(".ai-loop/flow.yaml", &flow(nodes));
        plant.repository.commit("set up");
        plant
    }

    pub(crate) fn bare() -> Self {
        let world = world();
        let repository = world.repository("plant");
        repository.write("value", "0\n");
        Self { world, repository }
    }

    pub(crate) fn sensor(&self, name: &str, command: &str) {
        let text = format!(
            "---\nname: loop-sensor-{name}\ndescription: measures\ntools: Read, Bash\nmodel: haiku\n---\n\n# Sensor: {name}\n\n## Measurement\n\n    {command}\n\n## Output\n\nWrite it down.\n"
        );
        self.repository.write(&format!(".claude/agents/loop-sensor-{name}.md"), &text);
    }

    pub(crate) fn role(&self, name: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: plays\nmodel: sonnet\n---\n\n{body}");
        self.repository.write(&format!(".claude/agents/{name}.md"), &text);
    }

    /// An agent that is a few lines of shell.
    pub(crate) fn agent(&self, name: &str, lines: &str) -> String {
        let file = self.world.shared(&format!("{name}.sh"));
        std::fs::write(&file, lines).unwrap();
        format!("command:/bin/sh {}", file.display())
    }

    /// Runs with a counting controller and an adding actuator.
    pub(crate) fn count_to(&self, target: u32, flags: &[&str]) -> Output {
        self.run(&counting_controller(target), ADDING_ACTUATOR, flags)
    }

    pub(crate) fn run(&self, controller: &str, actuator: &str, flags: &[&str]) -> Output {
        let controller = self.agent("controller", controller);
        let actuator = self.agent("actuator", actuator);
        let words = [
            "control",
            "run",
            TASK,
            "--repo",
            self.repository.text(),
            "--yes",
            "--json",
            "--controller",
            &controller,
            "--actuator",
            &actuator,
        ];
        self.world.windlass(&[&words, flags].concat())
    }

    /// The commits of the loop, the first one first.
    pub(crate) fn commits(&self) -> Vec<ViewedCommit> {
        self.commits_of(BRANCH)
    }

    pub(crate) fn commits_of(&self, branch: &str) -> Vec<ViewedCommit> {
        let ids = self.repository.git(&["rev-list", "--reverse", &format!("HEAD..{branch}")]);
        ids.lines()
            .map(|id| {
                let message = self.repository.git(&["show", "-s", "--format=%B", id]);
                read_loop_commit(&message).unwrap_or_else(|| panic!("no commit of a loop: {message}"))
            })
            .collect()
    }

    pub(crate) fn labels(&self) -> Vec<String> {
        self.commits().into_iter().map(|commit| commit.iteration).collect()
    }

    /// A file as the branch ends on it.
    pub(crate) fn ends_with(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("{BRANCH}:{path}")])
    }

    pub(crate) fn run_id(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        list[0]["run"].as_str().unwrap().to_owned()
    }

    /// The record holds, and nobody is left.
    pub(crate) fn assert_sound(&self) {
        let run = self.run_id();
        let _ = self.world.windlass(&["verify", &run]).exits_with(0);
        self.world.assert_no_processes();
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let log = self.world.windlass(&["log", &self.run_id(), "--json"]).exits_with(0).json();
        log["entries"].as_array().unwrap().clone()
    }

    /// But for the loop's own branch everything of the user's is as it was.
    pub(crate) fn assert_untouched(&self, before: &Untouched) {
        self.repository.git(&["branch", "-D", BRANCH]);
        before.assert_holds(&self.repository);
    }
}

/// The last line of what `control run --json` prints.
pub(crate) fn outcome(output: &Output) -> Value {
    output.json_lines().pop().expect("a run prints its outcome")
}

fn flow(nodes: &[&str]) -> String {
    let mut text = String::from("version: 1\nflow:\n");
    for (depth, node) in nodes.iter().enumerate() {
        let indent = "  ".repeat(depth * 2 + 1);
        let _ = write!(
            text,
            "{indent}id: {node}\n{indent}type: loop\n{indent}controller: .claude/agents/loop-controller-{node}.md\n{indent}sensors:\n{indent}  - .claude/agents/loop-sensor-high.md\n{indent}termination:\n{indent}  max_iterations: 5\n{indent}actuator:\n"
        );
        if depth + 1 == nodes.len() {
            let _ = write!(
                text,
                "{indent}  strategy: direct\n{indent}  agent: .claude/agents/loop-actuator.md\n"
            );
        } else {
            let _ = write!(text, "{indent}  strategy: composite\n{indent}  child:\n");
        }
    }
    text
}
