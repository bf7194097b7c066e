//! OpenCode: `opencode run --format json`. It has no closing line: a step that ends by itself is the last one. Every
//! reply tells its tokens and its price. Knows only its own flags and lines.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    ModelWish, fatal, first_telling, kind_of_message, limit_in, message, micros, number, object_in, session,
    status, text, tool_call, tool_result, unknown, without_colours, words,
};
use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::invocation::{Access, BuildError, CommandLine, Commands, Invocation, Session, Stdin, text_of};
use crate::signal::{EndClaim, ErrorKind, Signal, Stream, UsageScope};

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::Own,
    structured_answer: false,
    resume: true,
    session_ids: SessionIds::Theirs,
    reports_usage: true,
    reports_usage_live: true,
    closing_word: ClosingWord::Required,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Required,
    exit_code: |_| None,
    login_hint: "run `opencode auth login`, or set the key of the model's provider",
};

/// What a reader must not do. Its own agent named `plan` still runs shell commands, so that is no way out.
fn reader_permission(invocation: &Invocation) -> Result<String, BuildError> {
    let mut elsewhere = Map::new();
    // The last rule that fits counts, so what is allowed stands behind what is denied.
    elsewhere.insert("*".to_owned(), json!("deny"));
    for directory in &invocation.readable {
        elsewhere.insert(format!("{}/*", text_of("directory", directory)?), json!("allow"));
    }
    let denied = ["edit", "bash", "task", "webfetch"].map(|name| (name.to_owned(), json!("deny")));
    let rules: Map<String, Value> =
        denied.into_iter().chain([("external_directory".to_owned(), Value::Object(elsewhere))]).collect();
    Ok(Value::Object(rules).to_string())
}

/// An agent of our own that runs nothing. The usual one would not do: the repository's settings may give it more, and
/// what they say of an agent counts more than what the environment says of all.
fn without_commands(name: &str) -> String {
    let permission = json!({ "bash": "deny", "task": "deny" });
    json!({ "agent": { name: { "mode": "primary", "permission": permission } } }).to_string()
}

pub(crate) fn build(wish: ModelWish<'_>, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let mut arguments = words(&["run", "--format", "json"]);
    let mut environment = invocation.environment()?;
    environment.insert("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned());
    match invocation.access {
        Access::ReadOnly => {
            environment.insert("OPENCODE_PERMISSION".to_owned(), reader_permission(invocation)?);
        }
        // It asks before it touches the outbox, and nobody is there to answer.
        Access::ReadWrite => arguments.push("--auto".to_owned()),
    }
    let mut files = BTreeMap::new();
    if let (Access::ReadWrite, Commands::Off) = (invocation.access, invocation.commands) {
        // A name that no settings in the repository can have foreseen.
        let name = format!("windlass-{}", invocation.run_id);
        let directory = invocation.prompt_file.with_file_name("opencode");
        environment.insert("OPENCODE_CONFIG_DIR".to_owned(), text_of("directory", &directory)?);
        files.insert(directory.join("opencode.json"), without_commands(&name));
        arguments.extend(["--agent".to_owned(), name]);
    }
    if let Some(model) = wish.model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(effort) = wish.effort {
        arguments.extend(words(&["--variant", effort]));
    }
    match &invocation.session {
        Session::Resume { id } => arguments.extend(words(&["--session", id])),
        // Without a title it asks the model for one, and tells nobody what that cost.
        Session::Fresh { .. } => arguments.extend(["--title".to_owned(), title(invocation)]),
    }
    Ok(CommandLine { program: "opencode".to_owned(), arguments, environment, stdin: Stdin::Prompt, files })
}

fn title(invocation: &Invocation) -> String {
    let Invocation { run_id, role, round, .. } = invocation;
    format!("Windlass {run_id}, {role}, round {round}")
}

pub(crate) fn read_line(stream: Stream, line: &str) -> Vec<Signal> {
    if stream == Stream::Stderr {
        return read_stderr(line);
    }
    if line.trim().is_empty() {
        return Vec::new();
    }
    let Some(event) = object_in(line) else { return unknown(line) };
    let part = &event["part"];
    match text(&event, "/type").unwrap_or_default() {
        "step_start" => session(&event, "/sessionID").into_iter().collect(),
        "text" => text(part, "/text").and_then(message).into_iter().collect(),
        "reasoning" => Vec::new(),
        "tool_use" => tool(part),
        "step_finish" => step_finish(part),
        "error" => error(&event),
        _ => unknown(line),
    }
}

/// A tool is told once, when it is done: call and result in one line.
fn tool(part: &Value) -> Vec<Signal> {
    let state = &part["state"];
    let id = text(part, "/callID");
    let name = text(part, "/tool").unwrap_or("?");
    let is_ok = text(state, "/status") == Some("completed")
        && name != "invalid"
        && number(state, "/metadata/exit") == 0;
    let words = text(state, "/output").or_else(|| text(state, "/error")).unwrap_or_default();
    let mut signals = vec![tool_call(name, state.get("input"), id), tool_result(id, is_ok, words)];
    if let (true, "write" | "edit" | "patch", Some(path)) = (is_ok, name, text(state, "/input/filePath")) {
        signals.push(Signal::FileChange { path: path.to_owned() });
    }
    signals
}

fn step_finish(part: &Value) -> Vec<Signal> {
    let cached = number(part, "/tokens/cache/read");
    let fresh = number(part, "/tokens/input").saturating_add(number(part, "/tokens/cache/write"));
    let reasoning = number(part, "/tokens/reasoning");
    let usage = Signal::Usage {
        scope: UsageScope::Step,
        reply: None,
        input: fresh.saturating_add(cached),
        cached,
        output: number(part, "/tokens/output").saturating_add(reasoning),
        reasoning,
        // It says 0 of every model that its price list does not know.
        cost_micros: micros(part, "/cost").filter(|cost| *cost > 0),
    };
    let claim = match text(part, "/reason").unwrap_or_default() {
        "stop" => Some(EndClaim::Finished),
        "length" => Some(EndClaim::Failed {
            reason: "the reply ended at the token limit".to_owned(),
            kind: ErrorKind::TokenLimit,
        }),
        "content-filter" => Some(EndClaim::Failed {
            reason: "the model declined to answer".to_owned(),
            kind: ErrorKind::Refused,
        }),
        _ => None,
    };
    [usage].into_iter().chain(claim.map(|claim| Signal::End { claim, answer: None })).collect()
}

fn error(event: &Value) -> Vec<Signal> {
    let data = &event["error"]["data"];
    let name = text(event, "/error/name").unwrap_or("error");
    let words = text(data, "/message").unwrap_or(name);
    let by_name = match name {
        "ProviderAuthError" => ErrorKind::Authentication,
        "MessageOutputLengthError" => ErrorKind::TokenLimit,
        "MessageAbortedError" => ErrorKind::Interrupted,
        "ProviderModelNotFoundError" => ErrorKind::Setup,
        _ => ErrorKind::Other,
    };
    let code = text(data, "/metadata/code").unwrap_or_default();
    let kind = first_telling(&[
        by_name,
        kind_of_message(status(data, "/statusCode"), words),
        kind_of_message(None, code),
    ]);
    let told = text(data, "/responseHeaders/retry-after").map(|seconds| format!("retry-after: {seconds}"));
    let limit = told.as_deref().and_then(limit_in).or_else(|| limit_in(words));
    session(event, "/sessionID").into_iter().chain(limit).chain([fatal(kind, words)]).collect()
}

fn read_stderr(line: &str) -> Vec<Signal> {
    let line = without_colours(line);
    let line = line.trim();
    if line == "opencode run [message..]" {
        return vec![fatal(
            ErrorKind::Setup,
            "it explained its usage instead of starting: a flag was refused",
        )];
    }
    if !line.starts_with("Error: ") {
        return Vec::new();
    }
    vec![fatal(first_telling(&[kind_of_message(None, line), ErrorKind::Setup]), line)]
}
