//! Journals that have seen a lot: going on with a run of 100,000 facts, and a list of 10,000 runs.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use tokio::task::JoinSet;
use windlass_engine::{Append, Journal, engine};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Millis, RunId};
use xtask::bench::{Bench, Measurement, Medians, interleaved, median};
use xtask::stopwatch::Stopwatch;

use crate::history::{self, Rehearsal};
use crate::stage::{Stage, runtime};

const MANY_FACTS: usize = 100_000;
const FEW_FACTS: usize = 20;
const MANY_RUNS: u64 = 10_000;

/// `windlass resume` to the end of the round it goes on with, against the same of a run that has just begun.
pub(crate) fn resume(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, 20)?;
    stage.run("TASK", 1, "none")?;
    let runtime = runtime()?;
    let rehearsal = Rehearsal::read(&runtime, &stage.journal())?;
    let (long, short) = (stage.on_disk("long.db"), stage.on_disk("short.db"));
    runtime.block_on(history::write(&long, &rehearsal, &rehearsal.facts(MANY_FACTS)?))?;
    runtime.block_on(history::write(&short, &rehearsal, &rehearsal.facts(FEW_FACTS)?))?;
    let effects = stage.state_directory().join("runs").join(rehearsal.run.as_str());
    let go_on = |past: &Path| -> Result<_> {
        take_place(past, &stage.journal())?;
        // The steps of the real run must not be taken for those of the past that was made up.
        std::fs::remove_dir_all(&effects)?;
        let stopwatch = Stopwatch::start();
        stage.windlass(&["resume", rehearsal.run.as_str()])?;
        Ok(stopwatch.elapsed())
    };
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        ours.push(go_on(&long)?);
        floor.push(go_on(&short)?);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

/// Opening the journal and folding the run, against opening the file and looking at every row.
pub(crate) fn replay(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, 1)?;
    stage.run("TASK", 1, "none")?;
    let runtime = runtime()?;
    let rehearsal = Rehearsal::read(&runtime, &stage.journal())?;
    let path = stage.on_disk("long.db");
    let facts = rehearsal.facts(MANY_FACTS)?;
    runtime.block_on(history::write(&path, &rehearsal, &facts))?;
    let ours = || -> Result<()> {
        let journal = SqliteJournal::open(&path)?;
        let stored = runtime.block_on(journal.read(&rehearsal.run, 0))?;
        let run = engine::replay(&rehearsal.run, &stored)?;
        ensure!(run.version == facts.len() as u64, "facts are missing");
        Ok(())
    };
    let floor = || -> Result<()> {
        let connection = open_bare(&path)?;
        let mut select = connection.prepare("SELECT payload FROM facts WHERE run = ?1 ORDER BY version")?;
        let mut rows = select.query([rehearsal.run.as_str()])?;
        let (mut found, mut bytes) = (0, 0);
        while let Some(row) = rows.next()? {
            found += 1;
            bytes += row.get_ref(0)?.as_str()?.len();
        }
        ensure!(found == facts.len() && bytes > 0, "rows are missing");
        Ok(())
    };
    Ok(Measurement::of_times(interleaved(9, ours, floor)?))
}

/// `windlass ls` against the bare query in process.
pub(crate) fn list(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, 1)?;
    stage.run("TASK", 0, "none")?;
    let runtime = runtime()?;
    runtime.block_on(many_runs(&stage))?;
    let ours = || -> Result<()> {
        let printed = stage.windlass(&["ls", "--json"])?;
        ensure!(printed.matches("\"run\"").count() as u64 > MANY_RUNS, "runs are missing");
        Ok(())
    };
    let floor = || -> Result<()> {
        let connection = open_bare(&stage.journal())?;
        let mut select = connection.prepare(
            "SELECT run, version, started_at, updated_at, headline FROM runs ORDER BY started_at DESC, run DESC",
        )?;
        let mut rows = select.query(())?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let line: (String, i64, i64, i64, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            lines.push(line);
        }
        ensure!(lines.len() as u64 > MANY_RUNS, "runs are missing");
        Ok(())
    };
    Ok(Measurement::of_times(interleaved(9, ours, floor)?))
}

/// Copies of the one real run under other names, in its journal.
async fn many_runs(stage: &Stage) -> Result<()> {
    let journal = SqliteJournal::open(stage.journal())?;
    let head = journal.runs().await?.into_iter().next().context("the journal is empty")?;
    let stored = journal.read(&head.run, 0).await?;
    let first = stored.first().context("the run has no facts")?.fact(&head.run)?;
    let lease = history::lease(&journal).await?;
    let mut appends = JoinSet::new();
    for number in 0..MANY_RUNS {
        let append = Append {
            lease: lease.clone(),
            run: RunId::new(format!("copy-{number}")),
            expected_version: 0,
            at: Millis(head.started_at.0 + number),
            facts: vec![first.clone()],
            headline: head.headline.clone(),
        };
        let journal = journal.clone();
        appends.spawn(async move { journal.append(append).await });
    }
    while let Some(appended) = appends.join_next().await {
        appended??;
    }
    journal.release(&lease).await?;
    Ok(())
}

fn open_bare(path: &Path) -> Result<Connection> {
    Ok(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?)
}

/// Puts a copy of one journal where another one is.
fn take_place(of: &Path, at: &Path) -> Result<()> {
    for extension in ["db-wal", "db-shm"] {
        let _ = std::fs::remove_file(at.with_extension(extension));
    }
    std::fs::copy(of, at)?;
    Ok(())
}
