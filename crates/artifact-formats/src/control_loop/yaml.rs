//! YAML of front matter and `flow.yaml`: bounded reading into one small value, and writing that needs no trust in
//! what is written. It knows no file in particular.

use std::fmt::{self, Write};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Deep enough for a flow of thirty nested loops; twice as deep does not fit on the stack of a debug build.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 20_000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Yaml {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// Why a text is not read; each is one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum YamlFault {
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// In the reader's words, with the place.
    #[error("{0}")]
    Unreadable(String),
}

impl Yaml {
    /// Reads one document.
    pub(crate) fn parse(text: &str) -> Result<Self, YamlFault> {
        let budget = serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_aliases: 200,
            max_anchors: 200,
            max_documents: 1,
        };
        let options = serde_saphyr::options! {
            budget: budget,
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
            // `yes` and `on` are words in a task or a sensor's target, not decisions.
            strict_booleans: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| match error.without_snippet() {
            serde_saphyr::Error::Budget {
                breach: serde_saphyr::budget::BudgetBreach::Depth { .. }, ..
            } => YamlFault::TooDeep,
            other => {
                let words = other.to_string();
                YamlFault::Unreadable(words.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        })
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a truth value",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// A scalar as the words a person wrote it with.
    pub(crate) fn as_words(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            Self::Text(value) => Some(value.clone()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// A text as a YAML scalar on one line. Plain only where every reader agrees that it is this text; else quoted, so
/// that colons, dashes, line breaks and words like `no` stay what they are.
pub(crate) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        match letter {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            _ if is_printable(letter) => written.push(letter),
            _ => {
                let _ = write!(written, "\\U{:08x}", u32::from(letter));
            }
        }
    }
    written.push('"');
    written
}

/// Narrower than what YAML calls printable: separators, marks of direction and the byte order mark are escaped too,
/// because they change what a person sees.
fn is_printable(letter: char) -> bool {
    let invisible = matches!(letter, '\u{85}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(letter, '\u{fff0}'..='\u{ffff}');
    !letter.is_control() && !invisible
}

fn is_plain(text: &str) -> bool {
    const READ_AS_SOMETHING_ELSE: [&str; 9] =
        ["true", "false", "yes", "no", "on", "off", "null", "nan", "inf"];
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/'))
        && text.len() > 1
        && !READ_AS_SOMETHING_ELSE.iter().any(|word| text.eq_ignore_ascii_case(word))
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        Yaml::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Yaml, E> {
        Ok(i64::try_from(value).map_or_else(|_| Yaml::Text(value.to_string()), Yaml::Int))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        Ok(Yaml::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Yaml, E> {
        Ok(Yaml::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Yaml::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Yaml, Yaml>()? {
            let key = key.as_words().ok_or_else(|| serde::de::Error::custom("a key must be a plain word"))?;
            map.push((key, value));
        }
        Ok(Yaml::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_keep_their_kinds() {
        let text = "a: 1\nb: -2\nc: true\nd: \"true\"\ne: yes\nf: [x, 2.5]\ng:\nh: {i: j}\nk: 0x1F\n";
        let Yaml::Map(entries) = Yaml::parse(text).unwrap() else { panic!("not a mapping") };
        let of = |key: &str| &entries.iter().find(|(name, _)| name == key).unwrap().1;
        assert_eq!(of("a"), &Yaml::Int(1));
        assert_eq!(of("b"), &Yaml::Int(-2));
        assert_eq!(of("c"), &Yaml::Bool(true));
        assert_eq!(of("d"), &Yaml::Text("true".to_owned()));
        assert_eq!(of("e"), &Yaml::Text("yes".to_owned()));
        assert_eq!(of("f"), &Yaml::List(vec![Yaml::Text("x".to_owned()), Yaml::Float(2.5)]));
        assert_eq!(of("g"), &Yaml::Null);
        assert_eq!(of("h"), &Yaml::Map(vec![("i".to_owned(), Yaml::Text("j".to_owned()))]));
    }

    #[test]
    fn what_is_ambiguous_or_endless_is_refused_in_one_line() {
        let bomb = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
                    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
                    e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n";
        let deep_lists = "[".repeat(50_000);
        let deep_maps =
            (0..5_000).map(|depth| format!("{}a:", " ".repeat(depth))).collect::<Vec<_>>().join("\n");
        for text in ["a: 1\na: 2\n", "a: [", "a: b: c", "[1, 2]: x", bomb, &deep_lists, &deep_maps] {
            let error = Yaml::parse(text).expect_err(&text[..text.len().min(40)]).to_string();
            assert!(!error.contains('\n') && !error.is_empty());
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_as_a_scalar(text in "\\PC{0,40}|[\\x00-\\x7f\u{80}-\u{a0}\u{2028}\u{feff}\u{fffe}]{0,40}|[a-zA-Z0-9._/-]{0,6}") {
            let line = scalar(&text);
            prop_assert!(!line.contains(['\n', '\r']));
            let read = Yaml::parse(&format!("key: {line}\n")).unwrap();
            prop_assert_eq!(read, Yaml::Map(vec![("key".to_owned(), Yaml::Text(text))]));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[-:?{}\\[\\]&*!|>'\"%@` \n\tab1#,~<]{0,80}") {
            let _ = Yaml::parse(&text);
        }
    }
}
