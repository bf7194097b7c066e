//! The ways around custody that a user found: each is tried as they tried it.

use crate::world::{World, a_review, criterion};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{
    self, Holds, Presented, Signature, Violation, ViolationStatus,
};
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::plan::{
    self, CreateProject, EditForce, Import, ImportEpic, ImportMode, ImportStory, InitialStatus, StoryEdit,
};
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId, TokenId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, CompleteReview, How, Judge, JudgeOne, Reject, ReportDone, Standing,
    VerifiedStatus,
};

fn before() -> BackfillStory {
    BackfillStory { reason: "done before".to_owned(), pr_number: Some(7), ..BackfillStory::default() }
}

fn brought(world: &World, number: &str, mode: ImportMode, initial: InitialStatus) -> Import {
    let story = ImportStory {
        number: number.parse().expect("a number"),
        title: Some("Brought".to_owned()),
        description: None,
        criteria: Some(vec![criterion("AC-1", "brought")]),
        estimated_hours: None,
        metadata: None,
        initial,
    };
    Import {
        project: world.project,
        mode,
        epics: vec![ImportEpic {
            number: 9,
            title: Some("Again".to_owned()),
            stories: vec![story],
            ..ImportEpic::default()
        }],
        story_dependencies: Vec::new(),
        epic_dependencies: Vec::new(),
        reason: Some("moved".to_owned()),
    }
}

fn open_violation(world: &World) -> Violation {
    let mut open = world.ledger.custody.violations().filter(|one| one.status == ViolationStatus::Pending);
    open.next().expect("somebody tried").clone()
}

fn settle(world: &mut World, by: &Caller, violation: &Violation) -> Result<(), Refusal> {
    let note = || "looked".to_owned();
    world.ask(by, |d| custody::resolve_violation(d, violation.id, ViolationStatus::Ignored, note()))
}

#[test]
fn what_was_worked_on_and_deleted_comes_back_as_pending_or_not_at_all() {
    for initial in [InitialStatus::Verified, InitialStatus::ReportedDone] {
        let mut world = World::new();
        let (user, orchestrator, ann) = (world.user.clone(), world.reporter.clone(), world.ann.clone());
        let id = world.story("1.1");
        world.start(&ann, id);
        world.must(&user, |draft| plan::delete_story(draft, id));
        for by in [&user, &orchestrator] {
            let ask = brought(&world, "1.1", ImportMode::Fresh, initial);
            let refusal = world.refused(by, |draft| plan::import(draft, ask));
            assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("import_invalid")));
            assert!(refusal.details.iter().any(|(_, why)| why.contains("worked on here")), "{refusal:?}");
        }
        // A merge gives no status, and what it adds stays marked; so does a pending import.
        let mode = if initial == InitialStatus::Verified { ImportMode::Merge } else { ImportMode::Fresh };
        let initial = if mode == ImportMode::Merge { initial } else { InitialStatus::Pending };
        let ask = brought(&world, "1.1", mode, initial);
        world.must(&user, |draft| plan::import(draft, ask));
        let again = world.story("1.1");
        assert_eq!(world.standing(again), (AgentStatus::Pending, VerifiedStatus::Unverified));
        let refusal = world.refused(&orchestrator, |draft| work::backfill(draft, again, before()));
        assert_eq!(refusal.code, Some("backfill_refused"));
        world.hold();
    }
}

#[test]
fn the_epic_or_the_project_going_first_changes_nothing() {
    let mut world = World::new();
    let (user, ann) = (world.user.clone(), world.ann.clone());
    let id = world.story("1.1");
    world.start(&ann, id);
    let epic = world.epic(1);
    world.must(&user, |draft| plan::delete_epic(draft, epic));
    let ask = brought(&world, "1.1", ImportMode::Fresh, InitialStatus::Verified);
    assert_eq!(world.refused(&user, |draft| plan::import(draft, ask)).code, Some("import_invalid"));
    // A project that goes is archived: its slug stays taken, so nobody makes it again without its past.
    let project = world.project;
    world.must(&user, |draft| plan::archive_project(draft, project));
    let create =
        CreateProject { name: "Yard".to_owned(), slug: "yard".to_owned(), ..CreateProject::default() };
    assert_eq!(world.refused(&user, |draft| plan::create_project(draft, create)).kind, Kind::Conflict);
    world.hold();
}

#[test]
fn a_story_that_nobody_worked_on_is_brought_again_freely() {
    let mut world = World::new();
    let user = world.user.clone();
    let ask = brought(&world, "1.1", ImportMode::Fresh, InitialStatus::Verified);
    world.must(&user, |draft| plan::import(draft, ask.clone()));
    let epic = world.epic(9);
    world.must(&user, |draft| plan::delete_epic(draft, epic));
    world.must(&user, |draft| plan::import(draft, ask));
    let id = world.story("1.1");
    assert_eq!(world.standing(id).1, VerifiedStatus::Verified);
    world.hold();
}

#[test]
fn who_implemented_a_story_before_it_was_deleted_does_not_verify_the_next_of_its_number() {
    let mut world = World::new();
    let (user, ann, bob) = (world.user.clone(), world.ann.clone(), world.bob.clone());
    let id = world.story("1.1");
    world.start(&ann, id);
    world.must(&user, |draft| plan::delete_story(draft, id));
    let again = world.story("1.1");
    world.start(&bob, again);
    let refusal = world.caught(&ann, |draft| work::report(draft, again, ReportDone::default()));
    assert_eq!(refusal.code, Some("self_report_blocked"));
    world.hold();
}

#[test]
fn a_contract_alone_bars_a_backfill_for_good() {
    let mut world = World::new();
    let (ann, orchestrator, user) = (world.ann.clone(), world.reporter.clone(), world.user.clone());
    let (edited, freed) = (world.story("1.1"), world.story("1.2"));
    for id in [edited, freed] {
        world.contract(&ann, id);
    }
    let edit = StoryEdit { title: Some("Reworded".to_owned()), ..StoryEdit::default() };
    world.must(&orchestrator, |draft| plan::change_story(draft, edited, edit, EditForce::Ordinary));
    world.must(&orchestrator, |draft| work::force_unclaim(draft, freed));
    for id in [edited, freed] {
        assert_eq!(world.standing(id), (AgentStatus::Pending, VerifiedStatus::Unverified));
        let refusal = world.refused(&user, |draft| work::backfill(draft, id, before()));
        assert_eq!(refusal.code, Some("backfill_refused"));
    }
    // Nor by deleting it: the number remembers.
    world.must(&user, |draft| plan::delete_story(draft, edited));
    let ask = brought(&world, "1.1", ImportMode::Fresh, InitialStatus::Verified);
    assert_eq!(world.refused(&user, |draft| plan::import(draft, ask)).code, Some("import_invalid"));
    world.hold();
}

#[test]
fn an_import_that_was_judged_or_taken_back_is_not_backfilled() {
    let mut world = World::new();
    let (user, verifier) = (world.user.clone(), world.verifier.clone());
    let ask = brought(&world, "1.1", ImportMode::Fresh, InitialStatus::ReportedDone);
    world.must(&user, |draft| plan::import(draft, ask));
    let id = world.story("1.1");
    world.must(&verifier, |draft| work::force_unclaim(draft, id));
    let refusal = world.refused(&user, |draft| work::backfill(draft, id, before()));
    assert_eq!(refusal.code, Some("backfill_refused"));
    world.hold();
}

#[test]
fn whoever_caused_a_violation_settles_it_by_no_path() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.start(&ann, id);
    let shadow = world.user_key(ann.agent);
    world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
    let violation = open_violation(&world);
    let refusal = settle(&mut world, &shadow, &violation).unwrap_err();
    assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("self_release_blocked")));
    let refusal = world.refused(&shadow, |d| custody::release(d, id, "fine".to_owned()));
    assert_eq!(refusal.code, Some("self_release_blocked"));
    assert!(world.track(id).is_quarantined());
    settle(&mut world, &user, &violation).unwrap();
    assert!(!world.track(id).is_quarantined());
    world.hold();
}

#[test]
fn an_orchestrator_above_the_violator_does_not_settle_either() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (user, bob, chief) =
        (world.user.clone(), world.bob.clone(), world.agent("chief", KeyRole::Orchestrator));
    let roots = [(); 2].map(|()| world.dispatched(&user, KeyRole::Orchestrator, &chief, None));
    let sub = world.dispatched(&roots[0], KeyRole::Agent, &bob, None);
    world.start(&sub, id);
    world.caught(&sub, |draft| work::report(draft, id, ReportDone::default()));
    let violation = open_violation(&world);
    for by in [&roots[0], &roots[1], &chief] {
        let refusal = world.refused(by, |d| custody::release(d, id, "fine".to_owned()));
        assert_eq!(refusal.code, Some("self_release_blocked"));
    }
    let shadow = world.user_key(chief.agent);
    assert!(settle(&mut world, &shadow, &violation).is_err());
    let unknown = Caller { agent: None, ..world.verifier.clone() };
    let refusal = world.refused(&unknown, |d| custody::release(d, id, "fine".to_owned()));
    assert_eq!(refusal.kind, Kind::Malformed, "an unknown orchestrator releases nothing");
    world.hold();
}

#[test]
fn a_person_who_forced_an_edit_has_somebody_else_look() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.start(&ann, id);
    let edit = StoryEdit { title: Some("Less".to_owned()), ..StoryEdit::default() };
    world.must(&user, |draft| plan::change_story(draft, id, edit, EditForce::Forced));
    let violation = open_violation(&world);
    assert!(settle(&mut world, &user, &violation).is_err());
    let refusal = world.refused(&user, |d| custody::release(d, id, "fine".to_owned()));
    assert_eq!(refusal.code, Some("self_release_blocked"));
    let other = world.user_key(None);
    settle(&mut world, &other, &violation).unwrap();
    world.hold();
}

#[test]
fn a_violation_of_a_deleted_story_is_settled_by_the_same_rule() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.start(&ann, id);
    world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
    let violation = open_violation(&world);
    world.must(&user, |draft| plan::delete_story(draft, id));
    let shadow = world.user_key(ann.agent);
    assert!(settle(&mut world, &shadow, &violation).is_err());
    settle(&mut world, &user, &violation).unwrap();
    world.hold();
}

#[test]
fn a_verified_story_is_taken_back_by_rejecting_it_only() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.finish(id);
    let (verifier, ann) = (world.verifier.clone(), world.ann.clone());
    let refusal = world.refused(&verifier, |draft| work::force_unclaim(draft, id));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("invalid_transition")));
    assert!(refusal.remedy.is_some_and(|remedy| remedy.contains("reject")));
    assert_eq!(world.refused(&ann, |draft| work::unclaim(draft, id)).kind, Kind::Conflict);
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Verified));
    let bulk = vec![JudgeOne { story: id, ask: Reject { reason: "broke".to_owned(), ..Reject::default() } }];
    assert!(world.must(&verifier, |draft| work::bulk_reject(draft, bulk))[0].1.is_ok());
    assert_eq!(world.standing(id), (AgentStatus::Pending, VerifiedStatus::Rejected));
    world.finish(id);
    // What was brought as verified is no dead end either.
    let told = world.story("1.2");
    let user = world.user.clone();
    world.must(&user, |draft| work::backfill(draft, told, before()));
    assert_eq!(world.refused(&verifier, |draft| work::force_unclaim(draft, told)).kind, Kind::Conflict);
    world.must(&verifier, |d| work::reject(d, told, Reject { reason: "no".to_owned(), ..Reject::default() }));
    world.finish(told);
    world.hold();
}

#[test]
fn a_journal_of_old_with_a_pending_verified_story_has_a_way_out() {
    for reset in [true, false] {
        let mut world = World::new();
        world.set("auto_reset_on_rejection", reset);
        let id = world.story("1.1");
        world.finish(id);
        let verifier = world.verifier.clone();
        let from = Standing { agent: AgentStatus::ReportedDone, verified: VerifiedStatus::Verified };
        let to = Standing { agent: AgentStatus::Pending, ..from };
        let change = work::Change::Moved { story: id, from, to, how: How::ForceUnclaimed };
        let by = verifier.actor();
        let old = Entry { at: world.now, by, project: Some(world.project), change: Change::Work(change) };
        world.ledger.evolve(&old);
        let reject = Reject { reason: "left behind".to_owned(), ..Reject::default() };
        world.must(&verifier, |draft| work::reject(draft, id, reject));
        assert_eq!(world.standing(id), (AgentStatus::Pending, VerifiedStatus::Rejected));
        assert_eq!(world.ready(), ["1.1"]);
        world.finish(id);
    }
}

#[test]
fn a_stranger_with_a_made_up_token_holds_nothing_up() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, bob, reporter) = (world.ann.clone(), world.bob.clone(), world.reporter.clone());
    world.start(&ann, id);
    let made_up = || Some(Presented { token: TokenId::default(), signature: Signature::Fails });
    let forged = || ReportDone { cap: made_up(), ..ReportDone::default() };
    let refusal = world.caught(&bob, |draft| work::report(draft, id, forged()));
    assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("cap_rejected")));
    assert!(!world.track(id).is_quarantined());
    assert_eq!(open_violation(&world).holds, Holds::Nothing);
    // Again and again adds nothing.
    let again = world.refused(&bob, |draft| work::report(draft, id, forged()));
    assert_eq!(again.context, refusal.context, "the same violation is named");
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    let review = CompleteReview { cap: made_up(), ..a_review() };
    let stranger = world.agent("stranger", KeyRole::Orchestrator);
    world.caught(&stranger, |draft| work::complete_review(draft, id, review));
    world.review(id);
    let judge = Judge { cap: made_up(), ..Judge::default() };
    world.refused(&stranger, |draft| work::verify(draft, id, judge.clone()));
    assert!(!world.track(id).is_quarantined());
    world.verify(id);
    world.hold();
}

#[test]
fn a_party_to_the_story_with_a_refused_token_holds_it() {
    let mut world = World::new();
    let id: StoryId = world.story("1.1");
    let (ann, user, bob) = (world.ann.clone(), world.user.clone(), world.bob.clone());
    world.contract(&ann, id);
    world.must(&ann, |draft| work::claim(draft, id));
    let made_up = Some(Presented { token: TokenId::default(), signature: Signature::Holds });
    world.caught(&ann, |draft| work::start(draft, id, made_up));
    assert_eq!(open_violation(&world).holds, Holds::Story);
    assert!(world.track(id).is_quarantined());
    let refusal = world.refused(&bob, |draft| work::start(draft, id, None));
    assert_eq!(refusal.code, Some("story_quarantined"));
    world.must(&user, |draft| custody::release(draft, id, "a mistake".to_owned()));
    world.must(&ann, |draft| work::start(draft, id, None));
    world.hold();
}
