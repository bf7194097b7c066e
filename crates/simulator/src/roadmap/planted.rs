//! Bugs of a roadmap loop put in on purpose: one for every sentence of its invariants and for every check of its world. What
//! the decision believes, what it is told and what it records are bent; the product's own code is never touched.

use windlass_protocols::effect::PlaneStep;
use windlass_protocols::kernel::gate::Integrity;
use windlass_protocols::outcome::{PlaneOutcome, Usage};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::roadmap_rounds::book::Phase;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{MilestoneStatus, Plane, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::state::{Flight, State};
use windlass_protocols::{CommitId, Digest, Effect, EffectId, Fact, Observation, Outcome, Run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoadmapBug {
    RecordsAnotherLoopsFact,
    DropsItsConclusion,
    AsksForTwoSteps,
    ForgetsAgentsAtWork,
    OpensARoundTooMany,
    WorksWhereSomebodyWorks,
    GoesOnAfterTheConclusion,
    IgnoresAStop,
    SpendsWithoutEnd,
    PublishesByAnotherFile,
    PublishesAnotherHead,
    PublishesWhatBreaksARule,
    MergesByAnotherFile,
    MergesAnotherHead,
    MergesAhead,
    MergesUnderAnotherRevision,
    MergesUnderOtherWords,
    MergesWhileTheRoadmapIsUpdated,
    MergesASecondTime,
    SkipsTheReview,
    OpensTwoUpdates,
    OpensRoundsForEver,
    SucceedsWithOpenMilestones,
    ReadsEveryMilestoneAsDone,
    TakesOldReviewsForNew,
    LosesACounterAfterARestart,
    OverlooksFindings,
    NeverInspects,
    MergesWithoutALook,
    OverlooksRedChecks,
    SendsBackWithoutEnd,
}

fn roadmap(run: &mut Run) -> Option<&mut State> {
    match run.started.as_mut().map(|started| &mut started.protocol) {
        Some(Protocol::RoadmapRounds(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_)) | None => {
            None
        }
    }
}

/// What an engine finds when it reads the journal.
pub(crate) fn recall(bug: RoadmapBug, run: &mut Run) {
    if let (RoadmapBug::LosesACounterAfterARestart, Some(state)) = (bug, roadmap(run)) {
        state.opened = state.opened.saturating_sub(1);
    }
}

/// What the decision believes of the run.
pub(crate) fn believe(bug: RoadmapBug, run: &mut Run, observed: &Observation) {
    match (bug, &mut run.started) {
        (RoadmapBug::SpendsWithoutEnd, Some(started)) => started.budget.used = Usage::default(),
        (RoadmapBug::IgnoresAStop, _) => run.stop = None,
        _ => {}
    }
    let answered = match observed {
        Observation::EffectFinished { effect, .. } => Some(*effect),
        _ => None,
    };
    let ended = run.ended;
    let Some(state) = roadmap(run) else { return };
    match bug {
        RoadmapBug::ForgetsAgentsAtWork => {
            state.in_flight.retain(|id, flight| Some(*id) == answered || !matches!(flight, Flight::Agent(_)));
        }
        RoadmapBug::WorksWhereSomebodyWorks => {
            let busy = state.book.works.values_mut().filter(|work| work.phase == Phase::Asked);
            busy.for_each(|work| work.phase = Phase::Idle);
        }
        RoadmapBug::GoesOnAfterTheConclusion if !ended => state.end = None,
        RoadmapBug::OpensRoundsForEver => {
            state.opened = 0;
            state.taken_up.clear();
        }
        // Nobody takes the old one away before the next reviewer is asked.
        RoadmapBug::TakesOldReviewsForNew => {
            state.book.works.values_mut().for_each(|work| work.cleared = true);
        }
        RoadmapBug::NeverInspects => state.spec.checks.clear(),
        RoadmapBug::MergesWithoutALook => state.spec.place.gate.integrity = Integrity::Off,
        RoadmapBug::MergesWhileTheRoadmapIsUpdated => state.book.update = None,
        RoadmapBug::MergesASecondTime => {
            state.book.rounds.values_mut().for_each(|round| round.merged = false);
        }
        RoadmapBug::SendsBackWithoutEnd => {
            let rounds = state.book.rounds.values_mut();
            rounds.for_each(|round| (round.unjudged, round.review_cycles) = (true, 0));
        }
        _ => {}
    }
}

/// What a step is said to have come to; absent where it is told as it was.
pub(crate) fn retold(bug: RoadmapBug, outcome: &Outcome) -> Option<Outcome> {
    match outcome {
        Outcome::Plane(outcome) => retell(bug, outcome).map(Outcome::Plane),
        Outcome::GateInspected(report) if bug == RoadmapBug::OverlooksFindings => {
            let mut report = report.clone();
            report.findings.clear();
            Some(Outcome::GateInspected(report))
        }
        Outcome::GateInspected(report) if bug == RoadmapBug::OverlooksRedChecks => {
            let mut report = report.clone();
            let red = std::mem::take(&mut report.red);
            report.ran_with_base.extend(red);
            Some(Outcome::GateInspected(report))
        }
        _ => None,
    }
}

fn retell(bug: RoadmapBug, outcome: &PlaneOutcome) -> Option<PlaneOutcome> {
    let mut outcome = outcome.clone();
    match (bug, &mut outcome) {
        (RoadmapBug::TakesOldReviewsForNew, PlaneOutcome::WorkCaptured(captured)) => {
            captured.files_changed = captured.files_changed.max(1);
        }
        (RoadmapBug::TakesOldReviewsForNew, PlaneOutcome::Looked { after, .. }) => {
            **after = retell(bug, after)?;
        }
        (RoadmapBug::OverlooksFindings, PlaneOutcome::GateLooked(looked)) => looked.findings.clear(),
        (_, PlaneOutcome::Read(plane) | PlaneOutcome::Looked { plane, .. }) => misread(bug, plane)?,
        _ => return None,
    }
    Some(outcome)
}

fn misread(bug: RoadmapBug, plane: &mut Plane) -> Option<()> {
    let revision = plane.revision.clone();
    match bug {
        RoadmapBug::ReadsEveryMilestoneAsDone => {
            plane.milestones.iter_mut().for_each(|known| known.status = MilestoneStatus::Done);
        }
        RoadmapBug::OpensARoundTooMany => drop(plane.rounds.pop()?),
        RoadmapBug::MergesWhileTheRoadmapIsUpdated => plane.update = None,
        RoadmapBug::PublishesWhatBreaksARule => plane.update.as_mut()?.author_faults.clear(),
        RoadmapBug::MergesUnderOtherWords => {
            plane.rounds.iter_mut().for_each(|round| round.roadmap_drifted = false);
        }
        RoadmapBug::MergesASecondTime => {
            plane.rounds.iter_mut().for_each(|round| round.evidence.merged = false);
        }
        RoadmapBug::MergesAhead | RoadmapBug::MergesUnderAnotherRevision => {
            for plan in plane.rounds.iter_mut().filter_map(|round| round.evidence.plan.as_mut()) {
                if bug == RoadmapBug::MergesAhead {
                    plan.depends_on_rounds.clear();
                    plan.merge_after_items.clear();
                } else {
                    plan.revision.clone_from(&revision);
                }
            }
        }
        _ => return None,
    }
    Some(())
}

/// The record keeps the plane as it was read, where the decision alone is bent.
pub(crate) fn keep_the_record(bug: RoadmapBug, facts: &mut [Fact], outcome: &Outcome) {
    if matches!(bug, RoadmapBug::ReadsEveryMilestoneAsDone | RoadmapBug::TakesOldReviewsForNew) {
        return;
    }
    for fact in facts {
        match (fact, outcome) {
            (Fact::EffectSettled { outcome: stored, .. }, _) => *stored = outcome.clone(),
            (
                Fact::RoadmapRounds(RoadmapFact::PlaneTaken { plane, .. }),
                Outcome::Plane(PlaneOutcome::Read(read) | PlaneOutcome::Looked { plane: read, .. }),
            ) => plane.clone_from(read),
            _ => {}
        }
    }
}

/// What is recorded in the place of what was decided.
pub(crate) fn bend(bug: RoadmapBug, facts: &mut Vec<Fact>) {
    for fact in facts.iter_mut() {
        match fact {
            Fact::EffectRequested { request: Effect::Plane(step), .. } => bend_step(bug, step),
            Fact::RoadmapRounds(fact) => bend_fact(bug, fact),
            _ => {}
        }
    }
    let twin = |fact: &Fact| match (bug, fact) {
        (
            RoadmapBug::AsksForTwoSteps,
            Fact::EffectRequested { effect, request: request @ Effect::Plane(_) },
        ) => Some(Fact::EffectRequested { effect: EffectId(effect.0 + 1), request: request.clone() }),
        (RoadmapBug::OpensTwoUpdates, Fact::RoadmapRounds(RoadmapFact::UpdateOpened(_))) => {
            Some(fact.clone())
        }
        (RoadmapBug::RecordsAnotherLoopsFact, Fact::RoadmapRounds(RoadmapFact::BaseFixed { .. })) => {
            Some(Fact::JudgedTask(TaskFact::RoundOpened { round: 1 }))
        }
        _ => None,
    };
    if let Some((position, twin)) =
        facts.iter().enumerate().find_map(|(position, fact)| Some((position, twin(fact)?)))
    {
        facts.insert(position + 1, twin);
    }
    if bug == RoadmapBug::DropsItsConclusion {
        facts.retain(|fact| !matches!(fact, Fact::RoadmapRounds(RoadmapFact::Concluded { .. })));
    }
}

fn bend_step(bug: RoadmapBug, step: &mut PlaneStep) {
    match (bug, step) {
        (RoadmapBug::MergesByAnotherFile, PlaneStep::FinalizeRound(asked)) => {
            asked.approval = Digest::new("of another file");
        }
        (RoadmapBug::MergesAnotherHead, PlaneStep::FinalizeRound(asked)) => {
            asked.head = CommitId::new("nobody-reviewed-this");
        }
        (RoadmapBug::PublishesByAnotherFile, PlaneStep::PublishUpdate(asked)) => {
            asked.approval = Digest::new("of another file");
        }
        (RoadmapBug::PublishesAnotherHead, PlaneStep::PublishUpdate(asked)) => {
            asked.head = CommitId::new("nobody-reviewed-this");
        }
        _ => {}
    }
}

fn bend_fact(bug: RoadmapBug, fact: &mut RoadmapFact) {
    match (bug, fact) {
        (RoadmapBug::SkipsTheReview, RoadmapFact::StageDecided { to, .. }) if *to == RoundStage::Review => {
            *to = RoundStage::FinalizeRound;
        }
        (RoadmapBug::SucceedsWithOpenMilestones, RoadmapFact::Concluded { end })
            if *end == End::RoundsUsed =>
        {
            *end = End::Complete;
        }
        _ => {}
    }
}
