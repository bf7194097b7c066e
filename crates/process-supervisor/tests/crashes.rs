//! Killed engines, killed keepers, two keepers at once: the child runs at most once and its end is never invented.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::path::Path;

use rustix::process::Signal;
use support::{World, example, keeper, run_aside};
use windlass_process_supervisor::{
    EndedBy, Found, HowEnded, SupervisorError, escapees, find, last_line, start, sweep,
};

/// Starts the child from an engine of its own and returns once the child runs.
fn started_by_another_engine(world: &World, script: &str) -> windlass_process_supervisor::ProcessIdentity {
    let spec = world.file("given.json");
    std::fs::write(&spec, serde_json::to_vec(&world.script(script)).unwrap()).unwrap();
    let arguments = [&keeper().program, &world.effect(), &spec].map(Clone::clone);
    let arguments: Vec<&Path> = arguments.iter().map(AsRef::as_ref).collect();
    let engine = run_aside(example("engine"), &arguments, &world.file("engine.out"));
    world.wait_for_file("running");
    engine
}

fn running(world: &World) -> windlass_process_supervisor::KeptChild {
    match find(&world.effect()).unwrap() {
        Found::Running(child) => child,
        other => panic!("{other:?}"),
    }
}

const UNTIL_TOLD: &str =
    "echo run >> $T/count; : > $T/running; until [ -e $T/go ]; do sleep 0.01; done; exit 42";

#[test]
fn after_the_engine_is_killed_the_child_is_adopted_with_its_true_exit_code() {
    let world = World::new();
    let engine = started_by_another_engine(&world, UNTIL_TOLD);
    support::signal(&engine, Signal::KILL);
    support::wait_until("the engine to be gone", || !engine.is_alive());
    let mut child = running(&world);
    std::fs::write(world.file("go"), "").unwrap();
    assert_eq!(support::wait(&mut child).how, HowEnded::Exited { code: 42 });
    world.assert_settled();
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn a_child_that_ended_while_no_engine_was_there_is_found_ended() {
    let world = World::new();
    let engine = started_by_another_engine(&world, UNTIL_TOLD);
    support::signal(&engine, Signal::KILL);
    std::fs::write(world.file("go"), "").unwrap();
    support::wait_until("the end", || matches!(find(&world.effect()).unwrap(), Found::Ended(_)));
    let Found::Ended(end) = find(&world.effect()).unwrap() else { panic!("it had ended") };
    assert_eq!(end.how, HowEnded::Exited { code: 42 });
}

#[test]
fn limits_hold_while_no_engine_is_there() {
    let world = World::new();
    let mut spec = world.script(": > $T/running; exec sleep 600");
    spec.limits.total_ms = 500;
    drop(world.start(&spec));
    support::wait_until("the end", || matches!(find(&world.effect()).unwrap(), Found::Ended(_)));
    let Found::Ended(end) = find(&world.effect()).unwrap() else { panic!("it had ended") };
    assert_eq!(end.ended_by, Some(EndedBy::TotalLimit));
    world.assert_settled();
}

#[test]
fn starting_what_runs_already_adopts_it() {
    let world = World::new();
    let spec = world.script(UNTIL_TOLD);
    let first = world.start(&spec);
    world.wait_for_file("running");
    let mut second = world.start(&spec);
    drop(first);
    std::fs::write(world.file("go"), "").unwrap();
    assert_eq!(support::wait(&mut second).how, HowEnded::Exited { code: 42 });
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn an_adopted_child_can_be_stopped() {
    let world = World::new();
    let engine = started_by_another_engine(&world, UNTIL_TOLD);
    support::signal(&engine, Signal::KILL);
    let mut child = running(&world);
    child.stop().unwrap();
    let end = support::wait(&mut child);
    assert_eq!(end.ended_by, Some(EndedBy::StopRequest));
    world.assert_settled();
}

#[test]
fn when_the_keeper_is_killed_the_child_is_lost_and_nothing_is_left_alive() {
    let world = World::new();
    let script =
        "setsid sleep 600 & (sleep 600 &) ; echo said; echo run >> $T/count; : > $T/running; exec sleep 600";
    let mut child = world.start(&world.script(script));
    world.wait_for_file("running");
    support::wait_until("the output", || last_line(&world.effect()).as_deref() == Some("said"));
    support::signal(&world.keeper_identity(), Signal::KILL);
    let end = support::wait(&mut child);
    assert!(matches!(end.how, HowEnded::Lost { .. }), "{end:?}");
    assert_eq!((end.leaked_processes, end.stdout_bytes), (3, 5));
    world.assert_settled();
    assert_eq!(support::wait(&mut world.start(&world.script(script))), end, "and it stays lost");
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn an_engine_that_comes_back_finds_the_orphan_and_sweeps_it() {
    let world = World::new();
    let engine = started_by_another_engine(&world, UNTIL_TOLD);
    support::signal(&engine, Signal::KILL);
    assert!(
        matches!(sweep(&world.effect()), Err(SupervisorError::KeeperAlive { .. })),
        "not while it is kept"
    );
    let keeper = world.keeper_identity();
    support::signal(&keeper, Signal::KILL);
    support::wait_until("the keeper to be gone", || !keeper.is_alive());
    assert!(matches!(find(&world.effect()).unwrap(), Found::Orphaned));
    assert_ne!(escapees(&world.cookie).unwrap(), [], "the child runs on");
    let end = sweep(&world.effect()).unwrap();
    assert!(matches!(end.how, HowEnded::Lost { .. }));
    world.assert_settled();
    assert_eq!(sweep(&world.effect()).unwrap(), end, "sweeping again changes nothing");
}

#[test]
fn a_member_of_the_childs_group_without_our_cookie_is_swept_too() {
    let world = World::new();
    let script =
        "env -i /bin/sh -c \"echo \\$\\$ > $T/pid; mv $T/pid $T/running; exec sleep 600\" & exec sleep 600";
    let mut child = world.start(&world.script(script));
    world.wait_for_file("running");
    world.wait_for_file("effect/child.json");
    support::signal(&world.keeper_identity(), Signal::KILL);
    assert!(matches!(support::wait(&mut child).how, HowEnded::Lost { .. }));
    let pid = std::fs::read_to_string(world.file("running")).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(state.is_err() || state.unwrap().contains(") Z "), "it is alive");
}

#[test]
fn a_second_keeper_after_a_killed_one_does_not_start_the_child_again() {
    let world = World::new();
    drop(world.start(&world.script(UNTIL_TOLD)));
    world.wait_for_file("running");
    let first = world.keeper_identity();
    support::signal(&first, Signal::KILL);
    support::wait_until("the keeper to be gone", || !first.is_alive());
    let second = run_aside(example("keeper"), &[&world.effect()], &world.file("keeper.out"));
    support::wait_until("the second keeper to end", || !second.is_alive());
    let Found::Ended(end) = find(&world.effect()).unwrap() else { panic!("it is settled") };
    assert!(matches!(end.how, HowEnded::Lost { .. }));
    world.assert_settled();
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn a_keeper_killed_between_saying_who_it_is_and_recording_the_child_loses_the_child() {
    let world = World::new();
    drop(world.start(&world.script(UNTIL_TOLD)));
    world.wait_for_file("running");
    let first = world.keeper_identity();
    support::signal(&first, Signal::KILL);
    support::wait_until("the keeper to be gone", || !first.is_alive());
    // If the keeper was fast enough to write it.
    let _ = std::fs::remove_file(world.effect().join("child.json"));
    let end = sweep(&world.effect()).unwrap();
    assert!(matches!(end.how, HowEnded::Lost { .. }));
    assert!(end.leaked_processes >= 1, "found by its cookie");
    world.assert_settled();
}

#[test]
fn a_crash_of_the_keeper_at_every_point_leaves_one_end_and_at_most_one_run() {
    // keeper.json, the child, child.json, exit.json: before and after each; the ninth point is never reached.
    for point in 1..=9 {
        let world = World::new();
        let mut crashing = keeper();
        crashing.environment.insert("WINDLASS_CRASH_AT".into(), point.to_string().into());
        let spec = world.script("echo run >> $T/count; exit 6");
        let end = support::wait(&mut start(&crashing, &world.effect(), &spec).unwrap());
        world.assert_settled();
        let runs = std::fs::read_to_string(world.file("count")).unwrap_or_default();
        let (expected_how, expected_runs): (fn(&HowEnded) -> bool, &[&str]) = match point {
            1..=3 => (|how| matches!(how, HowEnded::Lost { .. }), &[""]),
            4..=6 => (|how| matches!(how, HowEnded::Lost { .. }), &["", "run\n"]),
            7 => (|how| matches!(how, HowEnded::Lost { .. }), &["run\n"]),
            _ => (|how| *how == HowEnded::Exited { code: 6 }, &["run\n"]),
        };
        assert!(expected_how(&end.how), "point {point}: {end:?}");
        assert!(expected_runs.contains(&runs.as_str()), "point {point}: {runs:?}");
    }
}

#[test]
fn a_closed_terminal_does_not_end_the_child() {
    let world = World::new();
    let mut child = world.start(&world.script(UNTIL_TOLD));
    world.wait_for_file("running");
    support::signal(&world.keeper_identity(), Signal::HUP);
    std::fs::write(world.file("go"), "").unwrap();
    let end = support::wait(&mut child);
    assert_eq!((end.how, end.ended_by), (HowEnded::Exited { code: 42 }, None));
}

#[test]
fn of_two_keepers_in_one_directory_one_starts_the_child_and_the_other_leaves() {
    let world = World::new();
    std::fs::create_dir(world.effect()).unwrap();
    let spec = serde_json::to_vec(&world.script(UNTIL_TOLD)).unwrap();
    std::fs::write(world.effect().join("spec.json"), spec).unwrap();
    let keepers: Vec<_> =
        (0..4).map(|_| run_aside(example("keeper"), &[&world.effect()], &world.file("keeper.out"))).collect();
    world.wait_for_file("running");
    support::wait_until("the losers to leave", || keepers.iter().filter(|one| one.is_alive()).count() == 1);
    let mut child = running(&world);
    std::fs::write(world.file("go"), "").unwrap();
    assert_eq!(support::wait(&mut child).how, HowEnded::Exited { code: 42 });
    world.assert_settled();
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
}

#[test]
fn engines_that_start_the_same_effect_at_once_all_see_its_one_end() {
    let world = World::new();
    let spec = world.script("echo run >> $T/count; exit 11");
    let ends: Vec<_> = std::thread::scope(|scope| {
        let engines: Vec<_> =
            (0..4).map(|_| scope.spawn(|| support::wait(&mut world.start(&spec)))).collect();
        engines.into_iter().map(|engine| engine.join().unwrap()).collect()
    });
    assert!(ends.iter().all(|end| end.how == HowEnded::Exited { code: 11 }), "{ends:?}");
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\n");
    world.assert_settled();
}

#[test]
fn waiting_may_be_given_up_and_taken_up_again() {
    let world = World::new();
    let mut child = world.start(&world.script(UNTIL_TOLD));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let given_up = runtime.block_on(async {
        tokio::select! {
            biased;
            end = child.wait() => Some(end),
            () = std::future::ready(()) => None,
        }
    });
    assert!(given_up.is_none());
    std::fs::write(world.file("go"), "").unwrap();
    let end = runtime.block_on(child.wait()).unwrap();
    assert_eq!(end.how, HowEnded::Exited { code: 42 });
    assert_eq!(runtime.block_on(child.wait()).unwrap(), end, "and once more");
}

/// A power cut can leave a name whose content never reached the disk.
#[test]
fn files_that_a_power_cut_emptied_count_as_missing() {
    let world = World::new();
    world.run(&world.script("echo run >> $T/count"));
    let empty = |name: &str| std::fs::write(world.effect().join(name), "").unwrap();
    empty("exit.json");
    assert!(matches!(find(&world.effect()).unwrap(), Found::Orphaned));
    empty("spec.json");
    let end = sweep(&world.effect()).unwrap();
    assert!(matches!(&end.how, HowEnded::Lost { reason } if reason.contains("machine went down")), "{end:?}");
    for name in ["exit.json", "keeper.json"] {
        empty(name);
    }
    assert!(matches!(find(&world.effect()).unwrap(), Found::NotStarted));
    world.run(&world.script("echo run >> $T/count"));
    assert_eq!(std::fs::read_to_string(world.file("count")).unwrap(), "run\nrun\n");
}
