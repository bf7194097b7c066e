//! One message in, at most one answer out. It keeps no state between messages, so any number of clients may ask, in any
//! order, and a client that comes back needs no session.

use crate::keys::Keys;
use crate::message::{
    INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, error, result,
};
use crate::tools::{self, Tool};
use serde_json::{Map, Value, json};
use windlass_control_api::stories::StoryApi;

/// The newest first. A client that asks for one of these gets it; any other gets the newest and may leave.
pub(crate) const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const INSTRUCTIONS: &str = "Windlass keeps the stories of projects: what is ready, who works on it, what was reported, \
reviewed and verified. Stories and projects may be named by id, number (US-3.1) or slug. Order of one story: \
contract_story, claim_story, start_story, request_review by the implementer; report_story and review_complete by \
others; verify_story or reject_story by an orchestrator who did neither. A refusal says what to do instead.";

pub struct Server<'a> {
    api: &'a dyn StoryApi,
    version: &'a str,
    files: Files,
}

/// Whether arguments may name files of the machine this runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Files {
    /// Whoever started the process asks, and could read them anyway.
    OfTheCaller,
    /// Anybody with a key asks, from anywhere.
    OfOthers,
}

impl<'a> Server<'a> {
    /// `version` is the program's, as clients show it.
    pub fn new(api: &'a dyn StoryApi, version: &'a str) -> Self {
        Self { api, version, files: Files::OfTheCaller }
    }

    /// For clients that are not on this machine: none of its files is read for them.
    #[must_use]
    pub fn for_others(mut self) -> Self {
        self.files = Files::OfOthers;
        self
    }

    /// Answers one text as it came; nothing where nothing is to be said.
    pub async fn answer(&self, text: &str, keys: &Keys) -> Option<String> {
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return Some(error(&Value::Null, PARSE_ERROR, "this is no JSON").to_string());
        };
        let Value::Array(batch) = value else {
            return self.answer_one(&value, keys).await.map(|answer| answer.to_string());
        };
        if batch.is_empty() {
            return Some(error(&Value::Null, INVALID_REQUEST, "an empty batch asks nothing").to_string());
        }
        let mut answers = Vec::new();
        for message in &batch {
            answers.extend(self.answer_one(message, keys).await);
        }
        (!answers.is_empty()).then(|| Value::Array(answers).to_string())
    }

    async fn answer_one(&self, value: &Value, keys: &Keys) -> Option<Value> {
        match Message::of(value) {
            Message::Notification => None,
            Message::Malformed(id) => {
                Some(error(&id, INVALID_REQUEST, "a message has jsonrpc \"2.0\", a method and an id"))
            }
            Message::Request { id, method, params } => Some(match method.as_str() {
                "initialize" => result(&id, self.introduce(&params)),
                "ping" => result(&id, json!({})),
                "tools/list" => result(&id, json!({ "tools": tools::listed() })),
                "tools/call" => self.call_tool(&id, &params, keys).await,
                other => error(&id, METHOD_NOT_FOUND, &format!("there is no method {other}")),
            }),
        }
    }

    fn introduce(&self, params: &Value) -> Value {
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
        json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": { "name": "windlass", "title": "Windlass story queue", "version": self.version },
            "instructions": INSTRUCTIONS,
        })
    }

    async fn call_tool(&self, id: &Value, params: &Value, keys: &Keys) -> Value {
        let name = params["name"].as_str().unwrap_or_default();
        let Some(tool) = tools::named(name) else {
            return error(id, INVALID_PARAMS, &format!("there is no tool {name}"));
        };
        let none = Map::new();
        let arguments = match &params["arguments"] {
            Value::Null => &none,
            Value::Object(arguments) => arguments,
            _ => return error(id, INVALID_PARAMS, "arguments are an object"),
        };
        result(id, self.outcome(tool, arguments, keys).await)
    }

    /// A refusal is for the model to read, so it is a result and not an error of the protocol.
    async fn outcome(&self, tool: &Tool, arguments: &Map<String, Value>, keys: &Keys) -> Value {
        let reads_ours = self.files == Files::OfOthers && arguments.contains_key("payload_path");
        let answer = match tool.checked(arguments) {
            Ok(()) if reads_ours => {
                let why = "over HTTP no file of this machine is read: send the payload itself";
                Err(tools::Refused::ours(why))
            }
            Ok(()) => tools::play(tool, arguments, keys, self.api).await,
            Err(wrong) => Err(tools::Refused::ours(&wrong)),
        };
        let (text, is_error) = match answer {
            Ok(value) => (value.to_string(), false),
            Err(refused) => (refused.value().to_string(), true),
        };
        json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
    }
}
