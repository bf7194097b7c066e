//! Gemini CLI: `gemini --output-format stream-json`. Speaks in pieces, exits with the HTTP status modulo 256, and
//! restarts itself as a child unless told not to. Knows only its own flags and lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ModelWish, fatal, first_telling, kind_of_message, limit_in, number, object_in, session, text, tool_call,
    tool_result, unknown, words,
};
use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::error_text::status_in;
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
    exit_code: by_exit_code,
    login_hint: "run `gemini` and log in, or set GEMINI_API_KEY",
};

fn by_exit_code(code: i32) -> Option<(ErrorKind, &'static str)> {
    Some(match code {
        41 => (ErrorKind::Authentication, "no way to log in was chosen"),
        42 => (ErrorKind::Setup, "it refused its input: a flag, or a session it does not know"),
        44 => (ErrorKind::Setup, "its sandbox could not be started"),
        52 => (ErrorKind::Setup, "its settings are not valid"),
        53 => (ErrorKind::Other, "it reached its limit of turns"),
        55 => (ErrorKind::Setup, "it does not trust the directory"),
        130 => (ErrorKind::Interrupted, "it was told to end"),
        // HTTP statuses, of which only the low byte is left: 400, 401, 403, 404, 429, 500, 502, 503, 504.
        144 => (ErrorKind::BadRequest, "the model's service refused the request (400)"),
        145 => (ErrorKind::Authentication, "the model's service refused the key (401)"),
        147 => (ErrorKind::Authentication, "the model's service refused the key (403)"),
        148 => (ErrorKind::Setup, "the model's service does not know the model (404)"),
        173 => (ErrorKind::RateLimit, "the model's service refused more requests (429)"),
        244 | 246 | 247 | 248 => (ErrorKind::Server, "the model's service failed (5xx)"),
        _ => return None,
    })
}

/// The tools of an actuator. Rules of this tier count more than all that the user allowed in other sessions.
const NO_COMMANDS: &str = r#"[[rule]]
toolName = "*"
decision = "deny"
priority = 998

[[rule]]
toolName = ["read_file", "read_many_files", "write_file", "replace", "glob", "grep_search", "list_directory"]
decision = "allow"
priority = 999
"#;

pub(crate) fn build(wish: ModelWish<'_>, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let mut arguments = words(&["--output-format", "stream-json", "--skip-trust", "--approval-mode"]);
    let mut files = BTreeMap::new();
    match (invocation.access, invocation.commands) {
        (Access::ReadOnly, _) => arguments.extend(words(&["plan"])),
        (Access::ReadWrite, Commands::Allowed) => arguments.push("yolo".to_owned()),
        (Access::ReadWrite, Commands::Off) => {
            let policy = invocation.prompt_file.with_file_name("gemini-policy.toml");
            arguments.extend(words(&["auto_edit", "--admin-policy"]));
            arguments.push(text_of("policy", &policy)?);
            files.insert(policy, NO_COMMANDS.to_owned());
        }
    }
    if invocation.access == Access::ReadWrite {
        arguments.extend(["--include-directories".to_owned(), text_of("outbox", &invocation.outbox)?]);
    }
    arguments.extend(flagged("--include-directories", &invocation.readable)?);
    if let Some(model) = wish.model {
        arguments.extend(words(&["--model", model]));
    }
    match &invocation.session {
        Session::Fresh { id: Some(id) } => arguments.extend(words(&["--session-id", id])),
        Session::Fresh { id: None } => {}
        Session::Resume { id } => arguments.extend(words(&["--resume", id])),
    }
    let mut environment = invocation.environment()?;
    // Its parent process would swallow every signal that asks it to end.
    environment.insert("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned());
    Ok(CommandLine { program: "gemini".to_owned(), arguments, environment, stdin: Stdin::Prompt, files })
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
        "init" => {
            let model = text(&event, "/model").map(|name| Signal::Model { name: name.to_owned() });
            session(&event, "/session_id").into_iter().chain(model).collect()
        }
        "message" => said(&event),
        "tool_use" => {
            let name = text(&event, "/tool_name").unwrap_or("?");
            vec![tool_call(name, event.get("parameters"), text(&event, "/tool_id"))]
        }
        "tool_result" => {
            let is_ok = text(&event, "/status") == Some("success");
            vec![tool_result(text(&event, "/tool_id"), is_ok, text(&event, "/output").unwrap_or_default())]
        }
        "error" => {
            let words = text(&event, "/message").unwrap_or_default();
            vec![super::passing(kind_of_message(None, words), words)]
        }
        "result" => result(&event),
        _ => unknown(line),
    }
}

fn said(event: &Value) -> Vec<Signal> {
    let words = text(event, "/content").unwrap_or_default();
    if text(event, "/role") != Some("assistant") || words.is_empty() {
        return Vec::new();
    }
    vec![Signal::Message { text: words.to_owned(), partial: event["delta"] == true }]
}

fn result(event: &Value) -> Vec<Signal> {
    let input = number(event, "/stats/input_tokens");
    let output = number(event, "/stats/output_tokens");
    // Thoughts are paid as output but stand only in the total.
    let all_output = number(event, "/stats/total_tokens").saturating_sub(input).max(output);
    let usage = Signal::Usage {
        scope: UsageScope::Process,
        reply: None,
        input,
        cached: number(event, "/stats/cached"),
        output: all_output,
        reasoning: all_output - output,
        cost_micros: None,
    };
    let words = text(event, "/error/message").unwrap_or("the program told no reason");
    let is_success = text(event, "/status") == Some("success");
    let claim = if is_success {
        EndClaim::Finished
    } else {
        EndClaim::Failed { reason: words.to_owned(), kind: kind_of(words) }
    };
    let limit = if is_success { None } else { limit_in(words) };
    [usage].into_iter().chain(limit).chain([Signal::End { claim, answer: None }]).collect()
}

/// It advises a higher quota on every rate limit, so those words mean nothing here; the exit code tells better.
fn kind_of(words: &str) -> ErrorKind {
    match kind_of_message(None, words.lines().next().unwrap_or_default()) {
        ErrorKind::Quota | ErrorKind::RateLimit => ErrorKind::RateLimit,
        kind => kind,
    }
}

fn read_stderr(line: &str) -> Vec<Signal> {
    let line = line.trim();
    if let Some(signal) = retry(line) {
        return vec![signal];
    }
    if let Some(report) = line.strip_prefix("Error when talking to Gemini API") {
        return service_error(report);
    }
    let beginnings =
        ["Error resuming session", "Invalid auth method", "Please set an Auth method", "Unknown argument"];
    if !beginnings.iter().any(|beginning| line.starts_with(beginning)) {
        return Vec::new();
    }
    vec![fatal(first_telling(&[kind_of_message(None, line), ErrorKind::Setup]), line)]
}

/// Older versions tell the reason only here, behind the path of a report: ` Full report available at: FILE.json NAME: …`
fn service_error(report: &str) -> Vec<Signal> {
    let words = report.split_once(".json ").map_or(report, |(_, words)| words).trim();
    let by_name = match words.split(':').next().unwrap_or_default() {
        "RetryableQuotaError" => ErrorKind::RateLimit,
        "TerminalQuotaError" => ErrorKind::Quota,
        _ => ErrorKind::Other,
    };
    limit_in(words).into_iter().chain([fatal(first_telling(&[by_name, kind_of(words)]), words)]).collect()
}

/// `Attempt 1 failed with status 429. Retrying with backoff...`
fn retry(line: &str) -> Option<Signal> {
    let (attempt, rest) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
    if !rest.contains("Retrying") {
        return None;
    }
    Some(Signal::Retry { attempt: attempt.parse().ok()?, status: status_in(rest), wait_ms: None })
}
