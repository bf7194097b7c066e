//! Everything a goal loop remembers between two observations: a fold of facts, so that no counter can be lost. Long texts
//! stay in sealed artifacts.

use super::end::{Cause, End};
use super::facts::{Ending, Fact as GoalFact};
use super::item::{ItemState, Tries, standing};
use super::iteration::{Baseline, Iteration, PastIteration};
use super::queue::{Autonomy, Item, Limits, Queue, Standing, Work};
use super::spec::GoalSpec;
use super::stage::Stage;
use crate::effect::{CommitItem, Effect, SuitePurpose};
use crate::fact::Fact;
use crate::kernel::attempts::Attempts;
use crate::kernel::availability::Availability;
use crate::kernel::budget::CapChange;
use crate::kernel::conversation::LastSession;
use crate::kernel::gate::Gate;
use crate::kernel::person::Word;
use crate::kernel::trouble::{describe, with_last_words};
use crate::outcome::{AgentReport, BuildReport, CapturedChange, Outcome, StepEnd, SuiteReport};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, TreeId};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub spec: GoalSpec,
    pub stage: Stage,
    pub base: Option<(CommitId, TreeId)>,
    /// The newest commit the loop knows of, and its verified content.
    pub head: Option<(CommitId, TreeId)>,
    pub queue: Option<Queue>,
    /// Files that people edit are read again before anything new is begun.
    pub queue_is_old: bool,
    /// A person has just let the run begin or go on: what the contract says now is what they want.
    pub person_looked: bool,
    /// The first of two runs of the suite at the base.
    pub first_baseline: Option<SuiteReport>,
    pub baseline: Option<Baseline>,
    pub items: BTreeMap<String, ItemState>,
    /// Iterations begun so far.
    pub iteration: u32,
    pub open: Option<Iteration>,
    /// The ledger.
    pub past: Vec<PastIteration>,
    pub commits: Vec<(String, CommitId)>,
    /// More room, by people who took the run up again.
    pub more: CapChange,
    /// The item to go on with before any other is looked at.
    pub same_item_next: Option<String>,
    /// A commit whose end nobody saw may be there: it is asked for again as it was before anything else is done.
    pub unseen_commit: Option<CommitItem>,
    /// L1 holds here until a person lets it go on.
    pub hold: bool,
    pub attempts: Attempts,
    pub availability: Availability,
    pub session: Option<LastSession>,
    pub repairing: Option<Vec<String>>,
    pub left: Option<ArtifactRef>,
    pub last_failure: Option<String>,
    /// A person's words that no builder came back from yet.
    pub unsaid_notes: Vec<String>,
    pub waiting_until: Option<Millis>,
    pub last_outage: String,
    /// What a person handed back while no iteration was open: the next one begins with it.
    pub handed_back: Option<TreeId>,
    pub end: Option<End>,
    /// How much had happened at the last closing commit: a second one of the same would say nothing new.
    pub summed_up_at: Option<(usize, End)>,
}

impl State {
    pub(crate) fn new(spec: GoalSpec) -> Self {
        Self {
            spec,
            stage: Stage::Preparing,
            base: None,
            head: None,
            queue: None,
            queue_is_old: false,
            person_looked: true,
            first_baseline: None,
            baseline: None,
            items: BTreeMap::new(),
            iteration: 0,
            open: None,
            past: Vec::new(),
            commits: Vec::new(),
            more: CapChange::default(),
            same_item_next: None,
            unseen_commit: None,
            hold: false,
            attempts: Attempts::default(),
            availability: Availability::default(),
            session: None,
            repairing: None,
            left: None,
            last_failure: None,
            unsaid_notes: Vec::new(),
            waiting_until: None,
            last_outage: String::new(),
            handed_back: None,
            end: None,
            summed_up_at: None,
        }
    }

    pub fn standing(&self, item: &Item) -> Standing {
        let in_scope = self.queue.as_ref().is_some_and(|queue| queue.scope.contains(&item.id));
        standing(item, self.items.get(&item.id), in_scope, self.spec.claimed)
    }

    /// What the loop may do by itself; absent before the contract was read.
    pub fn level(&self) -> Option<Autonomy> {
        self.queue.as_ref().map(|queue| super::next::level(queue, &self.spec))
    }

    /// The contract's caps, taken in by the command line and widened by people who took the run up again.
    pub fn limits(&self) -> Option<Limits> {
        let mut limits = self.queue.as_ref()?.limits;
        let least = |cap: u32, tightened: Option<u32>| tightened.map_or(cap, |tightened| cap.min(tightened));
        limits.iterations =
            limits.iterations.min(self.spec.caps.rounds).saturating_add(self.more.more_rounds);
        limits.commits = least(limits.commits, self.spec.tightened.commits);
        limits.rework = least(limits.rework, self.spec.tightened.rework).max(1);
        limits.time = limits.time.map(|cap| Millis(cap.0.saturating_add(self.more.more_time.0)));
        limits.tokens = limits.tokens.map(|cap| cap.saturating_add(self.more.more_tokens));
        limits.cost_micros = limits.cost_micros.map(|cap| cap.saturating_add(self.more.more_cost_micros));
        Some(limits)
    }

    /// Whether the closing commit of this end is settled.
    pub(super) fn is_summed_up(&self, end: &End) -> bool {
        self.summed_up_at.as_ref().is_some_and(|(past, summed)| *past == self.past.len() && summed == end)
    }

    /// How an item of the queue is, for whoever works on it; a fresh one is as good as none.
    pub fn item(&self, id: &str) -> ItemState {
        self.items.get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn evolve(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { request, .. } => {
                let stage = Stage::of(request);
                if stage != self.stage {
                    self.stage = stage;
                    self.attempts = Attempts::default();
                }
                self.begin_asking(request);
            }
            Fact::EffectSettled { outcome, .. } => self.settle(outcome),
            Fact::RunReopened { note, caps, .. } => self.reopen(*caps, note.as_deref()),
            Fact::PersonSaid { word, .. } => self.hear(word),
            Fact::GoalContract(fact) => self.evolve_goal(fact),
            Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::LandingAsked { .. }
            | Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::RunEnded => {}
        }
    }

    fn evolve_goal(&mut self, fact: &GoalFact) {
        match fact {
            GoalFact::BaseFixed { commit, tree } => {
                self.base = Some((commit.clone(), tree.clone()));
                self.head.get_or_insert_with(|| (commit.clone(), tree.clone()));
            }
            GoalFact::QueueTaken { queue } => {
                self.queue = Some((**queue).clone());
                self.queue_is_old = false;
                self.person_looked = false;
            }
            GoalFact::BaselineTaken { suite, flaky } => {
                self.baseline = Some(Baseline { suite: suite.clone(), flaky: flaky.clone() });
            }
            GoalFact::IterationOpened { iteration, item, work, start } => {
                self.open_iteration(*iteration, item, *work, start);
            }
            GoalFact::DesignTaken { item, design } => {
                self.repairing = None;
                let known = self.items.entry(item.clone()).or_default();
                known.design = Some(design.clone());
                known.design_approved = false;
            }
            GoalFact::DesignApproved { item } => {
                self.items.entry(item.clone()).or_default().design_approved = true;
            }
            GoalFact::DesignRejected { item, reason } => {
                let known = self.items.entry(item.clone()).or_default();
                known.design = None;
                known.designs_rejected.push(reason.clone());
            }
            GoalFact::BuildTaken { report } => {
                self.repairing = None;
                // Told to somebody who came back: a step that was lost or failed has told nobody.
                self.unsaid_notes.clear();
                self.in_open(|open| open.build = Some(report.clone()));
            }
            GoalFact::BuildFailed { why } => {
                self.repairing = None;
                self.in_open(|open| open.build_failed = Some(why.clone()));
            }
            GoalFact::ChangeTaken { change } => self.take_change(change),
            GoalFact::TestsTaken { suite } => self.in_open(|open| {
                open.suite = Some(suite.clone());
                open.gate.add(&suite.gate);
            }),
            GoalFact::GateInspected { report } => self.in_open(|open| open.gate.take(report)),
            GoalFact::VerdictTaken { pass, artifact, waivers, .. } => {
                self.repairing = None;
                if *pass {
                    self.in_open(|open| {
                        open.passed.clone_from(artifact);
                        open.gate.waivers.extend(waivers.iter().cloned());
                    });
                }
            }
            GoalFact::PreCommitPassed { evidence, gate, .. } => self.in_open(|open| {
                open.pre_commit = Some(evidence.clone());
                open.gate.add(gate);
            }),
            GoalFact::ChangeApproved { .. } => self.in_open(|open| open.approved = true),
            GoalFact::ItemCommitted { item, commit, tree } => {
                self.unseen_commit = None;
                self.head = Some((commit.clone(), tree.clone()));
                self.commits.push((item.clone(), commit.clone()));
                self.items.entry(item.clone()).or_default().committed = Some(commit.clone());
            }
            GoalFact::IterationEnded { iteration, item, result, at } => {
                self.end_iteration((*iteration, *at), item, result);
            }
            GoalFact::ItemParked { item, why } => {
                self.items.entry(item.clone()).or_default().parked = Some(why.clone());
                self.same_item_next = None;
            }
            GoalFact::Concluded { end } => self.conclude(end),
            GoalFact::SummaryCommitted { commit, .. } => self.sum_up(commit.as_ref()),
            GoalFact::RepairAsked { .. } | GoalFact::StepRetried { .. } | GoalFact::AgentOut { .. } => {
                self.step_came_to_nothing(fact);
            }
        }
    }

    fn conclude(&mut self, end: &End) {
        if matches!(end, End::Escalated { cause: Cause::GateFindings { .. } }) {
            self.in_open(|open| open.asked_about_gate = true);
        }
        self.end = Some(end.clone());
    }

    fn sum_up(&mut self, commit: Option<&CommitId>) {
        self.unseen_commit = None;
        self.summed_up_at = self.end.clone().map(|end| (self.past.len(), end));
        if let (Some(commit), Some((head, _))) = (commit, &mut self.head) {
            // Only the loop's own files changed: what is half built stands on this as well as on the one before.
            for (_, on) in self.items.values_mut().filter_map(|item| item.attempt.as_mut()) {
                if on == head {
                    on.clone_from(commit);
                }
            }
            head.clone_from(commit);
        }
    }

    fn take_change(&mut self, change: &CapturedChange) {
        self.in_open(|open| {
            open.gate = Gate::of(change);
            open.change = Some(change.clone());
        });
        if let (Some(open), Some((head, _))) = (&self.open, &self.head) {
            let attempt = (change.tree.clone(), head.clone());
            self.items.entry(open.item.clone()).or_default().attempt = Some(attempt);
        }
    }

    /// The step is to be asked for again, of the same or of another agent.
    fn step_came_to_nothing(&mut self, fact: &GoalFact) {
        match fact {
            GoalFact::RepairAsked { faults, .. } => {
                self.attempts.repairs += 1;
                self.repairing = Some(faults.clone());
            }
            GoalFact::StepRetried { kind, .. } => {
                self.attempts.retried(*kind);
                self.repairing = None;
            }
            GoalFact::AgentOut { agent, until, kind, why, .. } => {
                self.last_outage.clone_from(why);
                self.availability.is_out(agent, *until);
                self.attempts.out(*kind);
            }
            _ => {}
        }
    }

    fn open_iteration(&mut self, number: u32, item: &str, work: Work, start: &TreeId) {
        self.iteration = number;
        self.hold = false;
        self.same_item_next = None;
        self.attempts = Attempts::default();
        self.repairing = None;
        self.left = None;
        self.last_failure = None;
        self.items.entry(item.into()).or_default().begun = work != Work::Recheck;
        let on = self.head.as_ref().map(|(commit, _)| commit.clone());
        self.open = Some(Iteration::begin(number, item, work, (start, on)));
        self.go_on_with_handed_back();
    }

    fn end_iteration(&mut self, (number, at): (u32, Millis), id: &str, ending: &Ending) {
        let Some(open) = self.open.take() else { return };
        let item = self.items.entry(id.into()).or_default();
        item.end(number, open.work, ending);
        let commit = item.committed.clone().filter(|_| *ending == Ending::Accepted);
        if let (Ending::Accepted, Some(suite), Some(baseline)) = (ending, &open.suite, &mut self.baseline) {
            baseline.suite = Some(suite.clone());
        }
        // What stands at the head was measured before, and is not measured again.
        let measured = self.baseline.as_ref().and_then(|baseline| baseline.suite.as_ref());
        self.past.push(open.ended((number, at), ending, commit, measured));
        self.queue_is_old = true;
        self.hold = self
            .queue
            .as_ref()
            .is_some_and(|queue| super::next::level(queue, &self.spec).pauses_after_iteration());
        self.same_item_next = match ending {
            Ending::Rework { .. } | Ending::Inconclusive { .. } => Some(id.into()),
            Ending::Accepted | Ending::Escalated { .. } => None,
        };
    }

    fn in_open(&mut self, change: impl FnOnce(&mut Iteration)) {
        if let Some(open) = &mut self.open {
            change(open);
        }
    }

    fn reopen(&mut self, caps: CapChange, note: Option<&str>) {
        let ended = self.end.take();
        self.attempts = Attempts::default();
        self.availability.forget();
        self.repairing = None;
        self.hold = false;
        self.queue_is_old = true;
        self.person_looked = true;
        if self.baseline.is_none() {
            self.first_baseline = None;
        }
        self.more.add(caps);
        // Whoever says something or gives room for more has looked at what was tried; whoever only lets it go on may not have.
        let tries = if note.is_some() || caps.more_rounds > 0 { Tries::Anew } else { Tries::Kept };
        // A person looked: what stopped the loop may be tried again.
        match ended {
            Some(End::Escalated { cause: Cause::NothingReady { .. } }) => {
                // Nothing else is left to take up, so this is about what was let be, too.
                self.items.values_mut().for_each(|item| item.skipped = false);
                self.items.values_mut().for_each(|item| item.forgive(tries));
            }
            Some(End::Escalated { .. } | End::HardKill { .. }) => {
                self.items.values_mut().for_each(|item| item.forgive(tries));
            }
            Some(
                End::Success
                | End::AwaitsApproval { .. }
                | End::Paused { .. }
                | End::AsAsked { .. }
                | End::Stopped { .. }
                | End::NotReady { .. },
            )
            | None => {}
        }
        if let Some(note) = note {
            self.unsaid_notes.push(note.into());
        }
    }

    fn hear(&mut self, word: &Word) {
        match word {
            Word::HandBack { tree, .. } => {
                // Whoever worked on it has looked: it is tried afresh from here.
                if let Some(item) = super::person::at_hand(self) {
                    self.items.entry(item).or_default().rework_since = 0;
                }
                self.handed_back = Some(tree.clone());
                self.go_on_with_handed_back();
            }
            Word::Skip { .. } => {
                if let Some(item) = super::person::at_hand(self) {
                    self.items.entry(item).or_default().skipped = true;
                }
            }
            Word::Waive(waiver) => self.in_open(|open| open.gate.waivers.push(waiver.clone())),
            Word::Approve { .. } | Word::Reject { .. } | Word::TakeOver { .. } | Word::LetGo => {}
        }
    }

    /// A person's work stands in the builder's place and has still to be looked at.
    fn go_on_with_handed_back(&mut self) {
        let Some(open) = &mut self.open else { return };
        let Some(tree) = self.handed_back.take() else { return };
        open.handed_back = Some(tree);
        // What was only to be looked at is work now.
        open.work = Work::Rework;
        open.build = Some(BuildReport::default());
        open.build_failed = None;
        (open.change, open.suite, open.passed, open.pre_commit) = (None, None, None, None);
        (open.approved, open.asked_about_gate) = (false, false);
        open.gate = Gate::default();
    }

    fn begin_asking(&mut self, request: &Effect) {
        match request {
            Effect::RunAgent(agent) => {
                if let Some(open) = &mut self.open {
                    let asked = open.asked.entry(agent.role).or_default();
                    *asked = asked.saturating_add(1);
                }
                self.session = agent.agent.as_ref().map(|text| LastSession {
                    role: agent.role,
                    agent: text.clone(),
                    session: agent.session.clone(),
                });
            }
            Effect::Wait(wait) => self.waiting_until = Some(wait.until),
            Effect::CommitItem(commit) => self.unseen_commit = Some(commit.clone()),
            Effect::PrepareWorkspaces
            | Effect::RunChecks(_)
            | Effect::InspectGate(_)
            | Effect::Measure(_)
            | Effect::CommitIteration(_)
            | Effect::LandChange(_)
            | Effect::CaptureChange { .. }
            | Effect::ReadQueue { .. }
            | Effect::RunSuite(_)
            | Effect::Plane(_)
            | Effect::CloseRun(_) => {}
        }
    }

    fn settle(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Waited => {
                if let Some(until) = self.waiting_until.take() {
                    self.availability.waited_until(until);
                }
            }
            Outcome::AgentEnded(report) => self.remember_step(report),
            Outcome::SuiteRan(report) if report.purpose == SuitePurpose::Baseline => {
                self.first_baseline = Some((**report).clone());
            }
            // A refusal is an end that was seen: the commit is not there.
            Outcome::Refused { .. } => self.unseen_commit = None,
            _ => {}
        }
    }

    fn remember_step(&mut self, report: &AgentReport) {
        if let Some(last) = &mut self.session {
            last.session.clone_from(&report.session);
        }
        self.left = report.as_left().cloned();
        self.last_failure = (report.end != StepEnd::Exited { code: 0 })
            .then(|| with_last_words(&describe(&report.end), &report.last_words));
    }
}
