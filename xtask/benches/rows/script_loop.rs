//! A rejected round against a script of our own that does what a public shell loop does. The script makes nothing durable, so
//! ours keeps its state in memory as well. What is in the script stands in `script_loop.sh`.

use std::time::Duration;

use anyhow::{Context, Result};
use xtask::bench::{Bench, Measurement, Medians, median};
use xtask::commands;
use xtask::stopwatch::Stopwatch;

use crate::rounds::opened_rounds;
use crate::stage::{Stage, own_program};

const SCRIPT: &str = include_str!("script_loop.sh");
/// Rejected rounds and samples of a repository of a size that allows some; of a huge one fewer.
const USUAL: Extent = Extent { rejected: 10, samples: 5 };
const HUGE: Extent = Extent { rejected: 3, samples: 3 };

#[derive(Clone, Copy)]
struct Extent {
    rejected: u32,
    samples: usize,
}

pub(crate) fn small(bench: &Bench) -> Result<Measurement> {
    measure(bench, 20, USUAL)
}

pub(crate) fn medium(bench: &Bench) -> Result<Measurement> {
    measure(bench, 700, USUAL)
}

pub(crate) fn large(bench: &Bench) -> Result<Measurement> {
    measure(bench, 2_000, USUAL)
}

pub(crate) fn huge(bench: &Bench) -> Result<Measurement> {
    measure(bench, 100_000, HUGE)
}

/// In turns. What one rejected round takes: by the facts' own times, and for the script by what a run of several takes
/// longer than a run of none.
fn measure(bench: &Bench, files: usize, extent: Extent) -> Result<Measurement> {
    let stage = Stage::with_files(bench, files)?.with_state_in_memory();
    let (mut ours, mut scripts) = (Vec::new(), Vec::new());
    for sample in 0..extent.samples {
        let task = format!("TASK-{sample}");
        stage.run(&task, extent.rejected, "none")?;
        let openings = opened_rounds(&stage.facts(&task)?)?;
        let span = openings[extent.rejected as usize] - openings[0];
        ours.push(Duration::from_millis(span) / extent.rejected);
        stage.clear_worktrees()?;
        let without = script(&stage, &format!("none-{sample}"), 0)?;
        let with = script(&stage, &format!("some-{sample}"), extent.rejected)?;
        scripts.push(with.saturating_sub(without) / extent.rejected);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(scripts) }))
}

fn script(stage: &Stage, name: &str, rejected: u32) -> Result<Duration> {
    let file = stage.in_memory("loop.sh");
    std::fs::write(&file, SCRIPT)?;
    let run = stage.in_memory("scripts").join(name);
    let mut command = stage.start("bash".as_ref());
    command.arg(&file).arg(stage.repository()).arg(&run).arg(rejected.to_string()).arg(own_program()?);
    let stopwatch = Stopwatch::start();
    commands::capture(&mut command)?.expect_success().context("the script (it needs bash and python3)")?;
    let took = stopwatch.elapsed();
    // In memory, where what was removed costs nobody anything.
    std::fs::remove_dir_all(&run)?;
    Ok(took)
}
