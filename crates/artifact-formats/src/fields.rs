//! Typed access to the keys of an untrusted object: collects every fault instead of stopping at the first.
//! It knows JSON types and our small value types, no artifact in particular.

use std::cell::RefCell;

use crate::document::{Node, Shape};
use crate::extra_keys::ExtraKeys;
use crate::fault::{ArtifactFault, pointer_to, quoted};

/// A closed set of values as they are spelled in the files.
pub(crate) trait Choice: Copy + 'static {
    const ALL: &'static [(&'static str, Self)];

    fn spelled(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(name, _)| *name).collect()
    }
}

/// Declares an enum whose variants are words in the files: spelling, reading and writing in one place.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The word as it stands in the files.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Exact match only: another case or a stray character is not this word.
            pub fn from_word(word: &str) -> Option<Self> {
                <Self as $crate::fields::Choice>::spelled(word)
            }
        }

        impl $crate::fields::Choice for $name {
            const ALL: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use choice;

/// Where readers leave the faults they meet.
pub(crate) type FaultSink = RefCell<Vec<ArtifactFault>>;

/// One object being read: asked key by key, it remembers which keys were known.
pub(crate) struct Fields<'n, 'a> {
    entries: &'n [(String, Node<'a>)],
    path: String,
    known: Vec<&'static str>,
    faults: &'n FaultSink,
}

/// One value being read, with its place.
pub(crate) struct Field<'n, 'a> {
    pub(crate) node: &'n Node<'a>,
    pub(crate) path: String,
    faults: &'n FaultSink,
}

impl<'n, 'a> Fields<'n, 'a> {
    pub(crate) fn new(entries: &'n [(String, Node<'a>)], path: String, faults: &'n FaultSink) -> Self {
        Self { entries, path, known: Vec::new(), faults }
    }

    pub(crate) fn optional(&mut self, key: &'static str) -> Option<Field<'n, 'a>> {
        self.known.push(key);
        let (_, node) = self.entries.iter().find(|(name, _)| name == key)?;
        Some(Field { node, path: pointer_to(&self.path, key), faults: self.faults })
    }

    fn required(&mut self, key: &'static str) -> Option<Field<'n, 'a>> {
        let found = self.optional(key);
        if found.is_none() {
            self.report(ArtifactFault::missing_key(pointer_to(&self.path, key)));
        }
        found
    }

    pub(crate) fn text(&mut self, key: &'static str) -> String {
        self.required(key).and_then(|field| field.text()).unwrap_or_default()
    }

    pub(crate) fn filled_text(&mut self, key: &'static str) -> String {
        self.required(key).and_then(|field| field.filled_text()).unwrap_or_default()
    }

    pub(crate) fn choice<C: Choice>(&mut self, key: &'static str) -> Option<C> {
        let found = self.optional(key);
        if found.is_none() {
            let place = pointer_to(&self.path, key);
            self.report(ArtifactFault::missing_choice(place, &C::names()));
        }
        found.and_then(|field| field.choice())
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> bool {
        self.required(key).and_then(|field| field.flag()).unwrap_or_default()
    }

    pub(crate) fn integer(&mut self, key: &'static str, minimum: i64, maximum: i64) -> i64 {
        self.required(key).and_then(|field| field.integer(minimum, maximum)).unwrap_or(minimum)
    }

    pub(crate) fn count(&mut self, key: &'static str) -> u32 {
        u32::try_from(self.integer(key, 0, i64::from(u32::MAX))).unwrap_or_default()
    }

    pub(crate) fn list<T>(&mut self, key: &'static str, read: impl Fn(Field<'n, 'a>) -> Option<T>) -> Vec<T> {
        self.required(key).map(|field| field.list(read)).unwrap_or_default()
    }

    pub(crate) fn object(&mut self, key: &'static str) -> Option<Fields<'n, 'a>> {
        self.required(key).and_then(|field| field.object())
    }

    /// Everything that was not asked for.
    pub(crate) fn extra(&self) -> ExtraKeys {
        let mut extra = ExtraKeys::default();
        for (key, node) in self.entries {
            if !self.known.contains(&key.as_str()) {
                extra.keep(key, node.raw);
            }
        }
        extra
    }

    pub(crate) fn report(&self, fault: ArtifactFault) {
        self.faults.borrow_mut().push(fault);
    }

    pub(crate) fn place_of(&self, key: &str) -> String {
        pointer_to(&self.path, key)
    }
}

impl<'n, 'a> Field<'n, 'a> {
    pub(crate) fn text(&self) -> Option<String> {
        let text = self.node.text().map(str::to_owned);
        if text.is_none() {
            self.wrong_type("text");
        }
        text
    }

    pub(crate) fn filled_text(&self) -> Option<String> {
        let text = self.text()?;
        if has_content(&text) {
            return Some(text);
        }
        self.report(ArtifactFault::empty_text(self.path.clone()));
        None
    }

    pub(crate) fn choice<C: Choice>(&self) -> Option<C> {
        let Some(word) = self.node.text() else {
            self.wrong_type(&format!("one of {}", quoted(&C::names())));
            return None;
        };
        let value = C::spelled(word);
        if value.is_none() {
            self.report(ArtifactFault::unknown_value(self.path.clone(), &C::names(), word));
        }
        value
    }

    fn flag(&self) -> Option<bool> {
        if let Shape::Bool(flag) = self.node.shape {
            return Some(flag);
        }
        self.wrong_type("true or false");
        None
    }

    pub(crate) fn integer(&self, minimum: i64, maximum: i64) -> Option<i64> {
        if !matches!(self.node.shape, Shape::Number) {
            self.wrong_type("a whole number");
            return None;
        }
        let value = whole_number(self.node.raw);
        if matches!(value, Whole::Fraction) {
            self.wrong_type("a whole number");
            return None;
        }
        if let Whole::Value(number) = value
            && (minimum..=maximum).contains(&number)
        {
            return Some(number);
        }
        self.report(ArtifactFault::number_out_of_range(self.path.clone(), minimum, maximum));
        None
    }

    pub(crate) fn list<T>(&self, read: impl Fn(Field<'n, 'a>) -> Option<T>) -> Vec<T> {
        let Some(items) = self.node.items() else {
            self.wrong_type("a list");
            return Vec::new();
        };
        let place = |index: usize| format!("{}/{index}", self.path);
        items
            .iter()
            .enumerate()
            .filter_map(|(index, node)| read(Field { node, path: place(index), faults: self.faults }))
            .collect()
    }

    pub(crate) fn object(&self) -> Option<Fields<'n, 'a>> {
        if let Some(entries) = self.node.entries() {
            return Some(Fields::new(entries, self.path.clone(), self.faults));
        }
        self.wrong_type("an object");
        None
    }

    /// Another object of the same file, reporting to the same place; for objects whose keys are not known beforehand.
    pub(crate) fn beside(&self, entries: &'n [(String, Node<'a>)], path: String) -> Fields<'n, 'a> {
        Fields::new(entries, path, self.faults)
    }

    /// The value as a whole number, silently; for keys whose reader words its own fault.
    pub(crate) fn whole_number(&self) -> Option<i64> {
        match (&self.node.shape, whole_number(self.node.raw)) {
            (Shape::Number, Whole::Value(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.node.shape, Shape::Null)
    }

    pub(crate) fn report(&self, fault: ArtifactFault) {
        self.faults.borrow_mut().push(fault);
    }

    fn wrong_type(&self, expected: &str) {
        let found = self.node.type_name();
        self.report(ArtifactFault::wrong_type(self.path.clone(), expected, found));
    }
}

/// Whether a text says anything; the same four blank characters as in the schemas' patterns.
pub(crate) fn has_content(text: &str) -> bool {
    text.chars().any(|letter| !matches!(letter, ' ' | '\t' | '\n' | '\r'))
}

enum Whole {
    Value(i64),
    Huge,
    Fraction,
}

/// JSON has one number type: `1.0` and `1e0` are whole numbers to a schema, so they are to us.
fn whole_number(raw: &str) -> Whole {
    if let Ok(value) = raw.parse::<i64>() {
        return Whole::Value(value);
    }
    let Ok(value) = raw.parse::<f64>() else {
        return Whole::Huge;
    };
    if !value.is_finite() || value.abs() > EXACT_IN_F64 {
        return Whole::Huge;
    }
    if value.fract() != 0.0 {
        return Whole::Fraction;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53, checked above")]
    Whole::Value(value as i64)
}

/// Beyond 2^53 neighbouring whole numbers share one floating-point value.
const EXACT_IN_F64: f64 = 9_007_199_254_740_992.0;
