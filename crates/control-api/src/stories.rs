//! The one door to the story queue: a call shaped like HTTP, and its answer. The service answers in this process or behind
//! a server; the command line, the agents' tools and the server itself ask the same way and know nothing else of it.

use std::future::Future;
use std::pin::Pin;

/// Where every call to the queue begins, in paths.
pub const BASE: &str = "/api/v1";
/// A body that is longer is refused, unless what is asked for takes more.
pub const LONGEST_BODY: usize = 2_000_000;
/// A whole plan: 70,000 stories as they are exported.
pub const LONGEST_PLAN: usize = 64_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub method: Method,
    /// With the base, without the query: `/api/v1/stories/US-3.1/claim`. Percent-escapes are as the client wrote them.
    pub path: String,
    /// What follows the question mark, as the client wrote it; empty where there is none.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON, or empty.
    pub body: Vec<u8>,
}

impl Call {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: String::new(), headers: Vec::new(), body: Vec::new() }
    }

    #[must_use]
    pub fn with_key(self, raw_key: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {raw_key}"))
    }

    /// The name is written in lower case.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        escape_into(&mut self.query, name);
        self.query.push('=');
        escape_into(&mut self.query, value);
        self
    }

    #[must_use]
    pub fn with_json(mut self, body: &serde_json::Value) -> Self {
        self.body = body.to_string().into_bytes();
        self
    }

    /// By its name in lower case; the first of several.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Null where the body is no JSON.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Escapes what a query or one part of a path cannot hold.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_into(&mut out, text);
    out
}

fn escape_into(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0').to_ascii_uppercase());
            out.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0').to_ascii_uppercase());
        }
    }
}

/// No answer at all: the queue could not be reached. Whether the call had an effect is then unknown; with an
/// `idempotency-key` it can be asked again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);

pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Unreachable>> + Send + 'a>>;

pub trait StoryApi: Send + Sync {
    /// Every refusal is an answer with its status; an error is the absence of one.
    fn call(&self, call: Call) -> Answering<'_>;

    /// How many bytes a call to this path may bring; more is not worth being read.
    fn longest_body(&self, _method: Method, _path: &str) -> usize {
        LONGEST_BODY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_escapes_what_would_end_it() {
        let call =
            Call::new(Method::Get, "/api/v1/changes").with_query("since", "a&b=c").with_query("é", "1 2");

        assert_eq!(call.query, "since=a%26b%3Dc&%C3%A9=1%202");
    }

    #[test]
    fn headers_are_found_in_lower_case() {
        let call = Call::new(Method::Post, "/x").with_key("lc_1").with_header("Idempotency-Key", "k");

        assert_eq!(call.header("authorization"), Some("Bearer lc_1"));
        assert_eq!(call.header("idempotency-key"), Some("k"));
    }
}
