//! `cargo xtask set-up` on machines that lack something. The real program runs; the machine around it (git, apt-get,
//! id, the compiler, cargo) is played by a script, because a test must not install packages where it happens to run.
#![expect(clippy::unwrap_used, reason = "the whole file is a test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

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
        for program in programs.iter().chain(&["cc", "cargo", "id", "git", "unshare", "sh"]) {
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
        command.env("WINDLASS_AGENTS_DIR", self.agents()).env_remove("WINDLASS_AGENTS_SKIPPED");
        capture(command.env_remove("CC")).unwrap()
    }

    fn agents(&self) -> PathBuf {
        self.folder.path().join("agents")
    }

    fn calls_of(&self, program: &str) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
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

const HEALTHY: [(&str, &str); 4] =
    [("git-version", "2.47.3"), ("user", "0"), ("npm-version", "11.0.0"), ("node-version", "v20.1.0")];

/// Every pinned package and the file it brings, as the stand-in of npm reads them.
fn registry() -> Vec<String> {
    let list = Repository::of_this_build().root().join("crates/test-support/agent-programs.json");
    let list: Vec<serde_json::Value> = serde_json::from_str(&fs::read_to_string(list).unwrap()).unwrap();
    let text = |program: &serde_json::Value, field: &str| program[field].as_str().unwrap().to_owned();
    let line = |program: &serde_json::Value| {
        let (package, version) = (text(program, "package"), text(program, "version"));
        format!("{package}@{version} {}", text(program, "program"))
    };
    list.iter().map(line).collect()
}

#[test]
fn every_pinned_agent_program_is_installed_once() {
    let registry = registry();
    let lines = registry.join("\n");
    let state = [HEALTHY.as_slice(), &[("registry", lines.as_str())]].concat();
    let machine = Machine::with(&["npm", "node", "python3"], &state);
    for _ in 0..2 {
        let done = machine.set_up();
        assert!(done.success, "{}", done.stderr);
        assert!(!done.stdout.contains("skipping"), "{}", done.stdout);
        let installs = machine.calls_of("npm install");
        assert_eq!(installs.len(), registry.len(), "the second set-up finds what the first has installed");
        assert!(
            installs.iter().all(|call| call.contains("--no-audit --no-fund --ignore-scripts --save-exact"))
        );
        let mut folders: Vec<_> =
            fs::read_dir(machine.agents()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        folders.sort();
        assert_eq!(folders.len(), registry.len() + 1, "with the fuzzer: {folders:?}");
        assert_eq!(machine.calls_of("python3 -m venv").len(), 1);
        assert!(folders.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{folders:?}");
    }
}

#[test]
fn without_npm_the_agent_programs_are_skipped_and_named_at_the_end() {
    let machine = Machine::with(&["node", "python3"], &HEALTHY);
    let done = machine.set_up();
    assert!(done.success, "{}", done.stderr);
    let (_, end) = done.stdout.split_once("did NOT run:").unwrap();
    for name in ["codex", "claude", "gemini", "opencode", "copilot", "claude-agent-acp"] {
        assert!(end.contains(&format!("  {name}: npm is not installed")), "{}", done.stdout);
    }
}

#[test]
fn one_package_that_fails_does_not_keep_the_others_from_being_installed() {
    let lines = registry()
        .into_iter()
        .filter(|line| !line.starts_with("opencode-ai@"))
        .collect::<Vec<_>>()
        .join("\n");
    let state = [HEALTHY.as_slice(), &[("registry", lines.as_str())]].concat();
    let machine = Machine::with(&["npm", "node", "python3"], &state);
    let done = machine.set_up();
    assert!(done.success, "{}", done.stderr);
    let (_, end) = done.stdout.split_once("did NOT run:").unwrap();
    assert!(end.contains("opencode: npm could not install it: code E404; 404 no opencode-ai@"), "{end}");
    assert_eq!(end.trim().lines().count(), 1, "{end}");
    let left = fs::read_dir(machine.agents()).unwrap().count();
    assert_eq!(left, registry().len(), "the fuzzer, and nothing half installed");
}

#[test]
fn a_node_that_is_too_old_skips_what_it_would_have_to_run() {
    let lines = registry().join("\n");
    let state = [&HEALTHY[..3], &[("node-version", "v18.19.0"), ("registry", lines.as_str())]].concat();
    let machine = Machine::with(&["npm", "node", "python3"], &state);
    let done = machine.set_up();
    assert!(done.success, "{}", done.stderr);
    let (_, end) = done.stdout.split_once("did NOT run:").unwrap();
    assert!(end.contains("gemini: it needs node 20 or newer, and this is v18.19.0"), "{end}");
    assert!(!end.contains("codex"), "{end}");
}

#[test]
fn a_fuzzer_that_cannot_be_had_is_skipped_by_name_and_tried_again_the_next_time() {
    let lines = registry().join("\n");
    let state = [HEALTHY.as_slice(), &[("registry", lines.as_str())]].concat();
    let without_python = Machine::with(&["npm", "node"], &state).set_up();
    assert!(without_python.success, "{}", without_python.stderr);
    let (_, end) = without_python.stdout.split_once("did NOT run:").unwrap();
    assert!(end.contains("  schemathesis: python3 is not installed"), "{end}");

    let machine =
        Machine::with(&["npm", "node", "python3"], &[state.as_slice(), &[("no-pypi", "")]].concat());
    for _ in 0..2 {
        let offline = machine.set_up();
        assert!(offline.success, "{}", offline.stderr);
        let (_, end) = offline.stdout.split_once("did NOT run:").unwrap();
        let told = "  schemathesis: pip could not install it: ERROR: no matching distribution";
        assert_eq!(end.trim_start_matches('\n').trim_end(), told);
    }
    fs::remove_file(machine.folder.path().join("no-pypi")).unwrap();
    assert!(!machine.set_up().stdout.contains("did NOT run:"));
}
