//! What lists, views and outcomes say of a roadmap loop, word by word: nothing that only a programmer understands.

use super::plane::{STATE, Style, milestone};
use super::play::{Closeout, Decision, NOTES, Play, Work, shell, write, writes};
use super::scene::{Scene, outcome};
use serde_json::Value;
use windlass_test_support::{Signal, wait_until};

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

#[test]
fn a_run_without_a_cap_on_rounds_lists_none_and_artifacts_name_their_round() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    scene.completes(
        &Play::default().well(&scene.cut("round-001", "m-1")).well(&scene.cut("round-002", "m-2")),
    );
    let list = scene.world.windlass(&["ls", "--json"]).exits_with(0).json();
    assert_eq!((&list[0]["round"], &list[0]["rounds"]), (&2.into(), &Value::Null), "{list:#}");
    let view = scene.about("show", &["--json"]).exits_with(0).json();
    let mut rounds: Vec<u64> =
        view["artifacts"].as_array().unwrap().iter().map(|one| one["round"].as_u64().unwrap()).collect();
    rounds.dedup();
    assert_eq!(rounds, [1, 2], "{:#}", view["artifacts"]);
    let shown = scene.about("show", &[]).exits_with(0).stdout;
    assert!(!shown.contains("round 0"), "{shown}");

    let capped = Scene::small(Style::Records);
    let _ = capped.run(&Play::default().well(&capped.cut("round-001", "m-1")), &["--rounds", "3"]);
    let list = capped.world.windlass(&["ls", "--json"]).exits_with(0).json();
    assert_eq!(list[0]["rounds"], 3, "{list:#}");
}

#[test]
fn the_goal_is_the_outcome_and_not_its_label() {
    let scene = Scene::small(Style::Records);
    let roadmap = format!("{}/roadmap.md", scene.style.dir("rev-001"));
    let text = scene.repository.read(&roadmap);
    let (before, after) = text.split_once("## Goal\n").unwrap();
    let (_, after) = after.split_once("\n## ").unwrap();
    let goal = "## Goal\n\n- Outcome: Starts in 50 ms\n\n";
    scene.repository.write(&roadmap, &format!("{before}{goal}\n## {after}")).commit("a labelled goal");
    scene.completes(&Play::default().well(&scene.cut("round-001", "m-1")));
    let words = ["roadmap", "status", "--repo", scene.repository.text()];
    let shown = scene.world.windlass(&words).exits_with(0).stdout;
    assert!(shown.contains("Starts in 50 ms") && !shown.contains("Outcome:"), "{shown}");
}

#[test]
fn an_explanation_names_the_commits_of_new_revisions() {
    let scene = Scene::small(Style::Records);
    let milestones = [milestone("m-1")];
    let play = Play::default()
        .requests(&scene.cut("round-001", "m-1"))
        .revises(Style::Records, ("round-001", "planner-request"), (None, &milestones))
        .reviews_update("round-001", None, "APPROVED")
        .well(&scene.cut("round-002", "m-1").in_revision("rev-002"));
    let report = scene.completes(&play)["roadmap"].clone();
    let revision = report["revisions"][0]["commit"].as_str().unwrap().to_owned();
    let explained = scene.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains(&format!("read {revision} (rev-002)")), "{explained}");
}

#[test]
fn a_run_that_ctrl_c_interrupted_does_not_claim_to_need_a_human() {
    let scene = Scene::small(Style::Records);
    let here = shell("touch {script_dir}/here.txt");
    let hangs = [here, "{ hang = \"quiet\" }".to_owned()];
    let words = scene.words(&Play::default().step(Work("plan", 1, None), &hangs));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let running = scene.world.start_windlass(&words);
    wait_until("the planner is at work", || scene.world.shared("here.txt").exists().then_some(()));
    running.signal(Signal::INT);
    let ended = outcome(&running.wait().exits_with(13));
    assert_eq!((&ended["status"], &ended["final_verdict"]), (&"interrupted".into(), &"interrupted".into()));
}

#[test]
fn the_log_says_who_tries_again_in_plain_words() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let made =
        [write("src/round-001.txt", "m-1 works\n"), write(&cut.file("implementation-notes.md"), NOTES)];
    let play = Play::default()
        .plans(&cut)
        .step(Work("implement", 1, Some(1)), &["{ crash = \"KILL\" }".to_owned()])
        .step(Work("implement", 1, None), &made)
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    let log = scene.log();
    assert!(log.contains("by the same agent, attempt 2") && !log.contains("handle"), "{log}");
}

#[test]
fn a_state_that_cannot_be_read_is_kept_at_a_place_that_is_told() {
    let mut scene = Scene::small(Style::Markdown);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let cut = scene.cut("round-001", "m-1");
    let mut planned = writes(&cut.plan());
    planned.push(shell(&format!("cd {{workspace}}/../../.. && printf '{{' > {STATE}")));
    let output = scene.run(&Play::default().step(Work("plan", 1, None), &planned), &[]).exits_with(11);
    let ended = outcome(&output);
    let place = format!("{}/state.json.as-found", ended["run_dir"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "{");
    let now = ended["explanation"]["now"].as_str().unwrap();
    assert!(now.contains(&place), "{now}");
}
