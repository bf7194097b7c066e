//! What a played script is as a process: how it reads, waits, hangs, dies and leaves others behind.

#![expect(clippy::unwrap_used, reason = "the helpers among the tests are parts of tests")]

mod stage;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Signal, kill_process};
use stage::{Stage, eventually, pid_of};

fn lines_of(child: &mut Child) -> BufReader<ChildStdout> {
    BufReader::new(child.stdout.take().unwrap())
}

fn next_line(lines: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line
}

#[test]
fn the_prompt_is_read_to_its_end_before_the_first_action() {
    let stage = Stage::with_actions("{ say = 'begun' },\n{ save_prompt = 'prompt' },");
    let mut child = stage.command().stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: an agent that did not read would leave us stuck here.
    let prompt = "do this\n".repeat(50_000);
    stdin.write_all(prompt.as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(next_line(&mut lines_of(&mut child)), "begun\n");
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_to_string(stage.note("prompt")).unwrap(), prompt);
}

#[test]
fn a_step_that_ignores_its_prompt_does_not_wait_for_its_end() {
    let stage = Stage::with_script("[[step]]\nstdin = 'ignore'\ndo = [{ say = 'begun' }]");
    let mut child = stage.command().stdin(Stdio::piped()).spawn().unwrap();
    let held_open = child.stdin.take().unwrap();
    assert!(child.wait().unwrap().success());
    drop(held_open);
}

#[test]
fn crashes_are_real_signals_and_leave_no_core() {
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("ABRT", 6)] {
        let stage = Stage::with_actions(&format!("{{ crash = '{name}' }},"));
        let output = stage.play();
        assert_eq!(output.status.signal(), Some(number), "{name}");
        assert!(!output.status.core_dumped(), "{name}");
    }
}

#[test]
fn a_quiet_hang_ends_by_sigterm() {
    let stage = Stage::with_actions("{ say = 'now' },\n{ hang = 'quiet' },");
    let mut child = stage.start();
    let mut lines = lines_of(&mut child);
    assert_eq!(next_line(&mut lines), "now\n");
    kill_process(pid_of(child.id()), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(next_line(&mut lines), "");
}

#[test]
fn a_chatty_hang_keeps_talking() {
    let stage = Stage::with_actions("{ hang = { every_ms = 1, text = 'la' } },");
    let mut child = stage.start();
    let mut lines = lines_of(&mut child);
    for _ in 0..50 {
        assert_eq!(next_line(&mut lines), "la\n");
    }
    kill_process(pid_of(child.id()), Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[test]
fn an_agent_deaf_to_sigterm_goes_on_after_it() {
    let stage = Stage::with_actions(
        "{ ignore_term = true },\n{ say = 'deaf' },\n{ wait_for = 'go' },\n{ say = 'still here' },\n{ exit = 7 },",
    );
    let mut child = stage.start();
    let mut lines = lines_of(&mut child);
    assert_eq!(next_line(&mut lines), "deaf\n");
    kill_process(pid_of(child.id()), Signal::TERM).unwrap();
    fs::write(stage.note("go"), "").unwrap();
    assert_eq!(next_line(&mut lines), "still here\n");
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn a_deaf_quiet_hang_takes_sigterm_and_hangs_on() {
    let stage = Stage::with_actions("{ ignore_term = true },\n{ say = 'deaf' },\n{ hang = 'quiet' },");
    let mut child = stage.start();
    assert_eq!(next_line(&mut lines_of(&mut child)), "deaf\n");
    kill_process(pid_of(child.id()), Signal::TERM).unwrap();
    let status = format!("/proc/{}/status", child.id());
    // Asleep with nothing pending: a process that the signal had ended would never be seen like this.
    eventually("the signal was taken and the agent sleeps again", || {
        let status = fs::read_to_string(&status).unwrap();
        status.contains("State:\tS") && status.contains("ShdPnd:\t0000000000000000")
    });
    kill_process(pid_of(child.id()), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn waiting_ends_when_the_file_appears() {
    let stage = Stage::with_actions("{ say = 'waiting' },\n{ wait_for = 'go-{round}' },\n{ say = 'gone' },");
    let mut child = stage.start();
    let mut lines = lines_of(&mut child);
    assert_eq!(next_line(&mut lines), "waiting\n");
    assert!(child.try_wait().unwrap().is_none());
    fs::write(stage.note("go-1"), "").unwrap();
    assert_eq!(next_line(&mut lines), "gone\n");
    assert!(child.wait().unwrap().success());
}

/// Parent, group and session of a process, as the descendant itself saw them.
struct Family {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
}

/// Plays a fork of this kind; the agent waits until its descendant has left a note about itself, then exits.
fn family_of_a_fork(kind: &str) -> (Stage, u32, Family) {
    let stage = Stage::with_actions(&format!(
        r#"
        {{ fork = {{ kind = "{kind}", then = [
            {{ run = ["sh", "-c", "cat /proc/$PPID/stat > '{{script_dir}}/part' && mv '{{script_dir}}/part' '{{script_dir}}/stat'"] }},
            {{ hang = "quiet" }},
        ] }} }},
        {{ wait_for = "stat" }},
        "#
    ));
    let mut child = stage.start();
    let agent = child.id();
    // Read to the end: it comes only if the descendant does not hold our pipe.
    let mut said = String::new();
    lines_of(&mut child).read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    let stat = fs::read_to_string(stage.note("stat")).unwrap();
    let pid = stat.split(' ').next().unwrap().parse().unwrap();
    let after_name: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let number = |place: usize| after_name[place].parse().unwrap();
    let family = Family { pid, parent: number(1), group: number(2), session: number(3) };
    assert!(stage.alive().contains(&family.pid), "the descendant outlives the agent");
    (stage, agent, family)
}

#[test]
fn a_forked_child_stays_in_the_group() {
    let (_stage, agent, family) = family_of_a_fork("child");
    assert_eq!((family.parent, family.group), (agent, agent));
    assert_ne!(family.session, family.pid);
}

#[test]
fn a_setsid_child_leads_a_session_of_its_own() {
    let (_stage, agent, family) = family_of_a_fork("setsid");
    assert_eq!((family.parent, family.group, family.session), (agent, family.pid, family.pid));
}

#[test]
fn a_double_fork_has_lost_its_parent_and_its_session() {
    let (stage, agent, family) = family_of_a_fork("double");
    assert_ne!(family.parent, agent);
    assert_ne!(family.group, agent);
    assert_ne!(family.session, family.pid);
    assert_eq!(family.session, family.group);
    assert_eq!(stage.alive(), [family.pid], "the process in between is gone");
}

#[test]
fn a_descendant_can_hold_the_agents_stdout_open() {
    for kind in ["child", "setsid", "double"] {
        let stage = Stage::with_actions(&format!(
            "{{ fork = {{ kind = '{kind}', hold_stdout = true, then = [
                {{ wait_for = 'go' }}, {{ say = 'from beyond' }},
            ] }} }},"
        ));
        let mut child = stage.start();
        let mut lines = lines_of(&mut child);
        assert!(child.wait().unwrap().success(), "{kind}");
        fs::write(stage.note("go"), "").unwrap();
        assert_eq!(next_line(&mut lines), "from beyond\n", "{kind}");
        assert_eq!(next_line(&mut lines), "", "{kind}");
    }
}

#[test]
fn a_descendant_can_keep_writing_into_the_workspace() {
    let stage =
        Stage::with_actions("{ fork = { kind = 'double', then = [{ beat = 'late.txt', every_ms = 1 }] } },");
    assert!(stage.play().status.success());
    let beats = || fs::read_to_string(stage.work("late.txt")).map_or(0, |text| text.lines().count());
    eventually("beats come after the agent's end", || beats() > 3);
    let before = beats();
    eventually("beats go on", || beats() > before);
}

#[test]
fn a_storm_has_the_number_of_children_asked_for() {
    let stage = Stage::with_actions(
        "{ fork_storm = { count = 12, then = [{ count = 'storm' }, { wait_for = 'go' }] } },",
    );
    assert!(stage.play().status.success());
    let started = || fs::read_to_string(stage.note("storm")).map_or(0, |text| text.lines().count());
    eventually("all children have started", || started() == 12);
    assert_eq!(stage.alive().len(), 12);
    fs::write(stage.note("go"), "").unwrap();
    eventually("all children have ended", || stage.alive().is_empty());
}

#[test]
fn forks_may_fork() {
    let stage = Stage::with_actions(
        "{ fork = { kind = 'setsid', then = [
             { fork = { kind = 'double', then = [{ write = 'inner', text = 'x' }] } },
         ] } },",
    );
    assert!(stage.play().status.success());
    eventually("the inner descendant has done its work", || stage.work("inner").exists());
    eventually("everybody has ended", || stage.alive().is_empty());
}

/// In a container the session's leader may lie outside the pid namespace; then the session has no number inside.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test stands where the supervisor stands")]
fn a_session_led_from_outside_the_pid_namespace_confuses_nobody() {
    let stage = Stage::with_actions(
        "{ fork = { kind = 'setsid', then = [{ run = ['touch', '{script_dir}/done'] }] } },
         { wait_for = 'done' },",
    );
    let namespace = ["--map-root-user", "--pid", "--fork", "--mount-proc"];
    let possible = Command::new("unshare").args(namespace).arg("true").output();
    if !possible.is_ok_and(|probe| probe.status.success()) {
        // Nobody can be in such a place on this machine either.
        return;
    }
    let played = stage.command();
    let mut command = Command::new("unshare");
    command.args(namespace).arg(played.get_program()).args(played.get_args()).env_clear();
    command.envs(played.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(stage.work("")).stdin(Stdio::null());
    assert!(command.status().unwrap().success());
    assert!(stage.note("done").exists(), "the descendant has done its work");
}
