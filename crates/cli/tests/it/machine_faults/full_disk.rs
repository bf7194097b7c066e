//! A task whose repository and state directory lie on a disk that becomes full: at sizes from almost nothing to enough, and
//! at the one moment that would cost a step, when an agent has just ended.

use super::{assert_goes_on, assert_told, undisturbed, undisturbed_without_sandbox, with_private_mounts};
use crate::crash_points::{Actor, Stage, is_campaign};
use crate::scene::Scene;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use windlass_test_support::{Script, SmallDisk};

/// The campaign's sizes.
const STEP: u64 = 16;
const SIZES: u64 = 64;
/// Outside of campaigns.
const FEW_SIZES: u64 = 6;
/// With so much a judge found no room for its answer.
const FAILED_ONCE: u64 = 612;

/// How the different parts of the program say it.
pub(super) const FULL: [&str; 4] =
    ["No space left on device", "Out of diskspace", "disk is full", "no space is left"];

/// How much more than it begins with, in KiB, each case of a campaign has.
fn all_rooms(needed: u64) -> Vec<u64> {
    let step = STEP.max(needed / SIZES);
    (0..SIZES).map(|number| 4 + number * step).collect()
}

/// The sizes that have their turn: those somebody named, all of a campaign, else a few.
pub(super) fn rooms(needed: impl Fn() -> u64, few: impl Fn() -> Vec<u64>) -> Vec<u64> {
    named_rooms().unwrap_or_else(|| if is_campaign() { all_rooms(needed()) } else { few() })
}

/// `WINDLASS_DISK_ROOMS=612,628` tries just these, so that a size a campaign failed at can be looked into.
#[expect(clippy::disallowed_methods, reason = "a test is not the program")]
fn named_rooms() -> Option<Vec<u64>> {
    let named = std::env::var("WINDLASS_DISK_ROOMS").ok()?;
    Some(named.split(',').map(|room| room.parse().expect("a number of KiB")).collect())
}

/// Tries every size, so that one that fails does not hide the others; the sizes that were too little.
pub(super) fn too_little(rooms: &[u64], mut fails_at: impl FnMut(u64) -> bool) -> Vec<u64> {
    let mut wrong = Vec::new();
    let mut failed = Vec::new();
    for room in rooms {
        match catch_unwind(AssertUnwindSafe(|| fails_at(*room))) {
            Ok(true) => failed.push(*room),
            Ok(false) => {}
            Err(_) => wrong.push(*room),
        }
    }
    assert!(wrong.is_empty(), "of {} sizes, these were not survived: {wrong:?} KiB", rooms.len());
    failed
}

/// Shell words that leave no room on the disk below this directory.
fn fill(directory: &Path) -> String {
    format!("cat /dev/zero > {}/filler 2>/dev/null", directory.display())
}

fn on_a_disk(stage: &Stage) -> SmallDisk {
    SmallDisk::under(&[&stage.world.state_dir(), stage.repository.path()])
}

fn needed() -> u64 {
    let stage = Stage::set_up();
    let disk = on_a_disk(&stage);
    let before = disk.used();
    let _ = stage.run().exits_with(0);
    disk.used() - before
}

fn survives_a_disk_with(room: u64, expected: &crate::crash_points::Ending) -> bool {
    let stage = Stage::set_up();
    let disk = on_a_disk(&stage);
    disk.resize(disk.used() + room);
    let when = format!("{room} KiB");
    let output = stage.run();
    let failed = output.code != Some(0);
    if failed {
        assert_told(&output, &FULL, &when);
        stage.assert_user_s_things_untouched();
        let listed = stage.world.windlass(&["ls", "--json"]);
        disk.free();
        // A journal that is there can be read on a full disk; one that could not be made knows of nothing.
        let after = stage.world.windlass(&["ls", "--json"]).exits_with(0);
        assert!(listed.stdout == after.stdout || after.stdout.trim() == "[]", "{when}: {listed:?}");
    }
    // Also where there was just enough: what SQLite had no room to fold into its file is folded in by the next command.
    disk.free();
    assert_goes_on(&stage, expected, &when);
    failed
}

with_private_mounts! {
    a_run_goes_on_whatever_room_there_was = || {
        let expected = undisturbed();
        let few = || {
            let needed = needed();
            let spread = (0..FEW_SIZES).map(|number| 4 + number * needed / FEW_SIZES);
            spread.chain([FAILED_ONCE]).collect()
        };
        let rooms = rooms(needed, few);
        let failed = too_little(&rooms, |room| survives_a_disk_with(room, &expected));
        assert!(failed.len() * 3 >= rooms.len(), "of {rooms:?} KiB only {failed:?} were too little");
    };

    /// What the keeper has to write then is the result of hours.
    a_step_whose_end_finds_no_space_is_not_made_again = || {
        let expected = undisturbed_without_sandbox();
        for actor in [Actor::FirstDoer, Actor::Judge, Actor::Auditor] {
            let stage = Stage::with_last_act(actor, |world| {
                format!("{{ run = ['sh', '-c', '{}; true'] }}", fill(&world.state_dir()))
            });
            let disk = on_a_disk(&stage);
            disk.resize(disk.used() + 4096);
            let output = stage.run();
            let when = format!("when the disk was filled by {actor:?}");
            assert_told(&output, &FULL, &when);
            std::fs::remove_file(stage.world.state_dir().join("filler")).unwrap();
            disk.free();
            assert_goes_on(&stage, &expected, &when);
            assert_eq!(stage.world.steps().len(), 4);
        }
    };

    /// What a suite prints is what its tests are counted by: half of it is not an answer.
    a_check_whose_output_could_not_be_kept_is_run_again = || {
        let scene = Scene::without_sandbox("the check plays a disk that fills up");
        let disk = SmallDisk::under(&[&scene.world.state_dir(), scene.repository.path()]);
        disk.resize(disk.used() + 4096);
        let filled = scene.world.shared("filled");
        let check = format!(
            "if test -f done.txt && ! test -e {0}; then : > {0}; {1}; fi; echo ok 1 - done",
            filled.display(),
            fill(&scene.world.state_dir())
        );
        let agent = scene.world.agent("script.toml", &Script::that_passes());
        let repository = scene.repository.text();
        let words = ["run", "Add done.txt", "--repo", repository, "--agent", &agent, "--check", &check];
        let output = scene.world.windlass(&words);
        assert_told(&output, &["cannot keep what a command printed"], "when a check filled the disk");
        assert_told(&output, &FULL, "when a check filled the disk");
        std::fs::remove_file(scene.world.state_dir().join("filler")).unwrap();
        disk.free();
        let _ = scene.world.windlass(&["resume", "--all"]).exits_with(0);
        assert_eq!(scene.world.steps().len(), 3, "no agent was asked again");
        let logs: Vec<String> = std::fs::read_dir(scene.repository.path().join(".orchestrator/runs"))
            .unwrap()
            .flatten()
            .flat_map(|run| std::fs::read_dir(run.path().join("rounds/round-1/logs")).unwrap().flatten())
            .map(|log| std::fs::read_to_string(log.path()).unwrap())
            .collect();
        assert!(logs.iter().any(|log| log == "ok 1 - done\n"), "{logs:?}");
    };
}
