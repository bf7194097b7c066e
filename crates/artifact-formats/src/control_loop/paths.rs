//! Where the loop's files lie in a repository, flat and nested, and which paths belong to the loop alone.
//! It knows names, not disks.

use super::run_id::RunId;

pub const LOOP_DIRECTORY: &str = ".ai-loop";
pub const AGENTS_DIRECTORY: &str = ".claude/agents";
pub const SENSOR_PREFIX: &str = "loop-sensor-";
pub const FLAT_CONTROLLER: &str = ".claude/agents/loop-controller.md";
pub const ACTUATOR: &str = ".claude/agents/loop-actuator.md";
/// The parent path that the outermost node names.
pub const NO_PARENT: &str = "root";

/// The folder that holds one node's reports, relative to the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePaths {
    directory: String,
    layout: Layout,
}

/// Whether a repository is set up for one implicit loop or for a tree of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    Flat,
    Nested,
}

impl NodePaths {
    pub fn flat() -> Self {
        Self { directory: LOOP_DIRECTORY.to_owned(), layout: Layout::Flat }
    }

    /// `node_path`: ids from the root joined by `/`, as [`super::Flow::nodes`] gives them.
    pub fn nested(run: &RunId, node_path: &str) -> Self {
        Self { directory: format!("{}/nodes/{node_path}", run_directory(run)), layout: Layout::Nested }
    }

    pub fn directory(&self) -> &str {
        &self.directory
    }

    pub fn orchestrator_output(&self) -> String {
        self.file("orchestrator-output.md")
    }

    pub fn controller_output(&self) -> String {
        self.file("controller-output.md")
    }

    pub fn actuator_output(&self) -> String {
        self.file("actuator-output.md")
    }

    pub fn sensor_output(&self, sensor: &str) -> String {
        self.file(&format!("sensor-{sensor}-output.md"))
    }

    /// The flat dialect has no such file.
    pub fn result_output(&self) -> Option<String> {
        (self.layout == Layout::Nested).then(|| self.file("result-output.md"))
    }

    /// The folder of a child lies inside its parent's.
    #[must_use]
    pub fn child(&self, id: &str) -> Self {
        Self { directory: format!("{}/{id}", self.directory), layout: self.layout }
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }
}

pub fn run_directory(run: &RunId) -> String {
    format!("{LOOP_DIRECTORY}/runs/{run}")
}

pub fn run_state(run: &RunId) -> String {
    format!("{}/run-state.md", run_directory(run))
}

pub fn controller_of_node(id: &str) -> String {
    format!("{AGENTS_DIRECTORY}/loop-controller-{id}.md")
}

pub fn sensor_agent(name: &str) -> String {
    format!("{AGENTS_DIRECTORY}/{SENSOR_PREFIX}{name}.md")
}

/// Whether a path belongs to the loop, so that an agent's change of it is taken back: everything under `.ai-loop/`,
/// the loop's agent files, and whatever else the flow names. Letter case is ignored, as many disks do.
pub fn is_loop_owned(path: &str, named_by_flow: &[&str]) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path).to_ascii_lowercase();
    let in_loop_directory = path == LOOP_DIRECTORY || path.starts_with(".ai-loop/");
    let is_agent_file = path
        .strip_prefix(".claude/agents/loop-")
        .and_then(|rest| rest.strip_suffix(".md"))
        .is_some_and(|rest| !rest.contains('/'));
    in_loop_directory || is_agent_file || named_by_flow.iter().any(|named| path.eq_ignore_ascii_case(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_where_the_original_puts_them() {
        let run = RunId::parse("run_20260225_001").unwrap();
        let flat = NodePaths::flat();
        assert_eq!(flat.orchestrator_output(), ".ai-loop/orchestrator-output.md");
        assert_eq!(flat.sensor_output("lint"), ".ai-loop/sensor-lint-output.md");
        assert_eq!(flat.result_output(), None);
        let inner = NodePaths::nested(&run, "outer").child("inner");
        assert_eq!(inner, NodePaths::nested(&run, "outer/inner"));
        assert_eq!(
            inner.result_output().unwrap(),
            ".ai-loop/runs/run_20260225_001/nodes/outer/inner/result-output.md"
        );
        assert_eq!(run_state(&run), ".ai-loop/runs/run_20260225_001/run-state.md");
        assert_eq!(controller_of_node("outer"), ".claude/agents/loop-controller-outer.md");
    }

    #[test]
    fn the_loops_own_files_are_recognised() {
        let owned = [
            ".ai-loop/flow.yaml",
            ".ai-loop",
            "./.ai-loop/x",
            ".AI-Loop/runs/y",
            ".claude/agents/loop-actuator.md",
            "agents/mine.md",
        ];
        for path in owned {
            assert!(is_loop_owned(path, &["agents/mine.md"]), "{path}");
        }
        for path in [
            ".ai-loops/x",
            "src/.ai-loop/x",
            ".claude/agents/reviewer.md",
            ".claude/agents/loop-x/y.md",
            "agents/yours.md",
        ] {
            assert!(!is_loop_owned(path, &["agents/mine.md"]), "{path}");
        }
    }
}
