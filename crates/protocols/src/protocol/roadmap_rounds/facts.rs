//! What a roadmap loop decides, in its own words. Each fact carries what `evolve` and a reader of the log need, no more.

use super::end::End;
use super::plane::{CloseoutMode, Plane, RoundStage};
use super::steps::{GateLooked, Mechanism, PlaceTaken, RoundWork, UpdateOpened, WorkCaptured};
use crate::kernel::gate::{GateFinding, GateReport};
pub use crate::kernel::trouble::{OutKind, RetryKind};
use crate::outcome::Diagnosis;
use crate::vocabulary::{CommitId, Digest, Millis, Role, TreeId};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    BaseFixed {
        commit: CommitId,
    },
    /// The control plane as it is from now on, and what people did to it meanwhile.
    PlaneTaken {
        plane: Box<Plane>,
        noticed: Vec<String>,
    },
    /// A branch and a worktree are there; the state file follows.
    RoundOpened {
        round: String,
        branch: String,
        worktree: String,
        head: CommitId,
    },
    /// A round goes to another stage; the state file follows.
    StageDecided {
        round: String,
        from: RoundStage,
        to: RoundStage,
        why: Why,
    },
    /// An agent came back. What it left is taken down next, whether it was sound or not.
    WorkEnded {
        work: RoundWork,
        /// How it failed, if it did.
        failed: Option<String>,
    },
    WorkTaken {
        captured: Box<WorkCaptured>,
    },
    /// The review that lay there is history, and the next one is asked for.
    ReviewSetAside {
        work: RoundWork,
        head: CommitId,
    },
    /// What somebody else left in its worktrees is committed, and may count from now on.
    TakenUp {
        round: String,
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        update: bool,
        places: Vec<PlaceTaken>,
    },
    /// The base that moved, or what workers made, is in the round's branch.
    WorkCombined {
        round: String,
        head: CommitId,
        with: Vec<CommitId>,
        conflicts: Vec<String>,
    },
    /// It does not fit together with the base; that is brought into its branch next.
    MergeConflicted {
        round: String,
        paths: Vec<String>,
    },
    /// What the round did to what measures it, as far as that can be read.
    GateLooked {
        looked: Box<GateLooked>,
    },
    /// What the checks say of it without that.
    GateInspected {
        round: String,
        report: Box<GateReport>,
    },
    /// It is approved over findings that nobody waived, and a person is to be asked.
    GateHeld {
        round: String,
        findings: Vec<GateFinding>,
    },
    RoundMerged {
        round: String,
        commit: CommitId,
        tree: TreeId,
        closeout: CloseoutMode,
        at: Millis,
    },
    /// The record of a merged, cancelled or vanished round goes from the state file.
    RoundClosed {
        round: String,
        how: Closed,
    },
    /// Branch and worktree of a roadmap update are there; the state file follows.
    UpdateOpened(UpdateOpened),
    UpdateDecided {
        round: String,
        decided: UpdateStep,
    },
    UpdateMerged {
        round: String,
        commit: CommitId,
        revision: String,
    },
    /// Something else is tried with a stage that does not come to its end.
    RetryDecided {
        work: RoundWork,
        mechanism: Mechanism,
        attempt: u32,
        why: String,
    },
    /// An investigator is to look before anything else is tried.
    InvestigationDecided {
        work: RoundWork,
        why: String,
        /// The work is sound and its word stands; it is how it goes round and round that is looked into.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        pattern: bool,
    },
    Diagnosed {
        work: RoundWork,
        /// Absent where none could be had.
        diagnosis: Option<Diagnosis>,
    },
    RepairAsked {
        work: RoundWork,
        faults: Vec<String>,
    },
    /// The step came to no end and is asked for again as it was.
    StepRetried {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<RoundWork>,
        kind: RetryKind,
        why: String,
    },
    AgentOut {
        role: Role,
        agent: String,
        until: Millis,
        kind: OutKind,
        why: String,
        work: RoundWork,
    },
    /// What stood in the way is tried again from a lawful position; the state file follows.
    Recovered {
        /// Rounds with the stage they go on at.
        rounds: Vec<(String, RoundStage)>,
        update: bool,
    },
    /// The stage in the state file was stale.
    ControllerSet {
        stage: super::plane::ControllerStage,
        why: String,
    },
    /// Nothing lawful is left to try; the state file follows.
    Blocked {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<String>,
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        update: bool,
        /// Of an update: what its reviewer said last, where that is what it was given up for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejection: Option<String>,
        why: String,
    },
    Concluded {
        end: End,
    },
}

/// Why a round changes its stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    Planned {
        milestone: String,
        direction: String,
        item: String,
    },
    /// C: the planner did it all itself, and what it left proves it.
    Direct {
        artifact: Digest,
        head: Option<CommitId>,
    },
    Implemented,
    Approved {
        artifact: Digest,
        head: Option<CommitId>,
    },
    Rejected {
        changes: Vec<String>,
    },
    /// The review is no decision: `blocked` by the book, and reviewed again at once.
    Unclassified {
        why: String,
    },
    BaseMoved {
        conflicts: Vec<String>,
    },
    CloseoutStale {
        why: String,
    },
    /// The roadmap was revised since it was planned.
    RoadmapRevised {
        revision: String,
    },
    /// What it was planned on is gone: its direction, or what it waits for.
    PlanOutdated {
        why: String,
    },
    /// What its files claim is not so: nobody judged what is there, or a share is not in it.
    Unproven {
        why: String,
    },
    /// It was approved over findings about the gate that nobody waived by their names.
    NotWaived {
        findings: Vec<GateFinding>,
    },
    /// Its planner did it alone and said that it passes; checks of the engine say otherwise.
    ChecksRed {
        commands: Vec<String>,
    },
    /// The artifacts that are there prove it.
    Proven,
    /// Somebody wrote a stage into the state file that nothing proves.
    PutBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closed {
    Merged,
    /// Its planner asked for a roadmap update instead.
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateStep {
    Authored,
    Approved {
        artifact: Digest,
        head: Option<CommitId>,
    },
    Rejected {
        summary: String,
    },
    /// It is on the base branch: its revision becomes the active one.
    Activated {
        revision: String,
    },
    /// The base moved under it in the files it changes.
    SentBack {
        why: String,
    },
}

impl Fact {
    /// For logs and headings.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BaseFixed { .. } => "base-fixed",
            Self::PlaneTaken { .. } => "plane-taken",
            Self::RoundOpened { .. } => "round-opened",
            Self::StageDecided { .. } => "stage-decided",
            Self::WorkEnded { .. } => "work-ended",
            Self::WorkTaken { .. } => "work-taken",
            Self::ReviewSetAside { .. } => "review-set-aside",
            Self::TakenUp { .. } => "taken-up",
            Self::WorkCombined { .. } => "work-combined",
            Self::MergeConflicted { .. } => "merge-conflicted",
            Self::GateLooked { .. } => "gate-looked",
            Self::GateInspected { .. } => "gate-inspected",
            Self::GateHeld { .. } => "gate-held",
            Self::RoundMerged { .. } => "round-merged",
            Self::RoundClosed { .. } => "round-closed",
            Self::UpdateOpened(_) => "update-opened",
            Self::UpdateDecided { .. } => "update-decided",
            Self::UpdateMerged { .. } => "update-merged",
            Self::RetryDecided { .. } => "retry-decided",
            Self::InvestigationDecided { .. } => "investigation-decided",
            Self::Diagnosed { .. } => "diagnosed",
            Self::RepairAsked { .. } => "repair-asked",
            Self::StepRetried { .. } => "step-retried",
            Self::AgentOut { .. } => "agent-out",
            Self::Recovered { .. } => "recovered",
            Self::ControllerSet { .. } => "controller-set",
            Self::Blocked { .. } => "blocked",
            Self::Concluded { .. } => "concluded",
        }
    }
}

impl Why {
    /// What the next agent is told, and what the log says.
    pub fn words(&self) -> String {
        use alloc::format;
        match self {
            Self::Planned { milestone, direction, item } => {
                format!("planned: {item} of {direction}, milestone {milestone}")
            }
            Self::Direct { .. } => "the planner did and proved it itself".to_string(),
            Self::Implemented => "implemented".to_string(),
            Self::Approved { .. } => "approved".to_string(),
            Self::Rejected { changes } => format!("rejected: {}", changes.join("; ")),
            Self::Unclassified { why } => format!("the review is no decision: {why}"),
            Self::BaseMoved { conflicts } if conflicts.is_empty() => {
                "the base branch moved and was merged into the round: it is looked at again".to_string()
            }
            Self::BaseMoved { conflicts } => format!(
                "the base branch moved; merging it left conflicts to resolve in {}",
                conflicts.join(", ")
            ),
            Self::CloseoutStale { why } => format!("the approved closeout cannot be applied: {why}"),
            Self::RoadmapRevised { revision } => {
                format!("the roadmap was revised to {revision} since this round was planned")
            }
            Self::PlanOutdated { why } => format!("its plan cannot be kept any more: {why}"),
            Self::Unproven { why } => why.clone(),
            Self::NotWaived { findings } => {
                let words: Vec<String> = findings.iter().map(GateFinding::words).collect();
                format!(
                    "it was approved, but nobody waived what it did to its own measures: {}",
                    words.join("; ")
                )
            }
            Self::ChecksRed { commands } => {
                let named: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
                format!(
                    "its planner did it alone, but it does not pass {}: make it pass, or plan it for others",
                    named.join(", ")
                )
            }
            Self::Proven => "its artifacts prove it".to_string(),
            Self::PutBack => "the stage in the state file is not one it has reached".to_string(),
        }
    }
}

impl Closed {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Cancelled => "cancelled",
        }
    }
}
