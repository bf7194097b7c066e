//! Section 8 and idempotency: notes with versions, and answers that are given once and repeated.

use crate::world::World;
use windlass_protocols::protocol::story_queue::answers;
use windlass_protocols::protocol::story_queue::checkpoints::{self, Expects, Save};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, Micros, ProjectId};

fn note(world: &World, expects: Expects) -> Save {
    Save { project: world.project, key: None, data: JsonText(r#"{"phase":"build"}"#.to_owned()), expects }
}

#[test]
fn a_note_is_saved_only_on_the_version_that_was_read() {
    let mut world = World::new();
    let by = world.reporter.clone();
    let early = note(&world, Expects::Version(3));
    assert_eq!(world.refused(&by, |draft| checkpoints::save(draft, early)).kind, Kind::Conflict);
    let first = note(&world, Expects::Nothing);
    assert_eq!(world.must(&by, |draft| checkpoints::save(draft, first)).version, 1);
    let blind = note(&world, Expects::Nothing);
    let refusal = world.refused(&by, |draft| checkpoints::save(draft, blind));
    assert_eq!(refusal.code, Some("version_conflict"));
    assert!(refusal.context.contains(&("current_version", "1".to_owned())));
    let zero = note(&world, Expects::Version(0));
    assert_eq!(world.refused(&by, |draft| checkpoints::save(draft, zero)).kind, Kind::Conflict);
    let second = note(&world, Expects::Version(1));
    assert_eq!(world.must(&by, |draft| checkpoints::save(draft, second)).version, 2);
    let automatic = note(&world, Expects::Anything);
    assert_eq!(world.must(&by, |draft| checkpoints::save(draft, automatic)).version, 3);
    let kept = world.ledger.checkpoints.get(world.project, checkpoints::MAIN).unwrap();
    assert_eq!(kept.history.iter().map(|saved| saved.version).collect::<Vec<_>>(), [1, 2, 3]);
    world.hold();
}

#[test]
fn notes_are_objects_of_orchestrators_in_a_project() {
    let mut world = World::new();
    let (by, user, ann) = (world.reporter.clone(), world.user.clone(), world.ann.clone());
    for other in [&user, &ann] {
        let ask = note(&world, Expects::Nothing);
        assert_eq!(world.refused(other, |draft| checkpoints::save(draft, ask)).kind, Kind::NotAllowed);
    }
    let list = Save { data: JsonText("[1]".to_owned()), ..note(&world, Expects::Nothing) };
    assert_eq!(world.refused(&by, |draft| checkpoints::save(draft, list)).kind, Kind::Invalid);
    let nameless = Save { key: Some(String::new()), ..note(&world, Expects::Nothing) };
    assert_eq!(world.refused(&by, |draft| checkpoints::save(draft, nameless)).kind, Kind::Invalid);
    let nowhere = Save { project: ProjectId::default(), ..note(&world, Expects::Nothing) };
    assert_eq!(world.refused(&by, |draft| checkpoints::save(draft, nowhere)).kind, Kind::NotFound);
}

#[test]
fn an_answer_is_repeated_for_a_day_to_the_same_request_of_the_same_key() {
    let mut world = World::new();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.must(&ann, |draft| {
        answers::keep(draft, "k".to_owned(), "digest".to_owned(), 201, "{}".to_owned());
        Ok(())
    });
    let (kept, later) = (world.now, world.now.plus(answers::KEPT));
    let state = &world.ledger.answers;
    assert_eq!(state.recall(&ann, "k", &["digest"], kept).unwrap().unwrap().status, 201);
    assert_eq!(state.recall(&ann, "k", &["other"], kept).unwrap_err().code, Some("idempotency_conflict"));
    assert_eq!(state.recall(&bob, "k", &["other"], kept), Ok(None));
    assert_eq!(state.recall(&ann, "k", &["other"], later), Ok(None), "forgotten after a day");
    world.now = later.plus(Micros(1));
    world.must(&bob, |draft| {
        answers::keep(draft, "k".to_owned(), "new".to_owned(), 200, "{}".to_owned());
        Ok(())
    });
    assert_eq!(world.ledger.answers.recall(&ann, "k", &["digest"], kept), Ok(None), "and no longer held");
    world.hold();
}
