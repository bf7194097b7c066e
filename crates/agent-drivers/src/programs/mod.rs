//! One file per agent program with a dialect of its own, and the few things they share: how to look into a line of JSON
//! and how to show what a tool was asked.

pub(crate) mod claude;
pub(crate) mod codex;
#[cfg(test)]
mod command_tests;
pub(crate) mod copilot;
pub(crate) mod gemini;
#[cfg(test)]
mod line_tests;
pub(crate) mod opencode;

use serde_json::Value;

use crate::error_text::{kind_of_status, kind_of_text, status_in, wait_in};
use crate::signal::{ErrorKind, RateLimitWait, Severity, Signal};

/// What the user said about the model, as far as they said anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelWish<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) effort: Option<&'a str>,
}

/// How much of a tool's arguments or answer is kept in a signal; all of it is in the log.
const DETAIL_CHARACTERS: usize = 300;

pub(crate) fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// The object in a line, or nothing when the line is not one.
pub(crate) fn object_in(line: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(line.trim()).ok()?;
    value.is_object().then_some(value)
}

pub(crate) fn unknown(line: &str) -> Vec<Signal> {
    vec![Signal::Unknown { line: line.to_owned() }]
}

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

pub(crate) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

pub(crate) fn status(value: &Value, pointer: &str) -> Option<u16> {
    value.pointer(pointer).and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok())
}

/// Programs write money as a fraction of dollars. Rounded by way of text, so that 0.01368 stays 13680 millionths.
pub(crate) fn micros(value: &Value, pointer: &str) -> Option<u64> {
    let dollars = value.pointer(pointer).and_then(Value::as_f64)?;
    format!("{dollars:.6}").replace('.', "").parse().ok()
}

pub(crate) fn session(value: &Value, pointer: &str) -> Option<Signal> {
    text(value, pointer).filter(|id| !id.is_empty()).map(|id| Signal::Session { id: id.to_owned() })
}

pub(crate) fn message(text: &str) -> Option<Signal> {
    (!text.is_empty()).then(|| Signal::Message { text: text.to_owned(), partial: false })
}

pub(crate) fn tool_call(name: &str, arguments: Option<&Value>, id: Option<&str>) -> Signal {
    Signal::ToolCall {
        name: name.to_owned(),
        detail: arguments.map(gist).unwrap_or_default(),
        id: id.map(str::to_owned),
    }
}

pub(crate) fn tool_result(id: Option<&str>, ok: bool, detail: &str) -> Signal {
    Signal::ToolResult { id: id.map(str::to_owned), ok, detail: shortened(detail) }
}

/// The argument that says what a call is about, or all of them.
fn gist(arguments: &Value) -> String {
    let telling = ["command", "file_path", "filePath", "path", "pattern", "query", "url"];
    match telling.iter().find_map(|name| arguments.get(name)?.as_str()) {
        Some(argument) => shortened(argument),
        None => shortened(&arguments.to_string()),
    }
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(DETAIL_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The line without the colours that a program gives its errors even when nobody looks.
pub(crate) fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A sequence ends with its first letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

/// The first of these that says more than "something went wrong".
pub(crate) fn first_telling(kinds: &[ErrorKind]) -> ErrorKind {
    kinds.iter().copied().find(|kind| *kind != ErrorKind::Other).unwrap_or_default()
}

/// What a message says about whose fault an error is: by the HTTP status, given or named in it, else by its words.
pub(crate) fn kind_of_message(status: Option<u16>, message: &str) -> ErrorKind {
    let by_words = kind_of_text(message);
    match status.or_else(|| status_in(message)) {
        // These statuses have several meanings, which only the words tell apart.
        Some(400 | 403 | 404 | 429) if by_words != ErrorKind::Other => by_words,
        Some(status) => kind_of_status(status),
        None => by_words,
    }
}

/// The wait that a message names, as a signal of its own.
pub(crate) fn limit_in(message: &str) -> Option<Signal> {
    match wait_in(message) {
        RateLimitWait::Untold => None,
        wait => Some(Signal::RateLimit { wait }),
    }
}

pub(crate) fn fatal(kind: ErrorKind, message: &str) -> Signal {
    Signal::Error { severity: Severity::Fatal, kind, message: shortened(message) }
}

pub(crate) fn passing(kind: ErrorKind, message: &str) -> Signal {
    Signal::Error { severity: Severity::Passing, kind, message: shortened(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_to_millionths() {
        let micros_of = |json: &str| micros(&serde_json::from_str(json).unwrap(), "/cost");
        assert_eq!(micros_of(r#"{"cost":0.01368}"#), Some(13_680));
        assert_eq!(micros_of(r#"{"cost":0.0032600000000000003}"#), Some(3_260));
        assert_eq!(micros_of(r#"{"cost":12}"#), Some(12_000_000));
        assert_eq!(micros_of(r#"{"cost":1e-7}"#), Some(0));
        assert_eq!(micros_of(r#"{"cost":-1}"#), None);
        assert_eq!(micros_of("{}"), None);
    }

    #[test]
    fn a_tool_call_shows_what_it_is_about_and_no_more_than_fits() {
        let call = |json: &str| match tool_call("x", Some(&serde_json::from_str(json).unwrap()), None) {
            Signal::ToolCall { detail, .. } => detail,
            other => panic!("{other:?}"),
        };
        assert_eq!(call(r#"{"description":"list","command":"ls -l"}"#), "ls -l");
        assert_eq!(call(r#"{"a":1}"#), r#"{"a":1}"#);
        let long = call(&format!(r#"{{"command":"{}"}}"#, "ä".repeat(400)));
        assert_eq!(long.chars().count(), 301);
    }

    #[test]
    fn colours_are_taken_out_and_words_are_left() {
        assert_eq!(without_colours("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mgröße"), "Error: größe");
        assert_eq!(without_colours("plain [0m"), "plain [0m");
        assert_eq!(without_colours("\u{1b}[9"), "");
    }

    #[test]
    fn words_tell_apart_what_one_status_can_mean() {
        assert_eq!(kind_of_message(Some(429), "slow down"), ErrorKind::RateLimit);
        assert_eq!(
            kind_of_message(Some(429), "You exceeded your quota: insufficient_quota"),
            ErrorKind::Quota
        );
        assert_eq!(kind_of_message(Some(400), "Your credit balance is too low"), ErrorKind::Quota);
        assert_eq!(kind_of_message(Some(500), "rate limit service crashed"), ErrorKind::Server);
        assert_eq!(kind_of_message(None, "last status: 503 Service Unavailable"), ErrorKind::Server);
    }
}
