//! One row of the table of tools, and what follows from it.

use crate::keys::Wanted;
use serde_json::{Map, Value, json};
use windlass_control_api::stories::{BASE, Call, Method, escaped};

#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    about: &'static str,
    pub(crate) wanted: Wanted,
    method: Method,
    /// After the base; `{name}` is filled with the argument of that name.
    pub(crate) path: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) way: Way,
}

/// How the queue is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    OneCall,
    /// One call whose answer is a list.
    Rows,
    SaveState,
    Import,
    CreateStory,
    SystemArticles,
    AgentUsage,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    kind: Kind,
    needed: Needed,
    about: &'static str,
    /// Where it goes in the body or query if not under its own name; a dot goes one level down.
    target: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    /// Such as a sequence number, which some write with quotes and some without.
    TextOrInteger,
    Integer,
    Number,
    Flag,
    Object,
    Texts,
    Objects,
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    Yes,
    No,
}

pub(crate) const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Argument {
    Argument { name, kind, needed: Needed::Yes, about, target: None }
}

pub(crate) const fn maybe(name: &'static str, kind: Kind, about: &'static str) -> Argument {
    Argument { name, kind, needed: Needed::No, about, target: None }
}

impl Argument {
    pub(crate) const fn to(mut self, target: &'static str) -> Self {
        self.target = Some(target);
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::TextOrInteger => json!({ "type": ["string", "integer"] }),
            Kind::Integer => json!({ "type": "integer" }),
            Kind::Number => json!({ "type": "number" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Object => json!({ "type": "object" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Objects => json!({ "type": "array", "items": { "type": "object" } }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        };
        schema["description"] = json!(self.about);
        schema
    }

    /// In words, for whoever gave something else.
    fn wanted(&self) -> String {
        match self.kind {
            Kind::Text => "a text".to_owned(),
            Kind::TextOrInteger => "a text or a whole number".to_owned(),
            Kind::Integer => "a whole number".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Object => "an object".to_owned(),
            Kind::Texts => "a list of texts".to_owned(),
            Kind::Objects => "a list of objects".to_owned(),
            Kind::OneOf(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        let list_of = |fits: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(fits));
        match self.kind {
            Kind::Text => value.is_string(),
            Kind::TextOrInteger => value.is_string() || value.is_u64(),
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::Flag => value.is_boolean(),
            Kind::Object => value.is_object(),
            Kind::Texts => list_of(Value::is_string),
            Kind::Objects => list_of(Value::is_object),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

impl Tool {
    const fn new(name: &'static str, method: Method, path: &'static str, about: &'static str) -> Self {
        Self { name, about, wanted: Wanted::Whichever, method, path, arguments: &[], way: Way::OneCall }
    }

    pub(crate) const fn get(name: &'static str, path: &'static str, about: &'static str) -> Self {
        Self::new(name, Method::Get, path, about)
    }

    pub(crate) const fn post(name: &'static str, path: &'static str, about: &'static str) -> Self {
        Self::new(name, Method::Post, path, about)
    }

    pub(crate) const fn delete(name: &'static str, path: &'static str, about: &'static str) -> Self {
        Self::new(name, Method::Delete, path, about)
    }

    pub(crate) const fn with(mut self, arguments: &'static [Argument]) -> Self {
        self.arguments = arguments;
        self
    }

    pub(crate) const fn key(mut self, wanted: Wanted) -> Self {
        self.wanted = wanted;
        self
    }

    pub(crate) const fn way(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    pub(crate) fn listing(&self) -> Value {
        let fields: Map<String, Value> =
            self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|argument| argument.needed == Needed::Yes)
            .map(|argument| argument.name)
            .collect();
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object", "properties": fields, "required": required, "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.method == Method::Get,
                "destructiveHint": self.method == Method::Delete,
                "openWorldHint": false,
            },
        })
    }

    /// What is wrong with the arguments, in one sentence. What a client misspelled is never dropped silently.
    pub(crate) fn checked(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let known = |name: &str| self.arguments.iter().find(|argument| argument.name == name);
        if let Some(name) = arguments.keys().find(|name| known(name).is_none()) {
            let names: Vec<&str> = self.arguments.iter().map(|argument| argument.name).collect();
            return Err(format!("{} takes no argument {name}; it takes: {}", self.name, names.join(", ")));
        }
        for argument in self.arguments {
            match arguments.get(argument.name).filter(|value| !value.is_null()) {
                None if argument.needed == Needed::Yes => {
                    return Err(format!("{} needs {}: {}", self.name, argument.name, argument.about));
                }
                Some(value) if !argument.fits(value) => {
                    return Err(format!(
                        "{} must be {}: {}",
                        argument.name,
                        argument.wanted(),
                        argument.about
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn call(&self, arguments: &Map<String, Value>) -> Call {
        let mut path = format!("{BASE}{}", self.path);
        let mut body = json!({});
        let mut query = Vec::new();
        for argument in self.arguments {
            let Some(value) = arguments.get(argument.name).filter(|value| !value.is_null()) else { continue };
            let hole = format!("{{{}}}", argument.name);
            let target = argument.target.unwrap_or(argument.name);
            if path.contains(&hole) {
                path = path.replace(&hole, &escaped(&spoken(value)));
            } else if matches!(self.method, Method::Get | Method::Delete) {
                query.push((target, spoken(value)));
            } else {
                let pointer = target.split('.').fold(&mut body, |place, part| &mut place[part]);
                *pointer = value.clone();
            }
        }
        let call = Call::new(self.method, path);
        if matches!(self.method, Method::Get | Method::Delete) {
            return query.into_iter().fold(call, |call, (name, value)| call.with_query(name, &value));
        }
        call.with_header("content-type", "application/json").with_json(&body)
    }
}

/// A value as it stands in a path or a query; several with commas.
pub(crate) fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(spoken).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
