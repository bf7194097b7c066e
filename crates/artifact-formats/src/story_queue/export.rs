//! An export of a project as an import payload, and a story of it as the planning file it came from. Structure goes round without
//! loss; status does not, for a status that could be imported would be a status nobody had to earn.

use super::numbering::bare;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub payload: Value,
    pub epics: usize,
    pub stories: usize,
    /// Stories that stood further than pending in the export, and start anew.
    pub statuses_left_behind: usize,
}

const EPIC_FIELDS: [&str; 6] = ["number", "title", "description", "phase", "position", "metadata"];
const STORY_FIELDS: [&str; 6] =
    ["number", "title", "description", "acceptance_criteria", "estimated_hours", "metadata"];

/// Takes the export as the server wrote it, bare or inside `data`.
pub fn import_of_export(text: &str) -> Result<Exported, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let export = value.get("data").filter(|data| data.get("epics").is_some()).unwrap_or(&value);
    let Some(epics) = export.get("epics").and_then(Value::as_array) else {
        return Err("not an export: it has no list of epics".to_owned());
    };
    let mut exported =
        Exported { payload: Value::Null, epics: epics.len(), stories: 0, statuses_left_behind: 0 };
    let mut rows = Vec::new();
    for (place, epic) in epics.iter().enumerate() {
        let mut row = picked(epic, &EPIC_FIELDS).ok_or(format!("epics[{place}] is not an object"))?;
        let stories = epic.get("stories").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut story_rows = Vec::new();
        for (inner, story) in stories.iter().enumerate() {
            let picked = picked(story, &STORY_FIELDS);
            story_rows.push(Value::Object(
                picked.ok_or(format!("epics[{place}].stories[{inner}] is not an object"))?,
            ));
            let pending = story.get("agent_status").is_none_or(|status| status == "pending");
            exported.statuses_left_behind += usize::from(!pending);
        }
        exported.stories += story_rows.len();
        row.insert("stories".to_owned(), Value::Array(story_rows));
        rows.push(Value::Object(row));
    }
    let edges = |key: &str| export.get(key).filter(|edges| edges.is_array()).cloned().unwrap_or(json!([]));
    exported.payload = json!({
        "epics": rows,
        "story_dependencies": edges("story_dependencies"),
        "epic_dependencies": edges("epic_dependencies"),
    });
    Ok(exported)
}

/// Null says nothing, and an import would take it as something.
fn picked(value: &Value, fields: &[&str]) -> Option<Map<String, Value>> {
    let object = value.as_object()?;
    let kept = fields
        .iter()
        .filter_map(|field| Some((*field, object.get(*field).filter(|value| !value.is_null())?)));
    Some(kept.map(|(field, value)| (field.to_owned(), value.clone())).collect())
}

/// The file a story came from, with its path, where its metadata still says so; title, criteria and hours are today's.
pub fn planning_file_of_story(story: &Value) -> Option<(String, Value)> {
    let planning = story.get("metadata")?.get("planning")?.as_object()?;
    let mut file: Map<String, Value> = planning.clone();
    let path = match file.remove("file") {
        Some(Value::String(path)) => path,
        _ => format!("us_{}.json", bare(planning.get("id")?.as_str()?)),
    };
    for key in ["title", "estimated_hours"] {
        if let Some(value) = story.get(key).filter(|value| !value.is_null()) {
            file.insert(key.to_owned(), value.clone());
        }
    }
    let criteria = story.get("acceptance_criteria").and_then(Value::as_array)?;
    file.insert("acceptance_criteria".to_owned(), criteria.iter().map(as_planned).collect());
    Some((path, Value::Object(file)))
}

/// The server calls a criterion's words `criterion`; planning files call them `description`.
fn as_planned(criterion: &Value) -> Value {
    let Some(row) = criterion.as_object() else { return criterion.clone() };
    let mut row = row.clone();
    if let Some(words) = row.remove("criterion") {
        row.insert("description".to_owned(), words);
    }
    if let Some(id) = row.remove("ac_id") {
        row.entry("id").or_insert(id);
    }
    Value::Object(row)
}
