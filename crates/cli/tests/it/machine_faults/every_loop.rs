//! The same two faults for the other loops: a state directory without room, and one that cannot be written.

use super::full_disk::{FULL, rooms, too_little};
use super::{Stricken, assert_told};
use windlass_test_support::{ReadOnly, SmallDisk};

/// The room there is outside of campaigns, in KiB: enough to begin, and for a part of the way. With the last ones a goal
/// loop once took a suite whose output could not be kept for one without tests.
const FEW_ROOMS: [u64; 4] = [120, 320, 436, 932];

fn needed<S: Stricken>() -> u64 {
    let story = S::set_up();
    let disk = SmallDisk::under(&[&story.world().state_dir()]);
    let before = disk.used();
    let _ = story.start().exits_with(0);
    disk.used() - before
}

fn survives_a_full_disk<S: Stricken>() {
    let expected = S::set_up().to_the_end();
    let rooms = rooms(needed::<S>, || FEW_ROOMS.to_vec());
    let failed = too_little(&rooms, |room| {
        let story = S::set_up();
        let disk = SmallDisk::under(&[&story.world().state_dir()]);
        disk.resize(disk.used() + room);
        let output = story.start();
        let failed = output.code != Some(0);
        if failed {
            assert_told(&output, &FULL, &format!("{room} KiB"));
        }
        disk.free();
        assert_eq!(story.to_the_end(), expected, "{room} KiB: {}\n{}", output.stdout, output.stderr);
        failed
    });
    assert!(!failed.is_empty(), "none of {rooms:?} KiB was too little");
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
