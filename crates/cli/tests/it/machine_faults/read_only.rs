//! Places that cannot be written, from the start and from the middle of a run on.

use super::{assert_goes_on, assert_told, undisturbed, undisturbed_without_sandbox, with_private_mounts};
use crate::crash_points::{Actor, Ending, Stage};
use std::path::PathBuf;
use windlass_test_support::{ReadOnly, World};

const TOLD: [&str; 2] = ["Read-only file system", "readonly database"];

fn git_directory(world: &World) -> PathBuf {
    world.path().join("r/.git")
}

fn run_directories(world: &World) -> PathBuf {
    world.path().join("r/.orchestrator")
}

fn survives_from_the_start(place: fn(&World) -> PathBuf, expected: &Ending) {
    let stage = Stage::set_up();
    let read_only = ReadOnly::make(&place(&stage.world));
    let when = place(&stage.world).display().to_string();
    assert_told(&stage.run(), &TOLD, &when);
    drop(read_only);
    stage.assert_user_s_things_untouched();
    assert_goes_on(&stage, expected, &when);
}

fn survives_from_the_first_doer_on(place: fn(&World) -> PathBuf, expected: &Ending) {
    let stage = Stage::with_last_act(Actor::FirstDoer, |world| {
        format!("{{ run = ['sh', '-c', '{}'] }}", ReadOnly::words(&place(world)))
    });
    let output = stage.run();
    let read_only = ReadOnly::made_by_a_script(&place(&stage.world));
    let when = place(&stage.world).display().to_string();
    assert_told(&output, &TOLD, &when);
    let _ = stage.world.windlass(&["ls", "--json"]).exits_with(0);
    drop(read_only);
    stage.assert_user_s_things_untouched();
    assert_goes_on(&stage, expected, &when);
}

with_private_mounts! {
    from_the_start = || {
        let expected = undisturbed();
        let repository = |world: &World| world.path().join("r");
        for place in [World::state_dir, git_directory, repository, run_directories] {
            survives_from_the_start(place, &expected);
        }
    };

    from_the_first_doer_on = || {
        let expected = undisturbed_without_sandbox();
        for place in [git_directory, run_directories] {
            survives_from_the_first_doer_on(place, &expected);
        }
    };
}
