//! The control plane as the scripts' world has it: one `Plane` that people, agents and the controller's own steps change. What
//! a run decides is not known here.

use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, DirectSeen, Direction, Evidence, Generation, Milestone, MilestoneStatus,
    ParallelHint, PlanSeen, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage, UpdateReview, UpdateSeen,
    UpdateStatus, UpdateTrigger, WorkerSeen, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;
use windlass_protocols::protocol::roadmap_rounds::steps::{StateEdit, UpdateOpened};
use windlass_protocols::{CommitId, Digest};

pub(crate) struct Desk {
    pub(crate) plane: Plane,
    pub(crate) counter: u32,
}

/// Two milestones in lanes of their own, one direction each, nothing live.
pub(crate) fn plane() -> Plane {
    Plane {
        generation: Generation::Records,
        state: Digest::new("state-0"),
        bundle: Digest::new("bundle-0"),
        stage: ControllerStage::DispatchRounds,
        base_branch: "main".to_owned(),
        base: CommitId::new("base-0"),
        roadmap_id: "2026-01-31-00-walls".to_owned(),
        revision: "rev-001".to_owned(),
        max_parallel: 1,
        rounds: Vec::new(),
        update: None,
        errors: std::collections::BTreeMap::new(),
        retry_noted: false,
        milestones: vec![milestone("M1", "a"), milestone("M2", "b")],
        directions: vec![direction("D1", "M1"), direction("D2", "M2")],
        merged_rounds: Vec::new(),
        merged_items: Vec::new(),
        next_number: 1,
        limits: RoundLimits::default(),
        oddities: Vec::new(),
    }
}

pub(crate) fn parallel(cap: u32) -> Plane {
    Plane { max_parallel: cap, ..plane() }
}

pub(crate) fn milestone(id: &str, lane: &str) -> Milestone {
    Milestone {
        id: id.to_owned(),
        title: format!("the {id}"),
        status: MilestoneStatus::Pending,
        depends_on: Vec::new(),
        lane: lane.to_owned(),
    }
}

pub(crate) fn direction(id: &str, milestone: &str) -> Direction {
    Direction {
        id: id.to_owned(),
        milestone: milestone.to_owned(),
        preconditions: Vec::new(),
        hint: ParallelHint::LaneSafe,
    }
}

/// A live round whose branch and worktree stand.
pub(crate) fn round(id: &str, stage: RoundStage) -> RoundSeen {
    RoundSeen {
        id: id.to_owned(),
        stage,
        branch: format!("orchestrator/{id}-walls"),
        worktree: format!("orchestrator/worktrees/{id}"),
        resume_error: None,
        head: Some(CommitId::new(format!("{id}@0"))),
        fork: Some(CommitId::new("base-0")),
        code_drifted: false,
        roadmap_drifted: false,
        worktree_stands: true,
        evidence: Evidence::default(),
    }
}

pub(crate) fn with_round(stage: RoundStage, evidence: Evidence) -> Plane {
    Plane { rounds: vec![RoundSeen { evidence, ..round("round-001", stage) }], next_number: 2, ..plane() }
}

pub(crate) fn plan(milestone: &str, direction: &str) -> PlanSeen {
    PlanSeen {
        milestone: milestone.to_owned(),
        direction: direction.to_owned(),
        item: format!("item-{direction}"),
        revision: "rev-001".to_owned(),
        depends_on_rounds: Vec::new(),
        merge_after_items: Vec::new(),
        parallel_group: None,
        workers: Vec::new(),
        direct: None,
    }
}

pub(crate) fn planned() -> Evidence {
    Evidence { plan: Some(plan("M1", "D1")), ..Evidence::default() }
}

pub(crate) fn implemented() -> Evidence {
    Evidence { notes: true, ..planned() }
}

pub(crate) fn approved(digest: &str, closeout: CloseoutMode) -> ReviewSeen {
    ReviewSeen::Approved { closeout, artifact: Digest::new(digest), waivers: Vec::new() }
}

pub(crate) fn rejected(target: RetryTarget) -> ReviewSeen {
    ReviewSeen::Rejected { target, changes: vec!["name it better".to_owned()] }
}

pub(crate) fn reviewed(review: ReviewSeen) -> Evidence {
    Evidence { review: Some(review), ..implemented() }
}

pub(crate) fn direct(digest: &str) -> PlanSeen {
    let artifact = Digest::new(digest);
    let proven = DirectSeen::Proven { closeout: CloseoutMode::StatusOnly, artifact };
    PlanSeen { direct: Some(proven), ..plan("M1", "D1") }
}

pub(crate) fn worker(id: &str) -> WorkerSeen {
    WorkerSeen {
        id: id.to_owned(),
        branch: format!("orchestrator/round-001-{id}"),
        worktree: format!("orchestrator/worktrees/round-001-{id}"),
        depends_on: Vec::new(),
        blocks_integration: true,
        head: None,
        state: WorkerState::Pending,
        outside: false,
        lost: Vec::new(),
        faults: Vec::new(),
    }
}

pub(crate) fn update(status: UpdateStatus) -> UpdateSeen {
    UpdateSeen {
        trigger: UpdateTrigger::MergedRound,
        source_round: "round-001".to_owned(),
        branch: "orchestrator/roadmap-update-round-001-walls".to_owned(),
        worktree: "orchestrator/worktrees/roadmap-update-round-001".to_owned(),
        prior_revision: "rev-001".to_owned(),
        proposed_revision: "rev-002".to_owned(),
        status,
        attempt: 1,
        resume_error: None,
        head: Some(CommitId::new("update@0")),
        fork: Some(CommitId::new("base-0")),
        worktree_stands: true,
        authored: false,
        author_faults: Vec::new(),
        review: None,
        review_faults: Vec::new(),
        merged: false,
    }
}

pub(crate) fn with_update(update: UpdateSeen) -> Plane {
    Plane { stage: ControllerStage::UpdateRoadmap, update: Some(update), next_number: 2, ..plane() }
}

pub(crate) fn update_approved(digest: &str) -> UpdateReview {
    UpdateReview::Approved { artifact: Digest::new(digest) }
}

pub(crate) fn update_rejected() -> UpdateReview {
    UpdateReview::Rejected { summary: "too coarse".to_owned() }
}

impl Desk {
    pub(crate) fn fresh(&mut self) -> u32 {
        self.counter += 1;
        self.counter
    }

    /// Somebody changed the state file.
    pub(crate) fn moved(&mut self) {
        let number = self.fresh();
        self.plane.state = Digest::new(format!("state-{number}"));
    }

    pub(crate) fn round(&mut self, id: &str) -> &mut RoundSeen {
        self.plane.rounds.iter_mut().find(|round| round.id == id).expect("the round is live")
    }

    pub(crate) fn update(&mut self) -> &mut UpdateSeen {
        self.plane.update.as_mut().expect("an update is under way")
    }

    pub(crate) fn set_review_aside(&mut self, branch: &str) {
        for round in self.plane.rounds.iter_mut().filter(|round| round.branch == branch) {
            round.evidence.review = None;
            round.evidence.review_faults.clear();
        }
        for update in self.plane.update.iter_mut().filter(|update| update.branch == branch) {
            update.review = None;
            update.review_faults.clear();
        }
    }

    pub(crate) fn apply(&mut self, edits: &[StateEdit]) {
        for edit in edits {
            self.edit(edit);
        }
        self.moved();
    }

    fn edit(&mut self, edit: &StateEdit) {
        let plane = &mut self.plane;
        let mut with_round = |id: &String, deed: &dyn Fn(&mut RoundSeen)| {
            plane.rounds.iter_mut().filter(|round| round.id == *id).for_each(deed);
        };
        match edit {
            StateEdit::RoundStage { round, stage } => with_round(round, &|seen| seen.stage = *stage),
            StateEdit::RoundError { round, error } => {
                with_round(round, &|seen| seen.resume_error.clone_from(error));
            }
            StateEdit::Stage { stage } => plane.stage = *stage,
            StateEdit::AddRound { round: id, branch, worktree } => {
                let (branch, worktree) = (branch.clone(), worktree.clone());
                let fork = Some(plane.base.clone());
                let opened = RoundSeen { branch, worktree, fork, ..round(id, RoundStage::Plan) };
                plane.rounds.push(opened);
                plane.next_number += 1;
            }
            StateEdit::RemoveRound { round } => plane.rounds.retain(|seen| seen.id != *round),
            StateEdit::OpenUpdate(opened) => plane.update = Some(begun(opened)),
            StateEdit::UpdateStatus { status } => with_update_of(plane, |update| update.status = *status),
            StateEdit::UpdateRejected { .. } => with_update_of(plane, |update| {
                update.status = UpdateStatus::Rejected;
                update.attempt += 1;
            }),
            StateEdit::LastRejection { .. } => {}
            StateEdit::UpdateError { error } => {
                with_update_of(plane, |update| update.resume_error.clone_from(error));
            }
            StateEdit::Activate { revision } => {
                plane.revision.clone_from(revision);
                plane.update = None;
            }
            StateEdit::ControllerError { error } => {
                plane.errors.insert("controller".to_owned(), error.clone());
            }
            StateEdit::ClearErrors => {
                plane.errors.clear();
                plane.rounds.iter_mut().for_each(|round| round.resume_error = None);
            }
            StateEdit::Retry { retry } => plane.retry_noted = retry.is_some(),
        }
    }
}

fn with_update_of(plane: &mut Plane, deed: impl FnOnce(&mut UpdateSeen)) {
    if let Some(update) = &mut plane.update {
        deed(update);
    }
}

fn begun(opened: &UpdateOpened) -> UpdateSeen {
    UpdateSeen {
        trigger: opened.trigger,
        source_round: opened.source_round.clone(),
        branch: opened.branch.clone(),
        worktree: opened.worktree.clone(),
        prior_revision: opened.prior_revision.clone(),
        proposed_revision: opened.proposed_revision.clone(),
        ..update(UpdateStatus::Authoring)
    }
}
