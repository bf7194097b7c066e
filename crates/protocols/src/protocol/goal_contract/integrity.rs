//! What the change of an iteration did to what measures it: when the checks run without that, and what an open finding leads
//! to. How findings are made is the host's. A deleted file of tests, a test that is gone and a rewritten runner never come
//! this far: they are rework or scope creep, whatever anybody would waive.

use super::asking::limits;
use super::decide::rework;
use super::end::{Cause, End};
use super::facts::{Fact as GoalFact, RejectedBy};
use super::iteration::Iteration;
use super::next::{Next, decided, pre_commit, state};
use super::state::State;
use crate::draft::Draft;
use crate::effect::{Effect, InspectGate};
use crate::kernel::gate::{Gate, GateFinding, OnFindings, Waiver, needs_inspection};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What has to be known before an evaluator looks at a change that touches what measures it. It is shown what the checks say
/// without that, so all of them come first; a suite that is red misleads nobody.
pub(super) fn before_evaluator(draft: &Draft, open: &Iteration) -> Option<Next> {
    let state = state(draft);
    let change = open.change.as_ref()?;
    let is_red = open.suite.as_ref().is_some_and(|suite| !suite.is_green());
    if open.gate.inspected || is_red || !needs_inspection(&state.spec.place.gate, &change.protected) {
        return None;
    }
    let commands: Vec<String> = state.spec.measures().cloned().collect();
    if commands.is_empty() {
        return None;
    }
    if open.pre_commit.is_none() && !state.spec.pre_commit.is_empty() {
        return Some(pre_commit(draft, open));
    }
    let (_, head) = state.head.as_ref()?;
    let flaky = state.baseline.as_ref().map(|baseline| baseline.flaky.clone()).unwrap_or_default();
    Some(Next::Ask(Effect::InspectGate(InspectGate {
        round: open.number,
        base: head.clone(),
        tree: open.tree().clone(),
        commands,
        // A suite that is red before anything is changed begins no loop.
        red_at_base: Vec::new(),
        flaky,
        unmeasured: false,
        limits: limits(draft),
    })))
}

/// What keeps a change that the evaluator passed from being committed. A person is asked once where the user wants that;
/// whoever goes on without waiving everything wants it put right.
pub(super) fn after_verdict(draft: &Draft, open: &Iteration) -> Option<Next> {
    let state = state(draft);
    let findings: Vec<GateFinding> = open.gate.unwaived().into_iter().cloned().collect();
    if findings.is_empty() || state.spec.place.gate.is_off() {
        return None;
    }
    if state.spec.place.gate.on_findings == OnFindings::Reject || open.asked_about_gate {
        return Some(Next::NotWaived { findings });
    }
    let cause = Cause::GateFindings { item: open.item.clone(), findings };
    Some(decided(GoalFact::Concluded { end: End::Escalated { cause } }))
}

/// What a PASS with these waivers leaves open, where nobody else is to be asked about it.
pub(super) fn not_waived(state: &State, waivers: &[Waiver]) -> Vec<GateFinding> {
    let rules = &state.spec.place.gate;
    let Some(open) = state.open.as_ref().filter(|_| rules.on_findings == OnFindings::Reject) else {
        return Vec::new();
    };
    let gate = Gate { waivers: waivers.to_vec(), ..open.gate.clone() };
    if rules.is_off() { Vec::new() } else { gate.unwaived().into_iter().cloned().collect() }
}

/// The PASS counts as a FAIL, and the findings are its cause.
pub(super) fn refuse(draft: &mut Draft, findings: &[GateFinding]) {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    names.sort_unstable();
    let names = names.join(",");
    let cause = format!("nobody waived what was found about the gate: {}", names.replace(',', ", "));
    let issues = findings.iter().map(GateFinding::words).collect();
    rework(draft, RejectedBy::Gate, format!("gate:{names}"), cause, issues);
}

/// The command by which a person lets them be.
pub(super) fn waive_command(findings: &[GateFinding], id: &str) -> String {
    let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    format!("windlass waive {id} {} --reason \"…\"", names.join(" "))
}
