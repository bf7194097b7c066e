//! What is left to people: a user's key that is bound to an agent is that agent's, whatever it may do otherwise. And who is who
//! can be read.

use crate::world::{World, a_review, caller, criterion};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::facts::Change;
use windlass_protocols::protocol::story_queue::invariants::{Broken, broken};
use windlass_protocols::protocol::story_queue::plan::{
    self, Import, ImportEpic, ImportMode, ImportStory, InitialStatus,
};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::tenancy::{
    self, AgentKind, MakeKey, RegisterAgent, RotateKey, SettingValue, TenantEdit,
};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyRole, ProjectId};
use windlass_protocols::protocol::story_queue::work::{
    self, BackfillStory, ContractEcho, How, ReportDone, RequestReview, VerifiedStatus, next_actions,
};

fn before() -> BackfillStory {
    BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() }
}

/// Ann works on 1.1, and has a user's key.
fn ann_as_a_user(world: &mut World) -> Caller {
    let ann = world.ann.clone();
    let story = world.story("1.1");
    world.start(&ann, story);
    world.user_key(ann.agent)
}

#[test]
fn whoever_implements_backfills_nothing_of_the_project_under_a_user_s_key_either() {
    let mut world = World::new();
    let shadow = ann_as_a_user(&mut world);
    let other = world.story("1.2");
    let refusal = world.refused(&shadow, |draft| work::backfill(draft, other, before()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("self_backfill_blocked")));
    let user = world.user.clone();
    world.must(&user, |draft| work::backfill(draft, other, before()));
    assert_eq!(broken(&world.entries), None);
    for entry in &mut world.entries {
        if matches!(&entry.change, Change::Work(work::Change::Moved { how: How::Backfilled { .. }, .. })) {
            entry.by = shadow.actor();
        }
    }
    assert_eq!(broken(&world.entries), Some(Broken::ClosedByAMaker(other)));
}

fn brought(project: ProjectId, initial: InitialStatus) -> Import {
    let story = ImportStory {
        number: "9.1".parse().expect("a number of a story"),
        title: Some("Brought".to_owned()),
        description: None,
        criteria: Some(vec![criterion("AC-1", "it works")]),
        estimated_hours: None,
        metadata: None,
        initial,
    };
    let (number, title) = (9, Some("Epic".to_owned()));
    Import {
        project,
        mode: ImportMode::Fresh,
        epics: vec![ImportEpic { number, title, stories: vec![story], ..ImportEpic::default() }],
        story_dependencies: Vec::new(),
        epic_dependencies: Vec::new(),
        reason: Some("moved".to_owned()),
    }
}

#[test]
fn whoever_implements_brings_nothing_in_as_verified() {
    let mut world = World::new();
    let shadow = ann_as_a_user(&mut world);
    let ask = brought(world.project, InitialStatus::Verified);
    let refusal = world.refused(&shadow, |draft| plan::import(draft, ask));
    assert_eq!(refusal.code, Some("self_backfill_blocked"));
    let (user, ask) = (world.user.clone(), brought(world.project, InitialStatus::Verified));
    world.must(&user, |draft| plan::import(draft, ask));
    let story = world.story("9.1");
    assert_eq!(world.standing(story).1, VerifiedStatus::Verified);
}

#[test]
fn keys_are_made_by_people_and_an_agent_replaces_only_its_own() {
    let mut world = World::new();
    let shadow = ann_as_a_user(&mut world);
    for role in [KeyRole::User, KeyRole::Orchestrator, KeyRole::Agent] {
        let (name, key) = ("a stranger".to_owned(), world.secret());
        let make = MakeKey { name, role, agent: None, expires: None, key };
        let refusal = world.refused(&shadow, |draft| tenancy::make_key(draft, make));
        assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("person_required")), "{role:?}");
    }
    let with = world.secret();
    let stolen = RotateKey { key: world.verifier.key, grace_period_hours: None, with };
    let refusal = world.refused(&shadow, |draft| tenancy::rotate_key(draft, stolen));
    assert_eq!(refusal.code, Some("person_required"));
    let with = world.secret();
    let own = RotateKey { key: shadow.key, grace_period_hours: None, with };
    world.must(&shadow, |draft| tenancy::rotate_key(draft, own));
}

#[test]
fn settings_are_made_by_people_and_what_is_held_is_not_deleted_by_an_agent_s_key() {
    let mut world = World::new();
    let shadow = ann_as_a_user(&mut world);
    let setting = |value: bool| {
        let settings = [("distinct_reporter_reviewer_verifier".to_owned(), SettingValue::Flag(value))].into();
        TenantEdit { settings, ..TenantEdit::default() }
    };
    let refusal = world.refused(&shadow, |draft| tenancy::update(draft, setting(false)));
    assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("person_required")));
    assert!(world.ledger.tenancy.settings.distinct_reporter_reviewer_verifier);

    let (ann, held) = (world.ann.clone(), world.story("1.1"));
    world.caught(&ann, |draft| work::report(draft, held, ReportDone::default()));
    let refusal = world.refused(&shadow, |draft| plan::delete_story(draft, held));
    assert_eq!(refusal.code, Some("person_required"));
    let epic = world.epic(1);
    let refusal = world.refused(&shadow, |draft| plan::delete_epic(draft, epic));
    assert_eq!(refusal.code, Some("person_required"), "nor with its epic");
    let user = world.user.clone();
    world.must(&user, |draft| plan::delete_story(draft, held));
}

#[test]
fn whoever_implements_in_the_project_confirms_nothing_whose_maker_is_unknown() {
    let mut world = World::new();
    let shadow = ann_as_a_user(&mut world);
    let user = world.user.clone();
    let ask = brought(world.project, InitialStatus::ReportedDone);
    world.must(&user, |draft| plan::import(draft, ask));
    let story = world.story("9.1");
    let refusal = world.refused(&shadow, |draft| work::complete_review(draft, story, a_review()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("unknown_maker_blocked")));
    world.review(story);
    world.verify(story);
    assert_eq!(world.standing(story).1, VerifiedStatus::Verified, "others do");
}

#[test]
fn names_that_look_alike_are_one_name_and_none_is_unseen() {
    let mut world = World::new();
    let registering = |world: &mut World, name: &str| {
        let (user, key) = (world.user.clone(), world.secret());
        let make = MakeKey { name: "k".to_owned(), role: KeyRole::Agent, agent: None, expires: None, key };
        let key = world.must(&user, |draft| tenancy::make_key(draft, make));
        let asking = caller(KeyRole::Agent, key.id);
        let (name, kind) = (name.to_owned(), AgentKind::Implementer);
        let register = RegisterAgent { name, kind, metadata: JsonText::empty_object() };
        world.ask(&asking, |draft| tenancy::register_agent(draft, register))
    };
    assert_eq!(registering(&mut world, "  al ").unwrap().name, "al");
    for same in ["al", "AL", " Al", "al\t"] {
        assert_eq!(registering(&mut world, same).unwrap_err().kind, Kind::Conflict, "{same:?}");
    }
    let id = world.ann.agent.unwrap().to_string();
    for unseen in ["a\u{200b}l", "a\u{202e}l", "a\nl", "a\u{a0}l", "\u{feff}", &id, " "] {
        assert_eq!(registering(&mut world, unseen).unwrap_err().kind, Kind::Invalid, "{unseen:?}");
    }
    assert!(registering(&mut world, "Ål the second").is_ok());
    assert_eq!(world.ledger.tenancy.agent_by_name("AL ").unwrap().name, "al");
}

#[test]
fn nobody_unknown_contracts_a_story() {
    let mut world = World::new();
    let story = world.story("1.1");
    let nobody = Caller { agent: None, ..world.verifier.clone() };
    let refusal = world.refused(&nobody, |draft| work::contract(draft, story, ContractEcho::default()));
    assert_eq!(refusal.kind, Kind::Malformed);
}

#[test]
fn after_a_review_was_asked_for_somebody_else_reports() {
    let mut world = World::new();
    let (ann, story) = (world.ann.clone(), world.story("1.1"));
    world.start(&ann, story);
    let next = |world: &World| -> Vec<&str> {
        next_actions(story, world.track(story), KeyRole::Agent).iter().map(|next| next.action).collect()
    };
    assert_eq!(next(&world), ["request_review"]);
    let asked = RequestReview { draw: 1, lazy_score: None };
    world.must(&ann, |draft| work::request_review(draft, story, asked));
    assert_eq!(next(&world), ["report"]);
}
