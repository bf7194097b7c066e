//! What the outcome of a step means for the round. Facts are recorded here; `next` reads the state they make.

use super::end::{Cause, End};
use super::facts::{Fact as TaskFact, RejectedBy, RetryKind, Source};
use super::next::{go_on, in_words, record, said, state};
use super::spec::OnNeedsHuman;
use super::stage::Stage;
use super::state::State;
use super::trouble::{Treated, treat};
use crate::draft::Draft;
use crate::effect::{Effect, Purpose};
use crate::fact::Fact;
use crate::kernel::attempts::MAX_MAKER_FAILURES_IN_A_ROW;
use crate::kernel::gate::{Gate, GateFinding, OnFindings, TestCount, Waiver, counted, fewer_tests};
use crate::kernel::trouble::{describe, with_last_words};
use crate::outcome::{
    AgentReport, Answer, CapturedChange, ChecksReport, Outcome, StepEnd, Verdict, VerdictWord, WorkspaceAfter,
};
use crate::vocabulary::{ArtifactRef, Role, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The same rejected change may come back this often before a person is asked.
const MAX_REPETITIONS: u32 = 2;

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match (request, outcome) {
        (Effect::CloseRun(_), Outcome::Closed) => return draft.record(Fact::RunEnded),
        (_, Outcome::Interrupted { .. }) => interrupted(draft, request),
        (_, Outcome::Lost { reason, .. }) => lost(draft, request, reason),
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, .. })
            if *base != state(draft).spec.place.base =>
        {
            let reason = format!("the workspaces stand on {base}, not on the base of the run");
            conclude(draft, End::SetupFailed { reason });
        }
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, base_tree }) => {
            record(draft, TaskFact::BaseFixed { commit: base.clone(), tree: base_tree.clone() });
        }
        (Effect::PrepareWorkspaces, Outcome::Refused { reason }) => {
            conclude(draft, End::SetupFailed { reason: reason.clone() });
        }
        (Effect::RunChecks(asked), Outcome::ChecksRan(report)) => match asked.purpose {
            Purpose::Baseline => {
                let red = report.red().map(|result| result.command.clone()).collect();
                let evidence = report.evidence.clone();
                let tests = TestCount::of(counted(&report.results));
                record(draft, TaskFact::BaselineMeasured { red, evidence, tests });
            }
            Purpose::Acceptance => checked(draft, Role::Judge, report),
            Purpose::Audit => checked(draft, Role::Auditor, report),
        },
        (Effect::InspectGate(_), Outcome::GateInspected(report)) => {
            record(draft, TaskFact::GateInspected { report: (**report).clone() });
        }
        (Effect::RunAgent(_), Outcome::AgentEnded(report)) => match report.role {
            Role::Doer => doer_ended(draft, report),
            Role::Judge
            | Role::Auditor
            | Role::Sensor
            | Role::Controller
            | Role::Actuator
            | Role::Planner
            | Role::Builder
            | Role::Evaluator
            | Role::Implementer
            | Role::Reviewer
            | Role::Investigator => checker_ended(draft, report),
        },
        // Whoever was waited for is asked by `go_on`.
        (Effect::Wait(_), Outcome::Waited) => {}
        (Effect::CaptureChange { .. }, Outcome::ChangeCaptured(change)) => captured(draft, change),
        (Effect::CaptureChange { .. }, Outcome::Refused { reason }) => {
            needs_human(draft, Cause::CaptureRefused { reason: reason.clone() });
        }
        (Effect::LandChange(_), Outcome::Landed(landed)) => record(
            draft,
            TaskFact::Landed {
                commit: landed.commit.clone(),
                tree: landed.tree.clone(),
                reference: landed.reference.clone(),
            },
        ),
        (Effect::LandChange(_), Outcome::Refused { reason }) => {
            needs_human(draft, Cause::LandingRefused { reason: reason.clone() });
        }
        // `Outcome::fits` lets no other pair through; an unknown end is a lost one, never a success.
        (_, _) => lost(draft, request, "the answer does not fit the question"),
    }
    go_on(draft);
}

fn conclude(draft: &mut Draft, end: End) {
    record(draft, TaskFact::Concluded { end });
}

fn needs_human(draft: &mut Draft, cause: Cause) {
    conclude(draft, End::NeedsHuman { cause });
}

fn retry(draft: &mut Draft, request: &Effect, kind: RetryKind, why: &str) {
    record(draft, TaskFact::StepRetried { stage: Stage::of(request), why: why.to_string(), kind });
}

/// Nobody is to blame and no attempt is charged; but what is interrupted again and again is not a person's doing.
fn interrupted(draft: &mut Draft, request: &Effect) {
    let stage = Stage::of(request);
    let bounded = !matches!(stage, Stage::Landing | Stage::Closing) && draft.stop().is_none();
    if bounded && !state(draft).attempts.may_retry_interrupted() {
        needs_human(draft, Cause::StepKeepsGettingLost { stage });
    } else {
        retry(draft, request, RetryKind::Interrupted, "the step was interrupted");
    }
}

/// Nobody saw the end, so nobody may call it a success; it is asked for again, but not for ever.
fn lost(draft: &mut Draft, request: &Effect, reason: &str) {
    let stage = Stage::of(request);
    // Closing is ours alone and changes nothing: giving up on it would leave a run without its summary.
    if stage == Stage::Closing || state(draft).attempts.may_retry_lost() {
        retry(draft, request, RetryKind::Lost, reason);
    } else if stage == Stage::Landing {
        // The change stays accepted: the way on is to land it, not to make it again.
        let reason = format!("nobody ever saw its end: {reason}");
        needs_human(draft, Cause::LandingRefused { reason });
    } else {
        needs_human(draft, Cause::StepKeepsGettingLost { stage });
    }
}

fn doer_ended(draft: &mut Draft, report: &AgentReport) {
    if never_began(draft, report) {
        return;
    }
    match (treat(draft, report), &report.answer) {
        (Treated::Done, _) => {}
        (Treated::Sound, Answer::Handoff(handoff)) => {
            record(draft, TaskFact::HandoffTaken { handoff: handoff.clone() });
        }
        (Treated::Sound, answer) => {
            let faults = faults(answer, "handoff.json");
            if state(draft).attempts.may_repair() {
                record(draft, TaskFact::RepairAsked { role: Role::Doer, faults });
            } else {
                let lines = faults.iter().map(|fault| format!("- [handoff] {fault}"));
                let feedback = still_open(draft, lines);
                reject(draft, RejectedBy::Handoff, feedback);
            }
        }
        (Treated::Failed(why), _) => {
            let line = format!("- [doer] the doer {why}; what it changed so far is still in its worktree");
            let failures = state(draft).maker_failures_in_a_row + 1;
            let feedback = still_open(draft, [with_last_words(&line, &report.last_words)]);
            reject(draft, RejectedBy::DoerFailed, feedback);
            if failures >= MAX_MAKER_FAILURES_IN_A_ROW && draft.exhausted().is_none() {
                needs_human(draft, Cause::AgentKeepsFailing { role: Role::Doer, why });
            }
        }
    }
}

/// A request to stop can end a step before its program runs; nobody has to look at that.
fn never_began(draft: &mut Draft, report: &AgentReport) -> bool {
    let role = report.role;
    match &report.end {
        StepEnd::NotStarted { .. } if draft.stop().is_some() => {
            let (stage, kind) = (Stage::of_role(role), RetryKind::Interrupted);
            record(draft, TaskFact::StepRetried { stage, why: "stopped before it began".to_string(), kind });
            true
        }
        StepEnd::NotStarted { reason } if report.trouble.is_none() => {
            needs_human(draft, Cause::AgentNotStarted { role, reason: reason.clone() });
            true
        }
        _ => false,
    }
}

/// A round that said nothing about the change leaves what was said before open; only such rounds' own lines are
/// replaced, so that they do not pile up.
fn still_open(draft: &Draft, lines: impl IntoIterator<Item = String>) -> Vec<String> {
    const OWN: [&str; 4] = ["- [doer] ", "- [handoff] ", "- [no-change] ", "- [repetition] "];
    let before = state(draft).feedback.iter().filter(|line| !OWN.iter().any(|own| line.starts_with(own)));
    before.cloned().chain(lines).collect()
}

fn captured(draft: &mut Draft, change: &CapturedChange) {
    if let Some(handed) = state(draft).handed_back.as_ref().filter(|handed| **handed != change.tree) {
        let reason =
            format!("the worktree holds tree {}, not tree {handed} that a person handed back", change.tree);
        return needs_human(draft, Cause::CaptureRefused { reason });
    }
    record(draft, TaskFact::ChangeTaken { change: change.clone() });
    let state = state(draft);
    let unchanged = state.base.as_ref().is_some_and(|(_, tree)| *tree == change.tree);
    let before = state.rejected_trees.get(&change.tree).copied();
    if !change.hazards.is_empty() {
        let feedback = change.hazards.iter().map(|hazard| format!("- [change] {hazard}")).collect();
        reject(draft, RejectedBy::Hazard, feedback);
    } else if unchanged {
        let still =
            before.map(|round| format!(", as it was after round {round} already")).unwrap_or_default();
        let line =
            format!("- [no-change] the worktree is as it was at the base{still}; the task asks for a change");
        let feedback = still_open(draft, [line]);
        reject(draft, RejectedBy::NoChange, feedback);
    } else if let Some(round) = before {
        let again = state.repetitions + 1;
        let line = format!(
            "- [repetition] this exact change was already rejected in round {round}; it was not judged again"
        );
        let feedback = still_open(draft, [line]);
        reject(draft, RejectedBy::Repetition, feedback);
        if again >= MAX_REPETITIONS {
            needs_human(draft, Cause::Stuck { round });
        }
    }
}

/// The engine's own measurement. A red check decides without asking anybody who could be talked into something.
fn checked(draft: &mut Draft, before: Role, report: &ChecksReport) {
    let (stage, label, by) = match before {
        Role::Auditor => (Stage::AuditChecking, "policy", RejectedBy::AuditCheck),
        _ => (Stage::Checking, "eval", RejectedBy::Check),
    };
    if report.all_passed() {
        let gate = gate_findings(state(draft), before, report);
        let evidence = report.evidence.clone();
        return record(draft, TaskFact::ChecksPassed { stage, tree: report.tree.clone(), evidence, gate });
    }
    let red_at_base = state(draft).red_at_base.clone().unwrap_or_default();
    let feedback: Vec<String> = report
        .red()
        .map(|result| {
            let known =
                if red_at_base.contains(&result.command) { " (it was red at the base too)" } else { "" };
            let line = format!("- [{label}] `{}` {}{known}", result.command, describe(&result.end));
            with_last_words(&line, &result.tail)
        })
        .collect();
    let why = format!("{} of {} required checks are red", feedback.len(), report.results.len());
    engine_says(draft, before, VerdictWord::Reject, &why);
    reject(draft, by, feedback);
}

/// What green results say about the gate: fewer tests than at the base, other programs than at the base.
fn gate_findings(state: &State, before: Role, report: &ChecksReport) -> Vec<GateFinding> {
    if state.spec.place.gate.is_off() || before != Role::Judge {
        return Vec::new();
    }
    let fewer = fewer_tests(&state.tests_at_base, counted(&report.results));
    report.gate.iter().cloned().chain(fewer).collect()
}

fn checker_ended(draft: &mut Draft, report: &AgentReport) {
    let role = report.role;
    if let WorkspaceAfter::Changed { paths } = &report.workspace {
        engine_says_needs_human(draft, role, "the step is void: a reader changed what it looked at");
        return needs_human(draft, Cause::WorkspaceChanged { role, paths: paths.clone() });
    }
    if never_began(draft, report) {
        return;
    }
    match (treat(draft, report), &report.answer) {
        (Treated::Done, _) => {}
        (Treated::Sound, Answer::Verdict(verdict)) if role == Role::Judge => judged(draft, verdict),
        (Treated::Sound, Answer::Audit(audit)) if role == Role::Auditor => {
            let word = (audit.word, &audit.artifact, &audit.feedback);
            match (audit.word, audit.contradictions.is_empty()) {
                (VerdictWord::Pass, false) => {
                    let feedback =
                        audit.contradictions.iter().map(|fault| format!("- [policy] {fault}")).collect();
                    let by = (role, RejectedBy::Auditor);
                    overrule(draft, by, "the gate says pass over failed evidence", feedback);
                }
                (VerdictWord::Pass | VerdictWord::Reject | VerdictWord::NeedsHuman, _) => {
                    verdict_taken(draft, role, word.0, (word.1, &[]), word.2);
                }
            }
        }
        (Treated::Sound, answer) => {
            let file = if role == Role::Judge { "verdict.json" } else { "audit.json" };
            unreadable(draft, role, faults(answer, file));
        }
        (Treated::Failed(why), _) => {
            if state(draft).attempts.may_retry_checker() {
                let stage = Stage::of_role(role);
                record(draft, TaskFact::StepRetried { stage, why, kind: RetryKind::Failed });
            } else {
                engine_says_needs_human(draft, role, &why);
                needs_human(draft, Cause::AgentKeepsFailing { role, why });
            }
        }
    }
}

/// The judge's word, held against what the engine knows.
fn judged(draft: &mut Draft, verdict: &Verdict) {
    if verdict.word == VerdictWord::Pass {
        let touched = state(draft)
            .handoff
            .as_ref()
            .map(|handoff| handoff.requirements_touched.clone())
            .unwrap_or_default();
        let named = |id: &String| {
            verdict.requirements_checked.contains(id) || verdict.requirements_missing.contains(id)
        };
        let untraced: Vec<String> = touched.into_iter().filter(|id| !named(id)).collect();
        if !verdict.requirements_missing.is_empty() {
            let feedback = verdict
                .requirements_missing
                .iter()
                .map(|id| format!("- [requirements] {id} is missing"))
                .collect();
            let by = (Role::Judge, RejectedBy::Judge);
            return overrule(draft, by, "pass with missing requirements is not a pass", feedback);
        }
        if !untraced.is_empty() {
            let fault = format!(
                "requirements_checked and requirements_missing name none of: {}; the hand-off says they were touched",
                untraced.join(", ")
            );
            return unreadable(draft, Role::Judge, vec![fault]);
        }
        if let Some(feedback) = not_waived(state(draft), verdict) {
            let why = format!("pass over findings that are not waived by name: {}", feedback.join("; "));
            return overrule(draft, (Role::Judge, RejectedBy::Gate), &why, feedback);
        }
    }
    verdict_taken(draft, Role::Judge, verdict.word, (&verdict.artifact, &verdict.waivers), &verdict.feedback);
}

/// What the maker is told when the judge's pass leaves findings open and no person is to be asked about them.
fn not_waived(state: &State, verdict: &Verdict) -> Option<Vec<String>> {
    let gate = Gate { waivers: verdict.waivers.clone(), ..state.integrity.clone() };
    let open = state.spec.place.gate.on_findings == OnFindings::Reject && !gate.unwaived().is_empty();
    open.then(|| gate.feedback())
}

fn verdict_taken(
    draft: &mut Draft,
    role: Role,
    word: VerdictWord,
    (artifact, waivers): (&ArtifactRef, &[Waiver]),
    feedback: &[String],
) {
    let source = Source::Agent { artifact: artifact.clone() };
    let tree = judged_tree(draft);
    let said = said(state(draft), word, feedback);
    let waivers = waivers.to_vec();
    record(draft, TaskFact::VerdictTaken { role, word, tree, source, feedback: said, waivers });
    let (by, cause) = match role {
        Role::Auditor => (RejectedBy::Auditor, Cause::AuditorAsked),
        _ => (RejectedBy::Judge, Cause::JudgeAsked),
    };
    match word {
        VerdictWord::Pass => {}
        VerdictWord::Reject => reject(draft, by, feedback.to_vec()),
        VerdictWord::NeedsHuman => human_or_next_round(draft, by, cause, feedback.to_vec()),
    }
}

/// An agent said pass, the evidence says no: the evidence wins and the maker is told.
fn overrule(draft: &mut Draft, (role, by): (Role, RejectedBy), why: &str, feedback: Vec<String>) {
    engine_says(draft, role, VerdictWord::Reject, why);
    reject(draft, by, feedback);
}

fn unreadable(draft: &mut Draft, role: Role, faults: Vec<String>) {
    if state(draft).attempts.may_repair() {
        return record(draft, TaskFact::RepairAsked { role, faults });
    }
    engine_says_needs_human(draft, role, "no readable answer");
    let by = if role == Role::Auditor { RejectedBy::Auditor } else { RejectedBy::Judge };
    let feedback = vec![format!("- [orchestrator] the {role} left no readable answer")];
    human_or_next_round(draft, by, Cause::NoReadableAnswer { role, faults }, feedback);
}

fn engine_says_needs_human(draft: &mut Draft, role: Role, why: &str) {
    engine_says(draft, role, VerdictWord::NeedsHuman, why);
}

fn engine_says(draft: &mut Draft, role: Role, word: VerdictWord, why: &str) {
    let source = Source::Engine { why: why.to_string() };
    let tree = judged_tree(draft);
    let (feedback, waivers) = (Vec::new(), Vec::new());
    record(draft, TaskFact::VerdictTaken { role, word, tree, source, feedback, waivers });
}

/// `needs-human` stops the loop, unless the user asked for the original's way of going on while rounds are left.
fn human_or_next_round(draft: &mut Draft, by: RejectedBy, cause: Cause, feedback: Vec<String>) {
    let rounds_left = state(draft).round < draft.budget().caps.rounds;
    match state(draft).spec.on_needs_human {
        OnNeedsHuman::Continue if rounds_left => reject(draft, by, feedback),
        OnNeedsHuman::Continue | OnNeedsHuman::Stop => needs_human(draft, cause),
    }
}

fn reject(draft: &mut Draft, by: RejectedBy, feedback: Vec<String>) {
    let round = state(draft).round;
    let mut feedback = in_words(by, feedback);
    feedback.extend(state(draft).unsaid_notes.iter().cloned());
    record(draft, TaskFact::RoundRejected { round, by, feedback });
    // A round that was cut off by a cap ends the run as exhausted, not as rejected.
    if let Some(dimension) = draft.exhausted() {
        conclude(draft, End::Exhausted { dimension });
    }
}

fn judged_tree(draft: &Draft) -> TreeId {
    state(draft).change.as_ref().map_or_else(|| TreeId::new(""), |change| change.tree.clone())
}

fn faults(answer: &Answer, file: &str) -> Vec<String> {
    match answer {
        Answer::Malformed { faults } => faults.clone(),
        Answer::Missing => vec![format!("{file} was not left in the outbox")],
        _ => {
            vec![format!("the answer is something else than {file}")]
        }
    }
}
