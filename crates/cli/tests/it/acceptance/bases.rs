//! The base, however it is named, is one commit for everybody.

use crate::scene::{Scene, TASK};
use windlass_test_support::{Script, When};

/// Runs two rounds from this base; every role notes the commit it stands on.
#[track_caller]
fn everybody_stands_on(scene: &Scene, base: &str, expected: &str, meanwhile: &[&str]) {
    let look = "{ run = ['sh', '-c', 'git rev-parse HEAD >> {script_dir}/heads'] }";
    let work = [look, "{ write = 'done-{round}.txt', text = 'x' }"];
    let doer = [&work[..], meanwhile, &["{ handoff = 'x' }"]].concat();
    let script = Script::new()
        .doer(When::Always, &doer)
        .judge(When::Round(1), &[look, "{ verdict = 'reject' }"])
        .judge(When::Round(2), &[look, "{ verdict = 'pass' }"])
        .auditor(When::Always, &[look, "{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--base", base, "--rounds", "2"]).exits_with(0);
    let heads = std::fs::read_to_string(scene.world.shared("heads")).expect("every role looked");
    assert_eq!(heads.lines().collect::<Vec<_>>(), [expected; 5], "{base}");
    assert_eq!(scene.repository.git(&["rev-parse", &format!("windlass/{TASK}~1")]), expected);
    let record = crate::scene::json(&played.run_dir.join("windlass.json"));
    assert_eq!(record["base_commit"], expected);
    assert_eq!(record["base_ref"], base);
}

fn with_three_commits() -> (Scene, [String; 3]) {
    let scene = Scene::new();
    let first = scene.repository.git(&["rev-parse", "HEAD"]);
    let second = scene.repository.write("second.txt", "2\n").commit("second");
    let third = scene.repository.write("third.txt", "3\n").commit("third");
    (scene, [first, second, third])
}

#[test]
fn a_branch() {
    let (scene, [first, ..]) = with_three_commits();
    scene.repository.git(&["branch", "old", &first]);
    everybody_stands_on(&scene, "old", &first, &[]);
}

#[test]
fn an_annotated_tag() {
    let (scene, [_, second, _]) = with_three_commits();
    scene.repository.git(&["tag", "-a", "-m", "tag", "v1", &second]);
    everybody_stands_on(&scene, "v1", &second, &[]);
}

#[test]
fn a_relative_revision() {
    let (scene, [_, second, _]) = with_three_commits();
    everybody_stands_on(&scene, "HEAD~1", &second, &[]);
}

#[test]
fn a_branch_that_moves_while_the_run_goes_on() {
    let (mut scene, [.., third]) = with_three_commits();
    scene.world.without_sandbox("the maker plays the user at work in the checkout");
    let repository = scene.repository.text().to_owned();
    let moves = format!(
        "{{ run = ['git', '-C', '{repository}', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', \
         '--allow-empty', '-m', 'meanwhile'] }}"
    );
    everybody_stands_on(&scene, "main", &third, &[&moves]);
    assert_ne!(scene.repository.git(&["rev-parse", "main"]), third);
}

#[test]
fn a_revision_that_is_not_there_is_refused_before_anything_is_made() {
    let scene = Scene::new();
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let words = ["run", "x", "--repo", scene.repository.text(), "--agent", &agent, "--base", "no-such"];
    let output = scene.world.windlass(&words).exits_with(2);
    assert!(output.stderr.contains("WL-GIT-003"), "{}", output.stderr);
    assert!(!scene.repository.path().join(".orchestrator").exists());
}
