//! Watches the gate of a change from the facts alone, for the invariants. Kept apart from the gate that decides, so that a slip
//! there is seen here.

use super::gate::{Counted, FindingName, GateFinding, GateReport, GateRules, TestCount, Waiver};
use crate::outcome::CapturedChange;
use crate::vocabulary::TreeId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What an observer of the facts alone can say about the gate of the change that was captured last.
#[derive(Clone, Debug)]
pub(crate) struct WatchedGate {
    rules: GateRules,
    at_base: Vec<TestCount>,
    found: Vec<FindingName>,
    waived: Vec<FindingName>,
    wants_inspection: bool,
    /// The trees, the depths of the nodes whose checks looked at them, and what was found; a loop without nodes has one depth.
    inspected: Vec<(TreeId, u32, Vec<FindingName>)>,
    tree: Option<TreeId>,
}

impl WatchedGate {
    pub(crate) const fn new(rules: GateRules) -> Self {
        Self {
            rules,
            at_base: Vec::new(),
            found: Vec::new(),
            waived: Vec::new(),
            wants_inspection: false,
            inspected: Vec::new(),
            tree: None,
        }
    }

    /// What each command ran first is what it is held to.
    pub(crate) fn baseline<'a>(&mut self, counted: impl Iterator<Item = Counted<'a>>) {
        for count in TestCount::of(counted) {
            if !self.at_base.iter().any(|known| known.command == count.command) {
                self.at_base.push(count);
            }
        }
    }

    pub(crate) fn captured(&mut self, change: &CapturedChange) {
        self.begin(Some(change.tree.clone()));
        self.found = change.gate.iter().map(|finding| finding.kind).collect();
        self.wants_inspection = !change.protected.is_empty();
    }

    /// Another content, of which nothing is known to be wrong.
    pub(crate) fn begin(&mut self, tree: Option<TreeId>) {
        self.found.clear();
        self.waived.clear();
        self.inspected.clear();
        self.wants_inspection = false;
        self.tree = tree;
    }

    pub(crate) fn checked<'a>(
        &mut self,
        gate: &[GateFinding],
        now: impl Iterator<Item = Counted<'a>> + Clone,
    ) {
        self.found.extend(gate.iter().map(|finding| finding.kind));
        let ran = |before: &TestCount| {
            let now = now.clone().find(|(command, _)| *command == before.command);
            now.map_or(before.ran, |(_, tests)| tests.unwrap_or_default())
        };
        if self.at_base.iter().any(|before| ran(before) < before.ran) {
            self.found.push(FindingName::FewerTests);
        }
    }

    pub(crate) fn inspected(&mut self, report: &GateReport, depth: u32) {
        // Findings of a look that came to nothing count all the same; that it looked does not.
        if report.ran_with_base.is_empty() {
            self.found.extend(report.findings.iter().map(|finding| finding.kind));
            return;
        }
        // Whoever looks again has seen more: the first look may have been cut off.
        self.inspected.retain(|(tree, at, _)| (tree, *at) != (&report.tree, depth));
        let found = report.findings.iter().map(|finding| finding.kind).collect();
        self.inspected.push((report.tree.clone(), depth, found));
    }

    pub(crate) fn waive(&mut self, waivers: &[Waiver]) {
        let reasoned = waivers.iter().filter(|waiver| !waiver.reason.trim().is_empty());
        self.waived.extend(reasoned.map(|waiver| waiver.finding));
    }

    /// Findings about the content that is looked at, which nobody waived.
    pub(crate) fn unwaived(&self) -> Vec<FindingName> {
        if self.rules.is_off() {
            return Vec::new();
        }
        let run = self.inspected.iter().flat_map(|(_, _, found)| found);
        self.found.iter().chain(run).filter(|finding| !self.waived.contains(finding)).copied().collect()
    }

    /// Sentences about an acceptance that must not be; whether there are checks to inspect with is the loop's to say.
    pub(crate) fn open(&self, has_checks: bool, depth: u32) -> Vec<String> {
        if self.rules.is_off() {
            return Vec::new();
        }
        let open = self.unwaived().into_iter();
        let mut wrong: Vec<String> =
            open.map(|finding| format!("accepted with `{}`, which nobody waived", finding.name())).collect();
        let looked =
            self.inspected.iter().any(|(tree, at, _)| Some(tree) == self.tree.as_ref() && *at == depth);
        if has_checks && self.wants_inspection && !looked {
            wrong.push("accepted without the checks having run with the base's own tests".to_string());
        }
        wrong
    }
}
