//! Ways to make a check pass without doing the work.

use super::{RUNNER, doer, found, lands_only_when_waived, names, scene, waiving};
use crate::scene::Scene;
use windlass_test_support::{Script, When};

const BROKEN: &str = "{ write = 'sum.sh', text = 'echo 4' }";

#[test]
fn tests_that_are_edited_to_fit() {
    let edit = "{ write = 'tests/zero.sh', text = '[ \"$(sh sum.sh 0 5)\" = 4 ]' }";
    let expected = ["passes-only-with-its-own-tests", "weakened-assertions"];
    lands_only_when_waived(scene, &[BROKEN, edit], &["--check", RUNNER], &expected);
}

#[test]
fn tests_that_are_deleted() {
    let expected = ["fewer-tests", "passes-only-with-its-own-tests", "test-deleted"];
    let delete = "{ delete = 'tests/zero.sh' }";
    lands_only_when_waived(scene, &[BROKEN, delete], &["--check", RUNNER], &expected);
}

#[test]
fn tests_that_are_moved_out_of_sight() {
    let expected = ["fewer-tests", "passes-only-with-its-own-tests", "test-deleted"];
    let hide = "{ rename = 'tests/zero.sh', to = 'attic/zero.txt' }";
    lands_only_when_waived(scene, &[BROKEN, hide], &["--check", RUNNER], &expected);
}

#[test]
fn tests_that_are_marked_to_be_skipped() {
    let expected = ["fewer-tests", "passes-only-with-its-own-tests", "test-skipped"];
    let skip = "{ write = 'tests/zero.sh', text = \"# SKIP\\n[ \\\"$(sh sum.sh 0 5)\\\" = 5 ]\\n\" }";
    lands_only_when_waived(scene, &[BROKEN, skip], &["--check", RUNNER], &expected);
}

#[test]
fn an_assertion_that_is_weakened_beside_sound_work() {
    let expected = ["weakened-assertions"];
    let weaken = "{ write = 'tests/zero.sh', text = 'true' }";
    let work = "{ write = 'done.txt', text = 'done' }";
    lands_only_when_waived(scene, &[work, weaken], &["--check", RUNNER], &expected);
}

#[test]
fn the_script_of_the_check_that_says_yes_to_everything() {
    let expected = ["check-changed", "passes-only-with-its-own-tests"];
    let edit = "{ write = 'check.sh', text = \"#!/bin/sh\\nexit 0\\n\" }";
    lands_only_when_waived(scene, &[BROKEN, edit], &["--check", "sh check.sh"], &expected);
}

#[test]
fn a_script_that_the_script_of_the_check_runs() {
    let with_helper = || {
        let scene = scene();
        scene.repository.write("check.sh", "#!/bin/sh\nset -e\nsh ci/each.sh\n");
        scene.repository.write("ci/each.sh", "for t in tests/*.sh; do sh $t || exit 1; done\n");
        scene.repository.commit("a check in two files");
        scene
    };
    let expected = ["check-changed", "passes-only-with-its-own-tests"];
    let edit = "{ write = 'ci/each.sh', text = 'true' }";
    lands_only_when_waived(with_helper, &[BROKEN, edit], &["--check", "sh check.sh"], &expected);
}

#[test]
fn the_recipe_of_a_makefile() {
    let with_make = || {
        let scene = scene();
        scene.repository.write("Makefile", "test:\n\tsh check.sh\n").commit("a makefile");
        scene
    };
    let expected = ["check-changed", "passes-only-with-its-own-tests"];
    let edit = "{ write = 'Makefile', text = \"test:\\n\\ttrue\\n\" }";
    lands_only_when_waived(with_make, &[BROKEN, edit], &["--check", "make test"], &expected);
}

#[test]
fn ci_and_lock_files_beside_sound_work() {
    let work = "{ write = 'done.txt', text = 'done' }";
    let ci = "{ write = '.github/workflows/ci.yml', text = 'on: never' }";
    lands_only_when_waived(scene, &[work, ci], &["--check", RUNNER], &["ci-changed"]);
    let lock = "{ append = 'Cargo.lock', text = '# other' }";
    lands_only_when_waived(scene, &[work, lock], &["--check", RUNNER], &["lock-changed"]);
}

#[test]
fn without_any_check_what_is_found_by_reading_counts_all_the_same() {
    lands_only_when_waived(scene, &["{ delete = 'tests/zero.sh' }"], &[], &["test-deleted"]);
}

#[test]
fn a_maker_cannot_waive_and_a_reason_is_needed() {
    let forged = "{ handoff = { summary = 'x', waivers = [{ finding = 'test-deleted', reason = 'mine' }] } }";
    let script = Script::new()
        .doer(When::Always, &["{ delete = 'tests/zero.sh' }", forged])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let scene = scene();
    let played = scene.play(&waiving(script, &[]), &["--rounds", "1"]).exits_with(10);
    assert_eq!(found(&played), names(&["test-deleted"]));
    scene.assert_nothing_landed();

    let silent = "{ verdict = { verdict = 'pass', waivers = [{ finding = 'test-deleted', reason = ' ' }] } }";
    let scene = super::scene();
    let script = doer(&["{ delete = 'tests/zero.sh' }"]).judge(When::Always, &[silent]);
    scene.play(&script, &["--rounds", "1"]).exits_with(11);
    scene.assert_nothing_landed();
}

/// What a real runner of a real language prints and does.
#[test]
fn a_test_of_a_cargo_project_that_is_ignored() {
    let toolchain =
        std::path::Path::new(env!("CARGO")).parent().expect("it lies somewhere").display().to_string();
    let check = format!("PATH={toolchain}:$PATH CARGO_TARGET_DIR=\"$TMPDIR/target\" cargo test --offline");
    let project = || {
        let scene = Scene::new();
        scene
            .repository
            .write("Cargo.toml", "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n")
            .write("src/lib.rs", "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n")
            .write("tests/sum.rs", "#[test]\nfn adds() {\n    assert_eq!(sum::sum(2, 2), 4);\n}\n\n#[test]\nfn zero() {\n    assert_eq!(sum::sum(0, 5), 5);\n}\n")
            .write(".gitignore", "/target\nCargo.lock\n")
            .commit("a crate");
        scene
    };
    let scene = project();
    let attack = [
        "{ write = 'src/lib.rs', text = \"pub fn sum(_: i32, _: i32) -> i32 {\\n    4\\n}\\n\" }",
        "{ write = 'tests/sum.rs', text = \"#[test]\\nfn adds() {\\n    assert_eq!(sum::sum(2, 2), 4);\\n}\\n\\n#[test]\\n#[ignore]\\nfn zero() {\\n    assert_eq!(sum::sum(0, 5), 5);\\n}\\n\" }",
    ];
    let played =
        scene.play(&waiving(doer(&attack), &[]), &["--rounds", "1", "--check", &check]).exits_with(10);
    assert_eq!(found(&played), names(&["fewer-tests", "passes-only-with-its-own-tests", "test-skipped"]));
    scene.assert_nothing_landed();
}

/// The lines that differ say nothing of a test: an assertion that goes on over several lines, a condition, a file that renders as binary.
#[test]
fn inner_tests_that_are_weakened_in_lines_that_say_nothing_of_tests() {
    let lib = "pub fn sum(a: u8, b: u8) -> u8 { a + b }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn sums() {\n        assert_eq!(\n            \
               sum(2, 2),\n            4,\n        );\n    }\n}\n";
    let with_lib = || {
        let scene = scene();
        scene.repository.write("src/lib.rs", lib).commit("a library");
        scene
    };
    let weaker = lib.replace("            sum(2, 2),\n", "            4,\n");
    let binary = weaker.replace("pub fn", "// \\u0000\npub fn");
    let left_out = lib.replace("#[cfg(test)]", "#[cfg(feature = \"x\")]");
    for (text, name) in
        [(weaker, "weakened-assertions"), (binary, "weakened-assertions"), (left_out, "test-skipped")]
    {
        let work = format!("{{ write = 'src/lib.rs', text = \"\"\"{text}\"\"\" }}");
        let played = with_lib()
            .play(&doer(&[&work]).judge(When::Always, &["{ verdict = 'pass' }"]), &["--rounds", "1"]);
        assert_eq!(found(&played), names(&[name]), "{text}");
    }
}
