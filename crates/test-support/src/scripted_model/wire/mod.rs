//! The wire formats: each reads a request and writes the reply as a stream of events or as a whole. What they share is
//! here; they do not know the script.

mod chat_completions;
mod gemini;
mod messages;
mod responses;

use super::asked::{Asked, Form, Wire};
use super::script::{Refusal, Retry};
use super::tools::ToolCall;
use super::usage::Usage;
use serde_json::{Value, json};

/// One reply under way. Events come out as parts go in; the whole is what has gone in so far.
pub(super) trait Reply {
    fn open(&mut self) -> Vec<Event>;
    /// Figures that a client has seen even if nothing more comes.
    fn told_at_opening(&self) -> Usage {
        Usage::NONE
    }
    fn text(&mut self, text: &str) -> Vec<Event>;
    fn call(&mut self, call: &ToolCall) -> Vec<Event>;
    fn close(&mut self, ending: Ending) -> Vec<Event>;
    /// An error told by the stream itself.
    fn failure(&mut self, message: &str) -> Vec<Event>;
    fn whole(&mut self, ending: Ending) -> Value;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    TokenLimit,
}

/// One server-sent event.
pub(super) struct Event {
    name: Option<String>,
    data: String,
}

impl Event {
    fn named(name: &str, data: &Value) -> Self {
        Self { name: Some(name.to_owned()), data: data.to_string() }
    }

    fn unnamed(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    pub(super) fn text(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data)
    }
}

/// Names that no other reply of this server has.
struct Ids {
    reply: usize,
    given: usize,
}

impl Ids {
    fn next(&mut self, prefix: &str) -> String {
        self.given += 1;
        format!("{prefix}_{:05}_{:03}", self.reply, self.given)
    }
}

pub(super) fn read(wire: Wire, model: &str, form: Form, body: &Value) -> Asked {
    let form = if body["stream"] == true { Form::Stream } else { form };
    let mut asked = Asked::new(wire, model, form);
    match wire {
        Wire::Responses => responses::read(body, &mut asked),
        Wire::ChatCompletions => chat_completions::read(body, &mut asked),
        Wire::Messages => messages::read(body, &mut asked),
        Wire::Gemini => gemini::read(body, &mut asked),
    }
    asked
}

/// `number` tells this reply from all others of the server.
pub(super) fn reply_to(asked: &Asked, usage: Usage, number: usize) -> Box<dyn Reply> {
    let ids = Ids { reply: number, given: 0 };
    let model = asked.model.clone();
    match asked.wire {
        Wire::Responses => Box::new(responses::ResponsesReply::new(ids, model, usage)),
        Wire::ChatCompletions => Box::new(chat_completions::ChatReply::new(ids, model, usage)),
        Wire::Messages => Box::new(messages::MessagesReply::new(ids, model, usage)),
        Wire::Gemini => Box::new(gemini::GeminiReply::new(ids, model, usage)),
    }
}

/// Headers and body of an answer with an error status.
pub(super) fn refuse(wire: Wire, refusal: &Refusal) -> (Vec<(&'static str, String)>, Value) {
    match wire {
        Wire::Responses | Wire::ChatCompletions => openai_refusal(refusal),
        Wire::Messages => messages::refuse(refusal),
        Wire::Gemini => gemini::refuse(refusal),
    }
}

fn openai_refusal(refusal: &Refusal) -> (Vec<(&'static str, String)>, Value) {
    let (kind, code) = match refusal.status {
        400 => ("invalid_request_error", "invalid_value"),
        401 => ("invalid_request_error", "invalid_api_key"),
        429 => ("requests", "rate_limit_exceeded"),
        _ => ("server_error", "server_error"),
    };
    let mut error = json!({ "message": refusal.message, "type": kind, "param": null, "code": code });
    let mut headers = Vec::new();
    match refusal.retry {
        Retry::Unsaid => {}
        Retry::AfterSeconds(seconds) => {
            headers.push(("retry-after", seconds.to_string()));
            headers.push(("x-ratelimit-reset-requests", format!("{seconds}s")));
        }
        Retry::At(second) => {
            error["type"] = json!("usage_limit_reached");
            error["code"] = json!("usage_limit_reached");
            error["resets_at"] = json!(second);
        }
    }
    (headers, json!({ "error": error }))
}

/// Two pieces, so that a client must join what it gets.
fn halves(text: &str) -> Vec<&str> {
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|half| !half.is_empty()).collect()
}
