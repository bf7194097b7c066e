//! Where a person is asked instead: what they see, and what their word does.

use super::{RUNNER, doer, scene, waiving};

const ASK: [&str; 4] = ["--check", RUNNER, "--on-gate-findings", "ask"];

#[test]
fn a_person_waives_by_name_and_the_run_goes_on_where_it_stood() {
    let scene = scene();
    let script = waiving(doer(&["{ delete = 'tests/zero.sh' }"]), &[]);
    let played = scene.play(&script, &ASK).exits_with(11);
    scene.assert_nothing_landed();
    let run = played.run();
    let inbox = scene.world.windlass(&["inbox"]).exits_with(0).stdout;
    assert!(inbox.contains(&format!("windlass waive {run}")), "{inbox}");
    assert!(inbox.contains("test-deleted"), "{inbox}");

    let unknown = scene.world.windlass(&["waive", run, "nonsense", "--reason", "x"]);
    assert_ne!(unknown.code, Some(0));
    assert!(unknown.stderr.contains("there is no finding named `nonsense`"), "{}", unknown.stderr);
    let other = scene.world.windlass(&["waive", run, "ci-changed", "--reason", "x"]);
    assert!(other.stderr.contains("`ci-changed` is not open"), "{}", other.stderr);
    scene.assert_nothing_landed();

    let steps = scene.world.steps();
    let names = ["test-deleted", "fewer-tests"];
    let _ = scene.world.windlass(&["waive", run, names[0], "--reason", "as asked"]).exits_with(11);
    scene.assert_nothing_landed();
    let _ = scene.world.windlass(&["waive", run, names[1], "--reason", "as asked"]).exits_with(0);
    assert_eq!(scene.landed_changes(), ["D\ttests/zero.sh"]);
    let more: Vec<String> = scene.world.steps()[steps.len()..].to_vec();
    assert_eq!(more, ["auditor 1 1"], "nobody was asked twice");
}

#[test]
fn an_answer_instead_of_a_waiver_is_another_round() {
    let scene = scene();
    let script = waiving(doer(&["{ delete = 'tests/zero.sh' }"]), &[]);
    let played = scene.play(&script, &ASK).exits_with(11);
    let _ = scene.world.windlass(&["answer", played.run(), "put it back"]);
    let steps = scene.world.steps();
    assert!(steps.contains(&"doer 2 1".to_owned()), "{steps:?}");
    scene.assert_nothing_landed();
}
