//! OpenAI Responses: items in, items out, every event numbered and named.

use super::super::asked::{Asked, Tool, ToolKind, items, text_of};
use super::super::tools::ToolCall;
use super::super::usage::Usage;
use super::{Ending, Event, Ids, Reply, halves};
use serde_json::{Value, json};

pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.system = text_of(&body["instructions"]);
    asked.cache_key = body["prompt_cache_key"].as_str().map(str::to_owned);
    asked.schema = body["text"]["format"].get("schema").cloned();
    read_tools(&body["tools"], None, asked);
    if let Some(prompt) = body["input"].as_str() {
        asked.hear(prompt.to_owned());
    }
    let mut in_reply = false;
    for item in items(&body["input"]) {
        let (kind, role) = (item["type"].as_str().unwrap_or("message"), item["role"].as_str());
        let by_model = role == Some("assistant")
            || matches!(kind, "function_call" | "custom_tool_call" | "local_shell_call" | "reasoning");
        // Several items in a row are one reply.
        if by_model && !in_reply {
            asked.replies += 1;
        }
        in_reply = by_model;
        match (kind, role) {
            ("message", Some("user")) => asked.hear(text_of(&item["content"])),
            ("message", Some("developer" | "system")) => {
                asked.system.extend(["\n", &text_of(&item["content"])]);
            }
            _ if kind.ends_with("_output") => asked.results.push(text_of(&item["output"])),
            _ => {}
        }
    }
}

fn read_tools(tools: &Value, namespace: Option<&str>, asked: &mut Asked) {
    for tool in items(tools) {
        let kind = match tool["type"].as_str() {
            Some("function") => ToolKind::Function,
            Some("custom") => ToolKind::Freeform,
            Some("namespace") => {
                read_tools(&tool["tools"], tool["name"].as_str(), asked);
                continue;
            }
            // Tools that the vendor's servers run themselves.
            _ => continue,
        };
        let Some(name) = tool["name"].as_str() else { continue };
        let (name, namespace) = (name.to_owned(), namespace.map(str::to_owned));
        asked.tools.push(Tool { name, namespace, kind, schema: tool["parameters"].clone() });
    }
}

pub(super) struct ResponsesReply {
    ids: Ids,
    id: String,
    model: String,
    usage: Usage,
    output: Vec<Value>,
    sequence: u64,
}

impl ResponsesReply {
    pub(super) fn new(mut ids: Ids, model: String, usage: Usage) -> Self {
        let id = ids.next("resp");
        Self { ids, id, model, usage, output: Vec::new(), sequence: 0 }
    }

    fn event(&mut self, kind: &str, fields: Value) -> Event {
        self.sequence += 1;
        let mut data = json!({ "type": kind, "sequence_number": self.sequence });
        if let (Value::Object(data), Value::Object(fields)) = (&mut data, fields) {
            data.extend(fields);
        }
        Event::named(kind, &data)
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": self.id, "object": "response", "created_at": 0, "status": status, "model": self.model,
            "output": self.output, "parallel_tool_calls": false, "tool_choice": "auto", "tools": [],
            "error": null, "incomplete_details": null,
        })
    }

    fn ended(&self, ending: Ending) -> Value {
        let mut response = match ending {
            Ending::Complete => self.response("completed"),
            Ending::TokenLimit => self.response("incomplete"),
        };
        if ending == Ending::TokenLimit {
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
        let usage = self.usage;
        response["usage"] = json!({
            "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached },
            "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": usage.reasoning },
            "total_tokens": usage.input + usage.output,
        });
        response
    }

    /// An item is announced empty, grows by deltas, and is told whole at its end.
    fn item(&mut self, item: Value, empty: &[(&str, Value)], deltas: Vec<(&str, Value)>) -> Vec<Event> {
        let index = self.output.len();
        let mut opening = item.clone();
        opening["status"] = json!("in_progress");
        for (field, value) in empty {
            opening[*field] = value.clone();
        }
        let added = json!({ "output_index": index, "item": opening });
        let mut events = vec![self.event("response.output_item.added", added)];
        for (kind, mut fields) in deltas {
            fields["item_id"] = item["id"].clone();
            fields["output_index"] = json!(index);
            events.push(self.event(kind, fields));
        }
        self.output.push(item.clone());
        events.push(self.event("response.output_item.done", json!({ "output_index": index, "item": item })));
        events
    }
}

impl Reply for ResponsesReply {
    fn open(&mut self) -> Vec<Event> {
        let response = json!({ "response": self.response("in_progress") });
        vec![self.event("response.created", response.clone()), self.event("response.in_progress", response)]
    }

    fn text(&mut self, text: &str) -> Vec<Event> {
        let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
        let id = self.ids.next("msg");
        let item = json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
                           "content": [part(text)] });
        let added = json!({ "content_index": 0, "part": part("") });
        let mut deltas = vec![("response.content_part.added", added)];
        for half in halves(text) {
            deltas.push(("response.output_text.delta", json!({ "content_index": 0, "delta": half })));
        }
        deltas.push(("response.output_text.done", json!({ "content_index": 0, "text": text })));
        deltas.push(("response.content_part.done", json!({ "content_index": 0, "part": part(text) })));
        self.item(item, &[("content", json!([]))], deltas)
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Event> {
        let input = call.input_text();
        let (kind, prefix, field, delta, done) = match call.kind {
            ToolKind::Function => (
                "function_call",
                "fc",
                "arguments",
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
            ),
            ToolKind::Freeform => (
                "custom_tool_call",
                "ctc",
                "input",
                "response.custom_tool_call_input.delta",
                "response.custom_tool_call_input.done",
            ),
        };
        let (id, call_id) = (self.ids.next(prefix), self.ids.next("call"));
        let mut item =
            json!({ "type": kind, "id": id, "call_id": call_id, "status": "completed", "name": call.name });
        item[field] = json!(input);
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        let mut deltas: Vec<_> =
            halves(&input).into_iter().map(|half| (delta, json!({ "delta": half }))).collect();
        let mut whole = json!({});
        whole[field] = json!(input);
        deltas.push((done, whole));
        self.item(item, &[(field, json!(""))], deltas)
    }

    fn close(&mut self, ending: Ending) -> Vec<Event> {
        let kind = match ending {
            Ending::Complete => "response.completed",
            Ending::TokenLimit => "response.incomplete",
        };
        let response = self.ended(ending);
        vec![self.event(kind, json!({ "response": response }))]
    }

    fn failure(&mut self, message: &str) -> Vec<Event> {
        let mut response = self.response("failed");
        response["error"] = json!({ "code": "server_error", "message": message });
        vec![self.event("response.failed", json!({ "response": response }))]
    }

    fn whole(&mut self, ending: Ending) -> Value {
        self.ended(ending)
    }
}
