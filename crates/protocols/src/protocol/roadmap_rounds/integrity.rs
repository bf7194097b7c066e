//! What a round did to what measures it: when that is looked at, and what an open finding leads to. How findings are made is
//! the host's. Whatever was found belongs to one content: a reviewer's own files do not change it, anything else does.

use super::book::RoundBook;
use super::facts::{Fact as RoadmapFact, Why};
use super::next::{Next, Waiting, control, decided, state};
use super::plane::{Plane, ReviewSeen, RoundSeen, RoundStage};
use super::rounds::{give_up, to_stage};
use super::state::{Flight, SET_ASIDE, State};
use super::steps::{GateLooked, LookAtGate, PlaneStep, RoundWork};
use crate::draft::Draft;
use crate::effect::{Effect, InspectGate};
use crate::kernel::gate::{Gate, GateFinding, GateReport, OnFindings, TouchedPath, Waiver, needs_inspection};
use crate::observation::Rejection;
use crate::vocabulary::{CommitId, TreeId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is known of the gate of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundGate {
    pub gate: Gate,
    /// The newest commit that was looked at, and where the round had left the base then.
    of: Option<(CommitId, CommitId)>,
    trees: Option<(TreeId, TreeId)>,
    touched: Vec<TouchedPath>,
    /// Checks that are red on the round as it is.
    pub red: Vec<String>,
    /// A person was asked about what is open.
    asked: bool,
    /// They went on without waiving all of it, so they want it put right.
    refused: bool,
}

impl RoundGate {
    pub(super) fn look(&mut self, looked: &GateLooked) {
        *self = Self {
            gate: Gate { findings: looked.findings.clone(), ..Gate::default() },
            of: Some((looked.head.clone(), looked.fork.clone())),
            trees: Some((looked.base.clone(), looked.tree.clone())),
            touched: looked.touched.clone(),
            ..Self::default()
        };
    }

    pub(super) fn inspect(&mut self, report: &GateReport) {
        self.gate.take(report);
        self.red.clone_from(&report.red);
    }

    /// A reviewer's files became a commit, or were set aside by one: the content is the same.
    pub(super) fn carry(&mut self, from: Option<&CommitId>, to: &CommitId) {
        if let Some((head, _)) = &mut self.of
            && Some(&*head) == from
        {
            head.clone_from(to);
        }
    }

    /// A person lets the run go on.
    pub(super) fn take_up(&mut self, open: bool) {
        self.refused |= self.asked && open;
    }
}

/// Where the round has left the base, or was last brought up to it.
fn fork<'a>(plane: &'a Plane, round: &'a RoundSeen) -> &'a CommitId {
    round.fork.as_ref().unwrap_or(&plane.base)
}

/// `None` once the gate of what the round holds is known; otherwise what that needs, which may be nothing for now.
#[expect(clippy::option_option, reason = "absent: it is known; inner absent: wait")]
pub(super) fn to_look(
    draft: &Draft,
    plane: &Plane,
    round: &RoundSeen,
    book: &RoundBook,
) -> Option<Option<Next>> {
    let state = state(draft);
    let rules = &state.spec.place.gate;
    let head = round.head.as_ref().filter(|_| !rules.is_off())?;
    let known = &book.gate;
    if known.of.as_ref() != Some(&(head.clone(), fork(plane, round).clone())) {
        let (round, head, fork) = (round.id.clone(), head.clone(), fork(plane, round).clone());
        return Some(Some(control(PlaneStep::LookAtGate(LookAtGate { round, fork, head }))));
    }
    // Nobody else looks at what a planner did alone, so the checks are run on all of that.
    let wanted = needs_inspection(rules, &known.touched) || is_alone(round);
    if known.gate.inspected || state.spec.checks.is_empty() || !wanted {
        return None;
    }
    // They share one place to run in.
    if state.in_flight.values().any(|flight| matches!(flight, Flight::Inspect { .. })) {
        return Some(None);
    }
    let (base, tree) = known.trees.clone()?;
    Some(Some(Next::Ask(Box::new(Effect::InspectGate(InspectGate {
        round: super::asking::number(&round.id),
        base,
        tree,
        commands: state.spec.checks.clone(),
        red_at_base: Vec::new(),
        flaky: Vec::new(),
        unmeasured: true,
        limits: draft.budget().step_limits(),
    })))))
}

/// `None` where nothing of what was found is open; otherwise what keeps an approved round from being merged.
#[expect(clippy::option_option, reason = "absent: it may go on; inner absent: a person is waited for")]
pub(super) fn over_approval(
    draft: &Draft,
    round: &RoundSeen,
    (book, from): (&RoundBook, RoundStage),
    waiting: &mut Waiting,
) -> Option<Option<Next>> {
    let state = state(draft);
    let findings = open(state, round, book);
    let alone = is_alone(round);
    if findings.is_empty() {
        if !alone || book.gate.red.is_empty() || state.spec.place.gate.is_off() {
            return None;
        }
        let why = Why::ChecksRed { commands: book.gate.red.clone() };
        if book.review_cycles > state.limits().review_cycles {
            return Some(give_up(state, round, why.words()));
        }
        return Some(Some(to_stage(round, from, RoundStage::Plan, why)));
    }
    let words: Vec<String> = findings.iter().map(GateFinding::words).collect();
    if state.spec.place.gate.on_findings == OnFindings::Ask && !book.gate.refused {
        if !book.gate.asked {
            let round = round.id.clone();
            return Some(Some(decided(RoadmapFact::GateHeld { round, findings })));
        }
        waiting.reason(format!(
            "{} is approved, but changes what measures it: {}",
            round.id,
            words.join("; ")
        ));
        return Some(None);
    }
    if book.review_cycles > state.limits().review_cycles {
        let why = format!("nobody waives what was found about its gate: {}", words.join("; "));
        return Some(give_up(state, round, why));
    }
    // Whoever planned and made it alone has nobody to waive anything: it is planned for others.
    let to = if alone { RoundStage::Plan } else { RoundStage::Implement };
    Some(Some(to_stage(round, from, to, Why::NotWaived { findings })))
}

/// Its planner made it, and nobody reviews it.
fn is_alone(round: &RoundSeen) -> bool {
    round.evidence.plan.as_ref().is_some_and(|plan| plan.direct.is_some())
}

/// Findings that neither the review that lies there nor a person waived by name.
fn open(state: &State, round: &RoundSeen, book: &RoundBook) -> Vec<GateFinding> {
    if state.spec.place.gate.is_off() {
        return Vec::new();
    }
    with_review(round, book).unwaived().into_iter().cloned().collect()
}

/// The gate with what the review that lies there waives. Where another file was agreed on, that review approved nothing.
fn with_review(round: &RoundSeen, book: &RoundBook) -> Gate {
    let mut gate = book.gate.gate.clone();
    if let Some(ReviewSeen::Approved { waivers, artifact, .. }) = &round.evidence.review
        && book.approval.as_ref().is_none_or(|(agreed, _)| agreed == artifact)
    {
        gate.waivers.extend(waivers.iter().cloned());
    }
    gate
}

impl State {
    /// Rounds that wait for a person's waiver, and what is open about them.
    pub fn held_over_gate(&self) -> Vec<(&str, Vec<GateFinding>)> {
        let plane = self.plane.iter().flat_map(|plane| &plane.rounds);
        let asked = plane.filter_map(|round| {
            let book =
                self.book.rounds.get(&round.id).filter(|book| book.gate.asked && !book.gate.refused)?;
            let open = open(self, round, book);
            (!open.is_empty()).then_some((round.id.as_str(), open))
        });
        asked.collect()
    }

    pub(super) fn waive(&mut self, waiver: &Waiver) {
        for book in self.book.rounds.values_mut().filter(|book| book.gate.asked) {
            book.gate.gate.waivers.push(waiver.clone());
        }
    }

    /// Whoever goes on without waiving everything wants it put right.
    pub(super) fn take_up_gates(&mut self) {
        let held: Vec<String> = self.held_over_gate().iter().map(|(round, _)| (*round).to_string()).collect();
        for (round, book) in &mut self.book.rounds {
            book.gate.take_up(held.contains(round));
        }
    }

    pub(super) fn evolve_gate(&mut self, fact: &RoadmapFact) {
        let (round, change): (&String, &dyn Fn(&mut RoundGate)) = match fact {
            RoadmapFact::GateLooked { looked } => (&looked.round, &|gate| gate.look(looked)),
            RoadmapFact::GateInspected { round, report } => (round, &|gate| gate.inspect(report)),
            RoadmapFact::GateHeld { round, .. } => (round, &|gate| gate.asked = true),
            _ => return,
        };
        if let Some(book) = self.book.rounds.get_mut(round) {
            change(&mut book.gate);
        }
    }

    /// The round whose content this is.
    pub(super) fn round_of(&self, tree: &TreeId) -> String {
        let is_it = |book: &RoundBook| book.gate.trees.as_ref().is_some_and(|(_, of)| of == tree);
        let found = self.book.rounds.iter().find(|(_, book)| is_it(book) && !book.gate.gate.inspected);
        found.map(|(round, _)| round.clone()).unwrap_or_default()
    }

    /// No review lies there any more; the content is what it was without it.
    pub(super) fn set_aside(&mut self, work: &RoundWork, head: &CommitId) {
        let there = self.plane.as_ref().and_then(|plane| plane.round(&work.round)?.head.clone());
        let parent = self.book.work(work).shown.clone().or(there);
        self.carry_gate(work, parent.as_ref(), head);
        self.book.work(work).clear(SET_ASIDE);
    }

    /// What was let be about a round, in sentences.
    pub(super) fn waived(&self, round: &str) -> Vec<String> {
        let seen = self.plane.as_ref().and_then(|plane| plane.round(round));
        let book = self.book.rounds.get(round);
        let gate = seen.zip(book).map(|(seen, book)| with_review(seen, book));
        gate.map(|gate| gate.waived()).unwrap_or_default()
    }

    /// The reviewer's own files moved the branch.
    pub(super) fn carry_gate(&mut self, work: &RoundWork, from: Option<&CommitId>, to: &CommitId) {
        if let Some(book) = self.book.rounds.get_mut(&work.round) {
            book.gate.carry(from, to);
        }
    }
}

/// A person may waive what some round waits with, and never without a reason.
pub(super) fn may_waive(state: &State, waiver: &Waiver) -> Result<(), Rejection> {
    let findings: Vec<GateFinding> =
        state.held_over_gate().into_iter().flat_map(|(_, findings)| findings).collect();
    if findings.is_empty() {
        let why = "no round waits with findings about the gate".to_string();
        return Err(Rejection::NotAsked { why });
    }
    Gate { findings, ..Gate::default() }.may_waive(waiver)
}

/// The command by which a person lets them be; absent where nothing waits for that.
pub(super) fn waive_command(state: &State, id: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let held = state.held_over_gate();
    for finding in held.iter().flat_map(|(_, findings)| findings) {
        if !names.contains(&finding.kind.name()) {
            names.push(finding.kind.name());
        }
    }
    (!names.is_empty()).then(|| format!("windlass waive {id} {} --reason \"…\"", names.join(" ")))
}
