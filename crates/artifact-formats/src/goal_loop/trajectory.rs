//! `docs/trajectory.jsonl`: the tool calls that a hook of the original wrote down, in either of its two dialects.
//! It reads; this loop keeps its own record elsewhere.

use serde_json::Value;

pub const TRAJECTORY_FILE: &str = "docs/trajectory.jsonl";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub time: String,
    pub tool: String,
    /// As it was recorded: cut to 200 characters, so often no whole JSON any more.
    pub input: String,
    pub result: String,
}

/// The calls, and the numbers of lines that are none.
pub fn read_trajectory(text: &str) -> (Vec<ToolCall>, Vec<usize>) {
    let mut calls = Vec::new();
    let mut unreadable = Vec::new();
    for (number, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match call(line) {
            Some(call) => calls.push(call),
            None => unreadable.push(number + 1),
        }
    }
    (calls, unreadable)
}

impl ToolCall {
    /// The command of a recorded terminal call, as far as it was kept.
    pub fn command(&self) -> Option<String> {
        if self.tool != "run_in_terminal" {
            return None;
        }
        if let Ok(Value::Object(input)) = serde_json::from_str(&self.input) {
            return input.get("command").and_then(Value::as_str).map(str::to_owned);
        }
        // Cut off in the middle: the text of the command up to the cut.
        let (_, rest) = self.input.split_once("\"command\"")?;
        let start = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let closed = format!("\"{}\"", start.trim_end_matches('\\'));
        Some(serde_json::from_str(&closed).unwrap_or_else(|_| start.replace("\\\"", "\"")))
    }
}

fn call(line: &str) -> Option<ToolCall> {
    let Ok(Value::Object(keys)) = serde_json::from_str(line) else { return None };
    let text = |names: [&str; 2]| {
        let value = names.iter().find_map(|name| keys.get(*name))?;
        // A result that is an object was lost by the original; it is kept as its JSON.
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    Some(ToolCall {
        time: text(["ts", "ts"])?,
        tool: text(["tool", "tool"])?,
        input: text(["input", "input_summary"]).unwrap_or_default(),
        result: text(["result", "result_summary"]).unwrap_or_default(),
    })
}
