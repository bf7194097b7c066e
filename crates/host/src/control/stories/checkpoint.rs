//! What the orchestrator notes at the queue after each step that counts, so that another process, or another machine, goes on
//! where this one stopped. The queue and the journal are the truth; a note that they contradict is let go.

use super::queue::{Queue, Refused, inner};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

/// The state key of section 8.
const KEY: &str = "main";

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hand {
    pub(super) number: String,
    pub(super) attempt: u32,
    /// The commit the work starts from.
    pub(super) base: String,
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
    key: String,
    data: RefCell<Checkpoint>,
    version: tokio::sync::Mutex<u64>,
}

impl<'a> Notes<'a> {
    pub(super) async fn load(queue: &'a Queue<'a>, project: &str, key: String) -> Result<Self, Fault> {
        let path = format!("/orchestrator/state/{}", escaped(project));
        let (data, version) = match queue.look(&key, &path, &[("state_key", KEY)]).await? {
            Ok(answer) => {
                let state = inner(&answer, "state");
                let data = serde_json::from_value(state["state_data"].clone()).map_err(|error| {
                    Fault::new(
                        Code::StoryRefused,
                        format!(
                            "the checkpoint `{KEY}` of the project was written by somebody else: {error}"
                        ),
                    )
                    .hint("`windlass story state load` shows it")
                })?;
                (data, state["version"].as_u64().unwrap_or(0))
            }
            Err(Refused { status: 404, .. }) => (Checkpoint::default(), 0),
            Err(refused) => return Err(refused.fault("load the checkpoint")),
        };
        Ok(Self { queue, path, key, data: RefCell::new(data), version: tokio::sync::Mutex::new(version) })
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
        let body = json!({ "state_key": KEY, "state_data": data, "version": *version });
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
