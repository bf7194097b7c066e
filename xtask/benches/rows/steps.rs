//! A step of an agent that takes no time and needs no git: asked for, kept, ended, believed. What an iteration of a loop costs
//! that has nothing else to do.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::runtime::Runtime;
use windlass_engine::Engine;
use windlass_journal::SqliteJournal;
use windlass_process_supervisor::{ChildSpec, ChildStdin, KeeperProgram, Limits, start};
use windlass_protocols::explain::explain;
use windlass_protocols::{Actor, Run};
use xtask::bench::{Bench, Measurement, Medians, median};
use xtask::commands::Repository;
use xtask::stopwatch::Stopwatch;

use crate::appends::{NoEffects, Scene, Standing, bare_commit};
use crate::bare_journal::BareFacts;
use crate::history;

const SAMPLES: usize = 201;
const SILENT: &str = ":";
const TALKING: &str = "echo here; echo there >&2";

/// A kept step and a turn of the engine, without the two flushes that make its end and its facts durable (taken off as they
/// are measured beside it, in the cheapest way), against a bare start of the same child.
pub(crate) fn iteration(bench: &Bench) -> Result<Measurement> {
    let scene = Scene::set(bench)?;
    let runtime = &scene.runtime;
    let journal = SqliteJournal::open(scene.stage.on_disk("ours.db"))?;
    let lease = runtime.block_on(history::lease(&journal))?;
    let headline = |run: &Run| explain(run).now;
    let id = scene.rehearsal.run.clone();
    let mut engine = runtime.block_on(Engine::open((journal, NoEffects, Standing), id, lease, headline))?;
    let mut bare = BareFacts::open(&scene.stage.on_disk("bare.db"), scene.rehearsal.run.as_str())?;
    let kept = Kept { runtime, keeper: keeper(bench), directory: scene.stage.on_disk("steps") };
    std::fs::create_dir_all(&kept.directory)?;
    let (mut ours, mut durable, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    let mut observation = scene.rehearsal.beginning();
    for sample in 0..SAMPLES {
        let stopwatch = Stopwatch::start();
        kept.step(&format!("step-{sample}"), SILENT)?;
        let facts = runtime.block_on(engine.observe(Actor::Engine, observation))?;
        ours.push(stopwatch.elapsed());
        durable
            .push(bare_commit(&mut bare, &facts)? + flushed(&kept.directory.join(format!("end-{sample}")))?);
        floor.push(kept.bare(SILENT)?);
        observation = scene.rehearsal.answer(engine.run())?;
    }
    let net = median(ours).saturating_sub(median(durable));
    Ok(Measurement::of_times(Medians { ours: net, floor: median(floor) }))
}

/// One that says nothing against one that says something on both streams.
pub(crate) fn silent(bench: &Bench) -> Result<Measurement> {
    let scene = Scene::set(bench)?;
    let kept =
        Kept { runtime: &scene.runtime, keeper: keeper(bench), directory: scene.stage.on_disk("steps") };
    std::fs::create_dir_all(&kept.directory)?;
    let (mut silent, mut talking) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        for (name, script, times) in [("silent", SILENT, &mut silent), ("talking", TALKING, &mut talking)] {
            let stopwatch = Stopwatch::start();
            kept.step(&format!("{name}-{sample}"), script)?;
            times.push(stopwatch.elapsed());
        }
    }
    Ok(Measurement::of_times(Medians { ours: median(silent), floor: median(talking) }))
}

struct Kept<'a> {
    runtime: &'a Runtime,
    keeper: KeeperProgram,
    directory: std::path::PathBuf,
}

impl Kept<'_> {
    fn step(&self, name: &str, script: &str) -> Result<()> {
        let _inside = self.runtime.enter();
        let spec = ChildSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            directory: self.directory.clone(),
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            secret_names: Vec::new(),
            stdin: ChildStdin::Nothing,
            limits: Limits::default(),
            sandbox: None,
            cookie: format!("bench-{}-{name}", std::process::id()),
            overlay: None,
            outlasts_power_cuts: true,
        };
        let mut child = start(&self.keeper, &self.directory.join(name), &spec)?;
        let end = self.runtime.block_on(child.wait())?;
        ensure!(end.is_success(), "a child ended so: {end:?}");
        Ok(())
    }

    fn bare(&self, script: &str) -> Result<Duration> {
        let mut command = Repository::of_this_build().program("/bin/sh");
        command.args(["-c", script]).current_dir(&self.directory);
        let stopwatch = Stopwatch::start();
        ensure!(command.status()?.success(), "a bare child failed");
        Ok(stopwatch.elapsed())
    }
}

fn keeper(bench: &Bench) -> KeeperProgram {
    KeeperProgram {
        program: bench.program.clone(),
        args: vec!["__keep".into()],
        environment: BTreeMap::new(),
    }
}

/// The least that makes the end of a child durable: a file of a few words, made and flushed.
fn flushed(path: &Path) -> Result<Duration> {
    let stopwatch = Stopwatch::start();
    let mut file = std::fs::File::create(path)?;
    file.write_all(b"{\"how\":\"exited\",\"code\":0}\n")?;
    file.sync_all()?;
    Ok(stopwatch.elapsed())
}
