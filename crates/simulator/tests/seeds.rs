//! The default seeds, the seeds that once failed, and proof that they reach every path.

use windlass_simulator::{Profile, run_many, run_seed};

const DEFAULT_SEEDS: u64 = 3_000;

#[expect(clippy::disallowed_methods, reason = "a longer night run sets this")]
fn seeds() -> u64 {
    std::env::var("WINDLASS_SEEDS")
        .map_or(DEFAULT_SEEDS, |text| text.parse().expect("WINDLASS_SEEDS is a number"))
}

#[test]
fn the_default_seeds_hold_and_reach_every_path() {
    let summary = run_many(0..seeds(), Profile::JUDGED_TASK);
    assert!(summary.failures.is_empty(), "{summary}");
    let missing = summary.coverage.missing();
    assert!(missing.is_empty(), "never seen: {missing:?}\n{}", summary.coverage);
}

#[test]
fn seeds_that_once_failed_hold() {
    for line in include_str!("../seeds.txt").lines() {
        let number = line.split('#').next().unwrap_or_default().trim();
        if number.is_empty() {
            continue;
        }
        let seed = number.parse().expect("a seed is a number");
        let report = run_seed(seed, Profile::JUDGED_TASK);
        assert_eq!(report.violation, None, "seed {seed}");
    }
}
