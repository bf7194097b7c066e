//! What the world answers to the steps of a goal loop: files as people left them, a suite that tells the truth, builders who
//! do more or less than they were asked, evaluators who lie, repeat themselves or say nothing, a branch that takes commits.

use super::works::{Building, Deed};
use super::{backlog, goal_state};
use crate::answers::{Answering, BASE_TREE, Season, artifact};
use crate::temper::{Capturing, Leaning};
use crate::world::World;
use windlass_protocols::effect::{CommitItem, RunAgent, RunSuite, SuitePurpose};
use windlass_protocols::outcome::{
    Answer, BuildReport, CapturedChange, DesignReport, Evaluation, Finding, FindingKind, RootCause, Trouble,
};
use windlass_protocols::{CommitId, EffectId, Outcome, TreeId};

impl Answering<'_> {
    pub(crate) fn read_queue(&mut self, world: &mut World) -> Outcome {
        let truth = &mut world.truth.goal;
        let queue = truth.queue.get_or_insert_with(|| backlog::draw(self.choices));
        let first = goal_state(self.run).is_none_or(|state| state.queue.is_none());
        if let Some(state) = goal_state(self.run) {
            backlog::keep_up(queue, state);
        }
        if !first && self.season == Season::Faulty && self.choices.once_in(5) {
            backlog::edit(queue, self.choices);
        }
        if self.choices.once_in(40) {
            return Outcome::Refused { reason: "FEATURES.json: line 3: no comma".to_owned() };
        }
        Outcome::QueueRead(Box::new(queue.clone()))
    }

    pub(crate) fn suite(&mut self, world: &mut World, effect: EffectId, asked: &RunSuite) -> Outcome {
        let usage = self.usage();
        let mut report = world.truth.goal.works.run(effect, asked, usage, self.choices);
        if asked.purpose == SuitePurpose::Item {
            report.gate = self.replaced();
        }
        Outcome::SuiteRan(Box::new(report))
    }

    pub(crate) fn capture_item(&mut self, world: &mut World, round: u32) -> Outcome {
        let refused = if self.temper.capturing == Capturing::Refusing { 40 } else { 1 };
        let what = self.choices.weighted(&[(80, "taken"), (refused, "refused"), (2, "hazard")]);
        if what == "refused" {
            return Outcome::Refused { reason: "the index is locked".to_owned() };
        }
        let open = goal_state(self.run).and_then(|state| state.open.as_ref());
        let start = open.map_or_else(|| TreeId::new(BASE_TREE), |open| open.start.clone());
        let item = open.map(|open| open.item.clone()).unwrap_or_default();
        let mut findings = self.findings();
        let by_hand = open.and_then(|open| open.handed_back.clone());
        let tree = by_hand.unwrap_or_else(|| {
            let deed = self.temper.building.act(self.choices);
            if deed == Deed::DeletesTests && !self.choices.once_in(4) {
                let about = vec!["tests/a.rs".to_owned()];
                findings.push(Finding { kind: FindingKind::TestsDeleted, about });
            }
            world.truth.goal.works.made(&start, &item, deed, self.choices)
        });
        let at_head =
            goal_state(self.run).and_then(|state| state.head.as_ref()).is_some_and(|(_, head)| *head == tree);
        let (protected, gate) = if at_head { (Vec::new(), Vec::new()) } else { self.touched() };
        let hazard = (what == "hazard").then(|| "a link leads out of the tree".to_owned());
        Outcome::ChangeCaptured(CapturedChange {
            round,
            files_changed: u64::from(tree != start),
            fingerprint: None,
            hazards: hazard.into_iter().collect(),
            patch: artifact("change.patch", EffectId(u64::from(round))),
            reverted: Vec::new(),
            left_out: Vec::new(),
            protected,
            gate,
            findings,
            tree,
        })
    }

    /// What a builder did beyond its item.
    fn findings(&mut self) -> Vec<Finding> {
        let creeps = if self.temper.building == Building::Creeping { 10 } else { 1 };
        let kind = self.choices.weighted(&[
            (80, None),
            (creeps, Some(FindingKind::OutsidePaths)),
            (creeps, Some(FindingKind::ItemEdited)),
            (2, Some(FindingKind::StatusSet)),
            (2, Some(FindingKind::Committed)),
            (creeps, Some(FindingKind::Secret)),
            (2, Some(FindingKind::LoopFile)),
        ]);
        kind.map(|kind| Finding { kind, about: vec!["src/other.rs".to_owned()] }).into_iter().collect()
    }

    pub(crate) fn commit_item(&mut self, world: &mut World, asked: &CommitItem) -> Outcome {
        let history = &mut world.truth.goal.history;
        // Whoever is asked twice looks first.
        if !history.has(asked) && self.choices.once_in(25) {
            return Outcome::Refused { reason: "a hook said no".to_owned() };
        }
        let commit = history.commit(asked).unwrap_or_else(|violation| {
            world.violation.get_or_insert(violation);
            CommitId::new("a second commit")
        });
        Outcome::ItemCommitted { commit, tree: asked.tree.clone() }
    }

    /// Now and then an agent does what must never be done unattended.
    pub(crate) fn destructive(&mut self) -> Option<Trouble> {
        let command = "rm -rf ~".to_owned();
        self.choices.once_in(120).then_some(Trouble::Destructive { command })
    }

    pub(crate) fn planner_answer(&mut self, effect: EffectId) -> Answer {
        let nameless = self.choices.once_in(12);
        Answer::Design(DesignReport {
            summary: "one file".to_owned(),
            paths: if nameless { Vec::new() } else { vec!["src/item.rs".to_owned()] },
            artifact: artifact("design.md", effect),
            refined: None,
        })
    }

    pub(crate) fn builder_answer(&mut self, leaning: Leaning, effect: EffectId) -> Answer {
        let asks = match leaning {
            Leaning::AskingForPeople => self.choices.weighted(&[(2, false), (1, true)]),
            _ => self.choices.once_in(40),
        };
        Answer::Build(BuildReport {
            summary: "add it".to_owned(),
            question: asks.then(|| "which of the two?".to_owned()),
            artifact: Some(artifact("build.json", effect)),
        })
    }

    pub(crate) fn evaluator_answer(
        &mut self,
        world: &World,
        leaning: Leaning,
        effect: EffectId,
        asked: &RunAgent,
    ) -> Answer {
        let item = asked.item.as_deref().unwrap_or_default();
        let done = asked.tree.as_ref().is_some_and(|tree| world.truth.goal.works.is_done(tree, item));
        let lies = match leaning {
            Leaning::Good => false,
            // It finds the same thing again, in other words.
            Leaning::AskingForPeople => done,
            _ => self.choices.once_in(7),
        };
        let pass = done != lies;
        let place = match leaning {
            Leaning::AskingForPeople => 0,
            _ => self.choices.below(4),
        };
        let cause = RootCause {
            key: format!("correctness:src/{place}.rs"),
            text: format!("wrong in  {place}, seen in {effect}"),
        };
        let causeless = self.choices.once_in(20);
        Answer::Evaluation(Evaluation {
            pass,
            cause: (!pass && !causeless).then_some(cause),
            issues: if pass { Vec::new() } else { vec![format!("src/{place}.rs:7: off by one")] },
            artifact: artifact("evaluation.json", effect),
            waivers: self.waivers(),
        })
    }
}
