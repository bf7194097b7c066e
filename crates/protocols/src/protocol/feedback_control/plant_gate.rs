//! What the change from the base to the plant did to what measures it, what the base's own measures said, and who let what be.
//! How findings are made is the host's; what an open one leads to is decided in `next`.

use super::spec::Node;
use super::steadiness::Standing;
use crate::kernel::gate::{
    Counted, FindingName, Gate, GateFinding, GateReport, GateRules, TestCount, TouchedPath, Waiver,
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
    /// What was waived of each content, and at which depth.
    waived: BTreeMap<TreeId, Vec<(u32, Waiver)>>,
    /// The content that the gate is of.
    plant: Option<TreeId>,
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
        self.gate = Gate { findings: self.look.findings.clone(), ..Gate::default() };
        self.plant = Some(plant.clone());
        self.show_waivers();
        self.inspected_at.clear();
    }

    /// Counts for that content alone.
    pub(super) fn waive(&mut self, depth: u32, plant: Option<&TreeId>, waivers: &[Waiver]) {
        if let Some(plant) = plant.filter(|_| !waivers.is_empty()) {
            let given = waivers.iter().map(|waiver| (depth, waiver.clone()));
            self.waived.entry(plant.clone()).or_default().extend(given);
            self.plant = Some(plant.clone());
            self.show_waivers();
        }
    }

    /// At which depth what was found about the plant was waived; the innermost of several.
    pub(super) fn waived_at(&self) -> Vec<(FindingName, u32)> {
        let given = self.plant.as_ref().and_then(|plant| self.waived.get(plant));
        given.into_iter().flatten().map(|(depth, waiver)| (waiver.finding, *depth)).collect()
    }

    /// What the measures of a node at this depth found. An inner node that waived a finding of this name did not run those
    /// measures: of what they find beyond what it was shown, its word says nothing.
    pub(super) fn found(&mut self, depth: u32, findings: &[GateFinding]) {
        for finding in findings {
            let known = self.gate.findings.iter().find(|known| known.kind == finding.kind);
            let is_known = |about| known.is_some_and(|known| known.about.contains(about));
            if known.is_some() && finding.about.iter().all(is_known) {
                continue;
            }
            if let Some(given) = self.plant.as_ref().and_then(|plant| self.waived.get_mut(plant)) {
                given.retain(|(by, waiver)| waiver.finding != finding.kind || *by <= depth);
            }
        }
        self.show_waivers();
        self.gate.add(findings);
    }

    fn show_waivers(&mut self) {
        let given = self.plant.as_ref().and_then(|plant| self.waived.get(plant));
        self.gate.waivers = given.into_iter().flatten().map(|(_, waiver)| waiver.clone()).collect();
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
        self.found(depth, &report.findings);
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
