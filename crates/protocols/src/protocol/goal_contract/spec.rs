//! What a goal loop is started with. The contract, the queue and the caps themselves are files that people edit while it
//! runs; they are read at every safe point and come in as observations.

use super::queue::Autonomy;
use crate::kernel::availability::Patience;
use crate::kernel::budget::Caps;
use crate::kernel::place::Place;
use crate::observation::Rejection;
use crate::vocabulary::TaskId;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalSpec {
    pub task: TaskId,
    /// The goal of the contract, in its own words.
    pub text: String,
    /// What the command line caps beyond the contract; its rounds are iterations.
    pub caps: Caps,
    /// One iteration was asked for and no more: that it is the last one is no cap that was reached.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub once: bool,
    /// What the command line takes away from the contract. It can add nothing.
    #[serde(default, skip_serializing_if = "Tightened::is_nothing")]
    pub tightened: Tightened,
    /// The command that runs the full test suite; absent where there is none.
    pub suite: Option<String>,
    /// Commands that must pass on the exact tree before it is committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_commit: Vec<String>,
    pub claimed: Claimed,
    pub design: DesignRule,
    pub home: Home,
    /// When the run was begun, as the loop's files name it: `2026-01-31T12:00:00Z`.
    pub began: String,
    #[serde(default, skip_serializing_if = "Patience::is_usual")]
    pub patience: Patience,
    pub place: Place,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tightened {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomy: Option<Autonomy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rework: Option<u32>,
}

impl Tightened {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What an item counts for that the file calls complete and that no evaluator of a loop has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claimed {
    /// It is checked before it counts.
    Recheck,
    /// History from before the loop is believed.
    Trust,
}

/// When an item is designed before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DesignRule {
    /// Where it is not trivial: see `Item::is_trivial`.
    Auto,
    Always,
    Never,
}

/// Which branch the commits are made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// The loop's own; the user merges it.
    OwnBranch,
    /// The one the user has checked out, which follows commit by commit.
    InPlace,
}

impl GoalSpec {
    /// The commands by which a change is measured: the suite and what must pass before a commit.
    pub fn measures(&self) -> impl Iterator<Item = &String> {
        self.suite.iter().chain(&self.pre_commit)
    }

    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        let refuse = |why: &str| Err(Rejection::InvalidSpec { why: why.to_string() });
        if self.text.trim().is_empty() {
            return refuse("the contract states no goal");
        }
        if self.caps.rounds == 0 || self.tightened.commits == Some(0) {
            return refuse("at least one iteration and one commit are needed");
        }
        if self.caps.time.is_some_and(|time| time.0 == 0) || self.caps.step_time.0 == 0 {
            return refuse("a time limit of nothing leaves no time to work");
        }
        if self.measures().any(|command| command.trim().is_empty()) {
            return refuse("a test or pre-commit command is empty");
        }
        Ok(())
    }
}
