//! One way to test a decision: a `Script` starts a run, answers whatever effect is waited for, and says what must come of
//! it. After every answer it also holds the run against its replay, its invariants and the rule of one step at a time.

pub(crate) mod words;

use windlass_protocols::effect::{Effect, RunAgent};
use windlass_protocols::fact::Fact;
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::kernel::gate::FindingName;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    Answer, CapturedChange, LandedCommit, Outcome, StepEnd, Usage, Verdict, WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::spec::{Landing, TaskSpec};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{
    Actor, CommitId, EffectId, Millis, Observation, Rejection, Role, Run, RunId, Stamped, TreeId, decide,
    invariants,
};
use words::{
    BASE, BASE_TREE, STEP, agent_report, audit, change, checks_report, gate_report, gated, handoff, lines,
    touching, verdict,
};

pub(crate) struct Script {
    run: Run,
    facts: Vec<Fact>,
    /// Where the facts of the last observation begin.
    last: usize,
    now: u64,
    usage: Usage,
}

/// Where a script starts and how it moves.
impl Script {
    /// A run that waits for its workspaces.
    pub(crate) fn start(spec: TaskSpec) -> Self {
        let mut script = Self::unborn();
        script.observe(start(spec)).expect("the spec is a good one");
        script
    }

    pub(crate) fn unborn() -> Self {
        Self { run: Run::default(), facts: Vec::new(), last: 0, now: 1_000, usage: STEP }
    }

    /// Takes up a run from its facts, as a restart does.
    pub(crate) fn resume_from(&mut self, facts: &[Fact]) {
        self.facts = facts.to_vec();
        self.run = Run::replay(facts);
        self.last = facts.len();
    }

    /// A run whose first doer is at work; the checks are green at the base.
    pub(crate) fn at_doer(spec: TaskSpec) -> Self {
        let measured = !spec.checks.is_empty();
        let script = Self::start(spec).prepared();
        if measured { script.checks_pass() } else { script }
    }

    /// A run whose judge looks at `tree-1`.
    pub(crate) fn at_judge(spec: TaskSpec) -> Self {
        let measured = !spec.checks.is_empty();
        let script = Self::at_doer(spec).doer_hands_over("tree-1");
        if measured { script.checks_pass() } else { script }
    }

    /// A run whose auditor looks at `tree-1`.
    pub(crate) fn at_auditor(spec: TaskSpec) -> Self {
        let measured = !spec.audit_checks.is_empty();
        let script = Self::at_judge(spec).judge("pass", &[]);
        if measured { script.checks_pass() } else { script }
    }

    /// A run of `full_spec` that waits in that stage of its first round.
    pub(crate) fn at(stage: Stage, spec: TaskSpec) -> Self {
        let script = match stage {
            Stage::Preparing => Self::start(spec),
            Stage::Baseline => Self::start(spec).prepared(),
            Stage::Doing => Self::at_doer(spec),
            Stage::Capturing => Self::at_doer(spec).doer_answers(&[]),
            Stage::Checking => Self::at_doer(spec).doer_hands_over("tree-1"),
            Stage::Inspecting => {
                Self::at_doer(gated(spec)).doer_answers(&[]).captured_as(touching(1, "tree-1")).checks_pass()
            }
            Stage::Judging => Self::at_judge(spec),
            Stage::AuditChecking => Self::at_judge(spec).judge("pass", &[]),
            Stage::Auditing => Self::at_auditor(spec),
            Stage::Landing => Self::at_auditor(spec).auditor("pass", &[]),
            Stage::Closing => Self::at_auditor(spec).auditor("pass", &[]).landed(),
        };
        assert_eq!(script.state().stage, stage);
        script
    }

    /// Every later answered step uses this much.
    pub(crate) fn each_step_uses(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Lets one observation happen. What is refused must change nothing; what is accepted must replay and break no rule.
    pub(crate) fn observe(&mut self, body: Observation) -> Result<(), Rejection> {
        self.now += 1_000;
        let by = match body {
            Observation::EffectFinished { .. } => Actor::Engine,
            _ => Actor::Human("ada".to_owned()),
        };
        let before = self.run.clone();
        let facts = decide(&self.run, &Stamped { at: Millis(self.now), by, body });
        assert_eq!(before, self.run, "a decision alone changes nothing");
        let facts = facts?;
        self.last = self.facts.len();
        for fact in facts {
            self.run.evolve(&fact);
            self.facts.push(fact);
        }
        assert_eq!(self.run, Run::replay(&self.facts), "the replay differs from the live run");
        assert_eq!(
            invariants::violations(&self.facts),
            Vec::<String>::new(),
            "after {:#?}",
            self.fact_names()
        );
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

    pub(crate) fn refused(self, reason: &str) -> Self {
        self.answer(Outcome::Refused { reason: reason.to_owned() })
    }

    pub(crate) fn lost(self) -> Self {
        let usage = self.usage;
        self.answer(Outcome::Lost { reason: "the machine went down".to_owned(), usage })
    }

    pub(crate) fn interrupted(self) -> Self {
        let usage = self.usage;
        self.answer(Outcome::Interrupted { usage })
    }

    fn agent(self, role: Role, end: StepEnd, answer: Answer) -> Self {
        let report = agent_report(role, end, answer, self.usage);
        self.answer(Outcome::from(report))
    }

    /// The asked role ends in that way, whatever it left.
    pub(crate) fn agent_ends(self, end: StepEnd, answer: Answer) -> Self {
        let role = self.asked().role;
        self.agent(role, end, answer)
    }

    /// The asked role exits well and leaves that answer.
    pub(crate) fn agent_leaves(self, answer: Answer) -> Self {
        self.agent_ends(StepEnd::Exited { code: 0 }, answer)
    }

    pub(crate) fn agent_exits(self, code: i32) -> Self {
        self.agent_ends(StepEnd::Exited { code }, Answer::Missing)
    }

    pub(crate) fn agent_fails_with_words(self, words: &str) -> Self {
        let mut report =
            agent_report(self.asked().role, StepEnd::Exited { code: 1 }, Answer::Missing, self.usage);
        words.clone_into(&mut report.last_words);
        self.answer(Outcome::from(report))
    }

    /// The asked role leaves that answer, and changed these files.
    pub(crate) fn agent_writes(self, answer: Answer, paths: &[&str]) -> Self {
        let role = self.asked().role;
        let mut report = agent_report(role, StepEnd::Exited { code: 0 }, answer, self.usage);
        report.workspace = WorkspaceAfter::Changed { paths: lines(paths) };
        self.answer(Outcome::from(report))
    }

    pub(crate) fn doer_answers(self, requirements: &[&str]) -> Self {
        let answer = Answer::Handoff(handoff(requirements));
        self.agent(Role::Doer, StepEnd::Exited { code: 0 }, answer)
    }

    /// The doer's hand-off and the snapshot that follows it.
    pub(crate) fn doer_hands_over(self, tree: &str) -> Self {
        self.doer_answers(&[]).captured(tree)
    }

    pub(crate) fn captured(self, tree: &str) -> Self {
        let change = change(self.state().round, tree);
        self.captured_as(change)
    }

    pub(crate) fn captured_as(self, change: CapturedChange) -> Self {
        self.answer(Outcome::ChangeCaptured(change))
    }

    pub(crate) fn checks_pass(self) -> Self {
        let report = checks_report(self.waiting(), &[], self.usage);
        self.answer(Outcome::ChecksRan(report))
    }

    pub(crate) fn check_is_red(self, command: &str, tail: &str) -> Self {
        self.check_ends(command, StepEnd::Exited { code: 1 }, tail)
    }

    pub(crate) fn check_ends(self, command: &str, end: StepEnd, tail: &str) -> Self {
        let report = checks_report(self.waiting(), &[(command, end, tail)], self.usage);
        self.answer(Outcome::ChecksRan(report))
    }

    /// The checks with the base's own tests ran, and this was found.
    pub(crate) fn gate_shows(self, findings: &[FindingName]) -> Self {
        let report = gate_report(self.waiting(), findings, self.usage);
        self.answer(Outcome::GateInspected(Box::new(report)))
    }

    pub(crate) fn judge(self, word: &str, feedback: &[&str]) -> Self {
        self.judge_says(verdict(word, feedback))
    }

    pub(crate) fn judge_says(self, verdict: Verdict) -> Self {
        self.agent(Role::Judge, StepEnd::Exited { code: 0 }, Answer::Verdict(verdict))
    }

    pub(crate) fn auditor(self, word: &str, feedback: &[&str]) -> Self {
        let answer = Answer::Audit(audit(word, feedback));
        self.agent(Role::Auditor, StepEnd::Exited { code: 0 }, answer)
    }

    pub(crate) fn landed(self) -> Self {
        let Effect::LandChange(asked) = self.waiting() else {
            panic!("no landing is waited for, but {}", self.waiting().name());
        };
        let landed = LandedCommit {
            commit: CommitId::new("landed-commit"),
            tree: asked.tree.clone(),
            reference: "refs/heads/main".to_owned(),
        };
        self.answer(Outcome::Landed(landed))
    }

    pub(crate) fn closed(self) -> Self {
        self.answer(Outcome::Closed)
    }

    pub(crate) fn stop_asked(mut self) -> Self {
        self.observe(stop()).expect("a running run can be asked to stop");
        self
    }

    pub(crate) fn reopened(mut self, caps: CapChange, note: Option<&str>) -> Self {
        self.observe(reopen(caps, note)).expect("the run can be taken up again");
        self
    }

    pub(crate) fn person_says(mut self, word: Word) -> Self {
        self.observe(said(word)).expect("the run waits for that");
        self
    }

    pub(crate) fn landing_asked(mut self, branch: &str) -> Self {
        let landing = Landing::Branch(branch.to_owned());
        self.observe(Observation::LandingRequested { landing }).expect("the accepted change can be landed");
        self
    }
}

/// What there is to see.
impl Script {
    /// The moment of the last observation.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(crate) fn state(&self) -> &State {
        let started = self.run.started.as_ref().expect("the run has started");
        match &started.protocol {
            Protocol::JudgedTask(state) => state,
            Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
                panic!("a script of the task loop runs the task loop")
            }
        }
    }

    pub(crate) fn waiting_id(&self) -> EffectId {
        *self.run.unsettled.keys().next().expect("a step is waited for")
    }

    pub(crate) fn waiting(&self) -> &Effect {
        self.run.unsettled.values().next().expect("a step is waited for")
    }

    /// The agent that is waited for.
    pub(crate) fn asked(&self) -> &RunAgent {
        match self.waiting() {
            Effect::RunAgent(asked) => asked,
            other => panic!("no agent is waited for, but {}", other.name()),
        }
    }

    pub(crate) fn fact_names(&self) -> Vec<&'static str> {
        self.facts.iter().map(Fact::name).collect()
    }

    /// The facts of the last observation.
    pub(crate) fn last_names(&self) -> Vec<&'static str> {
        self.facts[self.last..].iter().map(Fact::name).collect()
    }
}

/// What must have come of it.
impl Script {
    /// Asserts that this role of this round is asked, for the how-manieth time.
    pub(crate) fn asks(self, role: Role, round: u32, attempt: u32) -> Self {
        let asked = self.asked();
        assert_eq!((asked.role, asked.round, asked.attempt), (role, round, attempt));
        self
    }

    pub(crate) fn waits_in(self, stage: Stage) -> Self {
        assert_eq!(self.state().stage, stage);
        self
    }

    pub(crate) fn decides(self, names: &[&str]) -> Self {
        assert_eq!(self.last_names(), names);
        self
    }

    /// What the doer is told now.
    pub(crate) fn told_to_doer(&self) -> Vec<String> {
        use windlass_protocols::effect::Ask;
        match (&self.asked().role, &self.asked().ask) {
            (Role::Doer, Ask::Fresh { feedback, .. }) => feedback.clone(),
            other => panic!("the doer is not asked afresh: {other:?}"),
        }
    }

    /// Asserts how the run ends and what its summary says, as `final/judge/auditor/rounds`, then lets it end.
    pub(crate) fn ends(self, end: &End, summary: &str) -> Self {
        let script = self.closes(end, summary).closed();
        assert!(script.run.ended, "the run has not ended");
        assert_eq!(script.facts.last().map(Fact::name), Some("run-ended"));
        script
    }

    pub(crate) fn closes(self, end: &End, summary: &str) -> Self {
        assert_eq!(self.state().end.as_ref(), Some(end));
        let Effect::CloseRun(close) = self.waiting() else {
            panic!("no summary is waited for, but {}", self.waiting().name());
        };
        let written = format!(
            "{}/{}/{}/{}",
            close.final_verdict, close.judge_verdict, close.audit_gate, close.rounds_completed
        );
        assert_eq!(written, summary);
        self
    }

    /// Asserts that this is refused, and that the refusal changed nothing.
    pub(crate) fn refuses(mut self, body: Observation, rejection: &Rejection) -> Self {
        let (run, facts) = (self.run.clone(), self.facts.len());
        assert_eq!(self.observe(body).as_ref(), Err(rejection));
        assert_eq!((&self.run, self.facts.len()), (&run, facts), "a refusal changed something");
        self
    }
}

pub(crate) fn start(spec: TaskSpec) -> Observation {
    Observation::Start { run: RunId::new("run-1"), spec: Spec::JudgedTask(Box::new(spec)) }
}

pub(crate) fn stop() -> Observation {
    Observation::StopRequested { reason: "lunch".to_owned() }
}

pub(crate) fn reopen(caps: CapChange, note: Option<&str>) -> Observation {
    Observation::Reopened { caps, note: note.map(ToOwned::to_owned), limits: NewLimits::default() }
}

pub(crate) fn said(word: Word) -> Observation {
    Observation::PersonSaid { word }
}

pub(crate) fn stopped_by_ada() -> End {
    End::Stopped { by: "ada".to_owned(), reason: "lunch".to_owned() }
}

pub(crate) fn accepted(tree: &str) -> End {
    End::Accepted { tree: TreeId::new(tree) }
}

pub(crate) const NO_MORE: CapChange = CapChange {
    more_rounds: 0,
    more_time: Millis(0),
    more_tokens: 0,
    more_cost_micros: 0,
    more_output_bytes: 0,
};

pub(crate) const ONE_MORE_ROUND: CapChange = CapChange { more_rounds: 1, ..NO_MORE };
