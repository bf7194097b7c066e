//! One way to test a decision of the roadmap loop: a `Script` starts a run over a `Desk`, does the controller's housekeeping by
//! itself, and stops where an agent, a merge or an end is waited for. Every step is held against replay and invariants.

use crate::desk::Desk;
use std::collections::BTreeMap;
use windlass_protocols::effect::{Ask, Effect, RoundWork, RunAgent};
use windlass_protocols::fact::Fact;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{CapChange, Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::gate::{GateFinding, TouchedPath};
use windlass_protocols::kernel::place::Place;
use windlass_protocols::outcome::{
    AgentReport, Answer, Diagnosis, Outcome, PlaneOutcome, StepEnd, Trouble, Usage, WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{Plane, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::spec::{RoadmapSpec, RoundLimits};
use windlass_protocols::protocol::roadmap_rounds::state::State;
use windlass_protocols::protocol::roadmap_rounds::steps::{
    GateLooked, Held, LookAtGate, PlaceTaken, PlaneStep, TakeUp, WorkCaptured, WorkKind, WorktreePurpose,
};
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{
    Actor, ArtifactRef, CommitId, Digest, EffectId, Millis, Observation, Rejection, Role, Run, RunId,
    Stamped, TaskId, TreeId, decide, invariants,
};

/// So many steps of housekeeping in a row are a loop without an end.
const FOR_EVER: usize = 60;

pub(crate) struct Script {
    run: Run,
    facts: Vec<Fact>,
    mark: usize,
    now: u64,
    pub(crate) desk: Desk,
    /// What the next captures say was changed.
    pub(crate) files_changed: u64,
    /// Worktrees that are brought back are gone again.
    pub(crate) sweeps: bool,
    /// Whoever did something brings the plane along as it is afterwards.
    pub(crate) looks: bool,
    /// What a look at a round finds that it did to its own measures.
    pub(crate) measures: (Vec<TouchedPath>, Vec<GateFinding>),
    /// Every step of that name is refused with that reason.
    pub(crate) refusing: Option<(&'static str, &'static str)>,
    /// What is found in whatever an agent left, so that nothing of it is committed.
    pub(crate) hazard: Option<&'static str>,
}

pub(crate) fn spec() -> RoadmapSpec {
    let roles = [Role::Planner, Role::Implementer, Role::Reviewer, Role::Investigator];
    RoadmapSpec {
        task: TaskId::new("TASK-1"),
        text: "walls".to_owned(),
        caps: Caps {
            rounds: 10,
            time: None,
            tokens: None,
            cost_micros: None,
            output_bytes: None,
            step_time: Millis::minutes(10),
            step_idle: None,
            step: Spend::default(),
            day: Spend::default(),
            repository: Spend::default(),
        },
        limits: RoundLimits::default(),
        parallel: None,
        checks: Vec::new(),
        patience: Patience::default(),
        place: Place {
            repository: "/repo".to_owned(),
            common_dir: "/repo/.git".to_owned(),
            run_dir: "/repo/.windlass".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new("base-0"),
            doer_branch: "main".to_owned(),
            judge_branch: String::new(),
            agents: roles.map(|role| (role, "first".to_owned())).into(),
            fallbacks: BTreeMap::new(),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: windlass_protocols::kernel::gate::GateRules::default(),
        },
        left_behind: Vec::new(),
    }
}

pub(crate) fn of(round: &str, kind: WorkKind) -> RoundWork {
    RoundWork { round: round.to_owned(), kind }
}

/// How a script starts and moves.
impl Script {
    pub(crate) fn on(plane: Plane) -> Self {
        Self::with(spec(), plane)
    }

    pub(crate) fn with(spec: RoadmapSpec, plane: Plane) -> Self {
        Self::unprepared(spec, plane).keep_house()
    }

    pub(crate) fn unprepared(spec: RoadmapSpec, plane: Plane) -> Self {
        let desk = Desk { plane, counter: 0 };
        let mut script = Self {
            run: Run::default(),
            facts: Vec::new(),
            mark: 0,
            now: 1_000,
            desk,
            files_changed: 1,
            sweeps: false,
            looks: false,
            measures: (Vec::new(), Vec::new()),
            refusing: None,
            hazard: None,
        };
        let spec = Spec::RoadmapRounds(Box::new(spec));
        script.observe(Observation::Start { run: RunId::new("run-1"), spec }).expect("a good spec");
        script
    }

    pub(crate) fn observe(&mut self, body: Observation) -> Result<(), Rejection> {
        self.now += 1_000;
        let by = match body {
            Observation::EffectFinished { .. } => Actor::Engine,
            _ => Actor::Human("ada".to_owned()),
        };
        let facts = decide(&self.run, &Stamped { at: Millis(self.now), by, body })?;
        for fact in facts {
            self.run.evolve(&fact);
            self.facts.push(fact);
        }
        assert_eq!(self.run, Run::replay(&self.facts), "the replay differs from the live run");
        assert_eq!(invariants::violations(&self.facts), Vec::<String>::new(), "{:#?}", self.names());
        assert!(
            self.run.ended || !self.run.unsettled.is_empty(),
            "it waits for nothing: {:#?}",
            self.names()
        );
        Ok(())
    }

    pub(crate) fn answer(&mut self, effect: EffectId, outcome: Outcome) {
        self.observe(Observation::EffectFinished { effect, outcome }).expect("an answer that fits");
    }

    fn find(&self, wanted: impl Fn(&Effect) -> bool) -> Option<(EffectId, Effect)> {
        let found = self.run.unsettled.iter().find(|(_, request)| wanted(request));
        found.map(|(id, request)| (*id, request.clone()))
    }

    pub(crate) fn expect(&self, what: &str, wanted: impl Fn(&Effect) -> bool) -> (EffectId, Effect) {
        self.find(wanted).unwrap_or_else(|| panic!("no {what} is waited for, but {:#?}", self.waiting()))
    }

    /// Reads, writes, opens and captures until something else is waited for.
    pub(crate) fn keep_house(mut self) -> Self {
        for _ in 0..FOR_EVER {
            let Some((effect, request)) = self.find(is_housekeeping) else { return self };
            let outcome = self.housework(&request);
            self.answer(effect, outcome);
        }
        panic!("it never comes to rest: {:#?}", self.names());
    }

    pub(crate) fn housework(&mut self, request: &Effect) -> Outcome {
        let outcome = self.house_kept(request);
        if self.looks { self.looked(outcome) } else { outcome }
    }

    /// With the plane as it is now, where something was done.
    pub(crate) fn looked(&self, outcome: Outcome) -> Outcome {
        let plane = Box::new(self.desk.plane.clone());
        match outcome {
            Outcome::Plane(did) if did.is_a_deed() => {
                Outcome::Plane(PlaneOutcome::Looked { after: Box::new(did), plane })
            }
            outcome => outcome,
        }
    }

    fn house_kept(&mut self, request: &Effect) -> Outcome {
        if let Some((_, reason)) = self.refusing.filter(|(name, _)| *name == request.name()) {
            return Outcome::Refused { reason: reason.to_owned() };
        }
        let Effect::Plane(step) = request else {
            let (base, base_tree) = (self.desk.plane.base.clone(), TreeId::new("tree"));
            return Outcome::Prepared { base, base_tree };
        };
        let number = self.desk.fresh();
        Outcome::Plane(match step {
            PlaneStep::WriteState(asked) if asked.seen != self.desk.plane.state => PlaneOutcome::StateMoved,
            PlaneStep::WriteState(asked) => {
                self.desk.apply(&asked.edits);
                PlaneOutcome::StateWritten { state: self.desk.plane.state.clone() }
            }
            PlaneStep::OpenWorktree(asked) => {
                self.opened(&asked.purpose, &asked.branch);
                PlaneOutcome::WorktreeOpened { head: asked.from.clone() }
            }
            PlaneStep::CaptureWork(asked) => {
                let made = CommitId::new(format!("{}@{number}", asked.branch));
                let commit = if self.hazard.is_some() { asked.parent.clone() } else { made };
                self.advance(&asked.branch, &commit);
                let files_changed = self.files_changed;
                PlaneOutcome::WorkCaptured(Box::new(WorkCaptured {
                    work: asked.work.clone(),
                    tree: TreeId::new("tree"),
                    commit,
                    files_changed,
                    put_back: Vec::new(),
                    kept: None,
                    ignored: Vec::new(),
                    findings: Vec::new(),
                    hazards: self.hazard.iter().map(ToString::to_string).collect(),
                }))
            }
            PlaneStep::SetAside(asked) => {
                let head = CommitId::new(format!("{}@{number}", asked.branch));
                self.desk.set_review_aside(&asked.branch);
                self.advance(&asked.branch, &head);
                PlaneOutcome::SetAside { head, kept: None }
            }
            PlaneStep::TakeUp(asked) => PlaneOutcome::TakenUp { places: all_committed(asked) },
            PlaneStep::LookAtGate(asked) => self.looked_at_gate(asked),
            _ => PlaneOutcome::Read(Box::new(self.desk.plane.clone())),
        })
    }

    fn looked_at_gate(&self, asked: &LookAtGate) -> PlaneOutcome {
        let (touched, findings) = self.measures.clone();
        PlaneOutcome::GateLooked(Box::new(GateLooked {
            round: asked.round.clone(),
            fork: asked.fork.clone(),
            head: asked.head.clone(),
            base: TreeId::new(asked.fork.as_str()),
            tree: TreeId::new(asked.head.as_str()),
            touched,
            findings,
        }))
    }

    fn opened(&mut self, purpose: &WorktreePurpose, branch: &str) {
        match purpose {
            WorktreePurpose::Reopen { .. } if self.sweeps => {}
            WorktreePurpose::Reopen { .. } => {
                let rounds = self.desk.plane.rounds.iter_mut().filter(|round| round.branch == branch);
                rounds.for_each(|round| round.worktree_stands = true);
                let update = self.desk.plane.update.iter_mut().filter(|update| update.branch == branch);
                update.for_each(|update| update.worktree_stands = true);
            }
            WorktreePurpose::Worker { .. } => {
                self.advance(branch, &CommitId::new(format!("{branch}@0")));
            }
            WorktreePurpose::Round { .. } | WorktreePurpose::Update(_) => {}
        }
    }

    /// The branch has that newest commit.
    pub(crate) fn advance(&mut self, branch: &str, commit: &CommitId) {
        let plane = &mut self.desk.plane;
        for round in &mut plane.rounds {
            // A branch that somebody deleted does not come back by itself.
            if round.branch == branch && round.head.is_some() {
                round.head = Some(commit.clone());
            }
            let workers = round.evidence.plan.iter_mut().flat_map(|plan| &mut plan.workers);
            workers.filter(|worker| worker.branch == branch).for_each(|worker| {
                worker.head = Some(commit.clone());
            });
        }
        plane.update.iter_mut().filter(|update| update.branch == branch).for_each(|update| {
            update.head = Some(commit.clone());
        });
    }

    /// People edit; the run sees it when it looks.
    pub(crate) fn edited(mut self, edit: impl FnOnce(&mut Desk)) -> Self {
        edit(&mut self.desk);
        self.desk.moved();
        self
    }
}

/// Nothing lies there that is not committed.
fn all_committed(asked: &TakeUp) -> Vec<PlaceTaken> {
    asked.places.iter().map(PlaceTaken::untouched).collect()
}

fn is_housekeeping(request: &Effect) -> bool {
    matches!(
        request,
        Effect::PrepareWorkspaces
            | Effect::Plane(
                PlaneStep::Read { .. }
                    | PlaneStep::WriteState(_)
                    | PlaneStep::OpenWorktree(_)
                    | PlaneStep::CaptureWork(_)
                    | PlaneStep::SetAside(_)
                    | PlaneStep::TakeUp(_)
                    | PlaneStep::LookAtGate(_)
            )
    )
}

/// What the world answers.
impl Script {
    pub(crate) fn agent_id(&self, work: &RoundWork) -> (EffectId, Effect) {
        self.expect(
            &format!("{work:?}"),
            |request| matches!(request, Effect::RunAgent(asked) if asked.work.as_ref().is_some_and(|place| place.work == *work)),
        )
    }

    /// The agent comes back soundly, having left this.
    pub(crate) fn leaves(mut self, work: &RoundWork, deed: impl FnOnce(&mut Desk)) -> Self {
        deed(&mut self.desk);
        self.reports(work, |_| {})
    }

    pub(crate) fn plans(self, round: &str, direction: &str) -> Self {
        let milestone = direction.replace('D', "M");
        let plan = crate::desk::plan(&milestone, direction);
        self.leaves(&of(round, WorkKind::Plan), |desk| desk.round(round).evidence.plan = Some(plan))
    }

    pub(crate) fn implements(self, round: &str) -> Self {
        self.leaves(&of(round, WorkKind::Implement), |desk| desk.round(round).evidence.notes = true)
    }

    pub(crate) fn reviews(
        self,
        round: &str,
        review: windlass_protocols::protocol::roadmap_rounds::plane::ReviewSeen,
    ) -> Self {
        self.leaves(&of(round, WorkKind::Review), |desk| desk.round(round).evidence.review = Some(review))
    }

    /// The report of an agent that did as it was asked.
    pub(crate) fn sound(asked: &RunAgent) -> AgentReport {
        AgentReport {
            role: asked.role,
            end: StepEnd::Exited { code: 0 },
            answer: Answer::InWorktree,
            workspace: WorkspaceAfter::MayDiffer,
            evidence: Vec::new(),
            usage: Usage { tokens: 10, ..Usage::default() },
            trouble: None,
            session: None,
            model: None,
            last_words: String::new(),
            commands_off: false,
        }
    }

    pub(crate) fn reports(mut self, work: &RoundWork, bend: impl FnOnce(&mut AgentReport)) -> Self {
        let (effect, request) = self.agent_id(work);
        let Effect::RunAgent(asked) = request else { unreachable!("looked for an agent") };
        let mut report = Self::sound(&asked);
        bend(&mut report);
        self.answer(effect, Outcome::from(report));
        self.keep_house()
    }

    pub(crate) fn fails(self, work: &RoundWork) -> Self {
        self.reports(work, |report| report.end = StepEnd::Exited { code: 1 })
    }

    pub(crate) fn has(self, work: &RoundWork, trouble: Trouble) -> Self {
        self.reports(work, |report| {
            report.end = StepEnd::Exited { code: 1 };
            report.trouble = Some(trouble);
        })
    }

    pub(crate) fn diagnoses(self, work: &RoundWork, escalate: bool) -> Self {
        let artifact = ArtifactRef { name: "diagnosis.json".to_owned(), digest: Digest::new("d"), bytes: 1 };
        let (summary, advice) = ("it misreads".to_owned(), "read again".to_owned());
        let diagnosis = Diagnosis { summary, advice, proves: None, escalate, artifact };
        self.reports(work, |report| report.answer = Answer::Diagnosis(diagnosis))
    }

    /// The round is one commit of the base, with its closeout.
    pub(crate) fn merges(mut self) -> Self {
        let (effect, request) = self.expect("merge", is_finalizing);
        let Effect::Plane(PlaneStep::FinalizeRound(asked)) = request else { unreachable!("looked for it") };
        let number = self.desk.fresh();
        let commit = CommitId::new(format!("base-{number}"));
        self.desk.plane.base = commit.clone();
        let round = self.desk.round(&asked.round);
        round.evidence.merged = true;
        let item = round.evidence.plan.as_ref().map(|plan| plan.item.clone());
        self.desk.plane.merged_rounds.push(asked.round);
        self.desk.plane.merged_items.extend(item);
        let merged = Outcome::Plane(PlaneOutcome::Merged { commit, tree: TreeId::new("tree") });
        let merged = if self.looks { self.looked(merged) } else { merged };
        self.answer(effect, merged);
        self.keep_house()
    }

    pub(crate) fn held(mut self, why: Held) -> Self {
        let (effect, _) = self.expect("merge", |request| is_finalizing(request) || is_publishing(request));
        self.answer(effect, Outcome::Plane(PlaneOutcome::Held(why)));
        self.keep_house()
    }

    pub(crate) fn publishes(mut self) -> Self {
        let (effect, _) = self.expect("publication", is_publishing);
        let commit = CommitId::new(format!("base-{}", self.desk.fresh()));
        self.desk.plane.base = commit.clone();
        self.desk.update().merged = true;
        self.answer(effect, Outcome::Plane(PlaneOutcome::Merged { commit, tree: TreeId::new("tree") }));
        self.keep_house()
    }

    pub(crate) fn combines(mut self, conflicts: &[&str]) -> Self {
        let (effect, request) = self.expect("merge of the base", |request| {
            matches!(request, Effect::Plane(PlaneStep::CombineWork(_)))
        });
        let Effect::Plane(PlaneStep::CombineWork(asked)) = request else { unreachable!("looked for it") };
        let head = CommitId::new(format!("{}@{}", asked.branch, self.desk.fresh()));
        self.advance(&asked.branch, &head);
        let base = self.desk.plane.base.clone();
        let round = self.desk.round(&asked.round);
        if asked.with.contains(&base) {
            (round.fork, round.code_drifted, round.roadmap_drifted) = (Some(base), false, false);
        }
        let conflicts = conflicts.iter().map(|&path| path.to_owned()).collect();
        self.answer(effect, Outcome::Plane(PlaneOutcome::WorkCombined { head, conflicts, kept: None }));
        self.keep_house()
    }

    /// The next such step is refused.
    pub(crate) fn refuses(mut self, name: &str, reason: &str) -> Self {
        let (effect, _) = self.expect(name, |request| request.name() == name);
        self.answer(effect, Outcome::Refused { reason: reason.to_owned() });
        self
    }

    pub(crate) fn stop_asked(mut self) -> Self {
        self.observe(Observation::StopRequested { reason: "lunch".to_owned() }).expect("it runs");
        self
    }

    pub(crate) fn reopened(self, more_rounds: u32) -> Self {
        self.taken_up_again(more_rounds, None)
    }

    /// A person says something to whoever goes on.
    pub(crate) fn answered(self, words: &str) -> Self {
        self.taken_up_again(0, Some(words.to_owned()))
    }

    fn taken_up_again(mut self, more_rounds: u32, note: Option<String>) -> Self {
        let caps = CapChange { more_rounds, ..CapChange::default() };
        let reopened = Observation::Reopened { caps, note, limits: NewLimits::default() };
        self.observe(reopened).expect("it can be taken up again");
        self.keep_house()
    }
}

pub(crate) fn is_finalizing(request: &Effect) -> bool {
    matches!(request, Effect::Plane(PlaneStep::FinalizeRound(_)))
}

pub(crate) fn is_publishing(request: &Effect) -> bool {
    matches!(request, Effect::Plane(PlaneStep::PublishUpdate(_)))
}

/// What there is to see.
impl Script {
    pub(crate) fn state(&self) -> &State {
        let started = self.run.started.as_ref().expect("the run has started");
        match &started.protocol {
            Protocol::RoadmapRounds(state) => state,
            _ => panic!("a script of the roadmap loop runs the roadmap loop"),
        }
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn waiting(&self) -> Vec<&'static str> {
        self.run.unsettled.values().map(Effect::name).collect()
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.facts.iter().map(Fact::name).collect()
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = &RoadmapFact> {
        self.facts[self.mark..].iter().filter_map(|fact| match fact {
            Fact::RoadmapRounds(fact) => Some(fact),
            _ => None,
        })
    }

    pub(crate) fn times(&self, name: &str) -> usize {
        self.facts().filter(|fact| fact.name() == name).count()
    }

    /// How often such a step was asked for.
    pub(crate) fn requests(&self, name: &str) -> usize {
        let asked =
            |fact: &&Fact| matches!(fact, Fact::EffectRequested { request, .. } if request.name() == name);
        self.facts[self.mark..].iter().filter(asked).count()
    }

    /// Only what comes from here on is counted.
    pub(crate) fn marked(mut self) -> Self {
        self.mark = self.facts.len();
        self
    }

    /// The work that agents are asked for now.
    pub(crate) fn at_work(&self) -> Vec<RoundWork> {
        let works = self.run.unsettled.values().filter_map(|request| match request {
            Effect::RunAgent(asked) => asked.work.as_ref().map(|place| place.work.clone()),
            _ => None,
        });
        works.collect()
    }

    pub(crate) fn asked(&self, work: &RoundWork) -> RunAgent {
        match self.agent_id(work).1 {
            Effect::RunAgent(asked) => asked,
            _ => unreachable!("looked for an agent"),
        }
    }

    pub(crate) fn told(&self, work: &RoundWork) -> Vec<String> {
        match self.asked(work).ask {
            Ask::Fresh { feedback, .. } => feedback,
            Ask::Repair { faults } => faults,
        }
    }

    pub(crate) fn asks(self, works: &[RoundWork]) -> Self {
        let mut at_work = self.at_work();
        at_work.sort();
        assert_eq!(at_work, works, "{:#?} {:#?}", self.names(), self.state().end);
        self
    }

    pub(crate) fn stands_at(self, round: &str, stage: RoundStage) -> Self {
        let shown = self.desk.plane.round(round).map(|seen| seen.stage);
        assert_eq!(shown, Some(stage), "{:#?}", self.names());
        self
    }

    /// Asserts how it ends, and lets it.
    pub(crate) fn ends(mut self, wanted: impl Fn(&End) -> bool) -> Self {
        assert!(
            self.state().end.as_ref().is_some_and(wanted),
            "{:?} {:#?}",
            self.state().end,
            self.waiting()
        );
        let (effect, _) = self.expect("summary", |request| matches!(request, Effect::CloseRun(_)));
        self.answer(effect, Outcome::Closed);
        assert!(self.run.ended);
        self
    }

    pub(crate) fn blocked_by(self, why: &str) -> Self {
        self.ends(|end| matches!(end, End::Blocked { why: said } if said.contains(why)))
    }
}
