//! Iterations of a control loop whose agents and sensor take no time: what is left is what the engine costs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::bench::{Bench, Measurement, Medians, Quantity, median};
use xtask::stopwatch::Stopwatch;

use crate::agent::CountingGit;
use crate::control_by_hand::ControlByHand;
use crate::stage::Stage;

const SAMPLES: usize = 7;
/// Iterations of one run, so that a whole millisecond in a fact's time is a fraction of one in an iteration's.
const ITERATIONS: u32 = 20;
const SMALL: usize = 20;
const LARGE: usize = 2_000;
/// The last iterations of a run of a thousand are held against those of fresh runs.
const LONG_RUN: u32 = 1_000;
const LAST: u32 = 10;
const FOUR_THOUSAND: u32 = 4_000;
const A_HUNDRED: u32 = 100;
/// As many iterations of fresh runs, in three runs: one alone would be at the mercy of a busy moment.
const FRESH_RUNS: u32 = 3;

pub(crate) fn small(bench: &Bench) -> Result<Measurement> {
    iteration(bench, SMALL)
}

pub(crate) fn large(bench: &Bench) -> Result<Measurement> {
    iteration(bench, LARGE)
}

/// One iteration among many: from the opening of the first to that of the last, by the facts' own times.
fn iteration(bench: &Bench, files: usize) -> Result<Measurement> {
    let stage = Stage::with_control_loop(bench, files)?;
    let mut by_hand = ControlByHand::begin(&stage, "by-hand")?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let openings = openings_of(&stage, &format!("loop-{sample}"), ITERATIONS)?;
        let span = openings[ITERATIONS as usize] - openings[0];
        ours.push(Duration::from_millis(span) / ITERATIONS);
        let stopwatch = Stopwatch::start();
        for _ in 0..ITERATIONS {
            by_hand.iteration()?;
        }
        floor.push(stopwatch.elapsed() / ITERATIONS);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

/// The last of a thousand iterations against those of fresh runs that follow at once, so that both meet the same machine.
pub(crate) fn late(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_control_loop(bench, SMALL)?;
    let lengths = |openings: &[u64], of: u32| -> Vec<Duration> {
        let last = openings.windows(2).rev().take(of as usize);
        last.map(|pair| Duration::from_millis(pair[1] - pair[0])).collect()
    };
    let late = lengths(&openings_of(&stage, "long", LONG_RUN)?, LAST * FRESH_RUNS);
    let mut early = Vec::new();
    for fresh in 0..FRESH_RUNS {
        early.extend(lengths(&openings_of(&stage, &format!("fresh-{fresh}"), LAST)?, LAST));
    }
    Ok(Measurement::of_times(Medians { ours: median(late), floor: median(early) }))
}

/// The average of 4,000 iterations against that of a hundred, before and after them.
pub(crate) fn four_thousand(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_control_loop(bench, SMALL)?;
    let average = |branch: &str, iterations: u32| -> Result<Duration> {
        let openings = openings_of(&stage, branch, iterations)?;
        Ok(Duration::from_millis(openings[iterations as usize] - openings[0]) / iterations)
    };
    let before = average("before", A_HUNDRED)?;
    let many = average("many", FOUR_THOUSAND)?;
    let after = average("after", A_HUNDRED)?;
    Ok(Measurement::of_times(Medians { ours: many, floor: (before + after) / 2 }))
}

/// Calls of git of an iteration; its two agents and its sensor come with a keeper each besides.
pub(crate) fn git_calls(bench: &Bench) -> Result<Measurement> {
    let git = CountingGit::make()?;
    let mut stage = Stage::with_control_loop(bench, SMALL)?;
    stage.look_first_in(git.directory());
    let calls = |branch: &str, iterations| -> Result<u64> {
        let before = git.calls()?;
        stage.control(branch, iterations)?;
        Ok(git.calls()? - before)
    };
    // The first run on a repository also makes its private git directory.
    calls("first", 1)?;
    let short = calls("short", 1)?;
    let long = calls("long", 1 + ITERATIONS)?;
    ensure!(short > 0 && long > short, "no call was counted");
    Ok(Measurement { measured: Quantity::Count((long - short) / u64::from(ITERATIONS)), floor: None })
}

/// When each iteration of a loop was opened, the one that ends it included.
fn openings_of(stage: &Stage, branch: &str, iterations: u32) -> Result<Vec<u64>> {
    stage.control(branch, iterations)?;
    let runs: Value = serde_json::from_str(&stage.windlass(&["ls", "--json"])?)?;
    let run = runs[0]["run"].as_str().context("the run has no id")?;
    let facts = stage.facts(run)?;
    let opened = facts.iter().filter(|fact| fact["kind"] == "iteration-opened");
    let openings: Vec<u64> =
        opened.map(|fact| fact["at_ms"].as_u64().context("a fact has no time")).collect::<Result<_>>()?;
    ensure!(openings.len() == iterations as usize + 1, "{} iterations were opened", openings.len());
    Ok(openings)
}
