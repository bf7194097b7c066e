//! The two tracks of a story and every way to move it. Custody is held here, in one place, for all of them.

use super::facts::Entry;
use super::plan;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {}

impl State {
    pub fn evolve(&mut self, _entry: &Entry, _change: &Change) {}

    /// A new, changed or deleted story or dependency moves what is ready and what is blocked.
    pub fn follow_plan(&mut self, _change: &plan::Change) {}
}
