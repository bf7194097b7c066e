//! What the commands about runs say of a roadmap loop, and its caps.

use super::plane::{Style, milestone};
use super::play::{Decision, Play, Work, writes};
use super::scene::Scene;
use serde_json::json;

const STOPPED_AT_CAP: u8 = 12;

#[test]
fn once_merges_one_round_and_every_view_tells_the_same_story() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    let first = scene.cut("round-001", "m-1");
    let play = Play::default().well(&first).well(&scene.cut("round-002", "m-2"));
    let output = scene.run(&play, &["--once"]).exits_with(0);
    let outcome = super::scene::outcome(&output);
    assert_eq!(outcome["roadmap"]["outcome"], "rounds-used", "{outcome:#}");
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    scene.assert_sound();

    let words = ["roadmap", "status", "--repo", scene.repository.text(), "--json"];
    let report = scene.world.windlass(&words).exits_with(0).json()["report"].clone();
    assert_eq!(report["milestones"][0]["status"], "done");
    assert_eq!(report["milestones"][1]["status"], "pending");
    assert_eq!(report["merged"][0]["round"], "round-001");
    assert_eq!(report["merged"][0]["commit"], scene.repository.git(&["rev-parse", "main"]));
    assert_eq!((&report["rounds_opened"], &report["rounds"]), (&1.into(), &json!([])));
    let log = scene.log();
    for told in ["round-001", "merged"] {
        assert!(log.contains(told), "{told}: {log}");
    }
    let explained = scene.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains("the rounds this run was given are used"), "{explained}");
    let _ = scene.about("cost", &[]).exits_with(0);
    let shown =
        scene.world.windlass(&["roadmap", "status", "--repo", scene.repository.text()]).exits_with(0).stdout;
    assert!(shown.contains("m-2") && shown.contains("round-001"), "{shown}");

    // The next run goes on with what is left; --rounds says how many.
    let _ = scene.run(&play, &["--rounds", "1"]);
    scene.assert_complete();
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
}

#[test]
fn once_finishes_the_round_that_is_live_and_opens_no_other() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    let first = scene.cut("round-001", "m-1");
    let mut planned = writes(&first.plan());
    planned.push(
        "{ say = '{\"windlass_signal\":{\"kind\":\"usage\",\"input\":900,\"output\":200}}' }".to_owned(),
    );
    let play = Play::default().step(Work("plan", 1, None), &planned);
    let _ = scene.run(&play, &["--max-tokens", "1000"]).exits_with(STOPPED_AT_CAP);
    assert_eq!(scene.state()["active_rounds"][0]["round_id"], "round-001");
    let play = Play::default().well(&first).well(&scene.cut("round-002", "m-2"));
    let dry = scene.run(&play, &["--once", "--dry-run"]).exits_with(0).stdout;
    assert!(dry.contains("round-001") && !dry.contains("round-002"), "{dry}");
    let output = scene.run(&play, &["--once"]).exits_with(0);
    assert_eq!(super::scene::outcome(&output)["roadmap"]["outcome"], "rounds-used");
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    assert_eq!(scene.state()["active_rounds"], json!([]));
    assert!(!scene.works().iter().any(|work| work.starts_with("plan 2")), "{:?}", scene.works());
}

#[test]
fn a_dry_run_says_what_would_happen_and_writes_nothing() {
    let scene = Scene::small(Style::Markdown);
    let before = scene.repository.record();
    let play = Play::default().well(&scene.cut("round-001", "m-1"));
    let output = scene.run(&play, &["--dry-run"]).exits_with(0);
    assert!(output.stdout.contains("round-001") || output.stdout.contains("round"), "{}", output.stdout);
    before.assert_holds(&scene.repository);
    assert!(scene.works().is_empty());
}

#[test]
fn a_stop_in_the_middle_leaves_a_state_to_go_on_from() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let mut waits = vec![
        "{ run = [\"sh\", \"-c\", \"touch {script_dir}/here.txt\"] }".to_owned(),
        "{ hang = \"quiet\" }".to_owned(),
    ];
    waits.extend(writes(&cut.plan()));
    let hanging = Play::default().step(Work("plan", 1, None), &waits);
    let words = scene.words(&hanging);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let running = scene.world.start_windlass(&words);
    windlass_test_support::wait_until("the planner is at work", || {
        scene.world.shared("here.txt").exists().then_some(())
    });
    let _ = scene.about("stop", &["--reason", "lunch"]).exits_with(0);
    let output = running.wait();
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    let state = scene.state();
    assert_eq!(state["active_rounds"][0]["stage"], "plan", "{state:#}");
    scene.assert_sound();
    scene.completes(&Play::default().well(&cut));
}

#[test]
fn a_cap_in_the_middle_of_a_round_leaves_it_for_the_next_run() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let mut planned = writes(&cut.plan());
    planned.push(
        "{ say = '{\"windlass_signal\":{\"kind\":\"usage\",\"input\":900,\"output\":200}}' }".to_owned(),
    );
    let play = Play::default().step(Work("plan", 1, None), &planned).implements(&cut).reviews(
        &cut,
        None,
        &Decision::Approved(super::play::Closeout::Done { from: "pending" }),
    );
    let output = scene.run(&play, &["--max-tokens", "1000"]);
    assert_eq!(output.code, Some(i32::from(STOPPED_AT_CAP)), "{}{}", output.stdout, output.stderr);
    assert_eq!(scene.state()["active_rounds"][0]["round_id"], "round-001");
    scene.assert_sound();
    scene.completes(&play);
    assert_eq!(
        scene.works().iter().filter(|work| work.starts_with("plan")).count(),
        1,
        "{:?}",
        scene.works()
    );
}
