//! A task whose repository and state directory lie on a disk that becomes full: at sizes from almost nothing to enough, and
//! at the one moment that would cost a step, when an agent has just ended.

use super::{assert_goes_on, assert_told, undisturbed, with_private_mounts};
use crate::crash_points::{Stage, is_campaign};
use windlass_test_support::SmallDisk;

/// The campaign's sizes.
const STEP: u64 = 16;
const SIZES: u64 = 64;
/// Outside of campaigns.
const FEW_SIZES: u64 = 6;

/// How the different parts of the program say it.
pub(super) const FULL: [&str; 4] =
    ["No space left on device", "Out of diskspace", "disk is full", "no space is left"];

/// How much more than it begins with, in KiB, each case of a campaign has.
pub(super) fn all_rooms(needed: u64) -> Vec<u64> {
    let step = STEP.max(needed / SIZES);
    (0..SIZES).map(|number| 4 + number * step).collect()
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
    assert_goes_on(&stage, expected, &when);
    failed
}

with_private_mounts! {
    a_run_goes_on_whatever_room_there_was = || {
        let expected = undisturbed();
        let needed = needed();
        let few = (0..FEW_SIZES).map(|number| 4 + number * needed / FEW_SIZES).collect();
        let rooms: Vec<u64> = if is_campaign() { all_rooms(needed) } else { few };
        let failed = rooms.iter().filter(|room| survives_a_disk_with(**room, &expected)).count();
        assert!(failed * 3 >= rooms.len(), "hardly any of {rooms:?} KiB was too little");
    };

    /// What the keeper has to write then is the result of hours.
    a_step_whose_end_finds_no_space_is_not_made_again = || {
        let expected = undisturbed();
        let stage = Stage::with_action(|world| {
            let filler = world.state_dir().join("filler");
            format!("{{ run = ['sh', '-c', 'cat /dev/zero > {} 2>/dev/null; true'] }}", filler.display())
        });
        let disk = on_a_disk(&stage);
        disk.resize(disk.used() + 4096);
        let output = stage.run();
        assert_told(&output, &FULL, "when a doer filled the disk");
        std::fs::remove_file(stage.world.state_dir().join("filler")).unwrap();
        disk.free();
        assert_goes_on(&stage, &expected, "when a doer filled the disk");
        assert_eq!(stage.world.steps().len(), 4);
    };
}
