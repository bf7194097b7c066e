//! A wall clock that is set while a run is under way. Nothing is decided by it: a run ends as it does undisturbed, is taken
//! up again after a crash at once, and is held by one process whatever the clock shows.

use super::{assert_goes_on, undisturbed};
use crate::crash_points::{Ending, Stage, places};

const HOUR: u64 = 60 * 60 * 1000;
const YEAR: u64 = 365 * 24 * HOUR;

/// What the clock shows from the first doer on.
fn set_to(clock: &str) -> Stage {
    let mut stage = Stage::with_action(|world| {
        let file = world.shared("clock");
        format!("{{ run = ['sh', '-c', 'printf %s {clock} > {}'] }}", file.display())
    });
    let file = stage.world.shared("clock");
    stage.world.set("WINDLASS_TEST_CLOCK", file);
    stage
}

fn jumps() -> [String; 4] {
    // The last stands at a moment of 2023, before everything this run has seen.
    [format!("-{HOUR}"), format!("+{YEAR}"), format!("-{YEAR}"), "=1700000000000".to_owned()]
}

#[test]
fn a_clock_that_is_set_during_a_run_changes_nothing() {
    let expected = undisturbed();
    for clock in jumps() {
        let stage = set_to(&clock);
        let output = stage.run();
        assert_eq!(output.code, Some(0), "{clock}: {}", output.stderr);
        assert!(stage.world.shared("clock").is_file(), "the clock was never set");
        assert_eq!(Ending::of(&stage).differences(&expected), Vec::<String>::new(), "{clock}");
    }
}

/// The lease of the dead holds till a moment that the new clock may not reach for a year.
#[test]
fn a_run_killed_after_the_clock_was_set_goes_on_at_once() {
    let expected = undisturbed();
    let mut stage = set_to("+0");
    let log = stage.world.shared("places.txt");
    let _ = stage.with("WINDLASS_CRASH_LOG", log.to_str().unwrap(), Stage::run).exits_with(0);
    // In the second round.
    let place = places(&log).len() * 3 / 4;
    for clock in jumps() {
        let mut stage = set_to(&clock);
        let killed = stage.with("WINDLASS_CRASH_AT", &place.to_string(), Stage::run);
        assert_eq!(killed.signal, Some(9), "{clock}: {}", killed.stderr);
        assert_goes_on(&stage, &expected, &clock);
    }
}
