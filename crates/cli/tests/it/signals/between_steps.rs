//! Ctrl-C where no agent is at work: while a check runs, before the first agent, while git prepares the next step.

use super::{ONCE, is_interrupted_and_resumes, wait_for_words};
use crate::played_run::PlayedRun;
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::{Background, Script, Signal, wait_until};

fn start(played: &PlayedRun, check: &str) -> Background {
    let words = ["run", "Add a file", "--id", "TASK-1", "--repo", played.repository.text()];
    played.world.start_windlass(&[&words[..], &["--agent", &played.agent, "--check", check]].concat())
}

/// A check that hangs while this holds, until the file `go` is there; it leaves the file `checking`.
fn hanging_check(played: &PlayedRun, condition: &str) -> String {
    let (go, checking) = (played.world.shared("go"), played.world.shared("checking"));
    let (go, checking) = (go.display(), checking.display());
    format!("if {condition} && ! test -e {go}; then touch {checking}; exec tail -f /dev/null; fi; true")
}

fn is_interrupted_in_a_check(condition: &str, steps_before: &[&str]) {
    let played = PlayedRun::of(&Script::that_passes());
    let running = start(&played, &hanging_check(&played, condition));
    wait_until("the check", || played.world.shared("checking").exists().then_some(()));
    running.signal(Signal::INT);
    wait_for_words(&running, "stopping");
    assert_eq!(played.world.steps(), steps_before);
    is_interrupted_and_resumes(&played, running, &ONCE);
}

#[test]
fn ctrl_c_while_a_check_runs_ends_the_check_and_repeats_no_agent() {
    is_interrupted_in_a_check("test -e done.txt", &ONCE[..1]);
}

#[test]
fn ctrl_c_before_the_first_agent_starts_none() {
    is_interrupted_in_a_check("true", &[]);
}

/// A git that waits at a gate as long as the file `hold` is there.
fn gated_git(played: &mut PlayedRun) {
    let git = std::env::vars_os()
        .find(|(name, _)| name == "PATH")
        .and_then(|(_, path)| {
            std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file())
        })
        .expect("git is installed");
    let folder = played.world.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let (hold, arrived, gate) =
        (played.world.shared("hold"), played.world.shared("held"), played.world.shared("gate"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU).unwrap();
    let script = format!(
        "#!/bin/sh\nif test -e {hold}; then touch {arrived}; read -r line < {gate}; fi\nexec {git} \"$@\"\n",
        hold = hold.display(),
        arrived = arrived.display(),
        gate = gate.display(),
        git = git.display()
    );
    std::fs::write(folder.join("git"), script).unwrap();
    std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = played.world.environment().get(std::ffi::OsStr::new("PATH")).unwrap().clone();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    played.world.set("PATH", std::env::join_paths(folders).unwrap());
}

#[test]
fn ctrl_c_while_git_prepares_a_step_starts_no_agent() {
    let mut played = PlayedRun::of(&Script::that_passes());
    gated_git(&mut played);
    // The check on the change spoils the tree and closes the gate: the next git is the one that must mend the tree
    // before the judge sees it.
    let hold = played.world.shared("hold");
    let check = format!("test ! -e done.txt || {{ echo spoilt > README.md; touch {}; }}", hold.display());
    let running = start(&played, &check);
    wait_until("git at the gate", || played.world.shared("held").exists().then_some(()));
    running.signal(Signal::INT);
    wait_for_words(&running, "stopping");
    std::fs::remove_file(&hold).unwrap();
    std::fs::write(played.world.shared("gate"), "go\n").unwrap();
    let output = running.wait().exits_with(13);
    assert_eq!(played.world.steps(), ONCE[..1], "an agent was started after all\n{}", output.stderr);
    played.world.assert_no_processes();
    // The check has been made and is not made again, so the gate stays open.
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), ONCE);
}

#[test]
fn the_limits_that_were_set_bound_every_child() {
    let mut played = PlayedRun::of(&Script::that_passes());
    played.world.set("WINDLASS_STEP_MINUTES", "2").set("WINDLASS_IDLE_MINUTES", "1");
    let _ = start(&played, "true").wait().exits_with(0);
    let effects = played.world.state_dir().join("runs").join(played.id()).join("effects");
    let mut bounded = 0;
    for path in crate::played_run::files_under(&effects) {
        if path.ends_with("spec.json") {
            let spec: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(spec["limits"]["total_ms"], 120_000, "{}", path.display());
            assert_eq!(spec["limits"]["idle_ms"], 60_000, "{}", path.display());
            bounded += 1;
        }
    }
    assert_eq!(bounded, 5, "two checks and three agents");
}
