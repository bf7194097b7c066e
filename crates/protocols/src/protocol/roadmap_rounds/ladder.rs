//! What is tried with work that does not come to its end, rung by rung: sent back once, tried again by the same agent, looked
//! into by an investigator, given to another agent or a fresh one, and only then to a person.

use super::asking::{ask, given_up};
use super::book::{Phase, Work};
use super::facts::Fact as RoadmapFact;
use super::next::{Next, decided, named, state};
use super::plane::Plane;
use super::rounds::at_capacity;
use super::steps::{Mechanism, RoundWork, WorkKind};
use crate::draft::Draft;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How often the work has failed when somebody looks into it.
const LOOKED_INTO_AFTER: u32 = 2;

pub(super) struct Failure {
    pub(super) why: String,
    /// What has to be mended, where the work came back and left something.
    pub(super) faults: Vec<String>,
}

pub(super) fn climb(draft: &Draft, work: &RoundWork, failure: Failure) -> Option<Next> {
    let state = state(draft);
    let fresh = Work::default();
    let known = state.book.works.get(work).unwrap_or(&fresh);
    let Failure { why, faults } = failure;
    let said = if faults.is_empty() { why } else { format!("{why}: {}", faults.join("; ")) };
    if !faults.is_empty() && known.attempts.may_repair() {
        return Some(decided(RoadmapFact::RepairAsked { work: work.clone(), faults }));
    }
    if known.failures >= LOOKED_INTO_AFTER && !known.investigated {
        // One investigator of a round at a time.
        if state.book.works.get(&looked_into_by(work)).is_some_and(|looking| looking.investigating.is_some())
        {
            return None;
        }
        return Some(decided(RoadmapFact::InvestigationDecided {
            work: work.clone(),
            why: said,
            pattern: false,
        }));
    }
    let again = |mechanism| {
        let attempt = known.asked + 1;
        let (work, why) = (work.clone(), said.clone());
        Some(decided(RoadmapFact::RetryDecided { work, mechanism, attempt, why }))
    };
    let limit = state.limits().same_mechanism;
    if known.afresh {
        let why = format!("{} does not come to its end: {said}", named(work));
        return Some(decided(given_up(work, why)));
    }
    if known.failures < limit {
        return again(Mechanism::SameHandle);
    }
    let others = state.spec.place.chain(work.kind.role()).count() > 1;
    again(if others { Mechanism::OtherAdapter } else { Mechanism::FreshAgent })
}

/// An investigation that was decided is asked for before anything else of its round.
pub(super) fn investigations(draft: &Draft, plane: &Plane) -> Option<Next> {
    let state = state(draft);
    if at_capacity(state) {
        return None;
    }
    let given_up = |work: &RoundWork| {
        let round = (!work.kind.is_of_update()).then(|| work.round.clone());
        state.given_up.contains_key(&round)
    };
    let waiting = state.book.works.iter().find(|(work, known)| {
        matches!(work.kind, WorkKind::Investigate { .. })
            && known.investigating.is_some()
            && !known.is_under_way()
            && !given_up(work)
    });
    let (work, _) = waiting?;
    match ask(draft, plane, work) {
        super::asking::Asked::Now(effect) => Some(Next::Ask(effect)),
        // Nobody to look is no reason to stand still: what is known is tried.
        super::asking::Asked::Later(_) | super::asking::Asked::Nobody(_) => {
            Some(decided(RoadmapFact::Diagnosed { work: work.clone(), diagnosis: None }))
        }
    }
}

fn looked_into_by(work: &RoundWork) -> RoundWork {
    let kind = WorkKind::Investigate { update: work.kind.is_of_update() };
    RoundWork { round: work.round.clone(), kind }
}

impl Work {
    /// Failed, and an investigator has not come back yet.
    pub(super) fn is_being_investigated(&self, draft: &Draft, about: &RoundWork) -> bool {
        let looking = state(draft).book.works.get(&looked_into_by(about));
        matches!(self.phase, Phase::Failed { .. })
            && looking.is_some_and(|looking| looking.investigating.as_ref() == Some(about))
    }
}
