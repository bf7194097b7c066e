//! What must hold of every goal loop: no commit without a pass and a green suite on exactly that tree, none at L1 without a
//! person's yes to it, one item for each iteration, no counter past its cap, no third try of a known cause, no success with
//! an open item, none over a finding about its gate that nobody waived. Written against the facts alone.

use super::end::{Cap, Cause, End, Proposed};
use super::facts::{Ending, Fact as GoalFact, RejectedBy};
use super::queue::{Autonomy, Queue, Status, Work};
use super::spec::{Claimed, GoalSpec};
use crate::effect::{CommitItem, Effect, SuitePurpose};
use crate::fact::Fact;
use crate::kernel::budget::CapChange;
use crate::kernel::person::Word;
use crate::kernel::watched_gate::WatchedGate;
use crate::outcome::{Answer, Outcome, Usage, WorkspaceAfter};
use crate::protocol::Spec;
use crate::vocabulary::{CommitId, EffectId, Role, TreeId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn violations(facts: &[Fact], wrong: &mut Vec<String>) {
    let Some(Fact::RunStarted { spec: Spec::GoalContract(spec), .. }) = facts.first() else {
        return;
    };
    let mut watch = Watch::new(spec, wrong);
    for fact in facts {
        watch.see(fact);
    }
}

/// The loop as an observer sees it who knows only the facts.
struct Watch<'a> {
    spec: &'a GoalSpec,
    wrong: &'a mut Vec<String>,
    queue: Option<Queue>,
    requests: BTreeMap<EffectId, Effect>,
    open: BTreeSet<EffectId>,
    /// Trees on which the whole suite was green, and which an evaluator passed; from outcomes.
    green: BTreeSet<TreeId>,
    passed: BTreeSet<(String, TreeId)>,
    approved: BTreeSet<String>,
    gate: WatchedGate,
    iteration: u32,
    at_work: Option<(String, Work)>,
    accepted: BTreeSet<String>,
    commits: BTreeSet<CommitId>,
    items_committed: u32,
    committed: BTreeSet<String>,
    head: Option<CommitId>,
    causes: BTreeMap<String, Vec<String>>,
    rework: BTreeMap<String, u32>,
    parked: BTreeSet<String>,
    /// Put aside by a person.
    skipped: BTreeSet<String>,
    used: Usage,
    room: CapChange,
    known_cause: Option<String>,
    stop_asked: bool,
    concluded: Option<End>,
    /// The next iteration is a person's own.
    handed_back: bool,
    /// A person said something since the run ended, or let the item at hand be.
    answered: bool,
    skipping: bool,
    closed: bool,
}

impl<'a> Watch<'a> {
    fn new(spec: &'a GoalSpec, wrong: &'a mut Vec<String>) -> Self {
        Self {
            spec,
            wrong,
            queue: None,
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            green: BTreeSet::new(),
            passed: BTreeSet::new(),
            approved: BTreeSet::new(),
            gate: WatchedGate::new(spec.place.gate.clone()),
            iteration: 0,
            at_work: None,
            accepted: BTreeSet::new(),
            commits: BTreeSet::new(),
            items_committed: 0,
            committed: BTreeSet::new(),
            head: None,
            causes: BTreeMap::new(),
            rework: BTreeMap::new(),
            parked: BTreeSet::new(),
            skipped: BTreeSet::new(),
            used: Usage::default(),
            room: CapChange::default(),
            known_cause: None,
            stop_asked: false,
            concluded: None,
            handed_back: false,
            answered: false,
            skipping: false,
            closed: false,
        }
    }

    fn say(&mut self, sentence: &str) {
        self.wrong.push(format!("iteration {}: {sentence}", self.iteration));
    }

    fn see(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { effect, request } => self.requested(*effect, request),
            Fact::EffectSettled { effect, outcome } => {
                self.open.remove(effect);
                self.charge(outcome.usage());
                self.settled(*effect, outcome);
            }
            Fact::StopAsked { .. } => self.stop_asked = true,
            Fact::RunReopened { caps, note, .. } => self.reopened(*caps, note.is_some()),
            Fact::PersonSaid { word, .. } => self.heard(word),
            Fact::GoalContract(fact) => self.goal(fact),
            Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::LandingAsked { .. } => {
                self.say("a fact of another loop");
            }
            Fact::RunEnded => {
                let rests = self.concluded.as_ref().is_some_and(|end| end.outcome().is_none());
                if !self.closed && !rests {
                    self.say("the run ended without its summary");
                }
            }
            Fact::RunStarted { .. } => {}
        }
    }

    fn reopened(&mut self, more: CapChange, answered: bool) {
        match &self.concluded {
            Some(End::AwaitsApproval { .. }) if !self.answered => {
                self.say("a run that waits for a person's word was taken up without one");
            }
            Some(End::Escalated { cause: Cause::NothingReady { .. } }) => self.skipped.clear(),
            _ => {}
        }
        if matches!(self.concluded, Some(End::Escalated { .. } | End::HardKill { .. })) {
            self.causes.clear();
            if answered || more.more_rounds > 0 {
                self.rework.clear();
            }
            let skipped = &self.skipped;
            self.parked.retain(|item| skipped.contains(item));
        }
        self.room.add(more);
        self.answered = false;
        (self.stop_asked, self.closed, self.known_cause) = (false, false, None);
        self.concluded = None;
    }

    fn heard(&mut self, word: &Word) {
        self.answered = true;
        match word {
            Word::Approve { tree } => {
                match &self.concluded {
                    Some(End::AwaitsApproval { proposed, .. }) if proposed.name() == tree.as_str() => {}
                    _ => self.say("a person approved what was not proposed"),
                }
                self.approved.insert(tree.as_str().to_string());
            }
            Word::HandBack { .. } => {
                self.handed_back = true;
                self.rework.clear();
                if let Some((_, work)) = &mut self.at_work {
                    *work = Work::Rework;
                }
            }
            Word::Skip { .. } => self.skipping = true,
            Word::Waive(waiver) => self.gate.waive(core::slice::from_ref(waiver)),
            Word::TakeOver { .. } | Word::LetGo | Word::Reject { .. } => {}
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
            Effect::RunAgent(_)
                | Effect::RunSuite(_)
                | Effect::RunChecks(_)
                | Effect::InspectGate(_)
                | Effect::Wait(_)
        );
        if begins_work && (self.stop_asked || self.concluded.is_some()) {
            self.say("work was begun after the end or after a request to stop");
        }
        if begins_work && self.is_spent() {
            self.say("work was begun with nothing left of a cap");
        }
        match request {
            Effect::RunAgent(agent) => {
                if self.at_work.as_ref().map(|(item, _)| item) != agent.item.as_ref() {
                    self.say("an agent is asked about an item that is not the iteration's");
                }
                if self.known_cause.is_some() && agent.role == Role::Builder {
                    self.say("a third try after the same root cause twice");
                }
            }
            Effect::CommitItem(commit) => self.commit_requested(commit),
            _ => {}
        }
    }

    fn charge(&mut self, usage: Usage) {
        self.used.duration.0 = self.used.duration.0.saturating_add(usage.duration.0);
        self.used.output_bytes = self.used.output_bytes.saturating_add(usage.output_bytes);
        self.used.spend(&usage);
    }

    /// Whatever is asked for then would be used beyond a cap; so the most that can be is what one step uses.
    fn is_spent(&self) -> bool {
        let limits = self.queue.as_ref().map(|queue| queue.limits);
        let caps = &self.spec.caps;
        let reached = |used: u64, more: u64, caps: [Option<u64>; 2]| {
            caps.into_iter().flatten().any(|cap| used >= cap.saturating_add(more))
        };
        let time = [caps.time, limits.and_then(|limits| limits.time)].map(|cap| cap.map(|time| time.0));
        let tokens = [caps.tokens, limits.and_then(|limits| limits.tokens)];
        let money = [caps.cost_micros, limits.and_then(|limits| limits.cost_micros)];
        reached(self.used.duration.0, self.room.more_time.0, time)
            || reached(self.used.tokens, self.room.more_tokens, tokens)
            || reached(self.used.cost_micros, self.room.more_cost_micros, money)
            || reached(self.used.output_bytes, self.room.more_output_bytes, [caps.output_bytes, None])
    }

    fn commit_requested(&mut self, commit: &CommitItem) {
        if self.head.as_ref().is_some_and(|head| *head != commit.parent) {
            self.say("a commit is not made on the one before it");
        }
        let Some(item) = &commit.item else { return };
        if self.spec.suite.is_some() && !self.green.contains(&commit.tree) {
            self.say("a tree is to be committed on which the suite was not green");
        }
        if !self.passed.contains(&(item.clone(), commit.tree.clone())) {
            self.say("a tree is to be committed that no evaluator passed");
        }
        let level = self.queue.as_ref().map(|queue| super::next::level(queue, self.spec));
        if self.spec.suite.is_none() && level.is_some_and(|level| !level.may_lack_tests()) {
            self.say("a tree is to be committed without tests at a level that needs them");
        }
        self.gate_is_shut();
        if level.is_some_and(Autonomy::asks_before_commit) && !self.approved.contains(commit.tree.as_str()) {
            self.say("at L1 a tree is to be committed that no person approved");
        }
    }

    /// Neither committed nor shown to a person for approval.
    fn gate_is_shut(&mut self) {
        for sentence in self.gate.open(self.spec.measures().next().is_some(), 0) {
            self.say(&sentence);
        }
    }

    fn settled(&mut self, effect: EffectId, outcome: &Outcome) {
        let Some(request) = self.requests.get(&effect).cloned() else { return };
        match outcome {
            Outcome::ChangeCaptured(change) => self.gate.captured(change),
            Outcome::SuiteRan(report) if report.is_green() => {
                self.gate.checked(&report.gate, core::iter::empty());
            }
            Outcome::ChecksRan(report) if report.all_passed() => {
                self.gate.checked(&report.gate, core::iter::empty());
            }
            Outcome::GateInspected(report) => self.gate.inspected(report, 0),
            _ => {}
        }
        match (&request, outcome) {
            (Effect::CloseRun(_), Outcome::Closed) => self.closed = true,
            (Effect::RunSuite(_), Outcome::SuiteRan(report))
                if report.is_green()
                    && (report.purpose != SuitePurpose::Item || report.regressions.is_empty()) =>
            {
                self.green.insert(report.tree.clone());
            }
            (Effect::RunAgent(asked), Outcome::AgentEnded(report)) => {
                let (Some(item), Some(tree)) = (&asked.item, &asked.tree) else { return };
                let sound = report.workspace == WorkspaceAfter::Unchanged && report.trouble.is_none();
                if let (Answer::Evaluation(evaluation), true) = (&report.answer, sound)
                    && evaluation.pass
                {
                    self.passed.insert((item.clone(), tree.clone()));
                    self.gate.waive(&evaluation.waivers);
                }
            }
            (Effect::CommitItem(asked), Outcome::ItemCommitted { commit, .. }) => {
                if !self.commits.insert(commit.clone()) {
                    self.say("one commit was made twice");
                }
                self.items_committed += u32::from(asked.item.is_some());
                self.head = Some(commit.clone());
            }
            _ => {}
        }
    }

    fn goal(&mut self, fact: &GoalFact) {
        match fact {
            GoalFact::BaseFixed { commit, .. } => self.head = Some(commit.clone()),
            GoalFact::QueueTaken { queue } => self.queue = Some((**queue).clone()),
            GoalFact::IterationOpened { iteration, item, work, .. } => self.opened(*iteration, item, *work),
            GoalFact::IterationEnded { item, result, .. } => self.iteration_ended(item, result),
            GoalFact::ItemParked { item, .. } => {
                self.parked.insert(item.clone());
                if core::mem::take(&mut self.skipping) {
                    self.skipped.insert(item.clone());
                }
                self.known_cause = None;
            }
            GoalFact::ItemCommitted { item, .. } if !self.committed.insert(item.clone()) => {
                self.say("an item has two commits");
            }
            GoalFact::Concluded { end } => self.concludes(end),
            _ => {}
        }
    }

    fn opened(&mut self, iteration: u32, item: &str, work: Work) {
        if self.at_work.is_some() {
            self.say("an iteration was opened while one was open");
        }
        self.skipping = false;
        if iteration != self.iteration.saturating_add(1) {
            self.say("iterations are not counted one by one");
        }
        self.iteration = iteration;
        let queue = self.queue.clone();
        if !queue.as_ref().is_some_and(|queue| queue.scope.iter().any(|id| id == item)) {
            self.say("an item outside the scope was begun");
        }
        if self.parked.contains(item) {
            self.say("an item that was put aside was begun");
        }
        let cap = queue.map_or(0, |queue| queue.limits.iterations.min(self.spec.caps.rounds));
        // A person who hands work back is not held up by a cap on agents.
        let of_a_person = core::mem::take(&mut self.handed_back);
        if iteration > cap.saturating_add(self.room.more_rounds) && !of_a_person {
            self.say("more iterations than the cap");
        }
        self.at_work = Some((item.to_string(), work));
    }

    fn iteration_ended(&mut self, item: &str, result: &Ending) {
        let at_work = self.at_work.take();
        if at_work.as_ref().is_none_or(|(id, _)| id != item) {
            self.say("an iteration ended that was not open");
        }
        match result {
            Ending::Accepted => {
                let checked_only = at_work.as_ref().is_some_and(|(_, work)| *work == Work::Recheck);
                if !checked_only && !self.committed.contains(item) {
                    self.say("an item was accepted that was not committed");
                }
                self.accepted.insert(item.to_string());
            }
            Ending::Rework { by, key, .. } => {
                let counts = at_work.is_some_and(|(_, work)| work != Work::Recheck);
                *self.rework.entry(item.to_string()).or_default() += u32::from(counts);
                let causes = self.causes.entry(item.to_string()).or_default();
                if *by != RejectedBy::Person {
                    if causes.contains(key) {
                        self.known_cause = Some(item.to_string());
                    }
                    causes.push(key.clone());
                }
            }
            Ending::Inconclusive { .. } | Ending::Escalated { .. } => {}
        }
        let limit = self.queue.as_ref().map_or(u32::MAX, |queue| queue.limits.rework);
        let limit = self.spec.tightened.rework.map_or(limit, |least| least.min(limit)).max(1);
        if self.rework.get(item).is_some_and(|rework| *rework > limit) {
            self.say("more rework than the cap");
        }
    }

    fn concludes(&mut self, end: &End) {
        let limits = self.queue.as_ref().map(|queue| queue.limits);
        if matches!(end, End::AwaitsApproval { proposed: Proposed::Change { .. }, .. }) {
            self.gate_is_shut();
        }
        match end {
            End::Success => self.succeeds(),
            End::HardKill { cap: Cap::Commits }
                if limits.is_some_and(|limits| {
                    let cap =
                        self.spec.tightened.commits.map_or(limits.commits, |cap| cap.min(limits.commits));
                    self.items_committed < cap
                }) =>
            {
                self.say("ended for a cap on commits that was not reached");
            }
            End::AsAsked { .. } if !self.spec.once || self.accepted.is_empty() => {
                self.say("ended as asked, which nobody asked for or nothing was accepted for");
            }
            End::AwaitsApproval { item, proposed: Proposed::Change { tree } }
                if !self.passed.contains(&(item.clone(), tree.clone())) =>
            {
                self.say("a person is asked to approve what no evaluator passed");
            }
            _ => {}
        }
        self.concluded = Some(end.clone());
    }

    fn succeeds(&mut self) {
        let Some(queue) = &self.queue else { return self.say("success without a queue") };
        let counts = |status: Status, passed: bool| match status {
            Status::Complete => passed || self.spec.claimed == Claimed::Trust,
            Status::Existing => self.spec.claimed == Claimed::Trust,
            Status::Cancelled => true,
            Status::NotStarted | Status::InProgress | Status::NeedsRework | Status::Blocked => false,
        };
        let open: Vec<String> = queue
            .in_scope()
            .filter(|item| item.counts())
            .filter(|item| !self.accepted.contains(&item.id) && !counts(item.status, item.passed_before))
            .map(|item| item.id.clone())
            .collect();
        if !open.is_empty() {
            self.say(&format!("success with open items: {}", open.join(", ")));
        }
    }
}
