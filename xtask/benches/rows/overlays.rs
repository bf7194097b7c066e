//! Rounds in layers over one checkout, against the same by hand: they must not depend on how large the repository is.

use std::time::Duration;

use anyhow::{Context, Result};
use xtask::bench::{Bench, Measurement, Medians, median};
use xtask::commands;
use xtask::stopwatch::Stopwatch;

use crate::overlays_by_hand::LayersByHand;
use crate::rounds::{kind, opened_rounds};
use crate::stage::Stage;

const SAMPLES: usize = 5;
const REJECTED: u32 = 20;
const SIZES: [usize; 4] = [20, 700, 2_000, 100_000];

pub(crate) fn small(bench: &Bench) -> Result<Measurement> {
    rejected(bench, SIZES[0])
}

pub(crate) fn medium(bench: &Bench) -> Result<Measurement> {
    rejected(bench, SIZES[1])
}

pub(crate) fn large(bench: &Bench) -> Result<Measurement> {
    rejected(bench, SIZES[2])
}

pub(crate) fn huge(bench: &Bench) -> Result<Measurement> {
    rejected(bench, SIZES[3])
}

fn rejected(bench: &Bench, files: usize) -> Result<Measurement> {
    let stage = Stage::with_files(bench, files)?.with_workspaces("overlay");
    let mut by_hand = LayersByHand::make(&stage)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        ours.push(our_round(&stage, sample)?);
        let stopwatch = Stopwatch::start();
        for _ in 0..REJECTED {
            by_hand.round()?;
        }
        floor.push(stopwatch.elapsed() / REJECTED);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

fn our_round(stage: &Stage, sample: usize) -> Result<Duration> {
    let task = format!("TASK-{sample}");
    stage.run(&task, REJECTED, "none")?;
    let openings = opened_rounds(&stage.facts(&task)?)?;
    Ok(Duration::from_millis(openings[REJECTED as usize] - openings[0]) / REJECTED)
}

/// The slowest size against the fastest, taken in turns so that all of them meet the same machine.
pub(crate) fn growth(bench: &Bench) -> Result<Measurement> {
    let mut stages = Vec::new();
    for files in SIZES {
        stages.push((Stage::with_files(bench, files)?.with_workspaces("overlay"), Vec::new()));
    }
    for sample in 0..SAMPLES {
        for (stage, times) in &mut stages {
            times.push(our_round(stage, sample)?);
        }
    }
    let times: Vec<Duration> = stages.into_iter().map(|(_, times)| median(times)).collect();
    let slowest = times.iter().max().copied().unwrap_or_default();
    let fastest = times.iter().min().copied().unwrap_or_default();
    Ok(Measurement::of_times(Medians { ours: slowest, floor: fastest }))
}

/// How long it takes until both workspaces of a second run are there, against one checkout of git's.
pub(crate) fn second_run(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, SIZES[3])?.with_workspaces("overlay");
    stage.run("FIRST", 0, "none")?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let task = format!("SECOND-{sample}");
        stage.run(&task, 0, "none")?;
        let facts = stage.facts(&task)?;
        let at = |wanted: &str| {
            let found = facts.iter().find(|fact| kind(fact) == wanted);
            found.and_then(|fact| fact["at_ms"].as_u64()).with_context(|| format!("no {wanted}"))
        };
        ours.push(Duration::from_millis(at("effect-settled")? - at("run-started")?));
        let worktree = stage.on_disk(&format!("worktree-{sample}"));
        let stopwatch = Stopwatch::start();
        let mut add = stage.git();
        add.arg("-C").arg(stage.repository()).args(["worktree", "add", "--quiet", "--detach"]).arg(&worktree);
        commands::capture(&mut add)?.expect_success()?;
        floor.push(stopwatch.elapsed());
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}
