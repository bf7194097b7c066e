//! What a keeper was told in confidence: its child gets it, and nobody reads it out of the keeper. Without any sandbox.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use support::World;
use windlass_process_supervisor::{ChildSpec, KeeperProgram, QuickCommand, start};

/// Tells what it was given, and what it can see of its keeper.
const LOOKS_AT_ITS_KEEPER: &str = "echo $KEY | tr a-z A-Z; \
     if tr '\\0' '\\n' < /proc/$PPID/environ | grep -q in-confidence; then echo seen; fi; \
     if (: < /proc/$PPID/mem) 2>/dev/null; then echo open; fi";

fn told(world: &World) -> ChildSpec {
    let mut spec = world.script(LOOKS_AT_ITS_KEEPER);
    spec.secret_names = vec!["KEY".into()];
    spec
}

fn keeper_with_a_key() -> KeeperProgram {
    let mut keeper = support::keeper();
    keeper.environment.insert("KEY".into(), "in-confidence".into());
    keeper
}

#[test]
fn the_variables_of_a_keeper_do_not_show_its_keys() {
    let world = World::new();
    let mut child = start(&keeper_with_a_key(), &world.effect(), &told(&world)).unwrap();
    assert!(support::wait(&mut child).is_success());
    let said = world.stdout();
    assert!(said.starts_with("IN-CONFIDENCE\n"), "the child has it: {said}");
    assert!(!said.contains("seen"), "{said}");
}

/// Root may look into any process, so the whole test is asked of an ordinary user.
#[test]
fn the_memory_of_a_keeper_is_closed_to_its_own_user() {
    if rustix::process::geteuid().is_root() {
        return as_an_ordinary_user("the_memory_of_a_keeper_is_closed_to_its_own_user");
    }
    let world = World::new();
    let mut child = start(&keeper_with_a_key(), &world.effect(), &told(&world)).unwrap();
    let end = support::wait(&mut child);
    assert!(end.is_success(), "{end:?}");
    assert_eq!(world.stdout(), "IN-CONFIDENCE\n");
}

/// Runs one test of this program again, from a place that everybody can read.
fn as_an_ordinary_user(test: &str) {
    let world = World::new();
    let (programs, scratch) = (world.file("deps"), world.file("scratch"));
    for folder in [&programs, &world.file("examples"), &scratch] {
        std::fs::create_dir(folder).unwrap();
    }
    let copy = programs.join("own_secrets");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::copy(support::example("keeper"), world.file("examples/keeper")).unwrap();
    std::fs::set_permissions(world.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(&scratch, Some(65534), Some(65534)).unwrap();
    let said = QuickCommand::new("/usr/bin/setpriv", "/")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(copy)
        .args([test, "--exact"])
        .env("TMPDIR", scratch)
        .deadline(Duration::from_mins(1))
        .run()
        .unwrap();
    let told = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
fn a_process_inside_a_step_stays_to_be_found_by_its_cookie() {
    let world = World::new();
    let directory = world.file("inner");
    std::fs::create_dir(&directory).unwrap();
    // A keeper that is started by an agent belongs to the step of that agent.
    let mut keeper = keeper_with_a_key();
    keeper.environment.insert("WINDLASS_COOKIE".into(), world.cookie.clone().into());
    let mut spec = world.script("touch $T/up; while [ -e $T/up ]; do sleep 0.01; done");
    spec.cookie = "of-the-inner-one".into();
    let mut child = start(&keeper, &directory, &spec).unwrap();
    world.wait_for_file("up");
    let found = windlass_process_supervisor::escapees(&world.cookie).unwrap();
    std::fs::remove_file(world.file("up")).unwrap();
    assert!(support::wait(&mut child).is_success());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!Path::new(&world.file("up")).exists());
}
