//! A machine that lacks what is usually there: git, a home, a locale, descriptors, files that may grow.

use super::{assert_goes_on, assert_told, undisturbed, undisturbed_without_sandbox};
use crate::crash_points::{Actor, Ending, Stage, is_campaign};
use std::path::Path;
use windlass_test_support::{Output, World};

/// What the checks of the task need, and git.
const TOOLS: [&str; 4] = ["git", "grep", "sh", "test"];

/// A directory with these programs and nothing else.
fn few_programs(world: &World) -> String {
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = world.environment()[std::ffi::OsStr::new("PATH")].to_str().unwrap();
    for tool in TOOLS {
        let found = path.split(':').map(|place| Path::new(place).join(tool)).find(|file| file.is_file());
        std::os::unix::fs::symlink(found.expect("a usual program"), bin.join(tool)).unwrap();
    }
    bin.to_str().unwrap().to_owned()
}

#[test]
fn without_git_nothing_is_begun_and_with_it_all_goes_well() {
    let expected = undisturbed();
    let mut stage = Stage::set_up();
    let programs = few_programs(&stage.world);
    let git = Path::new(&programs).join("git");
    let home = std::fs::read_link(&git).unwrap();
    std::fs::remove_file(&git).unwrap();
    let output = stage.with("PATH", &programs, Stage::run);
    assert_told(&output, &["no git program in the search path"], "without git");
    assert!(output.stderr.contains("WL-GIT-001"), "{}", output.stderr);
    std::os::unix::fs::symlink(home, git).unwrap();
    stage.world.set("PATH", programs);
    assert_goes_on(&stage, &expected, "with git");
}

#[test]
fn git_that_vanishes_in_the_middle_is_named_and_the_run_goes_on_when_it_is_back() {
    let expected = undisturbed_without_sandbox();
    let mut stage = Stage::with_last_act(Actor::FirstDoer, |world| {
        let git = world.path().join("bin/git");
        format!("{{ run = ['/bin/mv', '{0}', '{0}.gone'] }}", git.display())
    });
    let programs = few_programs(&stage.world);
    stage.world.set("PATH", &programs);
    let output = stage.run();
    assert_told(&output, &[&format!("program {programs}/git was not found")], "git is gone");
    let git = Path::new(&programs).join("git");
    std::fs::rename(git.with_extension("gone"), &git).unwrap();
    stage.assert_user_s_things_untouched();
    assert_goes_on(&stage, &expected, "git is back");
}

#[test]
fn without_a_home_a_run_goes_well_where_there_is_a_place_for_its_state() {
    let expected = undisturbed();
    let mut stage = Stage::set_up();
    stage.world.unset("HOME");
    let _ = stage.run().exits_with(0);
    assert_eq!(Ending::of(&stage).differences(&expected), Vec::<String>::new());
}

#[test]
fn without_a_home_and_a_place_nothing_is_begun() {
    let expected = undisturbed();
    let mut stage = Stage::set_up();
    let place = stage.world.state_dir();
    for home in [None, Some("")] {
        stage.world.unset("HOME").unset("WINDLASS_STATE_DIR");
        if let Some(home) = home {
            stage.world.set("HOME", home);
        }
        assert_told(&stage.run(), &["neither HOME nor WINDLASS_STATE_DIR is set"], "no place");
        stage.assert_user_s_things_untouched();
    }
    stage.world.set("WINDLASS_STATE_DIR", place);
    assert_goes_on(&stage, &expected, "with a place");
}

#[test]
fn a_bare_locale_changes_no_name_and_no_content() {
    let scene = || {
        let mut scene = crate::scene::Scene::new();
        scene.world.set("LC_ALL", "C").set("LANG", "C");
        scene
    };
    let script = windlass_test_support::Script::new()
        .doer(
            windlass_test_support::When::Always,
            &["{ write = 'grün/日本.txt', text = 'straße' }", "{ handoff = 'fügt an' }"],
        )
        .judge(windlass_test_support::When::Always, &["{ verdict = 'pass' }"])
        .auditor(windlass_test_support::When::Always, &["{ audit = 'pass' }"]);
    let scene = scene();
    let played = scene.play(&script, &["--check", "grep -q straße grün/日本.txt"]).exits_with(0);
    assert_eq!(scene.landed_file("grün/日本.txt"), "straße");
    assert_eq!(played.artifact(1, "handoff.json")["summary"], "fügt an");
    let told = scene.world.windlass(&["log", played.run()]).exits_with(0);
    assert!(told.stderr.is_ascii(), "{}", told.stderr);
}

fn limited(stage: &Stage, limit: &str) -> Output {
    let words = stage.words();
    let program = stage.world.program().to_str().unwrap();
    let all: Vec<&str> = [limit, program].into_iter().chain(words).collect();
    stage.world.run(Path::new("prlimit"), stage.world.path(), &all, "")
}

fn survives_limits(kind: &str, limits: &[u64], words: &[&str]) {
    let expected = undisturbed();
    let mut failed = 0;
    for limit in limits {
        let stage = Stage::set_up();
        let when = format!("--{kind}={limit}");
        let output = limited(&stage, &format!("{when}:{limit}"));
        if output.code != Some(0) {
            failed += 1;
            assert_told(&output, words, &when);
            stage.assert_user_s_things_untouched();
        }
        assert_goes_on(&stage, &expected, &when);
    }
    assert!(failed > 0, "none of {limits:?} was too little");
}

#[test]
fn with_few_descriptors_it_says_so_and_goes_on_with_more() {
    let words = ["Too many open files", "unable to open database file"];
    let all: Vec<u64> = (8..32).collect();
    survives_limits("nofile", if is_campaign() { &all } else { &[16, 24] }, &words);
}

/// The kernel's usual answer is to end the process without a word.
#[test]
fn files_that_may_not_grow_are_an_error_and_not_the_end() {
    let words = ["File too large", "disk I/O error", "disk is full", "no space is left"];
    let all: Vec<u64> = (0..24).map(|number| 4096 + number * 8192).collect();
    survives_limits("fsize", if is_campaign() { &all } else { &[32_768, 131_072] }, &words);
}
