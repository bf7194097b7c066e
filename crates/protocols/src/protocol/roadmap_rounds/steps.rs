//! What a roadmap loop asks the world for beyond agents, and what comes back. Everything here can be carried out twice and
//! comes to the same.

use super::plane::{ControllerStage, Plane, RoundStage, UpdateStatus, UpdateTrigger};
use crate::effect::Effect;
use crate::kernel::gate::{GateFinding, TouchedPath};
use crate::outcome::Finding;
use crate::vocabulary::{CommitId, Digest, Millis, Role, TreeId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What the controller of a control plane does with its own hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneStep {
    /// Read state, roadmap and the artifacts of the live rounds.
    Read { pass: u32 },
    /// Change the state file in one piece.
    WriteState(WriteState),
    /// Make a branch and a worktree of it, or bring them back.
    OpenWorktree(OpenWorktree),
    /// Make what an agent left in a worktree a commit of its branch.
    CaptureWork(CaptureWork),
    /// Take a review that lies there out of the way of the next one.
    SetAside(SetAside),
    /// Commit what somebody else left in the worktrees of a round or of the roadmap update.
    TakeUp(TakeUp),
    /// Bring other commits into a round's branch.
    CombineWork(CombineWork),
    /// See what a round did to what measures it.
    LookAtGate(LookAtGate),
    /// Merge an approved round with its closeout.
    FinalizeRound(FinalizeRound),
    /// Merge an approved roadmap update.
    PublishUpdate(PublishUpdate),
}

impl PlaneStep {
    /// For logs and headings.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read-plane",
            Self::WriteState(_) => "write-state",
            Self::OpenWorktree(_) => "open-worktree",
            Self::CaptureWork(_) => "capture-work",
            Self::SetAside(_) => "set-aside",
            Self::TakeUp(_) => "take-up",
            Self::CombineWork(_) => "combine-work",
            Self::LookAtGate(_) => "look-at-gate",
            Self::FinalizeRound(_) => "finalize-round",
            Self::PublishUpdate(_) => "publish-update",
        }
    }

    /// What is waited for.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Read { .. } => "the control plane".to_string(),
            Self::WriteState(_) => "the state file".to_string(),
            Self::OpenWorktree(asked) => format!("the worktree {}", asked.worktree),
            Self::CaptureWork(asked) => format!("the snapshot of {}", asked.worktree),
            Self::SetAside(asked) => format!("the earlier review in {}", asked.worktree),
            Self::TakeUp(asked) => format!("what was left in the worktrees of {}", asked.round),
            Self::CombineWork(asked) => format!("merging into {}", asked.branch),
            Self::LookAtGate(asked) => format!("what {} did to its own measures", asked.round),
            Self::FinalizeRound(asked) => format!("the merge of {}", asked.round),
            Self::PublishUpdate(asked) => format!("the merge of the roadmap update to {}", asked.revision),
        }
    }
}

impl From<PlaneStep> for Effect {
    fn from(step: PlaneStep) -> Self {
        Self::Plane(step)
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneOutcome {
    Read(Box<Plane>),
    /// With what the state file holds now.
    StateWritten {
        state: Digest,
    },
    /// Somebody changed the state file since it was read; nothing was written.
    StateMoved,
    WorktreeOpened {
        head: CommitId,
    },
    WorkCaptured(Box<WorkCaptured>),
    /// No review lies there any more; the branch has this newest commit.
    SetAside {
        head: CommitId,
        /// What stood there uncommitted and was put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
    },
    /// Everything that lay there is committed; one for each place that was asked for.
    TakenUp {
        places: Vec<PlaceTaken>,
    },
    WorkCombined {
        head: CommitId,
        /// Files that do not fit together; the places are marked in them.
        conflicts: Vec<String>,
        /// What stood there uncommitted and was put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
    },
    GateLooked(Box<GateLooked>),
    /// A round or a roadmap update is one commit of the base branch now.
    Merged {
        commit: CommitId,
        tree: TreeId,
    },
    Held(Held),
    /// It was done, and the plane was read right afterwards: whoever did it stood there already.
    Looked {
        after: Box<PlaneOutcome>,
        plane: Box<Plane>,
    },
}

impl PlaneOutcome {
    /// What came of the step itself, whether the plane was read afterwards or not.
    pub const fn itself(&self) -> &Self {
        match self {
            Self::Looked { after, .. } => after,
            outcome => outcome,
        }
    }

    /// Whether something was done after which the plane has to be read again.
    pub const fn is_a_deed(&self) -> bool {
        match self {
            Self::StateWritten { .. }
            | Self::WorktreeOpened { .. }
            | Self::WorkCaptured(_)
            | Self::SetAside { .. }
            | Self::TakenUp { .. }
            | Self::WorkCombined { .. }
            | Self::Merged { .. } => true,
            Self::Read(_) | Self::StateMoved | Self::GateLooked(_) | Self::Held(_) | Self::Looked { .. } => {
                false
            }
        }
    }

    pub(crate) fn fits(&self, step: &PlaneStep) -> bool {
        match (self, step) {
            (Self::Looked { after, .. }, step) => after.is_a_deed() && after.fits(step),
            (Self::Read(_), PlaneStep::Read { .. })
            | (Self::StateWritten { .. } | Self::StateMoved, PlaneStep::WriteState(_))
            | (Self::WorktreeOpened { .. }, PlaneStep::OpenWorktree(_))
            | (Self::SetAside { .. }, PlaneStep::SetAside(_))
            | (Self::TakenUp { .. }, PlaneStep::TakeUp(_))
            | (Self::WorkCombined { .. }, PlaneStep::CombineWork(_))
            | (
                Self::Merged { .. } | Self::Held(_),
                PlaneStep::FinalizeRound(_) | PlaneStep::PublishUpdate(_),
            ) => true,
            (Self::WorkCaptured(captured), PlaneStep::CaptureWork(asked)) => captured.work == asked.work,
            (Self::GateLooked(looked), PlaneStep::LookAtGate(asked)) => {
                (&looked.round, &looked.fork, &looked.head) == (&asked.round, &asked.fork, &asked.head)
            }
            _ => false,
        }
    }
}

/// One piece of work by one agent, named so that it is found again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoundWork {
    /// The round; of a roadmap update the round it came from.
    pub round: String,
    pub kind: WorkKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    Plan,
    Implement,
    /// One share of work that was fanned out.
    Worker {
        worker: String,
    },
    /// Brings the shares together.
    Integrate,
    Review,
    AuthorUpdate,
    ReviewUpdate,
    /// Looks at what went wrong; `update` tells whether with the round or with its roadmap update.
    Investigate {
        update: bool,
    },
}

impl WorkKind {
    pub const fn role(&self) -> Role {
        match self {
            Self::Plan | Self::AuthorUpdate => Role::Planner,
            Self::Implement | Self::Worker { .. } | Self::Integrate => Role::Implementer,
            Self::Review | Self::ReviewUpdate => Role::Reviewer,
            Self::Investigate { .. } => Role::Investigator,
        }
    }

    pub const fn is_of_update(&self) -> bool {
        matches!(self, Self::AuthorUpdate | Self::ReviewUpdate | Self::Investigate { update: true })
    }

    /// What the agent's program is told that it is at: several works of one round have the same role.
    pub fn label(&self) -> &str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Worker { worker } => worker,
            Self::Integrate => "integrate",
            Self::Review => "review",
            Self::AuthorUpdate => "author-update",
            Self::ReviewUpdate => "review-update",
            Self::Investigate { .. } => "investigate",
        }
    }

    /// What follows the round's name in a log.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Plan => "planning",
            Self::Implement => "implementation",
            Self::Worker { .. } => "a worker's share",
            Self::Integrate => "integration",
            Self::Review => "review",
            Self::AuthorUpdate => "the roadmap update",
            Self::ReviewUpdate => "the review of the roadmap update",
            Self::Investigate { .. } => "the investigation",
        }
    }
}

/// One atomic change of the state file. `seen` must be its content when the edits were decided; what is there already is
/// left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteState {
    pub seen: Digest,
    pub edits: Vec<StateEdit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateEdit {
    Stage {
        stage: ControllerStage,
    },
    AddRound {
        round: String,
        branch: String,
        worktree: String,
    },
    RoundStage {
        round: String,
        stage: RoundStage,
    },
    RoundError {
        round: String,
        error: Option<String>,
    },
    RemoveRound {
        round: String,
    },
    /// Begins the roadmap update.
    OpenUpdate(UpdateOpened),
    UpdateStatus {
        status: UpdateStatus,
    },
    /// Status `rejected`, one more attempt, and what the reviewer said.
    UpdateRejected {
        summary: String,
    },
    /// What the reviewer said last, where no attempt follows it.
    LastRejection {
        summary: String,
    },
    UpdateError {
        error: Option<String>,
    },
    /// The proposed revision is the active one from now on, and the update's record goes.
    Activate {
        revision: String,
    },
    ControllerError {
        error: String,
    },
    /// Every resume error goes: the controller's and those of records.
    ClearErrors,
    Retry {
        retry: Option<RetryNote>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateOpened {
    pub trigger: UpdateTrigger,
    pub source_round: String,
    pub branch: String,
    pub worktree: String,
    pub prior_revision: String,
    pub proposed_revision: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryNote {
    pub of_update: bool,
    pub id: String,
    pub stage: String,
    pub mechanism: Mechanism,
    pub attempt: u32,
    pub review_cycles: u32,
}

/// In which way a stage is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    SameHandle,
    FreshAgent,
    OtherAdapter,
}

impl Mechanism {
    pub const fn words(self) -> &'static str {
        match self {
            Self::SameHandle => "by the same agent",
            Self::FreshAgent => "by a fresh agent",
            Self::OtherAdapter => "by another agent",
        }
    }
}

/// Makes a branch and a worktree of it, or brings them back as they are recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenWorktree {
    pub branch: String,
    pub worktree: String,
    /// Where a branch begins that is not there yet.
    pub from: CommitId,
    pub purpose: WorktreePurpose,
    pub decided_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorktreePurpose {
    Round {
        round: String,
    },
    Worker {
        round: String,
        worker: String,
    },
    /// Of a planner's request the request itself is copied byte for byte and committed.
    Update(UpdateOpened),
    /// The branch is there, the worktree is gone.
    Reopen {
        round: String,
    },
}

/// Makes what an agent left in its worktree a commit of its branch. What was not its to write is put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureWork {
    pub work: RoundWork,
    pub branch: String,
    pub worktree: String,
    /// What the agent was shown.
    pub parent: CommitId,
    pub decided_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCaptured {
    pub work: RoundWork,
    /// The branch's newest commit: the parent's where nothing was changed.
    pub commit: CommitId,
    pub tree: TreeId,
    pub files_changed: u64,
    /// Files that were not this role's to write. They were put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
    /// Where everything that was found is kept, where something was put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// What lies there and is ignored by the repository's rules, so that nobody merges it; a whole directory counts once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Why this must not be looked at as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hazards: Vec<String>,
}

/// Looks at a round from where it left the base branch to its newest commit. Nothing is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookAtGate {
    pub round: String,
    pub fork: CommitId,
    pub head: CommitId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateLooked {
    pub round: String,
    pub fork: CommitId,
    pub head: CommitId,
    /// The contents of the two.
    pub base: TreeId,
    pub tree: TreeId,
    /// Protected paths that differ between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<GateFinding>,
}

/// Something that was taken away and can be had again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// As it is named among the kept things.
    pub id: String,
    /// What it is given back as.
    pub branch: String,
}

impl Kept {
    pub fn way_back(&self) -> String {
        format!("all of it is kept: `windlass undo {}` gives it back as the branch {}", self.id, self.branch)
    }
}

/// Makes what lies uncommitted in the worktrees of a round, of its workers or of the roadmap update commits of their
/// branches. Somebody else left it, and nothing counts that is not committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUp {
    /// The round; of the roadmap update the round it came from.
    pub round: String,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub update: bool,
    /// Its own place first, then its workers'.
    pub places: Vec<PlaceLeft>,
    pub decided_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceLeft {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    pub branch: String,
    pub worktree: String,
    pub head: CommitId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceTaken {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// What was committed before.
    pub before: CommitId,
    /// The branch's newest commit: the one before where nothing lay there.
    pub commit: CommitId,
    pub files_changed: u64,
    /// All of that is a reviewer's to write, so that its word may be about what was committed before.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub only_review: bool,
    /// Files of the control plane that belong to nobody who works there. They were put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// As of work that was captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl PlaceTaken {
    /// Nothing lies there that is not committed.
    pub fn untouched(left: &PlaceLeft) -> Self {
        Self {
            worker: left.worker.clone(),
            before: left.head.clone(),
            commit: left.head.clone(),
            files_changed: 0,
            only_review: false,
            put_back: Vec::new(),
            kept: None,
            ignored: Vec::new(),
        }
    }

    /// Something was committed that a review which lies there need not be about.
    pub const fn is_unjudged(&self) -> bool {
        self.files_changed > 0 && !self.only_review
    }
}

/// Takes the files of a reviewer out of a worktree, by a commit of its branch: they stay in its history, and whatever lies
/// there when the next reviewer comes back is that one's word, even if it is the same to the byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The review that is about to be asked for.
    pub work: RoundWork,
    pub branch: String,
    pub worktree: String,
    /// What the branch holds that was taken down.
    pub parent: CommitId,
    pub decided_at: Millis,
}

/// Brings commits into a round's branch: the base that moved, or what workers made. Where they do not fit together the
/// places are marked in the files, for the implementer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CombineWork {
    pub round: String,
    pub branch: String,
    pub worktree: String,
    pub head: CommitId,
    pub with: Vec<CommitId>,
    pub decided_at: Millis,
}

/// Merges an approved round: closeout, one squash commit on the base branch, nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalizeRound {
    pub round: String,
    pub branch: String,
    pub worktree: String,
    pub head: CommitId,
    /// The base branch as it was when this was decided admissible.
    pub base: CommitId,
    /// The base moved since the round left it, but only the control plane did.
    pub refreshed: bool,
    /// Of the file that approves: exactly this one is applied.
    pub approval: Digest,
    /// What its reviewer was shown; absent where nobody here saw it begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<CommitId>,
    pub decided_at: Millis,
}

/// Merges an approved roadmap update into the base branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishUpdate {
    pub source_round: String,
    pub branch: String,
    pub worktree: String,
    pub head: CommitId,
    pub base: CommitId,
    pub revision: String,
    pub approval: Digest,
    pub decided_at: Millis,
}

/// Why a merge was not made. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// The base branch is not where it was: everything is looked at again.
    BaseMoved,
    /// What was approved cannot be applied any more, or is not what the files say.
    Stale { why: String },
    /// It does not fit together with the base.
    Conflicts { paths: Vec<String> },
    /// The user's checkout or branch is in the way; only a person can help.
    InTheWay { why: String },
}
