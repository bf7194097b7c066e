//! OpenAI Codex: `codex exec --json`. It confines its shell commands itself and counts tokens from the beginning of the
//! conversation. Knows only its own flags and lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ModelWish, fatal, kind_of_message, limit_in, message, number, object_in, passing, session, text,
    tool_call, tool_result, unknown, words,
};
use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::error_text::status_in;
use crate::invocation::{Access, BuildError, CommandLine, Invocation, Session, Stdin, text_of};
use crate::signal::{EndClaim, ErrorKind, Signal, Stream, UsageScope};

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::Own,
    structured_answer: true,
    resume: true,
    session_ids: SessionIds::Theirs,
    reports_usage: true,
    reports_usage_live: false,
    closing_word: ClosingWord::Required,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Required,
    exit_code: |code| (code == 2).then_some((ErrorKind::Setup, "it refused one of its flags")),
    login_hint: "run `codex login`, or set OPENAI_API_KEY for the provider in codex's own settings",
};

pub(crate) fn build(wish: ModelWish<'_>, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let mut arguments = words(&["exec", "--json", "--sandbox"]);
    match invocation.access {
        Access::ReadOnly => arguments.extend(words(&["read-only"])),
        // Only the workspace, the outbox and $TMPDIR: other runs' files are in /tmp too.
        Access::ReadWrite => arguments.extend([
            "workspace-write".to_owned(),
            "--add-dir".to_owned(),
            text_of("outbox", &invocation.outbox)?,
            "-c".to_owned(),
            "sandbox_workspace_write.exclude_slash_tmp=true".to_owned(),
        ]),
    }
    // Without a network it would wait for one for ever; how long to wait is not its decision.
    arguments.extend(words(&["--disable", "unbounded_connection_retries"]));
    arguments.extend(words(&["-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false"]));
    if let Some(model) = wish.model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(effort) = wish.effort {
        arguments.extend(["-c".to_owned(), format!("model_reasoning_effort=\"{effort}\"")]);
    }
    if let Some(schema) = &invocation.answer_schema {
        arguments.extend(["--output-schema".to_owned(), text_of("answer schema", &schema.file)?]);
    }
    // `resume` takes none of the flags above, so they all stand before it.
    if let Session::Resume { id } = &invocation.session {
        arguments.extend(words(&["resume", id]));
    }
    arguments.push("-".to_owned());
    Ok(CommandLine {
        program: "codex".to_owned(),
        arguments,
        environment: invocation.environment()?,
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
        "thread.started" => session(&event, "/thread_id").into_iter().collect(),
        "turn.started" | "item.updated" => Vec::new(),
        "turn.completed" => vec![usage(&event), Signal::End { claim: EndClaim::Finished, answer: None }],
        "turn.failed" => failed(text(&event, "/error/message").unwrap_or("the turn failed")),
        "error" => retry(text(&event, "/message").unwrap_or_default()),
        "item.started" => started(&event["item"]),
        "item.completed" => completed(&event["item"], line),
        _ => unknown(line),
    }
}

fn started(item: &Value) -> Vec<Signal> {
    let id = text(item, "/id");
    match text(item, "/type").unwrap_or_default() {
        "command_execution" => vec![tool_call("shell", Some(item), id)],
        "mcp_tool_call" => vec![tool_call(&mcp_name(item), item.get("arguments"), id)],
        // Said again with its result when it is completed.
        _ => Vec::new(),
    }
}

fn completed(item: &Value, line: &str) -> Vec<Signal> {
    let id = text(item, "/id");
    let is_done = text(item, "/status") == Some("completed");
    match text(item, "/type").unwrap_or_default() {
        "agent_message" => text(item, "/text").and_then(message).into_iter().collect(),
        "reasoning" | "todo_list" => Vec::new(),
        "command_execution" => {
            vec![tool_result(id, is_done, text(item, "/aggregated_output").unwrap_or_default())]
        }
        "mcp_tool_call" => {
            let error = text(item, "/error/message").unwrap_or_default();
            vec![tool_result(id, is_done, error)]
        }
        "file_change" => {
            let changes = item["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
            changes
                .iter()
                .filter(|_| is_done)
                .filter_map(|change| text(change, "/path"))
                .map(|path| Signal::FileChange { path: path.to_owned() })
                .collect()
        }
        "web_search" => vec![tool_call("web_search", Some(item), id)],
        // Codex calls its warnings errors; a real one is told by `turn.failed`.
        "error" => vec![passing(ErrorKind::Other, text(item, "/message").unwrap_or_default())],
        _ => unknown(line),
    }
}

fn mcp_name(item: &Value) -> String {
    let part = |pointer| text(item, pointer).unwrap_or("?");
    format!("{}.{}", part("/server"), part("/tool"))
}

fn usage(event: &Value) -> Signal {
    Signal::Usage {
        scope: UsageScope::Session,
        reply: None,
        input: number(event, "/usage/input_tokens"),
        cached: number(event, "/usage/cached_input_tokens"),
        output: number(event, "/usage/output_tokens"),
        reasoning: number(event, "/usage/reasoning_output_tokens"),
        cost_micros: None,
    }
}

fn failed(reason: &str) -> Vec<Signal> {
    let kind = kind_of_message(None, reason);
    let claim = EndClaim::Failed { reason: reason.to_owned(), kind };
    limit_in(reason).into_iter().chain([Signal::End { claim, answer: None }]).collect()
}

/// `Reconnecting... 2/5 (…)` announces another try; any other `error` line is said again by `turn.failed`.
fn retry(words: &str) -> Vec<Signal> {
    let counted =
        words.strip_prefix("Reconnecting... ").and_then(|rest| rest.split('/').next()?.parse().ok());
    match counted {
        Some(attempt) => vec![Signal::Retry { attempt, status: status_in(words), wait_ms: None }],
        None => vec![passing(kind_of_message(None, words), words)],
    }
}

/// Before the first event Codex speaks to people: clap's refusals, settings it cannot read, sessions it cannot find.
fn read_stderr(line: &str) -> Vec<Signal> {
    let line = line.trim();
    let is_refusal = line.starts_with("error: ")
        || line.starts_with("Error: ")
        || line.starts_with("Not inside a trusted directory");
    if !is_refusal {
        return Vec::new();
    }
    let kind = match kind_of_message(None, line) {
        ErrorKind::Other => ErrorKind::Setup,
        kind => kind,
    };
    vec![fatal(kind, line)]
}
