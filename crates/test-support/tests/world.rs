//! The world itself, tried on programs every system has. Whole-program tests with the real binary are in the cli crate.

use windlass_test_support::{Signal, World, wait_until};

#[test]
fn a_program_sees_the_world_s_environment_and_nothing_else() {
    let mut world = World::new("/usr/bin/env");
    world.set("EXTRA", "1").unset("TZ");
    let output = world.windlass(&[]).exits_with(0);
    let mut names: Vec<&str> = output.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    let expected = ["EXTRA", "GIT_CONFIG_NOSYSTEM", "HOME", "LANG", "PATH", "USER"];
    assert_eq!(names, [&expected[..], &["WINDLASS_SANDBOX_WRITE", "WINDLASS_STATE_DIR"]].concat());
    assert!(output.stdout.contains(&format!("HOME={}", world.home().display())));
}

#[test]
fn a_program_in_the_background_can_be_waited_for_and_killed() {
    let world = World::new("/bin/sh");
    let ended = world.start_windlass(&["-c", "echo out; echo err >&2; exit 7"]).wait();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str(), ended.code), ("out\n", "err\n", Some(7)));

    let endless = world.start_windlass(&["-c", "mkfifo p; trap 'exit 9' TERM; echo ready; read -r line < p"]);
    wait_until("the trap", || endless.stdout().contains("ready").then_some(()));
    endless.signal(Signal::TERM);
    assert_eq!(endless.wait().code, Some(9));

    let killed = world.start_windlass(&["-c", "mkfifo q; read -r line < q"]).kill();
    assert_eq!((killed.code, killed.signal), (None, Some(9)));
}

#[test]
fn a_process_of_this_world_is_found_and_another_world_s_is_not() {
    let (world, other) = (World::new("/bin/sh"), World::new("/bin/sh"));
    let endless = world.start_windlass(&["-c", "mkfifo r; echo ready; read -r line < r"]);
    // Until then it has a child of its own, which a kill would leave behind for a moment.
    wait_until("the shell to be alone", || endless.stdout().contains("ready").then_some(()));
    let found = world.processes();
    assert!(found[0].starts_with(&format!("{} ", endless.pid())), "{found:?}");
    other.assert_no_processes();
    let _ = endless.kill();
    world.assert_no_processes();
}

#[test]
fn a_repository_has_the_same_ids_in_every_world() {
    let ids: Vec<String> = (0..2)
        .map(|_| World::new("/bin/true").repository("r").write("a.txt", "a\n").commit("add a"))
        .collect();
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn what_is_the_user_s_own_is_compared_strictly_and_our_refs_are_not() {
    let world = World::new("/bin/true");
    let repository = world.repository("r");
    let before = repository.record();
    repository.git(&["branch", "windlass/TASK-1"]);
    repository.write(".orchestrator/runs/x", "ours");
    before.assert_holds(&repository);

    let changes: [(&str, &[&str]); 4] = [
        ("files", &["rm", "--quiet", "README.md"]),
        ("branches or tags", &["branch", "theirs"]),
        ("git configuration", &["config", "user.name", "x"]),
        ("HEAD", &["symbolic-ref", "HEAD", "refs/heads/theirs"]),
    ];
    for (what, change) in changes {
        let before = repository.record();
        repository.git(change);
        let differs = repository.record() != before;
        assert!(differs, "{what}");
    }
}

#[test]
fn output_in_json_is_read_as_a_document_or_line_by_line() {
    let world = World::new("/bin/sh");
    let document = world.windlass(&["-c", "echo '{\"a\": 1}'"]).exits_with(0);
    assert_eq!(document.json()["a"], 1);
    let lines = world.windlass(&["-c", "echo 1; echo 2"]).exits_with(0);
    assert_eq!(lines.json_lines(), [1, 2]);
    let echoed = world.windlass_in(&world.home(), &["-c", "pwd; cat"], "from stdin");
    assert_eq!(echoed.stdout, format!("{}\nfrom stdin", world.home().display()));
}
