//! What a rejected round asks of the system, counted by `strace`: the same on every machine, however busy. Everything is
//! counted that the run starts, its agents included.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::bench::{Bench, Measurement, Quantity};
use xtask::commands;

use crate::stage::Stage;

const SHORT: u32 = 1;
const ROUNDS: u32 = 10;
/// How many rounds more a long run has.
const MANY: u32 = 100;
const SMALL: usize = 20;
const LARGE: usize = 2_000;

pub(crate) fn files_made_small(bench: &Bench) -> Result<Measurement> {
    files_made(bench, SMALL)
}

pub(crate) fn files_made_large(bench: &Bench) -> Result<Measurement> {
    files_made(bench, LARGE)
}

/// Every opening that may make a file, temporary ones and the agents' included.
fn files_made(bench: &Bench, files: usize) -> Result<Measurement> {
    let made =
        |line: &str| line.contains("O_CREAT") && !line.contains("\"/dev/null\"") && !line.contains(" = -1 ");
    a_round(&Stage::with_files(bench, files)?, "open,openat,creat", made)
}

pub(crate) fn chmods(bench: &Bench) -> Result<Measurement> {
    // The last one is not known to every strace.
    let calls = "chmod,fchmod,fchmodat,?fchmodat2";
    a_round(&Stage::with_files(bench, LARGE)?, calls, |line| line.contains("chmod"))
}

fn a_round(stage: &Stage, calls: &str, counts: impl Fn(&str) -> bool) -> Result<Measurement> {
    stage.run("FIRST", 0, "none")?;
    let count = |task: &str, rejected| -> Result<u64> {
        let lines = traced(stage, calls, task, rejected)?;
        Ok(lines.iter().filter(|line| counts(line)).count() as u64)
    };
    let (short, long) = (count("SHORT", SHORT)?, count("LONG", SHORT + ROUNDS)?);
    Ok(Measurement { measured: Quantity::Count((long - short).div_ceil(u64::from(ROUNDS))), floor: None })
}

/// Bytes of the journal that are read in a late round, against those of an early one.
pub(crate) fn journal_read(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, SMALL)?;
    stage.run("FIRST", 0, "none")?;
    let read = |task: &str, rejected| -> Result<u64> {
        let lines = traced(&stage, "read,pread64", task, rejected)?;
        let journal = lines.iter().filter(|line| line.contains("/journal.db"));
        Ok(journal.filter_map(|line| line.rsplit_once(" = ")?.1.trim().parse::<u64>().ok()).sum())
    };
    let (short, early, late) =
        (read("SHORT", SHORT)?, read("EARLY", SHORT + ROUNDS)?, read("LATE", SHORT + MANY)?);
    ensure!(short > 0, "nothing was read of the journal, which cannot be");
    let of_early = (early.saturating_sub(short)).div_ceil(u64::from(ROUNDS)).max(1);
    let of_late = (late.saturating_sub(short)).div_ceil(u64::from(MANY)).max(1);
    Ok(Measurement { measured: Quantity::Count(of_late), floor: Some(Quantity::Count(of_early)) })
}

/// The calls of a whole run, each process and thread by itself, so that no line is cut in two by another one's.
fn traced(stage: &Stage, calls: &str, task: &str, rejected: u32) -> Result<Vec<String>> {
    let directory = stage.in_memory(&format!("trace-{task}"));
    std::fs::create_dir(&directory)?;
    let (program, words) = stage.run_words(&rejected.to_string(), task, rejected, "none")?;
    let mut strace = stage.start(&find("strace")?);
    strace
        .args(["-ff", "-qq", "-y", "-e"])
        .arg(format!("trace={calls}"))
        .arg("-o")
        .arg(directory.join("calls"));
    strace.arg(program).args(words).env("WINDLASS_STATE_DIR", stage.state_directory());
    commands::capture(&mut strace)?.expect_success()?;
    let mut lines = Vec::new();
    for file in std::fs::read_dir(&directory)? {
        let text = std::fs::read(file?.path())?;
        lines.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(lines)
}

fn find(program: &str) -> Result<PathBuf> {
    let places = ["/usr/bin", "/usr/local/bin", "/bin"].map(|place| Path::new(place).join(program));
    places.into_iter().find(|place| place.is_file()).with_context(|| format!("this row needs {program}"))
}
