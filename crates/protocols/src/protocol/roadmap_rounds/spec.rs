//! What a roadmap loop is started with. The roadmap, its state and its limits are files that people edit while it runs; they
//! are read before every decision and come in as observations.

use crate::kernel::availability::Patience;
use crate::kernel::budget::Caps;
use crate::kernel::place::Place;
use crate::observation::Rejection;
use crate::vocabulary::{Digest, TaskId};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoadmapSpec {
    pub task: TaskId,
    /// The goal of the active roadmap, in its own words.
    pub text: String,
    /// Its rounds are those this run may take up: the ones it finds unfinished, and the ones it opens.
    pub caps: Caps,
    #[serde(default, skip_serializing_if = "RoundLimits::is_usual")]
    pub limits: RoundLimits,
    /// Fewer live rounds than the state allows; never more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// Commands that the engine runs on a round that changes what measures it; what they run is protected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    #[serde(default, skip_serializing_if = "Patience::is_usual")]
    pub patience: Patience,
    /// `doer_branch` is the base branch, which receives the squash commits.
    pub place: Place,
    /// What earlier runs knew of what they left live. Of the reviews that lie there, only what was decided then counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
}

/// A round, or the roadmap update that came of it, as the run before knew it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    pub round: String,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub update: bool,
    /// The file that approved it, taken from whoever may do that; absent where nobody had decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Digest>,
}

/// How often something is tried in the same way before something else is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundLimits {
    /// Consecutive tries of one stage with the same agent.
    pub same_mechanism: u32,
    /// Rejected reviews of one round.
    pub review_cycles: u32,
    /// Rejected drafts of one roadmap update.
    pub update_rejections: u32,
}

impl Default for RoundLimits {
    fn default() -> Self {
        Self { same_mechanism: 3, review_cycles: 3, update_rejections: 3 }
    }
}

impl RoundLimits {
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl RoadmapSpec {
    /// Whether an approving file that lies there may be somebody's word: of what an earlier run left behind only what that run
    /// took for one. Of another controller's rounds nobody can tell.
    pub(super) fn believes(&self, round: &str, update: bool, artifact: &Digest) -> bool {
        self.left(round, update).is_none_or(|left| left.approved.as_ref() == Some(artifact))
    }

    /// Whether an earlier run knew it.
    pub(super) fn has_left(&self, round: &str, update: bool) -> bool {
        self.left(round, update).is_some()
    }

    fn left(&self, round: &str, update: bool) -> Option<&LeftBehind> {
        self.left_behind.iter().find(|left| left.round == round && left.update == update)
    }

    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        let refuse = |why: &str| Err(Rejection::InvalidSpec { why: why.to_string() });
        if self.caps.rounds == 0 || self.parallel == Some(0) {
            return refuse("at least one round is needed");
        }
        let RoundLimits { same_mechanism, review_cycles, update_rejections } = self.limits;
        if same_mechanism == 0 || review_cycles == 0 || update_rejections == 0 {
            return refuse("a limit of nothing leaves nothing to try");
        }
        if self.checks.iter().any(|command| command.trim().is_empty()) {
            return refuse("a check is empty");
        }
        if self.caps.time.is_some_and(|time| time.0 == 0) || self.caps.step_time.0 == 0 {
            return refuse("a time limit of nothing leaves no time to work");
        }
        Ok(())
    }
}
