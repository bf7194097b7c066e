//! Section 6: edges, cycles, deadlocks across levels, and what is ready or blocked because of them.

use crate::world::World;
use windlass_protocols::protocol::story_queue::plan::{self, Edge, StoryNumber};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::work::{self, AgentStatus, Reject};

#[test]
fn numbers_are_read_as_people_write_them() {
    let read = |text: &str| text.parse::<StoryNumber>().map(|number| number.to_string());
    for (text, number) in
        [("US-3.1", "3.1"), ("us-3.1", "3.1"), ("3.1", "3.1"), ("3", "3"), (" 3.10 ", "3.10")]
    {
        assert_eq!(read(text), Ok(number.to_owned()));
    }
    for text in ["", "3.", ".1", "3.1.2", "a", "3.1a", "10000", "3.10000", "-1", "US-", "+3"] {
        assert!(read(text).is_err(), "{text:?}");
    }
    let mut numbers: Vec<StoryNumber> =
        ["4", "3.1000", "3.10", "3.2", "3"].iter().map(|text| text.parse().unwrap()).collect();
    numbers.sort();
    let sorted: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    assert_eq!(sorted, ["3", "3.2", "3.10", "3.1000", "4"]);
    assert_eq!(numbers[1].sort_key(), 30_020);
}

#[test]
fn a_story_is_ready_when_everything_before_it_is_verified() {
    let mut world = World::new();
    world.depend("2.1", "1.1").unwrap();
    world.depend("2.1", "1.2").unwrap();
    assert_eq!(world.ready(), ["1.1", "1.2"]);
    assert_eq!(world.blocked(), ["2.1"]);
    let (first, second, third) = (world.story("1.1"), world.story("1.2"), world.story("2.1"));
    world.finish(first);
    assert_eq!(world.blocked(), ["2.1"]);
    let ann = world.ann.clone();
    world.contract(&ann, third);
    let refusal = world.refused(&ann, |draft| work::claim(draft, third));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("dependencies_not_met")));
    assert!(refusal.message.contains("1.2") && !refusal.message.contains("1.1"));
    world.finish(second);
    world.must(&ann, |draft| work::claim(draft, third));
    assert!(world.blocked().is_empty());
    world.hold();
}

#[test]
fn a_story_waits_for_every_story_of_a_prerequisite_epic() {
    let mut world = World::new();
    let (first, second) = (world.story("1.1"), world.story("1.2"));
    world.story("2.1");
    world.depend_epics(2, 1).unwrap();
    world.depend_epics(2, 3).unwrap();
    assert_eq!(world.blocked(), ["2.1"], "an empty epic counts as satisfied, an unfinished one does not");
    world.finish(first);
    world.finish(second);
    assert_eq!(world.ready(), ["2.1"]);
    world.story("1.3");
    assert_eq!(world.blocked(), ["2.1"], "a new story reopens its epic");
    let story = world.story("2.1");
    let story = world.ledger.plan.story(story).unwrap().clone();
    let blockers = world.ledger.work.blockers(&world.ledger.plan, &story);
    let late = world.story("1.3");
    assert_eq!(blockers.iter().map(|blocker| blocker.story).collect::<Vec<_>>(), [late]);
    let (user, epic) = (world.user.clone(), world.epic(1));
    world.must(&user, |draft| plan::delete_story(draft, late));
    assert_eq!(world.ready(), ["2.1"]);
    world.must(&user, |draft| plan::delete_epic(draft, epic));
    assert_eq!(world.ready(), ["2.1"]);
    world.hold();
}

#[test]
fn a_verified_story_is_not_blocked_when_its_ground_is_rejected_later() {
    let mut world = World::new();
    world.depend("1.2", "1.1").unwrap();
    world.depend("1.3", "1.1").unwrap();
    let (first, second) = (world.story("1.1"), world.story("1.2"));
    world.finish(first);
    world.finish(second);
    let verifier = world.verifier.clone();
    let ask = Reject { reason: "broke".to_owned(), ..Reject::default() };
    world.must(&verifier, |draft| work::reject(draft, first, ask));
    assert_eq!(world.blocked(), ["1.3"]);
    assert_eq!(world.ready(), ["1.1"]);
    world.hold();
}

#[test]
fn edges_stay_without_cycles_and_are_told_by_number() {
    let mut world = World::new();
    world.depend("1.2", "1.1").unwrap();
    world.depend("1.3", "1.2").unwrap();
    let refusal = world.depend("1.1", "1.3").unwrap_err();
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("dependency_cycle")));
    assert!(refusal.message.contains("1.1 → 1.3 → 1.2 → 1.1"), "{}", refusal.message);
    assert_eq!(world.depend("1.1", "1.1").unwrap_err().code, Some("self_dependency"));
    assert_eq!(world.depend("1.2", "1.1").unwrap_err().kind, Kind::Conflict);
    world.depend_epics(3, 2).unwrap();
    world.depend_epics(4, 3).unwrap();
    let refusal = world.depend_epics(2, 4).unwrap_err();
    assert!(refusal.message.contains("2 → 4 → 3 → 2"), "{}", refusal.message);
}

#[test]
fn the_two_levels_never_wait_for_each_other() {
    let mut world = World::new();
    world.depend("1.1", "2.1").unwrap();
    assert_eq!(world.depend_epics(2, 1).unwrap_err().code, Some("cross_level_deadlock"));
    world.depend_epics(3, 4).unwrap();
    assert_eq!(world.depend("4.1", "3.1").unwrap_err().code, Some("cross_level_deadlock"));
    world.depend("3.1", "4.1").unwrap();
    world.depend_epics(5, 3).unwrap();
    assert_eq!(world.depend("4.1", "5.1").unwrap_err().code, Some("cross_level_deadlock"), "through epic 3");
}

#[test]
fn an_edge_taken_away_frees_the_story() {
    let mut world = World::new();
    world.depend("1.2", "1.1").unwrap();
    let edge = Edge::Story { from: world.story("1.2"), on: world.story("1.1") };
    let id = world.ledger.plan.dependency_of(edge).unwrap().id;
    let (user, orchestrator) = (world.user.clone(), world.reporter.clone());
    assert_eq!(world.refused(&orchestrator, |draft| plan::undepend(draft, id)).kind, Kind::NotAllowed);
    world.must(&user, |draft| plan::undepend(draft, id));
    assert_eq!(world.ready(), ["1.1", "1.2"]);
    world.depend("1.2", "1.1").unwrap();
    let ground = world.story("1.1");
    world.must(&user, |draft| plan::delete_story(draft, ground));
    assert_eq!(world.ready(), ["1.2"], "who waited for a deleted story waits no longer");
    world.hold();
}

#[test]
fn stories_without_role_or_sense_are_not_taken() {
    let mut world = World::new();
    let epic = world.epic(1);
    let (ann, user) = (world.ann.clone(), world.user.clone());
    let ask = |title: &str| plan::AddStory {
        epic,
        number: "1.1".parse().unwrap(),
        title: title.to_owned(),
        description: None,
        criteria: vec![crate::world::criterion("AC-1", "a"), crate::world::criterion("AC-1", "b")],
        estimated_hours: None,
        metadata: windlass_protocols::protocol::story_queue::vocabulary::JsonText::empty_object(),
    };
    assert_eq!(world.refused(&ann, |draft| plan::add_story(draft, ask("T"))).kind, Kind::NotAllowed);
    assert_eq!(world.refused(&user, |draft| plan::add_story(draft, ask(""))).details[0].0, "title");
    let long = "x".repeat(501);
    assert_eq!(world.refused(&user, |draft| plan::add_story(draft, ask(&long))).details[0].0, "title");
    let twice = world.refused(&user, |draft| plan::add_story(draft, ask("T")));
    assert_eq!(twice.details[0].0, "acceptance_criteria[1].id");
    let id = world.story("1.1");
    let plain = plan::AddStory { criteria: Vec::new(), ..ask("T") };
    assert_eq!(world.refused(&user, |draft| plan::add_story(draft, plain)).kind, Kind::Conflict);
    assert_eq!(world.standing(id).0, AgentStatus::Pending);
    let orchestrator = world.reporter.clone();
    assert_eq!(world.refused(&orchestrator, |draft| plan::delete_story(draft, id)).kind, Kind::NotAllowed);
}
