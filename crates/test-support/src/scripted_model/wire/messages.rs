//! Anthropic Messages: blocks with a start, deltas and a stop. Its input figure leaves cached tokens out.

use super::super::asked::{Asked, items, text_of};
use super::super::script::{Refusal, Retry};
use super::super::tools::ToolCall;
use super::super::usage::Usage;
use super::{Ending, Event, Ids, Reply, halves};
use serde_json::{Value, json};

pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.system = text_of(&body["system"]);
    let format = body.get("output_format").unwrap_or(&body["output_config"]["format"]);
    asked.schema = format.get("schema").cloned();
    for tool in items(&body["tools"]) {
        asked.offer(&tool["name"], &tool["input_schema"]);
    }
    for message in items(&body["messages"]) {
        match message["role"].as_str() {
            Some("assistant") => asked.replies += 1,
            Some("user") => read_user(&message["content"], asked),
            _ => asked.system.extend(["\n", &text_of(&message["content"])]),
        }
    }
}

fn read_user(content: &Value, asked: &mut Asked) {
    if let Some(text) = content.as_str() {
        asked.hear(text.to_owned());
    }
    for part in items(content) {
        match part["type"].as_str() {
            Some("tool_result") => asked.results.push(text_of(&part["content"])),
            Some("text") => asked.hear(text_of(part)),
            _ => {}
        }
    }
}

pub(super) fn refuse(refusal: &Refusal) -> (Vec<(&'static str, String)>, Value) {
    let kind = match refusal.status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        _ => "api_error",
    };
    let headers = match refusal.retry {
        Retry::Unsaid => Vec::new(),
        Retry::AfterSeconds(seconds) => vec![("retry-after", seconds.to_string())],
        Retry::At(second) => vec![
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
            ("anthropic-ratelimit-unified-reset", second.to_string()),
        ],
    };
    (headers, json!({ "type": "error", "error": { "type": kind, "message": refusal.message } }))
}

pub(super) struct MessagesReply {
    ids: Ids,
    id: String,
    model: String,
    usage: Usage,
    blocks: Vec<Value>,
}

impl MessagesReply {
    pub(super) fn new(mut ids: Ids, model: String, usage: Usage) -> Self {
        let id = ids.next("msg");
        Self { ids, id, model, usage, blocks: Vec::new() }
    }

    fn message(&self, output: u64) -> Value {
        let usage = self.usage;
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": usage.input - usage.cached, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": usage.cached, "output_tokens": output,
            },
        })
    }

    fn block(&mut self, opening: &Value, deltas: Vec<Value>, whole: Value) -> Vec<Event> {
        let index = self.blocks.len();
        self.blocks.push(whole);
        let start = json!({ "type": "content_block_start", "index": index, "content_block": opening });
        let mut events = vec![Event::named("content_block_start", &start)];
        for delta in deltas {
            let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            events.push(Event::named("content_block_delta", &delta));
        }
        let stop = json!({ "type": "content_block_stop", "index": index });
        events.push(Event::named("content_block_stop", &stop));
        events
    }

    fn reason(&self, ending: Ending) -> &'static str {
        match ending {
            Ending::TokenLimit => "max_tokens",
            Ending::Complete if self.blocks.iter().any(|block| block["type"] == "tool_use") => "tool_use",
            Ending::Complete => "end_turn",
        }
    }
}

impl Reply for MessagesReply {
    fn open(&mut self) -> Vec<Event> {
        let start =
            json!({ "type": "message_start", "message": self.message(self.told_at_opening().output) });
        vec![Event::named("message_start", &start), Event::named("ping", &json!({ "type": "ping" }))]
    }

    /// The real service knows one token of output by then.
    fn told_at_opening(&self) -> Usage {
        Usage { output: 1.min(self.usage.output), reasoning: 0, ..self.usage }
    }

    fn text(&mut self, text: &str) -> Vec<Event> {
        let block = |text: &str| json!({ "type": "text", "text": text });
        let deltas =
            halves(text).into_iter().map(|half| json!({ "type": "text_delta", "text": half })).collect();
        self.block(&block(""), deltas, block(text))
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Event> {
        let id = self.ids.next("toolu");
        let block =
            |input: &Value| json!({ "type": "tool_use", "id": id, "name": call.name, "input": input });
        let input = call.input_text();
        let piece = |half: &str| json!({ "type": "input_json_delta", "partial_json": half });
        let deltas = halves(&input).into_iter().map(piece).collect();
        self.block(&block(&json!({})), deltas, block(&call.input))
    }

    fn close(&mut self, ending: Ending) -> Vec<Event> {
        let delta = json!({
            "type": "message_delta", "usage": { "output_tokens": self.usage.output },
            "delta": { "stop_reason": self.reason(ending), "stop_sequence": null },
        });
        let stop = json!({ "type": "message_stop" });
        vec![Event::named("message_delta", &delta), Event::named("message_stop", &stop)]
    }

    fn failure(&mut self, message: &str) -> Vec<Event> {
        let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": message } });
        vec![Event::named("error", &error)]
    }

    fn whole(&mut self, ending: Ending) -> Value {
        let mut message = self.message(self.usage.output);
        message["content"] = json!(self.blocks);
        message["stop_reason"] = json!(self.reason(ending));
        message
    }
}
