//! Agents that never end, flood, say nothing, or fail after having delivered.

use crate::scene::{Played, Scene, TASK};
use windlass_test_support::{Script, When, wait_until};

#[test]
fn an_agent_that_never_ends_is_ended_when_a_person_stops_the_run() {
    let scene = Scene::new();
    let script = Script::that_passes().judge(When::Round(1), &["{ hang = { every_ms = 20, text = 'hm' } }"]);
    let agent = scene.world.agent("script.toml", &script);
    let words = ["run", "x", "--id", TASK, "--repo", scene.repository.text(), "--json", "--agent", &agent];
    let background = scene.world.start_windlass(&words);
    wait_until("the judge to begin", || (scene.world.steps().len() == 2).then_some(()));
    let started: serde_json::Value =
        serde_json::from_str(background.stdout().lines().next().unwrap()).unwrap();
    let _ = scene.world.windlass(&["stop", started["run"].as_str().unwrap()]).exits_with(0);
    let played = Played::of(&background.wait()).exits_with(13);
    assert_eq!(played.summary()["final_verdict"], "needs-human");
    scene.world.assert_no_processes();
    scene.assert_nothing_landed();
}

#[test]
fn an_agent_that_floods_its_output_is_heard_all_the_same_and_its_last_words_are_kept() {
    let scene = Scene::new();
    let script = Script::that_passes().judge(
        When::Round(1),
        &["{ flood = { bytes = 30_000_000 } }", "{ say = 'the last words' }", "{ verdict = 'pass' }"],
    );
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert!(played.text(1, "judge.last.md").ends_with("the last words\n"));
    assert!(played.round(1).join("judge.last.md").metadata().unwrap().len() <= 64 * 1024);
}

#[test]
fn one_endless_line_is_no_harm() {
    let scene = Scene::new();
    let script = Script::that_passes().judge(
        When::Round(1),
        &["{ flood = { bytes = 5_000_000, newline = false } }", "{ verdict = 'pass' }"],
    );
    scene.play(&script, &[]).exits_with(0);
}

#[test]
fn agents_that_exit_with_0_and_leave_nothing_never_pass() {
    for role in ["doer", "judge", "auditor"] {
        let scene = Scene::new();
        let nothing: &[&str] = &[];
        let script = match role {
            "doer" => Script::that_passes().doer(When::Round(1), nothing),
            "judge" => Script::that_passes().judge(When::Round(1), nothing),
            _ => Script::that_passes().auditor(When::Round(1), nothing),
        };
        let played = scene.play(&script, &["--rounds", "1"]);
        assert!([10, 11].contains(&played.code), "{role}: {:#}", played.outcome);
        scene.assert_nothing_landed();
    }
}

#[test]
fn agents_that_fail_after_leaving_valid_artifacts_are_not_believed() {
    for role in ["doer", "judge", "auditor"] {
        let scene = Scene::new();
        let fail = "{ exit = 1 }";
        let script = match role {
            "doer" => Script::that_passes()
                .doer(When::Round(1), &["{ write = 'done.txt', text = 'x' }", "{ handoff = 'x' }", fail]),
            "judge" => Script::that_passes().judge(When::Round(1), &["{ verdict = 'pass' }", fail]),
            _ => Script::that_passes().auditor(When::Round(1), &["{ audit = 'pass' }", fail]),
        };
        let played = scene.play(&script, &["--rounds", "1"]);
        assert!([10, 11].contains(&played.code), "{role}: {:#}", played.outcome);
        assert_ne!(played.summary()["final_verdict"], "pass", "{role}");
        scene.assert_nothing_landed();
    }
}

#[test]
fn an_agent_that_cannot_be_started_asks_a_person_at_once() {
    let scene = Scene::new();
    let played = scene.run(&["--agent", &scene.world.agent_that_cannot_start()]).exits_with(11);
    assert_eq!(played.words(), "needs-human not-run not-run 0");
    assert!(played.explained().contains("could not be started"), "{}", played.explained());
}

#[test]
fn an_agent_that_never_reads_its_prompt_is_no_harm() {
    let scene = Scene::new();
    let text = Script::that_passes().text().replace("do = [", "stdin = 'ignore'\ndo = [");
    let agent = scene.world.agent_from_text("script.toml", &text);
    scene.run(&["--agent", &agent]).exits_with(0);
}
