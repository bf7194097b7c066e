//! Safe reading of JSON that an agent wrote: bounded, strict, and keeping the bytes of every value.
//! It knows JSON only, not what any artifact means.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::fault::{ArtifactFault, FaultKind, excerpt, pointer_to};

/// Bounds on what is read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub max_bytes: usize,
    /// The top-level object is depth one.
    pub max_depth: usize,
    /// Faults kept per file; a file with a thousand faults needs no longer list.
    pub max_faults: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 1024 * 1024, max_depth: 64, max_faults: 20 }
    }
}

/// A JSON object read from foreign bytes, with every value's own spelling.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a> {
    root: Node<'a>,
}

/// One value and the exact text it was written with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'a> {
    pub(crate) raw: &'a str,
    pub(crate) shape: Shape<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape<'a> {
    Null,
    Bool(bool),
    /// The spelling in `raw` counts; converting here would lose it.
    Number,
    Text(String),
    List(Vec<Node<'a>>),
    Object(Vec<(String, Node<'a>)>),
}

/// Reads one JSON object from untrusted bytes, or says everything that is wrong with it.
pub fn parse_untrusted(bytes: &[u8], limits: Limits) -> Result<Document<'_>, Vec<ArtifactFault>> {
    let (document, faults) = read(bytes, limits);
    match document {
        Some(document) if faults.is_empty() => Ok(document),
        _ => Err(faults),
    }
}

/// Like [`parse_untrusted`], but hands out the document beside the faults where one could be built, so that
/// faults of form and faults of content reach the agent in one repair request.
pub(crate) fn read(bytes: &[u8], limits: Limits) -> (Option<Document<'_>>, Vec<ArtifactFault>) {
    let text = match readable_text(bytes, limits) {
        Ok(text) => text,
        Err(fault) => return (None, vec![fault]),
    };
    let raw: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => return (None, vec![not_json(text, &error)]),
    };
    let mut builder = Builder { limits, faults: Vec::new() };
    let root = builder.node(raw.get(), "", 1);
    let faults = builder.faults;
    if faults.iter().any(|fault| fault.kind == FaultKind::TooDeep) {
        return (None, faults);
    }
    if matches!(root.shape, Shape::Object(_)) {
        return (Some(Document { root }), faults);
    }
    let message = format!("the file must hold one JSON object, found {}", root.type_name());
    (None, vec![ArtifactFault::new(FaultKind::NotAnObject, "", message)])
}

impl<'a> Document<'a> {
    pub(crate) fn root(&self) -> &Node<'a> {
        &self.root
    }

    pub(crate) fn entries(&self) -> &[(String, Node<'a>)] {
        self.root.entries().unwrap_or_default()
    }

    /// The document as a plain value, as the schema validator wants it.
    pub fn to_value(&self) -> Value {
        self.root.to_value()
    }
}

impl<'a> Node<'a> {
    pub(crate) fn type_name(&self) -> &'static str {
        match self.shape {
            Shape::Null => "null",
            Shape::Bool(_) => "a boolean",
            Shape::Number => "a number",
            Shape::Text(_) => "text",
            Shape::List(_) => "a list",
            Shape::Object(_) => "an object",
        }
    }

    pub(crate) fn entries(&self) -> Option<&[(String, Node<'a>)]> {
        match &self.shape {
            Shape::Object(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Node<'a>]> {
        match &self.shape {
            Shape::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        match &self.shape {
            Shape::Null => Value::Null,
            Shape::Bool(flag) => Value::Bool(*flag),
            // A number no machine type holds was reported already; the largest one stands in for it.
            Shape::Number => Value::Number(
                serde_json::from_str::<Number>(self.raw).unwrap_or_else(|_| Number::from(u64::MAX)),
            ),
            Shape::Text(text) => Value::String(text.clone()),
            Shape::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Shape::Object(entries) => {
                let mut object = serde_json::Map::new();
                for (key, node) in entries {
                    // The first of two equal keys counts here too, so that schema and reader see one document.
                    object.entry(key.clone()).or_insert_with(|| node.to_value());
                }
                Value::Object(object)
            }
        }
    }
}

fn readable_text(bytes: &[u8], limits: Limits) -> Result<&str, ArtifactFault> {
    let whole = |kind, message: String| Err(ArtifactFault::new(kind, "", message));
    if bytes.len() > limits.max_bytes {
        let message = format!("the file has {} bytes, at most {} are read", bytes.len(), limits.max_bytes);
        return whole(FaultKind::TooLarge, message);
    }
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        let message = "the file begins with a byte order mark; write plain UTF-8 without one";
        return whole(FaultKind::ByteOrderMark, message.to_owned());
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return whole(FaultKind::RawNul, format!("the file contains a NUL byte at offset {offset}"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => whole(FaultKind::Empty, "the file is empty".to_owned()),
        Ok(text) => Ok(text),
        Err(error) => {
            let message = format!("the file is not UTF-8: invalid byte at offset {}", error.valid_up_to());
            whole(FaultKind::NotUtf8, message)
        }
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> ArtifactFault {
    // A fenced answer is the commonest slip of a model, so it gets its own advice.
    let advice = if text.trim_start().starts_with("```") {
        "; write the bare object, without a Markdown fence around it"
    } else {
        ""
    };
    ArtifactFault::new(FaultKind::NotJson, "", format!("the file is not valid JSON: {error}{advice}"))
}

struct Builder {
    limits: Limits,
    faults: Vec<ArtifactFault>,
}

impl Builder {
    /// Each level scans its text once more, so the work is bounded by size times depth limit; in return no
    /// value is ever copied and the parser never recurses deeper than the limit.
    fn node<'a>(&mut self, raw: &'a str, path: &str, depth: usize) -> Node<'a> {
        let shape = match raw.as_bytes().first() {
            Some(b'{' | b'[') if depth > self.limits.max_depth => {
                let message = format!("nested deeper than {} levels", self.limits.max_depth);
                self.report(FaultKind::TooDeep, path, message);
                Shape::Null
            }
            Some(b'{') => self.object(raw, path, depth),
            Some(b'[') => self.list(raw, path, depth),
            Some(b'"') => Shape::Text(self.text(raw, path)),
            Some(b't') => Shape::Bool(true),
            Some(b'f') => Shape::Bool(false),
            Some(b'n') | None => Shape::Null,
            Some(_) => {
                if serde_json::from_str::<Number>(raw).is_err() {
                    self.report(
                        FaultKind::NumberOutOfRange,
                        path,
                        "the number is too large to be read".to_owned(),
                    );
                }
                Shape::Number
            }
        };
        Node { raw, shape }
    }

    fn object<'a>(&mut self, raw: &'a str, path: &str, depth: usize) -> Shape<'a> {
        let pairs = match serde_json::from_str::<Pairs<'a>>(raw) {
            Ok(pairs) => pairs.0,
            Err(error) => {
                self.report(
                    FaultKind::InvalidText,
                    path,
                    format!("a key in this object is not valid text: {error}"),
                );
                return Shape::Object(Vec::new());
            }
        };
        let mut seen = std::collections::HashSet::new();
        let mut entries = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let place = pointer_to(path, &key);
            if key.contains('\0') {
                self.report(
                    FaultKind::NulInText,
                    path,
                    format!("the key {} contains \\u0000", excerpt(&key)),
                );
            }
            if !seen.insert(key.clone()) {
                self.report(
                    FaultKind::DuplicateKey,
                    &place,
                    "this key appears more than once in its object".to_owned(),
                );
            }
            let node = self.node(value.get(), &place, depth + 1);
            entries.push((key, node));
        }
        Shape::Object(entries)
    }

    fn list<'a>(&mut self, raw: &'a str, path: &str, depth: usize) -> Shape<'a> {
        let items = match serde_json::from_str::<Items<'a>>(raw) {
            Ok(items) => items.0,
            Err(error) => {
                self.report(FaultKind::NotJson, path, format!("this list cannot be read: {error}"));
                return Shape::List(Vec::new());
            }
        };
        let place = |index: usize| format!("{path}/{index}");
        Shape::List(
            items
                .into_iter()
                .enumerate()
                .map(|(index, item)| self.node(item.get(), &place(index), depth + 1))
                .collect(),
        )
    }

    fn text(&mut self, raw: &str, path: &str) -> String {
        match serde_json::from_str::<String>(raw) {
            Ok(text) => {
                if text.contains('\0') {
                    let message = "the text contains \\u0000, which no artifact may hold";
                    self.report(FaultKind::NulInText, path, message.to_owned());
                }
                text
            }
            Err(error) => {
                self.report(FaultKind::InvalidText, path, format!("the text cannot be decoded: {error}"));
                String::new()
            }
        }
    }

    fn report(&mut self, kind: FaultKind, path: &str, message: String) {
        if self.faults.len() < self.limits.max_faults {
            self.faults.push(ArtifactFault::new(kind, path, message));
        }
    }
}

/// All pairs of an object, doubled keys included: the map types of serde_json keep only the last one.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

/// The items of a list with their own spelling.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_entry::<String, &'de RawValue>()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element::<&'de RawValue>()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}
