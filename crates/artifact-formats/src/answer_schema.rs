//! The form of an answer for programs that can be held to one: a published schema in the narrow dialect that model
//! providers accept. It asks for more than readers demand, never for less.

use serde_json::{Map, Value, json};

/// Words of a schema that say something about the shape; providers refuse or ignore the others.
const KEPT: [&str; 6] = ["type", "description", "enum", "items", "properties", "required"];

/// The schema with every key required, no other key allowed, and without words that providers do not take.
pub(crate) fn narrowed(schema: &str) -> String {
    let whole: Value = serde_json::from_str(schema).expect("the schema files are JSON, which the tests read");
    narrow(&whole).to_string()
}

fn narrow(schema: &Value) -> Value {
    let Some(words) = schema.as_object() else { return schema.clone() };
    let mut narrowed: Map<String, Value> = words
        .iter()
        .filter(|(word, _)| KEPT.contains(&word.as_str()))
        .map(|(word, value)| (word.clone(), value.clone()))
        .collect();
    if narrowed.contains_key("enum") {
        narrowed.entry("type").or_insert_with(|| json!("string"));
    }
    if let Some(items) = words.get("items") {
        narrowed.insert("items".to_owned(), narrow(items));
    }
    if let Some(properties) = words.get("properties").and_then(Value::as_object) {
        let names: Vec<&String> = properties.keys().collect();
        narrowed.insert("required".to_owned(), json!(names));
        narrowed.insert("additionalProperties".to_owned(), json!(false));
        let parts: Map<String, Value> =
            properties.iter().map(|(name, part)| (name.clone(), narrow(part))).collect();
        narrowed.insert("properties".to_owned(), Value::Object(parts));
    }
    Value::Object(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;
    use crate::goal_loop::{DesignAnswer, Evaluation};
    use crate::roadmap_loop::round::RecoveryReport;
    use crate::task_loop::{AuditReport, VerdictReport};

    fn forms() -> [String; 5] {
        [
            VerdictReport::answer_schema(),
            AuditReport::answer_schema(),
            Evaluation::answer_schema(),
            DesignAnswer::answer_schema(),
            RecoveryReport::answer_schema(),
        ]
    }

    /// Every object of a schema, the outermost included.
    fn objects(schema: &Value, found: &mut Vec<Value>) {
        if schema.get("properties").is_some() {
            found.push(schema.clone());
        }
        for part in schema.as_object().into_iter().flat_map(Map::values) {
            objects(part, found);
        }
    }

    #[test]
    fn every_object_is_closed_and_complete() {
        for text in forms() {
            let schema: Value = serde_json::from_str(&text).unwrap();
            let mut found = Vec::new();
            objects(&schema, &mut found);
            assert!(found.len() > 1);
            for object in found {
                assert_eq!(object["additionalProperties"], json!(false));
                let names: Vec<&String> = object["properties"].as_object().unwrap().keys().collect();
                assert_eq!(object["required"], json!(names));
            }
        }
    }

    #[test]
    fn words_that_providers_refuse_are_gone() {
        for text in forms() {
            for word in ["\"pattern\"", "\"$id\"", "\"$schema\"", "\"default\""] {
                assert!(!text.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn an_answer_in_this_form_is_readable() {
        let answer = json!({
            "task_id": "TASK-1", "verdict": "pass", "reasons": [], "required_changes": [],
            "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": "",
            "waivers": [{ "finding": "test-deleted", "reason": "the task asks for it" }]
        });
        let form = jsonschema::validator_for(&serde_json::from_str(&VerdictReport::answer_schema()).unwrap())
            .unwrap();
        assert!(form.is_valid(&answer));
        assert!(VerdictReport::parse(answer.to_string().as_bytes(), &Reading::from_agent("TASK-1")).is_ok());
        assert!(!form.is_valid(&json!({ "task_id": "TASK-1", "verdict": "pass" })));
    }
}
