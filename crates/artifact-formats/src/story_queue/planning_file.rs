//! One planning file: a user story with criteria, as teams keep them beside their code. What has no place in a story is kept in
//! its metadata, key by key, so that the file can be written again.

use super::numbering::bare;
use serde_json::{Map, Value, json};

/// Read, but not yet numbered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlanningFile {
    pub(super) path: String,
    pub(super) id: String,
    pub(super) epic_number: u64,
    pub(super) epic_title: Option<String>,
    pub(super) epic_phase: Option<String>,
    /// Ids as written.
    pub(super) depends_on: Vec<String>,
    /// The story of the payload, without its number.
    pub(super) story: Map<String, Value>,
}

/// Where a story has a field of its own; the rest is metadata.
const OWN_FIELDS: [&str; 3] = ["title", "acceptance_criteria", "estimated_hours"];
/// Longer files are not stories.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) fn read(path: &str, text: &str) -> Result<PlanningFile, String> {
    if text.len() > MOST_BYTES {
        return Err("it is longer than 1 MB".to_owned());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(file) = value else { return Err("it is not a JSON object".to_owned()) };
    let written = |key: &str| file.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let id = written("id").ok_or("it has no id")?.to_owned();
    let title = written("title").ok_or("it has no title")?;
    let epic = file.get("epic");
    let epic_field = |key: &str| epic.and_then(|epic| epic.get(key));
    let epic_number = epic_of_path(path)
        .or_else(|| epic_field("id").or(epic).and_then(first_number))
        .or_else(|| bare(&id).split('.').next().and_then(|major| major.parse().ok()))
        .filter(|number| *number > 0)
        .ok_or("neither its path nor its text names an epic")?;
    let mut story = Map::new();
    story.insert("title".to_owned(), json!(title));
    if let Some(description) = description(&file) {
        story.insert("description".to_owned(), json!(description));
    }
    story.insert("acceptance_criteria".to_owned(), Value::Array(criteria(&file)?));
    match file.get("estimated_hours") {
        None | Some(Value::Null) => {}
        Some(hours) if hours.is_number() => {
            story.insert("estimated_hours".to_owned(), hours.clone());
        }
        Some(_) => return Err("its estimated_hours is not a number".to_owned()),
    }
    let mut planning: Map<String, Value> = file
        .iter()
        .filter(|(key, _)| !OWN_FIELDS.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    planning.insert("file".to_owned(), json!(path));
    story.insert("metadata".to_owned(), json!({ "planning": planning }));
    Ok(PlanningFile {
        path: path.to_owned(),
        epic_number,
        epic_title: epic_field("name")
            .or_else(|| epic_field("title"))
            .and_then(Value::as_str)
            .map(str::to_owned),
        epic_phase: written("phase").map(str::to_owned),
        depends_on: depends_on(&file)?,
        id,
        story,
    })
}

/// `epic_12` anywhere in the path; the innermost wins.
fn epic_of_path(path: &str) -> Option<u64> {
    path.split(['/', '\\']).rev().find_map(|part| {
        let after = part.split("epic_").nth(1)?;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

/// 7, "7", "EPIC-7", "Epic 7: Ingest".
fn first_number(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let text = value.as_str()?;
    let digits =
        text.split(|character: char| !character.is_ascii_digit()).find(|digits| !digits.is_empty())?;
    digits.parse().ok()
}

fn description(file: &Map<String, Value>) -> Option<String> {
    if let Some(written) = file.get("description").and_then(Value::as_str) {
        return Some(written.to_owned());
    }
    let story = file.get("story")?;
    let said =
        |key: &str| story.get(key).and_then(Value::as_str).map(|text| text.trim().trim_end_matches('.'));
    match (said("as_a"), said("i_want_to").or_else(|| said("i_want")), said("so_that")) {
        (Some(who), Some(what), Some(why)) => Some(format!("As a {who}, I want to {what}, so that {why}.")),
        (Some(who), Some(what), None) => Some(format!("As a {who}, I want to {what}.")),
        _ => story.as_str().map(str::to_owned),
    }
}

fn criteria(file: &Map<String, Value>) -> Result<Vec<Value>, String> {
    let rows = match file.get("acceptance_criteria") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(rows)) => rows,
        Some(_) => return Err("its acceptance_criteria are not a list".to_owned()),
    };
    let row = |(place, row): (usize, &Value)| match row {
        Value::Object(_) => Ok(row.clone()),
        Value::String(words) => Ok(json!({ "id": format!("AC-{}", place + 1), "description": words })),
        _ => Err(format!("acceptance_criteria[{place}] is neither an object nor a sentence")),
    };
    rows.iter().enumerate().map(row).collect()
}

fn depends_on(file: &Map<String, Value>) -> Result<Vec<String>, String> {
    let rows = match file.get("dependencies") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(rows)) => rows,
        Some(_) => return Err("its dependencies are not a list".to_owned()),
    };
    let id_of = |row: &Value| {
        let row = row.get("id").or_else(|| row.get("story")).unwrap_or(row);
        // "US-3.1 (sign in)" and "US-3.1: sign in" name 3.1.
        let words = row.as_str()?.trim();
        Some(words.split([' ', '(', ':', ',', ';']).next().unwrap_or(words).to_owned())
    };
    let ids = rows.iter().map(|row| id_of(row).ok_or("a dependency is not the id of a story".to_owned()));
    ids.filter(|id| id.as_ref().map_or(true, |id| !id.is_empty())).collect()
}
