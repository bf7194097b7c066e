//! One way to test a decision of the goal loop: a `Script` starts a run, answers whatever is waited for, and says what must
//! come of it. After every answer it holds the run against its replay at every point, its invariants and the rule of one
//! step.

use crate::words::{
    BASE, BASE_TREE, NO_MORE, STEP, artifact, built, change, lines, pass, report, spec, suite,
};
use windlass_protocols::effect::{Ask, CommitItem, Effect, RunAgent, RunSuite};
use windlass_protocols::fact::Fact;
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    AgentReport, Answer, CapturedChange, CheckResult, ChecksReport, Outcome, StepEnd, SuiteReport, Trouble,
    WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact as GoalFact};
use windlass_protocols::protocol::goal_contract::queue::Queue;
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{
    Actor, CommitId, EffectId, Millis, Observation, Rejection, Role, Run, RunId, Stamped, TreeId, decide,
    invariants,
};

pub(crate) struct Script {
    run: Run,
    facts: Vec<Fact>,
    /// Where the facts of the last observation begin.
    last: usize,
    now: u64,
    /// What is in the files when they are read next.
    files: Queue,
}

/// Where a script starts and how it moves.
impl Script {
    pub(crate) fn unborn(files: Queue) -> Self {
        Self { run: Run::default(), facts: Vec::new(), last: 0, now: 1_000, files }
    }

    /// A run that waits for its workspaces.
    pub(crate) fn start(spec: GoalSpec, files: Queue) -> Self {
        let mut script = Self::unborn(files);
        script.observe(start(spec)).expect("the spec is a good one");
        script
    }

    /// A run whose baseline is taken, twice green, and whose first decision is made.
    pub(crate) fn with(spec: GoalSpec, files: Queue) -> Self {
        let script = Self::start(spec, files).prepared().read();
        if script.run.ended || !matches!(script.waiting(), Effect::RunSuite(_)) {
            return script;
        }
        script.green().green()
    }

    /// As `with`, for a run as most are.
    pub(crate) fn of(files: Queue) -> Self {
        Self::with(spec(), files)
    }

    pub(crate) fn observe(&mut self, body: Observation) -> Result<(), Rejection> {
        self.now += 1_000;
        let by = match body {
            Observation::EffectFinished { .. } => Actor::Engine,
            _ => Actor::Human("ada".to_owned()),
        };
        let facts = decide(&self.run, &Stamped { at: Millis(self.now), by, body })?;
        self.last = self.facts.len();
        for fact in facts {
            self.run.evolve(&fact);
            self.facts.push(fact);
            assert_eq!(self.run, Run::replay(&self.facts), "the replay differs from the live run");
        }
        let wrong = invariants::violations(&self.facts);
        assert_eq!(wrong, Vec::<String>::new(), "after {:#?}", self.fact_names());
        let expected = usize::from(!self.run.ended);
        assert_eq!(self.run.unsettled.len(), expected, "a running run waits for exactly one step");
        Ok(())
    }

    pub(crate) fn answer(mut self, outcome: Outcome) -> Self {
        let effect = self.waiting_id();
        self.observe(Observation::EffectFinished { effect, outcome })
            .expect("an answer to what is waited for");
        self
    }

    /// People edit the files; the run sees it when it reads them.
    pub(crate) fn edited(mut self, edit: impl FnOnce(&mut Queue)) -> Self {
        edit(&mut self.files);
        self
    }
}

/// What the world answers.
impl Script {
    pub(crate) fn prepared(self) -> Self {
        self.answer(Outcome::Prepared { base: CommitId::new(BASE), base_tree: TreeId::new(BASE_TREE) })
    }

    /// The files are read as they are.
    pub(crate) fn read(self) -> Self {
        let files = Box::new(self.files.clone());
        self.answer(Outcome::QueueRead(files))
    }

    pub(crate) fn tested(self, bend: impl FnOnce(&mut SuiteReport)) -> Self {
        let asked = self.suite();
        let mut report = suite(asked.purpose, &asked.tree);
        bend(&mut report);
        self.answer(Outcome::SuiteRan(Box::new(report)))
    }

    pub(crate) fn green(self) -> Self {
        self.tested(|_| {})
    }

    /// These tests are red; those of them that are named again were green before.
    pub(crate) fn red(self, failing: &[&str], regressions: &[&str]) -> Self {
        self.tested(|report| {
            report.end = StepEnd::Exited { code: 1 };
            report.failing = lines(failing);
            report.regressions = lines(regressions);
        })
    }

    /// The asked agent leaves that answer, and more is changed about its report.
    pub(crate) fn reports(self, answer: Answer, bend: impl FnOnce(&mut AgentReport)) -> Self {
        let mut report = report(self.asked().role, answer);
        bend(&mut report);
        self.answer(Outcome::from(report))
    }

    pub(crate) fn leaves(self, answer: Answer) -> Self {
        self.reports(answer, |_| {})
    }

    pub(crate) fn exits(self, code: i32) -> Self {
        self.reports(Answer::Missing, |report| report.end = StepEnd::Exited { code })
    }

    pub(crate) fn has(self, trouble: Trouble) -> Self {
        self.reports(Answer::Missing, |report| {
            report.end = StepEnd::Exited { code: 1 };
            report.trouble = Some(trouble);
        })
    }

    /// The asked agent, which may only read, answers well and changed these files.
    pub(crate) fn edits(self, answer: Answer, paths: &[&str]) -> Self {
        let paths = lines(paths);
        self.reports(answer, |report| report.workspace = WorkspaceAfter::Changed { paths })
    }

    pub(crate) fn captured(self, tree: &str) -> Self {
        self.captured_as(tree, |_| {})
    }

    pub(crate) fn captured_as(self, tree: &str, bend: impl FnOnce(&mut CapturedChange)) -> Self {
        let Effect::CaptureChange { round } = self.waiting() else {
            panic!("no snapshot is waited for, but {}", self.waiting().name());
        };
        let mut change = change(*round, tree);
        bend(&mut change);
        self.answer(Outcome::ChangeCaptured(change))
    }

    /// The builder builds and leaves that tree.
    pub(crate) fn builds(self, tree: &str) -> Self {
        assert_eq!(self.asked().role, Role::Builder);
        self.leaves(built()).captured(tree)
    }

    /// The builder's tree is green and the evaluator says this of it.
    pub(crate) fn judged(self, tree: &str, verdict: Answer) -> Self {
        let script = self.builds(tree).green();
        assert_eq!(script.asked().role, Role::Evaluator);
        script.leaves(verdict)
    }

    /// Built, green and passed; at L2 the commit is asked for next.
    pub(crate) fn passed(self, tree: &str) -> Self {
        self.judged(tree, pass())
    }

    /// As `passed`, then committed; the files are to be read again.
    pub(crate) fn accepted(self, tree: &str) -> Self {
        self.passed(tree).committed()
    }

    pub(crate) fn committed(self) -> Self {
        let asked = self.commit();
        let commit = CommitId::new(format!(
            "{} of {} at {}",
            asked.item.as_deref().unwrap_or("summary"),
            asked.tree,
            asked.decided_at.0
        ));
        let tree = asked.tree.clone();
        self.answer(Outcome::ItemCommitted { commit, tree })
    }

    /// Every pre-commit command ends so.
    pub(crate) fn pre_checked(self, code: i32) -> Self {
        self.pre_checked_as(|report| {
            report.results.iter_mut().for_each(|result| result.end = StepEnd::Exited { code });
        })
    }

    pub(crate) fn pre_checked_as(self, bend: impl FnOnce(&mut ChecksReport)) -> Self {
        let Effect::RunChecks(asked) = self.waiting() else {
            panic!("no checks are waited for, but {}", self.waiting().name());
        };
        let result = |command: &String| CheckResult {
            command: command.clone(),
            end: StepEnd::Exited { code: 0 },
            tail: "line 3: tab".to_owned(),
            duration: Millis(20),
            tests: None,
        };
        let mut report = ChecksReport {
            purpose: asked.purpose,
            tree: asked.tree.clone(),
            results: asked.commands.iter().map(result).collect(),
            evidence: Vec::new(),
            usage: STEP,
            gate: Vec::new(),
        };
        bend(&mut report);
        self.answer(Outcome::ChecksRan(report))
    }

    pub(crate) fn refused(self, reason: &str) -> Self {
        self.answer(Outcome::Refused { reason: reason.to_owned() })
    }

    pub(crate) fn lost(self) -> Self {
        self.answer(Outcome::Lost { reason: "the machine went down".to_owned(), usage: STEP })
    }

    pub(crate) fn stop_asked(mut self) -> Self {
        let stop = Observation::StopRequested { reason: "lunch".to_owned() };
        self.observe(stop).expect("a running run can be asked to stop");
        self
    }

    pub(crate) fn reopened(mut self, caps: CapChange, note: Option<&str>) -> Self {
        self.observe(reopen(caps, note)).expect("the run can be taken up again");
        self
    }

    pub(crate) fn resumed(self) -> Self {
        self.reopened(NO_MORE, None)
    }

    pub(crate) fn says(mut self, word: Word) -> Self {
        self.observe(Observation::PersonSaid { word }).expect("the run waits for that word");
        self
    }
}

/// What there is to see.
impl Script {
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn state(&self) -> &State {
        let started = self.run.started.as_ref().expect("the run has started");
        match &started.protocol {
            Protocol::GoalContract(state) => state,
            Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => {
                panic!("a script of the goal loop runs the goal loop")
            }
        }
    }

    fn waiting_id(&self) -> EffectId {
        *self.run.unsettled.keys().next().expect("a step is waited for")
    }

    pub(crate) fn waiting(&self) -> &Effect {
        let ended = || panic!("the run has ended: {:?}", self.state().end);
        self.run.unsettled.values().next().unwrap_or_else(ended)
    }

    pub(crate) fn asked(&self) -> &RunAgent {
        match self.waiting() {
            Effect::RunAgent(asked) => asked,
            other => panic!("no agent is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn suite(&self) -> &RunSuite {
        match self.waiting() {
            Effect::RunSuite(asked) => asked,
            other => panic!("no suite is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn commit(&self) -> &CommitItem {
        match self.waiting() {
            Effect::CommitItem(asked) => asked,
            other => panic!("no commit is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    fn fact_names(&self) -> Vec<&'static str> {
        self.facts.iter().map(Fact::name).collect()
    }

    pub(crate) fn times(&self, name: &str) -> usize {
        self.facts.iter().filter(|fact| fact.name() == name).count()
    }

    /// How the iterations ended so far.
    pub(crate) fn endings(&self) -> Vec<&Ending> {
        self.facts
            .iter()
            .filter_map(|fact| match fact {
                Fact::GoalContract(GoalFact::IterationEnded { result, .. }) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// What the asked agent is told.
    pub(crate) fn told(&self) -> Vec<String> {
        match &self.asked().ask {
            Ask::Fresh { feedback, .. } => feedback.clone(),
            Ask::Repair { .. } => panic!("the {} is asked to repair its answer", self.asked().role),
        }
    }

    pub(crate) fn faults(&self) -> &[String] {
        match &self.asked().ask {
            Ask::Repair { faults } => faults,
            Ask::Fresh { .. } => panic!("nothing is to be repaired"),
        }
    }
}

/// What must have come of it.
impl Script {
    /// Asserts that this role is asked about this item.
    pub(crate) fn asks(self, role: Role, item: &str) -> Self {
        assert_eq!((self.asked().role, self.asked().item.as_deref()), (role, Some(item)));
        self
    }

    pub(crate) fn decides(self, names: &[&str]) -> Self {
        let last: Vec<_> = self.facts[self.last..].iter().map(Fact::name).collect();
        assert_eq!(last, names);
        self
    }

    /// Asserts how the run ends; a closing commit and the summary are let through.
    pub(crate) fn ends(self, end: &End) -> Self {
        assert_eq!(self.state().end.as_ref(), Some(end), "{:?}", self.run.unsettled);
        let mut script = self;
        if !script.run.ended && matches!(script.waiting(), Effect::CommitItem(_)) {
            assert_eq!(script.commit().item, None, "an item's commit after the end");
            script = script.committed();
        }
        if let Some(word) = end.outcome() {
            let Effect::CloseRun(close) = script.waiting() else {
                panic!("no summary is waited for, but {}", script.waiting().name());
            };
            assert_eq!(close.final_verdict, word);
        }
        if !script.run.ended {
            script = script.answer(Outcome::Closed);
        }
        assert!(script.run.ended, "the run has not ended");
        script
    }

    pub(crate) fn escalates(self, cause: Cause) -> Self {
        self.ends(&End::Escalated { cause })
    }

    pub(crate) fn killed_by(self, cap: Cap) -> Self {
        self.ends(&End::HardKill { cap })
    }

    pub(crate) fn unready_for(self, why: NotReady) -> Self {
        self.ends(&End::NotReady { why })
    }

    pub(crate) fn refuses(mut self, body: Observation, rejection: &Rejection) -> Self {
        let (run, facts) = (self.run.clone(), self.facts.len());
        assert_eq!(self.observe(body).as_ref(), Err(rejection));
        assert_eq!((&self.run, self.facts.len()), (&run, facts), "a refusal changed something");
        self
    }

    pub(crate) fn does_not_hear(self, word: Word, why: &str) -> Self {
        let why = why.to_owned();
        self.refuses(Observation::PersonSaid { word }, &Rejection::NotAsked { why })
    }

    pub(crate) fn refuses_tree(self, named: &str, waits: &str) -> Self {
        let body = Observation::PersonSaid { word: approve(named) };
        let (named, waits) = (TreeId::new(named), TreeId::new(waits));
        self.refuses(body, &Rejection::OtherTree { named, waits })
    }

    /// Asserts that this waits until the person who took the work over has handed it back.
    pub(crate) fn waits_for_the_hand_back(self, body: Observation) -> Self {
        let by = Actor::Human("ada".to_owned());
        self.refuses(body, &Rejection::TakenOver { by, branch: "ada/by-hand".to_owned() })
    }

    pub(crate) fn refuses_reopening(self, why: &str) -> Self {
        let why = why.to_owned();
        self.refuses(reopen(NO_MORE, None), &Rejection::NothingToReopen { why })
    }
}

pub(crate) fn start(spec: GoalSpec) -> Observation {
    Observation::Start { run: RunId::new("run-1"), spec: Spec::GoalContract(Box::new(spec)) }
}

pub(crate) fn reopen(caps: CapChange, note: Option<&str>) -> Observation {
    Observation::Reopened { caps, note: note.map(ToOwned::to_owned), limits: NewLimits::default() }
}

pub(crate) fn approve(tree: &str) -> Word {
    Word::Approve { tree: TreeId::new(tree) }
}

pub(crate) fn reject(reason: &str) -> Word {
    Word::Reject { reason: reason.to_owned() }
}

pub(crate) fn skip() -> Word {
    Word::Skip { reason: "not now".to_owned() }
}

pub(crate) fn take_over() -> Word {
    Word::TakeOver { branch: "ada/by-hand".to_owned() }
}

pub(crate) fn hand_back(tree: &str) -> Word {
    Word::HandBack { tree: TreeId::new(tree), report: artifact("handoff.json") }
}
