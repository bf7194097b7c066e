//! What the orchestrator notes at the queue after each step that counts, so that another process, or another machine, goes on
//! where this one stopped. The queue and the journal are the truth; a note that they contradict is let go.

use super::identities::Identity;
use super::queue::{Queue, Refused, inner, text_of};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

/// Followed by the id of the agent that runs the orchestration; the queue lets nobody else save there.
const OF_AN_ORCHESTRATION: &str = "windlass:";
/// Everybody's key. Older versions noted there, until somebody saved over it.
const EVERYBODYS: &str = "main";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Checkpoint {
    /// `working`, `complete` or `waiting`.
    pub(super) phase: String,
    pub(super) last_verified: Option<String>,
    /// Numbers of stories that are reported and not judged yet.
    pub(super) pending_review: Vec<String>,
    /// Failed review–fix cycles by story id.
    pub(super) cycle_counts: BTreeMap<String, u32>,
    /// How often each story was begun: attempts that never came to a review count here alone.
    pub(super) attempts: BTreeMap<String, u32>,
    pub(super) in_hand: BTreeMap<String, Hand>,
    pub(super) escalated: BTreeMap<String, Escalation>,
    /// Numbers, by id, of stories that others called done, which a person let stand: nothing of them landed here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) by_others: BTreeMap<String, String>,
    /// Trees on which the checks passed, the newest last.
    pub(super) green_trees: Vec<String>,
    /// How far the change feed was read.
    pub(super) last_seq: u64,
    /// What others noted beside it.
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

/// An attempt at a story that has begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hand {
    pub(super) number: String,
    pub(super) attempt: u32,
    /// The commit the work starts from.
    pub(super) base: String,
    /// The story's words as they were contracted. Empty in notes of older versions.
    #[serde(default)]
    pub(super) wording: String,
}

/// A story that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Escalation {
    pub(super) number: String,
    pub(super) title: String,
    pub(super) why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    /// Whether a person may let it be tried again.
    #[serde(default)]
    pub(super) for_good: bool,
    /// Somebody else moved it while it was in hand; nothing begins before a person has looked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) alarm: bool,
}

const GREEN_TREES_KEPT: usize = 8;

impl Checkpoint {
    pub(super) fn note_green(&mut self, tree: &str) {
        self.green_trees.retain(|known| known != tree);
        self.green_trees.push(tree.to_owned());
        let superfluous = self.green_trees.len().saturating_sub(GREEN_TREES_KEPT);
        self.green_trees.drain(..superfluous);
    }

    pub(super) fn cycles(&self, story: &str) -> u32 {
        self.cycle_counts.get(story).copied().unwrap_or(0)
    }
}

/// The note in memory and its version at the queue. Attempts that go on side by side write it one after the other.
pub(super) struct Notes<'a> {
    queue: &'a Queue<'a>,
    path: String,
    state_key: String,
    key: String,
    data: RefCell<Checkpoint>,
    version: tokio::sync::Mutex<u64>,
}

impl<'a> Notes<'a> {
    /// What this orchestration noted itself. What others noted is theirs: it is named, and nothing of it is believed.
    pub(super) async fn load(
        queue: &'a Queue<'a>,
        project: &str,
        own: Identity,
    ) -> Result<(Self, Found), Fault> {
        let path = format!("/orchestrator/state/{}", escaped(project));
        let state_key = format!("{OF_AN_ORCHESTRATION}{}", own.agent);
        let look = async |key: &str| match queue.look(&own.key, &path, &[("state_key", key)]).await? {
            Ok(answer) => Ok(Some(inner(&answer, "state").clone())),
            Err(Refused { status: 404, .. }) => Ok(None),
            Err(refused) => Err(refused.fault("load the checkpoint")),
        };
        let (data, version, found) = if let Some(state) = look(&state_key).await? {
            (read(&state, &state_key)?, state["version"].as_u64().unwrap_or(0), Found::Own)
        } else {
            match look(EVERYBODYS).await? {
                Some(state) if text_of(&state, "saved_by_agent_id") == own.agent => {
                    (read(&state, EVERYBODYS)?, 0, Found::Own)
                }
                Some(state) => (Checkpoint::default(), 0, Found::OfOthers(text_of(&state, "saved_by"))),
                None => (Checkpoint::default(), 0, Found::Nothing),
            }
        };
        let (data, version) = (RefCell::new(data), tokio::sync::Mutex::new(version));
        Ok((Self { queue, path, state_key, key: own.key, data, version }, found))
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&Checkpoint) -> T) -> T {
        look(&self.data.borrow())
    }

    /// Something that can be found out again; it is saved with whatever comes next.
    pub(super) fn remember(&self, change: impl FnOnce(&mut Checkpoint)) {
        change(&mut self.data.borrow_mut());
    }

    /// Changes the note and saves it; nobody learns of the change before the queue has it.
    pub(super) async fn write<T>(&self, change: impl FnOnce(&mut Checkpoint) -> T) -> Result<T, Fault> {
        let changed = change(&mut self.data.borrow_mut());
        let mut version = self.version.lock().await;
        let data = serde_json::to_value(&*self.data.borrow()).unwrap_or_default();
        let body = json!({ "state_key": self.state_key, "state_data": data, "version": *version });
        let once = format!("state {} {}", self.path, crate::evidence::digest(body.to_string().as_bytes()));
        let said = self.queue.send((Method::Put, &self.path), &self.key, Some(&once), &body).await?;
        match said {
            Ok(answer) => {
                *version = inner(&answer, "state")["version"].as_u64().unwrap_or(*version + 1);
                Ok(changed)
            }
            Err(refused) if refused.status == 409 => Err(refused
                .fault("save the checkpoint")
                .hint("another orchestrator works on this project; let it end")),
            Err(refused) => Err(refused.fault("save the checkpoint")),
        }
    }
}

/// Whose notes there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Own,
    Nothing,
    /// Only somebody else's, by this name.
    OfOthers(String),
}

fn read(state: &Value, key: &str) -> Result<Checkpoint, Fault> {
    serde_json::from_value(state["state_data"].clone()).map_err(|error| {
        Fault::new(Code::StoryRefused, format!("the checkpoint `{key}` cannot be read: {error}"))
            .hint(format!("`windlass story state load --key {key}` shows it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_noted_stays() {
        let read: Checkpoint =
            serde_json::from_value(json!({ "phase": "plan", "critical_path": ["3.1"] })).unwrap();
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!((read.phase.as_str(), &written["critical_path"]), ("plan", &json!(["3.1"])));
    }

    #[test]
    fn only_the_newest_green_trees_are_kept() {
        let mut note = Checkpoint::default();
        for tree in ["a", "b", "c", "d", "e", "f", "g", "h", "a", "i"] {
            note.note_green(tree);
        }
        assert_eq!(note.green_trees, ["c", "d", "e", "f", "g", "h", "a", "i"]);
    }
}
