//! What the world answers to each effect of the task loop: good work, lazy work, lies, failures, silence. A new effect
//! gets its answers here; what they mean is not known here.

use crate::choices::Choices;
use crate::control::control_state;
use crate::goal::goal_state;
use crate::temper::{Capturing, Leaning, Temper};
use crate::world::{World, place};
use windlass_protocols::effect::{InspectGate, LandChange, PlaneStep, Purpose, RunAgent, RunChecks};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::kernel::gate::{
    FindingName, Gate, GateFinding, GateReport, NewTests, NewTestsSay, PathKind, Touch, TouchedPath, Waiver,
};
use windlass_protocols::outcome::{
    AgentReport, AgentSession, Answer, Audit, CapturedChange, CheckResult, ChecksReport, Handoff,
    LandedCommit, StepEnd, TokenKinds, Told, Trouble, Usage, Verdict, VerdictWord, WorkspaceAfter,
};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::{
    ArtifactRef, CommitId, Digest, Effect, EffectId, Millis, Outcome, Role, Run, TreeId,
};

pub(crate) const BASE_TREE: &str = "tree-base";

/// Whether things may still go wrong on the way, or only inside the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Season {
    Faulty,
    Calm,
}

pub(crate) struct Answering<'a> {
    pub(crate) choices: &'a mut Choices,
    pub(crate) temper: Temper,
    pub(crate) season: Season,
    /// The run as the journal has it: a judge reads the hand-off.
    pub(crate) run: &'a Run,
}

impl Answering<'_> {
    pub(crate) fn answer(&mut self, world: &mut World, effect: EffectId, request: &Effect) -> Outcome {
        if let Some(outcome) = self.cut_short(request) {
            return outcome;
        }
        match request {
            Effect::PrepareWorkspaces => self.prepare(),
            Effect::RunChecks(asked) => self.checks(world, effect, asked),
            Effect::InspectGate(asked) => self.inspect(effect, asked),
            Effect::RunAgent(asked) => self.agent(world, effect, asked),
            Effect::CaptureChange { round } if control_state(self.run).is_some() => {
                self.capture_plant(world, *round)
            }
            Effect::CaptureChange { round } if goal_state(self.run).is_some() => {
                self.capture_item(world, *round)
            }
            Effect::CaptureChange { round } => self.capture(world, *round),
            Effect::LandChange(asked) => self.land(world, asked),
            Effect::Wait(_) => Outcome::Waited,
            Effect::CloseRun(_) => Outcome::Closed,
            Effect::Measure(asked) => self.measure(world, effect, asked),
            Effect::CommitIteration(asked) => self.commit(world, asked),
            Effect::ReadQueue { .. } => self.read_queue(world),
            Effect::RunSuite(asked) => self.suite(world, effect, asked),
            Effect::CommitItem(asked) => self.commit_item(world, asked),
            Effect::Plane(step) => self.plane_step(world, effect, step),
        }
    }

    fn cut_short(&mut self, request: &Effect) -> Option<Outcome> {
        let asked_to_stop = u32::from(self.run.stop.is_some());
        let lost = match (self.season, self.temper.losing) {
            (Season::Calm, _) => 0,
            (Season::Faulty, _)
                if self.temper.losing_landings
                    && matches!(
                        request,
                        Effect::LandChange(_)
                            | Effect::CommitItem(_)
                            | Effect::Plane(PlaneStep::FinalizeRound(_) | PlaneStep::PublishUpdate(_))
                    ) =>
            {
                900
            }
            (Season::Faulty, false) => 3,
            (Season::Faulty, true) => 150,
        };
        let what = self.choices.weighted(&[(100, 0), (lost, 1), (40 * asked_to_stop, 2)]);
        match what {
            1 => Some(Outcome::Lost { reason: "the child is gone".to_owned(), usage: self.usage() }),
            2 => Some(Outcome::Interrupted { usage: self.usage() }),
            _ => None,
        }
    }

    pub(crate) fn usage(&mut self) -> Usage {
        let much = if self.temper.wasteful { 20 } else { 1 };
        Usage {
            duration: Millis(u64::from(self.choices.below(60_000)) * much),
            output_bytes: u64::from(self.choices.below(2_000)) * much,
            tokens: u64::from(self.choices.below(1_000)) * much,
            cost_micros: u64::from(self.choices.below(500)) * much,
            kinds: TokenKinds::default(),
            told: Told::default(),
            held_by: None,
        }
    }

    fn prepare(&mut self) -> Outcome {
        if self.choices.once_in(25) {
            return Outcome::Refused { reason: "the branch is checked out elsewhere".to_owned() };
        }
        Outcome::Prepared { base: CommitId::new("commit-base"), base_tree: TreeId::new(BASE_TREE) }
    }

    fn checks(&mut self, world: &mut World, effect: EffectId, asked: &RunChecks) -> Outcome {
        let mut results = Vec::new();
        for command in &asked.commands {
            // Red at the base is normal: the task is not done yet.
            let red_once_in = if asked.purpose == Purpose::Baseline { 3 } else { 6 };
            let green = world.truth.measure(&asked.tree, command, || !self.choices.once_in(red_once_in));
            let end = match (green, self.choices.below(4)) {
                (true, _) => StepEnd::Exited { code: 0 },
                (false, 1) => StepEnd::Signaled { signal: 9 },
                (false, 2) => StepEnd::TotalLimit,
                (false, _) => StepEnd::Exited { code: 1 },
            };
            results.push(CheckResult {
                command: command.clone(),
                end,
                tail: "first line\nlast line".to_owned(),
                duration: Millis(5),
                tests: self.count_tests(),
            });
        }
        Outcome::ChecksRan(ChecksReport {
            purpose: asked.purpose,
            tree: asked.tree.clone(),
            results,
            evidence: vec![artifact("results.json", effect)],
            usage: self.usage(),
            gate: self.replaced(),
        })
    }

    /// Now and then a program is another one than at the base.
    pub(crate) fn replaced(&mut self) -> Vec<GateFinding> {
        if self.choices.once_in(30) { vec![finding(FindingName::CheckReplacedOnPath)] } else { Vec::new() }
    }

    pub(crate) fn count_tests(&mut self) -> Option<u32> {
        self.choices.weighted(&[(6, Some(4)), (2, None), (1, Some(3)), (1, Some(5))])
    }

    fn inspect(&mut self, effect: EffectId, asked: &InspectGate) -> Outcome {
        // What is red as it is cannot pass only with its own tests.
        let is_red = asked.unmeasured && self.choices.once_in(2);
        let found = !is_red && self.choices.once_in(4);
        let say = self
            .choices
            .weighted(&[(2, NewTestsSay::WouldHaveFailedBefore), (1, NewTestsSay::PassesWithoutTheChange)]);
        let new_tests = asked.commands.iter().map(|command| NewTests { command: command.clone(), say });
        let (red, green) =
            if is_red { (asked.commands.clone(), Vec::new()) } else { (Vec::new(), asked.commands.clone()) };
        Outcome::GateInspected(Box::new(GateReport {
            tree: asked.tree.clone(),
            ran_with_base: green,
            findings: if found { vec![finding(FindingName::PassesOnlyWithItsOwnTests)] } else { Vec::new() },
            new_tests: new_tests.collect(),
            evidence: vec![artifact("gate.json", effect)],
            usage: self.usage(),
            red,
        }))
    }

    /// What the change did to its own measures, and what can be read off it.
    pub(crate) fn touched(&mut self) -> (Vec<TouchedPath>, Vec<GateFinding>) {
        let path = || "tests/a.rs".to_owned();
        let touched = |how| TouchedPath { path: path(), kind: PathKind::Test, how };
        match self.choices.weighted(&[(6, "nothing"), (2, "adds"), (2, "edits"), (2, "deletes")]) {
            "adds" => (vec![touched(Touch::Added)], Vec::new()),
            "edits" => (vec![touched(Touch::Modified)], Vec::new()),
            "deletes" => (vec![touched(Touch::Deleted)], vec![finding(FindingName::TestDeleted)]),
            _ => (Vec::new(), Vec::new()),
        }
    }

    /// Mostly everything that was found, sometimes only a part of it, sometimes something else.
    pub(crate) fn waivers(&mut self) -> Vec<Waiver> {
        let found = gate_of(self.run).map(|gate| gate.findings.clone()).unwrap_or_default();
        let mut waivers: Vec<Waiver> = found
            .iter()
            .map(|finding| Waiver { finding: finding.kind, reason: "as asked".to_owned() })
            .collect();
        match self.choices.weighted(&[(3, "all"), (2, "part"), (1, "other")]) {
            "part" => drop(waivers.pop()),
            "other" => {
                waivers = vec![Waiver { finding: FindingName::CiChanged, reason: "as asked".to_owned() }];
            }
            _ => {}
        }
        waivers
    }

    fn capture(&mut self, world: &mut World, round: u32) -> Outcome {
        let (same, refused) = match self.temper.capturing {
            Capturing::Mixed => (4, 1),
            Capturing::SameAgain => (300, 0),
            Capturing::Refusing => (4, 60),
        };
        let what = self.choices.weighted(&[
            (80, "new"),
            (same, "same"),
            (4, "nothing"),
            (refused, "refused"),
            (4, "hazard"),
        ]);
        // What a person handed back is what is found, unless somebody touched it in between.
        let handed = task_state(self.run).and_then(|state| state.handed_back.clone());
        let tree = match (what, handed.as_ref().or(world.truth.last_tree.as_ref())) {
            ("refused", _) => {
                return Outcome::Refused { reason: "the index is locked".to_owned() };
            }
            ("new" | "hazard", Some(tree)) if handed.is_some() => tree.clone(),
            ("nothing", _) => TreeId::new(BASE_TREE),
            ("same", Some(last)) => last.clone(),
            (_, _) => {
                world.truth.trees += 1;
                TreeId::new(format!("tree-{}", world.truth.trees))
            }
        };
        world.truth.last_tree = Some(tree.clone());
        let (protected, gate) = self.touched();
        let hazards =
            if what == "hazard" { vec!["a link leads out of the tree".to_owned()] } else { Vec::new() };
        Outcome::ChangeCaptured(CapturedChange {
            round,
            files_changed: u64::from(tree.as_str() != BASE_TREE),
            fingerprint: None,
            patch: ArtifactRef {
                name: "change.patch".to_owned(),
                digest: Digest::new(format!("patch of {tree}")),
                bytes: 10,
            },
            tree,
            hazards,
            reverted: Vec::new(),
            left_out: Vec::new(),
            findings: Vec::new(),
            protected,
            gate,
        })
    }

    fn land(&mut self, world: &mut World, asked: &LandChange) -> Outcome {
        if self.choices.once_in(6) {
            return Outcome::Refused { reason: format!("{} has moved", place(&asked.landing)) };
        }
        Outcome::Landed(LandedCommit {
            commit: world.land(asked),
            tree: asked.tree.clone(),
            reference: place(&asked.landing),
        })
    }

    fn agent(&mut self, world: &mut World, effect: EffectId, asked: &RunAgent) -> Outcome {
        let leaning = self.temper.of(asked.role);
        let end = self.agent_end(leaning);
        let mut trouble = self.trouble(leaning);
        if goal_state(self.run).is_some() && trouble.is_none() {
            trouble = self.destructive();
        }
        let sound_end = end == StepEnd::Exited { code: 0 } && trouble.is_none();
        let workspace = if asked.role.may_write() {
            WorkspaceAfter::MayDiffer
        } else if self.choices.once_in(30) {
            WorkspaceAfter::Changed { paths: vec!["src/lib.rs".to_owned()] }
        } else {
            WorkspaceAfter::Unchanged
        };
        let answer = if sound_end || self.choices.once_in(2) {
            self.agent_answer(world, leaning, effect, asked)
        } else {
            Answer::Missing
        };
        let sound = sound_end && !matches!(workspace, WorkspaceAfter::Changed { .. });
        if let (true, Some(tree)) = (sound, &asked.tree) {
            match (asked.role, &answer) {
                (Role::Judge, Answer::Verdict(verdict))
                    if verdict.word == VerdictWord::Pass && verdict.requirements_missing.is_empty() =>
                {
                    world.truth.judge_passed.insert(tree.clone());
                }
                (Role::Auditor, Answer::Audit(audit))
                    if audit.word == VerdictWord::Pass && audit.contradictions.is_empty() =>
                {
                    world.truth.auditor_passed.insert(tree.clone());
                }
                (Role::Evaluator, Answer::Evaluation(evaluation)) if evaluation.pass => {
                    let item = asked.item.clone().unwrap_or_default();
                    world.truth.goal.passed.insert((item, tree.clone()));
                }
                _ => {}
            }
        }
        Outcome::from(AgentReport {
            role: asked.role,
            end,
            answer,
            workspace,
            evidence: vec![artifact("log.txt", effect)],
            usage: self.usage(),
            trouble,
            session: self.session(effect),
            model: None,
            last_words: String::new(),
            commands_off: false,
        })
    }

    fn session(&mut self, effect: EffectId) -> Option<AgentSession> {
        let told = self.choices.once_in(2);
        told.then(|| AgentSession { id: format!("session-{effect}"), so_far: Usage::default() })
    }

    /// Of the provider rather than of the work.
    fn trouble(&mut self, leaning: Leaning) -> Option<Trouble> {
        let bad = match leaning {
            Leaning::Unserved => 30,
            Leaning::Good => 0,
            Leaning::Mixed | Leaning::Failing | Leaning::Unreadable | Leaning::AskingForPeople => 1,
        };
        let why = "the provider said so".to_owned();
        let what = self.choices.weighted(&[
            (60, "none"),
            (bad, "limited"),
            (bad, "untold"),
            (bad, "unavailable"),
            (bad.min(3), "misconfigured"),
            (bad, "failed"),
            (bad.min(2), "cap"),
        ]);
        match what {
            "limited" => {
                let until = Some(Millis(u64::from(self.choices.below(1_000_000))));
                Some(Trouble::Limited { until, why })
            }
            "untold" => Some(Trouble::Limited { until: None, why }),
            "unavailable" => Some(Trouble::Unavailable { why }),
            "misconfigured" => Some(Trouble::Misconfigured { why }),
            "failed" => Some(Trouble::Failed { why }),
            "cap" => {
                let dimension =
                    self.choices.weighted(&[(1, Dimension::StepTokens), (1, Dimension::DayMoney)]);
                Some(Trouble::CapPassed { dimension })
            }
            _ => None,
        }
    }

    fn agent_end(&mut self, leaning: Leaning) -> StepEnd {
        let bad = match leaning {
            Leaning::Failing => 30,
            Leaning::Good => 0,
            Leaning::Mixed | Leaning::Unreadable | Leaning::AskingForPeople | Leaning::Unserved => 1,
        };
        let what =
            self.choices.weighted(&[(60, 0), (3 * bad, 1), (bad, 2), (bad, 3), (bad, 4), (bad, 5), (1, 6)]);
        match what {
            1 => StepEnd::Exited { code: 1 },
            2 => StepEnd::Signaled { signal: 11 },
            3 => StepEnd::TotalLimit,
            4 => StepEnd::IdleLimit,
            5 => StepEnd::OutputLimit,
            6 => StepEnd::NotStarted { reason: "no such program".to_owned() },
            _ => StepEnd::Exited { code: 0 },
        }
    }

    fn agent_answer(
        &mut self,
        world: &mut World,
        leaning: Leaning,
        effect: EffectId,
        asked: &RunAgent,
    ) -> Answer {
        let bad = match leaning {
            Leaning::Unreadable => 60,
            Leaning::Good => 0,
            Leaning::Mixed | Leaning::Failing | Leaning::AskingForPeople | Leaning::Unserved => 3,
        };
        let what = self.choices.weighted(&[
            (60, "readable"),
            (bad, "malformed"),
            (bad, "missing"),
            (bad, "another kind"),
        ]);
        match (what, asked.role) {
            ("malformed", _) => Answer::Malformed { faults: vec!["line 3: no such field".to_owned()] },
            ("missing", _) => Answer::Missing,
            ("another kind", Role::Doer | Role::Auditor | Role::Actuator | Role::Builder) => {
                Answer::Verdict(self.pass(effect))
            }
            (
                "another kind",
                Role::Judge
                | Role::Controller
                | Role::Sensor
                | Role::Planner
                | Role::Evaluator
                | Role::Implementer
                | Role::Reviewer
                | Role::Investigator,
            )
            | (_, Role::Doer) => Answer::Handoff(self.handoff(effect)),
            (_, Role::Judge) => Answer::Verdict(self.verdict(leaning, effect)),
            (_, Role::Auditor) => Answer::Audit(self.audit(leaning, effect)),
            (_, Role::Sensor) => self.sensor_answer(world, effect, asked),
            (_, Role::Controller) => self.controller_answer(world, leaning, effect, asked),
            (_, Role::Actuator) => self.actuator_answer(effect),
            (_, Role::Planner | Role::Implementer | Role::Reviewer | Role::Investigator)
                if self.is_of_a_roadmap() =>
            {
                self.round_work(world, effect, asked)
            }
            (_, Role::Planner) => self.planner_answer(effect),
            (_, Role::Implementer | Role::Reviewer | Role::Investigator) => Answer::Missing,
            (_, Role::Builder) => self.builder_answer(leaning, effect),
            (_, Role::Evaluator) => self.evaluator_answer(world, leaning, effect, asked),
        }
    }

    fn handoff(&mut self, effect: EffectId) -> Handoff {
        let count = self.choices.below(3);
        Handoff {
            requirements_touched: (1..=count).map(|number| format!("REQ-{number}")).collect(),
            artifact: artifact("handoff.json", effect),
        }
    }

    fn pass(&mut self, effect: EffectId) -> Verdict {
        let touched = self.run.started.as_ref().and_then(|started| match &started.protocol {
            Protocol::JudgedTask(state) => {
                state.handoff.as_ref().map(|handoff| handoff.requirements_touched.clone())
            }
            Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => None,
        });
        Verdict {
            word: VerdictWord::Pass,
            feedback: Vec::new(),
            requirements_checked: touched.unwrap_or_default(),
            requirements_missing: Vec::new(),
            artifact: artifact("verdict.json", effect),
            waivers: self.waivers(),
        }
    }

    fn verdict(&mut self, leaning: Leaning, effect: EffectId) -> Verdict {
        let (word, lies, feedback) = self.word(leaning);
        let mut verdict = self.pass(effect);
        verdict.word = word;
        verdict.feedback = feedback;
        if lies && self.choices.once_in(2) {
            verdict.requirements_checked.pop();
        } else if lies {
            verdict.requirements_missing.push("REQ-9".to_owned());
        }
        verdict
    }

    fn audit(&mut self, leaning: Leaning, effect: EffectId) -> Audit {
        let (word, lies, feedback) = self.word(leaning);
        Audit {
            word,
            feedback,
            contradictions: if lies { vec!["traceability says fail".to_owned()] } else { Vec::new() },
            artifact: artifact("audit.json", effect),
        }
    }

    /// A checker's word, whether it contradicts its own evidence, and what it says about it: often too little.
    fn word(&mut self, leaning: Leaning) -> (VerdictWord, bool, Vec<String>) {
        let human = if leaning == Leaning::AskingForPeople { 60 } else { 4 };
        let word = self.choices.weighted(&[
            (30, VerdictWord::Pass),
            (12, VerdictWord::Reject),
            (human, VerdictWord::NeedsHuman),
        ]);
        let lies = self.choices.once_in(8);
        let feedback = if word == VerdictWord::Pass || self.choices.once_in(8) {
            Vec::new()
        } else {
            vec!["- [naming] say what it does".to_owned()]
        };
        (word, lies, feedback)
    }
}

pub(crate) fn task_state(run: &Run) -> Option<&State> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::JudgedTask(state)) => Some(state),
        Some(Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_))
        | None => None,
    }
}

/// What is known of the gate of the change that a run is at.
pub(crate) fn gate_of(run: &Run) -> Option<&Gate> {
    match &run.started.as_ref()?.protocol {
        Protocol::JudgedTask(state) => Some(&state.integrity),
        Protocol::FeedbackControl(state) => Some(&state.integrity.gate),
        Protocol::GoalContract(state) => state.open.as_ref().map(|open| &open.gate),
        // Of several live rounds, one that waits for a person.
        Protocol::RoadmapRounds(state) => {
            let held = state.held_over_gate();
            let round = held.first().map(|(round, _)| (*round).to_owned());
            state.book.rounds.get(&round?).map(|book| &book.gate.gate)
        }
    }
}

pub(crate) fn artifact(name: &str, effect: EffectId) -> ArtifactRef {
    ArtifactRef { name: name.to_owned(), digest: Digest::new(format!("{name} of {effect}")), bytes: 10 }
}

fn finding(kind: FindingName) -> GateFinding {
    GateFinding { kind, about: vec!["tests/a.rs".to_owned()] }
}
