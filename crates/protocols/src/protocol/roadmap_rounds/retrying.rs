//! How the loop's memory changes when something is tried again, recovered or given up.

use super::book::Phase;
use super::facts::{Fact as RoadmapFact, RetryKind};
use super::plane::{ControllerStage, ReviewSeen, RoundStage, UpdateStatus};
use super::reconcile;
use super::state::State;
use super::steps::{Mechanism, RetryNote, RoundWork, StateEdit, WorkKind};
use alloc::string::{String, ToString};

impl State {
    pub(super) fn try_again(&mut self, fact: &RoadmapFact) {
        match fact {
            RoadmapFact::RetryDecided { work, mechanism, attempt, why } => {
                let cycles = self.book.rounds.get(&work.round).map_or(0, |book| book.review_cycles);
                let known = self.book.work(work);
                known.failures += 1;
                known.came_back = false;
                known.phase = Phase::Idle;
                known.afresh = *mechanism != Mechanism::SameHandle;
                known.repairing = None;
                known.told = alloc::vec![why.clone()];
                self.note_retry(work, *mechanism, *attempt, cycles, why);
            }
            RoadmapFact::InvestigationDecided { work, why, pattern } => {
                let known = self.book.work(work);
                known.failures += u32::from(!pattern);
                known.investigated = true;
                known.came_back = *pattern;
                known.phase = Phase::Failed { why: why.clone() };
                let kind = WorkKind::Investigate { update: work.kind.is_of_update() };
                let asked = self.book.work(&RoundWork { round: work.round.clone(), kind });
                asked.begin_anew();
                asked.session = None;
                asked.told = alloc::vec![why.clone()];
                asked.investigating = Some(work.clone());
            }
            RoadmapFact::Diagnosed { work, diagnosis } => {
                let known = self.book.work(work);
                known.is_over();
                known.came_back = true;
                let about = known.investigating.take();
                if let Some(about) = about {
                    let known = self.book.work(&about);
                    known.phase = Phase::Idle;
                    known.told.extend(diagnosis.iter().map(|diagnosis| diagnosis.advice.clone()));
                }
                self.plane_is_old = true;
            }
            RoadmapFact::RepairAsked { work, faults } => {
                let known = self.book.work(work);
                known.attempts.repairs += 1;
                known.failures += 1;
                known.came_back = false;
                known.phase = Phase::Idle;
                known.repairing = Some(faults.clone());
            }
            RoadmapFact::StepRetried { work, kind, .. } => match work {
                Some(work) => {
                    let known = self.book.work(work);
                    known.attempts.retried(*kind);
                    match &known.phase {
                        // Only a capture that failed for good is not tried again, before the run is taken up anew.
                        Phase::Capturing { failed } if *kind != RetryKind::Failed => {
                            known.phase = Phase::Left { failed: failed.clone() };
                        }
                        Phase::Capturing { failed: None } if !known.outdated => {
                            known.untaken = true;
                            known.is_over();
                        }
                        _ => known.is_over(),
                    }
                }
                None => self.attempts.retried(*kind),
            },
            RoadmapFact::AgentOut { agent, until, kind, why, work, .. } => {
                self.last_outage.clone_from(why);
                self.availability.is_out(agent, *until);
                let known = self.book.work(work);
                known.attempts.out(*kind);
                known.is_over();
            }
            _ => {}
        }
    }

    fn note_retry(
        &mut self,
        work: &RoundWork,
        mechanism: Mechanism,
        attempt: u32,
        review_cycles: u32,
        why: &str,
    ) {
        let of_update = work.kind.is_of_update();
        let stage = work.kind.words().to_string();
        let id = work.round.clone();
        let error = Some(why.to_string());
        self.write(if of_update {
            StateEdit::UpdateError { error }
        } else {
            StateEdit::RoundError { round: id.clone(), error }
        });
        let retry = RetryNote { of_update, id, stage, mechanism, attempt, review_cycles };
        self.write(StateEdit::Retry { retry: Some(retry) });
    }

    pub(super) fn recover(&mut self, rounds: &[(String, RoundStage)], update: bool) {
        self.write(StateEdit::ClearErrors);
        self.write(StateEdit::Retry { retry: None });
        for (round, stage) in rounds {
            let untouched = self.is_untouched(round);
            if let Some(book) = self.book.rounds.get_mut(round) {
                book.stage = *stage;
                book.blocked_at = None;
                // A review that lies beside a blockage is looked at again.
                book.unjudged |= *stage == RoundStage::Review && !book.taken_up;
                let seen = self.plane.as_ref().and_then(|plane| plane.round(round));
                if let (true, Some(seen)) = (untouched && book.approval.is_none(), seen) {
                    book.approval = super::book::approval_at(seen, *stage, &self.spec);
                }
            }
            self.book.begin_stage(round, false);
            if *stage != RoundStage::Review {
                reconcile::speak_for_themselves(self, round);
            }
            self.write(StateEdit::RoundStage { round: round.clone(), stage: *stage });
        }
        if update && let Some((round, book)) = &mut self.book.update {
            // What was approved and could only not be merged is still approved.
            let seen = self.plane.as_ref().and_then(|plane| plane.update.as_ref());
            let stands = seen.is_some_and(|seen| book.approval.is_some() && book.approval == seen.approval());
            // A draft that nobody judged yet waits for its reviewer, not for another draft.
            let unjudged = seen
                .is_some_and(|seen| seen.authored && seen.author_faults.is_empty() && seen.review.is_none());
            let status = match (stands, unjudged) {
                (true, _) => UpdateStatus::Approved,
                (false, true) => UpdateStatus::Review,
                (false, false) => UpdateStatus::Authoring,
            };
            book.status = Some(status);
            let round = round.clone();
            self.book.begin_stage(&round, true);
            self.write(StateEdit::UpdateStatus { status });
        }
        let stage = match &self.book.update {
            Some(_) => ControllerStage::UpdateRoadmap,
            None => ControllerStage::DispatchRounds,
        };
        self.write(StateEdit::Stage { stage });
    }

    pub(super) fn block(&mut self, round: Option<&String>, why: &str) {
        let Some(round) = round else {
            self.stuck = Some(why.to_string());
            self.write(StateEdit::ControllerError { error: why.to_string() });
            return self.write(StateEdit::Stage { stage: ControllerStage::Blocked });
        };
        let seen = self.plane.as_ref().and_then(|plane| plane.round(round));
        let rejected = seen.and_then(|seen| match &seen.evidence.review {
            Some(ReviewSeen::Rejected { changes, .. }) => Some(changes.clone()),
            _ => None,
        });
        let review = RoundWork { round: round.clone(), kind: WorkKind::Review };
        let spoken = self.book.works.get(&review).is_some_and(|known| known.came_back);
        if let Some(book) = self.book.rounds.get_mut(round) {
            // Whoever goes on with it hears what its last review said, not what one before it did.
            if let (RoundStage::Review, Some(changes)) = (book.stage, rejected) {
                book.told = changes;
                book.rejected += u32::from(spoken);
            }
            book.blocked_at = Some(book.stage);
            book.stage = RoundStage::Blocked;
        }
        self.given_up.insert(Some(round.clone()), why.to_string());
        self.write(StateEdit::RoundStage { round: round.clone(), stage: RoundStage::Blocked });
        self.write(StateEdit::RoundError { round: round.clone(), error: Some(why.to_string()) });
    }

    pub(super) fn block_update(&mut self, rejection: Option<&String>, why: &str) {
        if let Some((_, book)) = &mut self.book.update {
            book.status = Some(UpdateStatus::Blocked);
            if let Some(summary) = rejection {
                book.told = alloc::vec![summary.clone()];
            }
        }
        self.given_up.insert(None, why.to_string());
        if let Some(summary) = rejection {
            self.write(StateEdit::LastRejection { summary: summary.clone() });
        }
        self.write(StateEdit::UpdateStatus { status: UpdateStatus::Blocked });
        self.write(StateEdit::UpdateError { error: Some(why.to_string()) });
    }
}
