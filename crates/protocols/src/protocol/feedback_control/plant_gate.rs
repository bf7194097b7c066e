//! What the change from the base to the plant did to what measures it, what the base's own measures said, and who let what be.
//! How findings are made is the host's; what an open one leads to is decided in `next`.

use super::spec::Node;
use super::steadiness::Standing;
use crate::kernel::gate::{
    Counted, Gate, GateFinding, GateReport, GateRules, TestCount, TouchedPath, Waiver,
};
use crate::kernel::gate::{fewer_tests, needs_inspection};
use crate::outcome::{CapturedChange, Reading, ReadingStatus};
use crate::vocabulary::TreeId;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlantGate {
    /// Of the plant as it is now.
    pub gate: Gate,
    look: Arc<Look>,
    /// Depths of the nodes whose sensors ran with the protected files of the base.
    inspected_at: Vec<u32>,
    /// Contents that touched something; an earlier one may be put back.
    earlier: BTreeMap<TreeId, Arc<Look>>,
    /// What was waived of each content.
    waived: BTreeMap<TreeId, Vec<Waiver>>,
    tests_at_base: Vec<TestCount>,
    pub(super) red_at_base: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Look {
    touched: Vec<TouchedPath>,
    findings: Vec<GateFinding>,
}

impl PlantGate {
    /// The last actuator left this content; what it touches is counted from the base.
    pub(super) fn changed(&mut self, change: &CapturedChange) {
        let look = Look { touched: change.protected.clone(), findings: change.gate.clone() };
        if look == Look::default() {
            self.earlier.remove(&change.tree);
        } else {
            // Most iterations touch what the one before them touched: the same look is kept once.
            let look = if look == *self.look { Arc::clone(&self.look) } else { Arc::new(look) };
            self.earlier.insert(change.tree.clone(), look);
        }
        self.turn_to(&change.tree);
    }

    /// Whatever was inspected was another content; what was waived of this one stays so.
    pub(super) fn turn_to(&mut self, plant: &TreeId) {
        self.look = self.earlier.get(plant).cloned().unwrap_or_default();
        let waivers = self.waived.get(plant).cloned().unwrap_or_default();
        self.gate = Gate { findings: self.look.findings.clone(), waivers, ..Gate::default() };
        self.inspected_at.clear();
    }

    /// Counts for that content alone.
    pub(super) fn waive(&mut self, plant: Option<&TreeId>, waivers: &[Waiver]) {
        self.gate.waivers.extend(waivers.iter().cloned());
        if let Some(plant) = plant.filter(|_| !waivers.is_empty()) {
            self.waived.entry(plant.clone()).or_default().extend(waivers.iter().cloned());
        }
    }

    /// Whether what these readings of the plant say can be believed. Only readings that all pass are worth a closer look; until
    /// it is taken they prove nothing.
    pub(super) fn standing(
        &self,
        rules: &GateRules,
        (depth, node): (u32, &Node),
        readings: &[Reading],
    ) -> Standing {
        let pass = readings.iter().all(|one| !one.required || one.status == ReadingStatus::Pass);
        let measures = node.sensors.iter().any(|sensor| sensor.required && sensor.command.is_some());
        let unproven = pass && measures && self.wants_inspection(rules, depth);
        if !rules.is_off() && (unproven || !self.gate.unwaived().is_empty()) {
            Standing::Doubted
        } else {
            Standing::Sound
        }
    }

    /// What each sensor's command said first of the base is what it is held to.
    pub(super) fn measured_base(&mut self, node: &Node, readings: &[Reading]) {
        for count in TestCount::of(counted(node, readings)) {
            if !self.tests_at_base.iter().any(|known| known.command == count.command) {
                self.tests_at_base.push(count);
            }
        }
        let red = readings.iter().filter(|reading| reading.status == ReadingStatus::Fail);
        for command in red.filter_map(|reading| command(node, reading)) {
            if !self.red_at_base.iter().any(|known| known == command) {
                self.red_at_base.push(command.into());
            }
        }
    }

    /// What sensors that pass say about the gate.
    pub(super) fn fewer_tests(&self, node: &Node, readings: &[Reading]) -> Option<GateFinding> {
        fewer_tests(&self.tests_at_base, passing(node, readings))
    }

    pub(super) fn inspected(&mut self, depth: u32, report: &GateReport) {
        self.gate.take(report);
        self.inspected_at.push(depth);
    }

    /// Whether the change up to the plant touches what measures it.
    pub fn touches(&self) -> bool {
        *self.look != Look::default()
    }

    pub(super) fn wants_inspection(&self, rules: &GateRules, depth: u32) -> bool {
        needs_inspection(rules, &self.look.touched) && !self.inspected_at.contains(&depth)
    }
}

fn command<'a>(node: &'a Node, reading: &Reading) -> Option<&'a str> {
    node.sensors.iter().find(|sensor| sensor.name == reading.sensor)?.command.as_deref()
}

fn counted<'a>(
    node: &'a Node,
    readings: impl IntoIterator<Item = &'a Reading, IntoIter: Clone>,
) -> impl Iterator<Item = Counted<'a>> + Clone {
    readings.into_iter().filter_map(|reading| Some((command(node, reading)?, reading.tests)))
}

/// A sensor that fails says nothing about how many tests there are.
pub(super) fn passing<'a>(
    node: &'a Node,
    readings: &'a [Reading],
) -> impl Iterator<Item = Counted<'a>> + Clone {
    counted(node, readings.iter().filter(|reading| reading.status == ReadingStatus::Pass))
}

/// All of them, for whoever looks from outside.
pub(super) fn of_all<'a>(
    node: &'a Node,
    readings: &'a [Reading],
) -> impl Iterator<Item = Counted<'a>> + Clone {
    counted(node, readings)
}
