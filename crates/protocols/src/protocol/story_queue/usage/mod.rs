//! Tokens and money: reports, corrections, budgets, summaries, anomalies. Nothing here moves a story.

use super::facts::Entry;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {}

impl State {
    pub fn evolve(&mut self, _entry: &Entry, _change: &Change) {}
}
