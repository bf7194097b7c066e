//! Claude Code: `claude -p --output-format stream-json`. Its exit code and its word "success" mislead, `is_error` does
//! not. Tokens are counted for the run, money for the conversation. Knows only its own flags and lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ModelWish, fatal, first_telling, kind_of_message, limit_in, message, micros, number, object_in, session,
    status, text, tool_call, tool_result, unknown, words,
};
use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::invocation::{
    Access, BuildError, CommandLine, Commands, Invocation, Session, Stdin, flagged, text_of,
};
use crate::signal::{EndClaim, ErrorKind, RateLimitWait, Signal, Stream, UsageScope};

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::Own,
    structured_answer: true,
    resume: true,
    session_ids: SessionIds::Ours,
    reports_usage: true,
    reports_usage_live: true,
    closing_word: ClosingWord::Required,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Required,
    exit_code: |code| (code == 143).then_some((ErrorKind::Interrupted, "it was told to end")),
    login_hint: "run `claude` and log in, or set ANTHROPIC_API_KEY",
};

/// Windlass waits by itself, for longer and across restarts.
const RETRIES: &str = "2";

pub(crate) fn build(wish: ModelWish<'_>, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config"]);
    // Only in pieces does it tell what a reply has cost before all of them are done, and that it is not silent.
    arguments.push("--include-partial-messages".to_owned());
    match invocation.access {
        // Nobody is there to be asked; tools that do not exist need no permission.
        Access::ReadOnly => {
            arguments.extend(words(&["--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob"]));
        }
        Access::ReadWrite => {
            arguments.extend(words(&["--permission-mode", "acceptEdits"]));
            arguments.extend(match invocation.commands {
                Commands::Allowed => words(&["--allowedTools", "Bash"]),
                // Named are the tools there are: of those that run something, each release may bring one more.
                Commands::Off => words(&["--tools", "Read,Grep,Glob,Edit,Write"]),
            });
            arguments.extend(["--add-dir".to_owned(), text_of("outbox", &invocation.outbox)?]);
        }
    }
    arguments.extend(flagged("--add-dir", &invocation.readable)?);
    if let Some(model) = wish.model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(effort) = wish.effort {
        arguments.extend(words(&["--effort", effort]));
    }
    match &invocation.session {
        Session::Fresh { id: Some(id) } => arguments.extend(words(&["--session-id", id])),
        Session::Fresh { id: None } => {}
        Session::Resume { id } => arguments.extend(words(&["--resume", id])),
    }
    if let Some(schema) = &invocation.answer_schema {
        arguments.extend(words(&["--json-schema", &schema.text]));
    }
    let mut environment = invocation.environment()?;
    for (name, value) in [
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    Ok(CommandLine {
        program: "claude".to_owned(),
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
    match text(&event, "/type").unwrap_or_default() {
        "system" => system(&event, line),
        "assistant" => assistant(&event),
        "user" => tool_results(&event),
        "rate_limit_event" => limit_event(&event),
        "result" => result(&event),
        "stream_event" => piece(&event["event"]),
        _ => unknown(line),
    }
}

fn system(event: &Value, line: &str) -> Vec<Signal> {
    match text(event, "/subtype").unwrap_or_default() {
        "init" => {
            let model = text(event, "/model").map(|name| Signal::Model { name: name.to_owned() });
            session(event, "/session_id").into_iter().chain(model).collect()
        }
        "api_retry" => vec![Signal::Retry {
            attempt: u32::try_from(number(event, "/attempt")).unwrap_or(u32::MAX),
            status: status(event, "/error_status"),
            wait_ms: event.get("retry_delay_ms").and_then(Value::as_u64),
        }],
        "thinking_tokens" | "informational" | "status" | "compact_boundary" | "hook_started"
        | "hook_response" | "hook_progress" | "task_started" | "task_progress" | "task_notification" => {
            Vec::new()
        }
        _ => unknown(line),
    }
}

/// Pieces of what the next whole line says again, but for the last one: only it knows how much the reply had to say.
fn piece(event: &Value) -> Vec<Signal> {
    if text(event, "/type") != Some("message_delta") {
        return Vec::new();
    }
    let told = tokens(UsageScope::Step, None, &event["usage"]);
    let Signal::Usage { output, reasoning, .. } = told else { return Vec::new() };
    vec![Signal::Usage {
        scope: UsageScope::Step,
        reply: None,
        input: 0,
        cached: 0,
        output,
        reasoning,
        cost_micros: None,
    }]
}

/// One line per block of a reply, each with the reply's usage as far as it was known at its beginning.
fn assistant(event: &Value) -> Vec<Signal> {
    if event["is_api_error_message"] == true {
        return api_error(event);
    }
    let reply = &event["message"];
    let blocks = reply["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    // What a helper of the agent says is said to the agent, not to us; what it does and costs counts all the same.
    let is_helper = event["parent_tool_use_id"].is_string();
    let said = blocks.iter().filter_map(|block| match text(block, "/type").unwrap_or_default() {
        "text" if is_helper => None,
        "text" => text(block, "/text").and_then(message),
        "tool_use" => {
            Some(tool_call(text(block, "/name").unwrap_or("?"), block.get("input"), text(block, "/id")))
        }
        _ => None,
    });
    said.chain(reply_usage(reply)).collect()
}

/// The program puts its own error into the model's mouth, so this is no message.
fn api_error(event: &Value) -> Vec<Signal> {
    let words = text(event, "/message/content/0/text").unwrap_or("the model's service failed");
    let kind = error_kind(event, words);
    limit_in(words).into_iter().chain([fatal(kind, words)]).collect()
}

fn error_kind(event: &Value, words: &str) -> ErrorKind {
    let by_word = match text(event, "/error").unwrap_or_default() {
        "authentication_failed" | "oauth_org_not_allowed" => ErrorKind::Authentication,
        "billing_error" => ErrorKind::Quota,
        "max_output_tokens" => ErrorKind::TokenLimit,
        _ => ErrorKind::Other,
    };
    let by_connection = match text(event, "/api_error") {
        Some("connection_failed" | "connection_timeout") => ErrorKind::Network,
        _ => ErrorKind::Other,
    };
    first_telling(&[by_word, by_connection, kind_of_message(status(event, "/api_error_status"), words)])
}

fn reply_usage(reply: &Value) -> Option<Signal> {
    let usage = reply.get("usage").filter(|usage| usage.is_object())?;
    let id = text(reply, "/id")?;
    let told = tokens(UsageScope::Step, Some(id), usage);
    let Signal::Usage { scope, reply, input, cached, cost_micros, .. } = told else { return None };
    // What it said is told by its last piece.
    Some(Signal::Usage { scope, reply, input, cached, output: 0, reasoning: 0, cost_micros })
}

fn tokens(scope: UsageScope, reply: Option<&str>, usage: &Value) -> Signal {
    let cached = number(usage, "/cache_read_input_tokens");
    let fresh = number(usage, "/input_tokens").saturating_add(number(usage, "/cache_creation_input_tokens"));
    Signal::Usage {
        scope,
        reply: reply.map(str::to_owned),
        input: fresh.saturating_add(cached),
        cached,
        output: number(usage, "/output_tokens"),
        reasoning: number(usage, "/output_tokens_details/thinking_tokens"),
        cost_micros: None,
    }
}

fn tool_results(event: &Value) -> Vec<Signal> {
    let blocks = event["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let changed =
        event["tool_use_result"].get("structuredPatch").and(text(event, "/tool_use_result/filePath"));
    blocks
        .iter()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| {
            let content = match &block["content"] {
                Value::String(content) => content.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            tool_result(text(block, "/tool_use_id"), block["is_error"] != true, &content)
        })
        .chain(changed.map(|path| Signal::FileChange { path: path.to_owned() }))
        .collect()
}

/// Sent with most replies of a subscription; only a refusal is a limit.
fn limit_event(event: &Value) -> Vec<Signal> {
    let info = &event["rate_limit_info"];
    if text(info, "/status") != Some("rejected") {
        return Vec::new();
    }
    let wait = match info.get("resetsAt").and_then(Value::as_u64) {
        Some(second) => RateLimitWait::UntilMs(second.saturating_mul(1000)),
        None => RateLimitWait::Untold,
    };
    vec![Signal::RateLimit { wait }]
}

fn result(event: &Value) -> Vec<Signal> {
    let spent = Signal::Usage {
        scope: UsageScope::Session,
        reply: None,
        input: 0,
        cached: 0,
        output: 0,
        reasoning: 0,
        cost_micros: micros(event, "/total_cost_usd"),
    };
    let words = reason(event);
    let is_error = event["is_error"] == true || text(event, "/subtype") != Some("success");
    let claim = if is_error {
        EndClaim::Failed { kind: end_kind(event, &words), reason: words.clone() }
    } else {
        EndClaim::Finished
    };
    let answer = event.get("structured_output").filter(|answer| answer.is_object()).map(Value::to_string);
    let limit = if is_error { limit_in(&words) } else { None };
    session(event, "/session_id")
        .into_iter()
        .chain([tokens(UsageScope::Process, None, &event["usage"]), spent])
        .chain(limit)
        .chain([Signal::End { claim, answer }])
        .collect()
}

fn end_kind(event: &Value, words: &str) -> ErrorKind {
    match text(event, "/terminal_reason").unwrap_or_default() {
        "aborted_tools" | "aborted_streaming" | "aborted" => ErrorKind::Interrupted,
        _ => error_kind(event, words),
    }
}

fn reason(event: &Value) -> String {
    let told = text(event, "/result").filter(|words| !words.is_empty()).or_else(|| text(event, "/errors/0"));
    match told {
        Some(words) => words.to_owned(),
        None => format!(
            "{} ({})",
            text(event, "/subtype").unwrap_or("failed"),
            text(event, "/terminal_reason").unwrap_or("no reason told")
        ),
    }
}

/// Refusals to start are written for people, without a word in front that would mark them.
fn read_stderr(line: &str) -> Vec<Signal> {
    let line = line.trim();
    let beginnings = ["error: ", "Error: ", "No conversation found", "Session ID ", "Invalid API key"];
    if !beginnings.iter().any(|beginning| line.starts_with(beginning)) {
        return Vec::new();
    }
    vec![fatal(first_telling(&[kind_of_message(None, line), ErrorKind::Setup]), line)]
}
