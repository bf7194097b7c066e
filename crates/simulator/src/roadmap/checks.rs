//! What is held against a roadmap loop beyond its own invariants: what the repository really says when success is claimed, and
//! that no counter goes back. That nothing is merged which its reviewer never saw is noted where it is merged.

use super::repo::Repo;
use super::roadmap_state;
use crate::checks::{Check, Violation};
use crate::goal::checks::room_to_work;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::MilestoneStatus;
use windlass_protocols::{Fact, Run};

/// What a counter must not fall behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    opened: u32,
    passes: u32,
    merged: usize,
    revisions: usize,
}

impl Counters {
    pub(crate) fn grow(&mut self, run: &Run) -> Result<(), Violation> {
        let Some(state) = roadmap_state(run) else {
            return Ok(());
        };
        let now = Self {
            opened: state.opened,
            passes: state.pass,
            merged: state.merged.len(),
            revisions: state.revisions.len(),
        };
        if now.opened < self.opened
            || now.passes < self.passes
            || now.merged < self.merged
            || now.revisions < self.revisions
        {
            let sentence = format!("counters were {self:?} and are {now:?}");
            return Err(Violation::new(Check::CountersOnlyGrow, sentence));
        }
        *self = now;
        Ok(())
    }
}

pub(crate) fn hold(new: &[Fact], repo: Option<&Repo>) -> Result<(), Violation> {
    for fact in new {
        match fact {
            Fact::EffectRequested { effect, request } => room_to_work(*effect, request)?,
            Fact::RoadmapRounds(RoadmapFact::Concluded { end: End::Complete }) => complete_in_truth(repo)?,
            _ => {}
        }
    }
    Ok(())
}

fn complete_in_truth(repo: Option<&Repo>) -> Result<(), Violation> {
    let is_done = |repo: &Repo| {
        let state = &repo.state;
        let done = repo.bundle().is_some_and(|bundle| {
            bundle.milestones.iter().all(|(known, _)| known.status == MilestoneStatus::Done)
        });
        done && state.rounds.is_empty() && state.update.is_none() && state.errors.is_empty()
    };
    if repo.is_some_and(is_done) {
        return Ok(());
    }
    Err(Violation::new(Check::AcceptedInTruth, "success is claimed, and the repository says otherwise"))
}
