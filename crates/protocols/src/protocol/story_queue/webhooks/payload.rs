//! The data of an event as JSON, and what is left out of it when it is too long to send.

use crate::protocol::story_queue::vocabulary::JsonText;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Longer data is cut: a receiver reads the rest over the API.
const MOST_BYTES: usize = 64 * 1024;
const LEFT_OUT_FIRST: [&str; 3] = ["old_state", "new_state", "findings"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    fields: Vec<(String, String)>,
}

impl Payload {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn text(mut self, name: &str, text: &str) -> Self {
        self.fields.push((name.to_string(), quoted(text)));
        self
    }

    #[must_use]
    pub fn number(mut self, name: &str, number: i64) -> Self {
        self.fields.push((name.to_string(), number.to_string()));
        self
    }

    /// A value that is JSON already.
    #[must_use]
    pub fn json(mut self, name: &str, value: &JsonText) -> Self {
        self.fields.push((name.to_string(), value.as_str().to_string()));
        self
    }

    /// The object, and whether something had to be left out.
    pub fn render(mut self) -> (JsonText, bool) {
        let whole = self.object();
        if whole.len() <= MOST_BYTES {
            return (JsonText(whole), false);
        }
        self.fields.retain(|(name, _)| !LEFT_OUT_FIRST.contains(&name.as_str()));
        self.fields.push(("truncated".to_string(), "true".to_string()));
        while self.object().len() > MOST_BYTES {
            let longest = self.fields.iter().enumerate().max_by_key(|(_, (_, value))| value.len());
            let Some((place, _)) = longest else { break };
            self.fields.remove(place);
        }
        (JsonText(self.object()), true)
    }

    fn object(&self) -> String {
        let fields: Vec<String> =
            self.fields.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
        format!("{{{}}}", fields.join(","))
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            control if control < ' ' => json.extend(format!("\\u{:04x}", u32::from(control)).chars()),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
