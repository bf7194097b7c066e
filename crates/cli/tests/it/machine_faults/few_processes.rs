//! A user who may have only so many processes: what cannot be started any more is told, and the run goes on when there is room.

use super::{assert_goes_on, assert_told, undisturbed};
use crate::crash_points::{Stage, is_campaign};
use crate::overlays::users::{NOBODY, give_back, give_to_nobody, program_for_anybody};
use std::path::Path;
use windlass_test_support::Output;

/// Root may have as many as it likes, so the run is nobody's.
fn limited(stage: &Stage, most: u64) -> Output {
    let program = program_for_anybody(&stage.world);
    give_to_nobody(stage.world.path());
    let limit = format!("--nproc={most}:{most}");
    let mut words = vec!["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "prlimit", &limit];
    words.push(program.to_str().unwrap());
    words.extend(stage.words());
    let output = stage.world.run(Path::new("/usr/bin/setpriv"), stage.repository.path(), &words, "");
    give_back(stage.world.path());
    let _ = std::fs::remove_dir_all(program.parent().unwrap());
    output
}

#[test]
fn with_no_room_for_another_process_it_says_so_and_goes_on_with_more() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else can become another user.
        return;
    }
    let expected = undisturbed();
    let all: Vec<u64> = (1..25).collect();
    let mut failed = 0;
    for most in if is_campaign() { all } else { vec![2, 5, 8] } {
        let stage = Stage::set_up();
        let output = limited(&stage, most);
        let when = format!("{most} processes");
        if output.code != Some(0) {
            failed += 1;
            assert_told(&output, &["Resource temporarily unavailable"], &when);
            stage.assert_user_s_things_untouched();
        }
        assert_goes_on(&stage, &expected, &when);
    }
    assert!(failed > 0, "no limit was too little");
}
