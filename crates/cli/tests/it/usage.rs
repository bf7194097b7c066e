//! What cannot be understood is said at once, with exit code 2, and nothing is started.

use crate::world;

#[test]
fn words_that_make_no_sense_are_a_usage_error_with_code_2() {
    let world = world();
    let lines: &[&[&str]] = &[
        &[],
        &["nonsense"],
        &["run"],
        &["run", "task", "--task-file", "file"],
        &["run", "task", "--rounds", "0"],
        &["run", "task", "--rounds", "many"],
        &["run", "task", "--on-needs-human", "panic"],
        &["run", "task", "--land", "everywhere"],
        &["run", "task", "--color", "blue"],
        &["show"],
        &["resume"],
        &["resume", "run", "--all"],
        &["resume", "run", "--rounds", "+0"],
        &["diff", "run", "--round", "0"],
        &["land", "run", "--branch", "b", "--current"],
        &["trust", "--show", "--revoke"],
        &["demo", "--crash", "--cheat"],
        &["completions", "cobol"],
        &["explain-error", "WL-NOTHING-000"],
    ];
    for line in lines {
        let output = world.windlass(line).exits_with(2);
        assert_eq!(output.stdout, "", "{line:?}");
        assert!(!output.stderr.is_empty(), "{line:?}");
    }
    assert!(!world.state_dir().exists(), "a usage error must not make a state directory");
}

#[test]
fn a_usage_error_carries_its_code_and_names_what_is_near() {
    let output = world().windlass(&["ru"]).exits_with(2);
    assert!(output.stderr.starts_with("error[WL-USAGE-001]: "), "{}", output.stderr);
    assert!(output.stderr.contains("'run'"), "{}", output.stderr);
}

#[test]
fn a_usage_error_in_json_is_an_object_on_standard_output() {
    let output = world().windlass(&["run", "--json"]).exits_with(2);
    assert_eq!(output.json()["error"]["code"], "WL-USAGE-001");
    assert_eq!(output.stderr, "");
}

#[test]
fn help_and_version_are_answers() {
    let world = world();
    assert!(world.windlass(&["--help"]).exits_with(0).stdout.contains("Exit status:"));
    assert!(world.windlass(&["--version"]).exits_with(0).stdout.starts_with("windlass "));
}

#[test]
fn every_error_code_has_a_page_that_can_be_read_in_both_forms() {
    let world = world();
    let pages = world.windlass(&["explain-error", "--json"]).exits_with(0).json();
    let codes: Vec<&str> =
        pages.as_array().unwrap().iter().filter_map(|page| page["code"].as_str()).collect();
    assert!(codes.contains(&"WL-BUG-001") && codes.contains(&"WL-RUN-003"));
    for code in codes {
        let page = world.windlass(&["explain-error", code]).exits_with(0);
        assert!(page.stdout.starts_with(&format!("# {code}: ")), "{code}");
    }
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let mut world = world();
    let coloured = |world: &windlass_test_support::World, when: &str| {
        world
            .windlass(&["explain-error", "WL-NOTHING-000", "--color", when])
            .exits_with(2)
            .stderr
            .contains('\u{1b}')
    };
    assert!(!coloured(&world, "auto"), "a pipe is no terminal");
    assert!(coloured(&world, "always"));
    assert!(!coloured(&world, "never"));
    world.set("CLICOLOR_FORCE", "1");
    assert!(coloured(&world, "auto"));
    world.set("NO_COLOR", "1");
    assert!(!coloured(&world, "auto"));
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    // The shell's pipe: `head` takes one line of many and goes.
    let world = windlass_test_support::World::new("/bin/sh");
    let program = env!("CARGO_BIN_EXE_windlass");
    let script = "{ \"$0\" completions bash; echo \"code $?\" >&2; } | head -n 1";
    let output = world.windlass(&["-c", script, program]).exits_with(0);
    assert_eq!(output.stderr, "code 0\n");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_fault() {
    let world = windlass_test_support::World::new("/bin/sh");
    let script = "\"$0\" completions bash > /dev/full";
    let output = world.windlass(&["-c", script, env!("CARGO_BIN_EXE_windlass")]).exits_with(1);
    assert!(
        output.stderr.starts_with("error[WL-FILES-001]: cannot write to standard output"),
        "{}",
        output.stderr
    );
}
