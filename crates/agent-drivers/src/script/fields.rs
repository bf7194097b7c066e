//! Reads TOML values by hand so that every complaint names its line and the nearest known word.
//! Knows nothing of what a script means.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::nearest::{advice, nearest};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScriptError {
    /// Counted from 1.
    pub line: usize,
    pub problem: ScriptProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    #[error("{message}")]
    Syntax { message: String },
    #[error("unknown key `{key}` in {place}: {}", advice(nearest(.key, .known), .known))]
    UnknownKey { key: String, place: String, known: Vec<&'static str> },
    #[error("unknown {what} `{given}`: {}", advice(nearest(.given, .known), .known))]
    UnknownWord { what: &'static str, given: String, known: Vec<&'static str> },
    #[error("unknown placeholder `{{{given}}}`: {}", advice(nearest(.given, .known), .known))]
    UnknownPlaceholder { given: String, known: Vec<&'static str> },
    #[error("a brace stands alone in `{text}`; write it twice to mean the brace itself")]
    LoneBrace { text: String },
    #[error("`{key}` must be {wanted}, but is {found}")]
    WrongType { key: String, wanted: &'static str, found: String },
    #[error("{place} needs {wanted}")]
    Missing { place: String, wanted: &'static str },
    #[error("{place} can have only one of {}", .keys.join(", "))]
    TooMany { place: String, keys: Vec<String> },
    #[error("`{key}` is not pairs of hexadecimal digits")]
    NotHex { key: String },
}

/// A value with its name, for complaints.
#[derive(Clone, Copy)]
pub(super) struct Node<'t> {
    text: &'t str,
    pub(super) key: &'t str,
    value: &'t Spanned<DeValue<'t>>,
}

#[derive(Clone, Copy)]
pub(super) struct Fields<'t> {
    text: &'t str,
    line: usize,
    table: &'t DeTable<'t>,
}

pub(super) fn syntax_error(text: &str, error: &toml::de::Error) -> ScriptError {
    let line = error.span().map_or(1, |span| line_of(text, &span));
    ScriptError { line, problem: ScriptProblem::Syntax { message: error.message().to_owned() } }
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
}

impl<'t> Node<'t> {
    pub(super) fn error(&self, problem: ScriptProblem) -> ScriptError {
        ScriptError { line: line_of(self.text, &self.value.span()), problem }
    }

    pub(super) fn wrong_type(&self, wanted: &'static str) -> ScriptError {
        let found = match self.value.get_ref() {
            DeValue::String(text) => format!("the text `{text}`"),
            DeValue::Integer(number) => format!("the number {number}"),
            DeValue::Boolean(value) => format!("{value}"),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            other => format!("a {}", other.type_str()),
        };
        self.error(ScriptProblem::WrongType { key: self.key.to_owned(), wanted, found })
    }

    pub(super) fn as_text(&self) -> Option<&'t str> {
        self.value.get_ref().as_str()
    }

    pub(super) fn text(&self) -> Result<&'t str, ScriptError> {
        self.as_text().ok_or_else(|| self.wrong_type("text"))
    }

    pub(super) fn number(&self) -> Result<u64, ScriptError> {
        let integer = self.value.get_ref().as_integer();
        integer
            .and_then(|integer| u64::from_str_radix(integer.as_str(), integer.radix()).ok())
            .ok_or_else(|| self.wrong_type("a whole number from 0 up"))
    }

    pub(super) fn small_number(&self) -> Result<u32, ScriptError> {
        u32::try_from(self.number()?).map_err(|_| self.wrong_type("a whole number below 2^32"))
    }

    pub(super) fn boolean(&self) -> Result<bool, ScriptError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// For keys that only switch something on.
    pub(super) fn must_be_true(&self) -> Result<(), ScriptError> {
        if self.boolean()? { Ok(()) } else { Err(self.wrong_type("true (leave it out otherwise)")) }
    }

    pub(super) fn list(&self) -> Result<Vec<Self>, ScriptError> {
        let items = self.value.get_ref().as_array().ok_or_else(|| self.wrong_type("a list"))?;
        Ok(items.iter().map(|value| Self { value, ..*self }).collect())
    }

    pub(super) fn fields(&self) -> Result<Fields<'t>, ScriptError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong_type("a table"))?;
        Ok(Fields { text: self.text, line: line_of(self.text, &self.value.span()), table })
    }

    pub(super) fn one_of<T: Copy>(
        &self,
        what: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<T, ScriptError> {
        let given = self.text()?;
        words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known = words.iter().map(|(word, _)| *word).collect();
            self.error(ScriptProblem::UnknownWord { what, given: given.to_owned(), known })
        })
    }

    pub(super) fn hex(&self) -> Result<Vec<u8>, ScriptError> {
        let not_hex = || self.error(ScriptProblem::NotHex { key: self.key.to_owned() });
        let digits: Vec<char> = self.text()?.chars().filter(|character| !character.is_whitespace()).collect();
        digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => {
                    let value = high.to_digit(16).zip(low.to_digit(16)).map(|(high, low)| high * 16 + low);
                    value.and_then(|value| u8::try_from(value).ok())
                }
                _ => None,
            })
            .collect::<Option<_>>()
            .ok_or_else(not_hex)
    }

    pub(super) fn json(&self) -> Result<serde_json::Value, ScriptError> {
        use serde_json::Value;
        Ok(match self.value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(value) => Value::from(*value),
            DeValue::Datetime(value) => Value::from(value.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(Value::from)
                .map_err(|_| self.wrong_type("a number of 64 bits"))?,
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(Value::Number)
                .ok_or_else(|| self.wrong_type("a finite number"))?,
            DeValue::Array(_) => self.list()?.iter().map(Self::json).collect::<Result<_, _>>()?,
            DeValue::Table(_) => Value::Object(self.fields()?.json()?),
        })
    }
}

impl<'t> Fields<'t> {
    pub(super) fn root(text: &'t str, table: &'t DeTable<'t>) -> Self {
        Self { text, line: 1, table }
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'t>> {
        self.nodes().find(|node| node.key == key)
    }

    fn nodes(&self) -> impl Iterator<Item = Node<'t>> + use<'t> {
        let text = self.text;
        self.table.iter().map(move |(key, value)| Node { text, key: key.get_ref().as_ref(), value })
    }

    pub(super) fn need(&self, key: &str, place: &str, wanted: &'static str) -> Result<Node<'t>, ScriptError> {
        self.get(key).ok_or_else(|| self.error(ScriptProblem::Missing { place: place.to_owned(), wanted }))
    }

    /// Refuses keys nobody would read: a slip must not silently change what a script does.
    pub(super) fn only(&self, place: &str, known: &[&'static str]) -> Result<(), ScriptError> {
        self.only_or(place, known, &[])
    }

    /// The same, but keys that belong elsewhere are let pass and not advised.
    pub(super) fn only_or(
        &self,
        place: &str,
        known: &[&'static str],
        also: &[&'static str],
    ) -> Result<(), ScriptError> {
        let is_known = |key: &str| known.contains(&key) || also.contains(&key);
        match self.table.keys().find(|key| !is_known(key.get_ref())) {
            None => Ok(()),
            Some(key) => Err(ScriptError {
                line: line_of(self.text, &key.span()),
                problem: ScriptProblem::UnknownKey {
                    key: key.get_ref().to_string(),
                    place: place.to_owned(),
                    known: known.to_vec(),
                },
            }),
        }
    }

    pub(super) fn error(&self, problem: ScriptProblem) -> ScriptError {
        ScriptError { line: self.line, problem }
    }

    pub(super) fn json(&self) -> Result<serde_json::Map<String, serde_json::Value>, ScriptError> {
        self.nodes().map(|node| Ok((node.key.to_owned(), node.json()?))).collect()
    }
}
