//! JSON-RPC 2.0 as this protocol uses it: requests are answered, notifications are heard, responses are not for us.

use serde_json::{Value, json};

/// A message of the client, as far as it can be understood.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification,
    /// Not a message; the id where there was one.
    Malformed(Value),
}

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

impl Message {
    pub(crate) fn of(value: &Value) -> Self {
        let id = value.get("id").filter(|id| id.is_string() || id.is_number());
        let is_response = value.get("result").is_some() || value.get("error").is_some();
        match (value["jsonrpc"].as_str(), value["method"].as_str(), id) {
            (Some("2.0"), Some(method), Some(id)) => Self::Request {
                id: id.clone(),
                method: method.to_owned(),
                params: value.get("params").cloned().unwrap_or_else(|| json!({})),
            },
            (Some("2.0"), Some(_), None) if value.get("id").is_none() => Self::Notification,
            (Some("2.0"), None, Some(_)) if is_response => Self::Notification,
            _ => Self::Malformed(id.cloned().unwrap_or_default()),
        }
    }
}

pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_has_a_method_and_an_id() {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let expected = Message::Request { id: json!(1), method: "ping".into(), params: json!({}) };
        assert_eq!(Message::of(&request), expected);
        let heard = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(Message::of(&heard), Message::Notification);
        assert_eq!(Message::of(&json!({"jsonrpc": "2.0", "id": 4, "result": {}})), Message::Notification);
        for wrong in [json!(3), json!({"id": 9}), json!({"jsonrpc": "2.0", "id": null, "method": "ping"})] {
            assert!(matches!(Message::of(&wrong), Message::Malformed(_)), "{wrong}");
        }
    }
}
