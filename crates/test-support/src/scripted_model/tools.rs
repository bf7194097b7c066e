//! Turns an action of the script into a call of whatever tool the request offers for it. The names of the programs'
//! tools stand here and nowhere else.

use super::asked::{Asked, Tool, ToolKind};
use super::script::Action;
use serde_json::{Map, Value, json};

const SHELL: [&str; 5] = ["Bash", "run_shell_command", "exec_command", "shell_command", "bash"];
const WRITE: [&str; 4] = ["Write", "write_file", "write", "create"];
const READ: [&str; 4] = ["Read", "read_file", "read", "view"];
const PATCH: [&str; 1] = ["apply_patch"];
const ANSWER: [&str; 1] = ["StructuredOutput"];

const PATH_WORDS: [&str; 4] = ["file_path", "filePath", "absolute_path", "path"];
const TEXT_WORDS: [&str; 2] = ["content", "file_text"];
const COMMAND_WORDS: [&str; 2] = ["command", "cmd"];

/// What the model really says for an action.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Call(ToolCall),
    /// The request offers nothing that could do it; the model says so.
    Impossible(String),
}

#[derive(Debug, PartialEq)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) kind: ToolKind,
    pub(super) input: Value,
}

impl ToolCall {
    /// As text, which is how three of the four wire formats carry it.
    pub(super) fn input_text(&self) -> String {
        self.input.as_str().map_or_else(|| self.input.to_string(), str::to_owned)
    }
}

pub(super) fn part_for(action: &Action, asked: &Asked) -> Part {
    match action {
        Action::Say(text) => Part::Text(text.clone()),
        Action::Shell(command) => shell(command, asked),
        Action::Write { path, text } => write(path, text, asked),
        Action::Read { path } => match asked.tool(&READ) {
            Some(tool) => call(tool, &[(&PATH_WORDS, json!(path))]),
            None => shell(&format!("cat {}", quoted(path)), asked),
        },
        Action::Answer(value) => match asked.tool(&ANSWER) {
            Some(tool) => Part::Call(ToolCall {
                name: tool.name.clone(),
                namespace: tool.namespace.clone(),
                kind: tool.kind,
                input: value.clone(),
            }),
            None => Part::Text(value.to_string()),
        },
        Action::Tool { name, input } => {
            match asked.tools.iter().find(|tool| tool.name.ends_with(name.as_str())) {
                Some(tool) => Part::Call(ToolCall {
                    name: tool.name.clone(),
                    namespace: tool.namespace.clone(),
                    kind: tool.kind,
                    input: input.clone(),
                }),
                None => Part::Impossible(format!("no tool is offered whose name ends with {name}")),
            }
        }
    }
}

fn shell(command: &str, asked: &Asked) -> Part {
    let Some(tool) = asked.tool(&SHELL) else {
        return Part::Impossible(format!("no tool is offered that could run: {command}"));
    };
    call(tool, &[(&COMMAND_WORDS, json!(command))])
}

fn write(path: &str, text: &str, asked: &Asked) -> Part {
    if let Some(tool) = asked.tool(&WRITE) {
        return call(tool, &[(&PATH_WORDS, json!(path)), (&TEXT_WORDS, json!(text))]);
    }
    let Some(tool) = asked.tool(&PATCH) else {
        return shell(&format!("printf %s {} > {}", quoted(text), quoted(path)), asked);
    };
    let mut added = format!("*** Begin Patch\n*** Add File: {path}\n");
    for line in text.lines() {
        added.extend(["+", line, "\n"]);
    }
    added.push_str("*** End Patch\n");
    let input = if tool.kind == ToolKind::Freeform { json!(added) } else { json!({ "input": added }) };
    let (name, namespace) = (tool.name.clone(), tool.namespace.clone());
    Part::Call(ToolCall { name, namespace, kind: tool.kind, input })
}

/// Each value goes to the first of its names that the tool knows; what else the tool insists on is made up.
fn call(tool: &Tool, values: &[(&[&str], Value)]) -> Part {
    let properties = &tool.schema["properties"];
    let mut input = Map::new();
    for (names, value) in values {
        let name = names.iter().find(|name| properties.get(**name).is_some()).unwrap_or(&names[0]);
        input.insert((*name).to_owned(), value.clone());
    }
    for name in super::asked::items(&tool.schema["required"]).iter().filter_map(Value::as_str) {
        if !input.contains_key(name) {
            input.insert(name.to_owned(), smallest(&properties[name]));
        }
    }
    let (name, namespace) = (tool.name.clone(), tool.namespace.clone());
    Part::Call(ToolCall { name, namespace, kind: tool.kind, input: Value::Object(input) })
}

/// A small value that fits the schema. Gemini writes the names of types in capitals.
pub(super) fn smallest(schema: &Value) -> Value {
    if let Some(fixed) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return fixed.clone();
    }
    if let Some(choice) = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].get(0)) {
        return smallest(choice);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    match kind.to_ascii_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, field)| (name.clone(), smallest(field))).collect::<Map<_, _>>().into()
        }
        "array" => json!([]),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(10)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!("scripted"),
    }
}

/// One word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::asked::{Form, Wire};
    use super::*;

    fn asked(name: &str, kind: ToolKind, schema: Value) -> Asked {
        let mut asked = Asked::new(Wire::Responses, "m", Form::Stream);
        asked.tools.push(Tool { name: name.to_owned(), namespace: None, kind, schema });
        asked
    }

    fn input_of(action: &Action, asked: &Asked) -> Value {
        match part_for(action, asked) {
            Part::Call(call) => call.input,
            other => panic!("not a call: {other:?}"),
        }
    }

    #[test]
    fn a_command_goes_to_the_shell_tool_under_the_name_it_knows_with_the_rest_made_up() {
        let schema = json!({ "properties": { "cmd": {}, "description": { "type": "string" }, "limit": { "type": "INTEGER" } },
                             "required": ["cmd", "description", "limit"] });
        let input = input_of(&Action::Shell("ls".into()), &asked("exec_command", ToolKind::Function, schema));
        assert_eq!(input, json!({ "cmd": "ls", "description": "scripted", "limit": 10 }));
    }

    #[test]
    fn a_file_is_written_by_tool_by_patch_or_by_shell() {
        let action = Action::Write { path: "a/it's".into(), text: "one\ntwo\n".into() };
        let tool = json!({ "properties": { "path": {}, "file_text": {} } });
        let input = input_of(&action, &asked("create", ToolKind::Function, tool));
        assert_eq!(input, json!({ "path": "a/it's", "file_text": "one\ntwo\n" }));
        let input = input_of(&action, &asked("apply_patch", ToolKind::Freeform, Value::Null));
        assert_eq!(input, "*** Begin Patch\n*** Add File: a/it's\n+one\n+two\n*** End Patch\n");
        let input = input_of(&action, &asked("bash", ToolKind::Function, Value::Null));
        assert_eq!(input, json!({ "command": "printf %s 'one\ntwo\n' > 'a/it'\\''s'" }));
    }

    #[test]
    fn a_request_that_offers_nothing_of_use_gets_words_instead_of_a_call() {
        let part = part_for(&Action::Shell("ls".into()), &asked("view", ToolKind::Function, Value::Null));
        assert!(matches!(part, Part::Impossible(words) if words.contains("ls")));
    }

    #[test]
    fn an_answer_takes_the_tool_for_it_or_becomes_text() {
        let action = Action::Answer(json!({ "verdict": "pass" }));
        let input = input_of(&action, &asked("StructuredOutput", ToolKind::Function, Value::Null));
        assert_eq!(input, json!({ "verdict": "pass" }));
        let part = part_for(&action, &asked("Bash", ToolKind::Function, Value::Null));
        assert_eq!(part, Part::Text(r#"{"verdict":"pass"}"#.to_owned()));
    }

    #[test]
    fn a_tool_of_somebody_else_is_known_by_the_end_of_its_name() {
        let action = Action::Tool { name: "claim_story".into(), input: json!({ "story_id": "1.1" }) };
        let input = input_of(&action, &asked("mcp__stories__claim_story", ToolKind::Function, Value::Null));
        assert_eq!(input, json!({ "story_id": "1.1" }));
        let part = part_for(&action, &asked("Bash", ToolKind::Function, Value::Null));
        assert!(matches!(part, Part::Impossible(_)));
    }

    #[test]
    fn the_smallest_value_fits_its_schema() {
        let schema = json!({ "type": "OBJECT", "properties": {
            "score": { "type": "integer", "minimum": 3 }, "mode": { "enum": ["a", "b"] }, "list": { "type": "array" },
            "either": { "anyOf": [{ "type": ["null", "string"] }] } } });
        assert_eq!(smallest(&schema), json!({ "score": 3, "mode": "a", "list": [], "either": null }));
    }
}
