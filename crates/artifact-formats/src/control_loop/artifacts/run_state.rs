//! `run-state.md`: which node of a nested run is at work.

use super::node_state::NodeStatus;
use crate::control_loop::front_matter::{self, Keys, render, text};
use crate::control_loop::yaml::{Yaml, quoted};
use crate::faults::{Faults, Parsed, readable_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunState {
    pub run_id: String,
    pub status: NodeStatus,
    pub active_node_path: String,
    /// Node paths, the outermost first.
    pub execution_stack: Vec<String>,
    pub branch: String,
    pub base_branch: String,
    pub task: Option<String>,
}

impl RunState {
    pub const FILE_NAME: &'static str = "run-state.md";

    pub fn render(&self) -> String {
        let stack = self.execution_stack.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(", ");
        let mut keys = vec![
            ("run-id", text(&self.run_id)),
            ("status", self.status.word().to_owned()),
            ("active-node-path", text(&self.active_node_path)),
            ("execution-stack", format!("[{stack}]")),
            ("branch", text(&self.branch)),
            ("base-branch", text(&self.base_branch)),
        ];
        keys.extend(self.task.as_ref().map(|task| ("task", quoted(task))));
        render(&keys)
    }

    /// Also reads files of the original, whose task was pasted in without quotes and may be no YAML.
    pub fn parse(bytes: &[u8]) -> Parsed<Self> {
        let file = Self::FILE_NAME;
        let Some(front) = front_matter::split(readable_text(file, bytes)?).front else {
            return Err(Faults::one(file, "it does not open with front matter between two lines of `---`"));
        };
        let (mut keys, note) = Keys::read_forgiving(front);
        let run_id = keys.required_words("run-id");
        let status = keys.required_choice("status", &NodeStatus::CHOICES);
        let active_node_path = keys.words("active-node-path").unwrap_or_default();
        let execution_stack = match keys.get("execution-stack") {
            Some(Yaml::List(items)) => items.iter().filter_map(Yaml::as_words).collect(),
            Some(Yaml::Text(text)) => inline_list(text),
            _ => Vec::new(),
        };
        let branch = keys.required_words("branch");
        let base_branch = keys.words("base-branch").unwrap_or_default();
        let task = keys.words("task");
        let state = || {
            Some(Self {
                run_id,
                status: status?,
                active_node_path,
                execution_stack,
                branch,
                base_branch,
                task,
            })
        };
        Faults::unless_empty(file, std::mem::take(&mut keys.faults), state)
            .map(|state| (state, note.into_iter().collect()))
    }
}

/// `[a, a/b]` where it was read as plain words.
fn inline_list(text: &str) -> Vec<String> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    inner
        .split(',')
        .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}
