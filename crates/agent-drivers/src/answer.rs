//! Finds the answer in what an agent said: its last message, and the last JSON object in that.
//! Whether the object is the answer that was asked for is judged elsewhere, against the schema.

use crate::signal::Signal;

/// What the agent said last. Pieces of a message are joined; a tool call in between begins a new one.
pub fn final_message(signals: &[Signal]) -> Option<String> {
    let mut last: Option<String> = None;
    let mut is_open = false;
    for signal in signals {
        match signal {
            Signal::Message { text, partial: true } if is_open => {
                last.get_or_insert_default().push_str(text);
            }
            Signal::Message { text, partial } => {
                last = Some(text.clone());
                is_open = *partial;
            }
            Signal::ToolCall { .. } | Signal::ToolResult { .. } => is_open = false,
            _ => {}
        }
    }
    last
}

/// The last JSON object in a message: fenced, bare, or with words around it.
///
/// The last one counts because agents quote what they were asked before they answer. Objects inside an object belong
/// to it.
pub fn answer_from_message(message: &str) -> Option<&str> {
    let mut found = None;
    let mut from = 0;
    while let Some(offset) = message[from..].find('{') {
        let start = from + offset;
        let mut objects = serde_json::Deserializer::from_str(&message[start..])
            .into_iter::<serde_json::Map<String, serde_json::Value>>();
        from = match objects.next() {
            Some(Ok(_)) => {
                let end = start + objects.byte_offset();
                found = Some(&message[start..end]);
                end
            }
            // A brace of prose or code; an object may still begin behind it.
            _ => start + 1,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> Signal {
        Signal::Message { text: text.to_owned(), partial: false }
    }

    fn piece(text: &str) -> Signal {
        Signal::Message { text: text.to_owned(), partial: true }
    }

    fn called() -> Signal {
        Signal::ToolCall { name: "read".to_owned(), detail: String::new(), id: None }
    }

    #[test]
    fn the_last_message_is_the_last_one_joined_from_its_pieces() {
        assert_eq!(final_message(&[]), None);
        assert_eq!(final_message(&[called()]), None);
        assert_eq!(final_message(&[said("a"), said("b")]).as_deref(), Some("b"));
        assert_eq!(final_message(&[said("a"), piece("b"), piece("c")]).as_deref(), Some("bc"));
        let signals =
            [piece("I look. "), called(), piece("Do"), Signal::Unknown { line: "?".to_owned() }, piece("ne")];
        assert_eq!(final_message(&signals).as_deref(), Some("Done"));
        assert_eq!(final_message(&[piece("a"), said("whole"), piece("b")]).as_deref(), Some("b"));
        assert_eq!(final_message(&[said("a"), called()]).as_deref(), Some("a"));
    }

    #[test]
    fn the_last_object_is_found_wherever_it_stands() {
        let table = [
            ("", None),
            ("no object here", None),
            ("[1, 2]", None),
            (r#"{"a":1}"#, Some(r#"{"a":1}"#)),
            ("```json\n{\"a\": 1}\n```\n", Some("{\"a\": 1}")),
            (r#"You asked for {"a":0}. Here: {"a":1}. Bye"#, Some(r#"{"a":1}"#)),
            (r#"{"outer":{"inner":{}},"x":"}"} trailing } brace"#, Some(r#"{"outer":{"inner":{}},"x":"}"}"#)),
            (r#"{"a":"\"}{"}"#, Some(r#"{"a":"\"}{"}"#)),
            (r"fn main() { {} }", Some("{}")),
            (r#"fn f() { x } {"a":1"#, None),
            (r#"{"a":1} and then {"b":"#, Some(r#"{"a":1}"#)),
            (r#"{not json {"a":1}}"#, Some(r#"{"a":1}"#)),
            (r#"[{"a":1},{"b":2}]"#, Some(r#"{"b":2}"#)),
            ("größe {\"ä\":\"日本\"} ende", Some("{\"ä\":\"日本\"}")),
            (r#"{{"a":1}"#, Some(r#"{"a":1}"#)),
            ("{'a':1}", None),
        ];
        for (message, expected) in table {
            assert_eq!(answer_from_message(message), expected, "{message:?}");
        }
    }

    #[test]
    fn a_message_of_braces_alone_takes_no_time() {
        assert_eq!(answer_from_message(&"{".repeat(200_000)), None);
        assert_eq!(answer_from_message(&r#"{"a":"#.repeat(20_000)), None);
    }

    proptest! {
        #[test]
        fn an_object_is_found_between_any_words(
            before in "[^{}\"]*",
            after in "[^{}]*",
            keys in prop::collection::btree_map("\\PC{0,6}", "\\PC{0,12}", 0..4),
        ) {
            let object = serde_json::to_string(&keys).unwrap();
            let message = format!("{before}{object}{after}");
            prop_assert_eq!(answer_from_message(&message), Some(object.as_str()));
        }

        #[test]
        fn no_message_makes_it_panic(message in any::<String>()) {
            let _ = answer_from_message(&message);
        }
    }
}
