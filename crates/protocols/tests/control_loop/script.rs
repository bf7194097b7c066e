//! One way to test a decision of the control loop: a `Script` starts a run, answers whatever is waited for, and says what
//! must come of it. After every answer it holds the run against its replay, its invariants and the rule of one step.

use crate::words::{BASE, BASE_TREE, STEP, change, done, met, plan, reading, report};
use windlass_protocols::effect::{Ask, CommitIteration, Effect, Measure, RunAgent};
use windlass_protocols::fact::Fact;
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::outcome::{
    AgentReport, Answer, CapturedChange, Measured, Outcome, Reading, ReadingStatus, StepEnd, Trouble,
    WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd};
use windlass_protocols::protocol::feedback_control::facts::{Fact as ControlFact, NewLimits};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::protocol::feedback_control::state::State;
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
}

/// Where a script starts and how it moves.
impl Script {
    pub(crate) fn unborn() -> Self {
        Self { run: Run::default(), facts: Vec::new(), last: 0, now: 1_000 }
    }

    /// A run that waits for its workspaces.
    pub(crate) fn start(spec: ControlSpec) -> Self {
        let mut script = Self::unborn();
        script.observe(start(spec)).expect("the spec is a good one");
        script
    }

    /// A run whose outermost controller is asked for the first time; every sensor fails at the base.
    pub(crate) fn at_controller(spec: ControlSpec) -> Self {
        let script = Self::start(spec).prepared();
        let measures = matches!(script.waiting(), Effect::Measure(_));
        let script = if measures { script.all_fail() } else { script };
        script.committed()
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
        }
        assert_eq!(self.run, Run::replay(&self.facts), "the replay differs from the live run");
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
}

/// What the world answers.
impl Script {
    pub(crate) fn prepared(self) -> Self {
        self.answer(Outcome::Prepared { base: CommitId::new(BASE), base_tree: TreeId::new(BASE_TREE) })
    }

    /// Every sensor that is asked for reads as told; the bool of a reading's requirement comes from the request.
    pub(crate) fn measured_by(self, read: impl Fn(&str) -> Reading) -> Self {
        let asked = self.measure();
        let readings = asked
            .sensors
            .iter()
            .map(|sensor| Reading { required: sensor.required, ..read(&sensor.name) })
            .collect();
        let report = Measured { tree: asked.tree.clone(), readings, usage: STEP, gate: Vec::new() };
        self.answer(Outcome::Measured(report))
    }

    /// The named sensors fail, the others pass.
    pub(crate) fn failing(self, names: &[&str]) -> Self {
        self.measured_by(|name| {
            let status = if names.contains(&name) { ReadingStatus::Fail } else { ReadingStatus::Pass };
            reading(name, status, true)
        })
    }

    pub(crate) fn all_pass(self) -> Self {
        self.failing(&[])
    }

    pub(crate) fn all_fail(self) -> Self {
        self.measured_by(|name| reading(name, ReadingStatus::Fail, true))
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
        let paths = crate::words::lines(paths);
        self.reports(answer, |report| report.workspace = WorkspaceAfter::Changed { paths })
    }

    pub(crate) fn plans(self) -> Self {
        assert_eq!(self.asked().role, Role::Controller);
        self.leaves(plan())
    }

    pub(crate) fn claims(self) -> Self {
        assert_eq!(self.asked().role, Role::Controller);
        self.leaves(met())
    }

    pub(crate) fn acts(self) -> Self {
        assert_eq!(self.asked().role, Role::Actuator);
        self.leaves(done())
    }

    pub(crate) fn captured(self, tree: &str) -> Self {
        self.captured_as(|_| {}, tree)
    }

    pub(crate) fn captured_as(self, bend: impl FnOnce(&mut CapturedChange), tree: &str) -> Self {
        let Effect::CaptureChange { round } = self.waiting() else {
            panic!("no snapshot is waited for, but {}", self.waiting().name());
        };
        let mut change = change(*round, tree);
        bend(&mut change);
        self.answer(Outcome::ChangeCaptured(change))
    }

    /// The controller plans, the actuator does it, the plant is that tree now.
    pub(crate) fn moves_to(self, tree: &str) -> Self {
        self.plans().acts().captured(tree)
    }

    /// As `moves_to`, then every command fails and the iteration is committed.
    pub(crate) fn fails_on(self, tree: &str) -> Self {
        self.moves_to(tree).all_fail().committed()
    }

    pub(crate) fn committed(self) -> Self {
        self.committed_beside(&[])
    }

    /// A person edited these files of the set-up meanwhile.
    pub(crate) fn committed_beside(self, edited: &[&str]) -> Self {
        let commit = CommitId::new(format!("commit of {}", self.commit().label));
        let tree = self.commit().plant.clone();
        let setup_edited = edited.iter().map(|path| (*path).to_owned()).collect();
        self.answer(Outcome::IterationCommitted { commit, tree, setup_edited })
    }

    pub(crate) fn refused(self, reason: &str) -> Self {
        self.answer(Outcome::Refused { reason: reason.to_owned() })
    }

    pub(crate) fn lost(self) -> Self {
        self.answer(Outcome::Lost { reason: "the machine went down".to_owned(), usage: STEP })
    }

    pub(crate) fn interrupted(self) -> Self {
        self.answer(Outcome::Interrupted { usage: STEP })
    }

    pub(crate) fn closed(self) -> Self {
        self.answer(Outcome::Closed)
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

    pub(crate) fn reopened_with(mut self, caps: CapChange, limits: NewLimits) -> Self {
        let observation = Observation::Reopened { caps, note: None, limits };
        self.observe(observation).expect("the run can be taken up again");
        self
    }
}

/// What there is to see.
impl Script {
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn state(&self) -> &State {
        let started = self.run.started.as_ref().expect("the run has started");
        match &started.protocol {
            Protocol::FeedbackControl(state) => state,
            Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
                panic!("a script of the control loop runs the control loop")
            }
        }
    }

    pub(crate) fn frame(&self) -> &Frame {
        self.state().frame().expect("a node is at work")
    }

    fn waiting_id(&self) -> EffectId {
        *self.run.unsettled.keys().next().expect("a step is waited for")
    }

    pub(crate) fn waiting(&self) -> &Effect {
        self.run.unsettled.values().next().expect("a step is waited for")
    }

    pub(crate) fn asked(&self) -> &RunAgent {
        match self.waiting() {
            Effect::RunAgent(asked) => asked,
            other => panic!("no agent is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn measure(&self) -> &Measure {
        match self.waiting() {
            Effect::Measure(asked) => asked,
            other => panic!("no measurement is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn commit(&self) -> &CommitIteration {
        match self.waiting() {
            Effect::CommitIteration(asked) => asked,
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

    /// Labels of the commits, in their order.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.facts
            .iter()
            .filter_map(|fact| match fact {
                Fact::FeedbackControl(ControlFact::IterationCommitted { label, .. }) => Some(label.as_str()),
                _ => None,
            })
            .collect()
    }

    /// What the controller is told now.
    pub(crate) fn told(&self) -> Vec<String> {
        match (&self.asked().role, &self.asked().ask) {
            (Role::Controller, Ask::Fresh { feedback, .. }) => feedback.clone(),
            other => panic!("the controller is not asked afresh: {other:?}"),
        }
    }

    pub(crate) fn faults(&self) -> &[String] {
        match &self.asked().ask {
            Ask::Repair { faults } => faults,
            Ask::Fresh { .. } => panic!("nothing is to be repaired"),
        }
    }

    pub(crate) fn inputs(&self) -> Vec<&str> {
        self.asked().inputs.iter().map(|artifact| artifact.name.as_str()).collect()
    }
}

/// What must have come of it.
impl Script {
    /// Asserts that this role of the iteration with this label is asked.
    pub(crate) fn asks(self, role: Role, label: &str) -> Self {
        let node = self.asked().node.as_ref().expect("an agent of a node");
        assert_eq!((self.asked().role, node.label.as_str()), (role, label));
        self
    }

    pub(crate) fn decides(self, names: &[&str]) -> Self {
        let last: Vec<_> = self.facts[self.last..].iter().map(Fact::name).collect();
        assert_eq!(last, names);
        self
    }

    /// Asserts that the node at work has ended so and waits for its last commit.
    pub(crate) fn node_ends(self, end: &NodeEnd) -> Self {
        assert_eq!(self.frame().end.as_ref(), Some(end));
        let (status, met) = (end.status(), *end == NodeEnd::TargetMet);
        assert_eq!((self.commit().status, self.commit().target_met), (status, met));
        self
    }

    /// Asserts how the run ends, after how many actuations of the outermost node, then lets it end.
    pub(crate) fn ends(self, end: &End, actuations: u32) -> Self {
        assert_eq!(self.state().end.as_ref(), Some(end));
        let Effect::CloseRun(close) = self.waiting() else {
            panic!("no summary is waited for, but {}", self.waiting().name());
        };
        assert_eq!((close.final_verdict.as_str(), close.rounds_completed), (end.word(), actuations));
        let script = self.closed();
        assert!(script.run.ended, "the run has not ended");
        script
    }

    /// As `ends`, for a person to look.
    pub(crate) fn needs(self, cause: Cause, actuations: u32) -> Self {
        self.ends(&End::NeedsHuman { cause }, actuations)
    }

    pub(crate) fn refuses(mut self, body: Observation, rejection: &Rejection) -> Self {
        let (run, facts) = (self.run.clone(), self.facts.len());
        assert_eq!(self.observe(body).as_ref(), Err(rejection));
        assert_eq!((&self.run, self.facts.len()), (&run, facts), "a refusal changed something");
        self
    }

    /// Asserts that this is no answer to what is waited for.
    pub(crate) fn does_not_take(self, outcome: Outcome) -> Self {
        let effect = self.waiting_id();
        let body = Observation::EffectFinished { effect, outcome };
        self.refuses(body, &Rejection::OutcomeDoesNotFit { effect })
    }
}

pub(crate) fn start(spec: ControlSpec) -> Observation {
    Observation::Start { run: RunId::new("run-1"), spec: Spec::FeedbackControl(Box::new(spec)) }
}

pub(crate) fn reopen(caps: CapChange, note: Option<&str>) -> Observation {
    Observation::Reopened { caps, note: note.map(ToOwned::to_owned), limits: NewLimits::default() }
}
