//! What costs nothing, what is only told, and what the judge is shown.

use super::{RUNNER, doer, found, lands_only_when_waived, names, scene, waiving};
use windlass_test_support::When;

const WORK: &str = "{ write = 'sum.sh', text = 'echo $(($1 + $2 + 0))' }";

#[test]
fn a_change_that_leaves_its_measures_alone_runs_nothing_more() {
    let scene = scene();
    let played = scene.play(&waiving(doer(&[WORK]), &[]), &["--check", RUNNER]).exits_with(0);
    assert_eq!(found(&played), names(&[]));
    assert_eq!(played.facts("gate-inspected").len(), 0);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
}

#[test]
fn a_new_test_is_run_on_the_base_and_is_no_finding() {
    let new = "{ write = 'tests/three.sh', text = '[ \"$(sh sum.sh 1 2 three)\" = three ]' }";
    let work = "{ write = 'sum.sh', text = '[ -z \"$3\" ] || { echo $3; exit; }; echo $(($1 + $2))' }";
    let scene = scene();
    let played = scene.play(&waiving(doer(&[work, new]), &[]), &["--check", RUNNER]).exits_with(0);
    assert_eq!(found(&played), names(&[]));
    assert!(played.explained().contains("would have failed before"), "{}", played.explained());
    assert!(played.sealed().contains(&"gate.json".to_owned()), "{:?}", played.sealed());

    let idle = "{ write = 'tests/idle.sh', text = '[ \"$(sh sum.sh 1 2)\" = 3 ]' }";
    let scene = super::scene();
    let played = scene.play(&waiving(doer(&[WORK, idle]), &[]), &["--check", RUNNER]).exits_with(0);
    assert!(played.explained().contains("passes without the change"), "{}", played.explained());
    let shown = scene.world.windlass(&["explain", played.run()]).exits_with(0).stdout;
    assert!(shown.contains("passes without the change"), "{shown}");
}

#[test]
fn with_findings_alone_no_test_runs_on_the_base() {
    let new = "{ write = 'tests/idle.sh', text = '[ \"$(sh sum.sh 1 2)\" = 3 ]' }";
    let scene = scene();
    let flags = ["--check", RUNNER, "--gate-integrity", "findings"];
    let played = scene.play(&waiving(doer(&[WORK, new]), &[]), &flags).exits_with(0);
    let inspected = played.facts("gate-inspected");
    assert_eq!(inspected.len(), 1, "the checks ran without the new test");
    assert!(!inspected[0].to_string().contains("new_tests"), "{}", inspected[0]);
}

/// A new test file is read into the same process as the old ones, and can end it before they run.
#[test]
fn a_new_test_that_ends_the_run_before_the_others_is_found_out() {
    let runner = "for t in tests/*.sh; do . ./$t || exit 1; done";
    let broken = || {
        let scene = scene();
        scene.repository.write("sum.sh", "echo 7\n").commit("a broken product");
        scene
    };
    let attack = "{ write = 'tests/a-first.sh', text = 'exit 0' }";
    lands_only_when_waived(broken, &[attack], &["--check", runner], &["passes-only-with-its-own-tests"]);
}

#[test]
fn a_test_that_only_moved_is_no_finding() {
    let moved = "{ rename = 'tests/zero.sh', to = 'tests/nought.sh' }";
    let scene = scene();
    let played = scene.play(&waiving(doer(&[WORK, moved]), &[]), &["--check", RUNNER]).exits_with(0);
    assert_eq!(found(&played), names(&[]));
    let taken = played.facts("change-taken")[0].to_string();
    assert!(taken.contains("\"renamed\":{\"from\":\"tests/zero.sh\"}"), "{taken}");
}

#[test]
fn the_judge_is_shown_each_finding_as_data_and_told_how_to_waive() {
    let scene = scene();
    let script = doer(&["{ delete = 'tests/zero.sh' }"]);
    let script = script.judge(When::Always, &["{ save_prompt = 'prompt.md' }", "{ verdict = 'pass' }"]);
    scene.play(&script, &["--rounds", "1", "--check", RUNNER]).exits_with(10);
    let prompt = std::fs::read_to_string(scene.world.shared("prompt.md")).expect("the judge was asked");
    assert!(prompt.contains("data: findings about the gate, made by the engine"), "{prompt}");
    assert!(prompt.contains("\ntest-deleted: tests were deleted: tests/zero.sh"), "{prompt}");
    assert!(prompt.contains("`waivers`"), "{prompt}");
}

#[test]
fn what_the_user_protects_and_spares_counts() {
    let with_schema = || {
        let scene = scene();
        scene.repository.write("schema/a.json", "{}").commit("a schema");
        scene
    };
    let edit = "{ write = 'schema/a.json', text = '[]' }";
    let flags = ["--check", RUNNER, "--protect", "schema/**"];
    lands_only_when_waived(with_schema, &[WORK, edit], &flags, &["configuration-changed"]);

    let scene = with_schema();
    let lock = "{ append = 'Cargo.lock', text = '# other' }";
    let flags = ["--check", RUNNER, "--unprotect", "Cargo.lock"];
    let played = scene.play(&waiving(doer(&[WORK, lock, edit]), &[]), &flags).exits_with(0);
    assert_eq!(found(&played), names(&[]));
}

#[test]
fn switched_off_nobody_looks() {
    let scene = scene();
    let script = waiving(doer(&["{ delete = 'tests/zero.sh' }"]), &[]);
    let played = scene.play(&script, &["--check", RUNNER, "--gate-integrity", "off"]).exits_with(0);
    assert_eq!(found(&played), names(&[]));
}
