//! GitHub Copilot CLI: `copilot --output-format json`. Many lines are fleeting and carry nothing for us; tokens stand
//! only in a file that it writes at its end. Told to end, it exits with 0. Knows only its own flags and lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ModelWish, fatal, first_telling, kind_of_message, limit_in, message, number, object_in, session, status,
    text, tool_call, tool_result, unknown, words,
};
use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::invocation::{
    Access, BuildError, CommandLine, Commands, Invocation, Session, Stdin, flagged, text_of,
};
use crate::signal::{EndClaim, ErrorKind, Signal, Stream, UsageScope};

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::Own,
    structured_answer: false,
    resume: true,
    session_ids: SessionIds::Ours,
    reports_usage: true,
    reports_usage_live: false,
    closing_word: ClosingWord::Required,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Required,
    exit_code: |_| None,
    login_hint: "run `copilot login`, or set GH_TOKEN",
};

pub(crate) fn build(wish: ModelWish<'_>, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let mut arguments = words(&["--output-format", "json", "--no-ask-user", "--allow-all-tools"]);
    match invocation.access {
        // What does not exist needs no permission.
        Access::ReadOnly => arguments.extend(words(&["--available-tools", "view", "grep", "glob"])),
        Access::ReadWrite => {
            if invocation.commands == Commands::Off {
                // Counts more than what is allowed above, and for its helpers too.
                arguments.extend(words(&["--deny-tool", "shell"]));
            }
            arguments.extend(["--add-dir".to_owned(), text_of("outbox", &invocation.outbox)?]);
        }
    }
    arguments.extend(flagged("--add-dir", &invocation.readable)?);
    if let Some(model) = wish.model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(effort) = wish.effort {
        arguments.extend(words(&["--reasoning-effort", effort]));
    }
    match &invocation.session {
        Session::Fresh { id: Some(id) } => arguments.extend(words(&["--session-id", id])),
        Session::Fresh { id: None } => {}
        Session::Resume { id } => arguments.push(format!("--resume={id}")),
    }
    arguments.extend(["--usage-output-file".to_owned(), text_of("usage file", &invocation.usage_file)?]);
    let mut environment = invocation.environment()?;
    environment.insert("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned());
    Ok(CommandLine {
        program: "copilot".to_owned(),
        arguments,
        environment,
        stdin: Stdin::Prompt,
        files: BTreeMap::new(),
    })
}

pub(crate) fn read_line(stream: Stream, line: &str) -> Vec<Signal> {
    if stream == Stream::Stderr {
        return read_stderr(line);
    }
    if line.trim().is_empty() {
        return Vec::new();
    }
    let Some(event) = object_in(line) else { return unknown(line) };
    let data = &event["data"];
    match text(&event, "/type").unwrap_or_default() {
        "assistant.message" => text(data, "/content").and_then(message).into_iter().collect(),
        "tool.execution_start" => {
            let name = text(data, "/toolName").unwrap_or("?");
            vec![tool_call(name, data.get("arguments"), text(data, "/toolCallId"))]
        }
        "tool.execution_complete" => tool_done(data),
        "model.call_failure" => vec![Signal::Retry {
            attempt: u32::try_from(number(data, "/retryAttempt") + 1).unwrap_or(u32::MAX),
            status: status(data, "/statusCode"),
            wait_ms: None,
        }],
        "session.error" => error(data),
        // Told to end, it says "exit code 0" all the same.
        "assistant.idle" | "abort" if event["type"] == "abort" || data["aborted"] == true => {
            vec![fatal(ErrorKind::Interrupted, "the agent was told to end")]
        }
        "result" => result(&event),
        "user.message" | "assistant.turn_start" | "assistant.turn_end" => Vec::new(),
        _ if event["ephemeral"] == true => Vec::new(),
        _ => unknown(line),
    }
}

fn tool_done(data: &Value) -> Vec<Signal> {
    let is_ok = data["success"] == true && number(data, "/shellExecution/exitCode") == 0;
    let words = text(data, "/result/content").or_else(|| text(data, "/error/message")).unwrap_or_default();
    let edits = data["fileEdits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let changed = edits.iter().filter(|_| is_ok).filter_map(|edit| text(edit, "/path"));
    [tool_result(text(data, "/toolCallId"), is_ok, words)]
        .into_iter()
        .chain(changed.map(|path| Signal::FileChange { path: path.to_owned() }))
        .collect()
}

fn error(data: &Value) -> Vec<Signal> {
    let words = text(data, "/message").unwrap_or("the session failed");
    let by_type = match text(data, "/errorType").unwrap_or_default() {
        "rate_limit" => ErrorKind::RateLimit,
        "authentication" | "authorization" => ErrorKind::Authentication,
        "quota" => ErrorKind::Quota,
        _ => ErrorKind::Other,
    };
    let kind = first_telling(&[by_type, kind_of_message(status(data, "/statusCode"), words)]);
    limit_in(words).into_iter().chain([fatal(kind, words)]).collect()
}

fn result(event: &Value) -> Vec<Signal> {
    let is_success = event["exitCode"] == 0;
    let end = is_success.then_some(Signal::End { claim: EndClaim::Finished, answer: None });
    session(event, "/sessionId").into_iter().chain(end).collect()
}

fn read_stderr(line: &str) -> Vec<Signal> {
    let line = line.trim();
    if !line.starts_with("error: ") && !line.starts_with("Error: ") {
        return Vec::new();
    }
    vec![fatal(first_telling(&[kind_of_message(None, line), ErrorKind::Setup]), line)]
}

/// The file of `--usage-output-file`: per model, what the whole conversation has used, earlier runs included.
pub(crate) fn read_usage_file(content: &str) -> Vec<Signal> {
    let Some(file) = object_in(content) else { return Vec::new() };
    let Some(models) = file["modelMetrics"].as_object() else { return Vec::new() };
    let sum = |pointer: &str| models.values().map(|metrics| number(metrics, pointer)).sum();
    let usage = Signal::Usage {
        scope: UsageScope::Session,
        reply: None,
        input: sum("/usage/inputTokens"),
        cached: sum("/usage/cacheReadTokens"),
        output: sum("/usage/outputTokens"),
        reasoning: sum("/usage/reasoningTokens"),
        // It counts premium requests and credits, which have no price here.
        cost_micros: None,
    };
    models.keys().map(|name| Signal::Model { name: name.clone() }).chain([usage]).collect()
}
