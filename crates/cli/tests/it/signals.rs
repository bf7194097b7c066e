//! Ctrl-C once, twice, three times, and a terminal that goes away.

mod between_steps;
mod stopping;

use crate::played_run::{PlayedRun, waiting_doer};
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::{Background, Script, Signal, When, wait_until};

const ONCE: [&str; 3] = ["doer 1 1", "judge 1 1", "auditor 1 1"];
const DOER_TWICE: [&str; 4] = ["doer 1 1", "doer 1 2", "judge 1 1", "auditor 1 1"];

/// As `waiting_doer`, and it does not listen to a polite word.
fn stubborn_doer() -> Script {
    let done = [
        "{ ignore_term = true }",
        "{ append = '{script_dir}/stubborn', text = 'x' }",
        "{ wait_for = 'go' }",
        "{ write = 'done.txt', text = 'done' }",
        "{ handoff = 'adds done.txt' }",
    ];
    Script::new()
        .doer(When::Always, &done)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

#[track_caller]
fn wait_for_words(running: &Background, words: &str) {
    wait_until(words, || running.stderr().contains(words).then_some(()));
}

/// The run was left so that it can be taken up, and is: with this many steps in all.
#[track_caller]
fn is_interrupted_and_resumes(played: &PlayedRun, running: Background, steps: &[&str]) {
    let output = running.wait().exits_with(13);
    let advice = format!("windlass resume {}", played.id());
    assert!(output.stdout.contains(&advice), "no advice in\n{}", output.stdout);
    played.world.assert_no_processes();
    assert_eq!(played.line()["status"], "interrupted");
    assert!(!played.run_dir().join("summary.json").exists(), "an interrupted run has not ended");
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), steps);
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "done");
    let _ = played.about("verify", &[]).exits_with(0);
    played.world.assert_no_processes();
}

fn is_interrupted_by(signal: Signal) {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    running.signal(signal);
    is_interrupted_and_resumes(&played, running, &DOER_TWICE);
}

#[test]
fn ctrl_c_leaves_a_run_that_can_be_resumed() {
    is_interrupted_by(Signal::INT);
}

#[test]
fn a_request_to_terminate_does_the_same() {
    is_interrupted_by(Signal::TERM);
}

#[test]
fn a_terminal_that_goes_away_does_the_same() {
    is_interrupted_by(Signal::HUP);
}

#[test]
fn the_agent_is_told_politely() {
    let mut played = PlayedRun::of(&waiting_doer());
    let heard = played.world.shared("heard");
    let script = format!(
        "#!/bin/sh\ntrap 'echo TERM > {heard}; exit 1' TERM\necho 'doer 1 1' >> {steps}\n\
         tail -f /dev/null &\nwait\n",
        heard = heard.display(),
        steps = played.world.shared(Script::STEPS).display()
    );
    let path = played.world.shared("polite");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    played.agent = format!("command:{}", path.display());
    let running = played.start_until_the_doer_works();
    running.signal(Signal::INT);
    let _ = running.wait().exits_with(13);
    assert_eq!(std::fs::read_to_string(heard).unwrap(), "TERM\n");
    played.world.assert_no_processes();
}

/// Started, and deaf by now.
fn stubborn(played: &PlayedRun) -> Background {
    let running = played.start_until_the_doer_works();
    wait_until("the doer to turn deaf", || played.world.shared("stubborn").exists().then_some(()));
    running
}

#[test]
fn a_second_ctrl_c_kills_an_agent_that_does_not_listen() {
    let played = PlayedRun::of(&stubborn_doer());
    let running = stubborn(&played);
    running.signal(Signal::INT);
    wait_for_words(&running, "again to kill the agent");
    assert!(running.is_alive(), "it waits for its agent");
    running.signal(Signal::INT);
    wait_for_words(&running, "killing the agent");
    is_interrupted_and_resumes(&played, running, &DOER_TWICE);
}

#[test]
fn a_third_ctrl_c_leaves_at_once_and_the_agent_still_ends() {
    let played = PlayedRun::of(&stubborn_doer());
    let running = stubborn(&played);
    // A keeper that stands still carries out nothing, so the engine would wait for ever. When it is awake again, with
    // the engine gone, it does what it was told.
    let keeper = stop_keeper(&played);
    running.signal(Signal::INT);
    wait_for_words(&running, "again to kill the agent");
    running.signal(Signal::INT);
    wait_for_words(&running, "again to leave at once");
    assert!(running.is_alive());
    running.signal(Signal::INT);
    let _ = running.wait().exits_with(13);
    assert_eq!(played.line()["status"], "interrupted");
    // The kernel may have woken it already, or has seen no reason to: in a container the first process adopts it.
    let _ = rustix::process::kill_process(keeper, Signal::CONT);
    wait_until("the agent to be killed", || played.world.processes().is_empty().then_some(()));
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), DOER_TWICE);
}

fn stop_keeper(played: &PlayedRun) -> rustix::process::Pid {
    let processes = played.world.processes();
    let line = processes.iter().find(|line| line.contains("__keep")).expect("a keeper is at work");
    let pid = line.split(' ').next().and_then(|pid| pid.parse().ok()).expect("its pid stands first");
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, Signal::STOP).unwrap();
    pid
}
