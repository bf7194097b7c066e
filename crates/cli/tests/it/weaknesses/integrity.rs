//! W20 to W22: who may write what.

use super::{accepting, working_doer};
use crate::scene::Scene;
use windlass_test_support::{Script, When};

#[test]
fn w20_a_judge_that_writes_voids_its_verdict_whatever_its_rights() {
    let scene = Scene::without_sandbox("the fence would keep it from writing");
    let script = accepting(working_doer())
        .judge(When::Round(1), &["{ write = 'README.md', text = 'nicer' }", "{ verdict = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
    assert!(played.explained().contains("README.md"), "{}", played.explained());
    scene.assert_nothing_landed();
}

#[test]
fn w20_the_judge_s_tree_is_an_ordinary_one_in_which_honest_tests_can_run() {
    let scene = Scene::new();
    scene.repository.write(".gitignore", "cache/\n").commit("ignore caches");
    let script = accepting(working_doer())
        .judge(When::Round(1), &["{ write = 'cache/x', text = 'x' }", "{ verdict = 'pass' }"]);
    scene.play(&script, &["--check", "mkdir -p cache && touch cache/y"]).exits_with(0);
}

#[test]
fn w21_artifacts_are_sealed_when_their_step_ends() {
    let scene = Scene::without_sandbox("the fence would keep it from writing");
    let edit = "{ append = '{workspace}/../../rounds/round-1/handoff.json', text = ' ' }";
    let script = accepting(working_doer()).auditor(When::Round(1), &[edit, "{ audit = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
    for name in ["handoff.json", "patch.diff", "verdict.json"] {
        assert!(played.sealed().contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn w22_each_role_is_a_process_of_its_own_with_an_outbox_of_its_own() {
    let scene = Scene::new();
    let own = "{ run = ['sh', '-c', 'echo \"$WINDLASS_OUTBOX\" >> {script_dir}/outboxes'] }";
    let doer = Script::new().doer(When::Always, &[own, "{ write = 'a', text = 'a' }", "{ handoff = 'x' }"]);
    let judge = Script::new().judge(When::Always, &[own, "{ verdict = 'pass' }"]);
    let auditor = Script::new().auditor(When::Always, &[own, "{ audit = 'pass' }"]);
    let agents = [("doer", &doer), ("judge", &judge), ("auditor", &auditor)]
        .map(|(name, script)| scene.world.agent(&format!("{name}.toml"), script));
    let flags = ["--doer", &agents[0], "--judge", &agents[1], "--auditor", &agents[2]];
    let played = scene.run(&flags).exits_with(0);
    let text = std::fs::read_to_string(scene.world.shared("outboxes")).unwrap();
    let mut outboxes: Vec<&str> = text.lines().collect();
    outboxes.sort_unstable();
    outboxes.dedup();
    assert_eq!(outboxes.len(), 3, "{text}");
    let run = played.run();
    let shown = scene.world.windlass(&["show", run, "--json"]).exits_with(0).json();
    let named: Vec<String> =
        shown["agents"].as_array().unwrap().iter().map(|pair| pair[1].as_str().unwrap().to_owned()).collect();
    assert_eq!(named.len(), 3);
    assert!(agents.iter().all(|agent| named.contains(agent)), "{named:?}");
}
