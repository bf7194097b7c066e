//! From a plane of the older contract to the files of generation B, as a proposal (section 17.3): the state with its eleven
//! keys and a view made of `roadmap.md`. What cannot be carried over is listed; no status is ever guessed.

use serde_json::{Map, Value, json};

use super::names::{revision_number, roadmap_dir};
use super::roadmap::{Milestone, RoadmapText};
use super::state::{ActiveBundle, StateFile};
use crate::control_loop::slug;
use crate::faults::Faults;
use crate::markdown::{Line, lines};
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::text_lines::without_mark;

/// What `migrate` would write, and what a person has to look at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    pub state: String,
    pub bundle: ActiveBundle,
    /// `roadmap-view.json`; nothing where a milestone's status is not stated.
    pub view: Option<String>,
    /// One sentence each.
    pub not_carried_over: Vec<String>,
}

/// A milestone as an old roadmap spells it.
struct Found {
    milestone: Option<String>,
    title: String,
    status: Option<MilestoneStatus>,
    line: usize,
    /// The line itself, which becomes the selector of the milestone's anchors.
    selector: String,
}

/// Proposes the new files. Fails only where the state does not say which roadmap is active.
pub fn migrate(state: &StateFile, roadmap: &str) -> Result<Migration, Faults> {
    let mut open = Vec::new();
    let bundle = bundle(state, &mut open)?;
    let base = state.base_branch.clone().unwrap_or_else(|| {
        open.push("the state names no base branch; \"main\" is proposed".to_owned());
        "main".to_owned()
    });
    let new_state = StateFile::scaffold(&base, &bundle, state.max_parallel_rounds.unwrap_or(1))?;
    open.extend(left_behind(state));
    let view = view(&bundle, roadmap, &mut open);
    Ok(Migration { state: new_state.text().to_owned(), bundle, view, not_carried_over: open })
}

fn bundle(state: &StateFile, open: &mut Vec<String>) -> Result<ActiveBundle, Faults> {
    let missing = |key: &str| {
        Faults::one(super::STATE_FILE, format!("\"{key}\" is missing, so the active roadmap is not known"))
    };
    let roadmap_id = state.roadmap_id.clone().ok_or_else(|| missing("roadmap_id"))?;
    let revision = state.roadmap_revision.clone().ok_or_else(|| missing("roadmap_revision"))?;
    if revision_number(&revision).is_none() {
        let why = format!("the revision \"{revision}\" is not of the form rev-001");
        return Err(Faults::one(super::STATE_FILE, why));
    }
    let dir = roadmap_dir(&roadmap_id, &revision);
    if let Some(old) = state.roadmap_dir.as_deref().filter(|old| old.trim_end_matches('/') != dir) {
        open.push(format!("the roadmap lies in \"{old}\" and must be moved to \"{dir}\""));
    }
    Ok(ActiveBundle { roadmap_id, revision, dir })
}

/// Keys that have no place any more, and live work that a person has to end first.
fn left_behind(state: &StateFile) -> Vec<String> {
    let Ok(Value::Object(keys)) = serde_json::from_str(state.text().trim_start_matches('\u{feff}')) else {
        return Vec::new();
    };
    let mut open = Vec::new();
    let is_idle = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let live = ["active_rounds", "roadmap_update", "resume_errors", "retry"];
    for key in live {
        if let Some(value) = keys.get(key).filter(|value| !is_idle(value)) {
            open.push(format!("\"{key}\" is not empty and is not carried over: {value}"));
        }
    }
    for pointer in state.legacy_keys.iter().chain(&state.unknown_keys) {
        let key = pointer.trim_start_matches('/').replace("~1", "/").replace("~0", "~");
        if let Some(value) = keys.get(&key).filter(|value| !is_idle(value)) {
            open.push(format!("\"{key}\" is not carried over: {value}"));
        }
    }
    open
}

fn view(bundle: &ActiveBundle, roadmap: &str, open: &mut Vec<String>) -> Option<String> {
    let text = RoadmapText::read("roadmap.md", roadmap);
    let known = text.roadmap();
    let found = if text.blocks.is_empty() { numbered_items(roadmap) } else { headed(&text) };
    if found.is_empty() {
        open.push("roadmap.md has no milestones that could be recognised".to_owned());
        return None;
    }
    let mut taken: Vec<String> = Vec::new();
    let mut milestones = Vec::new();
    let mut anchors = Map::new();
    let mut complete = true;
    let file = format!("{}/roadmap.md", bundle.dir);
    for (index, found) in found.iter().enumerate() {
        let Some(status) = found.status else {
            open.push(format!("roadmap.md:{}: \"{}\" states no known status", found.line, found.title));
            complete = false;
            continue;
        };
        let given = found.milestone.clone();
        let id =
            given.clone().unwrap_or_else(|| format!("milestone-{:02}-{}", index + 1, slug(&found.title)));
        if given.is_none() {
            open.push(format!(
                "roadmap.md:{}: \"{}\" has no id; \"{id}\" is proposed",
                found.line, found.title
            ));
        }
        if taken.contains(&id) {
            open.push(format!("roadmap.md:{}: the id \"{id}\" is used twice", found.line));
            complete = false;
        }
        let old = given.and_then(|id| known.milestone(&id).cloned());
        milestones.push(milestone_value(&id, found, status, old.as_ref(), &text));
        let anchor = json!({"target_file": file, "selector": found.selector});
        anchors.insert(format!("{id}-status"), anchor.clone());
        anchors.insert(format!("{id}-completion"), anchor);
        taken.push(id);
    }
    let directions: Vec<Value> = known.directions.iter().map(direction_value).collect();
    let view = json!({
        "schema_version": "roadmap-view-v1",
        "roadmap_id": bundle.roadmap_id,
        "roadmap_revision": bundle.revision,
        "roadmap_dir": bundle.dir,
        "roadmap_file": file,
        "milestones": milestones,
        "directions": directions,
        "anchors": anchors,
    });
    complete.then(|| crate::render::pretty(&view))
}

fn milestone_value(
    id: &str,
    found: &Found,
    status: MilestoneStatus,
    old: Option<&Milestone>,
    text: &RoadmapText,
) -> Value {
    let known = text.roadmap();
    let directions: Vec<&str> = known.directions_of(id).map(|direction| direction.id.as_str()).collect();
    json!({
        "milestone_id": id,
        "title": found.title,
        "status": status.as_str(),
        "depends_on": old.map(|old| old.depends_on.clone()).unwrap_or_default(),
        "parallel_lane": old.and_then(|old| old.lane.clone()).unwrap_or_default(),
        "status_anchor": format!("{id}-status"),
        "completion_anchor": format!("{id}-completion"),
        "direction_ids": directions,
    })
}

fn direction_value(direction: &super::Direction) -> Value {
    json!({
        "direction_id": direction.id,
        "milestone_id": direction.milestone,
        "summary": direction.summary,
        "preconditions": direction.preconditions,
        "parallel_hints": direction.parallel_hints.clone().unwrap_or_default(),
    })
}

fn headed(text: &RoadmapText) -> Vec<Found> {
    let found = text.blocks.iter().map(|block| Found {
        milestone: block.id(),
        title: block.title.clone(),
        status: block.status(),
        line: block.line,
        selector: text.text()[block.heading.clone()].trim().to_owned(),
    });
    found.collect()
}

/// `1. [completed] Title`, the list that the first planes kept instead of headings.
fn numbered_items(text: &str) -> Vec<Found> {
    let clean = without_mark(text);
    let numbered = |(index, line): (usize, Line<'_>)| {
        let words = line.text.trim_end();
        let digits = words.bytes().take_while(u8::is_ascii_digit).count();
        let item = words[digits..].strip_prefix(". ").or_else(|| words[digits..].strip_prefix(") "));
        let item = item.filter(|_| digits > 0 && !line.is_code)?.trim_start();
        let (word, title) = match item.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((word, title)) => (word.trim().to_ascii_lowercase(), title.trim()),
            None => (String::new(), item),
        };
        let status = match word.as_str() {
            "completed" | "complete" => Some(MilestoneStatus::Done),
            word => MilestoneStatus::from_word(word),
        };
        Some(Found {
            milestone: None,
            title: title.trim_matches('*').trim().to_owned(),
            status,
            line: index + 1,
            selector: words.to_owned(),
        })
    };
    lines(&clean).into_iter().enumerate().filter_map(numbered).collect()
}
