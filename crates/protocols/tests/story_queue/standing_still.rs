//! Every way to write something of custody, against a tenant whose custody stands still and against keys that are nobody's.

use crate::world::{World, a_review, criterion};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch, TokenKind, ViolationStatus};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::plan::{
    self, CriterionStatus, EditForce, Import, ImportEpic, ImportMode, ImportStory, InitialStatus, StoryEdit,
};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::tenancy::NewKey;
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, JsonText, KeyRole, ProjectId, StoryId, ViolationId,
};
use windlass_protocols::protocol::story_queue::work::{
    self, BackfillStory, CompleteReview, ContractEcho, Judge, JudgeCriterion, JudgeOne, MarkComplete, Reject,
    ReportArtifact, ReportDone, RequestReview, VerifyAll,
};

/// Stories that stand as far as each write needs them, and what else is named.
struct Ground {
    pending: StoryId,
    contracted: StoryId,
    claimed: StoryId,
    started: StoryId,
    reported: StoryId,
    reviewed: StoryId,
    held: StoryId,
    violation: ViolationId,
    project: ProjectId,
    agent: AgentId,
}

type Write = fn(&mut Draft, &Ground) -> Decided<()>;
/// Whoever may, and a role in which they must say who they are; nothing where only people do it.
type Row = (&'static str, fn(&World) -> &Caller, Option<KeyRole>, Write);

fn bulk<T>(answer: Decided<Vec<(StoryId, Decided<T>)>>) -> Decided<()> {
    answer?.into_iter().try_for_each(|(_, one)| one.map(drop))
}

fn words(criteria: &str) -> StoryEdit {
    StoryEdit { criteria: Some(vec![criterion("AC-1", criteria)]), ..StoryEdit::default() }
}

fn brought(ground: &Ground, initial: InitialStatus, number: &str) -> Import {
    let story = ImportStory {
        number: number.parse().expect("a number"),
        title: Some("Brought".to_owned()),
        description: None,
        criteria: None,
        estimated_hours: None,
        metadata: None,
        initial,
    };
    let epic =
        ImportEpic { number: 9, title: Some("E".to_owned()), stories: vec![story], ..ImportEpic::default() };
    Import {
        project: ground.project,
        mode: ImportMode::Fresh,
        epics: vec![epic],
        story_dependencies: Vec::new(),
        epic_dependencies: Vec::new(),
        reason: Some("moved".to_owned()),
    }
}

fn rewords_by_merge(ground: &Ground) -> Import {
    let mut ask = brought(ground, InitialStatus::Pending, "1.2");
    ask.mode = ImportMode::Merge;
    ask.epics[0].number = 1;
    ask
}

const AGENT: Option<KeyRole> = Some(KeyRole::Agent);
const ORCHESTRATOR: Option<KeyRole> = Some(KeyRole::Orchestrator);

const WRITES: [Row; 25] = [
    (
        "contract",
        |w| &w.bob,
        AGENT,
        |d, g| {
            work::contract(
                d,
                g.pending,
                ContractEcho { story_title: Some("Story 1.1".to_owned()), ac_count: Some(1) },
            )
        },
    ),
    ("claim", |w| &w.ann, AGENT, |d, g| work::claim(d, g.contracted).map(drop)),
    ("bulk claim", |w| &w.ann, AGENT, |d, g| bulk(work::bulk_claim(d, vec![g.contracted]))),
    ("start", |w| &w.ann, AGENT, |d, g| work::start(d, g.claimed, None).map(drop)),
    (
        "request review",
        |w| &w.ann,
        AGENT,
        |d, g| work::request_review(d, g.started, RequestReview::default()).map(drop),
    ),
    ("unclaim", |w| &w.ann, AGENT, |d, g| work::unclaim(d, g.started)),
    (
        "report",
        |w| &w.reporter,
        ORCHESTRATOR,
        |d, g| work::report(d, g.started, ReportDone::default()).map(drop),
    ),
    (
        "artifact",
        |w| &w.bob,
        AGENT,
        |d, g| {
            let (artifact_type, path) = ("commit".to_owned(), "a".to_owned());
            let ask = ReportArtifact { artifact_type, path, exists: true, details: JsonText::empty_object() };
            work::report_artifact(d, g.started, ask).map(drop)
        },
    ),
    (
        "review",
        |w| &w.reviewer,
        ORCHESTRATOR,
        |d, g| work::complete_review(d, g.reported, CompleteReview { ..a_review() }).map(drop),
    ),
    ("verify", |w| &w.verifier, ORCHESTRATOR, |d, g| work::verify(d, g.reviewed, Judge::default()).map(drop)),
    (
        "bulk verify",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| bulk(work::bulk_verify(d, vec![JudgeOne { story: g.reviewed, ask: Judge::default() }])),
    ),
    (
        "mark complete",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| {
            bulk(work::bulk_mark_complete(
                d,
                vec![JudgeOne { story: g.reviewed, ask: MarkComplete::default() }],
            ))
        },
    ),
    (
        "verify all",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| {
            let epic = d.ledger().plan.story(g.reviewed).expect("it is there").epic;
            bulk(work::verify_all(d, epic, VerifyAll::default()))
        },
    ),
    (
        "criterion",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| {
            let (ac_id, evidence) = ("AC-1".to_owned(), Some("seen".to_owned()));
            work::judge_criterion(
                d,
                g.reviewed,
                JudgeCriterion { ac_id, status: CriterionStatus::Verified, evidence },
            )
            .map(drop)
        },
    ),
    (
        "reject",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| work::reject(d, g.reviewed, Reject { reason: "no".to_owned(), ..Reject::default() }).map(drop),
    ),
    (
        "bulk reject",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| {
            let ask = Reject { reason: "no".to_owned(), ..Reject::default() };
            bulk(work::bulk_reject(d, vec![JudgeOne { story: g.reviewed, ask }]))
        },
    ),
    ("force-unclaim", |w| &w.verifier, ORCHESTRATOR, |d, g| work::force_unclaim(d, g.started)),
    (
        "backfill",
        |w| &w.reporter,
        ORCHESTRATOR,
        |d, g| {
            let ask =
                BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
            work::backfill(d, g.pending, ask).map(drop)
        },
    ),
    (
        "import as done",
        |w| &w.reporter,
        ORCHESTRATOR,
        |d, g| plan::import(d, brought(g, InitialStatus::ReportedDone, "9.1")).map(drop),
    ),
    (
        "import as verified",
        |w| &w.user,
        None,
        |d, g| plan::import(d, brought(g, InitialStatus::Verified, "9.1")).map(drop),
    ),
    (
        "reword by a merge what is contracted",
        |w| &w.user,
        None,
        |d, g| plan::import(d, rewords_by_merge(g)).map(drop),
    ),
    (
        "reword by force what is done",
        |w| &w.user,
        None,
        |d, g| plan::change_story(d, g.reviewed, words("other"), EditForce::Forced).map(drop),
    ),
    (
        "open a dispatch",
        |w| &w.verifier,
        ORCHESTRATOR,
        |d, g| {
            let key = NewKey { hash: format!("{:064x}", 999), prefix: "lc_abcde".to_owned() };
            let role = KeyRole::Agent;
            let ask = OpenDispatch {
                role,
                agent: g.agent,
                parent: None,
                story: None,
                expires_in_seconds: None,
                key,
            };
            custody::open(d, ask).map(drop)
        },
    ),
    ("release", |w| &w.verifier, ORCHESTRATOR, |d, g| custody::release(d, g.held, "looked".to_owned())),
    (
        "settle",
        |w| &w.user,
        None,
        |d, g| custody::resolve_violation(d, g.violation, ViolationStatus::Ignored, "looked".to_owned()),
    ),
];

fn ground() -> (World, Ground) {
    let mut world = World::new();
    world.set("orchestrator_root_dispatches", true);
    let [pending, contracted, claimed, started, reported, reviewed, held] =
        ["1.1", "1.2", "1.3", "1.4", "2.1", "3.1", "1.7"].map(|number| world.story(number));
    let ann = world.ann.clone();
    world.contract(&ann, contracted);
    world.contract(&ann, claimed);
    world.must(&ann, |draft| work::claim(draft, claimed));
    world.start(&ann, started);
    world.start(&ann, held);
    world.caught(&ann, |draft| work::report(draft, held, ReportDone::default()));
    world.report(reported);
    world.report(reviewed);
    world.review(reviewed);
    let violation = world.ledger.custody.unsettled(held).next().expect("it was caught").id;
    let (project, agent) = (world.project, ann.agent.expect("ann is an agent"));
    let ground =
        Ground { pending, contracted, claimed, started, reported, reviewed, held, violation, project, agent };
    (world, ground)
}

#[test]
fn nothing_of_custody_is_written_while_it_stands_still() {
    for (name, who, _, write) in WRITES {
        let (mut world, ground) = ground();
        let (who, user) = (who(&world).clone(), world.user.clone());
        world.must(&user, |draft| custody::halt(draft, "two heads at 12".to_owned()));
        let refusal = world.refused(&who, |draft| write(draft, &ground));
        assert_eq!((refusal.kind, refusal.code), (Kind::Halted, Some("tenant_halted")), "{name}");
        let superadmin = world.superadmin.clone();
        world.must(&superadmin, |draft| custody::clear_halt(draft, "seen".to_owned()));
        let done = world.ask(&who, |draft| write(draft, &ground));
        assert!(done.is_ok(), "{name} is refused without a halt as well: {done:?}");
        world.hold();
    }
}

#[test]
fn no_key_that_is_nobodys_writes_anything_of_custody() {
    for (name, who, role, write) in WRITES {
        let Some(role) = role else { continue };
        let (mut world, ground) = ground();
        let nobody = Caller { agent: None, role, ..who(&world).clone() };
        let refusal = world.refused(&nobody, |draft| write(draft, &ground));
        assert_eq!(refusal.kind, Kind::Malformed, "{name}: {refusal:?}");
    }
}

#[test]
fn no_token_comes_again_while_custody_stands_still() {
    let (mut world, ground) = ground();
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.must(&user, |draft| custody::halt(draft, "two heads at 12".to_owned()));
    let refusal = world.refused(&ann, |d| custody::recover(d, ground.claimed, TokenKind::StartCap));
    assert_eq!(refusal.code, Some("tenant_halted"));
}
