//! The same two faults for the other loops: a state directory without room, and one that cannot be written.

use super::full_disk::{FULL, all_rooms};
use super::{Stricken, assert_told};
use crate::crash_points::is_campaign;
use windlass_test_support::{ReadOnly, SmallDisk};

/// The room there is outside of campaigns, in KiB: enough to begin, and for a part of the way.
const FEW_ROOMS: [u64; 2] = [120, 320];

fn needed<S: Stricken>() -> u64 {
    let story = S::set_up();
    let disk = SmallDisk::under(&[&story.world().state_dir()]);
    let before = disk.used();
    let _ = story.start().exits_with(0);
    disk.used() - before
}

fn survives_a_full_disk<S: Stricken>() {
    let expected = S::set_up().to_the_end();
    let mut failed = 0;
    let rooms = if is_campaign() { all_rooms(needed::<S>()) } else { FEW_ROOMS.to_vec() };
    for room in &rooms {
        let story = S::set_up();
        let disk = SmallDisk::under(&[&story.world().state_dir()]);
        disk.resize(disk.used() + room);
        let output = story.start();
        if output.code != Some(0) {
            failed += 1;
            assert_told(&output, &FULL, &format!("{room} KiB"));
        }
        disk.free();
        assert_eq!(story.to_the_end(), expected, "{room} KiB: {}\n{}", output.stdout, output.stderr);
    }
    assert!(failed > 0, "none of {rooms:?} KiB was too little");
}

fn survives_a_read_only_state_directory<S: Stricken>() {
    let expected = S::set_up().to_the_end();
    let story = S::set_up();
    let read_only = ReadOnly::make(&story.world().state_dir());
    let output = story.start();
    assert_told(&output, &["Read-only file system", "readonly database"], "read-only");
    drop(read_only);
    assert_eq!(story.to_the_end(), expected);
}

macro_rules! loops {
    ($($module:ident = $story:ty;)+) => {
        $(mod $module {
            super::super::with_private_mounts! {
                goes_on_whatever_room_there_was = super::survives_a_full_disk::<$story>;
                goes_on_when_its_state_can_be_written_again =
                    super::survives_a_read_only_state_directory::<$story>;
            }
        })+
    };
}

loops! {
    control_loop = crate::control_loop::crashes::Stage;
    goal_loop = crate::goal_loop::crashes::Walk;
    roadmap_loop = crate::roadmap_loop::crashes::Walk;
    story_queue = crate::stories::orchestrate::crashes::Stories;
}
