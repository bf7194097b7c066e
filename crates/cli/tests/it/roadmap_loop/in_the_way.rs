//! Something of the user's stands where a round's worktree has to be: it is named, it stays, and the run goes on once it is
//! moved away.

use super::plane::{Style, round_record};
use super::play::{Closeout, Decision, Play};
use super::scene::{Scene, assert_because, outcome};
use serde_json::json;
use std::fs;

const BLOCKED: u8 = 11;
const WORKTREES: &str = "orchestrator/worktrees";
const ROUND: &str = "orchestrator/worktrees/round-001";

/// Blocked with what to do; then the file is moved away, and `resume` comes to the end.
#[track_caller]
fn waits_for_room(scene: &Scene, play: &Play, place: &str) {
    let output = scene.run(play, &[]).exits_with(BLOCKED);
    assert_because(&outcome(&output), &format!("{place} is in the way of the worktree {ROUND}"));
    assert_because(&outcome(&output), "move it somewhere else");
    assert_eq!(scene.repository.read(place), "mine\n", "it is nobody's but the user's");
    let waits = scene.world.windlass(&["inbox", "--json"]).exits_with(0).stdout;
    assert!(waits.contains(place) && waits.contains("windlass retry"), "{waits}");
    assert!(scene.works().is_empty(), "nobody was asked: {:?}", scene.works());

    fs::rename(scene.repository.path().join(place), scene.world.shared("mine")).unwrap();
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    assert_eq!(fs::read_to_string(scene.world.shared("mine")).unwrap(), "mine\n");
}

#[test]
fn a_file_where_the_folder_of_all_worktrees_has_to_be() {
    let scene = Scene::small(Style::Markdown);
    scene.repository.write(WORKTREES, "mine\n");
    waits_for_room(&scene, &Play::default().well(&scene.cut("round-001", "m-1")), WORKTREES);
}

#[test]
fn a_file_where_the_worktree_of_one_round_has_to_be() {
    let scene = Scene::small(Style::Records);
    scene.repository.write(ROUND, "mine\n");
    waits_for_room(&scene, &Play::default().well(&scene.cut("round-001", "m-1")), ROUND);
}

#[test]
fn a_file_where_the_worktree_of_a_live_round_was() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let branch = "orchestrator/round-001-session-loader";
    scene.repository.git(&["worktree", "add", "-q", "-b", branch, ROUND]);
    for (path, text) in cut.plan() {
        scene.repository.write(&format!("{ROUND}/{path}"), &text);
    }
    scene.repository.git(&["-C", ROUND, "add", "--all"]);
    scene.repository.git(&["-C", ROUND, "commit", "-q", "-m", "planned"]);
    scene.repository.git(&["worktree", "remove", "--force", ROUND]);
    scene.repository.write(ROUND, "mine\n");
    scene
        .edit_state(|state| state["active_rounds"] = json!([round_record("round-001", "implement", branch)]));
    let done = Decision::Approved(Closeout::Done { from: "pending" });
    waits_for_room(&scene, &Play::default().implements(&cut).reviews(&cut, None, &done), ROUND);
    assert_eq!(scene.works(), ["implement 1 1", "review 1 1"], "what was planned is not lost");
    assert_eq!(scene.state()["resume_errors"], json!({}), "and the blockage is left behind");
}
