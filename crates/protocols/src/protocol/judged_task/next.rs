//! What to ask for next, read off the state alone. The start, a settled step, a reopened run and a run taken over from
//! the original all come through here, so there is one order of stages and no second way to resume.

use super::end::{Cause, End};
use super::facts::{Fact as TaskFact, RejectedBy, Source};
use super::spec::{AuditPolicy, Landing};
use super::state::State;
use crate::draft::Draft;
use crate::effect::{Ask, CloseRun, Effect, InspectGate, LandChange, Purpose, RunAgent, RunChecks, Wait};
use crate::fact::Fact;
use crate::kernel::availability::Available;
use crate::kernel::gate::{OnFindings, needs_inspection};
use crate::outcome::{AgentSession, Verdict, VerdictWord};
use crate::protocol::Protocol;
use crate::vocabulary::{ArtifactRef, Role, TreeId};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// # Panics
/// Never: this loop's code is only reached by runs of this loop.
pub(crate) fn state(draft: &Draft) -> &State {
    match draft.protocol() {
        Protocol::JudgedTask(state) => state,
        Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
            unreachable!("a task loop's step in another loop")
        }
    }
}

pub(crate) fn record(draft: &mut Draft, fact: TaskFact) {
    draft.record(Fact::JudgedTask(fact));
}

pub(crate) fn go_on(draft: &mut Draft) {
    loop {
        match next(draft) {
            Next::Decided(fact) => record(draft, fact),
            Next::Ask(effect) => return ask(draft, effect),
            Next::WindUp(effect) => return draft.request(effect),
        }
    }
}

enum Next {
    /// Something follows from what is known without asking anybody.
    Decided(TaskFact),
    Ask(Effect),
    /// Bringing an ended run home is not stopped by a cap or by a request to stop.
    WindUp(Effect),
}

fn next(draft: &Draft) -> Next {
    let state = state(draft);
    if let Some(end) = &state.end {
        return Next::WindUp(wind_up(draft, end));
    }
    let Some((_, base_tree)) = &state.base else {
        return Next::Ask(Effect::PrepareWorkspaces);
    };
    if state.red_at_base.is_none() {
        return if state.spec.checks.is_empty() {
            Next::Decided(TaskFact::BaselineMeasured {
                red: Vec::new(),
                evidence: Vec::new(),
                tests: Vec::new(),
            })
        } else {
            Next::Ask(checks(draft, Purpose::Baseline, base_tree.clone()))
        };
    }
    if state.round == 0 {
        let first = state.spec.adopted.as_ref().map_or(1, |adopted| adopted.round);
        return Next::Decided(TaskFact::RoundOpened { round: first });
    }
    if state.rounds_completed == state.round {
        return after_rejected_round(draft);
    }
    in_round(draft)
}

/// The stages of an open round, in their order.
fn in_round(draft: &Draft) -> Next {
    let state = state(draft);
    let adopted = state.spec.adopted.as_ref().filter(|adopted| adopted.round == state.round);
    if state.handoff.is_none() {
        return match adopted.and_then(|adopted| adopted.handoff.as_ref()) {
            Some(handoff) => Next::Decided(TaskFact::HandoffTaken { handoff: handoff.clone() }),
            None => agent(draft, Role::Doer),
        };
    }
    let Some(change) = &state.change else {
        return Next::Ask(Effect::CaptureChange { round: state.round });
    };
    // A no that was brought along is passed on as it is: red checks would only hide what was said.
    let brought_no = adopted
        .and_then(|adopted| adopted.verdict_on(&change.tree))
        .is_some_and(|verdict| verdict.word != VerdictWord::Pass);
    if state.check_evidence.is_none() && !state.spec.checks.is_empty() && !brought_no {
        return Next::Ask(checks(draft, Purpose::Acceptance, change.tree.clone()));
    }
    let inspects = state.check_evidence.is_some() && !state.integrity.inspected;
    if inspects && needs_inspection(&state.spec.place.gate, &change.protected) {
        return Next::Ask(inspection(draft, change.tree.clone()));
    }
    // Whoever passed it elsewhere was not shown what is found about the gate here.
    let knew = |verdict: &&Verdict| verdict.word != VerdictWord::Pass || state.integrity.findings.is_empty();
    match &state.verdict {
        None => match adopted.and_then(|adopted| adopted.verdict_on(&change.tree)).filter(knew) {
            Some(verdict) => Next::Decided(TaskFact::VerdictTaken {
                role: Role::Judge,
                word: verdict.word,
                tree: change.tree.clone(),
                source: Source::Agent { artifact: verdict.artifact.clone() },
                feedback: said(state, verdict.word, &verdict.feedback),
                waivers: verdict.waivers.clone(),
            }),
            None => agent(draft, Role::Judge),
        },
        Some((VerdictWord::Pass, _)) => match unwaived(draft) {
            Some(fact) => Next::Decided(fact),
            None => before_gate(draft, &change.tree),
        },
        // Only a verdict that was taken over can stand here unconsumed; ours is routed when it is taken.
        Some((word, _)) => Next::Decided(adopted_no(draft, *word, RejectedBy::Judge)),
    }
}

/// What keeps a change that the judge passed from going on: findings about the gate that nobody waived by name. A person is
/// asked once where the user wants that; whoever goes on without waiving them wants another round.
fn unwaived(draft: &Draft) -> Option<TaskFact> {
    let state = state(draft);
    let open = state.integrity.unwaived();
    if open.is_empty() {
        return None;
    }
    if state.spec.place.gate.on_findings == OnFindings::Ask && !state.asked_about_gate {
        let findings = open.into_iter().cloned().collect();
        return Some(TaskFact::Concluded {
            end: End::NeedsHuman { cause: Cause::GateFindings { findings } },
        });
    }
    let feedback = state.integrity.feedback().into_iter().chain(state.unsaid_notes.iter().cloned()).collect();
    Some(TaskFact::RoundRejected { round: state.round, by: RejectedBy::Gate, feedback })
}

fn before_gate(draft: &Draft, tree: &TreeId) -> Next {
    let state = state(draft);
    if state.spec.audit == AuditPolicy::Skipped {
        return Next::Decided(TaskFact::Concluded { end: End::Accepted { tree: tree.clone() } });
    }
    if state.audit_evidence.is_none() && !state.spec.audit_checks.is_empty() {
        return Next::Ask(checks(draft, Purpose::Audit, tree.clone()));
    }
    let adopted = state.spec.adopted.as_ref().filter(|adopted| adopted.round == state.round);
    match &state.gate {
        None => match adopted.and_then(|adopted| adopted.audit_on(tree)) {
            Some(audit) => Next::Decided(TaskFact::VerdictTaken {
                role: Role::Auditor,
                word: audit.word,
                tree: tree.clone(),
                source: Source::Agent { artifact: audit.artifact.clone() },
                feedback: said(state, audit.word, &audit.feedback),
                waivers: Vec::new(),
            }),
            None => agent(draft, Role::Auditor),
        },
        Some((VerdictWord::Pass, _)) => {
            Next::Decided(TaskFact::Concluded { end: End::Accepted { tree: tree.clone() } })
        }
        Some((word, _)) => Next::Decided(adopted_no(draft, *word, RejectedBy::Auditor)),
    }
}

fn adopted_no(draft: &Draft, word: VerdictWord, by: RejectedBy) -> TaskFact {
    use super::spec::OnNeedsHuman;
    let state = state(draft);
    let goes_on =
        state.spec.on_needs_human == OnNeedsHuman::Continue && state.round < draft.budget().caps.rounds;
    let adopted = state.spec.adopted.as_ref();
    let feedback = match by {
        RejectedBy::Auditor => {
            adopted.and_then(|adopted| adopted.audit.as_ref()).map(|audit| audit.feedback.clone())
        }
        _ => adopted.and_then(|adopted| adopted.verdict.as_ref()).map(|verdict| verdict.feedback.clone()),
    };
    match word {
        VerdictWord::NeedsHuman if !goes_on => {
            let cause = if by == RejectedBy::Auditor { Cause::AuditorAsked } else { Cause::JudgeAsked };
            TaskFact::Concluded { end: End::NeedsHuman { cause } }
        }
        _ => TaskFact::RoundRejected {
            round: state.round,
            by,
            feedback: in_words(by, feedback.unwrap_or_default())
                .into_iter()
                .chain(state.unsaid_notes.iter().cloned())
                .collect(),
        },
    }
}

/// What goes into the fact of a verdict: the words of one that no rejection repeats.
pub(super) fn said(state: &State, word: VerdictWord, feedback: &[String]) -> Vec<String> {
    match word {
        VerdictWord::NeedsHuman => feedback.iter().chain(&state.unsaid_notes).cloned().collect(),
        VerdictWord::Pass | VerdictWord::Reject => Vec::new(),
    }
}

/// A checker may say no without a reason; the maker is told at least that.
pub(super) fn in_words(by: RejectedBy, feedback: Vec<String>) -> Vec<String> {
    if feedback.is_empty() {
        alloc::vec![alloc::format!("- [orchestrator] {}; no reason was given", by.words())]
    } else {
        feedback
    }
}

fn after_rejected_round(draft: &Draft) -> Next {
    let state = state(draft);
    if let Some(end) = cut_off(draft) {
        Next::Decided(TaskFact::Concluded { end })
    } else if state.round < draft.budget().caps.rounds {
        Next::Decided(TaskFact::RoundOpened { round: state.round + 1 })
    } else {
        Next::Decided(TaskFact::Concluded { end: state.end_without_rounds() })
    }
}

fn wind_up(draft: &Draft, end: &End) -> Effect {
    let state = state(draft);
    match (end, &state.spec.landing, &state.base, &state.landed) {
        (End::Accepted { tree }, Landing::Branch(_) | Landing::Current, Some((base, _)), None) => {
            Effect::LandChange(LandChange {
                tree: tree.clone(),
                base: base.clone(),
                landing: state.spec.landing.clone(),
                round: state.round,
                evidence: landing_evidence(state),
                decided_at: state.landing_decided_at.unwrap_or(draft.now()),
            })
        }
        _ => Effect::CloseRun(close(state, end)),
    }
}

pub(super) fn landing_evidence(state: &State) -> Vec<ArtifactRef> {
    let judged = [&state.verdict, &state.gate];
    judged.into_iter().filter_map(|word| word.as_ref().and_then(|(_, artifact)| artifact.clone())).collect()
}

fn close(state: &State, end: &End) -> CloseRun {
    let word = |word: &Option<(VerdictWord, Option<ArtifactRef>)>, say: fn(VerdictWord) -> &'static str| {
        word.as_ref().map_or("not-run", |(word, _)| say(*word)).to_string()
    };
    CloseRun {
        final_verdict: end.legacy_word().to_string(),
        judge_verdict: word(&state.verdict, VerdictWord::word),
        audit_gate: word(&state.gate, VerdictWord::gate_word),
        rounds_completed: state.rounds_completed,
    }
}

/// A new step begins only while nobody asked to stop and something is left of every budget.
fn ask(draft: &mut Draft, effect: Effect) {
    match cut_off(draft) {
        None => draft.request(effect),
        Some(end) => {
            record(draft, TaskFact::Concluded { end });
            go_on(draft);
        }
    }
}

fn cut_off(draft: &Draft) -> Option<End> {
    if let Some(stop) = draft.stop() {
        return Some(End::Stopped { by: stop.by.to_string(), reason: stop.reason.clone() });
    }
    draft.exhausted().map(|dimension| End::Exhausted { dimension })
}

fn checks(draft: &Draft, purpose: Purpose, tree: TreeId) -> Effect {
    let state = state(draft);
    let commands = match purpose {
        Purpose::Baseline | Purpose::Acceptance => state.spec.checks.clone(),
        Purpose::Audit => state.spec.audit_checks.clone(),
    };
    Effect::RunChecks(RunChecks {
        purpose,
        round: state.round,
        tree,
        commands,
        limits: draft.budget().step_limits(),
    })
}

fn inspection(draft: &Draft, tree: TreeId) -> Effect {
    let state = state(draft);
    Effect::InspectGate(InspectGate {
        round: state.round,
        base: state.base.as_ref().map_or_else(|| tree.clone(), |(_, base)| base.clone()),
        tree,
        commands: state.spec.checks.clone(),
        red_at_base: state.red_at_base.clone().unwrap_or_default(),
        flaky: Vec::new(),
        unmeasured: false,
        limits: draft.budget().step_limits(),
    })
}

/// Asks the first agent of the role's chain that can be asked now, or waits for it.
fn agent(draft: &Draft, role: Role) -> Next {
    let state = state(draft);
    match state.availability.choose(state.spec.place.chain(role), draft.now()) {
        Available::Now(agent) => Next::Ask(ask_agent(draft, role, Some(agent))),
        // A run without any agent is refused by whoever carries the request out, in the user's words.
        Available::Never => Next::Ask(ask_agent(draft, role, None)),
        Available::From(until) => {
            let why = state.last_outage.clone();
            Next::Ask(Effect::Wait(Wait { role, until, why }))
        }
    }
}

fn ask_agent(draft: &Draft, role: Role, agent: Option<&str>) -> Effect {
    let state = state(draft);
    let ask = match &state.repairing {
        Some(faults) => Ask::Repair { faults: faults.clone() },
        None if role == Role::Doer => {
            Ask::Fresh { feedback: state.feedback.clone(), history: state.history.clone() }
        }
        None => Ask::Fresh { feedback: Vec::new(), history: Vec::new() },
    };
    Effect::RunAgent(RunAgent {
        role,
        round: state.round,
        attempt: state.asked_in_round.get(&role).map_or(1, |asked| asked + 1),
        tree: if role.may_write() { None } else { state.change.as_ref().map(|change| change.tree.clone()) },
        ask,
        inputs: inputs(state, role),
        limits: draft.budget().step_limits(),
        agent: agent.map(ToString::to_string),
        session: session_to_go_on_with(state, role, agent),
        node: None,
        item: None,
        work: None,
    })
}

/// Only a repair goes on with a conversation, and only with the agent it was with; every other step begins afresh.
fn session_to_go_on_with(state: &State, role: Role, agent: Option<&str>) -> Option<AgentSession> {
    state.repairing.as_ref()?;
    state.session.as_ref()?.with(role, agent)
}

/// What a checker is shown: sealed artifacts of this round, never files that somebody could have changed since.
fn inputs(state: &State, role: Role) -> Vec<ArtifactRef> {
    let mut inputs = state.baseline_evidence.clone();
    if state.repairing.is_some() {
        inputs.extend(state.left.clone());
    }
    if role == Role::Doer {
        return inputs;
    }
    inputs.extend(state.handoff.iter().map(|handoff| handoff.artifact.clone()));
    inputs.extend(state.change.iter().map(|change| change.patch.clone()));
    inputs.extend(state.check_evidence.iter().flatten().cloned());
    inputs.extend(state.integrity.evidence.iter().cloned());
    if role == Role::Auditor {
        inputs.extend(state.verdict.iter().filter_map(|(_, artifact)| artifact.clone()));
        inputs.extend(state.audit_evidence.iter().flatten().cloned());
    }
    inputs
}
