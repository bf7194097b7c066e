//! What came back, turned into facts. An agent claims; what counts is what its files say after they were taken down.

use super::end::End;
use super::facts::{Closed, Fact as RoadmapFact, OutKind, RetryKind, UpdateStep, Why};
use super::next::{Next, conclude, go_on, record, state};
use super::plane::{Plane, RoundStage, UpdateTrigger};
use super::reconcile;
use super::reviewing::pattern;
use super::rounds::closeout;
use super::state::State;
use super::steps::{
    CombineWork, FinalizeRound, Held, OpenWorktree, PlaneOutcome, PlaneStep, PublishUpdate, RoundWork,
    WorkCaptured, WorkKind, WorktreePurpose,
};
use super::taking_down::unsafe_words;
use crate::draft::Draft;
use crate::effect::{Effect, InspectGate, RunAgent};
use crate::fact::Fact;
use crate::kernel::availability::Available;
use crate::kernel::gate::GateReport;
use crate::kernel::trouble::{Situation, Treatment, treatment, with_last_words};
use crate::outcome::{AgentReport, Answer, Outcome, StepEnd};
use crate::vocabulary::{CommitId, TreeId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match (request, outcome) {
        (Effect::CloseRun(_), Outcome::Closed) => return draft.record(Fact::RunEnded),
        (_, Outcome::Interrupted { .. }) => interrupted(draft, request),
        (_, Outcome::Lost { reason, .. }) => lost(draft, request, reason),
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, .. }) => {
            record(draft, RoadmapFact::BaseFixed { commit: base.clone() });
        }
        (Effect::PrepareWorkspaces, Outcome::Refused { reason }) => {
            conclude(draft, End::NotReady { why: reason.clone() });
        }
        (Effect::RunAgent(asked), Outcome::AgentEnded(report)) => agent_ended(draft, asked, report),
        (Effect::Plane(step), Outcome::Plane(outcome)) => stepped(draft, step, outcome),
        (Effect::InspectGate(asked), Outcome::GateInspected(report)) => inspected(draft, asked, report),
        (Effect::Plane(step), Outcome::Refused { reason }) => refused(draft, step, reason),
        // Whoever was waited for is asked by `go_on`.
        (Effect::Wait(_), Outcome::Waited) => {}
        // `Outcome::fits` lets no other pair through; an unknown end is a lost one, never a success.
        (_, _) => lost(draft, request, "the answer does not fit the question"),
    }
    go_on(draft);
}

fn stepped(draft: &mut Draft, step: &PlaneStep, outcome: &PlaneOutcome) {
    did(draft, step, outcome.itself());
    if let PlaneOutcome::Looked { plane, .. } = outcome
        && state(draft).looked
    {
        take_plane(draft, plane);
    }
}

fn take_plane(draft: &mut Draft, plane: &Plane) {
    let noticed = reconcile::noticed(state(draft), plane);
    record(draft, RoadmapFact::PlaneTaken { plane: Box::new(plane.clone()), noticed });
}

fn did(draft: &mut Draft, step: &PlaneStep, outcome: &PlaneOutcome) {
    match (step, outcome) {
        (PlaneStep::Read { .. }, PlaneOutcome::Read(plane)) => take_plane(draft, plane),
        (PlaneStep::OpenWorktree(asked), PlaneOutcome::WorktreeOpened { head }) => opened(draft, asked, head),
        (PlaneStep::CaptureWork(_), PlaneOutcome::WorkCaptured(captured)) => taken(draft, captured),
        (PlaneStep::SetAside(asked), PlaneOutcome::SetAside { head, .. }) => {
            record(draft, RoadmapFact::ReviewSetAside { work: asked.work.clone(), head: head.clone() });
        }
        (PlaneStep::TakeUp(asked), PlaneOutcome::TakenUp { places }) => {
            let (round, update, places) = (asked.round.clone(), asked.update, places.clone());
            record(draft, RoadmapFact::TakenUp { round, update, places });
        }
        (PlaneStep::CombineWork(asked), PlaneOutcome::WorkCombined { head, conflicts, .. }) => {
            combined(draft, asked, head, conflicts);
        }
        (PlaneStep::LookAtGate(_), PlaneOutcome::GateLooked(looked)) => {
            record(draft, RoadmapFact::GateLooked { looked: looked.clone() });
        }
        (PlaneStep::FinalizeRound(asked), PlaneOutcome::Merged { commit, tree }) => {
            merged(draft, asked, commit, tree);
        }
        (PlaneStep::FinalizeRound(asked), PlaneOutcome::Held(held)) => held_back(draft, asked, held),
        (PlaneStep::PublishUpdate(asked), PlaneOutcome::Merged { commit, .. }) => {
            let (round, revision) = (asked.source_round.clone(), asked.revision.clone());
            record(draft, RoadmapFact::UpdateMerged { round, commit: commit.clone(), revision });
        }
        (PlaneStep::PublishUpdate(asked), PlaneOutcome::Held(held)) => update_held(draft, asked, held),
        (PlaneStep::WriteState(_), PlaneOutcome::StateMoved) if state(draft).is_outrun() => {
            let why = "somebody changes the state file again and again just before it is written";
            conclude(draft, End::NotReady { why: why.to_string() });
        }
        // Written, or moved by somebody: the plane is read again and everything is decided anew on what is there.
        (_, _) => {}
    }
}

/// The world said no, and will say it again.
fn refused(draft: &mut Draft, step: &PlaneStep, reason: &str) {
    match step {
        PlaneStep::Read { .. } | PlaneStep::WriteState(_) => {
            conclude(draft, End::NotReady { why: reason.to_string() });
        }
        PlaneStep::OpenWorktree(asked) => not_opened(draft, asked, reason),
        PlaneStep::CaptureWork(asked) => {
            release(draft, &asked.work, format!("what was left could not be taken down: {reason}"));
        }
        PlaneStep::SetAside(asked) => {
            give_up(draft, &asked.work, format!("its earlier review could not be set aside: {reason}"));
        }
        PlaneStep::TakeUp(asked) => {
            let why = format!("what lies in its worktree could not be committed: {reason}");
            record(draft, blocked(Some(asked.round.clone()), asked.update, why));
        }
        PlaneStep::CombineWork(CombineWork { round, .. }) => {
            block_round(draft, round, format!("its branch could not be brought up to date: {reason}"));
        }
        PlaneStep::LookAtGate(asked) => {
            let why = format!("what it did to its own measures could not be seen: {reason}");
            block_round(draft, &asked.round, why);
        }
        PlaneStep::FinalizeRound(asked) => {
            block_round(draft, &asked.round, format!("it could not be merged: {reason}"));
        }
        PlaneStep::PublishUpdate(asked) => {
            block_update(draft, asked, format!("it could not be merged: {reason}"));
        }
    }
}

/// Red because the run was used up is nobody's finding: it is looked at again when there is room.
fn inspected(draft: &mut Draft, asked: &InspectGate, report: &GateReport) {
    if draft.exhausted().is_some() {
        let why = "the run was used up".to_string();
        let retried = RoadmapFact::StepRetried { work: None, kind: RetryKind::Interrupted, why };
        return record(draft, retried);
    }
    let round = state(draft).round_of(&asked.tree);
    record(draft, RoadmapFact::GateInspected { round, report: Box::new(report.clone()) });
}

fn work_of(request: &Effect) -> Option<&RoundWork> {
    match request {
        Effect::RunAgent(RunAgent { work: Some(place), .. }) => Some(&place.work),
        Effect::Plane(PlaneStep::CaptureWork(asked)) => Some(&asked.work),
        _ => None,
    }
}

fn attempts(state: &State, work: Option<&RoundWork>) -> crate::kernel::attempts::Attempts {
    match work {
        Some(work) => state.book.works.get(work).map(|known| known.attempts).unwrap_or_default(),
        None => state.attempts,
    }
}

/// Nobody is to blame and no attempt is charged; but what is interrupted again and again is not a person's doing.
fn interrupted(draft: &mut Draft, request: &Effect) {
    let work = work_of(request).cloned();
    // Whoever stops a run interrupts its agents; the controller's own hands are to leave the files in order all the same.
    let by_the_stop = draft.stop().is_some() && matches!(request, Effect::RunAgent(_));
    if !by_the_stop && !attempts(state(draft), work.as_ref()).may_retry_interrupted() {
        return keeps_getting_lost(draft, request, work.as_ref());
    }
    let why = "the step was interrupted".to_string();
    record(draft, RoadmapFact::StepRetried { work, kind: RetryKind::Interrupted, why });
}

/// Nobody saw the end, so nobody may call it a success; it is asked for again, but not for ever.
fn lost(draft: &mut Draft, request: &Effect, reason: &str) {
    let work = work_of(request).cloned();
    // Closing is ours alone and changes nothing: giving up on it would leave a run without its end.
    let closing = matches!(request, Effect::CloseRun(_));
    if !closing && !attempts(state(draft), work.as_ref()).may_retry_lost() {
        return keeps_getting_lost(draft, request, work.as_ref());
    }
    record(draft, RoadmapFact::StepRetried { work, kind: RetryKind::Lost, why: reason.to_string() });
}

fn keeps_getting_lost(draft: &mut Draft, request: &Effect, work: Option<&RoundWork>) {
    let why = format!("nobody ever saw the end of this step: {}", request.name());
    let Some(work) = work else {
        let stop = draft.stop().map(|stop| (stop.by.to_string(), stop.reason.clone()));
        let end = stop.map_or(End::NotReady { why }, |(by, reason)| End::Stopped { by, reason });
        return conclude(draft, end);
    };
    // It is over with this step: nothing of it is under way any more.
    let (work, kind) = (work.clone(), RetryKind::Failed);
    let note = RoadmapFact::StepRetried { work: Some(work.clone()), kind, why: why.clone() };
    record(draft, note);
    give_up(draft, &work, why);
}

fn give_up(draft: &mut Draft, work: &RoundWork, why: String) {
    let update = work.kind.is_of_update();
    // Nobody to look is no reason to stand still: what is known is tried.
    if let WorkKind::Investigate { .. } = work.kind {
        return record(draft, RoadmapFact::Diagnosed { work: work.clone(), diagnosis: None });
    }
    record(draft, blocked(Some(work.round.clone()), update, why));
}

const fn blocked(round: Option<String>, update: bool, why: String) -> RoadmapFact {
    RoadmapFact::Blocked { round, update, rejection: None, why }
}

fn block_round(draft: &mut Draft, round: &str, why: String) {
    record(draft, blocked(Some(round.to_string()), false, why));
}

fn block_update(draft: &mut Draft, asked: &PublishUpdate, why: String) {
    record(draft, blocked(Some(asked.source_round.clone()), true, why));
}

fn opened(draft: &mut Draft, asked: &OpenWorktree, head: &CommitId) {
    let (branch, worktree, head) = (asked.branch.clone(), asked.worktree.clone(), head.clone());
    match &asked.purpose {
        WorktreePurpose::Round { round } => {
            record(draft, RoadmapFact::RoundOpened { round: round.clone(), branch, worktree, head });
        }
        WorktreePurpose::Update(opened) => {
            let how = match opened.trigger {
                UpdateTrigger::MergedRound => Closed::Merged,
                UpdateTrigger::PlannerRequest => Closed::Cancelled,
            };
            record(draft, RoadmapFact::RoundClosed { round: opened.source_round.clone(), how });
            record(draft, RoadmapFact::UpdateOpened(opened.clone()));
        }
        // The next look at the plane shows it.
        WorktreePurpose::Worker { .. } | WorktreePurpose::Reopen { .. } => {}
    }
}

fn not_opened(draft: &mut Draft, asked: &OpenWorktree, reason: &str) {
    let why = format!("its worktree {} could not be made: {reason}", asked.worktree);
    match &asked.purpose {
        WorktreePurpose::Round { .. } => conclude(draft, End::NotReady { why: reason.to_string() }),
        WorktreePurpose::Worker { round, .. } => block_round(draft, round, why),
        WorktreePurpose::Update(opened) => block_round(draft, &opened.source_round.clone(), why),
        WorktreePurpose::Reopen { round } => {
            let of_update = state(draft).book.update.as_ref().is_some_and(|(source, _)| source == round);
            let update = of_update && !state(draft).book.rounds.contains_key(round);
            record(draft, blocked(Some(round.clone()), update, why));
        }
    }
}

fn agent_ended(draft: &mut Draft, asked: &RunAgent, report: &AgentReport) {
    let Some(place) = &asked.work else { return };
    let work = place.work.clone();
    if let StepEnd::NotStarted { .. } = &report.end
        && draft.stop().is_some()
    {
        let why = "stopped before it began".to_string();
        return record(
            draft,
            RoadmapFact::StepRetried { work: Some(work), kind: RetryKind::Interrupted, why },
        );
    }
    let before = state(draft);
    let chain = u32::try_from(before.spec.place.chain(report.role).count()).unwrap_or(1);
    let situation = Situation {
        attempts: attempts(before, Some(&work)),
        patience: before.spec.patience,
        chain,
        now: draft.now(),
    };
    let failed = match (treatment(report, situation), &report.end) {
        (Treatment::Sound, _) => None,
        (_, StepEnd::NotStarted { reason }) if report.trouble.is_none() => {
            return out(
                draft,
                (asked, work),
                (crate::kernel::availability::FOR_GOOD, OutKind::Misconfigured),
                reason,
            );
        }
        (Treatment::Failed(why), _) => Some(with_last_words(&why, &report.last_words)),
        (Treatment::KeepsFailing(why), _) => {
            let role = report.role;
            return release(draft, &work, format!("the {role} {why}"));
        }
        (Treatment::Exhausted(dimension), _) => {
            record(draft, RoadmapFact::WorkEnded { work, failed: Some(format!("used up the {dimension}")) });
            return conclude(draft, End::Spent { dimension });
        }
        (Treatment::Out { until, kind, why }, _) => {
            return out(draft, (asked, work), (until, kind), &why);
        }
    };
    if let WorkKind::Investigate { .. } = work.kind {
        return diagnosed(draft, work, &report.answer);
    }
    record(draft, RoadmapFact::WorkEnded { work, failed });
}

fn out(
    draft: &mut Draft,
    (asked, work): (&RunAgent, RoundWork),
    (until, kind): (crate::vocabulary::Millis, OutKind),
    why: &str,
) {
    let (role, agent) = (asked.role, asked.agent.clone().unwrap_or_default());
    let round_work = work.clone();
    record(draft, RoadmapFact::AgentOut { role, agent, until, kind, why: why.to_string(), work });
    let known = state(draft);
    let gone = known.availability.choose(known.spec.place.chain(role), draft.now()) == Available::Never;
    if kind == OutKind::Misconfigured && gone {
        give_up(draft, &round_work, format!("the {role} could not be started: {why}"));
    }
}

/// Nothing of the work is under way any more, and nobody tries it again.
fn release(draft: &mut Draft, work: &RoundWork, why: String) {
    let note =
        RoadmapFact::StepRetried { work: Some(work.clone()), kind: RetryKind::Failed, why: why.clone() };
    record(draft, note);
    give_up(draft, work, why);
}

fn diagnosed(draft: &mut Draft, work: RoundWork, answer: &Answer) {
    let diagnosis = match answer {
        Answer::Diagnosis(diagnosis) => Some(diagnosis.clone()),
        _ => None,
    };
    let escalated =
        diagnosis.as_ref().filter(|diagnosis| diagnosis.escalate).map(|found| found.summary.clone());
    let about = state(draft).book.works.get(&work).and_then(|known| known.investigating.clone());
    record(draft, RoadmapFact::Diagnosed { work, diagnosis });
    if let (Some(why), Some(about)) = (escalated, about) {
        give_up(draft, &about, format!("the investigator sees nothing lawful left to try: {why}"));
    }
}

fn taken(draft: &mut Draft, captured: &WorkCaptured) {
    let work = captured.work.clone();
    let hazards: Vec<String> = captured.hazards.clone();
    record(draft, RoadmapFact::WorkTaken { captured: Box::new(captured.clone()) });
    if hazards.is_empty() {
        return;
    }
    // Whoever left it may take it away, once; after that a person has to look.
    let known = state(draft).book.works.get(&work);
    if known.is_some_and(|known| known.untaken && known.attempts.may_repair()) {
        let faults = hazards.iter().map(|hazard| unsafe_words(hazard)).collect();
        return record(draft, RoadmapFact::RepairAsked { work, faults });
    }
    give_up(draft, &work, format!("what was left cannot be looked at safely: {}", hazards.join("; ")));
}

fn combined(draft: &mut Draft, asked: &CombineWork, head: &CommitId, conflicts: &[String]) {
    let (round, with) = (asked.round.clone(), asked.with.clone());
    let known = state(draft).book.rounds.get(&round).map(|book| book.stage);
    let (head, conflicts) = (head.clone(), conflicts.to_vec());
    record(
        draft,
        RoadmapFact::WorkCombined { round: round.clone(), head, with, conflicts: conflicts.clone() },
    );
    let to = if conflicts.is_empty() { RoundStage::Review } else { RoundStage::Implement };
    if let Some(from @ (RoundStage::FinalizeRound | RoundStage::Review)) = known
        && from != to
    {
        let why = Why::BaseMoved { conflicts };
        record(draft, RoadmapFact::StageDecided { round, from, to, why });
    }
}

fn merged(draft: &mut Draft, asked: &FinalizeRound, commit: &CommitId, tree: &TreeId) {
    let plane = state(draft).plane.as_ref();
    let seen = plane.and_then(|plane| plane.round(&asked.round));
    let mode = seen.and_then(|round| closeout(round, Some(&asked.approval)));
    record(
        draft,
        RoadmapFact::RoundMerged {
            round: asked.round.clone(),
            commit: commit.clone(),
            tree: tree.clone(),
            closeout: mode.unwrap_or(super::plane::CloseoutMode::None),
            at: draft.now(),
        },
    );
}

fn held_back(draft: &mut Draft, asked: &FinalizeRound, held: &Held) {
    let (round, from) = (asked.round.clone(), RoundStage::FinalizeRound);
    match held {
        // The next look at the plane shows the base as it is.
        Held::BaseMoved => {}
        Held::Stale { why } => {
            let said = format!("its closeout cannot be applied: {why}");
            match pattern(draft, &round, &said) {
                Some(Some(Next::Decided(fact))) => record(draft, *fact),
                Some(_) => {}
                None => {
                    let why = Why::CloseoutStale { why: why.clone() };
                    record(draft, RoadmapFact::StageDecided { round, from, to: RoundStage::Review, why });
                }
            }
        }
        Held::Conflicts { paths } => {
            let conflicted = state(draft).book.rounds.get(&round).map_or(0, |book| book.conflicted);
            if conflicted >= state(draft).limits().review_cycles {
                let why = format!("it never fits together with the base in {}", paths.join(", "));
                return block_round(draft, &round, why);
            }
            record(draft, RoadmapFact::MergeConflicted { round, paths: paths.clone() });
        }
        Held::InTheWay { why } => block_round(draft, &round, why.clone()),
    }
}

fn update_held(draft: &mut Draft, asked: &PublishUpdate, held: &Held) {
    let why = match held {
        Held::BaseMoved => return,
        Held::InTheWay { why } => return block_update(draft, asked, why.clone()),
        Held::Stale { why } => why.clone(),
        Held::Conflicts { paths } => format!("the base moved in files it changes: {}", paths.join(", ")),
    };
    let sent_back = state(draft).book.update.as_ref().map_or(0, |(_, book)| book.sent_back);
    if sent_back >= state(draft).limits().update_rejections {
        return block_update(draft, asked, format!("it never fits the base: {why}"));
    }
    let round = asked.source_round.clone();
    record(draft, RoadmapFact::UpdateDecided { round, decided: UpdateStep::SentBack { why } });
}
