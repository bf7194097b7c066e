//! People edit contract, queue and caps: what takes away counts from the next iteration, what widens from the next word of
//! a person. And where the commits go.

use super::scene::{
    BUDGET, CONTRACT, FEATURES, Play, Scene, assert_because, budget, contract, item, outcome, queue, with,
};
use serde_json::json;

/// An action of an agent that writes into the user's checkout, as a person would while the loop runs.
fn meanwhile(scene: &mut Scene, path: &str, text: &str) -> String {
    scene.world.without_sandbox("the agent plays a person at work in the checkout");
    let place = scene.repository.path().join(path);
    format!("{{ write = \"{}\", text = '''\n{text}''' }}", place.display())
}

fn with_action(play: Play, round: u32, id: &str, action: &str) -> Play {
    let made = super::scene::makes(id);
    play.builder(round, &[&made[0], &made[1], action])
}

#[test]
fn a_lower_cap_written_while_it_runs_counts_from_the_next_iteration() {
    let mut scene = Scene::of(2, "L2");
    scene.repository.write(BUDGET, &budget([10, 15, 2, 60])).commit("caps");
    let lowers = meanwhile(&mut scene, BUDGET, &budget([1, 15, 2, 60]));
    let play = with_action(Play::default(), 1, "F001", &lowers)
        .passes(1, "F001")
        .builds(2, "F002")
        .passes(2, "F002");
    let ended = scene.ends(&play, 12);
    assert_eq!(ended["goal"]["outcome"], "HARD KILL (iterations)");
    assert_eq!(ended["goal"]["iterations"], json!({ "used": 1, "cap": 1 }));
}

#[test]
fn a_higher_cap_or_level_written_while_it_runs_waits_for_a_person() {
    let mut scene = Scene::of(2, "L2");
    scene.repository.write(BUDGET, &budget([1, 15, 2, 60])).commit("caps");
    let raises = meanwhile(&mut scene, BUDGET, &budget([5, 15, 2, 60]));
    let play = with_action(Play::default(), 1, "F001", &raises)
        .passes(1, "F001")
        .builds(2, "F002")
        .passes(2, "F002");
    let ended = scene.ends(&play, 12);
    assert_eq!(ended["goal"]["iterations"], json!({ "used": 1, "cap": 1 }));
    let notices = ended["goal"]["notices"].to_string();
    assert!(notices.contains("raised while the loop ran"), "{notices}");
    let _ = scene.about("resume", &[]).exits_with(0);
    assert_eq!(scene.status()["report"]["iterations"], json!({ "used": 2, "cap": 5 }));
}

#[test]
fn a_wider_scope_written_while_it_runs_is_not_worked_on() {
    let list = queue(&[item("F001"), item("F002")]);
    let mut scene = Scene::with_contract(&list, &contract("F001", "L2"));
    let widens = meanwhile(&mut scene, CONTRACT, &contract("F001, F002", "L3"));
    let play = with_action(Play::default(), 1, "F001", &widens).passes(1, "F001");
    let ended = scene.ends(&play, 0);
    assert_eq!(ended["goal"]["autonomy"], "L2");
    assert_eq!(scene.item_status("F002"), "not-started");
}

#[test]
fn a_narrower_scope_and_a_lower_level_written_while_it_runs_count_from_the_next_iteration() {
    let mut scene = Scene::of(3, "L2");
    let narrows = meanwhile(&mut scene, CONTRACT, &contract("F001, F002", "L1"));
    let play = with_action(Play::default(), 1, "F001", &narrows)
        .passes(1, "F001")
        .builds(2, "F002")
        .passes(2, "F002");
    let rested = scene.ends(&play, 11);
    assert_eq!(rested["goal"]["autonomy"], "L1");
    assert_eq!(rested["goal"]["proposed"]["item"], "F002", "the next commit waits for a yes");
    assert_eq!(rested["goal"]["items"][2]["in_scope"], false);
}

#[test]
fn priorities_changed_while_it_rests_choose_the_next_item() {
    let scene = Scene::of(3, "L1");
    let play = Play::well(&["F001", "F003"]);
    let rested = scene.ends(&play, 11);
    let tree = rested["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let _ = scene.about("approve", &["--tree", &tree]).exits_with(11);
    let sooner = [item("F001"), item("F002"), with(item("F003"), json!({ "priority": 0.5 }))];
    scene.repository.write(FEATURES, &queue(&sooner));
    let next = outcome(&scene.about("resume", &["--json"]).exits_with(11));
    assert_eq!(next["goal"]["proposed"]["item"], "F003", "{:#}", next["goal"]);
    assert_eq!(
        scene.item_status("F001"),
        "complete",
        "what is done stays done, whatever the edited file says"
    );
}

#[test]
fn an_item_added_while_it_rests_is_taken_up_when_the_scope_names_it() {
    let list = queue(&[item("F001")]);
    let scene = Scene::with_contract(&list, &contract("all F", "L1"));
    let rested = scene.ends(&Play::well(&["F001", "F002"]), 11);
    let tree = rested["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    scene.repository.write(FEATURES, &queue(&[item("F001"), item("F002")]));
    let next = outcome(&scene.about("approve", &["--tree", &tree, "--go-on", "--json"]).exits_with(11));
    assert_eq!(next["goal"]["proposed"]["item"], "F002", "{:#}", next["goal"]);
}

#[test]
fn a_queue_that_can_no_longer_be_read_hands_back_and_is_not_written() {
    let mut scene = Scene::of(2, "L2");
    let broken = "{\"features\": [\n  {\"id\": \"F001\",\n";
    let breaks = meanwhile(&mut scene, FEATURES, broken);
    let play = with_action(Play::default(), 1, "F001", &breaks)
        .passes(1, "F001")
        .builds(2, "F002")
        .passes(2, "F002");
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "docs/FEATURES.json");
    assert_eq!(scene.repository.read(FEATURES), broken);
    scene.repository.git(&["checkout", "-q", "--", FEATURES]);
    let _ = scene.about("retry", &[]).exits_with(0);
    assert_eq!(scene.subjects().iter().filter(|subject| subject.starts_with("feat")).count(), 2);
}

#[test]
fn in_place_the_checkout_follows_commit_by_commit() {
    let scene = Scene::of(2, "L2");
    let before = scene.repository.git(&["rev-parse", "HEAD"]);
    let _ = scene.run(&Play::well(&["F001", "F002"]), &["--in-place"]).exits_with(0);
    assert_eq!(scene.repository.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(scene.repository.git(&["rev-list", "--count", &format!("{before}..HEAD")]), "3");
    assert_eq!(scene.repository.read("f002.txt"), "F002 is done\n");
    assert_eq!(scene.repository.git(&["for-each-ref", "refs/heads/goal"]), "", "no branch of its own");
    scene.assert_sound();
}

#[test]
fn in_place_a_dirty_checkout_is_refused() {
    let scene = Scene::of(1, "L2");
    scene.repository.write("README.md", "mine\n");
    let refused = scene.run(&Play::well(&["F001"]), &["--in-place"]);
    assert_eq!(refused.code, Some(14), "{}{}", refused.stdout, refused.stderr);
    assert_eq!(scene.world.steps(), Vec::<String>::new());
    assert_eq!(scene.repository.read("README.md"), "mine\n");
}
