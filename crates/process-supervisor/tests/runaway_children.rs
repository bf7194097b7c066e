//! Children that do not behave: every one of them ends within its limits and leaves nothing alive.

mod support;

use rustix::process::Signal;
use support::World;
use windlass_process_supervisor::{EndedBy, HowEnded, escapees};

fn signaled(signal: Signal) -> HowEnded {
    HowEnded::Signaled { signal: signal.as_raw() }
}

#[test]
fn silence_longer_than_the_idle_limit_ends_it() {
    let world = World::new();
    let mut spec = world.script("echo hello; exec sleep 600");
    spec.limits.idle_ms = Some(200);
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (signaled(Signal::TERM), Some(EndedBy::IdleLimit)));
    assert!((200..20_000).contains(&end.duration_ms), "{}", end.duration_ms);
}

#[test]
fn one_that_chats_for_ever_hits_the_total_limit_and_not_the_idle_limit() {
    let world = World::new();
    let mut spec = world.script("while :; do echo still here; sleep 0.02; done");
    spec.limits.idle_ms = Some(10_000);
    spec.limits.total_ms = 400;
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (signaled(Signal::TERM), Some(EndedBy::TotalLimit)));
    assert!(world.stdout().starts_with("still here\nstill here\n"));
}

#[test]
fn one_that_writes_without_end_hits_the_total_limit_too() {
    let world = World::new();
    let mut spec = world.script("exec yes");
    spec.limits.total_ms = 300;
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (signaled(Signal::TERM), Some(EndedBy::TotalLimit)));
}

#[test]
fn more_output_than_allowed_ends_it_on_either_stream() {
    for script in ["exec yes", "exec yes >&2"] {
        let world = World::new();
        let mut spec = world.script(script);
        spec.limits.output_bytes = Some(1_000_000);
        let end = world.run(&spec);
        assert_eq!(end.ended_by, Some(EndedBy::OutputLimit), "{script}");
        assert!(end.stdout_bytes + end.stderr_bytes > 1_000_000);
    }
}

#[test]
fn a_flood_without_a_line_end_costs_the_keeper_no_memory() {
    let world = World::new();
    let mut spec = world.script("head -c 200000000 /dev/zero; : > $T/flooded; exec sleep 600");
    spec.limits.head_bytes = 100_000;
    spec.limits.tail_bytes = 100_000;
    let mut child = world.start(&spec);
    world.wait_for_file("flooded");
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.keeper_identity().pid)).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kb < 12_000, "the keeper used {peak_kb} kB");
    child.stop().unwrap();
    let end = support::wait(&mut child);
    world.assert_settled();
    assert_eq!((end.stdout_bytes, end.ended_by), (200_000_000, Some(EndedBy::StopRequest)));
    assert!(world.stdout().len() < 201_000);
    assert!(world.stdout().contains("left out 199800000 bytes"));
}

#[test]
fn one_that_ignores_the_polite_signal_is_killed_after_the_grace_period() {
    let world = World::new();
    let mut spec = world.script("trap '' TERM; : > $T/ready; while :; do sleep 0.1; done");
    spec.limits.grace_ms = 300;
    let mut child = world.start(&spec);
    world.wait_for_file("ready");
    child.stop().unwrap();
    let end = support::wait(&mut child);
    world.assert_settled();
    assert_eq!((end.how, end.ended_by), (signaled(Signal::KILL), Some(EndedBy::StopRequest)));
    assert!(end.duration_ms >= 300, "{}", end.duration_ms);
}

#[test]
fn one_that_tidies_up_on_the_polite_signal_is_given_the_time_and_drained() {
    let world = World::new();
    let script = "trap 'seq 1 100000; echo tidy; exit 5' TERM; : > $T/ready; while :; do sleep 0.01; done";
    let mut child = world.start(&world.script(script));
    world.wait_for_file("ready");
    child.stop().unwrap();
    let end = support::wait(&mut child);
    world.assert_settled();
    assert_eq!((end.how, end.ended_by), (HowEnded::Exited { code: 5 }, Some(EndedBy::StopRequest)));
    assert!(world.stdout().ends_with("tidy\n"));
}

#[test]
fn a_kill_does_not_wait_for_the_grace_period() {
    let world = World::new();
    let mut spec = world.script("trap '' TERM; : > $T/ready; while :; do sleep 0.1; done");
    spec.limits.grace_ms = 600_000;
    let mut child = world.start(&spec);
    world.wait_for_file("ready");
    child.stop().unwrap();
    child.kill().unwrap();
    let end = support::wait(&mut child);
    world.assert_settled();
    assert_eq!((end.how, end.ended_by), (signaled(Signal::KILL), Some(EndedBy::StopRequest)));
}

#[test]
fn a_second_polite_request_kills() {
    let world = World::new();
    let mut spec = world.script("trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done");
    spec.limits.grace_ms = 600_000;
    let mut child = world.start(&spec);
    let log = world.effect().join("stdout.log");
    let shows = |text: &str| std::fs::read_to_string(&log).is_ok_and(|shown| shown.contains(text));
    support::wait_until("the child to be ready", || shows("ready"));
    child.stop().unwrap();
    support::wait_until("the child to be asked", || shows("asked"));
    child.stop().unwrap();
    assert_eq!(support::wait(&mut child).how, signaled(Signal::KILL));
    world.assert_settled();
}

#[test]
fn a_daemon_in_its_own_session_is_found_and_killed() {
    let world = World::new();
    let script = "setsid sh -c ': > $T/daemon; exec sleep 600' >/dev/null 2>&1 </dev/null & \
                  until [ -e $T/daemon ]; do :; done; exit 4";
    let end = world.run(&world.script(script));
    assert_eq!(end.how, HowEnded::Exited { code: 4 });
    assert_eq!(end.leaked_processes, 1);
}

#[test]
fn a_daemon_without_our_cookie_is_found_by_its_descent() {
    let world = World::new();
    let script = "( env -i setsid sh -c \"echo \\$\\$ > $T/daemon; exec sleep 600\" & ) ; \
                  until [ -s $T/daemon ]; do :; done";
    let end = world.run(&world.script(script));
    assert_eq!((end.how, end.leaked_processes), (HowEnded::Exited { code: 0 }, 1));
    let pid = std::fs::read_to_string(world.file("daemon")).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "the daemon is alive");
}

#[test]
fn a_double_forked_daemon_that_keeps_the_output_open_delays_the_end_by_the_leak_limit_only() {
    let world = World::new();
    let script = "( setsid sh -c ': > $T/daemon; sleep 20; : > $T/outlived' & ) ; until [ -e $T/daemon ]; do :; done; echo end";
    let mut spec = world.script(script);
    spec.limits.leak_ms = 250;
    let end = world.run(&spec);
    assert_eq!(end.how, HowEnded::Exited { code: 0 });
    assert!(end.leaked_processes >= 1, "the daemon and perhaps its sleep");
    assert_eq!(world.stdout(), "end\n");
    assert!(!world.file("outlived").exists(), "the end waited for the end of the output");
}

#[test]
fn a_daemon_that_floods_the_inherited_output_does_not_delay_the_end_either() {
    let world = World::new();
    let script = "( setsid sh -c ': > $T/daemon; exec yes' & ) ; until [ -e $T/daemon ]; do :; done";
    let end = world.run(&world.script(script));
    assert_eq!((end.how, end.leaked_processes), (HowEnded::Exited { code: 0 }, 1));
}

#[test]
fn a_background_job_of_the_same_group_dies_with_the_child() {
    let world = World::new();
    let end = world.run(&world.script("sleep 600 & sleep 600 & exit 0"));
    assert_eq!((end.how, end.leaked_processes), (HowEnded::Exited { code: 0 }, 2));
}

#[test]
fn a_stopped_child_is_ended_by_its_limits_and_hears_the_polite_signal() {
    let world = World::new();
    let mut spec = world.script("trap 'exit 9' TERM; kill -STOP $$; while :; do sleep 0.05; done");
    spec.limits.idle_ms = Some(300);
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (HowEnded::Exited { code: 9 }, Some(EndedBy::IdleLimit)));
}

#[test]
fn stopped_descendants_are_killed() {
    let world = World::new();
    let script =
        "setsid sh -c ': > $T/daemon; kill -STOP $$' >/dev/null 2>&1 & until [ -e $T/daemon ]; do :; done";
    let end = world.run(&world.script(script));
    assert_eq!((end.how, end.leaked_processes), (HowEnded::Exited { code: 0 }, 1));
}

#[test]
fn a_storm_of_a_hundred_detached_processes_is_swept() {
    let world = World::new();
    let script = "i=0; while [ $i -lt 100 ]; do setsid sleep 600 >/dev/null 2>&1 & i=$((i+1)); done; exit 0";
    let end = world.run(&world.script(script));
    assert_eq!(end.how, HowEnded::Exited { code: 0 });
    assert!(end.leaked_processes > 50, "{}", end.leaked_processes);
}

#[test]
fn a_bomb_that_goes_on_forking_while_it_is_swept_loses() {
    let world = World::new();
    // Every process starts others for as long as fewer than a hundred were started.
    let bomb =
        "b() { while :; do [ $(ls $T/bomb | wc -l) -lt 100 ] && mktemp -p $T/bomb && b & wait; done; }; b";
    std::fs::create_dir(world.file("bomb")).unwrap();
    std::fs::write(world.file("bomb.sh"), bomb).unwrap();
    let script = "setsid sh $T/bomb.sh >/dev/null 2>&1 & until [ $(ls $T/bomb | wc -l) -gt 10 ]; do :; done";
    let end = world.run(&world.script(script));
    assert_eq!((end.how, end.surviving_processes), (HowEnded::Exited { code: 0 }, 0));
    assert!(end.leaked_processes >= 5, "{}", end.leaked_processes);
}

#[test]
fn a_process_that_hops_from_pid_to_pid_is_caught() {
    let world = World::new();
    let script = "setsid sh -c 'hop() { : > $T/hopping; hop & exit 0; }; hop' >/dev/null 2>&1 & \
                  until [ -e $T/hopping ]; do :; done";
    let end = world.run(&world.script(script));
    assert_eq!((end.how, end.surviving_processes), (HowEnded::Exited { code: 0 }, 0));
    assert_eq!(escapees(&world.cookie).unwrap(), []);
}

#[test]
fn zombies_of_double_forks_do_not_gather_under_the_keeper() {
    let world = World::new();
    let script = "i=0; while [ $i -lt 50 ]; do ( : & ) ; i=$((i+1)); done; : > $T/forked; exec sleep 600";
    let mut child = world.start(&world.script(script));
    world.wait_for_file("forked");
    let keeper = world.keeper_identity().pid;
    let children = format!("/proc/{keeper}/task/{keeper}/children");
    support::wait_until("only the child to be left", || {
        std::fs::read_to_string(&children).unwrap().split_whitespace().count() == 1
    });
    child.kill().unwrap();
    support::wait(&mut child);
    world.assert_settled();
}

#[test]
fn a_child_that_closes_its_streams_and_goes_on_is_still_bounded() {
    let world = World::new();
    let mut spec = world.script("exec >&- 2>&- <&-; exec sleep 600");
    spec.limits.total_ms = 300;
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (signaled(Signal::TERM), Some(EndedBy::TotalLimit)));
}
