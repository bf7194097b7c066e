//! `cargo xtask set-up` on machines that lack something. The real program runs; the machine around it (git, apt-get,
//! id, the compiler, cargo) is played by a script, because a test must not install packages where it happens to run.
#![expect(clippy::unwrap_used, reason = "the whole file is a test")]

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;
use xtask::commands::{Captured, Repository, capture};

/// A search path on which nothing but stand-ins can be found.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn with(programs: &[&str], state: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        // Linked, not written: a file that was just written cannot be executed while another thread forks.
        let stand_in = Repository::of_this_build().root().join("xtask/tests/stand_in.sh");
        for program in programs.iter().chain(&["cc", "cargo", "id", "git"]) {
            symlink(&stand_in, folder.path().join(program)).unwrap();
        }
        for (name, content) in state {
            fs::write(folder.path().join(name), format!("{content}\n")).unwrap();
        }
        Self { folder }
    }

    fn set_up(&self) -> Captured {
        let mut command = Repository::of_this_build().program(env!("CARGO_BIN_EXE_xtask"));
        command.arg("set-up").env("PATH", self.folder.path()).env("CARGO", self.folder.path().join("cargo"));
        capture(command.env_remove("CC")).unwrap()
    }

    fn calls_of(&self, program: &str) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap();
        calls.lines().filter(|call| call.starts_with(program)).map(str::to_owned).collect()
    }
}

#[test]
fn a_machine_with_everything_is_left_alone() {
    let machine = Machine::with(&["apt-get"], &[("git-version", "2.39.0"), ("user", "0")]);
    let done = machine.set_up();
    assert!(done.success, "{}", done.stderr);
    assert!(done.stdout.contains("found git version 2.39.0"), "{}", done.stdout);
    assert_eq!(machine.calls_of("apt-get"), Vec::<String>::new());
}

#[test]
fn root_on_debian_gets_what_is_missing_after_one_update() {
    let machine = Machine::with(&["apt-get"], &[("git-in-store", "2.47.3"), ("user", "0")]);
    let done = machine.set_up();
    assert!(done.success, "{}", done.stderr);
    let calls = machine.calls_of("apt-get");
    let expected = ["apt-get --version", "apt-get update", "apt-get install -y --no-install-recommends git"];
    assert_eq!(calls, expected);
}

#[test]
fn others_are_told_the_exact_command_and_nothing_is_changed() {
    let machine = Machine::with(&["apt-get"], &[("git-in-store", "2.47.3"), ("user", "1000")]);
    let done = machine.set_up();
    assert!(!done.success);
    let told = "sudo apt-get update && sudo apt-get install -y --no-install-recommends git";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    assert_eq!(machine.calls_of("apt-get"), ["apt-get --version"]);
}

#[test]
fn elsewhere_than_on_debian_the_missing_thing_is_named() {
    let machine = Machine::with(&[], &[("user", "0")]);
    let done = machine.set_up();
    assert!(!done.success);
    assert!(done.stderr.contains("not a Debian system"), "{}", done.stderr);
    assert!(done.stderr.contains("git 2.39 or newer"), "{}", done.stderr);
}

#[test]
fn a_git_that_stays_too_old_is_a_failure_not_a_loop() {
    let state = [("git-version", "2.20.1"), ("git-in-store", "2.30.2"), ("user", "0")];
    let machine = Machine::with(&["apt-get"], &state);
    let done = machine.set_up();
    assert!(!done.success);
    assert!(done.stdout.contains("git version 2.30.2 is too old"), "{}", done.stdout);
    assert!(done.stderr.contains("still missing: git 2.39 or newer"), "{}", done.stderr);
    assert_eq!(machine.calls_of("apt-get update").len(), 1);
}
