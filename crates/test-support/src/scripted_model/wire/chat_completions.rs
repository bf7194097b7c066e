//! OpenAI Chat Completions: one message, in pieces or whole.

use super::super::asked::{Asked, items, text_of};
use super::super::tools::ToolCall;
use super::super::usage::Usage;
use super::{Ending, Event, Ids, Reply, halves};
use serde_json::{Value, json};

pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.schema = body["response_format"]["json_schema"].get("schema").cloned();
    for tool in items(&body["tools"]) {
        asked.offer(&tool["function"]["name"], &tool["function"]["parameters"]);
    }
    for message in items(&body["messages"]) {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("assistant") => asked.replies += 1,
            Some("user") => asked.hear(text),
            Some("tool") => asked.results.push(text),
            _ => asked.system.extend(["\n", &text]),
        }
    }
}

pub(super) struct ChatReply {
    ids: Ids,
    id: String,
    model: String,
    usage: Usage,
    text: String,
    calls: Vec<Value>,
}

impl ChatReply {
    pub(super) fn new(mut ids: Ids, model: String, usage: Usage) -> Self {
        let id = ids.next("chatcmpl");
        Self { ids, id, model, usage, text: String::new(), calls: Vec::new() }
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({ "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.model,
                "choices": choices })
    }

    fn delta(&self, delta: Value) -> Event {
        Event::unnamed(&self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }])))
    }

    fn reason(&self, ending: Ending) -> &'static str {
        match ending {
            Ending::TokenLimit => "length",
            Ending::Complete if self.calls.is_empty() => "stop",
            Ending::Complete => "tool_calls",
        }
    }

    fn usage(&self) -> Value {
        let usage = self.usage;
        json!({
            "prompt_tokens": usage.input, "prompt_tokens_details": { "cached_tokens": usage.cached },
            "completion_tokens": usage.output,
            "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
            "total_tokens": usage.input + usage.output,
        })
    }
}

impl Reply for ChatReply {
    fn open(&mut self) -> Vec<Event> {
        vec![self.delta(json!({ "role": "assistant", "content": "" }))]
    }

    fn text(&mut self, text: &str) -> Vec<Event> {
        self.text.push_str(text);
        halves(text).into_iter().map(|half| self.delta(json!({ "content": half }))).collect()
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Event> {
        let (index, id, input) = (self.calls.len(), self.ids.next("call"), call.input_text());
        let function = |arguments: &str| json!({ "name": call.name, "arguments": arguments });
        let opening = json!({ "index": index, "id": id, "type": "function", "function": function("") });
        self.calls.push(json!({ "id": id, "type": "function", "function": function(&input) }));
        let mut events = vec![self.delta(json!({ "tool_calls": [opening] }))];
        for half in halves(&input) {
            let piece = json!({ "index": index, "function": { "arguments": half } });
            events.push(self.delta(json!({ "tool_calls": [piece] })));
        }
        events
    }

    fn close(&mut self, ending: Ending) -> Vec<Event> {
        let last = json!([{ "index": 0, "delta": {}, "finish_reason": self.reason(ending) }]);
        let mut usage = self.chunk(json!([]));
        usage["usage"] = self.usage();
        let done = Event { name: None, data: "[DONE]".to_owned() };
        vec![Event::unnamed(&self.chunk(last)), Event::unnamed(&usage), done]
    }

    fn failure(&mut self, message: &str) -> Vec<Event> {
        let error = json!({ "type": "server_error", "code": "server_error", "message": message });
        vec![Event::unnamed(&json!({ "error": error }))]
    }

    fn whole(&mut self, ending: Ending) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.calls.is_empty() {
            message["tool_calls"] = json!(self.calls);
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": self.reason(ending) });
        json!({ "id": self.id, "object": "chat.completion", "created": 0, "model": self.model,
                "choices": [choice], "usage": self.usage() })
    }
}
