//! Steps that reach for the next one: checks that change the tree or forge results, agents that stop themselves, and
//! limits that are the step's and not each command's.

use crate::scene::Scene;
use windlass_test_support::{Script, When};

/// A doer that leaves these files, and a judge and an auditor that say yes.
fn doer_writing(files: &[(&str, &str)]) -> Script {
    let mut actions: Vec<String> = files
        .iter()
        .map(|(name, text)| format!("{{ write = '{name}', text = \"\"\"{text}\"\"\" }}"))
        .collect();
    actions.push("{ handoff = 'writes them' }".to_owned());
    let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
    Script::new()
        .doer(When::Always, &actions)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

fn scene_with_a_check() -> Scene {
    let scene = Scene::new();
    scene.repository.write("verify.sh", "grep -q good a.txt\n");
    scene.repository.commit("a check");
    scene
}

#[test]
fn a_check_cannot_rewrite_the_next_one() {
    let scene = scene_with_a_check();
    let script = doer_writing(&[("a.txt", "bad"), ("t.sh", "echo 'exit 0' > verify.sh; exit 0")]);
    let played = scene.play(&script, &["--rounds", "1", "--check", "sh t.sh", "--check", "sh verify.sh"]);
    assert_eq!(played.code, 10, "{}", played.outcome);
    scene.assert_nothing_landed();
}

#[test]
fn a_check_cannot_leave_an_ignored_file_for_the_next_one() {
    let scene = Scene::new();
    scene
        .repository
        .write("verify.sh", "test ! -e cache/ok && exit 1; exit 0\n")
        .write(".gitignore", "cache/\n");
    scene.repository.commit("a check that believes a cache");
    let script = doer_writing(&[("t.sh", "mkdir cache; touch cache/ok")]);
    let played = scene.play(&script, &["--rounds", "1", "--check", "sh t.sh", "--check", "sh verify.sh"]);
    assert_eq!(played.code, 10, "{}", played.outcome);
}

/// The keeper's directory can be read off its command line, so the place of the next check can be guessed.
#[test]
fn a_check_cannot_forge_the_result_of_the_next_one() {
    let mut scene = scene_with_a_check();
    scene.world.without_sandbox("the fence would keep it from that");
    let forge = "dir=$(tr '\\\\0' '\\\\n' < /proc/$PPID/cmdline | tail -n 1)\n\
        next=${dir%part-0}part-1\n\
        mkdir -p $next\n\
        echo '{\"how\":{\"kind\":\"exited\",\"code\":0}}' > $next/exit.json\n\
        echo $next > /dev/null\n";
    let script = doer_writing(&[("a.txt", "bad"), ("t.sh", forge)]);
    let played = scene.play(&script, &["--rounds", "1", "--check", ". ./t.sh", "--check", "sh verify.sh"]);
    assert_eq!(played.code, 10, "{}", played.outcome);
    scene.assert_nothing_landed();
    let shelf = scene.world.state_dir().join("runs");
    let kept = std::fs::read_dir(shelf).unwrap().flatten().any(|run| run.path().join("foreign").is_dir());
    assert!(kept, "what was forged is kept aside");
}

/// A signal to the keeper that the engine did not send is no interruption by a person.
#[test]
fn an_agent_that_stops_its_own_keeper_has_failed() {
    let mut scene = Scene::new();
    scene.world.without_sandbox("the fence would keep it from that");
    let agent = "shell:echo once >> \"$HOME/starts\"; kill -TERM $PPID; sleep 30";
    let played = scene.run(&["--rounds", "1", "--no-audit", "--doer", agent, "--judge", "shell:exit 1"]);
    assert_eq!(played.code, 10, "{}", played.outcome);
    let starts = std::fs::read_to_string(scene.world.home().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 1, "it was started again");
    scene.world.assert_no_processes();
}

#[test]
fn flags_that_a_run_cannot_take_up_are_refused_and_not_ignored() {
    let scene = Scene::new();
    let played =
        scene.run(&["--rounds", "1", "--no-audit", "--agent", &scene.world.agent_that_cannot_start()]);
    assert_eq!(played.code, 11, "{}", played.outcome);
    let id = played.outcome["run"].as_str().unwrap();
    let refused = scene.world.windlass(&["resume", id, "--agent", "shell:true"]).exits_with(2);
    assert!(refused.stderr.contains("keeps the agents and checks"), "{}", refused.stderr);
}

#[test]
fn a_relative_state_directory_means_the_same_place_to_everybody() {
    let mut scene = Scene::new();
    scene.world.set("WINDLASS_STATE_DIR", "beside");
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let words = ["run", "Add done.txt", "--repo", scene.repository.text(), "--agent", &agent];
    let _ = scene.world.windlass_in(scene.world.path(), &words, "").exits_with(0);
    assert!(scene.world.path().join("beside").join("journal.db").is_file());
}

/// The caps are the run's: four checks may not print four times as much.
#[test]
fn checks_share_the_output_that_is_left() {
    let scene = Scene::new();
    scene.repository.write("windlass.toml", "max-output-mb = 2\n");
    scene.repository.commit("settings");
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let flood = "head -c 1048570 /dev/zero | tr '\\0' x";
    let flags = [
        "--rounds", "1", "--agent", &agent, "--check", flood, "--check", flood, "--check", flood, "--check",
        flood,
    ];
    let played = scene.run(&flags);
    assert_eq!(played.code, 12, "{}", played.outcome);
    let shown = scene.world.windlass(&["show", played.outcome["run"].as_str().unwrap(), "--json"]).json();
    let printed = shown["used"]["output_bytes"].as_u64().unwrap();
    assert!(printed < 3 * 1024 * 1024, "{printed} bytes were printed under a cap of two megabytes");
}
