//! One node at work: where it stands in its iteration, what it was last told and what it measured. A stack of these is the
//! state of a nested loop.

use super::end::NodeEnd;
use super::spec::{Node, NodeBudget};
use super::steadiness::{Moved, Point, Remark, Standing, Steadiness};
use crate::kernel::budget::{CapChange, Dimension};
use crate::outcome::{Action, CapturedChange, Decision, Reading, ReadingStatus, Usage};
use crate::vocabulary::{ArtifactRef, Millis, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Older attempts are in the history of the branch.
const MAX_ATTEMPTED: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub depth: u32,
    /// The parent's plan; absent for the outermost node.
    pub setpoint: Option<ArtifactRef>,
    /// The parent's label; empty for the outermost node.
    pub parent_label: String,
    pub iteration: u32,
    /// The plant as this iteration found it.
    pub found: Option<TreeId>,
    /// Of this entry.
    pub actuations: u32,
    /// The last whole measurement, and the plant it is of. Older iterations' ones stand until they are replaced.
    pub readings: Vec<Reading>,
    pub measured: Option<TreeId>,
    /// The readings are older than the last measurement, because their content was put back: no claim rests on them.
    pub put_back: bool,
    /// The first whole measurement of this entry, for the difference it made.
    pub first_readings: Option<Vec<Reading>>,
    /// Readings of a measurement that is not whole yet.
    pub coming: Vec<Reading>,
    /// Whether this iteration's own measurement was taken or left out.
    pub sensed: bool,
    pub decision: Option<Decision>,
    pub claims_refused: u32,
    pub action: Option<Action>,
    pub change: Option<CapturedChange>,
    pub child_end: Option<NodeEnd>,
    /// What was done in this entry, one line for each of the last actuations.
    pub attempted: Vec<String>,
    pub steadiness: Steadiness,
    /// What the engine said about the last measurement.
    pub remarks: Vec<Remark>,
    pub end: Option<NodeEnd>,
    pub committed: bool,
    /// Since this entry; what a child uses is its parent's too.
    pub used: Usage,
    /// What people gave since then beside the share of the flow.
    pub given: CapChange,
}

impl Frame {
    pub(crate) fn enter(depth: u32, setpoint: Option<ArtifactRef>, parent_label: String) -> Self {
        Self {
            depth,
            setpoint,
            parent_label,
            iteration: 0,
            found: None,
            actuations: 0,
            readings: Vec::new(),
            measured: None,
            put_back: false,
            first_readings: None,
            coming: Vec::new(),
            sensed: false,
            decision: None,
            claims_refused: 0,
            action: None,
            change: None,
            child_end: None,
            attempted: Vec::new(),
            steadiness: Steadiness::default(),
            remarks: Vec::new(),
            end: None,
            committed: false,
            used: Usage::default(),
            given: CapChange::default(),
        }
    }

    /// Dots between the levels: `2.1.3` is the third iteration of a child's child.
    pub fn label(&self) -> String {
        if self.parent_label.is_empty() {
            self.iteration.to_string()
        } else {
            format!("{}.{}", self.parent_label, self.iteration)
        }
    }

    pub(crate) fn open(&mut self, iteration: u32, plant: Option<TreeId>) {
        self.iteration = iteration;
        self.found = plant;
        self.sensed = false;
        self.coming.clear();
        self.decision = None;
        self.claims_refused = 0;
        self.action = None;
        self.change = None;
        self.child_end = None;
        self.end = None;
        self.committed = false;
    }

    /// A person takes the run up: what was met stays met, everything else is tried again.
    pub(crate) fn open_again(&mut self) {
        if self.end == Some(NodeEnd::TargetMet) {
            return;
        }
        // The plan of an iteration that was to be the last spoke of a content that may have been put back since.
        if self.end.take().is_some_and(|end| !matches!(end, NodeEnd::Failed { .. })) {
            self.decision = None;
        }
    }

    /// Somebody acted, and this is what they say they did.
    pub(crate) fn acted(&mut self, how: &str) {
        self.actuations = self.actuations.saturating_add(1);
        if self.attempted.len() == MAX_ATTEMPTED {
            self.attempted.remove(0);
        }
        self.attempted.push(format!("iteration {}: {how}", self.label()));
    }

    /// All sensors have read this content.
    pub(crate) fn take_measurement(&mut self, plant: &TreeId, commits: u32, standing: Standing) {
        self.readings = core::mem::take(&mut self.coming);
        self.measured = Some(plant.clone());
        self.put_back = false;
        self.first_readings.get_or_insert_with(|| self.readings.clone());
        // A measurement that only tests a claim is no step of the history.
        let acted = self.change.is_some() || self.child_end.is_some();
        self.sensed |= acted || self.iteration == 0;
        if acted || self.steadiness.points().is_empty() {
            let point = Point {
                label: self.label(),
                plant: plant.clone(),
                readings: self.readings.clone(),
                commit: None,
                commits,
                change: self.change.as_ref().and_then(|change| change.fingerprint.clone()),
                standing,
            };
            let idle = acted && self.found.as_ref() == Some(plant);
            let moved = if idle { Moved::No } else { Moved::Yes };
            self.remarks = self.steadiness.take(point, moved);
            // It is not for want of a plan that an inner loop that failed changed nothing.
            if matches!(self.child_end, Some(NodeEnd::Failed { .. })) {
                self.remarks.retain(|remark| !matches!(remark, Remark::NothingChanged { .. }));
            }
        }
    }

    /// Required sensors that did not pass on this plant; those that were not measured on it among them.
    pub fn failing(&self, node: &Node, plant: &TreeId) -> Vec<String> {
        let passed = |name: &str| {
            self.measured.as_ref() == Some(plant)
                && self
                    .readings
                    .iter()
                    .any(|reading| reading.sensor == name && reading.status == ReadingStatus::Pass)
        };
        let required = node.sensors.iter().filter(|sensor| sensor.required);
        required.filter(|sensor| !passed(&sensor.name)).map(|sensor| sensor.name.clone()).collect()
    }

    /// The share of the flow with what people added to it.
    pub(crate) fn share(&self, node: &Node) -> NodeBudget {
        let more = |cap: Option<u64>, more: u64| cap.map(|cap| cap.saturating_add(more));
        NodeBudget {
            time: node.budget.time.map(|time| Millis(time.0.saturating_add(self.given.more_time.0))),
            tokens: more(node.budget.tokens, self.given.more_tokens),
            cost_micros: more(node.budget.cost_micros, self.given.more_cost_micros),
        }
    }

    /// Somebody acted in this iteration, or the target is said to be met: measuring that is the end of a step that was paid for.
    pub(crate) fn is_to_be_measured(&self) -> bool {
        let claims = self.decision.as_ref().is_some_and(|decision| decision.target_met);
        claims || ((self.change.is_some() || self.child_end.is_some()) && !self.sensed)
    }

    /// What nothing is left of, of the share this node was given.
    pub(crate) fn spent(&self, node: &Node) -> Option<Dimension> {
        let reached = |used: u64, cap: Option<u64>| cap.is_some_and(|cap| used >= cap);
        let budget = self.share(node);
        if reached(self.used.duration.0, budget.time.map(|time| time.0)) {
            Some(Dimension::Minutes)
        } else if reached(self.used.tokens, budget.tokens) {
            Some(Dimension::Tokens)
        } else if reached(self.used.cost_micros, budget.cost_micros) {
            Some(Dimension::Money)
        } else {
            None
        }
    }
}
