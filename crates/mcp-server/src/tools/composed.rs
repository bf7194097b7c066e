//! Tools that are more than one row of the table: where the path depends on the arguments, where a file is read, where
//! the queue is asked twice.

use super::row::{Tool, spoken};
use super::{Queue, Refused};
use crate::rows::MOST_ROWS;
use serde_json::{Map, Value, json};
use std::path::Path;
use windlass_control_api::stories::{BASE, Call, LONGEST_PLAN, Method, escaped};

const LARGEST_FILE: u64 = LONGEST_PLAN as u64;

/// Asks for no more rows than are shown, where the tool takes a limit.
pub(super) fn with_few_rows(tool: &Tool, arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    if tool.arguments.iter().any(|argument| argument.name == "limit") {
        let asked = arguments.get("limit").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let most = u64::try_from(MOST_ROWS).unwrap_or(u64::MAX);
        arguments.insert("limit".to_owned(), json!(asked.clamp(1, most)));
    }
    arguments
}

/// Reads the checkpoint's version first, so that nobody else's save is overwritten unseen.
pub(super) async fn save_state(arguments: &Map<String, Value>, queue: &Queue<'_>) -> Result<Value, Refused> {
    let project = arguments.get("project_id").map(spoken).unwrap_or_default();
    let path = format!("{BASE}/orchestrator/state/{}", escaped(&project));
    let key = arguments.get("state_key").map_or_else(|| "main".to_owned(), spoken);
    let version = match arguments.get("version").and_then(Value::as_u64) {
        Some(version) => version,
        None => match queue.ask(Call::new(Method::Get, &path).with_query("state_key", &key)).await {
            Ok(found) => version_of(&found),
            Err(refused) if refused.status == 404 => 0,
            Err(refused) => return Err(refused),
        },
    };
    let data = arguments.get("state_data").cloned().unwrap_or_default();
    let body = json!({ "state_key": key, "state_data": data, "version": version });
    queue
        .ask(Call::new(Method::Put, path).with_header("content-type", "application/json").with_json(&body))
        .await
}

fn version_of(found: &Value) -> u64 {
    let places = ["/version", "/data/version", "/state/version"];
    places.iter().find_map(|place| found.pointer(place)?.as_u64()).unwrap_or(0)
}

/// The payload itself, or the file that holds it.
pub(super) fn import(tool: &Tool, arguments: &Map<String, Value>) -> Result<Call, Refused> {
    let payload = match (arguments.get("payload"), arguments.get("payload_path")) {
        (Some(payload), None) => payload.clone(),
        (None, Some(path)) => read_payload(Path::new(&spoken(path))).map_err(|why| Refused::ours(&why))?,
        _ => return Err(Refused::ours("give either payload or payload_path")),
    };
    let project = arguments.get("project_id").map(spoken).unwrap_or_default();
    let path = format!("{BASE}{}", tool.path.replace("{project_id}", &escaped(&project)));
    let call =
        Call::new(Method::Post, path).with_header("content-type", "application/json").with_json(&payload);
    Ok(match arguments.get("merge") {
        Some(Value::Bool(true)) => call.with_query("merge", "true"),
        _ => call,
    })
}

fn read_payload(path: &Path) -> Result<Value, String> {
    let told = path.display();
    if !path.is_absolute() {
        return Err(format!("payload_path must be absolute, and {told} is not"));
    }
    // Where a link leads is what counts.
    let real = path.canonicalize().map_err(|error| format!("{told}: {error}"))?;
    if ["/proc", "/dev", "/sys"].iter().any(|place| real.starts_with(place)) {
        return Err(format!("{told} is no place for a payload"));
    }
    let about = std::fs::metadata(&real).map_err(|error| format!("{told}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{told} is no regular file"));
    }
    if about.len() > LARGEST_FILE {
        return Err(format!("{told} is larger than 64 MB"));
    }
    let text = std::fs::read_to_string(&real).map_err(|error| format!("{told}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{told} is no JSON: {error}"))
}

/// By epic, or by the number of an epic in a project.
pub(super) fn create_story(tool: &Tool, arguments: &Map<String, Value>) -> Result<Call, Refused> {
    let text = |name: &str| arguments.get(name).map(spoken);
    let mut body = arguments.get("story").cloned().unwrap_or_else(|| json!({}));
    let path = match (text("epic_id"), text("project_id"), arguments.get("epic_number")) {
        (Some(epic), ..) => format!("{BASE}/epics/{}/stories", escaped(&epic)),
        (None, Some(project), Some(number)) => {
            body["epic_number"] = number.clone();
            format!("{BASE}/projects/{}/stories", escaped(&project))
        }
        _ => {
            return Err(Refused::ours(&format!(
                "{} needs epic_id, or project_id and epic_number",
                tool.name
            )));
        }
    };
    Ok(Call::new(Method::Post, path).with_header("content-type", "application/json").with_json(&body))
}

pub(super) fn system_articles(arguments: &Map<String, Value>) -> Call {
    let call = Call::new(Method::Get, format!("{BASE}/articles/system"));
    ["slug", "category"].into_iter().fold(call, |call, name| match arguments.get(name) {
        Some(value) => call.with_query(name, &spoken(value)),
        None => call,
    })
}

pub(super) fn agent_usage(arguments: &Map<String, Value>) -> Result<Call, Refused> {
    let who = match (arguments.get("agent_id"), arguments.get("api_key_id")) {
        (Some(id), None) | (None, Some(id)) => spoken(id),
        _ => return Err(Refused::ours("give exactly one of agent_id and api_key_id")),
    };
    let call = Call::new(Method::Get, format!("{BASE}/knowledge/analytics/agents/{}", escaped(&who)));
    Ok(["limit", "since_days"].into_iter().fold(call, |call, name| match arguments.get(name) {
        Some(value) => call.with_query(name, &spoken(value)),
        None => call,
    }))
}
