//! What must hold of every task loop: nobody marks their own work, a verdict and a landing speak of one tree, caps hold,
//! and nothing that was said to the maker is dropped. Written against the facts alone, not against `decide`.

use super::end::End;
use super::facts::{Fact as TaskFact, Source};
use super::spec::{AuditPolicy, Landing, TaskSpec};
use crate::effect::{Ask, Effect, Purpose};
use crate::fact::Fact;
use crate::kernel::gate::counted;
use crate::kernel::person::Word;
use crate::kernel::watched_gate::WatchedGate;
use crate::outcome::{Answer, Outcome, StepEnd, VerdictWord, WorkspaceAfter};
use crate::protocol::Spec;
use crate::vocabulary::{ArtifactRef, EffectId, Role, TreeId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn violations(facts: &[Fact], wrong: &mut Vec<String>) {
    let Some(Fact::RunStarted { spec: Spec::JudgedTask(spec), .. }) = facts.first() else {
        return;
    };
    let mut watch = Watch::new(spec, wrong);
    for fact in facts {
        watch.see(fact);
    }
}

/// What an observer who knows only the facts can vouch for.
struct Watch<'a> {
    spec: &'a TaskSpec,
    wrong: &'a mut Vec<String>,
    rounds_allowed: u32,
    round: u32,
    requests: BTreeMap<EffectId, Effect>,
    open: BTreeSet<EffectId>,
    tree: Option<TreeId>,
    handoff: bool,
    /// What a person handed back, and their hand-off.
    handed_back: Option<(TreeId, ArtifactRef)>,
    checks_passed_on: Option<TreeId>,
    audit_checks_passed_on: Option<TreeId>,
    judge_passed: Option<TreeId>,
    auditor_passed: Option<TreeId>,
    gate: WatchedGate,
    accepted: Option<TreeId>,
    stop_asked: bool,
    concluded: bool,
    closed: bool,
    feedback: Vec<String>,
    landing: Landing,
}

impl<'a> Watch<'a> {
    fn new(spec: &'a TaskSpec, wrong: &'a mut Vec<String>) -> Self {
        Self {
            spec,
            wrong,
            rounds_allowed: spec.caps.rounds,
            round: 0,
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            tree: None,
            handoff: false,
            handed_back: None,
            checks_passed_on: None,
            audit_checks_passed_on: None,
            judge_passed: None,
            auditor_passed: None,
            gate: WatchedGate::new(spec.place.gate.clone()),
            accepted: None,
            stop_asked: false,
            concluded: false,
            closed: false,
            feedback: Vec::new(),
            landing: spec.landing.clone(),
        }
    }

    fn say(&mut self, sentence: &str) {
        self.wrong.push(format!("round {}: {sentence}", self.round));
    }

    fn see(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { effect, request } => self.requested(*effect, request),
            Fact::EffectSettled { effect, outcome } => {
                self.open.remove(effect);
                self.settled(*effect, outcome);
            }
            Fact::StopAsked { .. } => self.stop_asked = true,
            Fact::RunReopened { caps, note, .. } => {
                self.rounds_allowed = self.rounds_allowed.saturating_add(caps.more_rounds);
                self.stop_asked = false;
                self.concluded = false;
                self.closed = false;
                self.accepted = None;
                if let Some(note) = note {
                    self.feedback.push(format!("- [human] {note}"));
                }
            }
            Fact::LandingAsked { landing, .. } => {
                self.landing = landing.clone();
                self.closed = false;
            }
            Fact::JudgedTask(fact) => self.task(fact),
            Fact::RunEnded if !self.closed => self.say("the run ended without its summary"),
            Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_) => {
                self.say("a fact of another loop");
            }
            Fact::PersonSaid { word: Word::Waive(waiver), .. } => {
                self.gate.waive(core::slice::from_ref(waiver));
            }
            Fact::PersonSaid { word: Word::HandBack { tree, report }, .. } => {
                self.handed_back = Some((tree.clone(), report.clone()));
            }
            Fact::RunStarted { .. } | Fact::PersonSaid { .. } | Fact::RunEnded => {}
        }
    }

    fn requested(&mut self, effect: EffectId, request: &Effect) {
        if !self.open.is_empty() {
            self.say("a second effect was requested while one was under way");
        }
        self.open.insert(effect);
        self.requests.insert(effect, request.clone());
        let begins_work = matches!(
            request,
            Effect::RunAgent(_) | Effect::RunChecks(_) | Effect::InspectGate(_) | Effect::Wait(_)
        );
        if begins_work && self.stop_asked {
            self.say("a step began after somebody asked to stop");
        }
        if begins_work && self.concluded {
            self.say("a step began after the run was concluded");
        }
        match request {
            Effect::RunAgent(agent) => {
                if agent.round != self.round {
                    self.say("an agent was asked for another round than the open one");
                }
                if !agent.role.may_write() && agent.tree != self.tree {
                    self.say("a checker was given another tree than the captured one");
                }
                if let (Role::Doer, Ask::Fresh { feedback, .. }) = (agent.role, &agent.ask)
                    && *feedback != self.feedback
                {
                    self.say("the doer was not told what the last round was rejected for");
                }
            }
            Effect::LandChange(land) => {
                if Some(&land.tree) != self.accepted.as_ref() {
                    self.say("a tree is landed that was not accepted");
                }
                if land.landing != self.landing || self.landing == Landing::None {
                    self.say("a change is landed where nobody asked for it");
                }
            }
            Effect::Measure(_)
            | Effect::CommitIteration(_)
            | Effect::ReadQueue { .. }
            | Effect::RunSuite(_)
            | Effect::CommitItem(_) => self.say("a step of another loop was asked for"),
            Effect::PrepareWorkspaces
            | Effect::RunChecks(_)
            | Effect::InspectGate(_)
            | Effect::CaptureChange { .. }
            | Effect::Wait(_)
            | Effect::Plane(_)
            | Effect::CloseRun(_) => {}
        }
    }

    /// Remembers only what independent evidence established.
    fn settled(&mut self, effect: EffectId, outcome: &Outcome) {
        match (self.requests.get(&effect), outcome) {
            (Some(Effect::RunChecks(asked)), Outcome::ChecksRan(report))
                if asked.purpose == Purpose::Baseline =>
            {
                self.gate.baseline(counted(&report.results));
            }
            (Some(Effect::RunChecks(asked)), Outcome::ChecksRan(report)) if report.all_passed() => {
                match asked.purpose {
                    Purpose::Baseline => {}
                    Purpose::Acceptance => {
                        self.checks_passed_on = Some(asked.tree.clone());
                        self.gate.checked(&report.gate, counted(&report.results));
                    }
                    Purpose::Audit => self.audit_checks_passed_on = Some(asked.tree.clone()),
                }
            }
            (Some(Effect::RunAgent(asked)), Outcome::AgentEnded(report)) => {
                let kept_to_its_place =
                    asked.role.may_write() || !matches!(report.workspace, WorkspaceAfter::Changed { .. });
                let ended_well = report.end == StepEnd::Exited { code: 0 } && report.trouble.is_none();
                let sound = ended_well && kept_to_its_place;
                match &report.answer {
                    Answer::Verdict(verdict)
                        if sound
                            && asked.role == Role::Judge
                            && verdict.word == VerdictWord::Pass
                            && verdict.requirements_missing.is_empty() =>
                    {
                        self.judge_passed.clone_from(&asked.tree);
                        self.gate.waive(&verdict.waivers);
                    }
                    Answer::Audit(audit)
                        if sound
                            && asked.role == Role::Auditor
                            && audit.word == VerdictWord::Pass
                            && audit.contradictions.is_empty() =>
                    {
                        self.auditor_passed.clone_from(&asked.tree);
                    }
                    Answer::Handoff(_) if sound && asked.role == Role::Doer => self.handoff = true,
                    _ => {}
                }
            }
            (Some(Effect::CaptureChange { .. }), Outcome::ChangeCaptured(change)) => {
                self.tree = Some(change.tree.clone());
                self.gate.captured(change);
            }
            (Some(Effect::InspectGate(_)), Outcome::GateInspected(report)) => self.gate.inspected(report, 0),
            (Some(Effect::LandChange(asked)), Outcome::Landed(landed)) if landed.tree != asked.tree => {
                self.say("the landed tree is not the judged tree");
            }
            (Some(Effect::CloseRun(_)), Outcome::Closed) => self.closed = true,
            _ => {}
        }
    }

    fn task(&mut self, fact: &TaskFact) {
        match fact {
            TaskFact::RoundOpened { round } => {
                let first = self.spec.adopted.as_ref().map_or(1, |adopted| adopted.round);
                let expected = if self.round == 0 { first } else { self.round.saturating_add(1) };
                if *round != expected {
                    self.say(&format!("round {round} was opened out of turn"));
                }
                if *round > self.rounds_allowed.max(first) {
                    self.say(&format!("round {round} was opened, {} are allowed", self.rounds_allowed));
                }
                self.round = *round;
                self.tree = None;
                self.handoff = false;
                self.checks_passed_on = None;
                self.audit_checks_passed_on = None;
                self.judge_passed = None;
                self.auditor_passed = None;
                self.take_over(*round);
            }
            TaskFact::VerdictTaken { role, word, tree, source, feedback, .. } => {
                self.word_is_backed(*role, *word, tree, source);
                if !feedback.is_empty() {
                    self.feedback.clone_from(feedback);
                }
            }
            TaskFact::RoundRejected { feedback, .. } => {
                if feedback.is_empty() {
                    self.say("a round was rejected without a word why");
                }
                self.feedback.clone_from(feedback);
            }
            TaskFact::Concluded { end } => {
                self.concluded = true;
                if let End::Accepted { tree } = end {
                    self.accepted = Some(tree.clone());
                    self.acceptance_is_earned(tree);
                }
            }
            TaskFact::Landed { tree, .. } if Some(tree) != self.accepted.as_ref() => {
                self.say("a tree was landed that was not accepted");
            }
            TaskFact::HandoffTaken { handoff } => {
                let own = self.handed_back.as_ref().map(|(_, report)| report);
                self.handoff |= own == Some(&handoff.artifact);
            }
            TaskFact::ChangeTaken { change } => {
                if self.handed_back.take().is_some_and(|(tree, _)| tree != change.tree) {
                    self.say("another tree was taken than the one a person handed back");
                }
            }
            TaskFact::BaseFixed { .. }
            | TaskFact::BaselineMeasured { .. }
            | TaskFact::ChecksPassed { .. }
            | TaskFact::GateInspected { .. }
            | TaskFact::RepairAsked { .. }
            | TaskFact::StepRetried { .. }
            | TaskFact::AgentOut { .. }
            | TaskFact::Landed { .. } => {}
        }
    }

    /// Words brought along by a run that was begun elsewhere count for its round only.
    fn take_over(&mut self, round: u32) {
        if let Some(adopted) = self.spec.adopted.as_ref().filter(|adopted| adopted.round == round) {
            self.handoff = adopted.handoff.is_some();
        }
    }

    fn word_is_backed(&mut self, role: Role, word: VerdictWord, tree: &TreeId, source: &Source) {
        if word != VerdictWord::Pass {
            return;
        }
        if self.tree.as_ref() != Some(tree) {
            self.say("a verdict speaks of another tree than the captured one");
        }
        let adopted = self
            .spec
            .adopted
            .as_ref()
            .filter(|adopted| adopted.round == self.round && adopted.tree.as_ref() == Some(tree));
        let brought = match (role, source, adopted) {
            (Role::Judge, Source::Agent { artifact }, Some(adopted)) => adopted
                .verdict
                .as_ref()
                .is_some_and(|verdict| verdict.artifact == *artifact && verdict.word == VerdictWord::Pass),
            (Role::Auditor, Source::Agent { artifact }, Some(adopted)) => adopted
                .audit
                .as_ref()
                .is_some_and(|audit| audit.artifact == *artifact && audit.word == VerdictWord::Pass),
            _ => false,
        };
        if brought {
            match role {
                Role::Auditor => self.auditor_passed = Some(tree.clone()),
                _ => self.judge_passed = Some(tree.clone()),
            }
        }
        let backed = match role {
            Role::Auditor => self.auditor_passed.as_ref() == Some(tree),
            Role::Judge => self.judge_passed.as_ref() == Some(tree),
            _ => false,
        };
        if !backed {
            self.say(&format!("a pass of the {role} is recorded that the {role} did not give"));
        }
    }

    fn acceptance_is_earned(&mut self, tree: &TreeId) {
        let mut missing = Vec::new();
        let on = |seen: &Option<TreeId>| seen.as_ref() == Some(tree);
        if !self.handoff {
            missing.push("a hand-off");
        }
        if !on(&self.tree) {
            missing.push("the captured tree");
        }
        if !self.spec.checks.is_empty() && !on(&self.checks_passed_on) {
            missing.push("green checks on that tree");
        }
        if !on(&self.judge_passed) {
            missing.push("the judge's pass on that tree");
        }
        if self.spec.audit == AuditPolicy::Required {
            if !self.spec.audit_checks.is_empty() && !on(&self.audit_checks_passed_on) {
                missing.push("green audit checks on that tree");
            }
            if !on(&self.auditor_passed) {
                missing.push("the auditor's pass on that tree");
            }
        }
        let open = self.gate.open(!self.spec.checks.is_empty(), 0);
        for sentence in open {
            self.say(&sentence);
        }
        for what in missing {
            let sentence = format!("accepted without {what}").to_string();
            self.say(&sentence);
        }
    }
}
