//! Everything a control loop remembers between two observations. Folded from facts; long texts stay in sealed artifacts.

use super::end::{Cause, End, NodeEnd};
use super::facts::Fact as ControlFact;
use super::frame::Frame;
use super::plant_gate::PlantGate;
use super::spec::ControlSpec;
use super::stage::Stage;
use super::steadiness::{Point, Steadiness};
use crate::effect::{Ask, CommitIteration, Effect};
use crate::fact::Fact;
use crate::kernel::attempts::Attempts;
use crate::kernel::availability::Availability;
use crate::kernel::budget::CapChange;
use crate::kernel::conversation::LastSession;
use crate::kernel::gate::GateFinding;
use crate::kernel::person::Word;
use crate::kernel::trouble::{describe, with_last_words};
use crate::outcome::{AgentReport, Outcome, Reading, StepEnd, Usage};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub spec: ControlSpec,
    pub stage: Stage,
    pub base: Option<(CommitId, TreeId)>,
    /// The newest commit of the loop's branch, or the base.
    pub head: Option<CommitId>,
    /// The content as the last actuator left it, without the loop's own files.
    pub plant: Option<TreeId>,
    /// What the change so far did to what measures it.
    pub integrity: PlantGate,
    pub commits: u32,
    /// A commit whose end nobody saw may be there: it is asked for again as it was before anything else is done.
    pub unseen_commit: Option<CommitIteration>,
    /// Outermost first. A node that is left is taken off.
    pub stack: Vec<Frame>,
    /// What the child of each depth came to when it was last left, for its parent's controller.
    pub last_child_end: Vec<(u32, NodeEnd)>,
    /// How each inner node was last left, for those who look; without its history.
    pub left_nodes: Vec<Frame>,
    pub attempts: Attempts,
    pub availability: Availability,
    pub session: Option<LastSession>,
    /// How often an actuator's work was taken down; the number of the next snapshot.
    pub captures: u32,
    pub repairing: Option<Vec<String>>,
    pub left: Option<ArtifactRef>,
    pub last_failure: Option<String>,
    /// Files of the loop that the last actuator changed, which was undone.
    pub reverted: Vec<String>,
    /// What the last actuator left and no snapshot holds.
    pub left_out: Vec<String>,
    /// Files of the set-up that a person edited meanwhile.
    pub setup_edited: Vec<String>,
    /// A person's words that no controller has answered yet.
    pub unsaid_notes: Vec<String>,
    /// How many of them the controller at work was told.
    pub told_notes: usize,
    pub waiting_until: Option<Millis>,
    pub last_outage: String,
    pub end: Option<End>,
}

impl State {
    pub(crate) fn new(spec: ControlSpec) -> Self {
        Self {
            spec,
            stage: Stage::Preparing,
            base: None,
            head: None,
            plant: None,
            integrity: PlantGate::default(),
            commits: 0,
            unseen_commit: None,
            stack: Vec::new(),
            last_child_end: Vec::new(),
            left_nodes: Vec::new(),
            attempts: Attempts::default(),
            availability: Availability::default(),
            session: None,
            captures: 0,
            repairing: None,
            left: None,
            last_failure: None,
            reverted: Vec::new(),
            left_out: Vec::new(),
            setup_edited: Vec::new(),
            unsaid_notes: Vec::new(),
            told_notes: 0,
            waiting_until: None,
            last_outage: String::new(),
            end: None,
        }
    }

    /// The node at work.
    pub fn frame(&self) -> Option<&Frame> {
        self.stack.last()
    }

    /// Why the child of the node at this depth failed when it was last left.
    pub fn child_failure(&self, depth: u32) -> Option<&Cause> {
        self.last_child_end.iter().find_map(|(parent, end)| match end {
            NodeEnd::Failed { cause } if *parent == depth => Some(cause),
            _ => None,
        })
    }

    /// What was found about the gate of the content as it is now, and nobody waived.
    pub fn open_findings(&self) -> Vec<&GateFinding> {
        if self.spec.place.gate.is_off() { Vec::new() } else { self.integrity.gate.unwaived() }
    }

    /// With the user's own uncommitted changes, where they were taken along as the first of them.
    pub fn commits_on_branch(&self) -> u32 {
        self.commits.saturating_add(u32::from(self.spec.taken_along && self.commits > 0))
    }

    /// The best measurement of the outermost node so far.
    pub fn best(&self) -> Option<&Point> {
        self.stack.first().and_then(|frame| frame.steadiness.best())
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
            Fact::EffectSettled { outcome, .. } => self.settle(outcome),
            Fact::RunReopened { caps, note, .. } => self.reopen(*caps, note.as_deref()),
            Fact::FeedbackControl(fact) => self.evolve_control(fact),
            Fact::PersonSaid { word: Word::Waive(waiver), .. } => {
                let depth = self.stack.last().map_or(0, |frame| frame.depth);
                self.integrity.waive(depth, self.plant.as_ref(), core::slice::from_ref(waiver));
                self.judge_plant();
            }
            Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::PersonSaid { .. }
            | Fact::LandingAsked { .. }
            | Fact::JudgedTask(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::RunEnded => {}
        }
    }

    fn evolve_control(&mut self, fact: &ControlFact) {
        match fact {
            ControlFact::BaseFixed { commit, tree } => {
                self.base = Some((commit.clone(), tree.clone()));
                self.head = Some(commit.clone());
                self.plant = Some(tree.clone());
            }
            ControlFact::NodeEntered { depth, setpoint } => {
                let parent_label = self.stack.last().map_or_else(String::new, Frame::label);
                self.left_nodes.retain(|left| left.depth < *depth);
                self.stack.push(Frame::enter(*depth, setpoint.clone(), parent_label));
                self.begin_step();
            }
            ControlFact::ReadingsTaken { tree, readings, gate, .. } => {
                self.take_readings(tree, readings, gate);
            }
            ControlFact::GateInspected { depth, report } => {
                self.integrity.inspected(*depth, report);
                self.judge_plant();
                self.begin_step();
            }
            // What was remarked follows from the readings; the fact is for those who read the log.
            ControlFact::Remarked { .. } => {}
            ControlFact::ChangeTaken { change, .. } => {
                self.captures = self.captures.saturating_add(1);
                self.plant = Some(change.tree.clone());
                self.integrity.changed(change);
                self.reverted.clone_from(&change.reverted);
                self.left_out.clone_from(&change.left_out);
                if let Some(frame) = self.stack.last_mut() {
                    let said = frame.action.as_ref().map(|action| action.summary.clone());
                    frame.acted(&match said.filter(|said| !said.is_empty()) {
                        _ if change.files_changed == 0 => "nothing was changed".to_string(),
                        Some(said) => said,
                        None => format!("{} files changed", change.files_changed),
                    });
                    frame.change = Some(change.clone());
                }
            }
            ControlFact::RepairAsked { faults, .. } => {
                self.attempts.repairs += 1;
                self.repairing = Some(faults.clone());
            }
            ControlFact::StepRetried { kind, .. } => self.attempts.retried(*kind),
            ControlFact::AgentOut { agent, until, kind, why, .. } => {
                self.last_outage.clone_from(why);
                self.availability.is_out(agent, *until);
                self.attempts.out(*kind);
            }
            ControlFact::IterationCommitted { label, commit, .. } => {
                self.head = Some(commit.clone());
                self.unseen_commit = None;
                self.commits = self.commits.saturating_add(1);
                let commits = self.commits;
                if let (Some(frame), Some(plant)) = (self.stack.last_mut(), &self.plant) {
                    frame.committed = true;
                    frame.steadiness.committed(commit, label, plant, commits);
                }
                self.begin_step();
            }
            ControlFact::ChildReturned { end, .. } => self.leave_child(end),
            ControlFact::Concluded { end } => self.end = Some(end.clone()),
            ControlFact::LimitsChanged { limits } => self.spec.change_limits(limits),
            ControlFact::SetupEdited { paths } => self.setup_edited.extend(paths.iter().cloned()),
            ControlFact::NodeConcluded { end, .. } => self.conclude_node(end),
            ControlFact::DecisionTaken { decision, .. } => {
                let depth = self.stack.last().map_or(0, |frame| frame.depth);
                self.integrity.waive(depth, self.plant.as_ref(), &decision.waivers);
                self.judge_plant();
                let told = core::mem::take(&mut self.told_notes).min(self.unsaid_notes.len());
                self.unsaid_notes.drain(..told);
                self.evolve_frame(fact);
            }
            ControlFact::MeasurementSkipped { .. }
            | ControlFact::IterationOpened { .. }
            | ControlFact::ClaimRefused { .. }
            | ControlFact::ActionTaken { .. } => self.evolve_frame(fact),
        }
    }

    fn evolve_frame(&mut self, fact: &ControlFact) {
        let plant = self.plant.clone();
        let Some(frame) = self.stack.last_mut() else { return };
        match fact {
            ControlFact::MeasurementSkipped { .. } => frame.sensed = true,
            ControlFact::IterationOpened { iteration, .. } => frame.open(*iteration, plant),
            ControlFact::DecisionTaken { decision, .. } => frame.decision = Some(decision.clone()),
            ControlFact::ClaimRefused { .. } => {
                frame.decision = None;
                frame.claims_refused += 1;
            }
            ControlFact::ActionTaken { action, .. } => frame.action = Some(action.clone()),
            _ => {}
        }
        self.begin_step();
    }

    /// The next agent that is asked begins afresh.
    fn begin_step(&mut self) {
        self.attempts = Attempts::default();
        self.repairing = None;
        self.left = None;
        self.last_failure = None;
    }

    fn take_readings(&mut self, plant: &TreeId, readings: &[Reading], gate: &[GateFinding]) {
        let commits = self.commits;
        let Some(frame) = self.stack.last_mut() else { return self.integrity.gate.add(gate) };
        self.integrity.found(frame.depth, gate);
        let node = self.spec.node(frame.depth as usize);
        if self.base.as_ref().is_some_and(|(_, base)| base == plant) {
            self.integrity.measured_base(node, readings);
        }
        for reading in readings {
            frame.coming.retain(|one| one.sensor != reading.sensor);
            frame.coming.push(reading.clone());
        }
        let whole = node.sensors.iter().all(|one| frame.coming.iter().any(|got| got.sensor == one.name));
        if whole {
            let order = |name: &str| node.sensors.iter().position(|sensor| sensor.name == name);
            frame.coming.sort_by_key(|reading| order(&reading.sensor));
            let of_node = (frame.depth, node);
            let standing = self.integrity.standing(&self.spec.place.gate, of_node, &frame.coming);
            frame.take_measurement(plant, commits, standing);
        } else {
            // What was measured before no longer speaks of this content: a sensor may say something else by now.
            frame.measured = None;
        }
        self.begin_step();
    }

    /// Something was found out about the plant, or waived, since the node at work measured it.
    fn judge_plant(&mut self) {
        let (Some(plant), Some(frame)) = (&self.plant, self.stack.last_mut()) else { return };
        if frame.measured.as_ref() != Some(plant) {
            return;
        }
        let of_node = (frame.depth, self.spec.node(frame.depth as usize));
        let standing = self.integrity.standing(&self.spec.place.gate, of_node, &frame.readings);
        frame.steadiness.judge(plant, standing);
    }

    fn leave_child(&mut self, end: &NodeEnd) {
        let Some(mut child) = self.stack.pop() else { return };
        if let Some(parent) = self.stack.last_mut() {
            parent.child_end = Some(end.clone());
            parent.acted(&match end {
                NodeEnd::Failed { cause } => format!("the inner loop failed: {}", cause.words()),
                end => format!("the inner loop ended: {}", end.reason()),
            });
            self.last_child_end.retain(|(depth, _)| *depth != parent.depth);
            self.last_child_end.push((parent.depth, end.clone()));
        }
        // What is deeper than the node that was left belongs to an earlier entry of it.
        self.last_child_end.retain(|(depth, _)| *depth < child.depth);
        child.steadiness = Steadiness::default();
        self.left_nodes.push(child);
        self.begin_step();
    }

    fn conclude_node(&mut self, end: &NodeEnd) {
        let keep_best = self.spec.keep == super::spec::Keep::Best;
        let Some(frame) = self.stack.last_mut() else { return };
        frame.end = Some(end.clone());
        // The last commit of the whole loop carries the best content where the user wants that.
        let unmet = matches!(end, NodeEnd::MaxIterations | NodeEnd::Stalled { .. } | NodeEnd::Spent { .. });
        if let Some(best) = frame.steadiness.best().filter(|_| frame.depth == 0 && unmet && keep_best) {
            self.plant = Some(best.plant.clone());
            frame.readings.clone_from(&best.readings);
            frame.measured = Some(best.plant.clone());
            frame.put_back = true;
            self.integrity.turn_to(&best.plant.clone());
        }
        self.begin_step();
    }

    fn begin_asking(&mut self, request: &Effect) {
        match request {
            Effect::RunAgent(agent) => {
                if agent.role == Role::Controller && matches!(agent.ask, Ask::Fresh { .. }) {
                    self.told_notes = self.unsaid_notes.len();
                }
                self.session = agent.agent.as_ref().map(|text| LastSession {
                    role: agent.role,
                    agent: text.clone(),
                    session: agent.session.clone(),
                });
            }
            Effect::Wait(wait) => self.waiting_until = Some(wait.until),
            Effect::CommitIteration(commit) => {
                // An older version may have put another content back than would be chosen now: the branch has what it says.
                if self.plant.as_ref().is_some_and(|plant| *plant != commit.plant) {
                    self.plant = Some(commit.plant.clone());
                    self.integrity.turn_to(&commit.plant);
                }
                self.unseen_commit = Some(commit.clone());
            }
            Effect::ReadQueue { .. }
            | Effect::RunSuite(_)
            | Effect::CommitItem(_)
            | Effect::PrepareWorkspaces
            | Effect::RunChecks(_)
            | Effect::InspectGate(_)
            | Effect::Measure(_)
            | Effect::CaptureChange { .. }
            | Effect::LandChange(_)
            | Effect::Plane(_)
            | Effect::CloseRun(_) => {}
        }
    }

    fn settle(&mut self, outcome: &Outcome) {
        self.charge(&outcome.usage());
        match outcome {
            Outcome::Waited => {
                if let Some(until) = self.waiting_until.take() {
                    self.availability.waited_until(until);
                }
            }
            Outcome::AgentEnded(report) => self.remember_step(report),
            // The world made none, so the next one may be another.
            Outcome::Refused { .. } => self.unseen_commit = None,
            _ => {}
        }
    }

    /// What an inner node uses is used up for all around it.
    fn charge(&mut self, usage: &Usage) {
        for frame in &mut self.stack {
            frame.used.duration = Millis(frame.used.duration.0.saturating_add(usage.duration.0));
            frame.used.output_bytes = frame.used.output_bytes.saturating_add(usage.output_bytes);
            frame.used.spend(usage);
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

    fn reopen(&mut self, caps: CapChange, note: Option<&str>) {
        // Whoever goes on without waiving everything wants the controller to think again.
        let open = !self.integrity.gate.unwaived().is_empty();
        let asked_about_gate =
            matches!(self.end, Some(End::NeedsHuman { cause: Cause::GateFindings { .. } }));
        if let Some(frame) = self.stack.last_mut().filter(|_| asked_about_gate && open) {
            frame.decision = None;
        }
        self.end = None;
        self.availability.forget();
        self.begin_step();
        for frame in &mut self.stack {
            frame.steadiness.begin_counting_anew();
            frame.claims_refused = 0;
            frame.given.add(caps);
            frame.open_again();
        }
        self.unsaid_notes.extend(note.map(String::from));
    }
}
