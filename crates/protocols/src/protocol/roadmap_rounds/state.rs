//! Everything a roadmap loop remembers between two observations: a fold of facts. What the files say is read anew before
//! every decision; what is kept here is what they cannot say.

use super::book::{Book, Phase, RoundBook};
use super::end::End;
use super::facts::{Fact as RoadmapFact, Why};
use super::plane::{CloseoutMode, Plane, RoundStage};
use super::reconcile;
use super::reviewing;
use super::spec::{RoadmapSpec, RoundLimits};
use super::steps::{PlaneOutcome, PlaneStep, RoundWork, StateEdit, WorkKind, WorktreePurpose};
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::attempts::Attempts;
use crate::kernel::availability::Availability;
use crate::kernel::conversation::LastSession;
use crate::kernel::person::Word;
use crate::kernel::trouble::{describe, with_last_words};
use crate::outcome::{AgentReport, Outcome, StepEnd};
use crate::vocabulary::{CommitId, EffectId, Millis};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// People edit now and then; whatever changes the file this often in a row is not a person.
const MAX_OUTRUN: u32 = 20;

/// What a reviewer is told whose predecessor's files are gone.
pub const SET_ASIDE: &str = "an earlier review was set aside and is in the history of the branch; write yours where it lay: \
     whatever lies there then is your word, even if it is the same to the letter";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub spec: RoadmapSpec,
    pub prepared: bool,
    pub plane: Option<Plane>,
    /// The plane is read again before anything is decided on it.
    pub plane_is_old: bool,
    /// The step that came back last brought the plane along as it was afterwards, and nothing else happened meanwhile.
    pub looked: bool,
    /// Times the plane was read.
    pub pass: u32,
    pub book: Book,
    /// What is decided and does not stand in the state file yet, in order.
    pub unwritten: Vec<StateEdit>,
    pub in_flight: BTreeMap<EffectId, Flight>,
    /// Of the step the controller does itself.
    pub attempts: Attempts,
    /// Writes in a row that somebody else was faster than.
    pub outrun: u32,
    /// The files were refused after the conclusion.
    pub shut_out: bool,
    pub availability: Availability,
    pub last_outage: String,
    pub waiting_until: Option<Millis>,
    /// The base branch as the loop left it or last saw it.
    pub known_base: Option<CommitId>,
    /// Rounds in a row that somebody took out of the state before they came to anything.
    pub vanished: u32,
    /// The loop changed the roadmap itself since the last look.
    pub own_roadmap_change: bool,
    pub opened: u32,
    /// Rounds that this run opened or found unfinished: each is one of those it was given.
    pub taken_up: BTreeSet<String>,
    pub merged: Vec<MergedRound>,
    pub revisions: Vec<(String, CommitId)>,
    /// Rounds and, as `None`, the update that this run gave up on.
    pub given_up: BTreeMap<Option<String>, String>,
    /// Why nothing can go on; what has to be written about it comes first.
    pub stuck: Option<String>,
    /// A person's words that no agent came back from yet.
    pub notes: Vec<String>,
    pub end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRound {
    pub round: String,
    pub commit: CommitId,
    pub closeout: CloseoutMode,
    pub at: Millis,
    /// What lay in its worktree and is not in it.
    pub ignored: Vec<String>,
    /// What its workers made and is not in it.
    pub lost: Option<String>,
    /// What was found about its gate and let be, and why.
    pub waived: Vec<String>,
}

/// What an effect under way is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flight {
    /// A step of the controller: one at a time. A write carries so many of the unwritten edits.
    Control {
        edits: usize,
    },
    Agent(RoundWork),
    /// `alone` as long as no other step touches the plane before it is over: of two looks that overlap nobody could say
    /// which is the newer.
    Capture {
        work: RoundWork,
        alone: bool,
    },
    /// The checks run without what a round did to them: one round at a time.
    Inspect {
        round: String,
    },
    Wait,
}

impl Flight {
    const fn touches_the_plane(&self) -> bool {
        matches!(self, Self::Control { .. } | Self::Capture { .. })
    }
}

impl State {
    pub(crate) fn new(spec: RoadmapSpec) -> Self {
        Self {
            spec,
            prepared: false,
            plane: None,
            plane_is_old: false,
            looked: false,
            pass: 0,
            book: Book::default(),
            unwritten: Vec::new(),
            in_flight: BTreeMap::new(),
            attempts: Attempts::default(),
            outrun: 0,
            shut_out: false,
            availability: Availability::default(),
            last_outage: String::new(),
            waiting_until: None,
            known_base: None,
            vanished: 0,
            own_roadmap_change: false,
            opened: 0,
            taken_up: BTreeSet::new(),
            merged: Vec::new(),
            revisions: Vec::new(),
            given_up: BTreeMap::new(),
            stuck: None,
            notes: Vec::new(),
            end: None,
        }
    }

    /// The roadmap's own limits; where it states none, those of the run.
    pub fn limits(&self) -> RoundLimits {
        match &self.plane {
            Some(plane) if !plane.limits.is_usual() => plane.limits,
            _ => self.spec.limits,
        }
    }

    /// How many rounds may be live at once.
    pub fn cap(&self) -> u32 {
        let allowed = self.plane.as_ref().map_or(1, |plane| plane.max_parallel);
        self.spec.parallel.map_or(allowed, |fewer| allowed.min(fewer)).max(1)
    }

    pub fn is_controlling(&self) -> bool {
        self.in_flight.values().any(|flight| matches!(flight, Flight::Control { .. }))
    }

    /// Whether every round this run was given is taken up.
    pub fn is_used_up(&self, rounds: u32) -> bool {
        self.taken_up.len() as u64 >= u64::from(rounds)
    }

    /// Nobody gets anything into the state file any more.
    pub(super) fn cannot_write(&self) -> bool {
        let tried = self.attempts.may_retry_lost() && self.attempts.may_retry_interrupted();
        self.shut_out || self.is_outrun() || !tried
    }

    /// Somebody changes the state file again and again just before it is written.
    pub(super) const fn is_outrun(&self) -> bool {
        self.outrun >= MAX_OUTRUN
    }

    pub fn works_under_way(&self) -> bool {
        self.book.works.values().any(super::book::Work::is_under_way)
    }

    /// Whether something about this round is decided and not written yet.
    pub(super) fn is_unwritten(&self, round: &str) -> bool {
        self.unwritten.iter().any(|edit| match edit {
            StateEdit::AddRound { round: about, .. }
            | StateEdit::RoundStage { round: about, .. }
            | StateEdit::RemoveRound { round: about } => about == round,
            _ => false,
        })
    }

    pub(super) fn update_is_unwritten(&self) -> bool {
        self.unwritten.iter().any(|edit| {
            matches!(
                edit,
                StateEdit::OpenUpdate(_)
                    | StateEdit::UpdateStatus { .. }
                    | StateEdit::UpdateRejected { .. }
                    | StateEdit::Activate { .. }
            )
        })
    }

    pub(crate) fn evolve(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { effect, request } => self.begin(*effect, request),
            Fact::EffectSettled { effect, outcome } => self.settle(*effect, outcome),
            Fact::RunReopened { note, .. } => self.reopen(note.as_deref()),
            Fact::RoadmapRounds(fact) => self.evolve_roadmap(fact),
            Fact::PersonSaid { word, .. } => {
                if let Word::Waive(waiver) = word {
                    self.waive(waiver);
                }
            }
            Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::LandingAsked { .. }
            | Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::StoryQueue(_)
            | Fact::RunEnded => {}
        }
    }

    fn begin(&mut self, effect: EffectId, request: &Effect) {
        let flight = match request {
            Effect::RunAgent(asked) => match &asked.work {
                Some(place) => {
                    let work = self.book.work(&place.work);
                    work.phase = Phase::Asked;
                    work.asked = asked.attempt;
                    work.cleared = false;
                    work.shown.get_or_insert_with(|| place.head.clone());
                    let known =
                        work.session.take().and_then(|last| last.with(asked.role, asked.agent.as_deref()));
                    let agent = asked.agent.clone().unwrap_or_default();
                    work.session = Some(LastSession { role: asked.role, agent, session: known });
                    Flight::Agent(place.work.clone())
                }
                None => Flight::Wait,
            },
            Effect::Plane(PlaneStep::CaptureWork(asked)) => {
                let work = self.book.work(&asked.work);
                if let Phase::Left { failed } = &work.phase {
                    work.phase = Phase::Capturing { failed: failed.clone() };
                }
                let alone = !self.in_flight.values().any(Flight::touches_the_plane);
                Flight::Capture { work: asked.work.clone(), alone }
            }
            Effect::Wait(wait) => {
                self.waiting_until = Some(wait.until);
                Flight::Wait
            }
            Effect::InspectGate(asked) => Flight::Inspect { round: self.round_of(&asked.tree) },
            Effect::Plane(PlaneStep::WriteState(write)) => Flight::Control { edits: write.edits.len() },
            // What comes back while it is read makes it old again: nobody can say whether it was seen.
            Effect::Plane(PlaneStep::Read { .. }) => {
                self.plane_is_old = false;
                Flight::Control { edits: 0 }
            }
            Effect::Plane(PlaneStep::FinalizeRound(asked)) => {
                if let Some(book) = self.book.rounds.get_mut(&asked.round) {
                    book.finalizing = Some(asked.clone());
                }
                Flight::Control { edits: 0 }
            }
            Effect::Plane(PlaneStep::PublishUpdate(asked)) => {
                if let Some((_, book)) = &mut self.book.update {
                    book.publishing = Some(asked.clone());
                }
                Flight::Control { edits: 0 }
            }
            Effect::Plane(PlaneStep::OpenWorktree(asked)) => {
                self.count_reopening(&asked.purpose, &asked.branch);
                Flight::Control { edits: 0 }
            }
            _ => Flight::Control { edits: 0 },
        };
        if flight.touches_the_plane() {
            for other in self.in_flight.values_mut() {
                if let Flight::Capture { alone, .. } = other {
                    *alone = false;
                }
            }
        }
        self.in_flight.insert(effect, flight);
    }

    fn count_reopening(&mut self, purpose: &WorktreePurpose, branch: &str) {
        let WorktreePurpose::Reopen { round } = purpose else { return };
        let of_update = self.plane.as_ref().and_then(|plane| plane.update.as_ref());
        if of_update.is_some_and(|update| update.branch == branch) {
            self.book.update.iter_mut().for_each(|(_, book)| book.reopened += 1);
        } else if let Some(book) = self.book.rounds.get_mut(round) {
            book.reopened += 1;
        }
    }

    fn settle(&mut self, effect: EffectId, outcome: &Outcome) {
        let Some(flight) = self.in_flight.remove(&effect) else { return };
        let (did, brought) = match outcome {
            Outcome::Plane(outcome @ PlaneOutcome::Looked { .. }) => (Some(outcome.itself()), true),
            Outcome::Plane(outcome) => (Some(outcome), false),
            _ => (None, false),
        };
        // The plane was not old when the step was asked for. If it is now, something came back that it may not show.
        let alone = !matches!(flight, Flight::Capture { alone: false, .. });
        self.looked = brought && alone && !self.plane_is_old;
        match (flight, outcome, did) {
            (Flight::Control { edits }, _, Some(PlaneOutcome::StateWritten { .. })) => {
                self.unwritten.drain(..edits.min(self.unwritten.len()));
                self.plane_is_old = true;
                self.attempts = Attempts::default();
                self.outrun = 0;
            }
            // It may have been done all the same: the next look shows it. The count of tries goes on.
            (Flight::Control { .. }, Outcome::Lost { .. } | Outcome::Interrupted { .. }, _) => {
                self.plane_is_old = self.plane.is_some();
            }
            // What is tried again and again between two looks is counted beyond them.
            (Flight::Control { .. }, _, Some(PlaneOutcome::Read(_))) => {}
            (Flight::Control { .. }, _, Some(PlaneOutcome::StateMoved)) => {
                self.plane_is_old = true;
                self.outrun += 1;
            }
            (Flight::Control { .. }, Outcome::Refused { .. }, _) => {
                self.plane_is_old = true;
                self.attempts = Attempts::default();
                self.shut_out = self.end.is_some();
            }
            (Flight::Control { .. }, _, did) => {
                if let Some(PlaneOutcome::Merged { .. } | PlaneOutcome::Held(_)) = did {
                    self.book.forget_merges();
                }
                self.plane_is_old = true;
                self.attempts = Attempts::default();
            }
            (Flight::Agent(work), Outcome::AgentEnded(report), _) => self.came_back(&work, report),
            (Flight::Wait, Outcome::Waited, _) => {
                if let Some(until) = self.waiting_until.take() {
                    self.availability.waited_until(until);
                }
                self.plane_is_old = true;
            }
            (Flight::Inspect { .. }, outcome, _) => {
                self.plane_is_old = true;
                if matches!(outcome, Outcome::GateInspected(_)) {
                    self.attempts = Attempts::default();
                }
            }
            (Flight::Agent(_) | Flight::Capture { .. } | Flight::Wait, _, _) => {}
        }
    }

    /// What was said is kept for whoever goes on with it.
    fn came_back(&mut self, work: &RoundWork, report: &AgentReport) {
        let known = self.book.work(work);
        if let Some(last) = &mut known.session
            && report.session.is_some()
        {
            last.session.clone_from(&report.session);
        }
        known.left = report.as_left().cloned();
        known.last_failure = (report.end != (StepEnd::Exited { code: 0 }))
            .then(|| with_last_words(&describe(&report.end), &report.last_words));
    }

    fn reopen(&mut self, note: Option<&str>) {
        self.take_up_gates();
        self.end = None;
        self.stuck = None;
        self.look_into_given_up();
        self.given_up.clear();
        self.attempts = Attempts::default();
        (self.outrun, self.shut_out, self.vanished) = (0, false, 0);
        self.availability.forget();
        self.plane_is_old = true;
        self.notes.extend(note.map(ToString::to_string));
        for book in self.book.rounds.values_mut() {
            (book.review_cycles, book.rejected, book.unclassified) = (0, 0, 0);
            (book.conflicted, book.reopened) = (0, 0);
        }
        if let Some((_, book)) = &mut self.book.update {
            (book.sent_back, book.reopened) = (0, 0);
        }
        for work in self.book.works.values_mut().filter(|work| !work.is_under_way()) {
            let (came_back, told) = (work.came_back, core::mem::take(&mut work.told));
            work.begin_anew();
            work.came_back = came_back;
            work.told = told;
            if work.untaken {
                work.is_left_again();
            }
        }
    }

    fn evolve_roadmap(&mut self, fact: &RoadmapFact) {
        match fact {
            RoadmapFact::BaseFixed { commit } => {
                self.prepared = true;
                self.known_base.get_or_insert_with(|| commit.clone());
            }
            RoadmapFact::PlaneTaken { plane, .. } => {
                reconcile::take(self, plane);
                self.pass += 1;
                if core::mem::take(&mut self.looked) {
                    self.plane_is_old = false;
                }
            }
            RoadmapFact::RoundOpened { round, branch, worktree, .. } => {
                self.opened += 1;
                self.taken_up.insert(round.clone());
                self.book.rounds.insert(round.clone(), RoundBook::opened());
                let (round, branch, worktree) = (round.clone(), branch.clone(), worktree.clone());
                self.write(StateEdit::AddRound { round, branch, worktree });
            }
            RoadmapFact::StageDecided { round, to, why, .. } => self.enter(round, *to, why),
            RoadmapFact::WorkEnded { work, failed } => {
                self.book.work(work).phase = Phase::Left { failed: failed.clone() };
            }
            RoadmapFact::WorkTaken { captured } => self.take_work(captured),
            RoadmapFact::ReviewSetAside { work, head } => self.set_aside(work, head),
            RoadmapFact::GateLooked { .. }
            | RoadmapFact::GateInspected { .. }
            | RoadmapFact::GateHeld { .. } => self.evolve_gate(fact),
            RoadmapFact::TakenUp { round, update, places } => self.take_up(round, *update, places),
            RoadmapFact::WorkCombined { round, with, conflicts, head } => {
                self.integrate_anew(round, head);
                if let Some(book) = self.book.rounds.get_mut(round) {
                    book.approval = None;
                    book.conflicts.clone_from(conflicts);
                    book.gathered.clone_from(with);
                    book.must_combine = false;
                }
                self.book.show_anew(round);
                self.review_together(round);
            }
            RoadmapFact::MergeConflicted { round, .. } => {
                if let Some(book) = self.book.rounds.get_mut(round) {
                    book.must_combine = true;
                    book.conflicted += 1;
                }
            }
            RoadmapFact::RoundMerged { round, commit, closeout, at, .. } => {
                self.has_merged(round, commit, (*closeout, *at));
            }
            RoadmapFact::RoundClosed { round, .. } => {
                self.book.forget(round);
                self.write(StateEdit::RemoveRound { round: round.clone() });
            }
            RoadmapFact::UpdateOpened(opened) => self.open_update(opened),
            RoadmapFact::UpdateDecided { round, decided } => self.decide_update(round, decided),
            RoadmapFact::UpdateMerged { commit, revision, .. } => {
                self.known_base = Some(commit.clone());
                self.own_roadmap_change = true;
                self.revisions.push((revision.clone(), commit.clone()));
                self.notes.clear();
                if let Some((_, book)) = &mut self.book.update {
                    book.merged = true;
                }
            }
            RoadmapFact::RetryDecided { .. }
            | RoadmapFact::InvestigationDecided { .. }
            | RoadmapFact::Diagnosed { .. }
            | RoadmapFact::RepairAsked { .. }
            | RoadmapFact::StepRetried { .. }
            | RoadmapFact::AgentOut { .. } => self.try_again(fact),
            RoadmapFact::Recovered { rounds, update } => self.recover(rounds, *update),
            RoadmapFact::ControllerSet { stage, .. } => self.write(StateEdit::Stage { stage: *stage }),
            RoadmapFact::Blocked { update: true, rejection, why, .. } => {
                self.block_update(rejection.as_ref(), why);
            }
            RoadmapFact::Blocked { round, why, .. } => self.block(round.as_ref(), why),
            RoadmapFact::Concluded { end } => self.end = Some(end.clone()),
        }
    }

    fn has_merged(&mut self, round: &str, commit: &CommitId, (closeout, at): (CloseoutMode, Millis)) {
        // What a person said was about what did not get on; that something is merged ends it.
        self.notes.clear();
        self.vanished = 0;
        self.known_base = Some(commit.clone());
        self.own_roadmap_change = true;
        let mut ignored = Vec::new();
        if let Some(book) = self.book.rounds.get_mut(round) {
            book.merged = true;
            ignored.clone_from(&book.ignored);
        }
        let waived = self.waived(round);
        let lost = self.plane.as_ref().and_then(|plane| plane.lost_of(round));
        let (round, commit) = (round.to_string(), commit.clone());
        self.merged.push(MergedRound { round, commit, closeout, at, ignored, lost, waived });
    }

    pub(super) fn write(&mut self, edit: StateEdit) {
        self.unwritten.push(edit);
    }

    fn enter(&mut self, round: &str, to: RoundStage, why: &Why) {
        let review = RoundWork { round: round.to_string(), kind: WorkKind::Review };
        let about = self.book.works.get(&review).and_then(|known| known.about.clone());
        let advice = reviewing::advice(self, round);
        let Some(book) = self.book.rounds.get_mut(round) else { return };
        book.stage = to;
        book.judged = about.filter(|_| matches!(why, Why::Approved { .. }));
        let mut error = None;
        match why {
            Why::Approved { artifact, head } | Why::Direct { artifact, head } => {
                book.approval = Some((artifact.clone(), head.clone()));
                book.unjudged = false;
            }
            Why::Rejected { changes } => {
                book.review_cycles += 1;
                book.rejected += 1;
                book.told.clone_from(changes);
            }
            Why::Unclassified { why } => {
                book.unclassified += 1;
                book.told = alloc::vec![why.clone()];
                error = Some(why.clone());
            }
            Why::BaseMoved { .. } => {
                book.review_cycles += u32::from(core::mem::take(&mut book.outpaced));
                book.told = alloc::vec![why.words()];
            }
            Why::CloseoutStale { .. } => {
                book.review_cycles += 1;
                book.approval = None;
                book.told = alloc::vec![why.words()];
            }
            Why::NotWaived { .. }
            | Why::ChecksRed { .. }
            | Why::PlanOutdated { .. }
            | Why::Unproven { .. } => {
                book.review_cycles += 1;
                (book.approval, book.unjudged) = (None, false);
                book.told = alloc::vec![why.words()];
            }
            // No more often than somebody revises the roadmap.
            Why::RoadmapRevised { .. } => {
                (book.approval, book.unjudged) = (None, false);
                book.told = alloc::vec![why.words()];
            }
            Why::Implemented => {
                book.told.clear();
                book.conflicts.clear();
            }
            Why::Planned { .. } | Why::Proven | Why::PutBack => book.told.clear(),
        }
        let new: Vec<String> = advice.into_iter().filter(|words| !book.told.contains(words)).collect();
        book.told.extend(new);
        self.book.begin_stage(round, false);
        // A review counts where the state had it at its reviewer: what lies beside an unfinished stage is none of theirs.
        if matches!(why, Why::Planned { .. }) && self.is_untouched(round) {
            reconcile::speak_for_themselves(self, round);
        }
        self.write(StateEdit::RoundStage { round: round.to_string(), stage: to });
        self.write(StateEdit::RoundError { round: round.to_string(), error });
        self.write(StateEdit::Retry { retry: None });
    }

    /// The base was brought into a round that is being reviewed: nobody has seen the two together.
    fn review_together(&mut self, round: &str) {
        let Some(book) = self.book.rounds.get_mut(round) else { return };
        if book.stage == RoundStage::Review {
            book.outpaced = false;
            book.told.push(Why::BaseMoved { conflicts: book.conflicts.clone() }.words());
            self.book.begin_stage(round, false);
        }
    }

    /// Another controller left it, and no agent of this run was asked about it.
    pub(super) fn is_untouched(&self, round: &str) -> bool {
        let found = self.book.rounds.get(round).is_some_and(|book| book.found);
        found && !self.book.works.iter().any(|(work, known)| work.round == round && known.asked > 0)
    }

    /// Rounds that were merged in this run or before it, for whoever waits for them.
    pub fn merged_rounds(&self) -> BTreeSet<&str> {
        let before = self.plane.iter().flat_map(|plane| plane.merged_rounds.iter());
        before.chain(self.merged.iter().map(|merged| &merged.round)).map(String::as_str).collect()
    }
}
