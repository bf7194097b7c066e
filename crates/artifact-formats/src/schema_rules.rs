//! As much of JSON Schema (draft 2020-12) as the published schemas use, and no more: a word that is not known here is refused
//! when the schema is read. A general validator was a twentieth of the program; the tests hold this one to it.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Number, Value};

use crate::fault::pointer_to;

/// Words that say nothing about what is valid.
const SILENT: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "$comment"];

/// A schema whose every word is known.
pub(crate) struct Rules {
    root: Value,
    patterns: BTreeMap<String, Regex>,
}

/// What is wrong at one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Violation<'v> {
    /// A JSON pointer.
    pub(crate) path: String,
    pub(crate) found: &'v Value,
    pub(crate) what: What<'v>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What<'s> {
    Missing { key: &'s str },
    Type { expected: &'s Value },
    Enum { options: &'s [Value] },
    Pattern { pattern: &'s str },
    Minimum { limit: &'s Value },
    Maximum { limit: &'s Value },
    Constant { expected: &'s Value },
}

impl Violation<'_> {
    /// What is wrong with a number or a fixed value.
    pub(crate) fn in_words(&self) -> String {
        let found = self.found;
        match &self.what {
            What::Minimum { limit } => format!("{found} is less than the minimum of {limit}"),
            What::Maximum { limit } => format!("{found} is greater than the maximum of {limit}"),
            What::Constant { expected } => format!("{expected} was expected"),
            What::Missing { .. } | What::Type { .. } | What::Enum { .. } | What::Pattern { .. } => {
                format!("{found} does not fit")
            }
        }
    }
}

impl Rules {
    /// Refuses what is no schema, and every word whose meaning is not known here.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut patterns = BTreeMap::new();
        check(&root, &root, &mut patterns)?;
        Ok(Self { root, patterns })
    }

    /// In the order of the schema's own words.
    pub(crate) fn violations<'v>(&'v self, value: &'v Value) -> Vec<Violation<'v>> {
        let mut found = Vec::new();
        self.look(&self.root, value, "", &mut found);
        found
    }

    fn look<'v>(&'v self, schema: &'v Value, value: &'v Value, path: &str, found: &mut Vec<Violation<'v>>) {
        for (word, rule) in schema.as_object().into_iter().flatten() {
            let mut violated = |what| found.push(Violation { path: path.to_owned(), found: value, what });
            match (word.as_str(), rule, value) {
                ("type", expected, _) if !is_of_type(expected, value) => violated(What::Type { expected }),
                ("const", expected, _) if !same(expected, value) => violated(What::Constant { expected }),
                ("enum", Value::Array(options), _) if !options.iter().any(|option| same(option, value)) => {
                    violated(What::Enum { options });
                }
                ("pattern", Value::String(pattern), Value::String(text)) if !self.matches(pattern, text) => {
                    violated(What::Pattern { pattern });
                }
                ("minimum", Value::Number(limit), Value::Number(number)) if less(number, limit) => {
                    violated(What::Minimum { limit: rule });
                }
                ("maximum", Value::Number(limit), Value::Number(number)) if less(limit, number) => {
                    violated(What::Maximum { limit: rule });
                }
                ("required", Value::Array(keys), Value::Object(object)) => {
                    let keys = keys.iter().filter_map(Value::as_str);
                    keys.filter(|key| !object.contains_key(*key))
                        .for_each(|key| violated(What::Missing { key }));
                }
                ("properties", Value::Object(rules), Value::Object(object)) => {
                    for (key, rule) in rules {
                        if let Some(value) = object.get(key) {
                            self.look(rule, value, &pointer_to(path, key), found);
                        }
                    }
                }
                ("items", rule, Value::Array(items)) => {
                    for (number, item) in items.iter().enumerate() {
                        self.look(rule, item, &pointer_to(path, &number.to_string()), found);
                    }
                }
                ("$ref", Value::String(place), _) => {
                    if let Some(rule) = referred(&self.root, place) {
                        self.look(rule, value, path, found);
                    }
                }
                _ => {}
            }
        }
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.patterns.get(pattern).is_some_and(|pattern| pattern.is_match(text))
    }
}

/// Every word in the form that `look` counts on.
fn check(root: &Value, schema: &Value, patterns: &mut BTreeMap<String, Regex>) -> Result<(), String> {
    let Value::Object(words) = schema else { return Err(format!("no schema: {schema}")) };
    for (word, rule) in words {
        let understood = match (word.as_str(), rule) {
            ("properties" | "$defs", Value::Object(inner)) => {
                inner.values().try_for_each(|inner| check(root, inner, patterns))?;
                true
            }
            ("items", inner) => {
                check(root, inner, patterns)?;
                true
            }
            ("pattern", Value::String(pattern)) => {
                let compiled = Regex::new(pattern).map_err(|error| error.to_string())?;
                patterns.insert(pattern.clone(), compiled);
                true
            }
            ("type", Value::String(one)) => is_type(one),
            ("type", Value::Array(several)) => several.iter().all(|one| one.as_str().is_some_and(is_type)),
            ("required", Value::Array(keys)) => keys.iter().all(Value::is_string),
            ("$ref", Value::String(place)) => referred(root, place).is_some(),
            ("enum", Value::Array(_)) | ("minimum" | "maximum", Value::Number(_)) | ("const", _) => true,
            (word, _) => SILENT.contains(&word),
        };
        if !understood {
            return Err(format!("not understood: {word}: {rule}"));
        }
    }
    Ok(())
}

fn referred<'s>(root: &'s Value, place: &str) -> Option<&'s Value> {
    root.pointer(place.strip_prefix('#')?)
}

fn is_type(word: &str) -> bool {
    ["null", "boolean", "integer", "number", "string", "array", "object"].contains(&word)
}

fn is_of_type(expected: &Value, value: &Value) -> bool {
    let is = |word: &str| match value {
        Value::Null => word == "null",
        Value::Bool(_) => word == "boolean",
        Value::Number(number) => word == "number" || word == "integer" && is_whole(number),
        Value::String(_) => word == "string",
        Value::Array(_) => word == "array",
        Value::Object(_) => word == "object",
    };
    match expected {
        Value::Array(several) => several.iter().filter_map(Value::as_str).any(is),
        one => one.as_str().is_some_and(is),
    }
}

/// Also one that is written with a point.
fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => !less(one, other) && !less(other, one),
        (one, other) => one == other,
    }
}

/// Exact where both are whole.
fn less(one: &Number, other: &Number) -> bool {
    let whole = |number: &Number| number.as_i128();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{goal_loop, roadmap_loop, task_loop};
    use jsonschema::error::ValidationErrorKind as Kind;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;

    fn published() -> Vec<&'static str> {
        let all = [
            task_loop::PUBLISHED_SCHEMAS,
            goal_loop::PUBLISHED_SCHEMAS,
            roadmap_loop::round::PUBLISHED_SCHEMAS,
        ];
        all.into_iter().flatten().map(|(_, text)| *text).collect()
    }

    /// Place, kind and words of everything a general validator complains of.
    fn by_the_book(schema: &Value, value: &Value) -> Vec<String> {
        let general = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
        let told = |error: jsonschema::ValidationError<'_>| {
            let path = error.instance_path().as_str().to_owned();
            let what = match error.kind() {
                Kind::Required { property } => format!("missing {property}"),
                Kind::Type { .. } => "type".to_owned(),
                Kind::Enum { .. } => "enum".to_owned(),
                Kind::Pattern { pattern } => format!("pattern {pattern}"),
                _ => error.to_string(),
            };
            format!("{path}: {what}")
        };
        general.build(schema).unwrap().iter_errors(value).map(told).collect()
    }

    fn by_ours(rules: &Rules, value: &Value) -> Vec<String> {
        let told = |violation: &Violation<'_>| {
            let what = match &violation.what {
                What::Missing { key } => format!("missing {}", json!(key)),
                What::Type { .. } => "type".to_owned(),
                What::Enum { .. } => "enum".to_owned(),
                What::Pattern { pattern } => format!("pattern {pattern}"),
                What::Minimum { .. } | What::Maximum { .. } | What::Constant { .. } => violation.in_words(),
            };
            format!("{}: {what}", violation.path)
        };
        rules.violations(value).iter().map(told).collect()
    }

    fn some_number() -> impl Strategy<Value = Value> {
        select(vec![
            json!(0),
            json!(1),
            json!(5),
            json!(6),
            json!(-1),
            json!(1.0),
            json!(1.5),
            json!(4_294_967_295_u64),
            json!(4_294_967_296_u64),
            json!(-2_147_483_649_i64),
            json!(1e300),
        ])
    }

    fn some_text() -> impl Strategy<Value = Value> {
        let hash = "0123456789abcdef".repeat(4);
        let words = ["", " \n", "pass", "reject", "fail", "RQ-001", " ADR-1234\n", "RQ-1", "x"];
        let words =
            words.map(str::to_owned).into_iter().chain([hash[..40].to_owned(), hash.to_uppercase(), hash]);
        select(words.map(Value::String).collect::<Vec<_>>())
    }

    /// Something that mostly fits the schema, and here and there does not.
    fn near(root: &Value, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        let schema =
            schema.get("$ref").map_or(schema, |place| referred(root, place.as_str().unwrap()).unwrap());
        let anything = prop_oneof![
            Just(Value::Null),
            Just(json!(true)),
            some_number(),
            some_text(),
            Just(json!([])),
            Just(json!({}))
        ];
        let fitting = match (schema.get("properties"), schema.get("items"), schema.get("enum")) {
            (Some(Value::Object(rules)), ..) if depth > 0 => {
                let inner: Vec<_> = rules
                    .iter()
                    .map(|(key, rule)| {
                        (Just(key.clone()), proptest::option::weighted(0.9, near(root, rule, depth - 1)))
                    })
                    .collect();
                inner
                    .prop_map(|pairs| {
                        Value::Object(
                            pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
                        )
                    })
                    .boxed()
            }
            (_, Some(rule), _) if depth > 0 => {
                proptest::collection::vec(near(root, rule, depth - 1), 0..3).prop_map(Value::Array).boxed()
            }
            (.., Some(Value::Array(options))) => select(options.clone()).boxed(),
            _ => prop_oneof![some_text(), some_number()].boxed(),
        };
        prop_oneof![9 => fitting, 1 => anything].boxed()
    }

    proptest! {
        #[test]
        fn every_published_schema_finds_what_a_general_validator_finds(
            (schema, value) in select(published()).prop_flat_map(|text| {
                let schema: Value = serde_json::from_str(text).unwrap();
                let value = near(&schema, &schema, 5);
                (Just(text), value)
            })
        ) {
            let rules = Rules::read(schema).unwrap();
            let (mut ours, mut book) = (by_ours(&rules, &value), by_the_book(&rules.root, &value));
            ours.sort();
            book.sort();
            prop_assert_eq!(ours, book);
        }
    }

    #[test]
    fn a_word_that_is_not_known_is_refused_and_not_passed_over() {
        for wrong in [
            r#"{"minLength": 1}"#,
            r#"{"properties": {"a": {"additionalProperties": false}}}"#,
            r##"{"$ref": "#/$defs/none"}"##,
            r#"{"$ref": "other.json"}"#,
            r#"{"type": "text"}"#,
            r#"{"items": []}"#,
            r#"{"pattern": "("}"#,
            "true",
        ] {
            assert!(Rules::read(wrong).is_err(), "{wrong}");
        }
    }
}
