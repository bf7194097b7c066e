//! The published schemas as files for others: complete, self-contained, described.

use serde_json::Value;
use windlass_artifact_formats::task_loop::PUBLISHED_SCHEMAS;

#[test]
fn every_schema_is_valid_draft_2020_12_with_title_and_description() {
    assert_eq!(PUBLISHED_SCHEMAS.len(), 7);
    for (name, text) in PUBLISHED_SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}");
        for (key, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}: {key} has no description");
        }
    }
}

#[test]
fn no_schema_refers_outside_itself() {
    for (name, text) in PUBLISHED_SCHEMAS {
        for reference in text.split("\"$ref\": \"").skip(1) {
            assert!(reference.starts_with('#'), "{name}");
        }
    }
}
