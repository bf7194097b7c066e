//! One fact of every variant of the roadmap loop, with every variant of what it carries, for the stored form. New ones go to
//! the end, here and in the fixture.

use crate::harness::words::{STEP, agent_report, artifact, caps, lines, spec};
use crate::roadmap_planes::{
    bare_plane, full_plane, plane_with_a_lost_share, plane_with_an_unfinished_share, update_seen,
};
use windlass_protocols::effect::{Ask, AskedWork, Effect, PlaneStep, RoundWork, RunAgent, StepLimits};
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{Answer, Diagnosis, Outcome, PlaneOutcome, StepEnd};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::{
    Closed, Fact as RoadmapFact, OutKind, RetryKind, UpdateStep, Why,
};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, Plane, RoundStage, UpdateReview, UpdateStatus, UpdateTrigger,
};
use windlass_protocols::protocol::roadmap_rounds::spec::{LeftBehind, RoadmapSpec, RoundLimits};
use windlass_protocols::protocol::roadmap_rounds::steps::{
    CaptureWork, CombineWork, FinalizeRound, Held, Kept, Mechanism, OpenWorktree, PlaceLeft, PlaceTaken,
    PublishUpdate, RetryNote, SetAside, StateEdit, TakeUp, UpdateOpened, WorkCaptured, WorkKind,
    WorktreePurpose, WriteState,
};
use windlass_protocols::{Actor, CommitId, Digest, EffectId, Fact, Millis, Role, RunId, TaskId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let limits = RoundLimits { same_mechanism: 2, review_cycles: 4, update_rejections: 1 };
    let patience = Patience { tries: 1, ..Patience::default() };
    let bent = RoadmapSpec { limits, parallel: Some(2), patience, ..roadmap_spec() };
    let mut facts = vec![started(roadmap_spec()), started(bent)];
    let requested = |(request, id)| Fact::EffectRequested { effect: EffectId(id), request };
    facts.extend(agents().into_iter().chain(steps()).zip(400..).map(requested));
    let settled = |(outcome, id)| Fact::EffectSettled { effect: EffectId(id), outcome };
    facts.extend(outcomes().into_iter().zip(400..).map(settled));
    let decided = decisions().into_iter().chain(whys()).chain(troubles()).chain(ends());
    facts.extend(decided.map(Fact::RoadmapRounds));
    facts.extend(since_reviews_are_set_aside());
    facts.push(since_steps_look());
    facts.extend(since_plans_can_be_outdated());
    facts
}

fn since_steps_look() -> Fact {
    let after = Box::new(PlaneOutcome::StateWritten { state: digest() });
    let outcome = Outcome::Plane(PlaneOutcome::Looked { after, plane: Box::new(bare_plane()) });
    Fact::EffectSettled { effect: EffectId(491), outcome }
}

/// What came later stands at the end: the lines above are as they were stored.
fn since_reviews_are_set_aside() -> [Fact; 3] {
    let decided_at = Millis(1_700_000_000_000);
    let (work, branch, worktree, parent) = (work(), branch(), worktree(), commit());
    let asked = PlaneStep::SetAside(SetAside { work: work.clone(), branch, worktree, parent, decided_at });
    let outcome = Outcome::Plane(PlaneOutcome::SetAside { head: commit(), kept: None });
    [
        Fact::EffectRequested { effect: EffectId(490), request: Effect::Plane(asked) },
        Fact::EffectSettled { effect: EffectId(490), outcome },
        Fact::RoadmapRounds(RoadmapFact::ReviewSetAside { work, head: commit() }),
    ]
}

/// Stands behind all that was stored before it.
pub(crate) fn since_handoffs_have_faults() -> [Fact; 1] {
    let plane = Box::new(plane_with_an_unfinished_share());
    [Fact::RoadmapRounds(RoadmapFact::PlaneTaken { plane, noticed: Vec::new() })]
}

/// Stands behind all that was stored before it.
pub(crate) fn since_lost_shares_are_named() -> [Fact; 1] {
    let plane = Box::new(plane_with_a_lost_share());
    let noticed = lines(&["round-001: what workers made is not in the round: src/one.rs (w1)"]);
    [Fact::RoadmapRounds(RoadmapFact::PlaneTaken { plane, noticed })]
}

/// Stands behind all that was stored before it.
pub(crate) fn since_rounds_are_taken_up() -> [Fact; 6] {
    let (decided_at, worker) = (Millis(1_700_000_000_000), Some("lexer".to_owned()));
    let kept = Kept { id: "run-1/x".to_owned(), branch: "windlass/kept/x".to_owned() };
    let left = PlaceLeft { worker: worker.clone(), branch: branch(), worktree: worktree(), head: commit() };
    let taken = PlaceTaken {
        worker,
        before: commit(),
        commit: commit(),
        files_changed: 2,
        only_review: true,
        put_back: lines(&["orchestrator/state.json"]),
        kept: Some(kept.clone()),
        ignored: lines(&["build/"]),
    };
    let (places, update) = (vec![taken], true);
    let asked = TakeUp { round: round(), update, places: vec![left], decided_at };
    let outcome = Outcome::Plane(PlaneOutcome::TakenUp { places: places.clone() });
    let combined = PlaneOutcome::WorkCombined { head: commit(), conflicts: Vec::new(), kept: Some(kept) };
    let (from, to) = (RoundStage::Review, RoundStage::Implement);
    let unproven = Why::Unproven { why: why() };
    [
        Fact::EffectRequested { effect: EffectId(492), request: Effect::Plane(PlaneStep::TakeUp(asked)) },
        Fact::EffectSettled { effect: EffectId(492), outcome },
        Fact::EffectSettled { effect: EffectId(493), outcome: Outcome::Plane(combined) },
        Fact::RoadmapRounds(RoadmapFact::TakenUp { round: round(), update, places: places.clone() }),
        Fact::RoadmapRounds(RoadmapFact::TakenUp { round: round(), update: false, places }),
        Fact::RoadmapRounds(RoadmapFact::StageDecided { round: round(), from, to, why: unproven }),
    ]
}

fn since_plans_can_be_outdated() -> [Fact; 3] {
    let (from, to) = (RoundStage::FinalizeRound, RoundStage::Plan);
    let why_back = Why::PlanOutdated { why: why() };
    let edits = vec![StateEdit::LastRejection { summary: why() }];
    let write = PlaneStep::WriteState(WriteState { seen: digest(), edits });
    [
        Fact::RoadmapRounds(RoadmapFact::StageDecided { round: round(), from, to, why: why_back }),
        Fact::RoadmapRounds(RoadmapFact::Blocked {
            round: Some(round()),
            update: true,
            rejection: Some(why()),
            why: why(),
        }),
        Fact::EffectRequested { effect: EffectId(491), request: Effect::Plane(write) },
    ]
}

/// What came with the rounds that an earlier run left behind.
pub(crate) fn since_rounds_are_left_behind() -> [Fact; 1] {
    let of = |update, approved| LeftBehind { round: round(), update, approved };
    let left_behind = vec![of(false, Some(digest())), of(true, None)];
    [started(RoadmapSpec { left_behind, ..roadmap_spec() })]
}

fn started(spec: RoadmapSpec) -> Fact {
    Fact::RunStarted {
        version: windlass_protocols::fact::FACT_VERSION,
        run: RunId::new("run-4"),
        spec: Spec::RoadmapRounds(Box::new(spec)),
        by: Actor::Human("ada".to_owned()),
    }
}

pub(crate) fn roadmap_spec() -> RoadmapSpec {
    RoadmapSpec {
        task: TaskId::new("TASK-4"),
        text: "walls before roofs".to_owned(),
        caps: caps(10),
        limits: RoundLimits::default(),
        parallel: None,
        checks: Vec::new(),
        patience: Patience::default(),
        place: spec().place,
        left_behind: Vec::new(),
    }
}

pub(crate) fn round() -> String {
    "round-001".to_owned()
}

pub(crate) fn commit() -> CommitId {
    CommitId::new("0123abcd")
}

pub(crate) fn digest() -> Digest {
    Digest::new("feed")
}

pub(crate) fn why() -> String {
    "because".to_owned()
}

pub(crate) fn branch() -> String {
    "orchestrator/round-001-walls".to_owned()
}

pub(crate) fn worktree() -> String {
    "orchestrator/worktrees/round-001".to_owned()
}

fn works() -> Vec<RoundWork> {
    let kinds = [
        WorkKind::Plan,
        WorkKind::Implement,
        WorkKind::Worker { worker: "w1".to_owned() },
        WorkKind::Integrate,
        WorkKind::Review,
        WorkKind::AuthorUpdate,
        WorkKind::ReviewUpdate,
        WorkKind::Investigate { update: false },
        WorkKind::Investigate { update: true },
    ];
    kinds.into_iter().map(|kind| RoundWork { round: round(), kind }).collect()
}

fn work() -> RoundWork {
    RoundWork { round: round(), kind: WorkKind::Implement }
}

fn agents() -> Vec<Effect> {
    let asked = |work: RoundWork| {
        Effect::RunAgent(RunAgent {
            role: work.kind.role(),
            round: 1,
            attempt: 1,
            tree: None,
            ask: Ask::Fresh { feedback: lines(&["name it better"]), history: Vec::new() },
            inputs: Vec::new(),
            limits: StepLimits {
                total: Millis(60_000),
                idle: None,
                output_bytes: None,
                tokens: None,
                cost_micros: None,
            },
            agent: Some("codex".to_owned()),
            session: None,
            node: None,
            item: None,
            work: Some(Box::new(AskedWork { work, branch: branch(), worktree: worktree(), head: commit() })),
        })
    };
    works().into_iter().map(asked).collect()
}

fn opened(trigger: UpdateTrigger) -> UpdateOpened {
    UpdateOpened {
        trigger,
        source_round: round(),
        branch: "orchestrator/roadmap-update-round-001-walls".to_owned(),
        worktree: "orchestrator/worktrees/roadmap-update-round-001".to_owned(),
        prior_revision: "rev-001".to_owned(),
        proposed_revision: "rev-002".to_owned(),
    }
}

fn edits() -> Vec<StateEdit> {
    let stages = [
        ControllerStage::DispatchRounds,
        ControllerStage::UpdateRoadmap,
        ControllerStage::Done,
        ControllerStage::Blocked,
    ];
    let mut edits: Vec<StateEdit> = stages.into_iter().map(|stage| StateEdit::Stage { stage }).collect();
    edits.extend(stages_of_rounds().map(|stage| StateEdit::RoundStage { round: round(), stage }));
    edits.extend(statuses().map(|status| StateEdit::UpdateStatus { status }));
    let note = |mechanism| RetryNote {
        of_update: false,
        id: round(),
        stage: "implementation".to_owned(),
        mechanism,
        attempt: 2,
        review_cycles: 1,
    };
    let retry = |mechanism| StateEdit::Retry { retry: Some(note(mechanism)) };
    edits.extend([Mechanism::SameHandle, Mechanism::FreshAgent, Mechanism::OtherAdapter].map(retry));
    edits.extend([
        StateEdit::Retry { retry: None },
        StateEdit::AddRound { round: round(), branch: branch(), worktree: worktree() },
        StateEdit::RoundError { round: round(), error: Some(why()) },
        StateEdit::RemoveRound { round: round() },
        StateEdit::OpenUpdate(opened(UpdateTrigger::MergedRound)),
        StateEdit::UpdateRejected { summary: why() },
        StateEdit::UpdateError { error: None },
        StateEdit::Activate { revision: "rev-002".to_owned() },
        StateEdit::ControllerError { error: why() },
        StateEdit::ClearErrors,
    ]);
    edits
}

pub(crate) fn stages_of_rounds() -> impl Iterator<Item = RoundStage> + Clone {
    [
        RoundStage::Plan,
        RoundStage::Implement,
        RoundStage::Review,
        RoundStage::FinalizeRound,
        RoundStage::Blocked,
    ]
    .into_iter()
}

fn statuses() -> impl Iterator<Item = UpdateStatus> {
    [
        UpdateStatus::Authoring,
        UpdateStatus::Review,
        UpdateStatus::Rejected,
        UpdateStatus::Approved,
        UpdateStatus::Blocked,
    ]
    .into_iter()
}

fn steps() -> Vec<Effect> {
    let decided_at = Millis(1_700_000_000_000);
    let open = |purpose| {
        let (branch, worktree, from) = (branch(), worktree(), commit());
        PlaneStep::OpenWorktree(OpenWorktree { branch, worktree, from, purpose, decided_at })
    };
    let (round_id, worker) = (round(), "w1".to_owned());
    let mut steps = vec![
        PlaneStep::Read { pass: 3 },
        PlaneStep::WriteState(WriteState { seen: digest(), edits: edits() }),
        open(WorktreePurpose::Round { round: round() }),
        open(WorktreePurpose::Worker { round: round(), worker }),
        open(WorktreePurpose::Update(opened(UpdateTrigger::PlannerRequest))),
        open(WorktreePurpose::Reopen { round: round() }),
        PlaneStep::CaptureWork(CaptureWork {
            work: work(),
            branch: branch(),
            worktree: worktree(),
            parent: commit(),
            decided_at,
        }),
    ];
    let (head, base) = (commit(), CommitId::new("base"));
    steps.push(PlaneStep::CombineWork(CombineWork {
        round: round_id.clone(),
        branch: branch(),
        worktree: worktree(),
        head: head.clone(),
        with: vec![base.clone()],
        decided_at,
    }));
    steps.push(PlaneStep::FinalizeRound(FinalizeRound {
        round: round_id.clone(),
        branch: branch(),
        worktree: worktree(),
        head: head.clone(),
        base: base.clone(),
        refreshed: true,
        approval: digest(),
        judged: None,
        decided_at,
    }));
    steps.push(PlaneStep::PublishUpdate(PublishUpdate {
        source_round: round_id,
        branch: branch(),
        worktree: worktree(),
        head,
        base,
        revision: "rev-002".to_owned(),
        approval: digest(),
        decided_at,
    }));
    steps.into_iter().map(Effect::Plane).collect()
}

fn outcomes() -> Vec<Outcome> {
    let captured = WorkCaptured {
        work: work(),
        commit: commit(),
        tree: TreeId::new("tree-1"),
        files_changed: 2,
        put_back: lines(&["orchestrator/state.json"]),
        kept: None,
        ignored: Vec::new(),
        findings: Vec::new(),
        hazards: lines(&["a link out"]),
    };
    let mut outcomes = vec![
        PlaneOutcome::Read(Box::new(bare_plane())),
        PlaneOutcome::Read(Box::new(full_plane())),
        PlaneOutcome::StateWritten { state: digest() },
        PlaneOutcome::StateMoved,
        PlaneOutcome::WorktreeOpened { head: commit() },
        PlaneOutcome::WorkCaptured(Box::new(captured)),
        PlaneOutcome::WorkCombined { head: commit(), conflicts: lines(&["src/lib.rs"]), kept: None },
        PlaneOutcome::Merged { commit: commit(), tree: TreeId::new("tree-1") },
    ];
    let held = [
        Held::BaseMoved,
        Held::Stale { why: why() },
        Held::Conflicts { paths: lines(&["src/lib.rs"]) },
        Held::InTheWay { why: why() },
    ];
    outcomes.extend(held.map(PlaneOutcome::Held));
    let mut outcomes: Vec<Outcome> = outcomes.into_iter().map(Outcome::Plane).collect();
    let sound = StepEnd::Exited { code: 0 };
    outcomes.push(Outcome::from(agent_report(Role::Planner, sound.clone(), Answer::InWorktree, STEP)));
    let answer = Answer::Diagnosis(diagnosis());
    outcomes.push(Outcome::from(agent_report(Role::Investigator, sound, answer, STEP)));
    outcomes
}

fn diagnosis() -> Diagnosis {
    Diagnosis {
        summary: "it misreads the schema".to_owned(),
        advice: "say the decision first".to_owned(),
        proves: Some(RoundStage::Implement),
        escalate: true,
        artifact: artifact("diagnosis.json"),
    }
}

fn decisions() -> Vec<RoadmapFact> {
    let rejected = update_seen(UpdateReview::Rejected { summary: why() });
    let plane = Box::new(Plane { update: Some(rejected), ..bare_plane() });
    let found = outcomes().into_iter().find_map(|outcome| match outcome {
        Outcome::Plane(PlaneOutcome::WorkCaptured(captured)) => Some(captured),
        _ => None,
    });
    let Some(captured) = found else { unreachable!("one is among them") };
    let closed = |how| RoadmapFact::RoundClosed { round: round(), how };
    let updates = [
        UpdateStep::Authored,
        UpdateStep::Approved { artifact: digest(), head: Some(commit()) },
        UpdateStep::Rejected { summary: why() },
        UpdateStep::Activated { revision: "rev-002".to_owned() },
        UpdateStep::SentBack { why: why() },
    ];
    let merged = |closeout| RoadmapFact::RoundMerged {
        round: round(),
        commit: commit(),
        tree: TreeId::new("tree-1"),
        closeout,
        at: Millis(7),
    };
    let mut facts = vec![
        RoadmapFact::BaseFixed { commit: commit() },
        RoadmapFact::PlaneTaken { plane, noticed: lines(&["somebody moved main"]) },
        RoadmapFact::RoundOpened { round: round(), branch: branch(), worktree: worktree(), head: commit() },
        RoadmapFact::WorkEnded { work: work(), failed: Some(why()) },
        RoadmapFact::WorkTaken { captured },
        RoadmapFact::WorkCombined {
            round: round(),
            head: commit(),
            with: vec![commit()],
            conflicts: Vec::new(),
        },
        RoadmapFact::MergeConflicted { round: round(), paths: lines(&["src/lib.rs"]) },
        merged(CloseoutMode::StatusOnly),
        closed(Closed::Merged),
        closed(Closed::Cancelled),
        RoadmapFact::UpdateOpened(opened(UpdateTrigger::MergedRound)),
        RoadmapFact::UpdateMerged { round: round(), commit: commit(), revision: "rev-002".to_owned() },
    ];
    facts.extend(updates.map(|decided| RoadmapFact::UpdateDecided { round: round(), decided }));
    facts
}

fn whys() -> Vec<RoadmapFact> {
    let whys = [
        Why::Planned { milestone: "M1".to_owned(), direction: "D1".to_owned(), item: "item-1".to_owned() },
        Why::Direct { artifact: digest(), head: Some(commit()) },
        Why::Implemented,
        Why::Approved { artifact: digest(), head: None },
        Why::Rejected { changes: lines(&["name it better"]) },
        Why::Unclassified { why: why() },
        Why::BaseMoved { conflicts: lines(&["src/lib.rs"]) },
        Why::CloseoutStale { why: why() },
        Why::RoadmapRevised { revision: "rev-002".to_owned() },
        Why::Proven,
        Why::PutBack,
    ];
    let (from, to) = (RoundStage::FinalizeRound, RoundStage::Review);
    whys.into_iter().map(|why| RoadmapFact::StageDecided { round: round(), from, to, why }).collect()
}

fn troubles() -> Vec<RoadmapFact> {
    let out = |kind| RoadmapFact::AgentOut {
        role: Role::Implementer,
        agent: "codex".to_owned(),
        until: Millis(9),
        kind,
        why: why(),
        work: work(),
    };
    let retried = |kind| RoadmapFact::StepRetried { work: Some(work()), kind, why: why() };
    let mut facts = vec![
        RoadmapFact::RetryDecided { work: work(), mechanism: Mechanism::FreshAgent, attempt: 4, why: why() },
        RoadmapFact::InvestigationDecided { work: work(), why: why(), pattern: false },
        RoadmapFact::InvestigationDecided { work: work(), why: why(), pattern: true },
        RoadmapFact::Diagnosed { work: work(), diagnosis: Some(diagnosis()) },
        RoadmapFact::Diagnosed { work: work(), diagnosis: None },
        RoadmapFact::RepairAsked { work: work(), faults: lines(&["plan.md: no goal"]) },
        RoadmapFact::StepRetried { work: None, kind: RetryKind::Lost, why: why() },
        RoadmapFact::Recovered { rounds: vec![(round(), RoundStage::Review)], update: true },
        RoadmapFact::ControllerSet { stage: ControllerStage::Done, why: why() },
        RoadmapFact::Blocked { round: Some(round()), update: true, rejection: None, why: why() },
        RoadmapFact::Blocked { round: None, update: false, rejection: None, why: why() },
    ];
    facts.extend([RetryKind::Lost, RetryKind::Failed, RetryKind::Interrupted].map(retried));
    facts.extend([OutKind::Limited, OutKind::Unavailable, OutKind::Misconfigured].map(out));
    facts
}

fn ends() -> Vec<RoadmapFact> {
    let ends = [
        End::Complete,
        End::Blocked { why: why() },
        End::RoundsUsed,
        End::Spent { dimension: Dimension::Tokens },
        End::Stopped { by: "ada".to_owned(), reason: why() },
        End::NotReady { why: why() },
    ];
    ends.into_iter().map(|end| RoadmapFact::Concluded { end }).collect()
}

pub(crate) const COUNT: usize = 28;

pub(crate) const fn variant(fact: &RoadmapFact) -> usize {
    match fact {
        RoadmapFact::BaseFixed { .. } => 0,
        RoadmapFact::PlaneTaken { .. } => 1,
        RoadmapFact::RoundOpened { .. } => 2,
        RoadmapFact::StageDecided { .. } => 3,
        RoadmapFact::WorkEnded { .. } => 4,
        RoadmapFact::WorkTaken { .. } => 5,
        RoadmapFact::WorkCombined { .. } => 6,
        RoadmapFact::MergeConflicted { .. } => 7,
        RoadmapFact::RoundMerged { .. } => 8,
        RoadmapFact::RoundClosed { .. } => 9,
        RoadmapFact::UpdateOpened(_) => 10,
        RoadmapFact::UpdateDecided { .. } => 11,
        RoadmapFact::UpdateMerged { .. } => 12,
        RoadmapFact::RetryDecided { .. } => 13,
        RoadmapFact::InvestigationDecided { .. } => 14,
        RoadmapFact::Diagnosed { .. } => 15,
        RoadmapFact::RepairAsked { .. } => 16,
        RoadmapFact::StepRetried { .. } => 17,
        RoadmapFact::AgentOut { .. } => 18,
        RoadmapFact::Recovered { .. } => 19,
        RoadmapFact::ControllerSet { .. } => 20,
        RoadmapFact::Blocked { .. } => 21,
        RoadmapFact::Concluded { .. } => 22,
        RoadmapFact::ReviewSetAside { .. } => 23,
        RoadmapFact::TakenUp { .. } => 24,
        RoadmapFact::GateLooked { .. } => 25,
        RoadmapFact::GateInspected { .. } => 26,
        RoadmapFact::GateHeld { .. } => 27,
    }
}
