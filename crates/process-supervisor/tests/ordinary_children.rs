//! Children that behave: how they are started, fed and recorded.

mod support;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use support::World;
use windlass_process_supervisor::{
    ChildStdin, Found, HowEnded, NotStartedKind, SupervisorError, find, forget, last_line,
};

#[test]
fn the_exit_code_and_both_streams_are_recorded() {
    let world = World::new();
    let end = world.run(&world.script("echo out; echo error >&2; exit 7"));
    assert_eq!(end.how, HowEnded::Exited { code: 7 });
    assert_eq!((end.ended_by, end.leaked_processes, end.surviving_processes), (None, 0, 0));
    assert_eq!((end.stdout_bytes, end.stderr_bytes), (4, 6));
    assert_eq!((world.stdout().as_str(), world.stderr().as_str()), ("out\n", "error\n"));
    assert!(!end.is_success());
}

#[test]
fn a_log_that_could_not_be_kept_is_told_and_the_child_may_be_forgotten() {
    let world = World::new();
    std::fs::create_dir(world.effect()).unwrap();
    std::os::unix::fs::symlink("/dev/full", world.effect().join("stdout.log")).unwrap();
    let end = world.run(&world.script("echo ran >> $T/runs; echo all is well; exit 3"));
    assert_eq!((end.how, end.stdout_bytes), (HowEnded::Exited { code: 3 }, 12));
    let why = end.output_lost.unwrap();
    assert!(why.contains("No space left on device"), "{why}");
    forget(&world.effect()).unwrap();
    assert!(matches!(find(&world.effect()).unwrap(), Found::NotStarted));
    forget(&world.effect()).unwrap();
    let end = world.run(&world.script("echo ran >> $T/runs; echo all is well"));
    assert_eq!((end.is_success(), end.output_lost), (true, None));
    assert_eq!(world.stdout(), "all is well\n");
    assert_eq!(std::fs::read_to_string(world.file("runs")).unwrap(), "ran\nran\n");
}

#[test]
fn a_stream_on_which_nothing_was_said_has_no_file() {
    let world = World::new();
    let end = world.run(&world.script("echo out"));
    assert_eq!((end.stdout_bytes, end.stderr_bytes, end.output_lost), (4, 0, None));
    let files = std::fs::read_dir(world.effect()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["child.json", "exit.json", "keeper.json", "spec.json", "stdout.log"]);
}

#[test]
fn what_was_said_before_the_child_is_none_of_its_words() {
    let world = World::new();
    std::fs::create_dir(world.effect()).unwrap();
    std::fs::write(world.effect().join("stdout.log"), "all tests passed\n").unwrap();
    assert!(world.run(&world.script(":")).is_success());
    assert_eq!(world.stdout(), "");
}

#[test]
fn the_lock_of_a_keeper_of_an_earlier_version_counts() {
    let world = World::new();
    world.run(&world.script(":"));
    let held = std::fs::File::create(world.effect().join("keeper.lock")).unwrap();
    held.lock().unwrap();
    assert!(matches!(forget(&world.effect()), Err(SupervisorError::KeeperAlive { .. })));
    drop(held);
    forget(&world.effect()).unwrap();
}

#[test]
fn a_child_at_work_cannot_be_forgotten() {
    let world = World::new();
    let mut child = world.start(&world.script("touch $T/begun; while test ! -e $T/go; do sleep 0.01; done"));
    world.wait_for_file("begun");
    assert!(matches!(forget(&world.effect()), Err(SupervisorError::KeeperAlive { .. })));
    std::fs::write(world.file("go"), "").unwrap();
    assert!(support::wait(&mut child).is_success());
}

#[test]
fn death_by_a_signal_is_not_an_exit_code() {
    let world = World::new();
    let end = world.run(&world.script("kill -SEGV $$"));
    assert_eq!(end.how, HowEnded::Signaled { signal: Signal::SEGV.as_raw() });
}

#[test]
fn a_program_that_is_not_there_is_not_found() {
    for program in ["no-such-program", "/no/such/program", "./no-such-program"] {
        let world = World::new();
        let mut spec = world.script("");
        spec.program = program.into();
        let HowEnded::NotStarted { reason, why } = world.run(&spec).how else { panic!("it was started") };
        assert_eq!(why, NotStartedKind::NotFound);
        assert!(reason.contains("no") && reason.contains("not found"), "{reason}");
    }
}

#[test]
fn a_file_that_cannot_be_executed_is_told_apart_from_a_missing_one() {
    let world = World::new();
    std::fs::write(world.file("plain"), "echo never").unwrap();
    std::fs::write(world.file("junk"), [0, 1, 2, 3]).unwrap();
    std::fs::set_permissions(world.file("junk"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (effect, program) in ["plain", "junk", "."].into_iter().enumerate() {
        let effect = world.file(&format!("effect{effect}"));
        let mut spec = world.script("");
        spec.program = world.file(program);
        let mut child = windlass_process_supervisor::start(&support::keeper(), &effect, &spec).unwrap();
        let how = support::wait(&mut child).how;
        let HowEnded::NotStarted { why, .. } = &how else { panic!("{program}: {how:?}") };
        assert_eq!(*why, NotStartedKind::NotExecutable, "{program}");
    }
}

#[test]
fn a_missing_working_directory_is_named() {
    let world = World::new();
    let mut spec = world.script("true");
    spec.directory = world.file("gone");
    let HowEnded::NotStarted { reason, why } = world.run(&spec).how else { panic!("it was started") };
    assert_eq!(why, NotStartedKind::Other);
    assert!(reason.contains("gone"), "{reason}");
}

#[test]
fn input_is_fed_from_the_file_and_then_ends() {
    let world = World::new();
    std::fs::write(world.file("prompt"), "line one\nline two\n").unwrap();
    let mut spec = world.script("cat; echo end");
    spec.stdin = ChildStdin::File { path: world.file("prompt") };
    assert!(world.run(&spec).is_success());
    assert_eq!(world.stdout(), "line one\nline two\nend\n");
}

#[test]
fn without_input_a_reader_sees_the_end_at_once() {
    let world = World::new();
    assert!(world.run(&world.script("cat; echo end")).is_success());
    assert_eq!(world.stdout(), "end\n");
}

#[test]
fn the_environment_is_what_was_given_and_the_cookie() {
    let world = World::new();
    let mut spec = world.script("");
    spec.program = "env".into();
    spec.args.clear();
    spec.environment.insert("ODD".into(), OsString::from_vec(vec![b'a', 0xff, b'\n']));
    assert!(world.run(&spec).is_success());
    let bytes = std::fs::read(world.effect().join("stdout.log")).unwrap();
    assert!(bytes.windows(8).any(|window| window == b"ODD=a\xff\n\n"), "bytes that are no text arrive");
    let shown = world.stdout();
    let mut names: Vec<&str> =
        shown.lines().filter_map(|line| line.split_once('=')).map(|pair| pair.0).collect();
    names.sort_unstable();
    assert_eq!(names, ["ODD", "PATH", "T", "WINDLASS_COOKIE"]);
}

#[test]
fn the_child_leads_a_group_of_its_own_in_its_own_directory() {
    let world = World::new();
    assert!(world.run(&world.script("pwd; echo $$; cut -d' ' -f5 /proc/$$/stat")).is_success());
    let shown = world.stdout();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], world.folder.path().canonicalize().unwrap().to_string_lossy());
    assert_eq!(lines[1], lines[2], "pid and group are the same");
}

#[test]
fn the_child_inherits_no_descriptor_but_its_three_streams() {
    let world = World::new();
    // As if whoever started us had left one open.
    let inherited = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    assert!(world.run(&world.script("ls /proc/$$/fd")).is_success());
    assert_eq!(world.stdout(), "0\n1\n2\n");
}

#[test]
fn a_long_stream_keeps_its_head_and_its_tail() {
    let world = World::new();
    let mut spec = world.script("seq 1 100000");
    spec.limits.head_bytes = 10;
    spec.limits.tail_bytes = 14;
    assert!(world.run(&spec).is_success());
    let left_out = 588_895 - 24;
    let expected = format!("1\n2\n3\n4\n5\n\n[windlass left out {left_out} bytes here]\n99999\n100000\n");
    assert_eq!(world.stdout(), expected.replace("here]\n99999", "here]\n\n99999"));
}

#[test]
fn the_last_line_can_be_watched_while_the_child_runs() {
    let world = World::new();
    let script = "echo first; until [ -e $T/go ]; do :; done; seq 1 100000; echo flooded; exec sleep 600";
    let mut spec = world.script(script);
    spec.limits.head_bytes = 1_000;
    let mut child = world.start(&spec);
    support::wait_until("the first line", || last_line(&world.effect()).as_deref() == Some("first"));
    std::fs::write(world.file("go"), "").unwrap();
    support::wait_until("the last line", || last_line(&world.effect()).as_deref() == Some("flooded"));
    child.kill().unwrap();
    support::wait(&mut child);
    world.assert_settled();
    assert_eq!(last_line(&world.effect()).as_deref(), Some("flooded"), "and after its end");
}

#[test]
fn starting_again_in_the_same_directory_gives_the_same_end_and_runs_nothing() {
    let world = World::new();
    let spec = world.script("echo run >> $T/count; exit 3");
    assert!(matches!(find(&world.effect()).unwrap(), Found::NotStarted));
    let first = world.run(&spec);
    let second = world.run(&spec);
    assert_eq!(first, second);
    assert!(matches!(find(&world.effect()).unwrap(), Found::Ended(end) if end == first));
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn a_keeper_that_cannot_be_started_is_an_error_that_names_it() {
    let world = World::new();
    let keeper =
        windlass_process_supervisor::KeeperProgram { program: "/no/keeper".into(), ..support::keeper() };
    let error =
        windlass_process_supervisor::start(&keeper, &world.effect(), &world.script("true")).unwrap_err();
    assert!(error.to_string().contains("/no/keeper"), "{error}");
    assert!(matches!(find(&world.effect()).unwrap(), Found::NotStarted), "it may be tried again");
}
