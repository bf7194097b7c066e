//! The default seeds of each loop, the seeds that once failed, and proof that they reach every path.

use windlass_simulator::{Profile, run_many, run_seed};

const SEEDS_OF_THE_TASK_LOOP: u64 = 2_000;
const SEEDS_OF_THE_CONTROL_LOOP: u64 = 1_000;
const SEEDS_OF_THE_GOAL_LOOP: u64 = 1_000;
const SEEDS_OF_THE_ROADMAP_LOOP: u64 = 1_000;

/// A night's number is for all loops together, in the same shares.
#[expect(clippy::disallowed_methods, reason = "a longer night run sets this")]
fn seeds(of_the_loop: u64) -> u64 {
    let all = SEEDS_OF_THE_TASK_LOOP
        + SEEDS_OF_THE_CONTROL_LOOP
        + SEEDS_OF_THE_GOAL_LOOP
        + SEEDS_OF_THE_ROADMAP_LOOP;
    std::env::var("WINDLASS_SEEDS").map_or(of_the_loop, |text| {
        let wanted: u64 = text.parse().expect("WINDLASS_SEEDS is a number");
        wanted * of_the_loop / all
    })
}

fn hold_and_reach_every_path(seeds: u64, profile: Profile) {
    let summary = run_many(0..seeds, profile);
    assert!(summary.failures.is_empty(), "{summary}");
    let missing = summary.coverage.missing(profile.of);
    assert!(missing.is_empty(), "never seen: {missing:?}\n{}", summary.coverage);
}

#[test]
fn the_default_seeds_hold_and_reach_every_path() {
    hold_and_reach_every_path(seeds(SEEDS_OF_THE_TASK_LOOP), Profile::JUDGED_TASK);
}

#[test]
fn the_default_seeds_of_the_control_loop_hold_and_reach_every_path() {
    hold_and_reach_every_path(seeds(SEEDS_OF_THE_CONTROL_LOOP), Profile::FEEDBACK_CONTROL);
}

#[test]
fn the_default_seeds_of_the_goal_loop_hold_and_reach_every_path() {
    hold_and_reach_every_path(seeds(SEEDS_OF_THE_GOAL_LOOP), Profile::GOAL_CONTRACT);
}

#[test]
fn the_default_seeds_of_the_roadmap_loop_hold_and_reach_every_path() {
    hold_and_reach_every_path(seeds(SEEDS_OF_THE_ROADMAP_LOOP), Profile::ROADMAP_ROUNDS);
}

#[test]
fn seeds_that_once_failed_hold() {
    for line in include_str!("../seeds.txt").lines() {
        let named = line.split('#').next().unwrap_or_default().trim();
        let (number, profile) = match named.split_once(' ') {
            Some(("control", number)) => (number, Profile::FEEDBACK_CONTROL),
            Some(("goal", number)) => (number, Profile::GOAL_CONTRACT),
            Some(("roadmap", number)) => (number, Profile::ROADMAP_ROUNDS),
            Some(_) | None => (named, Profile::JUDGED_TASK),
        };
        if number.is_empty() {
            continue;
        }
        let seed = number.parse().expect("a seed is a number");
        let report = run_seed(seed, profile);
        assert_eq!(report.violation, None, "seed {named}");
    }
}
