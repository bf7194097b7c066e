//! What must hold of every control loop: no target met over a sensor that fails, no more actuations than the cap at any
//! depth, exactly one commit for each iteration, each on the one before. Written against the facts alone.

use super::end::NodeEnd;
use super::facts::Fact as ControlFact;
use super::plant_gate::{of_all, passing};
use super::spec::{CapRule, ControlSpec};
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::gate::{FindingName, Waiver};
use crate::kernel::person::Word;
use crate::kernel::watched_gate::WatchedGate;
use crate::outcome::{Answer, CapturedChange, Outcome, Reading, ReadingStatus, StepEnd, WorkspaceAfter};
use crate::protocol::Spec;
use crate::vocabulary::{CommitId, EffectId, Role, TreeId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn violations(facts: &[Fact], wrong: &mut Vec<String>) {
    let Some(Fact::RunStarted { spec: Spec::FeedbackControl(spec), .. }) = facts.first() else {
        return;
    };
    let mut watch = Watch::new(spec, wrong);
    for fact in facts {
        watch.see(fact);
    }
}

/// One node as an observer sees it who knows only the facts.
#[derive(Default)]
struct Entry {
    iteration: u32,
    committed: bool,
    actuations: u32,
    /// By sensor, what was measured and on which plant; from outcomes, not from what was decided about them.
    passed_on: BTreeMap<String, TreeId>,
    claimed: bool,
    ended: bool,
    met: bool,
}

struct Watch<'a> {
    spec: &'a ControlSpec,
    wrong: &'a mut Vec<String>,
    root_cap: u32,
    /// What was given to inner nodes later, by depth.
    more_below: BTreeMap<usize, u32>,
    entries: Vec<Entry>,
    requests: BTreeMap<EffectId, Effect>,
    open: BTreeSet<EffectId>,
    head: Option<CommitId>,
    /// Absent while the best content may be put back: whatever it is, it was taken down before.
    plant: Option<TreeId>,
    taken_down: BTreeSet<TreeId>,
    labels: BTreeSet<String>,
    edits_told: BTreeSet<String>,
    base: Option<TreeId>,
    gate: WatchedGate,
    /// What was taken down of each content, for the one that is put back.
    captured: BTreeMap<TreeId, CapturedChange>,
    waived: BTreeMap<TreeId, Vec<Waiver>>,
    /// What was found about each content that was left, and not waived.
    open_on: BTreeMap<TreeId, Vec<FindingName>>,
    /// The content that a loop ended on, before the best one may be put back.
    ended_on: Option<TreeId>,
    stop_asked: bool,
    concluded: bool,
    closed: bool,
}

impl<'a> Watch<'a> {
    fn new(spec: &'a ControlSpec, wrong: &'a mut Vec<String>) -> Self {
        Self {
            spec,
            wrong,
            root_cap: spec.caps.rounds,
            more_below: BTreeMap::new(),
            entries: Vec::new(),
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            head: None,
            plant: None,
            taken_down: BTreeSet::new(),
            labels: BTreeSet::new(),
            edits_told: BTreeSet::new(),
            base: None,
            gate: WatchedGate::new(spec.place.gate.clone()),
            captured: BTreeMap::new(),
            waived: BTreeMap::new(),
            open_on: BTreeMap::new(),
            ended_on: None,
            stop_asked: false,
            concluded: false,
            closed: false,
        }
    }

    fn say(&mut self, sentence: &str) {
        let at = self.entries.iter().map(|entry| entry.iteration.to_string()).collect::<Vec<_>>().join(".");
        self.wrong.push(format!("iteration {at}: {sentence}"));
    }

    fn see(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { effect, request } => self.requested(*effect, request),
            Fact::EffectSettled { effect, outcome } => {
                self.open.remove(effect);
                self.settled(*effect, outcome);
            }
            Fact::StopAsked { .. } => self.stop_asked = true,
            Fact::RunReopened { caps, .. } => {
                self.root_cap = self.root_cap.saturating_add(caps.more_rounds);
                (self.stop_asked, self.concluded, self.closed) = (false, false, false);
                // What was met stays met; every other end is open again.
                for entry in &mut self.entries {
                    entry.ended = entry.met;
                }
            }
            Fact::FeedbackControl(fact) => self.control(fact),
            Fact::JudgedTask(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::LandingAsked { .. } => {
                self.say("a fact of another loop");
            }
            Fact::RunEnded if !self.closed => self.say("the run ended without its summary"),
            Fact::PersonSaid { word: Word::Waive(waiver), .. } => {
                self.waive(core::slice::from_ref(waiver));
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
            Effect::RunAgent(_) | Effect::Measure(_) | Effect::InspectGate(_) | Effect::Wait(_)
        );
        if begins_work && self.stop_asked {
            self.say("a step began after somebody asked to stop");
        }
        if begins_work && self.concluded {
            self.say("a step began after the run was concluded");
        }
        let shown = match request {
            Effect::RunAgent(agent) => agent.tree.as_ref(),
            Effect::Measure(measure) => Some(&measure.tree),
            Effect::InspectGate(inspect) => Some(&inspect.tree),
            Effect::CommitIteration(commit) => Some(&commit.plant),
            _ => None,
        };
        if self.plant.is_none() {
            self.plant = shown.filter(|tree| self.taken_down.contains(*tree)).cloned();
            self.put_back();
        }
        match request {
            Effect::RunAgent(agent) if agent.tree != self.plant => {
                self.say("an agent was shown another tree than the last one taken down");
            }
            Effect::RunAgent(agent) if agent.role == Role::Actuator => {
                let cap = self.cap();
                if self.entries.last().is_some_and(|entry| entry.actuations >= cap) {
                    self.say("an actuator was asked beyond the cap");
                }
            }
            Effect::InspectGate(inspect) if Some(&inspect.tree) != self.plant.as_ref() => {
                self.say("another tree was inspected than the last one taken down");
            }
            Effect::Measure(measure) if Some(&measure.tree) != self.plant.as_ref() => {
                self.say("another tree was measured than the last one taken down");
            }
            Effect::CommitIteration(commit) => {
                if Some(&commit.parent) != self.head.as_ref() {
                    self.say("a commit was asked for that does not follow the last one");
                }
                if self.labels.contains(&commit.label) {
                    self.say("an iteration is committed twice");
                }
                if Some(&commit.plant) != self.plant.as_ref() {
                    self.say("another tree is committed than the last one taken down");
                }
                let met = self.entries.last().is_some_and(|entry| entry.met);
                if commit.target_met != met {
                    self.say("a commit says of the target what was not decided");
                }
            }
            Effect::LandChange(_) | Effect::RunChecks(_) => self.say("a step of another loop was asked for"),
            _ => {}
        }
    }

    /// The content that a loop ends on is the one it had, or an earlier one that nobody has to doubt.
    fn put_back(&mut self) {
        let Some(plant) = self.plant.clone() else { return };
        if self.ended_on.take().is_some_and(|last| last != plant) {
            for finding in self.open_on.get(&plant).cloned().unwrap_or_default() {
                let name = finding.name();
                self.say(&format!("content was put back as the best with `{name}`, which nobody waived"));
            }
        }
        match self.captured.get(&plant).cloned() {
            Some(change) => self.turn_to(&change),
            None => self.gate.begin(Some(plant)),
        }
    }

    fn turn_to(&mut self, change: &CapturedChange) {
        self.gate.captured(change);
        if let Some(waivers) = self.waived.get(&change.tree) {
            self.gate.waive(waivers);
        }
    }

    fn waive(&mut self, waivers: &[Waiver]) {
        self.gate.waive(waivers);
        if let Some(plant) = &self.plant {
            self.waived.entry(plant.clone()).or_default().extend(waivers.iter().cloned());
        }
    }

    /// What is known of the content that is about to be left.
    fn leave_content(&mut self) {
        if let Some(plant) = &self.plant {
            self.open_on.insert(plant.clone(), self.gate.unwaived());
        }
    }

    fn cap(&self) -> u32 {
        match self.entries.len() {
            0 | 1 => self.root_cap,
            deeper => {
                let more = self.more_below.get(&(deeper - 1)).copied().unwrap_or_default();
                self.spec.node(deeper - 1).max_iterations.saturating_add(more)
            }
        }
    }

    /// Remembers only what independent evidence established.
    fn settled(&mut self, effect: EffectId, outcome: &Outcome) {
        match (self.requests.get(&effect), outcome) {
            (Some(Effect::InspectGate(_)), Outcome::GateInspected(report)) => {
                self.gate.inspected(report, self.depth());
            }
            (Some(Effect::Measure(_)), Outcome::Measured(report)) => {
                let node = self.spec.node(self.depth() as usize);
                if self.base.as_ref() == Some(&report.tree) {
                    self.gate.baseline(of_all(node, &report.readings));
                }
                self.gate.checked(&report.gate, passing(node, &report.readings));
                let (tree, readings) = (report.tree.clone(), report.readings.clone());
                for reading in &readings {
                    self.measured(reading, &tree);
                }
            }
            (Some(Effect::RunAgent(asked)), Outcome::AgentEnded(report)) => {
                let sound = report.end == StepEnd::Exited { code: 0 }
                    && report.trouble.is_none()
                    && !matches!(report.workspace, WorkspaceAfter::Changed { .. });
                match (&report.answer, asked.tree.clone()) {
                    (Answer::Reading(reading), Some(tree)) if sound => self.measured(&reading.clone(), &tree),
                    (Answer::Decision(decision), _) if sound => {
                        let met = decision.target_met;
                        self.waive(&decision.waivers);
                        if let Some(entry) = self.entries.last_mut() {
                            entry.claimed = met;
                        }
                    }
                    _ => {}
                }
            }
            (Some(Effect::CloseRun(_)), Outcome::Closed) => self.closed = true,
            _ => {}
        }
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.entries.len().saturating_sub(1)).unwrap_or_default()
    }

    fn measured(&mut self, reading: &Reading, tree: &TreeId) {
        let Some(entry) = self.entries.last_mut() else { return };
        match reading.status {
            ReadingStatus::Pass => {
                entry.passed_on.insert(reading.sensor.clone(), tree.clone());
            }
            ReadingStatus::Fail | ReadingStatus::Pending => {
                entry.passed_on.remove(&reading.sensor);
            }
        }
    }

    fn control(&mut self, fact: &ControlFact) {
        match fact {
            ControlFact::BaseFixed { commit, tree } => {
                self.head = Some(commit.clone());
                self.plant = Some(tree.clone());
                self.base = Some(tree.clone());
                self.taken_down.insert(tree.clone());
            }
            ControlFact::NodeEntered { depth, .. } => {
                if *depth as usize != self.entries.len() {
                    self.say("a node was entered that is not the next deeper one");
                }
                self.entries.push(Entry::default());
            }
            ControlFact::IterationOpened { iteration, .. } => self.opened(*iteration),
            ControlFact::ChangeTaken { change, .. } => {
                self.leave_content();
                self.plant = Some(change.tree.clone());
                self.turn_to(change);
                self.captured.insert(change.tree.clone(), change.clone());
                self.taken_down.insert(change.tree.clone());
                self.acted();
            }
            ControlFact::ChildReturned { .. } => {
                if self.entries.pop().is_none_or(|child| !child.committed || !child.ended) {
                    self.say("a node was left before its last commit");
                }
                self.acted();
            }
            ControlFact::NodeConcluded { end, .. } => self.node_concluded(end),
            ControlFact::IterationCommitted { label, commit, .. } => {
                if !self.labels.insert(label.clone()) {
                    self.say("an iteration has two commits");
                }
                self.head = Some(commit.clone());
                if let Some(entry) = self.entries.last_mut() {
                    entry.committed = true;
                }
            }
            ControlFact::Concluded { .. } => self.concluded = true,
            ControlFact::SetupEdited { paths } => {
                let all_new = paths.iter().all(|path| self.edits_told.insert(path.clone()));
                if paths.is_empty() || !all_new {
                    self.say("an edit of the set-up was told twice, or none at all");
                }
            }
            ControlFact::LimitsChanged { limits } => {
                for (depth, more) in &limits.more_iterations {
                    let sum = self.more_below.entry(*depth as usize).or_default();
                    *sum = sum.saturating_add(*more);
                }
            }
            _ => {}
        }
    }

    fn opened(&mut self, iteration: u32) {
        let Some(entry) = self.entries.last_mut() else { return };
        let follows = iteration == entry.iteration.saturating_add(1) && entry.committed && !entry.ended;
        entry.iteration = iteration;
        entry.committed = false;
        entry.claimed = false;
        if !follows {
            self.say("an iteration was opened before the one before it was committed");
        }
    }

    fn acted(&mut self) {
        let cap = self.cap();
        let strict = self.spec.cap_rule == CapRule::StrictOriginal;
        let Some(entry) = self.entries.last_mut() else { return };
        entry.actuations += 1;
        let most = if strict { cap.saturating_sub(1) } else { cap };
        if entry.actuations > most {
            self.say("there were more actuations than the cap allows");
        }
    }

    fn node_concluded(&mut self, end: &NodeEnd) {
        let plant = self.plant.clone();
        let depth = self.entries.len().saturating_sub(1);
        let node = self.spec.node(depth);
        let Some(entry) = self.entries.last_mut() else { return };
        entry.ended = true;
        entry.met = *end == NodeEnd::TargetMet;
        if *end == NodeEnd::TargetMet {
            let passed =
                |name: &String| entry.passed_on.get(name).is_some_and(|on| Some(on) == plant.as_ref());
            let required = node.sensors.iter().filter(|sensor| sensor.required);
            let unproven: Vec<&str> = required
                .map(|sensor| &sensor.name)
                .filter(|name| !passed(name))
                .map(String::as_str)
                .collect();
            let claimed = entry.claimed;
            let inspects = node.sensors.iter().any(|sensor| sensor.required && sensor.command.is_some());
            for sentence in self.gate.open(inspects, u32::try_from(depth).unwrap_or_default()) {
                self.say(&sentence);
            }
            if !unproven.is_empty() {
                let names = unproven.join(", ");
                self.say(&format!("the target counts as met, but these did not pass on its tree: {names}"));
            }
            if !claimed {
                self.say("the target counts as met, but no controller said so");
            }
        }
        let best_may_be_kept = depth == 0 && self.spec.keep == super::spec::Keep::Best;
        if best_may_be_kept
            && matches!(end, NodeEnd::MaxIterations | NodeEnd::Stalled { .. } | NodeEnd::Spent { .. })
        {
            self.leave_content();
            self.ended_on = self.plant.take();
        }
    }
}
