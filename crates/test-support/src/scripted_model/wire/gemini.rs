//! Gemini: every event is a small whole reply. Its output figure leaves reasoning out.

use super::super::asked::{Asked, items, text_of};
use super::super::script::{Refusal, Retry};
use super::super::tools::ToolCall;
use super::super::usage::Usage;
use super::{Ending, Event, Ids, Reply, halves};
use serde_json::{Value, json};

pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.system = text_of(&body["systemInstruction"]["parts"]);
    let wanted = &body["generationConfig"];
    asked.schema = wanted.get("responseJsonSchema").or_else(|| wanted.get("responseSchema")).cloned();
    for tool in items(&body["tools"]).iter().flat_map(|group| items(&group["functionDeclarations"])) {
        asked.offer(&tool["name"], tool.get("parametersJsonSchema").unwrap_or(&tool["parameters"]));
    }
    for content in items(&body["contents"]) {
        if content["role"] == "model" {
            asked.replies += 1;
            continue;
        }
        for part in items(&content["parts"]) {
            if let Some(text) = part["text"].as_str() {
                asked.hear(text.to_owned());
            } else if let Some(result) = part.get("functionResponse") {
                asked.results.push(text_of(&result["response"]));
            }
        }
    }
}

pub(super) fn refuse(refusal: &Refusal) -> (Vec<(&'static str, String)>, Value) {
    let status = match refusal.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        _ => "INTERNAL",
    };
    let quota = |id: &str| json!({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{ "quotaId": id }] });
    let details = match refusal.retry {
        Retry::Unsaid => json!([]),
        Retry::AfterSeconds(seconds) => json!([
            quota("GenerateRequestsPerMinutePerProjectPerModel"),
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") },
        ]),
        // The service does not say when a day's quota begins again.
        Retry::At(_) => json!([quota("GenerateRequestsPerDayPerProjectPerModel")]),
    };
    let error =
        json!({ "code": refusal.status, "message": refusal.message, "status": status, "details": details });
    (Vec::new(), json!({ "error": error }))
}

pub(super) struct GeminiReply {
    ids: Ids,
    id: String,
    model: String,
    usage: Usage,
    parts: Vec<Value>,
}

impl GeminiReply {
    pub(super) fn new(mut ids: Ids, model: String, usage: Usage) -> Self {
        let id = ids.next("reply");
        Self { ids, id, model, usage, parts: Vec::new() }
    }

    fn content(&self, parts: Value) -> Value {
        json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }],
                "modelVersion": self.model, "responseId": self.id })
    }

    fn event(&self, part: &Value) -> Event {
        Event::unnamed(&self.content(json!([part])))
    }

    fn ended(&self, parts: Value, ending: Ending) -> Value {
        let usage = self.usage;
        let mut content = self.content(parts);
        content["candidates"][0]["finishReason"] = match ending {
            Ending::Complete => json!("STOP"),
            Ending::TokenLimit => json!("MAX_TOKENS"),
        };
        content["usageMetadata"] = json!({
            "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output - usage.reasoning, "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        });
        content
    }
}

impl Reply for GeminiReply {
    fn open(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn text(&mut self, text: &str) -> Vec<Event> {
        self.parts.push(json!({ "text": text }));
        halves(text).into_iter().map(|half| self.event(&json!({ "text": half }))).collect()
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Event> {
        let id = self.ids.next("call");
        let part = json!({ "functionCall": { "id": id, "name": call.name, "args": call.input } });
        let event = self.event(&part);
        self.parts.push(part);
        vec![event]
    }

    fn close(&mut self, ending: Ending) -> Vec<Event> {
        vec![Event::unnamed(&self.ended(json!([{ "text": "" }]), ending))]
    }

    fn failure(&mut self, message: &str) -> Vec<Event> {
        vec![Event::unnamed(&json!({ "error": { "code": 500, "status": "INTERNAL", "message": message } }))]
    }

    fn whole(&mut self, ending: Ending) -> Value {
        self.ended(json!(self.parts), ending)
    }
}
