//! How long nobody works between two agents of a run: what the engine does there, and what the system takes to end a
//! process and start one. By the agents' own clocks, so that no step of ours can be left out of it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use xtask::bench::{Bench, Measurement, Medians, median};
use xtask::commands;

use crate::stage::Stage;

const SAMPLES: usize = 5;
const REJECTED: u32 = 20;

pub(crate) fn small(bench: &Bench) -> Result<Measurement> {
    measure(bench, 20)
}

pub(crate) fn large(bench: &Bench) -> Result<Measurement> {
    measure(bench, 2_000)
}

/// One agent's moments, as it wrote them down itself.
struct Played {
    role: String,
    began: Duration,
    ended: Duration,
}

/// The slower of the two ways to go on counts: after a doer with a snapshot, after a judge with a new round.
fn measure(bench: &Bench, files: usize) -> Result<Measurement> {
    let stage = Stage::with_files(bench, files)?;
    let (mut after_doers, mut after_judges, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let moments = stage.on_disk(&format!("moments-{sample}"));
        let words = format!("{REJECTED} {}", moments.display());
        stage.run_with(&words, &format!("TASK-{sample}"), REJECTED, "none")?;
        let played = read(&moments)?;
        ensure!(played.len() > REJECTED as usize * 2, "not every agent left its moments");
        for pair in played.windows(2) {
            let gap = gap(pair);
            match pair[0].role.as_str() {
                "doer" => after_doers.push(gap),
                _ => after_judges.push(gap),
            }
        }
        bare.extend(bare_gaps(&stage, sample)?);
    }
    let ours = median(after_doers).max(median(after_judges));
    Ok(Measurement::of_times(Medians { ours, floor: median(bare) }))
}

/// The same agents started by hand one after the other, with nothing between them.
fn bare_gaps(stage: &Stage, sample: usize) -> Result<Vec<Duration>> {
    let moments = stage.on_disk(&format!("bare-moments-{sample}"));
    let directory = stage.in_memory("bare");
    std::fs::create_dir_all(&directory)?;
    for _ in 0..REJECTED {
        let mut agent = stage.agent("doer", 1, REJECTED, &directory)?;
        commands::capture(agent.arg(&moments))?.expect_success()?;
    }
    Ok(read(&moments)?.windows(2).map(gap).collect())
}

fn gap(pair: &[Played]) -> Duration {
    pair[1].began.saturating_sub(pair[0].ended)
}

fn read(moments: &Path) -> Result<Vec<Played>> {
    let text = std::fs::read_to_string(moments).with_context(|| moments.display().to_string())?;
    let line = |line: &str| {
        let [role, began, ended] = line.split(' ').collect::<Vec<_>>()[..] else {
            anyhow::bail!("no moments of an agent: {line}");
        };
        let moment = |text: &str| Ok::<_, anyhow::Error>(Duration::from_nanos(text.parse()?));
        Ok(Played { role: role.to_owned(), began: moment(began)?, ended: moment(ended)? })
    };
    text.lines().map(line).collect()
}
