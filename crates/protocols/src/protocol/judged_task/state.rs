//! What a task loop knows: where in which round it stands, and what was said so far. A fold of facts, kept small however
//! many rounds there were: long texts stay in sealed artifacts.

use super::end::{Cause, End};
use super::facts::Fact as TaskFact;
use super::spec::TaskSpec;
use super::stage::Stage;
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::attempts::Attempts;
use crate::kernel::availability::Availability;
use crate::kernel::budget::Dimension;
use crate::kernel::conversation::LastSession;
use crate::kernel::gate::{Gate, TestCount, Waiver};
use crate::kernel::person::Word;
use crate::kernel::trouble::{describe, with_last_words};
use crate::outcome::{AgentReport, CapturedChange, Handoff, Outcome, StepEnd, VerdictWord};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The history is bounded, so that round 100 costs what round 1 cost.
const HISTORY_ROUNDS: usize = 8;
const HISTORY_LINE_CHARS: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub spec: TaskSpec,
    pub stage: Stage,
    pub round: u32,
    pub base: Option<(CommitId, TreeId)>,
    /// Absent until the baseline was measured.
    pub red_at_base: Option<Vec<String>>,
    pub baseline_evidence: Vec<ArtifactRef>,
    pub tests_at_base: Vec<TestCount>,
    pub attempts: Attempts,
    pub availability: Availability,
    /// The last conversation of the role that is being asked.
    pub session: Option<LastSession>,
    /// How often each role was asked in this round; a reopening does not start it again.
    pub asked_in_round: BTreeMap<Role, u32>,
    pub maker_failures_in_a_row: u32,
    pub feedback: Vec<String>,
    /// A person's words that no doer has been told yet; a rejection in between must not drop them.
    pub unsaid_notes: Vec<String>,
    /// One line for each of the last rejected rounds, so that a maker can see it going in circles.
    pub history: Vec<String>,
    pub handoff: Option<Handoff>,
    pub change: Option<CapturedChange>,
    /// What a person handed back, until it is taken as the change of its round.
    pub handed_back: Option<TreeId>,
    /// Absent until the checks of this round passed.
    pub check_evidence: Option<Vec<ArtifactRef>>,
    pub audit_evidence: Option<Vec<ArtifactRef>>,
    /// What the change of this round did to its own measures, and who let it.
    pub integrity: Gate,
    /// Whether a person was asked about that in this round.
    pub asked_about_gate: bool,
    /// Faults of the answer that is being asked for again.
    pub repairing: Option<Vec<String>>,
    /// The last answer of this round as it was found, for whoever has to mend it.
    pub left: Option<ArtifactRef>,
    /// How the last agent of this round failed, in words; none while the last one did not.
    pub last_failure: Option<String>,
    /// Of the current round only: a gate of an earlier round must never stand beside a verdict of this one.
    pub verdict: Option<(VerdictWord, Option<ArtifactRef>)>,
    pub gate: Option<(VerdictWord, Option<ArtifactRef>)>,
    /// The last round that came to an end, and its words, for the summary.
    pub rounds_completed: u32,
    /// Trees that were rejected, with the round and what was said about them.
    pub rejected_trees: BTreeMap<TreeId, u32>,
    pub repetitions: u32,
    pub last_rejection: Option<super::facts::RejectedBy>,
    pub end: Option<End>,
    /// When the first landing was asked for: one that is tried again must make the same commit.
    pub landing_decided_at: Option<Millis>,
    pub landed: Option<(CommitId, String)>,
    pub waiting_until: Option<Millis>,
    /// Why an agent could not be asked the last time one could not.
    pub last_outage: String,
}

impl State {
    pub(crate) fn new(spec: TaskSpec) -> Self {
        let brought_rounds = spec.adopted.as_ref().map_or(0, |adopted| adopted.round.saturating_sub(1));
        Self {
            spec,
            stage: Stage::Preparing,
            round: 0,
            base: None,
            red_at_base: None,
            baseline_evidence: Vec::new(),
            tests_at_base: Vec::new(),
            attempts: Attempts::default(),
            availability: Availability::default(),
            session: None,
            asked_in_round: BTreeMap::new(),
            maker_failures_in_a_row: 0,
            feedback: Vec::new(),
            unsaid_notes: Vec::new(),
            history: Vec::new(),
            handoff: None,
            change: None,
            handed_back: None,
            check_evidence: None,
            audit_evidence: None,
            integrity: Gate::default(),
            asked_about_gate: false,
            repairing: None,
            left: None,
            last_failure: None,
            verdict: None,
            gate: None,
            rounds_completed: brought_rounds,
            rejected_trees: BTreeMap::new(),
            repetitions: 0,
            last_rejection: None,
            end: None,
            landing_decided_at: None,
            landed: None,
            waiting_until: None,
            last_outage: String::new(),
        }
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
            Fact::RunReopened { note, .. } => {
                if self.asks_checker_again() {
                    self.forget_last_word();
                }
                self.end = None;
                self.landing_decided_at = None;
                self.attempts = Attempts::default();
                self.availability.forget();
                self.maker_failures_in_a_row = 0;
                self.repetitions = 0;
                self.repairing = None;
                // A person looked: what was rejected before may be judged anew.
                self.rejected_trees.clear();
                if let Some(note) = note {
                    let line = alloc::format!("- [human] {note}");
                    self.feedback.push(line.clone());
                    self.unsaid_notes.push(line);
                }
            }
            Fact::LandingAsked { landing, .. } => self.spec.landing = landing.clone(),
            Fact::JudgedTask(fact) => self.evolve_task(fact),
            Fact::EffectSettled { outcome, .. } => self.settle(outcome),
            Fact::PersonSaid { word: Word::HandBack { tree, .. }, .. } => {
                self.handed_back = Some(tree.clone());
            }
            Fact::PersonSaid { word: Word::Waive(waiver), .. } => self.integrity.waivers.push(waiver.clone()),
            Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::PersonSaid { .. }
            | Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::RunEnded => {}
        }
    }

    fn evolve_task(&mut self, fact: &TaskFact) {
        match fact {
            TaskFact::BaseFixed { commit, tree } => self.base = Some((commit.clone(), tree.clone())),
            TaskFact::BaselineMeasured { red, evidence, tests } => {
                self.tests_at_base.clone_from(tests);
                self.red_at_base = Some(red.clone());
                self.baseline_evidence.clone_from(evidence);
            }
            TaskFact::RoundOpened { round } => {
                self.round = *round;
                // A person's round may follow one that was cut off.
                self.rounds_completed = round.saturating_sub(1);
                self.attempts = Attempts::default();
                self.asked_in_round.clear();
                self.handoff = None;
                self.change = None;
                self.check_evidence = None;
                self.audit_evidence = None;
                self.integrity = Gate::default();
                self.asked_about_gate = false;
                self.repairing = None;
                self.left = None;
                self.last_failure = None;
                self.verdict = None;
                self.gate = None;
            }
            TaskFact::HandoffTaken { handoff } => {
                self.handoff = Some(handoff.clone());
                self.repairing = None;
                self.maker_failures_in_a_row = 0;
            }
            TaskFact::ChangeTaken { change } => {
                self.integrity = Gate::of(change);
                self.change = Some(change.clone());
                self.handed_back = None;
            }
            TaskFact::ChecksPassed { stage: Stage::AuditChecking, evidence, .. } => {
                self.audit_evidence = Some(evidence.clone());
            }
            TaskFact::ChecksPassed { evidence, gate, .. } => {
                self.check_evidence = Some(evidence.clone());
                self.integrity.add(gate);
            }
            TaskFact::GateInspected { report } => self.integrity.take(report),
            TaskFact::RepairAsked { faults, .. } => {
                self.attempts.repairs += 1;
                self.repairing = Some(faults.clone());
            }
            TaskFact::StepRetried { kind, .. } => self.attempts.retried(*kind),
            TaskFact::AgentOut { agent, until, kind, why, .. } => {
                self.last_outage.clone_from(why);
                self.availability.is_out(agent, *until);
                self.attempts.out(*kind);
            }
            TaskFact::VerdictTaken { role, word, source, feedback, waivers, .. } => {
                self.take_verdict((*role, *word), source, feedback, waivers);
            }
            TaskFact::RoundRejected { round, by, feedback } => {
                self.rounds_completed = *round;
                self.feedback.clone_from(feedback);
                self.note_rejection(*by);
                self.remember_round(*round, *by, feedback);
            }
            TaskFact::Concluded { end } => {
                self.asked_about_gate |= matches!(end, End::NeedsHuman { cause: Cause::GateFindings { .. } });
                if end.finishes_round() {
                    self.rounds_completed = self.round;
                }
                self.end = Some(end.clone());
            }
            TaskFact::Landed { commit, reference, .. } => {
                self.landed = Some((commit.clone(), reference.clone()));
            }
        }
    }

    fn take_verdict(
        &mut self,
        (role, word): (Role, VerdictWord),
        source: &super::facts::Source,
        feedback: &[String],
        waivers: &[Waiver],
    ) {
        if role == Role::Judge {
            self.integrity.waivers = waivers.to_vec();
        }
        if word == VerdictWord::NeedsHuman && !feedback.is_empty() {
            self.feedback = feedback.to_vec();
        }
        let artifact = match source {
            super::facts::Source::Agent { artifact } => Some(artifact.clone()),
            super::facts::Source::Engine { .. } => None,
        };
        self.repairing = None;
        match role {
            Role::Auditor => self.gate = Some((word, artifact)),
            _ => self.verdict = Some((word, artifact)),
        }
    }

    fn begin_asking(&mut self, request: &Effect) {
        match request {
            Effect::RunAgent(agent) => {
                let asked = self.asked_in_round.entry(agent.role).or_default();
                *asked = asked.saturating_add(1);
                if agent.role == Role::Doer {
                    self.unsaid_notes.clear();
                }
                self.session = agent.agent.as_ref().map(|text| LastSession {
                    role: agent.role,
                    agent: text.clone(),
                    session: agent.session.clone(),
                });
            }
            Effect::Wait(wait) => self.waiting_until = Some(wait.until),
            Effect::LandChange(land) => {
                self.landing_decided_at.get_or_insert(land.decided_at);
            }
            Effect::PrepareWorkspaces
            | Effect::RunChecks(_)
            | Effect::InspectGate(_)
            | Effect::Measure(_)
            | Effect::CommitIteration(_)
            | Effect::ReadQueue { .. }
            | Effect::RunSuite(_)
            | Effect::CommitItem(_)
            | Effect::CaptureChange { .. }
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
            Outcome::Prepared { .. }
            | Outcome::ChecksRan(_)
            | Outcome::ChangeCaptured(_)
            | Outcome::Landed(_)
            | Outcome::GateInspected(_)
            | Outcome::Measured(_)
            | Outcome::IterationCommitted { .. }
            | Outcome::QueueRead(_)
            | Outcome::SuiteRan(_)
            | Outcome::ItemCommitted { .. }
            | Outcome::Closed
            | Outcome::Refused { .. }
            | Outcome::Interrupted { .. }
            | Outcome::Plane(_)
            | Outcome::Lost { .. } => {}
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

    /// The round goes on at the checker that gave no word of its own.
    fn forget_last_word(&mut self) {
        self.rounds_completed = self.round.saturating_sub(1);
        if self.gate.is_some() {
            self.gate = None;
        } else if self.verdict.as_ref().is_some_and(|(word, _)| *word != VerdictWord::Pass) {
            self.verdict = None;
        }
    }

    /// What the run ends as when a rejected round has no successor.
    pub(super) fn end_without_rounds(&self) -> End {
        match self.last_rejection {
            Some(by) => End::Rejected { by },
            None => End::Exhausted { dimension: Dimension::Rounds },
        }
    }

    /// Whether the run could only go on with a round more than it has.
    pub(crate) fn needs_another_round(&self, rounds: u32) -> bool {
        let round_is_over = self.round > 0 && self.rounds_completed == self.round;
        round_is_over && !self.asks_checker_again() && self.round >= rounds
    }

    /// Whether going on means asking the checker of this round once more rather than a new round.
    pub(super) fn asks_checker_again(&self) -> bool {
        matches!(
            &self.end,
            Some(End::NeedsHuman {
                cause: Cause::WorkspaceChanged { .. }
                    | Cause::NoReadableAnswer { .. }
                    | Cause::AgentNotStarted { .. }
                    | Cause::AgentKeepsFailing { role: Role::Judge | Role::Auditor, .. }
            })
        )
    }

    /// One line, so that a maker can see itself going in circles.
    fn remember_round(&mut self, round: u32, by: super::facts::RejectedBy, feedback: &[String]) {
        let first = feedback.first().map_or("", |line| line.lines().next().unwrap_or(""));
        let first: String = first.chars().take(HISTORY_LINE_CHARS).collect();
        self.history.push(alloc::format!("round {round}: {}: {first}", by.words()));
        if self.history.len() > HISTORY_ROUNDS {
            self.history.remove(0);
        }
    }

    fn note_rejection(&mut self, by: super::facts::RejectedBy) {
        use super::facts::RejectedBy;
        self.last_rejection = Some(by);
        match by {
            RejectedBy::DoerFailed => self.maker_failures_in_a_row += 1,
            RejectedBy::Repetition => self.repetitions += 1,
            RejectedBy::Handoff
            | RejectedBy::NoChange
            | RejectedBy::Hazard
            | RejectedBy::Check
            | RejectedBy::Judge
            | RejectedBy::AuditCheck
            | RejectedBy::Auditor
            | RejectedBy::Gate => self.repetitions = 0,
        }
        // Nobody said no to a tree that somebody only could not judge: it may come again.
        let undecided = [&self.verdict, &self.gate]
            .into_iter()
            .flatten()
            .any(|(word, _)| *word == VerdictWord::NeedsHuman);
        if let Some(change) = self.change.as_ref().filter(|_| !undecided) {
            self.rejected_trees.entry(change.tree.clone()).or_insert(self.round);
        }
    }
}
