//! From a plane of the older contract to the files of generation B, as a proposal (section 17.3): the state with its eleven
//! keys and a view made of `roadmap.md`. What cannot be carried over is listed; no status is ever guessed.

use serde_json::{Map, Value, json};

use super::names::{revision_number, roadmap_dir};
use super::old_roadmap::{self, Old, OldRoadmap};
use super::roadmap::{Milestone, Roadmap};
use super::state::{ActiveBundle, StateFile};
use crate::faults::Faults;

/// What `migrate` would write, and what a person has to look at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    pub state: String,
    pub bundle: ActiveBundle,
    /// `roadmap-view.json`; nothing where something is open.
    pub view: Option<String>,
    /// The roadmap with every word that stands below its milestones.
    pub roadmap: Roadmap,
    /// What stays behind, one sentence each: a person may want to know.
    pub not_carried_over: Vec<String>,
    /// What a person has to settle before anything is written.
    pub open: Vec<String>,
}

/// Proposes the new files. Fails only where the state does not say which roadmap is active.
pub fn migrate(state: &StateFile, roadmap: &str) -> Result<Migration, Faults> {
    let mut notes = Vec::new();
    let bundle = bundle(state, &mut notes)?;
    let base = state.base_branch.clone().unwrap_or_else(|| {
        notes.push("the state names no base branch; \"main\" is proposed".to_owned());
        "main".to_owned()
    });
    let new_state = StateFile::scaffold(&base, &bundle, state.max_parallel_rounds.unwrap_or(1))?;
    notes.extend(left_behind(state));
    let OldRoadmap { milestones, mut open, notes: about } = old_roadmap::read(roadmap);
    notes.extend(about);
    let (roadmap, selectors) = settled(milestones, &mut open, &mut notes);
    let view = open.is_empty().then(|| view(&bundle, &roadmap, &selectors));
    let state = new_state.text().to_owned();
    Ok(Migration { state, bundle, view, roadmap, not_carried_over: notes, open })
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

/// The milestones with the lines that stand for them; what keeps one from being taken is open.
fn settled(found: Vec<Old>, open: &mut Vec<String>, notes: &mut Vec<String>) -> (Roadmap, Vec<String>) {
    let (mut roadmap, mut selectors) = (Roadmap::default(), Vec::new());
    for old in found {
        let place = format!("roadmap.md:{}", old.line);
        let Some(milestone) = old.milestone else {
            open.push(format!("{place}: \"{}\" states no known status", old.title));
            continue;
        };
        if !old.is_named {
            notes.push(format!("{place}: \"{}\" has no id; \"{}\" is proposed", old.title, milestone.id));
        }
        if roadmap.milestone(&milestone.id).is_some() {
            open.push(format!("{place}: the id \"{}\" is used twice", milestone.id));
        }
        roadmap.directions.extend(old.directions);
        roadmap.milestones.push(milestone);
        selectors.push(old.selector);
    }
    (roadmap, selectors)
}

fn view(bundle: &ActiveBundle, roadmap: &Roadmap, selectors: &[String]) -> String {
    let file = format!("{}/roadmap.md", bundle.dir);
    let mut anchors = Map::new();
    for (milestone, selector) in roadmap.milestones.iter().zip(selectors) {
        let anchor = json!({"target_file": file, "selector": selector});
        anchors.insert(format!("{}-status", milestone.id), anchor.clone());
        anchors.insert(format!("{}-completion", milestone.id), anchor);
    }
    let milestones: Vec<Value> =
        roadmap.milestones.iter().map(|milestone| milestone_value(milestone, roadmap)).collect();
    let directions: Vec<Value> = roadmap.directions.iter().map(direction_value).collect();
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
    crate::render::pretty(&view)
}

fn milestone_value(milestone: &Milestone, roadmap: &Roadmap) -> Value {
    let id = &milestone.id;
    let directions: Vec<&str> = roadmap.directions_of(id).map(|direction| direction.id.as_str()).collect();
    json!({
        "milestone_id": id,
        "title": milestone.title,
        "status": milestone.status.as_str(),
        "depends_on": milestone.depends_on,
        "parallel_lane": milestone.lane.clone().unwrap_or_default(),
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
