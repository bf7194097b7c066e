//! Kills a keeper, the process between the engine and an agent or a check, at the places it comes through. Nobody can
//! know what its child had done by then, so the step is made once more; that is the bound, and it is tested.

use super::ending::Ending;
use super::stage::{Stage, Standing, places};
use super::{Kinds, visited};
use std::collections::BTreeMap;

/// How many children the run has: two doers, a judge, an auditor; the check at the base, twice on a change, the audit's.
const KEEPERS: usize = 8;

/// What an undisturbed run leaves, and the places this keeper of it comes through.
fn undisturbed(keeper: usize) -> (Ending, Vec<String>) {
    let mut stage = Stage::set_up();
    let log = stage.world.shared("keeper");
    let _ = stage.with("WINDLASS_CRASH_CHILD_LOG", log.to_str().unwrap(), Stage::run).exits_with(0);
    assert!(log.with_extension(KEEPERS.to_string()).exists(), "a keeper is missing");
    (Ending::of(&stage), places(&log.with_extension(keeper.to_string())))
}

fn survives_the_places_of_keeper(keeper: usize) {
    let (expected, places) = undisturbed(keeper);
    for name in ["rename.before", "rename.after", "child.before", "child.after"] {
        assert!(places.iter().any(|place| place == name), "no place called {name} in {places:?}");
    }
    for place in visited(&places, Kinds::All, 1) {
        let name = &places[place - 1];
        let mut stage = Stage::set_up();
        let crash = format!("{keeper}:{place}");
        let output = stage.with("WINDLASS_CRASH_CHILD", &crash, Stage::run);
        let told = format!("keeper {keeper} killed at its place {place} ({name})\n{}", output.stderr);
        assert_eq!(output.code, Some(0), "{told}");
        let _ = stage.end();
        let landed = stage.landed_tree();
        assert_eq!(landed, expected.landed_tree, "{told}");
        assert!(matches!(stage.standing(), Standing::Ended { .. }), "the run did not end: {told}");
        assert_steps_repeated_at_most_once(&stage.world.steps(), &expected.steps, &told);
    }
}

/// All steps of the undisturbed run, and at most one of them a second time.
fn assert_steps_repeated_at_most_once(steps: &[String], expected: &[String], told: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps {
        *counts.entry(without_attempt(step)).or_default() += 1;
    }
    let kinds: Vec<&str> = counts.keys().copied().collect();
    let mut wanted: Vec<&str> = expected.iter().map(|step| without_attempt(step)).collect();
    wanted.sort_unstable();
    assert_eq!(kinds, wanted, "{told}");
    assert!(steps.len() <= expected.len() + 1, "{steps:?}: {told}");
}

/// Role and round: a step that is made again is a new attempt.
fn without_attempt(step: &str) -> &str {
    step.rsplit_once(' ').expect("role, round and attempt").0
}

macro_rules! keepers {
    ($($name:ident = $keeper:literal),+ $(,)?) => {
        $(#[test] fn $name() { survives_the_places_of_keeper($keeper); })+
    };
}

keepers! {
    a_killed_keeper_of_the_baseline = 1,
    a_killed_keeper_of_the_first_doer = 2,
    a_killed_keeper_of_the_red_check = 3,
    a_killed_keeper_of_the_second_doer = 4,
    a_killed_keeper_of_the_green_check = 5,
    a_killed_keeper_of_the_judge = 6,
    a_killed_keeper_of_the_audit_check = 7,
    a_killed_keeper_of_the_auditor = 8,
}
