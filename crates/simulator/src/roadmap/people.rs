//! People beside the loop: they edit the state file and the roadmap, commit to the base and to rounds' branches, clean up
//! worktrees. They do it while nobody looks, between two steps of the controller.

use super::file::RoundRecord;
use super::repo::{Repo, What};
use super::{profile, reading};
use crate::choices::Choices;
use windlass_protocols::CommitId;
use windlass_protocols::effect::PlaneStep;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    ControllerStage, MilestoneStatus, RoundStage, UpdateStatus,
};

pub(super) fn are_about(choices: &mut Choices, step: &PlaneStep) -> bool {
    match step {
        PlaneStep::Read { .. } => choices.once_in(6),
        PlaneStep::CaptureWork(_) => choices.once_in(60),
        _ => choices.once_in(16),
    }
}

pub(super) fn edit(repo: &mut Repo, choices: &mut Choices) {
    match choices.below(16) {
        1 => with_round(repo, choices, |round, choices| round.stage = stage(choices)),
        2 => with_round(repo, choices, |round, _| round.error = Some("by hand".to_owned())),
        3 => {
            let gone = pick(repo, choices);
            repo.state.rounds.retain(|round| Some(&round.id) != gone.as_ref());
        }
        4 => {
            repo.state.errors.insert("controller".to_owned(), "by hand".to_owned());
        }
        5 => {
            repo.state.stage = choices.weighted(&[
                (1, ControllerStage::Done),
                (1, ControllerStage::Blocked),
                (1, ControllerStage::UpdateRoadmap),
            ]);
        }
        6 => with_branch(repo, choices, |repo, name| {
            if let Some(branch) = repo.branches.get_mut(name) {
                branch.stands = false;
            }
        }),
        7 => drop(repo.commit_to_base(What::Code)),
        8 => drop(repo.commit_to_base(What::Plane)),
        9 => edit_roadmap(repo, choices),
        10 => repo.state.max_parallel = choices.below(3) + 1,
        11 => edit_update(repo, choices),
        12 => with_branch(repo, choices, |repo, name| drop(repo.branches.remove(name))),
        13 => with_branch(repo, choices, |repo, name| {
            let number = repo.fresh();
            if let Some(branch) = repo.branches.get_mut(name) {
                branch.touch();
                branch.content = number;
                branch.advance(CommitId::new(format!("{name}@{number}")));
            }
        }),
        14 => reading::found(repo, choices, "round-008-by-hand"),
        15 => repo.limits = profile::limits(choices),
        _ => with_round(repo, choices, |round, _| round.stage = RoundStage::Plan),
    }
}

fn stage(choices: &mut Choices) -> RoundStage {
    choices.weighted(&[
        (1, RoundStage::Plan),
        (1, RoundStage::Implement),
        (1, RoundStage::Review),
        (1, RoundStage::FinalizeRound),
        (1, RoundStage::Blocked),
    ])
}

fn pick(repo: &Repo, choices: &mut Choices) -> Option<String> {
    let which = choices.below(u32::try_from(repo.state.rounds.len()).unwrap_or(1)) as usize;
    repo.state.rounds.get(which).map(|round| round.id.clone())
}

fn with_round(repo: &mut Repo, choices: &mut Choices, deed: impl FnOnce(&mut RoundRecord, &mut Choices)) {
    let chosen = pick(repo, choices);
    if let Some(round) = repo.state.rounds.iter_mut().find(|round| Some(&round.id) == chosen.as_ref()) {
        deed(round, choices);
    }
}

fn with_branch(repo: &mut Repo, choices: &mut Choices, deed: impl FnOnce(&mut Repo, &str)) {
    let names: Vec<String> = repo.branches.keys().cloned().collect();
    let which = choices.below(u32::try_from(names.len()).unwrap_or(1)) as usize;
    if let Some(name) = names.get(which) {
        deed(repo, name);
    }
}

fn edit_roadmap(repo: &mut Repo, choices: &mut Choices) {
    let revision = repo.state.revision.clone();
    let Some(bundle) = repo.bundles.get_mut(&revision) else { return };
    bundle.edits += 1;
    let which = choices.below(u32::try_from(bundle.milestones.len()).unwrap_or(1)) as usize;
    let status = choices.weighted(&[
        (2, MilestoneStatus::Pending),
        (1, MilestoneStatus::InProgress),
        (1, MilestoneStatus::Done),
    ]);
    if let Some((milestone, left)) = bundle.milestones.get_mut(which) {
        *bundle.words.entry(milestone.id.clone()).or_default() += 1;
        milestone.status = status;
        *left = (*left).max(1);
    }
    repo.commit_to_base(What::Plane);
}

fn edit_update(repo: &mut Repo, choices: &mut Choices) {
    let status = choices.weighted(&[
        (1, UpdateStatus::Authoring),
        (1, UpdateStatus::Review),
        (1, UpdateStatus::Approved),
        (1, UpdateStatus::Blocked),
    ]);
    if choices.once_in(4) {
        repo.state.update = None;
    }
    if let Some(update) = &mut repo.state.update {
        update.status = status;
    }
}
