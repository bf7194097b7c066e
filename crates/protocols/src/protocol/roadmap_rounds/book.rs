//! What the loop remembers about a round, a roadmap update and a piece of work beyond what their files say: who was asked,
//! what came back, how often something was tried, what exactly was approved.

use super::integrity::RoundGate;
use super::plane::{
    DirectSeen, Evidence, RetryTarget, ReviewSeen, RoundSeen, RoundStage, UpdateSeen, UpdateStatus,
};
use super::spec::RoadmapSpec;
use super::steps::{FinalizeRound, PublishUpdate, RoundWork, WorkCaptured, WorkKind};
use crate::kernel::attempts::Attempts;
use crate::kernel::conversation::LastSession;
use crate::vocabulary::{ArtifactRef, CommitId, Digest, Role};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    pub rounds: BTreeMap<String, RoundBook>,
    /// Of the one update, by the round it came from.
    pub update: Option<(String, UpdateBook)>,
    pub works: BTreeMap<RoundWork, Work>,
}

/// A live round as the loop has agreed on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundBook {
    pub stage: RoundStage,
    /// How often it was sent back, by a reviewer or for what its merge found.
    pub review_cycles: u32,
    /// How often of these by a reviewer.
    pub rejected: u32,
    /// Reviews that were no decision.
    pub unclassified: u32,
    /// Exactly what was approved: the approving file, and the commit it was about.
    pub approval: Option<(Digest, Option<CommitId>)>,
    /// It is on the base branch.
    pub merged: bool,
    /// The merge that was asked for and that nobody saw the end of: asked once more, it tells which commit it became.
    pub finalizing: Option<FinalizeRound>,
    /// What the next agent of the round is told.
    pub told: Vec<String>,
    /// It stood in the state file before this run looked.
    pub found: bool,
    /// Whatever lay in its worktrees then is committed.
    pub taken_up: bool,
    /// Some of that was not there when a review was written that lies there, as far as anybody knows.
    pub unjudged: bool,
    /// What its reviewer was shown that approved it.
    pub judged: Option<CommitId>,
    /// What its worktree holds and no merge takes along, for git is told to ignore it.
    pub ignored: Vec<String>,
    /// Conflicts with the base that nobody resolved yet.
    pub conflicts: Vec<String>,
    /// The heads of the workers that were brought into its branch.
    pub gathered: Vec<CommitId>,
    /// What it did to what measures it.
    pub gate: RoundGate,
    /// The stage it was at when it was given up.
    pub blocked_at: Option<RoundStage>,
    /// It did not fit together with the base when it was to be merged.
    pub must_combine: bool,
    /// How often that was so.
    pub conflicted: u32,
    /// Somebody else moved the base since the two were last judged together.
    pub outpaced: bool,
    /// How often its worktree was brought back without being seen to stand since.
    pub reopened: u32,
}

impl RoundBook {
    pub(super) fn opened() -> Self {
        Self {
            stage: RoundStage::Plan,
            review_cycles: 0,
            rejected: 0,
            unclassified: 0,
            approval: None,
            merged: false,
            finalizing: None,
            told: Vec::new(),
            found: false,
            taken_up: true,
            unjudged: false,
            judged: None,
            ignored: Vec::new(),
            conflicts: Vec::new(),
            gathered: Vec::new(),
            gate: RoundGate::default(),
            blocked_at: None,
            must_combine: false,
            conflicted: 0,
            outpaced: false,
            reopened: 0,
        }
    }

    /// A round that somebody else's controller left, as its record and its artifacts have it.
    pub(super) fn found(round: &RoundSeen, spec: &RoadmapSpec) -> Self {
        Self {
            stage: round.stage,
            approval: approval_at(round, round.stage, spec),
            merged: round.evidence.merged,
            found: true,
            taken_up: false,
            ..Self::opened()
        }
    }
}

/// What another controller's round was approved by, if it is at the stage for that.
pub(super) fn approval_at(
    round: &RoundSeen,
    stage: RoundStage,
    spec: &RoadmapSpec,
) -> Option<(Digest, Option<CommitId>)> {
    let direct = round.evidence.plan.as_ref().and_then(|plan| plan.direct.as_ref());
    let ((Some(ReviewSeen::Approved { artifact, .. }), _) | (_, Some(DirectSeen::Proven { artifact, .. }))) =
        (&round.evidence.review, direct)
    else {
        return None;
    };
    let counts = stage == RoundStage::FinalizeRound && spec.believes(&round.id, false, artifact);
    counts.then(|| (artifact.clone(), round.head.clone()))
}

/// Whether somebody else's artifacts of this stage speak for it: they are there, and no review says that they must not.
pub(super) fn speaks_for(evidence: &Evidence, stage: RoundStage) -> bool {
    let rejected_here = matches!(
        (&evidence.review, stage),
        (
            Some(ReviewSeen::Rejected { target: RetryTarget::Plan | RetryTarget::Blocked, .. }),
            RoundStage::Plan
        ) | (Some(ReviewSeen::Rejected { target: RetryTarget::Implement, .. }), RoundStage::Implement)
    );
    !rejected_here
        && match stage {
            RoundStage::Plan => evidence.plan.is_some() || evidence.request,
            RoundStage::Implement => evidence.notes,
            RoundStage::Review => matches!(evidence.review, Some(ReviewSeen::Approved { .. })),
            RoundStage::FinalizeRound | RoundStage::Blocked => true,
        }
}

/// The stage that artifacts lawfully prove, whatever the state file says.
pub fn proven(evidence: &Evidence) -> RoundStage {
    match (&evidence.review, &evidence.plan) {
        (Some(ReviewSeen::Approved { .. }), Some(plan)) if evidence.notes || plan.direct.is_some() => {
            RoundStage::FinalizeRound
        }
        (Some(ReviewSeen::Rejected { target: RetryTarget::Plan | RetryTarget::Blocked, .. }), _)
        | (_, None) => RoundStage::Plan,
        (
            Some(ReviewSeen::Approved { .. } | ReviewSeen::Rejected { target: RetryTarget::Implement, .. }),
            Some(_),
        ) => RoundStage::Implement,
        (_, Some(plan)) if matches!(plan.direct, Some(DirectSeen::Proven { .. })) => {
            RoundStage::FinalizeRound
        }
        (Some(ReviewSeen::Unclassified { .. }) | None, Some(_)) if evidence.notes => RoundStage::Review,
        (Some(ReviewSeen::Unclassified { .. }) | None, Some(_)) => RoundStage::Implement,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateBook {
    /// The status as the loop has agreed on it.
    pub status: Option<UpdateStatus>,
    pub approval: Option<(Digest, Option<CommitId>)>,
    pub merged: bool,
    /// The publication that nobody saw the end of.
    pub publishing: Option<PublishUpdate>,
    pub told: Vec<String>,
    /// How often what was approved could not be merged.
    pub sent_back: u32,
    /// How often its worktree was brought back without being seen to stand since.
    pub reopened: u32,
    /// It stood in the state file before this run looked, and what lies in its worktree is not committed yet.
    pub to_take_up: bool,
}

impl UpdateBook {
    pub(super) fn found(update: &UpdateSeen, spec: &RoadmapSpec) -> Self {
        let approval = update.approval().filter(|(artifact, _)| {
            update.status == UpdateStatus::Approved && spec.believes(&update.source_round, true, artifact)
        });
        let (status, merged) = (Some(update.status), update.merged);
        Self { status, approval, merged, to_take_up: true, ..Self::default() }
    }
}

/// One piece of work of one agent, over all the times it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Times asked, ever.
    pub asked: u32,
    pub phase: Phase,
    /// It came back since its stage was entered, so that what lies there is its word.
    pub came_back: bool,
    /// The commit it was first shown of what was not taken down yet. Its own commits on top of that are what it left.
    pub shown: Option<CommitId>,
    /// The commit that what it left became: its word is about exactly that.
    pub taken: Option<CommitId>,
    /// What it was shown when it left that.
    pub about: Option<CommitId>,
    /// Of a review: what lay there was set aside, so that whatever lies there from now on is new.
    pub cleared: bool,
    /// What it left could not be taken down, so that nothing of it counts: it is looked at again before anybody else is asked.
    pub untaken: bool,
    /// It was asked for a stage that is over, or for a round that is gone: nothing of it counts when it comes back.
    pub outdated: bool,
    pub attempts: Attempts,
    /// Tries of the present stage that came to nothing, since it was entered.
    pub failures: u32,
    pub investigated: bool,
    /// Of an investigation: the work that does not get on.
    pub investigating: Option<RoundWork>,
    /// Somebody else than before is asked, without the conversation so far.
    pub afresh: bool,
    pub session: Option<LastSession>,
    pub repairing: Option<Vec<String>>,
    pub left: Option<ArtifactRef>,
    /// Why it is tried again, and what an investigator said.
    pub told: Vec<String>,
    pub last_failure: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Idle,
    /// An agent is at it, or is waited for.
    Asked,
    /// It came back, sound or not; what it left is to be taken down.
    Left {
        failed: Option<String>,
    },
    Capturing {
        failed: Option<String>,
    },
    /// It came to nothing: what to try next is to be decided.
    Failed {
        why: String,
    },
}

impl Work {
    /// A new stage is entered: what was tried before is over, the conversation is kept.
    pub(super) fn begin_anew(&mut self) {
        let (asked, session, shown) = (self.asked, self.session.take(), self.shown.take());
        let (outdated, untaken) = (self.is_under_way(), self.untaken);
        let phase = if outdated { core::mem::take(&mut self.phase) } else { Phase::Idle };
        *self = Self { asked, phase, shown, untaken, outdated, session, ..Self::default() };
    }

    /// What lay in its place is history, and whoever is asked is told so.
    pub(super) fn clear(&mut self, told: &str) {
        (self.cleared, self.shown) = (true, None);
        self.told.push(told.into());
    }

    /// What could not be taken down before is being taken down now.
    pub(super) const fn is_taken_down_again(&self) -> bool {
        self.untaken && matches!(self.phase, Phase::Left { .. } | Phase::Capturing { .. })
    }

    /// The run is taken up again: somebody may have mended what kept it from being taken down.
    pub(super) fn is_left_again(&mut self) {
        self.phase = Phase::Left { failed: None };
    }

    /// Nobody is at it any more.
    pub(super) fn is_over(&mut self) {
        self.phase = Phase::Idle;
        self.outdated = false;
    }

    pub const fn is_under_way(&self) -> bool {
        matches!(self.phase, Phase::Asked | Phase::Left { .. } | Phase::Capturing { .. })
    }
}

impl Book {
    /// The commit a sound agent's word is about; for work that somebody else's agent left, what is there.
    pub(super) fn judged(&self, work: &RoundWork, there: Option<&CommitId>) -> Option<CommitId> {
        let taken = self.works.get(work).and_then(|known| known.taken.clone());
        taken.or_else(|| there.cloned())
    }

    /// What lies in the worktree of somebody who writes code and is in no commit.
    pub(super) fn note_ignored(&mut self, captured: &WorkCaptured) {
        let kind = &captured.work.kind;
        let makes = matches!(kind.role(), Role::Implementer | Role::Planner) && !kind.is_of_update();
        let Some(book) = self.rounds.get_mut(&captured.work.round).filter(|_| makes) else { return };
        // Shares are looked at one by one, and what is in their worktrees is not in the round's.
        if !matches!(kind, WorkKind::Worker { .. } | WorkKind::Integrate) {
            book.ignored.clear();
        }
        let new: Vec<String> =
            captured.ignored.iter().filter(|name| !book.ignored.contains(name)).cloned().collect();
        book.ignored.extend(new);
    }

    pub(super) fn work(&mut self, work: &RoundWork) -> &mut Work {
        self.works.entry(work.clone()).or_default()
    }

    /// Every kind of work of a round begins anew, because it entered another stage.
    pub(super) fn begin_stage(&mut self, round: &str, of_update: bool) {
        for (work, book) in &mut self.works {
            if work.round == round && work.kind.is_of_update() == of_update {
                book.begin_anew();
            }
        }
    }

    /// The branch was moved by the controller: whoever is asked next is shown what it holds now.
    pub(super) fn show_anew(&mut self, round: &str) {
        let own = |work: &RoundWork| {
            let elsewhere = matches!(work.kind, WorkKind::Worker { .. }) || work.kind.is_of_update();
            work.round == round && !elsewhere
        };
        for (_, known) in self.works.iter_mut().filter(|(work, known)| own(work) && !known.is_under_way()) {
            known.shown = None;
        }
    }

    /// Somebody saw how the merge that was asked for ended; there is one at a time.
    pub(super) fn forget_merges(&mut self) {
        self.rounds.values_mut().for_each(|book| book.finalizing = None);
        self.update.iter_mut().for_each(|(_, book)| book.publishing = None);
    }

    pub(super) fn forget(&mut self, round: &str) {
        self.rounds.remove(round);
        self.let_go(|work| work.round == round && !work.kind.is_of_update());
    }

    pub(super) fn forget_update(&mut self) {
        self.update = None;
        self.let_go(|work| work.kind.is_of_update());
    }

    /// Whoever is still at it is waited for, so that nobody else is asked where they work.
    fn let_go(&mut self, of: impl Fn(&RoundWork) -> bool) {
        self.works.retain(|work, known| {
            if of(work) {
                known.begin_anew();
            }
            !of(work) || known.outdated
        });
    }

    pub fn is_busy(&self, round: &str, of_update: bool) -> bool {
        self.works.iter().any(|(work, book)| {
            work.round == round && work.kind.is_of_update() == of_update && book.is_under_way()
        })
    }
}

/// The work that a stage is for, where it is one piece.
pub(super) fn of_stage(round: &str, stage: RoundStage) -> Option<RoundWork> {
    let kind = match stage {
        RoundStage::Plan => WorkKind::Plan,
        RoundStage::Implement => WorkKind::Implement,
        RoundStage::Review => WorkKind::Review,
        RoundStage::FinalizeRound | RoundStage::Blocked => return None,
    };
    Some(RoundWork { round: round.into(), kind })
}
