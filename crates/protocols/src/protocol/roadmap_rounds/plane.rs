//! The control plane as it was read: state, roadmap and what lies in the worktrees of the live rounds. Data only, the same
//! for both generations of the files; nothing in here was believed yet.

use super::spec::RoundLimits;
use crate::kernel::gate::Waiver;
use crate::vocabulary::{CommitId, Digest};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plane {
    pub generation: Generation,
    /// Of the state file's bytes: whoever writes it must have seen exactly these.
    pub state: Digest,
    /// Of the active bundle's files.
    pub bundle: Digest,
    pub stage: ControllerStage,
    pub base_branch: String,
    /// The newest commit of the base branch.
    pub base: CommitId,
    pub roadmap_id: String,
    pub revision: String,
    pub max_parallel: u32,
    pub rounds: Vec<RoundSeen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateSeen>,
    /// What stands in `resume_errors`, by its key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
    /// Whether retry bookkeeping stands in the state.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub retry_noted: bool,
    pub milestones: Vec<Milestone>,
    pub directions: Vec<Direction>,
    /// Rounds and extracted items that are on the base branch.
    #[serde(default)]
    pub merged_rounds: Vec<String>,
    #[serde(default)]
    pub merged_items: Vec<String>,
    /// The number the next round gets.
    pub next_number: u32,
    /// The limits as the roadmap's own overrides have them.
    pub limits: RoundLimits,
    /// What is odd and was repaired or passed over on reading, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// B: a machine view and JSON records.
    Records,
    /// C: labelled Markdown.
    StructuredMarkdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerStage {
    DispatchRounds,
    UpdateRoadmap,
    Done,
    Blocked,
}

impl ControllerStage {
    pub const fn word(self) -> &'static str {
        match self {
            Self::DispatchRounds => "dispatch-rounds",
            Self::UpdateRoadmap => "update-roadmap",
            Self::Done => "done",
            Self::Blocked => "blocked",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundStage {
    Plan,
    Implement,
    Review,
    FinalizeRound,
    Blocked,
}

impl RoundStage {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::FinalizeRound => "finalize-round",
            Self::Blocked => "blocked",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MilestoneStatus {
    Pending,
    InProgress,
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestone {
    pub id: String,
    pub title: String,
    pub status: MilestoneStatus,
    pub depends_on: Vec<String>,
    pub lane: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Direction {
    pub id: String,
    pub milestone: String,
    /// Milestones that have to be done first; prose preconditions are the planner's to weigh.
    pub preconditions: Vec<String>,
    pub hint: ParallelHint,
}

/// What a direction says about working beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelHint {
    Serial,
    /// Beside rounds of other lanes.
    LaneSafe,
    Unstated,
}

/// A live round: its record and what can be seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundSeen {
    pub id: String,
    pub stage: RoundStage,
    pub branch: String,
    pub worktree: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_error: Option<String>,
    /// The newest commit of its branch; absent where the branch is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// Where it left the base branch, or was last brought up to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<CommitId>,
    /// Somebody changed code on the base branch since `fork`; otherwise only the control plane moved.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub code_drifted: bool,
    /// What the roadmap says about its milestone and direction is another on the base branch than at `fork`, or the active
    /// revision is not in its branch at all.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub roadmap_drifted: bool,
    pub worktree_stands: bool,
    pub evidence: Evidence,
}

/// What the artifacts of a round say, each read and held against the rules of its generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The planner left a request for a roadmap update and nothing else.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub request: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSeen>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub notes: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewSeen>,
    /// What is wrong with them, in sentences with file and rule, by who has to mend it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_faults: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes_faults: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review_faults: Vec<String>,
    /// It is on the base branch already, so that only its record has to go.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub merged: bool,
    /// It was merged without the closeout its review approved.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub merged_without_closeout: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSeen {
    pub milestone: String,
    pub direction: String,
    pub item: String,
    /// The revision its lineage names, and whether all of it is the active bundle's.
    pub revision: String,
    #[serde(default)]
    pub depends_on_rounds: Vec<String>,
    #[serde(default)]
    pub merge_after_items: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_group: Option<String>,
    /// Empty unless the work is fanned out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerSeen>,
    /// C: the planner did it all itself. What it left proves it, or these are the faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<DirectSeen>,
}

impl PlanSeen {
    /// What workers made and the round does not hold, with whose it is; absent where that is nothing.
    pub fn lost(&self) -> Option<String> {
        let losing = self.workers.iter().filter(|worker| !worker.lost.is_empty());
        let lost: Vec<String> =
            losing.map(|worker| format!("{} ({})", worker.lost.join(", "), worker.id)).collect();
        (!lost.is_empty()).then(|| lost.join("; "))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectSeen {
    Proven { closeout: CloseoutMode, artifact: Digest },
    Unproven { faults: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSeen {
    pub id: String,
    pub branch: String,
    pub worktree: String,
    pub depends_on: Vec<String>,
    pub blocks_integration: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    pub state: WorkerState,
    /// Its branch holds something that the round's does not.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub outside: bool,
    /// What it changed and the round, which has its commits, does not hold: it is missing there, or as it was before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// What keeps the handoff that it left from being one, in sentences with file and line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerState {
    Pending,
    Running,
    Complete,
    Integrated,
    Blocked { why: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewSeen {
    Approved {
        closeout: CloseoutMode,
        /// Of the file that approves.
        artifact: Digest,
        /// Findings about the gate that it lets be.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waivers: Vec<Waiver>,
    },
    Rejected {
        target: RetryTarget,
        changes: Vec<String>,
    },
    /// A decision without what has to come with it.
    Unclassified {
        why: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseoutMode {
    StatusOnly,
    SemanticUpdateRequired,
    /// C: the round says nothing about the roadmap.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryTarget {
    Implement,
    Plan,
    Blocked,
}

/// The one roadmap update under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateSeen {
    pub trigger: UpdateTrigger,
    pub source_round: String,
    pub branch: String,
    pub worktree: String,
    pub prior_revision: String,
    pub proposed_revision: String,
    pub status: UpdateStatus,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<CommitId>,
    pub worktree_stands: bool,
    /// The update document and a valid next revision are there.
    pub authored: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub author_faults: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<UpdateReview>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review_faults: Vec<String>,
    /// Its revision is on the base branch already.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub merged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateTrigger {
    MergedRound,
    PlannerRequest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateStatus {
    Authoring,
    Review,
    Rejected,
    Approved,
    Blocked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateReview {
    Approved { artifact: Digest },
    Rejected { summary: String },
}

impl UpdateSeen {
    /// The approving file and the commit it stands on.
    pub(super) fn approval(&self) -> Option<(Digest, Option<CommitId>)> {
        match &self.review {
            Some(UpdateReview::Approved { artifact }) => Some((artifact.clone(), self.head.clone())),
            Some(UpdateReview::Rejected { .. }) | None => None,
        }
    }
}

impl Plane {
    pub fn round(&self, id: &str) -> Option<&RoundSeen> {
        self.rounds.iter().find(|round| round.id == id)
    }

    /// What workers of a live round made and it does not hold.
    pub fn lost_of(&self, round: &str) -> Option<String> {
        self.round(round)?.evidence.plan.as_ref()?.lost()
    }

    pub fn milestone(&self, id: &str) -> Option<&Milestone> {
        self.milestones.iter().find(|milestone| milestone.id == id)
    }

    pub fn direction(&self, id: &str) -> Option<&Direction> {
        self.directions.iter().find(|direction| direction.id == id)
    }

    /// Every milestone is done. A roadmap without milestones never gets here: reading refuses it.
    pub fn is_terminal(&self) -> bool {
        self.milestones.iter().all(|milestone| milestone.status == MilestoneStatus::Done)
    }

    pub fn unfinished(&self) -> impl Iterator<Item = &Milestone> {
        self.milestones.iter().filter(|milestone| milestone.status != MilestoneStatus::Done)
    }

    /// Nothing of it is left to do, and nothing stands in the way of saying so.
    pub fn is_complete(&self) -> bool {
        self.is_terminal() && self.rounds.is_empty() && self.update.is_none() && self.errors.is_empty()
    }

    /// Whether the active roadmap has this direction, in this milestone.
    pub fn has_lineage(&self, milestone: &str, direction: &str) -> bool {
        self.milestone(milestone).is_some()
            && self.direction(direction).is_some_and(|found| found.milestone == milestone)
    }

    fn is_done(&self, milestone: &str) -> bool {
        self.milestone(milestone).is_some_and(|found| found.status == MilestoneStatus::Done)
    }

    pub fn is_ready(&self, milestone: &Milestone) -> bool {
        milestone.status != MilestoneStatus::Done && milestone.depends_on.iter().all(|id| self.is_done(id))
    }

    /// Directions of ready milestones whose stated preconditions hold.
    pub fn candidates(&self) -> impl Iterator<Item = (&Milestone, &Direction)> {
        self.directions.iter().filter_map(|direction| {
            let milestone = self.milestone(&direction.milestone).filter(|found| self.is_ready(found))?;
            direction.preconditions.iter().all(|id| self.is_done(id)).then_some((milestone, direction))
        })
    }
}
