//! A simulated control plane as its files show it, and how one begins: with milestones in lanes, and now and then in the
//! middle of what another controller left.

use super::file::{RoundRecord, StateFile};
use super::profile;
use super::repo::{Branch, Bundle, Repo, What};
use crate::choices::Choices;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use windlass_protocols::Digest;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    ControllerStage, Direction, Generation, Milestone, MilestoneStatus, ParallelHint, PlanSeen, Plane,
    ReviewSeen, RoundSeen, RoundStage, UpdateSeen, WorkerSeen, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;

pub(crate) fn draw(choices: &mut Choices) -> Repo {
    let generation = choices.weighted(&[(1, Generation::Records), (1, Generation::StructuredMarkdown)]);
    let stage = choices.weighted(&[
        (12, ControllerStage::DispatchRounds),
        (1, ControllerStage::Done),
        (1, ControllerStage::Blocked),
        (1, ControllerStage::UpdateRoadmap),
    ]);
    let mut errors = BTreeMap::new();
    if choices.once_in(12) {
        errors.insert("controller".to_owned(), "it did not get on".to_owned());
    }
    let file = StateFile {
        stage,
        revision: "rev-001".to_owned(),
        max_parallel: choices.weighted(&[(2, 1), (2, 2), (2, 3)]),
        rounds: Vec::new(),
        update: None,
        errors,
        retry: None,
    };
    let limits = if choices.once_in(5) { profile::limits(choices) } else { RoundLimits::default() };
    let mut repo = Repo::new(generation, file, bundle(choices), limits);
    if choices.once_in(3) {
        found(&mut repo, choices, "round-007-slugged");
    }
    repo
}

fn bundle(choices: &mut Choices) -> Bundle {
    let mut bundle = Bundle::default();
    let count = choices.below(3) + 1;
    let done_already = choices.once_in(12);
    for id in ["M1", "M2", "M3"].into_iter().take(count as usize) {
        let before: Vec<String> = bundle.milestones.iter().map(|(known, _)| known.id.clone()).collect();
        add_milestone(&mut bundle, choices, id, before);
    }
    if done_already {
        bundle.milestones.iter_mut().for_each(|(known, _)| known.status = MilestoneStatus::Done);
    }
    bundle
}

pub(super) fn add_milestone(bundle: &mut Bundle, choices: &mut Choices, id: &str, before: Vec<String>) {
    let depends_on = before.into_iter().filter(|_| choices.once_in(4)).collect();
    let lane = choices.weighted(&[(1, "a"), (1, "b"), (1, "c")]);
    let milestone = Milestone {
        id: id.to_owned(),
        title: format!("milestone {id}"),
        status: choices.weighted(&[
            (8, MilestoneStatus::Pending),
            (2, MilestoneStatus::InProgress),
            (1, MilestoneStatus::Done),
        ]),
        depends_on,
        lane: lane.to_owned(),
    };
    bundle.milestones.push((milestone, choices.below(2) + 1));
    for number in 0..=choices.below(2) {
        bundle.directions.push(Direction {
            id: format!("{id}-d{number}"),
            milestone: id.to_owned(),
            preconditions: Vec::new(),
            hint: choices.weighted(&[
                (4, ParallelHint::LaneSafe),
                (2, ParallelHint::Unstated),
                (1, ParallelHint::Serial),
            ]),
        });
    }
}

/// A live round that another controller, or a person, left with some artifacts.
pub(super) fn found(repo: &mut Repo, choices: &mut Choices, id: &str) {
    let (branch, worktree) = (format!("orchestrator/{id}"), format!("orchestrator/worktrees/{id}"));
    let stage = choices.weighted(&[
        (1, RoundStage::Plan),
        (1, RoundStage::Implement),
        (1, RoundStage::Review),
        (1, RoundStage::FinalizeRound),
        (1, RoundStage::Blocked),
    ]);
    if !repo.state.rounds.iter().any(|round| round.id == id) {
        let error = choices.once_in(4).then(|| "no answer".to_owned());
        let (branch, id) = (branch.clone(), id.to_owned());
        repo.state.rounds.push(RoundRecord { id, stage, branch, worktree, error });
    }
    let plane = read(repo);
    let number = repo.fresh();
    let left = choices.below(4);
    let chosen = plane.as_ref().and_then(|plane| plane.candidates().next());
    let plan = chosen.map(|(milestone, direction)| PlanSeen {
        milestone: milestone.id.clone(),
        direction: direction.id.clone(),
        item: format!("item-{number}"),
        revision: repo.state.revision.clone(),
        depends_on_rounds: Vec::new(),
        merge_after_items: Vec::new(),
        parallel_group: None,
        workers: Vec::new(),
        direct: None,
    });
    let approved = choices.once_in(2);
    let artifact = Digest::new(format!("review-{number}"));
    let made = repo.open(&branch);
    made.stands = !choices.once_in(4);
    if left >= 1 {
        made.evidence.plan = plan;
    }
    made.evidence.notes = left >= 2;
    if left >= 3 && approved {
        let closeout = super::agents::closeout(choices, repo.generation);
        let review = Some(ReviewSeen::Approved { closeout, artifact: artifact.clone(), waivers: Vec::new() });
        if let Some(branch) = repo.branches.get_mut(&branch) {
            branch.evidence.review = review;
        }
        repo.approvals.insert(artifact, None);
    }
}

/// Absent where the active bundle is not there.
pub(crate) fn read(repo: &Repo) -> Option<Plane> {
    let bundle = repo.bundle()?;
    let merged: Vec<String> = repo
        .base
        .iter()
        .filter_map(|commit| match &commit.what {
            What::Round(id) => Some(id.clone()),
            _ => None,
        })
        .collect();
    let number = |name: &String| {
        let after = name.split("round-").nth(1).unwrap_or_default();
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().unwrap_or(0)
    };
    let used = repo.branches.keys().chain(&merged).map(number).max().unwrap_or(0);
    Some(Plane {
        generation: repo.generation,
        state: repo.state.digest(),
        bundle: digest_of(bundle),
        stage: repo.state.stage,
        base_branch: "main".to_owned(),
        base: repo.head(),
        roadmap_id: "2026-01-31-00-roadmap".to_owned(),
        revision: repo.state.revision.clone(),
        max_parallel: repo.state.max_parallel,
        rounds: repo.state.rounds.iter().map(|round| round_seen(repo, round)).collect(),
        update: repo.state.update.as_ref().map(|_| update_seen(repo)),
        errors: repo.state.errors.clone(),
        retry_noted: repo.state.retry.is_some(),
        milestones: bundle.milestones.iter().map(|(milestone, _)| milestone.clone()).collect(),
        directions: bundle.directions.clone(),
        merged_rounds: merged,
        merged_items: repo.merged_items.clone(),
        next_number: used + 1,
        limits: repo.limits,
        oddities: Vec::new(),
    })
}

fn digest_of(bundle: &Bundle) -> Digest {
    let mut hasher = DefaultHasher::new();
    format!("{bundle:?}").hash(&mut hasher);
    Digest::new(format!("{:016x}", hasher.finish()))
}

fn round_seen(repo: &Repo, record: &RoundRecord) -> RoundSeen {
    let branch = repo.branches.get(&record.branch);
    let merged = repo.merged_as(&What::Round(record.id.clone())).is_some();
    let mut evidence = branch.map(|branch| branch.evidence.clone()).unwrap_or_default();
    evidence.merged = merged;
    if let Some(plan) = &mut evidence.plan {
        plan.workers.iter_mut().for_each(|worker| see_worker(repo, worker, evidence.notes));
    }
    RoundSeen {
        id: record.id.clone(),
        stage: record.stage,
        branch: record.branch.clone(),
        worktree: record.worktree.clone(),
        resume_error: record.error.clone(),
        head: branch.map(|branch| branch.head.clone()),
        fork: branch.and_then(|branch| Some(repo.base.get(branch.fork)?.id.clone())),
        code_drifted: branch.is_some_and(|branch| repo.code_since(branch.fork)),
        roadmap_drifted: branch.is_some_and(|branch| repo.says_otherwise(branch)),
        worktree_stands: branch.is_some_and(|branch| branch.stands),
        evidence,
    }
}

fn see_worker(repo: &Repo, worker: &mut WorkerSeen, integrated: bool) {
    let branch = repo.branches.get(&worker.branch);
    worker.head = branch.map(|branch| branch.head.clone());
    worker.state = match branch.map(|branch| &branch.share) {
        None => WorkerState::Pending,
        Some(WorkerState::Complete) if integrated => WorkerState::Integrated,
        Some(share) => share.clone(),
    };
}

fn update_seen(repo: &Repo) -> UpdateSeen {
    let record = repo.state.update.as_ref().expect("asked for where there is one");
    let branch = repo.branches.get(&record.branch);
    UpdateSeen {
        trigger: record.trigger,
        source_round: record.source_round.clone(),
        branch: record.branch.clone(),
        worktree: record.worktree.clone(),
        prior_revision: record.prior_revision.clone(),
        proposed_revision: record.proposed_revision.clone(),
        status: record.status,
        attempt: record.attempt,
        resume_error: record.error.clone(),
        head: branch.map(|branch| branch.head.clone()),
        fork: branch.and_then(|branch| Some(repo.base.get(branch.fork)?.id.clone())),
        worktree_stands: branch.is_some_and(|branch| branch.stands),
        authored: branch.is_some_and(|branch| branch.authored),
        author_faults: branch.map(author_faults).unwrap_or_default(),
        review: branch.and_then(|branch| branch.update_review.clone()),
        review_faults: branch.map(|branch| branch.review_faults.clone()).unwrap_or_default(),
        merged: repo.merged_as(&What::Update(record.proposed_revision.clone())).is_some(),
    }
}

fn author_faults(branch: &Branch) -> Vec<String> {
    let boast = branch.boasts.then(|| "M1 is pending, and the proposed revision calls it done".to_owned());
    branch.author_faults.iter().cloned().chain(boast).collect()
}
