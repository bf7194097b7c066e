//! Section 6: edges, cycles, deadlocks across levels, and what is ready or blocked because of them.

use crate::world::World;
use proptest::prelude::*;
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
fn nobody_waits_for_themselves_through_stories_and_epics_together() {
    let mut world = World::new();
    world.depend_epics(3, 1).unwrap();
    world.story("3.1");
    world.depend("1.1", "2.1").unwrap();
    let refusal = world.depend("2.1", "3.1").unwrap_err();
    assert_eq!(refusal.code, Some("cross_level_deadlock"));
    let told = "story 2.1 → story 3.1 → epic 3 → all of epic 1 → story 1.1 → story 2.1";
    assert!(refusal.message.contains(told), "{}", refusal.message);
    // The other way round: the epic comes last, and has no story yet.
    world.depend_epics(5, 4).unwrap();
    world.depend("4.1", "6.1").unwrap();
    assert_eq!(world.depend_epics(6, 5).unwrap_err().code, Some("cross_level_deadlock"));
}

/// From which to which, by place; and whether the ends are epics.
type Edges = Vec<(usize, usize, bool)>;

const EPICS: usize = 4;
const STORIES: usize = 10;

fn number(place: usize) -> String {
    format!("{}.{}", place % EPICS + 1, place / EPICS + 1)
}

fn epic_number(place: usize) -> u32 {
    u32::try_from(place % EPICS).expect("few epics") + 1
}

/// Whatever edges were taken, one ready story after the other closes, and none is left.
fn all_can_close(world: &mut World) {
    let by = world.reporter.clone();
    while let Some(next) = world.ready().first() {
        let id = world.story(next);
        let (reason, pr_number) = ("before".to_owned(), Some(7));
        let ask = work::BackfillStory { reason, pr_number, ..work::BackfillStory::default() };
        world.must(&by, |draft| work::backfill(draft, id, ask));
    }
    assert!(world.blocked().is_empty(), "these wait for ever: {:?}", world.blocked());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_edges_are_taken_every_story_can_be_begun_one_day(
        edges in proptest::collection::vec((0..STORIES, 0..STORIES, any::<bool>()), 0..24),
        later in 0..STORIES,
    ) {
        let mut world = World::new();
        for place in (0..STORIES).filter(|place| *place != later) {
            world.story(&number(place));
        }
        one_by_one(&mut world, &edges);
        world.story(&number(later));
        all_can_close(&mut world);
        at_once(&edges);
    }
}

fn one_by_one(world: &mut World, edges: &Edges) {
    for (from, on, epics) in edges {
        let _maybe = if *epics {
            world.depend_epics(epic_number(*from), epic_number(*on))
        } else {
            let there = |place: &usize| {
                world
                    .ledger
                    .plan
                    .story_by_number(world.project, number(*place).parse().expect("a number"))
                    .is_some()
            };
            if !there(from) || !there(on) {
                continue;
            }
            world.depend(&number(*from), &number(*on))
        };
    }
}

/// The same edges as a plan: it comes in whole and can be finished, or not at all.
fn at_once(edges: &Edges) {
    let mut world = World::new();
    let story = |place: usize| plan::ImportStory {
        number: number(place).parse().expect("a number"),
        title: Some("S".to_owned()),
        description: None,
        criteria: None,
        estimated_hours: None,
        metadata: None,
        initial: plan::InitialStatus::Pending,
    };
    let epic = |epic: usize| plan::ImportEpic {
        number: epic_number(epic),
        title: Some("E".to_owned()),
        stories: (0..STORIES).filter(|place| place % EPICS == epic).map(story).collect(),
        ..plan::ImportEpic::default()
    };
    let of = |epics: bool| edges.iter().filter(move |edge| edge.2 == epics);
    let ask = plan::Import {
        project: world.project,
        mode: plan::ImportMode::Fresh,
        epics: (0..EPICS).map(epic).collect(),
        story_dependencies: of(false)
            .map(|(from, on, _)| plan::ImportEdge {
                from: number(*from).parse().expect("a number"),
                on: number(*on).parse().expect("a number"),
            })
            .collect(),
        epic_dependencies: of(true)
            .map(|(from, on, _)| plan::ImportEdge { from: epic_number(*from), on: epic_number(*on) })
            .collect(),
        reason: None,
    };
    let user = world.user.clone();
    if world.ask(&user, |draft| plan::import(draft, ask)).is_ok() {
        all_can_close(&mut world);
    }
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
