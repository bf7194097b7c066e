//! An approved roadmap update becomes exactly one commit of the base branch; used revisions stay as they are.

use super::texts;
use super::world::{STATE, UPDATE_WORKTREE, World};
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::round::sha256_hex;
use windlass_protocols::Digest;
use windlass_protocols::protocol::roadmap_rounds::plane::{Generation, UpdateTrigger};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, WorkKind};

const MARKDOWN: Generation = Generation::StructuredMarkdown;
const REQUEST: &str = "### Roadmap Update Required\n- Reason: too coarse\n";

/// An update that a planner asked for, authored and approved.
fn approved() -> World {
    let world = World::with_round(MARKDOWN);
    world.leave(&texts::request_path(), REQUEST);
    world.capture(WorkKind::Plan);
    world.open(World::update_opened(UpdateTrigger::PlannerRequest)).unwrap();
    write(&world, &texts::update_path(), &texts::update());
    write(&world, &format!("{}/roadmap.md", texts::dir("rev-002")), &texts::roadmap("in-progress"));
    write(&world, &format!("{}/verification.md", texts::dir("rev-002")), "## Baseline Checks\nnone\n");
    write(&world, STATE, "{\"roadmap_revision\": \"rev-002\"}\n");
    let captured = world.capture(WorkKind::AuthorUpdate);
    assert_eq!(captured.put_back, [STATE]);
    write(&world, &texts::update_review_path(), texts::UPDATE_REVIEW);
    write(&world, &texts::update_path(), "approved by its reviewer\n");
    let captured = world.capture(WorkKind::ReviewUpdate);
    assert_eq!(captured.put_back, [texts::update_path()]);
    world
}

fn write(world: &World, path: &str, text: &str) {
    world.write(&format!("{UPDATE_WORKTREE}/{path}"), text);
}

#[test]
fn the_next_revision_is_published_once_with_the_request_and_its_documents() {
    let world = approved();
    world.write(STATE, "{\"active_rounds\": [\"live\"]}\n");
    let prior = world.read(&format!("{}/roadmap.md", texts::dir("rev-001")));
    let asked = world.to_publish();
    let commit = world.publish(&asked).unwrap();
    assert_eq!((world.at("main"), world.at("main~1")), (commit.clone(), asked.base.clone()));
    assert_eq!(
        world.names_of("main"),
        [
            texts::update_review_path(),
            texts::update_path(),
            format!("{}/roadmap.md", texts::dir("rev-002")),
            format!("{}/verification.md", texts::dir("rev-002")),
            texts::request_path(),
            STATE.to_owned(),
        ]
    );
    assert_eq!(world.file_at("main", STATE) + "\n", texts::state("rev-002"), "and nothing live in it");
    assert_eq!(world.read(STATE), "{\"active_rounds\": [\"live\"]}\n");
    assert_eq!(world.read(&texts::request_path()), REQUEST);
    assert_eq!(world.read(&format!("{}/roadmap.md", texts::dir("rev-001"))), prior);
    assert_eq!(world.git(&["status", "--porcelain"]), format!(" M {STATE}"));
    let message = world.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("Revise the roadmap to rev-002: The milestone was too coarse."), "{message}");
    assert_eq!(world.publish(&asked).unwrap(), commit);
    let mut again = world.to_publish();
    again.decided_at.0 += 60_000;
    assert_eq!(world.publish(&again).unwrap(), commit);
    assert_eq!(world.at("main"), commit);
}

#[test]
fn a_base_that_moved_elsewhere_does_not_stand_in_the_way() {
    let world = approved();
    let stale = world.to_publish();
    world.write("src/other.rs", "other\n");
    world.commit_all("of somebody");
    assert_eq!(world.publish(&stale), Err(Held::BaseMoved));
    world.publish(&world.to_publish()).unwrap();
    assert_eq!(world.read("src/other.rs"), "other\n");
}

#[test]
fn a_base_that_moved_in_the_same_files_conflicts() {
    let world = approved();
    let history = names::history_file(texts::FAMILY);
    write(&world, &history, "# History\n\n## Completed Rounds\n\n- theirs\n");
    world.capture(WorkKind::AuthorUpdate);
    world.write(&history, "# History\n\n## Completed Rounds\n\n- ours\n");
    world.commit_all("of somebody");
    assert_eq!(world.publish(&world.to_publish()), Err(Held::Conflicts { paths: vec![history] }));
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_was_not_approved_or_is_no_roadmap_is_not_published() {
    let other = approved();
    let mut asked = other.to_publish();
    asked.approval = Digest::new(sha256_hex(b"another"));
    assert!(matches!(other.publish(&asked), Err(Held::Stale { .. })));
    let broken = approved();
    write(&broken, &format!("{}/roadmap.md", texts::dir("rev-002")), "# Nothing\n");
    broken.capture(WorkKind::AuthorUpdate);
    let Err(Held::Stale { why }) = broken.publish(&broken.to_publish()) else { panic!("it was merged") };
    assert!(why.contains("rev-002/roadmap.md"), "{why}");
    let code = approved();
    write(&code, "src/main.rs", "fn main() { smuggled(); }\n");
    code.git_in(UPDATE_WORKTREE, &["commit", "-q", "-a", "-m", "foreign"]);
    let Err(Held::Stale { why }) = code.publish(&code.to_publish()) else { panic!("it was merged") };
    assert!(why.contains("src/main.rs"), "{why}");
    let taken = approved();
    taken.write(&format!("{}/roadmap.md", texts::dir("rev-002")), "somebody's\n");
    taken.commit_all("of somebody");
    let Err(Held::Stale { why }) = taken.publish(&taken.to_publish()) else { panic!("it was merged") };
    assert!(why.contains("on the base branch already"), "{why}");
}

#[test]
fn a_committed_state_that_is_not_ours_to_write_is_left_as_it_is() {
    let world = approved();
    world.write(STATE, "{\"name\": \"another program\"}\n");
    world.commit_all("of somebody");
    world.publish(&world.to_publish()).unwrap();
    assert_eq!(world.file_at("main", STATE), "{\"name\": \"another program\"}");
}

#[test]
fn a_state_that_the_base_has_and_the_next_revision_does_not_goes_back_to_its_author() {
    let world = approved();
    let prior = format!("{}/roadmap.md", texts::dir("rev-001"));
    world.write(&prior, &world.read(&prior).replace("[pending]", "[done]"));
    world.commit_all("finished meanwhile");
    let Err(Held::Stale { why }) = world.publish(&world.to_publish()) else { panic!("it was published") };
    assert!(why.contains("m-1 is done, and the proposed revision calls it in-progress"), "{why}");
}
