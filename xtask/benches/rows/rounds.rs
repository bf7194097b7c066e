//! Rounds whose agents take no time: what is left is what the engine costs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::bench::{Bench, Measurement, Medians, Quantity, median};
use xtask::stopwatch::Stopwatch;

use crate::agent::CountingGit;
use crate::by_hand::ByHand;
use crate::stage::Stage;

const SAMPLES: usize = 7;
/// Rejected rounds of one run, so that a whole millisecond in a fact's time is a fraction of one in a round's.
const REJECTED: u32 = 20;
/// In a huge repository a round takes long enough that few tell as much, and two worktrees of it fill the memory.
const HUGE_SAMPLES: usize = 3;
const HUGE_REJECTED: u32 = 5;
const SMALL: usize = 20;
const MEDIUM: usize = 700;
const LARGE: usize = 2_000;
const HUGE: usize = 100_000;
/// The last ten rounds of a run that goes a little beyond a hundred are held against a run of only ten.
const LONG_RUN: u32 = 105;
const FRESH_RUN: u32 = 10;
const LONG_RUNS: usize = 5;

pub(crate) fn passing_small(bench: &Bench) -> Result<Measurement> {
    passing(bench, SMALL)
}

pub(crate) fn passing_large(bench: &Bench) -> Result<Measurement> {
    passing(bench, LARGE)
}

pub(crate) fn rejected_small(bench: &Bench) -> Result<Measurement> {
    rejected(bench, SMALL, (SAMPLES, REJECTED))
}

pub(crate) fn rejected_medium(bench: &Bench) -> Result<Measurement> {
    rejected(bench, MEDIUM, (SAMPLES, REJECTED))
}

pub(crate) fn rejected_large(bench: &Bench) -> Result<Measurement> {
    rejected(bench, LARGE, (SAMPLES, REJECTED))
}

pub(crate) fn rejected_huge(bench: &Bench) -> Result<Measurement> {
    rejected(bench, HUGE, (HUGE_SAMPLES, HUGE_REJECTED))
}

/// A whole run of one round, from the start of the program to its end.
fn passing(bench: &Bench, files: usize) -> Result<Measurement> {
    let stage = Stage::with_files(bench, files)?;
    let mut by_hand = ByHand::make(&stage, "by-hand")?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    // The first turn also makes what later runs find.
    for turn in 0..=SAMPLES {
        let stopwatch = Stopwatch::start();
        stage.run(&format!("TASK-{turn}"), 0, "branch")?;
        let our_time = stopwatch.elapsed();
        by_hand.clear();
        let run = u32::try_from(turn)?;
        let stopwatch = Stopwatch::start();
        by_hand.prepare(run)?;
        let tree = by_hand.round()?;
        by_hand.finish(&tree, run)?;
        if turn > 0 {
            floor.push(stopwatch.elapsed());
            ours.push(our_time);
        }
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

/// One rejected round among many: from the opening of the first to that of the last, by the facts' own times.
fn rejected(bench: &Bench, files: usize, (samples, rounds): (usize, u32)) -> Result<Measurement> {
    let stage = Stage::with_files(bench, files)?;
    let mut by_hand = ByHand::make(&stage, "by-hand")?;
    by_hand.prepare(0)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..samples {
        let task = format!("TASK-{sample}");
        stage.run(&task, rounds, "none")?;
        let openings = opened_rounds(&stage.facts(&task)?)?;
        let span = openings[rounds as usize] - openings[0];
        ours.push(Duration::from_millis(span) / rounds);
        stage.clear_worktrees()?;
        let stopwatch = Stopwatch::start();
        for _ in 0..rounds {
            by_hand.round()?;
        }
        floor.push(stopwatch.elapsed() / rounds);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

/// The last rounds of a long run against those of a fresh one that follows at once, so that both meet the same machine.
pub(crate) fn late_round(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, SMALL)?;
    let (mut late, mut early) = (Vec::new(), Vec::new());
    for sample in 0..LONG_RUNS {
        for (name, rejected_rounds, lengths) in
            [("LONG", LONG_RUN, &mut late), ("FRESH", FRESH_RUN, &mut early)]
        {
            let task = format!("{name}-{sample}");
            stage.run(&task, rejected_rounds, "none")?;
            let openings = opened_rounds(&stage.facts(&task)?)?;
            let last = openings.windows(2).rev().take(FRESH_RUN as usize);
            lengths.extend(last.map(|pair| Duration::from_millis(pair[1] - pair[0])));
        }
    }
    Ok(Measurement::of_times(Medians { ours: median(late), floor: median(early) }))
}

/// Everything the engine starts in a rejected round besides its two agents: git and keepers.
pub(crate) fn processes(bench: &Bench) -> Result<Measurement> {
    let git = CountingGit::make()?;
    let mut stage = Stage::with_files(bench, SMALL)?;
    stage.look_first_in(git.directory());
    let started = |task: &str, rejected_rounds| -> Result<u64> {
        let before = git.calls()?;
        stage.run(task, rejected_rounds, "none")?;
        Ok(git.calls()? - before + keepers(&stage, task)?)
    };
    // The first run on a repository also makes its private git directory.
    started("FIRST", 0)?;
    let short = started("SHORT", 0)?;
    let long = started("LONG", REJECTED)?;
    ensure!(short > 0 && long > short, "no process was counted");
    Ok(count((long - short) / u64::from(REJECTED)))
}

/// Every append begins with what was observed; each is one durable commit.
pub(crate) fn commits(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, SMALL)?;
    stage.run("TASK", REJECTED, "none")?;
    let facts = stage.facts("TASK")?;
    let position = |round: u32| {
        let opened = facts.iter().position(|fact| kind(fact) == "round-opened" && fact["round"] == round);
        opened.with_context(|| format!("round {round} was never opened"))
    };
    let between = &facts[position(1)?..position(REJECTED + 1)?];
    let settled = between.iter().filter(|fact| kind(fact) == "effect-settled").count();
    Ok(count(settled as u64 / u64::from(REJECTED)))
}

pub(crate) fn opened_rounds(facts: &[Value]) -> Result<Vec<u64>> {
    let opened = facts.iter().filter(|fact| kind(fact) == "round-opened");
    opened.map(|fact| fact["at_ms"].as_u64().context("a fact has no time")).collect()
}

pub(crate) fn kind(fact: &Value) -> &str {
    fact["kind"].as_str().unwrap_or_default()
}

fn keepers(stage: &Stage, task: &str) -> Result<u64> {
    let shown: Value = serde_json::from_str(&stage.windlass(&["show", task, "--json"])?)?;
    let run = shown["run"].as_str().context("the run has no id")?;
    let effects = stage.state_directory().join("runs").join(run).join("effects");
    let mut found = 0;
    for effect in std::fs::read_dir(&effects).with_context(|| effects.display().to_string())? {
        found += u64::from(effect?.path().join("keeper.json").is_file());
    }
    Ok(found)
}

fn count(number: u64) -> Measurement {
    Measurement { measured: Quantity::Count(number), floor: None }
}
