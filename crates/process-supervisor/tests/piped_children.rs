//! Children in conversation: both pipes work, and no way of ending leaves the child behind.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use support::World;
use windlass_process_supervisor::{COOKIE_VARIABLE, PipedCommand, SupervisorError, escapees};

/// Long enough for a busy machine; a test that needs it is broken.
const PATIENCE: Duration = Duration::from_mins(1);

fn shell(world: &World, script: &str) -> PipedCommand {
    PipedCommand {
        program: PathBuf::from("sh"),
        args: vec!["-c".into(), script.into()],
        directory: world.folder.path().to_owned(),
        environment: [("PATH", "/usr/bin:/bin"), (COOKIE_VARIABLE, &world.cookie)]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
    }
}

#[test]
fn each_side_hears_the_other_and_the_exit_is_the_program_s_own() {
    let world = World::new();
    let (mut child, pipes) = shell(&world, "read line; echo \"heard $line\"; exit 3").start().unwrap();
    let mut to_child = pipes.to_child;
    to_child.write_all(b"hello\n").unwrap();
    let mut said = String::new();
    BufReader::new(pipes.from_child).read_line(&mut said).unwrap();
    assert_eq!(said, "heard hello\n");
    child.exit_watch().unwrap().wait().unwrap();
    assert_eq!(child.end(PATIENCE).unwrap().unwrap().code(), Some(3));
}

#[test]
fn it_may_end_by_itself_when_its_input_ends_and_is_killed_when_it_does_not() {
    let world = World::new();
    let (mut polite, pipes) = shell(&world, "cat; exit 4").start().unwrap();
    drop(pipes.to_child);
    assert_eq!(polite.end(PATIENCE).unwrap().unwrap().code(), Some(4));

    let (mut stubborn, pipes) = shell(&world, "echo up; exec sleep 600").start().unwrap();
    BufReader::new(pipes.from_child).read_line(&mut String::new()).unwrap();
    drop(pipes.to_child);
    assert_eq!(stubborn.end(Duration::from_millis(1)).unwrap(), None);
    assert_eq!(escapees(&world.cookie).unwrap(), []);
}

#[test]
fn a_dropped_child_is_gone() {
    let world = World::new();
    let (child, mut pipes) = shell(&world, "exec sleep 600").start().unwrap();
    assert_eq!(escapees(&world.cookie).unwrap().len(), 1);
    drop(child);
    assert_eq!(escapees(&world.cookie).unwrap(), []);
    assert_eq!(pipes.from_child.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let world = World::new();
    let command = PipedCommand { program: PathBuf::from("no-such-program"), ..shell(&world, "") };
    let refused = command.start().unwrap_err();
    assert!(matches!(&refused, SupervisorError::ProgramNotFound { .. }), "{refused}");
    assert_eq!(refused.to_string(), "program no-such-program was not found");
}
