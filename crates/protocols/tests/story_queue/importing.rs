//! Section 7: whole plans, fresh and merged; complaints by place, cycles by number, and no way to launder a status.

use crate::world::{World, a_review, criterion};
use windlass_protocols::protocol::story_queue::plan::{
    self, CentiHours, Import, ImportEdge, ImportEpic, ImportMode, ImportStory, InitialStatus,
};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::work::{self, AgentStatus, Judge, VerifiedStatus};

fn story(number: &str) -> ImportStory {
    ImportStory {
        number: number.parse().expect("a number"),
        title: Some(format!("Story {number}")),
        description: None,
        criteria: Some(vec![criterion("AC-1", "it works")]),
        estimated_hours: Some(CentiHours(250)),
        metadata: None,
        initial: InitialStatus::Pending,
    }
}

fn epic(number: u32, stories: &[&str]) -> ImportEpic {
    ImportEpic {
        number,
        title: Some(format!("Epic {number}")),
        stories: stories.iter().map(|number| story(number)).collect(),
        ..ImportEpic::default()
    }
}

fn payload(world: &World, epics: Vec<ImportEpic>) -> Import {
    Import {
        project: world.project,
        mode: ImportMode::Fresh,
        epics,
        story_dependencies: Vec::new(),
        epic_dependencies: Vec::new(),
        reason: None,
    }
}

fn edge(from: &str, on: &str) -> ImportEdge<plan::StoryNumber> {
    ImportEdge { from: from.parse().expect("a number"), on: on.parse().expect("a number") }
}

#[test]
fn a_fresh_import_brings_everything_or_nothing() {
    let mut world = World::new();
    let orchestrator = world.reporter.clone();
    let mut ask = payload(&world, vec![epic(1, &["1.1", "1.2"]), epic(2, &["2.1"])]);
    ask.story_dependencies = vec![edge("1.2", "1.1")];
    ask.epic_dependencies = vec![ImportEdge { from: 2, on: 1 }];
    let report = world.must(&orchestrator, |draft| plan::import(draft, ask.clone()));
    let counts = report.counts;
    assert_eq!((counts.epics_created, counts.stories_created, counts.dependencies_created), (2, 3, 2));
    assert_eq!(world.ready(), ["1.1"]);
    assert_eq!(world.blocked(), ["1.2", "2.1"]);
    assert_eq!(world.ledger.work.progress(world.project).hours_total, 750);
    let refusal = world.refused(&orchestrator, |draft| plan::import(draft, ask));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("import_duplicates")));
    assert!(refusal.context.contains(&("duplicate_story_numbers", "1.1,1.2,2.1".to_owned())));
    let agent = world.ann.clone();
    let ask = payload(&world, Vec::new());
    assert_eq!(world.refused(&agent, |draft| plan::import(draft, ask)).kind, Kind::NotAllowed);
    world.hold();
}

#[test]
fn complaints_name_the_place_all_at_once() {
    let mut world = World::new();
    let user = world.user.clone();
    let mut ask = payload(&world, vec![epic(1, &["1.1", "1.2", "1.1"]), epic(1, &["2.1"]), epic(0, &[])]);
    ask.epics[0].stories[1].title = None;
    ask.epics[1].stories[0].criteria = Some(vec![criterion("AC-1", " ")]);
    let refusal = world.refused(&user, |draft| plan::import(draft, ask));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("import_invalid")));
    let places: Vec<&str> = refusal.details.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(
        places,
        [
            "epics[0].stories[1].title",
            "epics[0].stories[2].number",
            "epics[1].number",
            "epics[1].stories[0].acceptance_criteria[0].criterion",
            "epics[2].number",
        ]
    );
    assert!(refusal.message.starts_with("epics[0].stories[1].title: "), "{}", refusal.message);
    let mut ask = payload(&world, vec![epic(1, &["1.1"])]);
    ask.story_dependencies = vec![edge("1.1", "9.9")];
    let refusal = world.refused(&user, |draft| plan::import(draft, ask));
    assert_eq!(
        refusal.details[0],
        ("story_dependencies[0].depends_on".to_owned(), "there is no story 9.9".to_owned())
    );
}

#[test]
fn cycles_are_told_by_the_numbers_in_the_file() {
    let mut world = World::new();
    let user = world.user.clone();
    let mut ask = payload(&world, vec![epic(1, &["1.1", "1.2", "1.3"]), epic(2, &["2.1"])]);
    ask.story_dependencies = vec![edge("1.1", "1.2"), edge("1.2", "1.3"), edge("1.3", "1.1")];
    let refusal = world.refused(&user, |draft| plan::import(draft, ask.clone()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("dependency_cycle")));
    assert!(refusal.message.contains("1.1 → 1.2 → 1.3 → 1.1"), "{}", refusal.message);
    ask.story_dependencies = Vec::new();
    ask.epic_dependencies = vec![ImportEdge { from: 1, on: 2 }, ImportEdge { from: 2, on: 1 }];
    let refusal = world.refused(&user, |draft| plan::import(draft, ask.clone()));
    assert_eq!(refusal.code, Some("dependency_cycle"));
    ask.epic_dependencies.truncate(1);
    ask.story_dependencies = vec![edge("2.1", "1.1")];
    let refusal = world.refused(&user, |draft| plan::import(draft, ask));
    assert_eq!(refusal.code, Some("cross_level_deadlock"));
}

#[test]
fn a_merge_checks_cycles_of_epics_against_what_is_there() {
    let mut world = World::new();
    world.story("1.1");
    world.story("2.1");
    world.depend_epics(2, 1).unwrap();
    let user = world.user.clone();
    let mut ask = Import { mode: ImportMode::Merge, ..payload(&world, Vec::new()) };
    ask.epic_dependencies = vec![ImportEdge { from: 1, on: 2 }];
    assert_eq!(world.refused(&user, |d| plan::import(d, ask)).code, Some("dependency_cycle"));
}

#[test]
fn a_merge_updates_what_is_said_and_moves_nothing() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.story("1.9");
    world.finish(id);
    let orchestrator = world.reporter.clone();
    let mut ask = Import { mode: ImportMode::Merge, ..payload(&world, vec![epic(1, &["1.1", "1.2"])]) };
    ask.epics[0].title = None;
    ask.epics[0].phase = Some("core".to_owned());
    let mut reworded = ask.clone();
    reworded.epics[0].stories[0].description = Some("more words".to_owned());
    let refusal = world.refused(&orchestrator, |draft| plan::import(draft, reworded));
    assert_eq!(refusal.code, Some("import_invalid"), "a verdict is of the words it looked at");
    ask.epics[0].stories[0].metadata =
        Some(windlass_protocols::protocol::story_queue::vocabulary::JsonText("{\"more\":1}".to_owned()));
    ask.epics[0].stories[1].initial = InitialStatus::ReportedDone;
    ask.story_dependencies = vec![edge("1.2", "1.1")];
    let report = world.must(&orchestrator, |draft| plan::import(draft, ask.clone()));
    let counts = report.counts;
    assert_eq!((counts.epics_updated, counts.stories_updated, counts.stories_created), (1, 1, 1));
    let orphans: Vec<String> = report.orphans.iter().map(|orphan| orphan.number.to_string()).collect();
    assert_eq!(orphans, ["1.9"]);
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Verified));
    let new = world.story("1.2");
    assert_eq!(world.standing(new).0, AgentStatus::Pending, "a merge gives no status");
    assert_eq!(world.ledger.plan.epic_by_number(world.project, 1).unwrap().title, "Epic 1");
    let again = world.must(&orchestrator, |draft| plan::import(draft, ask));
    assert_eq!((again.counts.stories_updated, again.counts.dependencies_existing), (0, 1));
    world.hold();
}

#[test]
fn a_merge_rewords_by_the_rule_of_a_single_edit() {
    let mut world = World::new();
    let (contracted, working) = (world.story("1.1"), world.story("1.2"));
    let ann = world.ann.clone();
    world.contract(&ann, contracted);
    let orchestrator = world.reporter.clone();
    let merge = |world: &World, number: &str| {
        let mut ask = Import { mode: ImportMode::Merge, ..payload(world, vec![epic(1, &[number])]) };
        ask.epics[0].stories[0].criteria = Some(vec![criterion("AC-1", "much less")]);
        ask
    };
    let ask = merge(&world, "1.1");
    world.must(&orchestrator, |draft| plan::import(draft, ask));
    assert_eq!(world.standing(contracted).0, AgentStatus::Pending, "the contract is void");
    world.start(&ann, working);
    let ask = merge(&world, "1.2");
    let refusal = world.refused(&orchestrator, |draft| plan::import(draft, ask));
    assert_eq!(refusal.details[0].0, "epics[0].stories[0]");
    world.hold();
}

#[test]
fn trap_10_one_orchestrator_cannot_import_review_and_verify_alone() {
    for distinct in [true, false] {
        let mut world = World::new();
        world.set("distinct_reporter_reviewer_verifier", distinct);
        let (importer, reviewer, verifier) =
            (world.reporter.clone(), world.reviewer.clone(), world.verifier.clone());
        let mut ask = payload(&world, vec![epic(1, &["1.1"])]);
        ask.epics[0].stories[0].initial = InitialStatus::ReportedDone;
        world.must(&importer, |draft| plan::import(draft, ask));
        let id = world.story("1.1");
        assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Unverified));
        assert!(world.track(id).imported);
        let refusal = world.refused(&importer, |draft| work::complete_review(draft, id, a_review()));
        assert_eq!(refusal.code, Some("shared_principal_blocked"));
        world.must(&reviewer, |draft| work::complete_review(draft, id, a_review()));
        let refusal = world.refused(&importer, |draft| work::verify(draft, id, Judge::default()));
        assert_eq!(refusal.code, Some("shared_principal_blocked"));
        world.must(&verifier, |draft| work::verify(draft, id, Judge::default()));
        world.hold();
    }
}

#[test]
fn verified_stories_come_only_from_people_with_a_reason() {
    let mut world = World::new();
    let (orchestrator, user) = (world.reporter.clone(), world.user.clone());
    let mut ask = payload(&world, vec![epic(1, &["1.1"])]);
    ask.epics[0].stories[0].initial = InitialStatus::Verified;
    ask.reason = Some("moved from the old tracker".to_owned());
    let refusal = world.refused(&orchestrator, |draft| plan::import(draft, ask.clone()));
    assert_eq!(refusal.details[0].0, "epics[0].stories[0].initial_verified_status");
    let silent = Import { reason: None, ..ask.clone() };
    assert_eq!(world.refused(&user, |draft| plan::import(draft, silent)).kind, Kind::Invalid);
    world.must(&user, |draft| plan::import(draft, ask));
    let id = world.story("1.1");
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Verified));
    world.hold();
}

#[test]
fn ten_thousand_stories_come_in_at_once_and_are_ready_by_number() {
    let mut world = World::new();
    let user = world.user.clone();
    let epics = (1..=100_u32).map(|major| {
        let stories: Vec<String> = (1..=100).map(|minor| format!("{major}.{minor}")).collect();
        epic(major, &stories.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let mut ask = payload(&world, epics.collect());
    ask.story_dependencies = (1..=100)
        .flat_map(|major| (2..=100).map(move |minor| (major, minor)))
        .map(|(major, minor)| edge(&format!("{major}.{minor}"), &format!("{major}.{}", minor - 1)))
        .collect();
    let report = world.must(&user, |draft| plan::import(draft, ask));
    assert_eq!((report.counts.stories_created, report.counts.dependencies_created), (10_000, 9_900));
    assert_eq!(world.ready().len(), 100);
    assert_eq!(world.blocked().len(), 9_900);
    assert_eq!(world.ready()[..3], ["1.1", "2.1", "3.1"]);
}
