//! Rounds of a roadmap whose agents take no time: what is left is what the engine costs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::bench::{Bench, Measurement, Medians, Quantity, median};
use xtask::stopwatch::Stopwatch;

use crate::agent::CountingGit;
use crate::roadmap_by_hand::RoadmapByHand;
use crate::stage::Stage;

const SAMPLES: usize = 5;
/// Rounds of one run, so that a whole millisecond in a fact's time is a fraction of one in a round's.
const ROUNDS: u32 = 10;
const SMALL: usize = 20;
const LARGE: usize = 2_000;

pub(crate) fn small(bench: &Bench) -> Result<Measurement> {
    round(bench, SMALL)
}

pub(crate) fn large(bench: &Bench) -> Result<Measurement> {
    round(bench, LARGE)
}

/// One merged round among many: from the opening of the first to that of the last, by the facts' own times.
fn round(bench: &Bench, files: usize) -> Result<Measurement> {
    let stage = Stage::with_roadmap(bench, files)?;
    let floor_stage = Stage::with_roadmap(bench, files)?;
    let mut by_hand = RoadmapByHand::begin(&floor_stage)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        let openings = openings_of(&stage)?;
        let span = openings[ROUNDS as usize - 1] - openings[0];
        ours.push(Duration::from_millis(span) / (ROUNDS - 1));
        let stopwatch = Stopwatch::start();
        for _ in 0..ROUNDS {
            by_hand.round()?;
        }
        floor.push(stopwatch.elapsed() / ROUNDS);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

/// Calls of git of a merged round; its three agents come with a keeper each besides.
pub(crate) fn git_calls(bench: &Bench) -> Result<Measurement> {
    let git = CountingGit::make()?;
    let mut stage = Stage::with_roadmap(bench, SMALL)?;
    stage.look_first_in(git.directory());
    let calls = |rounds| -> Result<u64> {
        let before = git.calls()?;
        stage.roadmap(rounds)?;
        Ok(git.calls()? - before)
    };
    // The first run on a repository also makes its private git directory.
    calls(1)?;
    let (short, long) = (calls(1)?, calls(1 + ROUNDS)?);
    ensure!(short > 0 && long > short, "no call was counted");
    Ok(count((long - short) / u64::from(ROUNDS)))
}

/// Every append begins with what was observed; each is one durable commit.
pub(crate) fn commits(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_roadmap(bench, SMALL)?;
    let facts = facts_of(&stage)?;
    let opened = |fact: &Value| fact["kind"] == "round-opened";
    let first = facts.iter().position(opened).context("no round was opened")?;
    let last = facts.iter().rposition(opened).context("no round was opened")?;
    let settled = facts[first..last].iter().filter(|fact| fact["kind"] == "effect-settled").count();
    Ok(count(settled as u64 / u64::from(ROUNDS - 1)))
}

fn count(number: u64) -> Measurement {
    Measurement { measured: Quantity::Count(number), floor: None }
}

/// The facts of a run of so many rounds.
fn facts_of(stage: &Stage) -> Result<Vec<Value>> {
    stage.roadmap(ROUNDS)?;
    let runs: Value = serde_json::from_str(&stage.windlass(&["ls", "--json"])?)?;
    stage.facts(runs[0]["run"].as_str().context("the run has no id")?)
}

/// When each round of a run was opened.
fn openings_of(stage: &Stage) -> Result<Vec<u64>> {
    let facts = facts_of(stage)?;
    let opened = facts.iter().filter(|fact| fact["kind"] == "round-opened");
    let openings: Vec<u64> =
        opened.map(|fact| fact["at_ms"].as_u64().context("a fact has no time")).collect::<Result<_>>()?;
    ensure!(openings.len() == ROUNDS as usize, "{} rounds were opened", openings.len());
    let merged = facts.iter().filter(|fact| fact["kind"] == "round-merged").count();
    ensure!(merged == ROUNDS as usize, "{merged} rounds were merged");
    Ok(openings)
}
