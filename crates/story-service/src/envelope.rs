//! How a refusal looks to a client: status, words, a code where cases are told apart, and what to do instead.

use serde_json::{Map, Value, json};
use windlass_control_api::stories::Answer;
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;

pub(crate) fn status_of(kind: Kind) -> u16 {
    match kind {
        Kind::Malformed => 400,
        Kind::NotAllowed => 403,
        Kind::NotFound => 404,
        Kind::Conflict => 409,
        Kind::Invalid => 422,
        Kind::Halted => 503,
    }
}

pub(crate) fn refusal(refusal: &Refusal) -> Value {
    let mut error = Map::new();
    error.insert("status".into(), json!(status_of(refusal.kind)));
    error.insert("message".into(), json!(refusal.message));
    if let Some(code) = refusal.code {
        error.insert("code".into(), json!(code));
    }
    if !refusal.details.is_empty() {
        let mut details = Map::new();
        for (field, why) in &refusal.details {
            let said = details.entry(field.clone()).or_insert_with(|| json!([]));
            if let Value::Array(said) = said {
                said.push(json!(why));
            }
        }
        error.insert("details".into(), Value::Object(details));
    }
    if !refusal.context.is_empty() {
        let context = refusal.context.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        error.insert("context".into(), Value::Object(context.collect()));
    }
    if let Some(remedy) = &refusal.remedy {
        error.insert("remediation".into(), json!({ "do": remedy }));
    }
    json!({ "error": error })
}

/// What never reaches the core.
pub(crate) fn plain(status: u16, code: Option<RefusalCode>, message: &str) -> Answer {
    let mut error = json!({ "status": status, "message": message });
    if let (Some(code), Some(error)) = (code, error.as_object_mut()) {
        error.insert("code".into(), json!(code.name()));
        error.insert("remediation".into(), json!({ "do": code.remedy() }));
    }
    Answer::json(status, &json!({ "error": error }))
}
