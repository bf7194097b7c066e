//! Every kind of runaway child with every end: it exits, it meets its limit, the engine is killed, the keeper is killed. Each
//! time nothing is left alive. And the limits on what a family of processes may have.

mod support;

use std::path::Path;

use rustix::process::Signal;
use support::{World, example, keeper, run_aside, wait_until};
use windlass_process_supervisor::{ChildSpec, EndedBy, Found, HowEnded, find, sweep};
use windlass_test_support::control_groups_can_be_tried;

/// What it leaves behind or goes on with while its first process does something else.
const KINDS: [(&str, &str); 14] = [
    ("fork storm", "i=0; while [ $i -lt 60 ]; do setsid sh -c 'sleep 600 & sleep 600' & i=$((i+1)); done"),
    ("deaf to SIGTERM", "(trap '' TERM; while :; do sleep 600; done) &"),
    ("new session", "setsid sleep 600 &"),
    ("double fork", "(setsid sh -c 'sleep 600 &' &)"),
    ("streams closed", "setsid sleep 600 <&- >&- 2>&- &"),
    ("stdout kept open", "sleep 600 &"),
    ("stopped", "sleep 600 & kill -STOP $!"),
    ("chatty for ever", "(while :; do echo x; sleep 0.01; done) &"),
    ("floods stdout", "setsid yes &"),
    ("one endless line", "setsid sh -c 'cat /dev/zero' &"),
    ("floods stderr", "setsid yes >&2 &"),
    ("stdin never read", "sleep 600 <&0 &"),
    ("makes zombies", "setsid sh -c 'for i in 1 2 3 4 5; do true & done; exec sleep 600' &"),
    ("no environment", "env -i setsid sleep 600 &"),
];

fn spec(world: &World, kind: &str, then: &str) -> ChildSpec {
    let mut spec = world.script(&format!("{kind}\n: > $T/running; {then}"));
    spec.limits.grace_ms = 100;
    spec.limits.head_bytes = 10_000;
    spec.limits.tail_bytes = 10_000;
    spec
}

#[test]
fn at_its_exit_nothing_of_it_is_left() {
    for (name, kind) in KINDS {
        let world = World::new();
        let end = world.run(&spec(&world, kind, "exit 0"));
        assert_eq!((end.how, end.surviving_processes), (HowEnded::Exited { code: 0 }, 0), "{name}");
    }
}

#[test]
fn at_its_limit_nothing_of_it_is_left() {
    for (name, kind) in KINDS {
        let world = World::new();
        let mut spec = spec(&world, kind, "sleep 600");
        spec.limits.total_ms = 600;
        let end = world.run(&spec);
        assert_eq!((end.ended_by, end.surviving_processes), (Some(EndedBy::TotalLimit), 0), "{name}");
    }
}

#[test]
fn after_the_engine_was_killed_its_limit_still_leaves_nothing() {
    for (name, kind) in KINDS {
        let world = World::new();
        let mut spec = spec(&world, kind, "sleep 600");
        spec.limits.total_ms = 1_000;
        let given = world.file("given.json");
        std::fs::write(&given, serde_json::to_vec(&spec).unwrap()).unwrap();
        let arguments = [keeper().program, world.effect(), given];
        let arguments: Vec<&Path> = arguments.iter().map(AsRef::as_ref).collect();
        let engine = run_aside(example("engine"), &arguments, &world.file("engine.out"));
        world.wait_for_file("running");
        support::signal(&engine, Signal::KILL);
        wait_until("the end", || matches!(find(&world.effect()).unwrap(), Found::Ended(_)));
        world.assert_settled();
        let Found::Ended(end) = find(&world.effect()).unwrap() else { panic!("it had ended") };
        assert_eq!((end.ended_by, end.surviving_processes), (Some(EndedBy::TotalLimit), 0), "{name}");
    }
}

#[test]
fn after_the_keeper_was_killed_the_next_look_leaves_nothing() {
    // One that left its session and its environment and whose keeper is gone can be told from nobody.
    for (name, kind) in KINDS.into_iter().filter(|(name, _)| *name != "no environment") {
        let world = World::new();
        drop(world.start(&spec(&world, kind, "sleep 600")));
        world.wait_for_file("running");
        support::signal(&world.keeper_identity(), Signal::KILL);
        wait_until("the orphan", || matches!(find(&world.effect()).unwrap(), Found::Orphaned));
        let end = sweep(&world.effect()).unwrap();
        assert!(matches!(end.how, HowEnded::Lost { .. }), "{name}: {end:?}");
        assert_eq!(end.surviving_processes, 0, "{name}");
        world.assert_settled();
    }
}

#[test]
fn more_processes_than_allowed_end_it() {
    let world = World::new();
    let mut spec = world.script("while :; do setsid sleep 600 & sleep 0.01; done");
    spec.limits.processes = Some(20);
    let end = world.run(&spec);
    assert_eq!(end.ended_by, Some(EndedBy::ProcessLimit));
    assert!(end.leaked_processes >= 15, "{end:?}");
}

#[test]
fn more_memory_than_allowed_ends_it_however_it_is_spread() {
    // One process that grows, and several that grow together. The last word keeps a shell from becoming its `sleep`, which
    // would give back what it has.
    for script in [
        "x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 600; :",
        "for i in 1 2 3 4; do (x=$(head -c 25000000 /dev/zero | tr '\\0' x); sleep 600; :) & done; sleep 600",
    ] {
        let world = World::new();
        let mut spec = world.script(script);
        spec.limits.memory_bytes = Some(60_000_000);
        let end = world.run(&spec);
        assert_eq!(end.ended_by, Some(EndedBy::MemoryLimit), "{script}: {end:?}");
    }
}

/// A mapping that a process shares with so many children of its own.
fn sharing(world: &World, megabytes: u32, children: u32, seconds: u32) -> ChildSpec {
    let program = format!(
        "import mmap, os, time\n\
         m = mmap.mmap(-1, {megabytes} << 20)\n\
         m.write(b'x' * ({megabytes} << 20))\n\
         for _ in range({children}):\n  if os.fork() == 0:\n    sum(m[at] for at in range(0, len(m), 4096))\n    break\n\
         time.sleep({seconds})\n"
    );
    std::fs::write(world.file("sharing.py"), program).expect("the world can be written");
    world.script("exec python3 $T/sharing.py")
}

#[test]
fn memory_that_is_shared_counts_as_well() {
    let world = World::new();
    let mut spec = sharing(&world, 150, 0, 600);
    spec.limits.memory_bytes = Some(100_000_000);
    // Where the kernel keeps the limit, the process may be gone before anybody looks, but never within it.
    let end = world.run(&spec);
    assert_eq!(end.ended_by, Some(EndedBy::MemoryLimit), "{end:?}");
    let world = World::new();
    let mut spec = sharing(&world, 60, 4, 1);
    spec.limits.memory_bytes = Some(150_000_000);
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (HowEnded::Exited { code: 0 }, None), "it counts once");
}

#[test]
fn within_its_limits_it_ends_as_ever_and_leaves_no_group() {
    let world = World::new();
    let mut spec = world.script("sleep 0.3 & wait; cat /proc/self/cgroup; exit 3");
    spec.limits.processes = Some(50);
    spec.limits.memory_bytes = Some(1_000_000_000);
    let end = world.run(&spec);
    assert_eq!((end.how, end.ended_by), (HowEnded::Exited { code: 3 }, None));
    if !was_grouped(&world) {
        return;
    }
    assert!(world.stdout().contains("windlass-"), "it was born in the group: {}", world.stdout());
    let text = std::fs::read_to_string(world.effect().join("group.json")).unwrap();
    let group: serde_json::Value = serde_json::from_str(&text).unwrap();
    for directory in group["directories"].as_array().unwrap() {
        assert!(!Path::new(directory.as_str().unwrap()).exists(), "{directory} is left");
    }
}

/// False where this user may make no control groups, and xtask said so.
#[track_caller]
fn was_grouped(world: &World) -> bool {
    let grouped = world.effect().join("group.json").exists();
    control_groups_can_be_tried((!grouped).then(|| "the child got no control group".to_owned()))
}

#[test]
fn a_member_of_the_group_is_found_after_its_keeper_was_killed_whatever_it_left_behind() {
    let world = World::new();
    let mut spec = spec(&world, "env -i setsid sleep 600 & echo $! > $T/daemon;", "sleep 600");
    spec.limits.processes = Some(50);
    drop(world.start(&spec));
    world.wait_for_file("running");
    support::signal(&world.keeper_identity(), Signal::KILL);
    wait_until("the orphan", || matches!(find(&world.effect()).unwrap(), Found::Orphaned));
    sweep(&world.effect()).unwrap();
    world.assert_settled();
    let daemon = std::fs::read_to_string(world.file("daemon")).unwrap();
    let stat = format!("/proc/{}/stat", daemon.trim());
    if was_grouped(&world) {
        // One that nobody has reaped yet is dead all the same.
        let gone = || std::fs::read_to_string(&stat).map_or(true, |line| line.contains(") Z "));
        wait_until("the daemon to be gone", gone);
    } else {
        let pid = rustix::process::Pid::from_raw(daemon.trim().parse().unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
