//! What somebody else left in the worktrees of a live round or of the roadmap update: it is committed before anything of it
//! counts, and what nobody can have judged is judged once more.

use super::asking;
use super::next::{Next, control, state};
use super::plane::{
    PlanSeen, Plane, RoundSeen, RoundStage, UpdateReview, UpdateSeen, UpdateStatus, WorkerState,
};
use super::reconcile;
use super::state::State;
use super::steps::{PlaceLeft, PlaceTaken, PlaneStep, RoundWork, TakeUp, WorkKind};
use crate::draft::Draft;
use crate::vocabulary::{CommitId, Digest};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a reviewer is told, and the log, about a review that lay beside other files that nobody had committed.
pub(super) const UNJUDGED: &str = "files lay uncommitted in its worktree beside what was reviewed; they are committed now, \
     and all of it is looked at again";

/// Its worktree stands, and so far nobody of this run has looked at what lies in it.
pub(super) fn of_round(draft: &Draft, plane: &Plane, round: &RoundSeen) -> Option<Next> {
    state(draft).book.rounds.get(&round.id).filter(|book| !book.taken_up)?;
    let mut places = Vec::new();
    places.extend(place(plane, &round.id, None));
    let workers = round.evidence.plan.iter().flat_map(|plan| &plan.workers);
    places.extend(workers.filter_map(|worker| place(plane, &round.id, Some(&worker.id))));
    Some(ask(draft, &round.id, false, places))
}

pub(super) fn of_update(draft: &Draft, update: &UpdateSeen) -> Option<Next> {
    let (_, book) = state(draft).book.update.as_ref()?;
    if !book.to_take_up {
        return None;
    }
    let (branch, worktree) = (update.branch.clone(), update.worktree.clone());
    let head = update.head.clone()?;
    let place = PlaceLeft { worker: None, branch, worktree, head };
    Some(ask(draft, &update.source_round, true, alloc::vec![place]))
}

fn ask(draft: &Draft, round: &str, update: bool, places: Vec<PlaceLeft>) -> Next {
    let (round, decided_at) = (round.to_string(), draft.now());
    control(PlaneStep::TakeUp(TakeUp { round, update, places, decided_at }))
}

fn place(plane: &Plane, round: &str, worker: Option<&String>) -> Option<PlaceLeft> {
    let kind = worker.map_or(WorkKind::Plan, |worker| WorkKind::Worker { worker: worker.clone() });
    let (branch, worktree, head) = asking::place(plane, &RoundWork { round: round.to_string(), kind })?;
    Some(PlaceLeft { worker: worker.cloned(), branch, worktree, head })
}

/// Shares that are finished and not in the round, whatever its notes say.
pub(super) fn missing_shares(plan: &PlanSeen) -> Option<String> {
    let finished = |state: &WorkerState| matches!(state, WorkerState::Complete | WorkerState::Integrated);
    let outside = plan.workers.iter().filter(|worker| worker.outside && finished(&worker.state));
    let names: Vec<&str> = outside.map(|worker| worker.id.as_str()).collect();
    (!names.is_empty()).then(|| not_in_it(&names.join(", ")))
}

fn not_in_it(names: &str) -> String {
    format!("what these workers made was not in the round, whatever its notes say: {names}; bring it in")
}

impl State {
    pub(super) fn take_up(&mut self, round: &str, update: bool, places: &[PlaceTaken]) {
        let Some(own) = places.iter().find(|place| place.worker.is_none()) else { return };
        if update {
            return self.take_update_up(own);
        }
        let Some(book) = self.book.rounds.get_mut(round) else { return };
        book.taken_up = true;
        book.unjudged |= own.is_unjudged();
        book.ignored = places.iter().flat_map(|place| place.ignored.clone()).collect();
        book.approval = still_approved(book.approval.take(), own);
        if own.is_unjudged() && book.stage == RoundStage::Review {
            book.told.push(UNJUDGED.to_string());
        }
        let review = RoundWork { round: round.to_string(), kind: WorkKind::Review };
        self.book.work(&review).about = Some(own.before.clone());
        reconcile::speak_for_themselves(self, round);
    }

    /// A person may have worked in the worktree of a round that was given up: that is committed before anything of it counts.
    pub(super) fn look_into_given_up(&mut self) {
        for round in self.given_up.keys().flatten() {
            // An investigator only reads.
            let leaves = |work: &RoundWork| !matches!(work.kind, WorkKind::Investigate { .. });
            let mut works = self.book.works.iter().filter(|(work, _)| work.round == *round && leaves(work));
            // What an agent left there is still to be taken down as its own.
            let agents =
                works.any(|(_, known)| known.is_under_way() || known.untaken || known.shown.is_some());
            if let Some(book) = self.book.rounds.get_mut(round).filter(|book| !agents && !book.merged) {
                book.taken_up = false;
            }
        }
    }

    fn take_update_up(&mut self, own: &PlaceTaken) {
        let Some((round, book)) = &mut self.book.update else { return };
        book.to_take_up = false;
        book.approval = still_approved(book.approval.take(), own);
        let seen = self.plane.as_ref().and_then(|plane| plane.update.as_ref());
        let left = seen.and_then(|seen| match seen.status {
            UpdateStatus::Authoring if seen.authored => Some(WorkKind::AuthorUpdate),
            UpdateStatus::Review if !own.is_unjudged() => {
                let word = seen.review.as_ref()?;
                let believed = match word {
                    UpdateReview::Approved { artifact } => self.spec.believes(round, true, artifact),
                    UpdateReview::Rejected { .. } => !self.spec.has_left(round, true),
                };
                believed.then_some(WorkKind::ReviewUpdate)
            }
            _ => None,
        });
        let round = round.clone();
        if let Some(kind) = left {
            self.book.work(&RoundWork { round, kind }).came_back = true;
        }
    }

    /// Something was brought into a round that was integrated already: its notes are about less than is there.
    pub(super) fn integrate_anew(&mut self, round: &str, head: &CommitId) {
        let seen = self.plane.as_ref().and_then(|plane| plane.round(round));
        let Some(seen) = seen.filter(|seen| seen.head.as_ref() != Some(head)) else { return };
        let missing = seen.evidence.plan.as_ref().and_then(missing_shares);
        let at = self.book.rounds.get(round).map(|book| book.stage);
        let known = self.book.work(&RoundWork { round: round.to_string(), kind: WorkKind::Integrate });
        if let (Some(RoundStage::Implement), true, Some(why)) = (at, known.came_back, missing) {
            known.came_back = false;
            known.told.push(why);
        }
    }
}

/// An approval goes along with the files of its reviewer, and with no others.
pub(super) fn still_approved(
    approval: Option<(Digest, Option<CommitId>)>,
    own: &PlaceTaken,
) -> Option<(Digest, Option<CommitId>)> {
    let (artifact, head) = approval.filter(|_| !own.is_unjudged())?;
    let moved = head.as_ref() == Some(&own.before);
    Some((artifact, if moved { Some(own.commit.clone()) } else { head }))
}
