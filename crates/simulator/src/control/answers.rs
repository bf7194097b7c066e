//! What the world answers to the steps of a control loop: sensors that read the plant truthfully, controllers that lie or
//! leave garbage now and then, actuators that move the plant, a branch that takes commits.

use super::control_state;
use super::plant::Figures;
use crate::answers::{Answering, artifact};
use crate::temper::{Capturing, Leaning};
use crate::world::World;
use windlass_protocols::effect::{CommitIteration, Measure, RunAgent};
use windlass_protocols::outcome::{
    Action, Answer, Better, CapturedChange, Decision, Measured, Metric, Reading, ReadingStatus,
};
use windlass_protocols::protocol::feedback_control::spec::Node;
use windlass_protocols::{CommitId, EffectId, Outcome, TreeId};

/// The truth about one figure.
fn reading(sensor: &str, required: bool, figures: Figures, effect: EffectId) -> Reading {
    let value = figures.of(sensor);
    Reading {
        sensor: sensor.to_owned(),
        status: if value == 0 { ReadingStatus::Pass } else { ReadingStatus::Fail },
        required,
        cause: None,
        metrics: vec![Metric {
            name: "count".to_owned(),
            thousandths: i64::from(value) * 1_000,
            finer: 0,
            unit: String::new(),
            better: Better::Lower,
        }],
        edited: Vec::new(),
        artifact: artifact("sensor-output.md", effect),
        log: None,
        tests: None,
    }
}

impl Answering<'_> {
    pub(crate) fn measure(&mut self, world: &mut World, effect: EffectId, asked: &Measure) -> Outcome {
        let figures = world.truth.plant.figures(&asked.tree, self.choices);
        let mut readings = Vec::new();
        for sensor in &asked.sensors {
            let mut reading = reading(&sensor.name, sensor.required, figures, effect);
            reading.tests = self.count_tests();
            if self.choices.once_in(40) {
                reading.edited.push("Cargo.lock".to_owned());
            }
            readings.push(reading);
        }
        let gate = self.replaced();
        Outcome::Measured(Measured { tree: asked.tree.clone(), readings, usage: self.usage(), gate })
    }

    pub(crate) fn sensor_answer(&mut self, world: &mut World, effect: EffectId, asked: &RunAgent) -> Answer {
        let (Some(tree), Some(node)) = (&asked.tree, &asked.node) else {
            return Answer::Missing;
        };
        let name = node.sensor.as_deref().unwrap_or_default();
        let figures = world.truth.plant.figures(tree, self.choices);
        let required = self
            .node(asked)
            .is_some_and(|node| node.sensors.iter().any(|sensor| sensor.name == name && sensor.required));
        Answer::Reading(reading(name, required, figures, effect))
    }

    pub(crate) fn controller_answer(
        &mut self,
        world: &mut World,
        leaning: Leaning,
        effect: EffectId,
        asked: &RunAgent,
    ) -> Answer {
        let lies = match leaning {
            // It would have everything signed off by somebody else.
            Leaning::AskingForPeople => self.choices.weighted(&[(1, true), (2, false)]),
            Leaning::Good => false,
            _ => self.choices.once_in(8),
        };
        let met = asked.tree.as_ref().is_some_and(|tree| {
            let figures = world.truth.plant.figures(tree, self.choices);
            let sensors = self.node(asked).map(|node| node.sensors.as_slice()).unwrap_or_default();
            // Without a sensor of its own a node has only its controller's eyes.
            let sees = if sensors.is_empty() { figures.a + figures.b } else { 0 };
            sees == 0 && sensors.iter().all(|sensor| !sensor.required || figures.of(&sensor.name) == 0)
        });
        let target_met = met != lies;
        let planless = self.choices.once_in(25);
        Answer::Decision(Decision {
            target_met,
            plan: (!target_met && !planless).then(|| artifact("plan.md", effect)),
            summary: "closer".to_owned(),
            artifact: artifact("controller-output.md", effect),
            waivers: self.waivers(),
        })
    }

    pub(crate) fn actuator_answer(&mut self, effect: EffectId) -> Answer {
        let commands_off = self.choices.weighted(&[(3, true), (1, false)]);
        Answer::Action(Action {
            summary: "turned a screw".to_owned(),
            artifact: Some(artifact("actuator-output.md", effect)),
            commands_off,
        })
    }

    pub(crate) fn capture_plant(&mut self, world: &mut World, round: u32) -> Outcome {
        let refused = if self.temper.capturing == Capturing::Refusing { 40 } else { 1 };
        let what =
            self.choices.weighted(&[(80, "moved"), (refused, "refused"), (3, "hazard"), (4, "reverted")]);
        if what == "refused" {
            return Outcome::Refused { reason: "the index is locked".to_owned() };
        }
        let from = control_state(self.run).and_then(|state| state.plant.clone());
        let from = from.unwrap_or_else(|| TreeId::new(crate::answers::BASE_TREE));
        let tree = world.truth.plant.moved(&from, self.temper.moving, self.choices);
        let (protected, gate) = if tree.as_str() == crate::answers::BASE_TREE {
            (Vec::new(), Vec::new())
        } else {
            self.touched()
        };
        let some = |kind: &str, text: &str| if what == kind { vec![text.to_owned()] } else { Vec::new() };
        Outcome::ChangeCaptured(CapturedChange {
            round,
            files_changed: u64::from(tree != from),
            // Some actuators know but few tricks.
            fingerprint: Some(self.choices.weighted(&[(3, "one"), (2, "two"), (1, "three")]).to_owned()),
            hazards: some("hazard", "a link leads out of the tree"),
            patch: artifact("change.patch", EffectId(u64::from(round))),
            reverted: some("reverted", ".ai-loop/flow.yaml"),
            left_out: some("reverted", "pipe is a named pipe, which git does not record"),
            findings: Vec::new(),
            protected,
            gate,
            tree,
        })
    }

    pub(crate) fn commit(&mut self, world: &mut World, asked: &CommitIteration) -> Outcome {
        // Whoever is asked twice looks first.
        if !world.truth.branch.has(asked) && self.choices.once_in(30) {
            return Outcome::Refused { reason: "a hook said no".to_owned() };
        }
        let commit = world.truth.branch.commit(asked).unwrap_or_else(|violation| {
            world.violation.get_or_insert(violation);
            CommitId::new("a second commit")
        });
        // Without a draw: whoever looks twice finds the same, and what is edited stays so for a while.
        let edited = asked.label.ends_with(['2', '3']).then(|| ".ai-loop/flow.yaml".to_owned());
        Outcome::IterationCommitted {
            commit,
            tree: asked.plant.clone(),
            setup_edited: edited.into_iter().collect(),
        }
    }

    fn node(&self, asked: &RunAgent) -> Option<&Node> {
        let depth = asked.node.as_ref()?.depth;
        control_state(self.run).map(|state| state.spec.node(depth as usize))
    }
}
