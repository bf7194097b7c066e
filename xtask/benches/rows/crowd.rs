//! What the supervisor costs when there is much of something: 256 agents that sleep at once, ten gigabytes of output. The
//! children are as bare as they can be, so that what is counted is the supervisor's.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use windlass_process_supervisor::{ChildEnd, ChildSpec, ChildStdin, KeeperProgram, KeptChild, Limits, start};
use xtask::bench::{Bench, Measurement, Medians, Quantity};
use xtask::commands::{self, Repository};
use xtask::stopwatch::Stopwatch;

use crate::scratch;
use crate::stage::runtime;

const AGENTS: usize = 256;
const OUTPUT_BYTES: u64 = 10 * 1024 * 1024 * 1024;

/// All of them started and waited for, against the same children started and waited for with nobody between.
pub(crate) fn sleeping(bench: &Bench) -> Result<Measurement> {
    let crowd = Crowd::of(bench)?;
    let runtime = runtime()?;
    let _inside = runtime.enter();
    let stopwatch = Stopwatch::start();
    let children = crowd.start_all("exec sleep 3")?;
    for mut child in children {
        let end = runtime.block_on(child.wait())?;
        ensure!(end.is_success(), "an agent ended so: {end:?}");
    }
    let ours = stopwatch.elapsed();
    Ok(Measurement::of_times(Medians { ours, floor: crowd.bare("exec sleep 3")? }))
}

/// What the keepers of so many agents have for themselves while all of them wait.
pub(crate) fn sleeping_memory(bench: &Bench) -> Result<Measurement> {
    let crowd = Crowd::of(bench)?;
    let runtime = runtime()?;
    let _inside = runtime.enter();
    let gate = crowd.pipe("gate")?;
    let told = crowd.pipe("told")?;
    let children =
        crowd.start_all(&format!("echo here > {}; read x < {}", told.display(), gate.display()))?;
    let mut said = String::new();
    while said.lines().count() < AGENTS {
        std::fs::File::open(&told)?.read_to_string(&mut said)?;
    }
    let mut bytes = 0;
    for child in &children {
        bytes += private_bytes(keeper_of(child.effect_dir())?)?;
    }
    for mut child in children {
        child.kill()?;
        runtime.block_on(child.wait())?;
    }
    Ok(Measurement { measured: Quantity::Count(bytes), floor: None })
}

/// Threads of the process that waits for so many agents, beyond one for each core; a keeper has one.
pub(crate) fn sleeping_threads(bench: &Bench) -> Result<Measurement> {
    let crowd = Crowd::of(bench)?;
    let runtime = runtime()?;
    let _inside = runtime.enter();
    let gate = crowd.pipe("gate")?;
    let mut children = crowd.start_all(&format!("read x < {}", gate.display()))?;
    let waited = async {
        let mut ends = tokio::task::JoinSet::new();
        let directories: Vec<PathBuf> = children.iter().map(|child| child.effect_dir().to_owned()).collect();
        for mut child in children.drain(..) {
            ends.spawn(async move { child.wait().await });
        }
        tokio::task::yield_now().await;
        let mut threads = threads_of("self")?;
        for directory in directories {
            let of_keeper = threads_of(&keeper_of(&directory)?.to_string())?;
            ensure!(of_keeper == 1, "a keeper has {of_keeper} threads");
            threads = threads.max(threads_of("self")?);
        }
        // Open for both, so that a line waits for those who come later.
        let mut opened = std::fs::OpenOptions::new().read(true).write(true).open(&gate)?;
        opened.write_all("go\n".repeat(AGENTS).as_bytes())?;
        while let Some(end) = ends.join_next().await {
            end??;
        }
        Ok::<_, anyhow::Error>(threads)
    };
    let cores = std::thread::available_parallelism()?.get() as u64;
    let threads = runtime.block_on(waited)?;
    Ok(Measurement { measured: Quantity::Count(threads.saturating_sub(cores)), floor: None })
}

fn threads_of(process: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    Ok(line.context("the system does not say how many threads a process has")?.trim().parse()?)
}

/// By how much the keeper has grown at its largest, against one whose child says nothing.
pub(crate) fn output(bench: &Bench) -> Result<Measurement> {
    let crowd = Crowd::of(bench)?;
    let silent = crowd.most_memory("silent", ":")?.1;
    let (end, most) = crowd.most_memory("talking", &format!("head -c {OUTPUT_BYTES} /dev/zero"))?;
    ensure!(end.stdout_bytes == OUTPUT_BYTES, "{} bytes were counted", end.stdout_bytes);
    Ok(Measurement { measured: Quantity::Count(most.saturating_sub(silent)), floor: None })
}

struct Crowd {
    keeper: KeeperProgram,
    directory: PathBuf,
}

impl Crowd {
    fn of(bench: &Bench) -> Result<Self> {
        let keeper = KeeperProgram {
            program: bench.program.clone(),
            args: vec!["__keep".into()],
            environment: BTreeMap::new(),
        };
        Ok(Self { keeper, directory: scratch::directory(bench)? })
    }

    fn start_all(&self, script: &str) -> Result<Vec<KeptChild>> {
        (0..AGENTS).map(|number| self.start(&format!("agent-{number}"), script)).collect()
    }

    fn start(&self, name: &str, script: &str) -> Result<KeptChild> {
        let spec = ChildSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            directory: self.directory.clone(),
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            secret_names: Vec::new(),
            stdin: ChildStdin::Nothing,
            limits: Limits::default(),
            sandbox: None,
            overlay: None,
            cookie: format!("bench-{}-{name}", std::process::id()),
            outlasts_power_cuts: true,
        };
        Ok(start(&self.keeper, &self.directory.join(name), &spec)?)
    }

    fn bare(&self, script: &str) -> Result<Duration> {
        let stopwatch = Stopwatch::start();
        let start = |_| {
            let mut command = Repository::of_this_build().program("/bin/sh");
            Ok(command.args(["-c", script]).current_dir(&self.directory).spawn()?)
        };
        let children: Vec<std::process::Child> = (0..AGENTS).map(start).collect::<Result<_>>()?;
        for mut child in children {
            child.wait()?;
        }
        Ok(stopwatch.elapsed())
    }

    /// A pipe with a name.
    fn pipe(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        commands::capture(Repository::of_this_build().program("mkfifo").arg(&path))?.expect_success()?;
        Ok(path)
    }

    /// The end of a child, and the most memory its keeper ever had. The child waits at its end until that was read.
    fn most_memory(&self, name: &str, script: &str) -> Result<(ChildEnd, u64)> {
        let runtime = runtime()?;
        let _inside = runtime.enter();
        let (gate, told) = (self.pipe(&format!("{name}-gate"))?, self.pipe(&format!("{name}-told"))?);
        let script = format!("{script}; echo done > {}; read x < {}", told.display(), gate.display());
        let mut child = self.start(name, &script)?;
        std::fs::File::open(&told)?.read_to_string(&mut String::new())?;
        let status = std::fs::read_to_string(format!("/proc/{}/status", keeper_of(child.effect_dir())?))?;
        let most =
            kilobytes(&status, "VmHWM:").context("the system does not say what a process had at most")?;
        std::fs::write(&gate, "go\n")?;
        Ok((runtime.block_on(child.wait())?, most))
    }
}

fn keeper_of(effect: &Path) -> Result<u64> {
    let keeper: Value = serde_json::from_slice(&std::fs::read(effect.join("keeper.json"))?)?;
    keeper["pid"].as_u64().context("a keeper says who it is")
}

/// What no other process shares.
fn private_bytes(process: u64) -> Result<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let sum = ["Private_Clean:", "Private_Dirty:"].iter().filter_map(|name| kilobytes(&rollup, name)).sum();
    Ok(sum)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}
