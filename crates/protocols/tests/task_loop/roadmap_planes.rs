//! Control planes for the stored form of the roadmap loop's facts: one with nothing that may be absent, one with everything.

use crate::harness::words::lines;
use crate::roadmap_facts::{branch, commit, digest, round, stages_of_rounds, why, worktree};
use std::collections::BTreeMap;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, DirectSeen, Direction, Evidence, Generation, Milestone, MilestoneStatus,
    ParallelHint, PlanSeen, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage, UpdateReview, UpdateSeen,
    UpdateStatus, UpdateTrigger, WorkerSeen, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;

/// With nothing that may be absent.
pub(crate) fn bare_plane() -> Plane {
    Plane {
        generation: Generation::Records,
        state: digest(),
        bundle: digest(),
        stage: ControllerStage::DispatchRounds,
        base_branch: "main".to_owned(),
        base: commit(),
        roadmap_id: "2026-01-31-00-walls".to_owned(),
        revision: "rev-001".to_owned(),
        max_parallel: 1,
        rounds: Vec::new(),
        update: None,
        errors: BTreeMap::new(),
        retry_noted: false,
        milestones: Vec::new(),
        directions: Vec::new(),
        merged_rounds: Vec::new(),
        merged_items: Vec::new(),
        next_number: 1,
        limits: RoundLimits::default(),
        oddities: Vec::new(),
    }
}

/// With everything there can be.
pub(crate) fn full_plane() -> Plane {
    let milestone = |(status, id): (MilestoneStatus, &str)| Milestone {
        id: id.to_owned(),
        title: format!("the {id}"),
        status,
        depends_on: lines(&["M0"]),
        lane: "a".to_owned(),
    };
    let direction = |(hint, id): (ParallelHint, &str)| Direction {
        id: id.to_owned(),
        milestone: "M1".to_owned(),
        preconditions: lines(&["M0"]),
        hint,
    };
    let statuses = [MilestoneStatus::Pending, MilestoneStatus::InProgress, MilestoneStatus::Done];
    let hints = [ParallelHint::Serial, ParallelHint::LaneSafe, ParallelHint::Unstated];
    Plane {
        generation: Generation::StructuredMarkdown,
        rounds: evidences().into_iter().zip(stages_of_rounds().cycle()).map(round_seen).collect(),
        update: Some(update_seen(UpdateReview::Approved { artifact: digest() })),
        errors: BTreeMap::from([("controller".to_owned(), why())]),
        retry_noted: true,
        milestones: statuses.into_iter().zip(["M1", "M2", "M3"]).map(milestone).collect(),
        directions: hints.into_iter().zip(["D1", "D2", "D3"]).map(direction).collect(),
        merged_rounds: lines(&["round-000"]),
        merged_items: lines(&["item-0"]),
        oddities: lines(&["an unknown key was kept"]),
        ..bare_plane()
    }
}

fn round_seen((evidence, stage): (Evidence, RoundStage)) -> RoundSeen {
    RoundSeen {
        id: round(),
        stage,
        branch: branch(),
        worktree: worktree(),
        resume_error: Some(why()),
        head: Some(commit()),
        fork: Some(commit()),
        code_drifted: true,
        roadmap_drifted: false,
        worktree_stands: true,
        evidence,
    }
}

fn evidences() -> Vec<Evidence> {
    let states = [
        WorkerState::Pending,
        WorkerState::Running,
        WorkerState::Complete,
        WorkerState::Integrated,
        WorkerState::Blocked { why: why() },
    ];
    let worker = |state| WorkerSeen {
        id: "w1".to_owned(),
        branch: branch(),
        worktree: worktree(),
        depends_on: lines(&["w0"]),
        blocks_integration: true,
        head: Some(commit()),
        state,
        outside: false,
        lost: Vec::new(),
        faults: Vec::new(),
    };
    let plan = |direct| PlanSeen {
        milestone: "M1".to_owned(),
        direction: "D1".to_owned(),
        item: "item-1".to_owned(),
        revision: "rev-001".to_owned(),
        depends_on_rounds: lines(&["round-000"]),
        merge_after_items: lines(&["item-0"]),
        parallel_group: Some("both".to_owned()),
        workers: states.iter().cloned().map(worker).collect(),
        direct: Some(direct),
    };
    let modes = [CloseoutMode::StatusOnly, CloseoutMode::SemanticUpdateRequired, CloseoutMode::None];
    let targets = [RetryTarget::Implement, RetryTarget::Plan, RetryTarget::Blocked];
    let approved = |closeout| ReviewSeen::Approved { closeout, artifact: digest(), waivers: Vec::new() };
    let rejected = |target| ReviewSeen::Rejected { target, changes: lines(&["name it better"]) };
    let mut reviews: Vec<ReviewSeen> = modes.into_iter().map(approved).collect();
    reviews.extend(targets.map(rejected));
    reviews.push(ReviewSeen::Unclassified { why: why() });
    let proven = DirectSeen::Proven { closeout: CloseoutMode::None, artifact: digest() };
    let unproven = DirectSeen::Unproven { faults: lines(&["no result"]) };
    let reviewed = |review| Evidence { notes: true, review: Some(review), ..Evidence::default() };
    let mut evidences: Vec<Evidence> = reviews.into_iter().map(reviewed).collect();
    evidences.push(Evidence { plan: Some(plan(proven)), ..Evidence::default() });
    evidences.push(Evidence {
        request: true,
        plan: Some(plan(unproven)),
        plan_faults: lines(&["plan.md: no goal"]),
        notes_faults: lines(&["notes: no tests"]),
        review_faults: lines(&["review: no decision"]),
        merged: true,
        merged_without_closeout: true,
        ..Evidence::default()
    });
    evidences
}

/// With a share that was left without a handoff that can be read, and that the round does not hold.
pub(crate) fn plane_with_an_unfinished_share() -> Plane {
    let worker = WorkerSeen {
        id: "w1".to_owned(),
        branch: branch(),
        worktree: worktree(),
        depends_on: Vec::new(),
        blocks_integration: true,
        head: Some(commit()),
        state: WorkerState::Running,
        outside: true,
        lost: Vec::new(),
        faults: lines(&["workers/w1/handoff.md: there is no line `Status:`"]),
    };
    plane_with(worker)
}

/// With a share that is in the round, but for a file that whoever integrated it dropped.
pub(crate) fn plane_with_a_lost_share() -> Plane {
    plane_with(WorkerSeen {
        id: "w1".to_owned(),
        branch: branch(),
        worktree: worktree(),
        depends_on: Vec::new(),
        blocks_integration: true,
        head: Some(commit()),
        state: WorkerState::Integrated,
        outside: false,
        lost: lines(&["src/one.rs"]),
        faults: Vec::new(),
    })
}

fn plane_with(worker: WorkerSeen) -> Plane {
    let plan = PlanSeen {
        milestone: "M1".to_owned(),
        direction: "D1".to_owned(),
        item: "item-1".to_owned(),
        revision: "rev-001".to_owned(),
        depends_on_rounds: Vec::new(),
        merge_after_items: Vec::new(),
        parallel_group: None,
        workers: vec![worker],
        direct: None,
    };
    let evidence = Evidence { plan: Some(plan), ..Evidence::default() };
    Plane { rounds: vec![round_seen((evidence, RoundStage::Implement))], ..bare_plane() }
}

pub(crate) fn update_seen(review: UpdateReview) -> UpdateSeen {
    UpdateSeen {
        trigger: UpdateTrigger::PlannerRequest,
        source_round: round(),
        branch: branch(),
        worktree: worktree(),
        prior_revision: "rev-001".to_owned(),
        proposed_revision: "rev-002".to_owned(),
        status: UpdateStatus::Review,
        attempt: 2,
        resume_error: Some(why()),
        head: Some(commit()),
        fork: Some(commit()),
        worktree_stands: true,
        authored: true,
        author_faults: lines(&["no rationale"]),
        review: Some(review),
        review_faults: lines(&["no decision line"]),
        merged: true,
    }
}
