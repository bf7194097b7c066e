//! One request as a handler sees it: parameters, query and body, already held against the table; and what it replies.

use crate::deliveries::WebhookReach;
use crate::feed::Feed;
use crate::seen::Seen;
use serde_json::{Map, Value, json};
use std::str::FromStr;
use std::sync::Arc;
use windlass_custody_proofs::keys::SigningKey;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, Micros};

pub struct Asked {
    pub parameters: Vec<(&'static str, String)>,
    pub query: Vec<(String, String)>,
    pub body: Map<String, Value>,
    pub headers: Vec<(String, String)>,
    pub at: Micros,
    /// For a secret that this request makes, if it makes one.
    pub random: [u8; 32],
    pub signers: Signers,
    pub webhook_reach: WebhookReach,
}

/// The tenant's keys, as far as tokens and secrets need them.
#[derive(Clone)]
pub struct Signers {
    /// Under which tokens are written.
    pub current: Arc<SigningKey>,
    /// How many keys the tenant had, with this one.
    pub number: usize,
    /// The one before it: a token that was handed out before the change is still good.
    pub former: Option<Arc<SigningKey>>,
}

/// What a reading handler may look at.
pub struct Look<'a> {
    pub ledger: &'a Ledger,
    pub feed: &'a Feed,
    pub caller: &'a Caller,
    pub seen: &'a Seen,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
    /// Shown once and never kept: by its place in the body, as a JSON pointer.
    pub secret: Option<&'static str>,
}

impl Reply {
    pub fn ok(body: Value) -> Self {
        Self { status: 200, body, secret: None }
    }

    pub fn created(body: Value) -> Self {
        Self { status: 201, body, secret: None }
    }

    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    #[must_use]
    pub fn with_secret(mut self, pointer: &'static str) -> Self {
        self.secret = Some(pointer);
        self
    }
}

impl Asked {
    pub fn parameter(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// An id in the path; what is not spelled as one names nothing.
    pub fn id<T: FromStr>(&self, name: &str, what: &str) -> Decided<T> {
        self.parameter(name).parse().map_err(|_| Refusal::not_found(what))
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub fn query_number(&self, name: &str) -> Decided<Option<u64>> {
        self.query(name)
            .map(|text| text.parse().map_err(|_| Refusal::field(name, "must be a whole number")))
            .transpose()
    }

    pub fn query_flag(&self, name: &str) -> Decided<bool> {
        match self.query(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(Refusal::field(name, "must be true or false")),
        }
    }

    /// An id in the query; one that is no id is the caller's mistake.
    pub fn query_id<T: FromStr>(&self, name: &str) -> Decided<Option<T>> {
        self.query(name)
            .map(|text| text.parse().map_err(|_| Refusal::field(name, "is not an id")))
            .transpose()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }

    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(ToOwned::to_owned)
    }

    /// The table has made sure it is there.
    pub fn needed(&self, name: &str) -> String {
        self.owned(name).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Decided<Option<u64>> {
        let negative = || Refusal::field(name, "must not be negative");
        self.value(name).map(|value| value.as_u64().ok_or_else(negative)).transpose()
    }

    pub fn signed(&self, name: &str) -> Option<i64> {
        self.value(name).and_then(Value::as_i64)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool)
    }

    pub fn list(&self, name: &str) -> &[Value] {
        self.value(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub fn json(&self, name: &str) -> Option<JsonText> {
        self.value(name).map(|value| JsonText(value.to_string()))
    }

    pub fn body_id<T: FromStr>(&self, name: &str) -> Decided<Option<T>> {
        self.text(name).map(|text| text.parse().map_err(|_| Refusal::field(name, "is not an id"))).transpose()
    }

    /// A list of texts; anything else in it is the caller's mistake.
    pub fn texts(&self, name: &str) -> Decided<Vec<String>> {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        self.list(name)
            .iter()
            .map(|value| text(value).ok_or_else(|| Refusal::field(name, "must hold texts")))
            .collect()
    }

    /// A part of the body as a type of its own.
    pub fn part<T: serde::de::DeserializeOwned>(&self, name: &str) -> Decided<Option<T>> {
        let wrong = |error: serde_json::Error| {
            Refusal::new(Kind::Invalid, format!("{name}: {error}")).with_detail(name, &error.to_string())
        };
        self.value(name).map(|value| serde_json::from_value(value.clone()).map_err(wrong)).transpose()
    }

    pub fn page(&self, standard: usize, most: usize) -> Decided<Page> {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX).clamp(1, most);
        let limit = self.query_number("limit")?.or(self.query_number("page_size")?).map_or(standard, size);
        let number = self.query_number("page")?.unwrap_or(1).max(1);
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let skip = match self.query_number("offset")? {
            Some(offset) => usize::try_from(offset).unwrap_or(usize::MAX),
            None => (number - 1).saturating_mul(limit),
        };
        Ok(Page { number: skip / limit + 1, size: limit, skip })
    }
}

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub number: usize,
    pub size: usize,
    pub skip: usize,
}

impl Page {
    /// The list's envelope; only what is on the page is rendered.
    pub fn of<T>(self, all: &[T], render: impl FnMut(&T) -> Value) -> Value {
        let data: Vec<Value> = all.iter().skip(self.skip).take(self.size).map(render).collect();
        self.envelope(data, all.len())
    }

    pub fn envelope(self, data: Vec<Value>, total: usize) -> Value {
        json!({ "data": data, "meta": {
            "page": self.number,
            "page_size": self.size,
            "total_count": total,
            "total_pages": total.div_ceil(self.size),
        }})
    }
}

pub(crate) fn query_of(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescaped(&name.replace('+', " ")), unescaped(&value.replace('+', " ")))
        })
        .collect()
}

/// Percent-escapes undone; what is no escape stays as it is.
pub(crate) fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |place: usize| bytes.get(place).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        if let (b'%', Some(high), Some(low)) = (byte, digit(place + 1), digit(place + 2)) {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            place += 3;
        } else {
            out.push(*byte);
            place += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A moment as clients read it.
pub(crate) fn moment(at: Micros) -> Value {
    let micros = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(micros)
        .map_or(Value::Null, |moment| Value::String(format!("{moment:.6}")))
}

pub(crate) fn maybe_moment(at: Option<Micros>) -> Value {
    at.map_or(Value::Null, moment)
}

/// A moment as clients write it.
pub(crate) fn parse_moment(name: &str, text: &str) -> Decided<Micros> {
    let wrong = || Refusal::field(name, "is not a moment such as 2026-01-31T12:00:00Z");
    let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
    u64::try_from(moment.as_microsecond()).map(Micros).map_err(|_| wrong())
}

pub(crate) fn free_json(text: &JsonText) -> Value {
    serde_json::from_str(text.as_str()).unwrap_or(Value::Null)
}

pub(crate) fn id_or_null<T: std::fmt::Display>(id: Option<T>) -> Value {
    id.map_or(Value::Null, |id| Value::String(id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_back_as_it_was_meant() {
        let query = query_of("since=2026-01-01T00%3A00%3A00%2B01:00&q=a+b&flag");

        assert_eq!(query[0].1, "2026-01-01T00:00:00+01:00");
        assert_eq!(query[1].1, "a b");
        assert_eq!(query[2], ("flag".to_owned(), String::new()));
    }

    #[test]
    fn moments_keep_their_microseconds() {
        let at = Micros(1_700_000_000_123_456);

        assert_eq!(parse_moment("since", moment(at).as_str().unwrap()).unwrap(), at);
    }
}
