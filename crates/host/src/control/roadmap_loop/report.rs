//! A roadmap loop's state in the words of the border.

use windlass_control_api::roadmap_loop::{
    LiveRound, LiveUpdate, MergedView, MilestoneView, RevisionView, RoadmapReport,
};
use windlass_protocols::Run;
use windlass_protocols::protocol::roadmap_rounds::plane::{MilestoneStatus, Plane, RoundSeen, UpdateStatus};
use windlass_protocols::protocol::roadmap_rounds::state::State;

pub(crate) fn of(run: &Run, state: &State) -> RoadmapReport {
    let plane = state.plane.as_ref();
    let end = state.end.as_ref().filter(|_| run.ended);
    let caps = run.started.as_ref().map_or(state.spec.caps.rounds, |started| started.budget.caps.rounds);
    RoadmapReport {
        outcome: end.map(|end| end.word().to_owned()),
        base_branch: state.spec.place.doer_branch.clone(),
        roadmap: plane.map(|plane| plane.roadmap_id.clone()),
        revision: plane.map(|plane| plane.revision.clone()),
        milestones: plane.map(milestones).unwrap_or_default(),
        rounds: plane.iter().flat_map(|plane| &plane.rounds).map(|round| live(state, round)).collect(),
        update: plane.and_then(|plane| plane.update.as_ref()).map(|update| LiveUpdate {
            source_round: update.source_round.clone(),
            from: update.prior_revision.clone(),
            to: update.proposed_revision.clone(),
            status: update_word(update.status),
            attempt: update.attempt,
        }),
        rounds_opened: state.opened,
        rounds_allowed: (caps != u32::MAX).then_some(caps),
        merged: state
            .merged
            .iter()
            .map(|merged| MergedView { round: merged.round.clone(), commit: merged.commit.to_string() })
            .collect(),
        revisions: state
            .revisions
            .iter()
            .map(|(revision, commit)| RevisionView { revision: revision.clone(), commit: commit.to_string() })
            .collect(),
        notices: plane.map(|plane| plane.oddities.clone()).unwrap_or_default(),
    }
}

fn milestones(plane: &Plane) -> Vec<MilestoneView> {
    let view = |milestone: &windlass_protocols::protocol::roadmap_rounds::plane::Milestone| MilestoneView {
        id: milestone.id.clone(),
        title: milestone.title.clone(),
        status: match milestone.status {
            MilestoneStatus::Pending => "pending",
            MilestoneStatus::InProgress => "in-progress",
            MilestoneStatus::Done => "done",
        },
    };
    plane.milestones.iter().map(view).collect()
}

fn live(state: &State, round: &RoundSeen) -> LiveRound {
    let book = state.book.rounds.get(&round.id);
    let given_up = state.given_up.get(&Some(round.id.clone())).cloned();
    let told = book.and_then(|book| book.told.first().cloned());
    let plan = round.evidence.plan.as_ref();
    LiveRound {
        id: round.id.clone(),
        stage: book.map_or(round.stage, |book| book.stage).word(),
        milestone: plan.map(|plan| plan.milestone.clone()),
        item: plan.map(|plan| plan.item.clone()),
        branch: round.branch.clone(),
        worktree: round.worktree.clone(),
        rejections: book.map_or(0, |book| book.rejected),
        trouble: given_up.or(told).or_else(|| round.resume_error.clone()),
    }
}

const fn update_word(status: UpdateStatus) -> &'static str {
    match status {
        UpdateStatus::Authoring => "authoring",
        UpdateStatus::Review => "review",
        UpdateStatus::Rejected => "rejected",
        UpdateStatus::Approved => "approved",
        UpdateStatus::Blocked => "blocked",
    }
}
