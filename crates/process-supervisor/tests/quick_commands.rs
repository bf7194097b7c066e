//! Quick commands: what a helper such as git needs, and what must not happen when one misbehaves.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rustix::process::Signal;
use support::World;
use windlass_process_supervisor::{COOKIE_VARIABLE, QuickCommand, QuickError};

fn shell(world: &World, script: &str) -> QuickCommand {
    QuickCommand::new("sh", world.folder.path())
        .args(["-c", script])
        .env("PATH", "/usr/bin:/bin")
        .env(COOKIE_VARIABLE, &world.cookie)
        .env("T", world.folder.path())
}

#[test]
fn output_status_and_directory_are_as_the_program_made_them() {
    let world = World::new();
    let output = shell(&world, "pwd; echo bad >&2; exit 3").run().unwrap();
    let directory = world.folder.path().canonicalize().unwrap();
    assert_eq!(output.stdout, format!("{}\n", directory.display()).into_bytes());
    assert_eq!(output.stderr, b"bad\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn megabytes_in_and_out_at_once_do_not_block_each_other() {
    let world = World::new();
    let input: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let output = shell(&world, "tee /dev/stderr").stdin(input.clone()).run().unwrap();
    assert!(output.stdout == input && output.stderr == input);
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_error() {
    let world = World::new();
    let output = shell(&world, "exec <&-; echo done").stdin(vec![0; 1_000_000]).run().unwrap();
    assert_eq!(output.stdout, b"done\n");
    assert!(output.status.success());
}

#[test]
fn without_input_a_reader_sees_the_end_and_nothing_is_inherited() {
    let world = World::new();
    let output = QuickCommand::new("/usr/bin/env", world.folder.path()).env("ONLY", "this").run().unwrap();
    assert_eq!(output.stdout, b"ONLY=this\n");
    assert_eq!(shell(&world, "cat").run().unwrap().stdout, b"");
}

#[test]
fn the_deadline_kills_the_whole_group_even_when_it_ignores_signals() {
    let world = World::new();
    let command = shell(&world, "trap '' TERM; sleep 600 & sleep 600").deadline(Duration::from_millis(200));
    let error = command.run().unwrap_err();
    assert!(matches!(error, QuickError::Deadline { .. }), "{error}");
    assert!(error.to_string().contains("sh -c"), "{error}");
    support::wait_until("the group to be gone", || {
        windlass_process_supervisor::escapees(&world.cookie).unwrap().is_empty()
    });
}

#[test]
fn a_program_that_writes_without_end_is_killed_at_the_bound() {
    let world = World::new();
    for script in ["exec yes", "exec yes >&2"] {
        let error = shell(&world, script).output_limit(100_000).run().unwrap_err();
        assert!(matches!(error, QuickError::OutputLimit { limit: 100_000, .. }), "{error}");
    }
    let output = shell(&world, "head -c 100000 /dev/zero").output_limit(100_000).run().unwrap();
    assert_eq!(output.stdout.len(), 100_000, "exactly the bound is fine");
}

#[test]
fn a_daemon_that_holds_the_pipes_does_not_hold_us() {
    let world = World::new();
    let script =
        "(setsid sh -c ': > $T/daemon; exec sleep 600' &) ; until [ -e $T/daemon ]; do :; done; echo end";
    let output = shell(&world, script).deadline(Duration::from_mins(5)).run().unwrap();
    assert_eq!(output.stdout, b"end\n");
    for escapee in windlass_process_supervisor::escapees(&world.cookie).unwrap() {
        support::signal(&escapee, Signal::KILL);
    }
}

#[test]
fn a_missing_program_and_a_missing_directory_are_told_apart() {
    let world = World::new();
    let missing = QuickCommand::new("no-such-program", world.folder.path()).env("PATH", "/usr/bin").run();
    assert!(matches!(missing, Err(QuickError::NotFound { .. })), "{missing:?}");
    let nowhere = QuickCommand::new("/bin/true", world.file("gone")).run();
    assert!(matches!(nowhere, Err(QuickError::Io { .. })), "{nowhere:?}");
}

#[test]
fn death_by_a_signal_is_for_the_caller_to_judge() {
    let world = World::new();
    let output = shell(&world, "echo before; kill -KILL $$").run().unwrap();
    assert_eq!(output.status.signal(), Some(Signal::KILL.as_raw()));
    assert_eq!(output.stdout, b"before\n");
}
