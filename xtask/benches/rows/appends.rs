//! What it costs to make facts durable, against a bare commit of the same rows.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Runtime;
use windlass_engine::{Append, Clock, EffectRunner, Engine, Journal};
use windlass_journal::SqliteJournal;
use windlass_protocols::explain::explain;
use windlass_protocols::{Actor, Effect, EffectId, Fact, Millis, Run};
use xtask::bench::{Bench, Measurement, Medians, median};
use xtask::stopwatch::Stopwatch;

use crate::bare_journal::BareFacts;
use crate::history::{self, Rehearsal};
use crate::stage::{Stage, runtime};

const SAMPLES: usize = 301;

pub(crate) struct NoEffects;

impl EffectRunner for NoEffects {
    fn start(&mut self, _run: &Run, _effect: EffectId, _request: &Effect) {}
}

pub(crate) struct Standing;

impl Clock for Standing {
    fn now(&self) -> Millis {
        Millis(1_700_000_000_000)
    }
}

/// One whole turn of the engine: decide, append, believe. The rounds of a run that is rejected again and again.
pub(crate) fn turn(bench: &Bench) -> Result<Measurement> {
    let scene = Scene::set(bench)?;
    let runtime = &scene.runtime;
    let journal = SqliteJournal::open(scene.stage.on_disk("ours.db"))?;
    let lease = runtime.block_on(history::lease(&journal))?;
    let ports = (journal, NoEffects, Standing);
    let headline = |run: &Run| explain(run).now;
    let id = scene.rehearsal.run.clone();
    let mut engine = runtime.block_on(Engine::open(ports, id, lease, headline))?;
    let mut bare = BareFacts::open(&scene.stage.on_disk("bare.db"), scene.rehearsal.run.as_str())?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    let mut observation = scene.rehearsal.beginning();
    for _ in 0..SAMPLES {
        let stopwatch = Stopwatch::start();
        let facts = runtime.block_on(engine.observe(Actor::Engine, observation))?;
        ours.push(stopwatch.elapsed());
        floor.push(bare_commit(&mut bare, &facts)?);
        observation = scene.rehearsal.answer(engine.run())?;
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

pub(crate) fn one_fact(bench: &Bench) -> Result<Measurement> {
    append(bench, 1)
}

pub(crate) fn eight_facts(bench: &Bench) -> Result<Measurement> {
    append(bench, 8)
}

pub(crate) fn sixty_four_facts(bench: &Bench) -> Result<Measurement> {
    append(bench, 64)
}

fn append(bench: &Bench, facts: usize) -> Result<Measurement> {
    let scene = Scene::set(bench)?;
    let runtime = &scene.runtime;
    let journal = SqliteJournal::open(scene.stage.on_disk("ours.db"))?;
    let lease = runtime.block_on(history::lease(&journal))?;
    let run = scene.rehearsal.run.clone();
    let mut bare = BareFacts::open(&scene.stage.on_disk("bare.db"), run.as_str())?;
    let past = scene.rehearsal.facts(SAMPLES * facts)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for (sample, facts) in past.chunks_exact(facts).take(SAMPLES).enumerate() {
        let append = Append {
            lease: lease.clone(),
            run: run.clone(),
            expected_version: (sample * facts.len()) as u64,
            at: Standing.now(),
            facts: facts.to_vec(),
            headline: scene.rehearsal.headline.clone(),
        };
        let stopwatch = Stopwatch::start();
        runtime.block_on(journal.append(append))?;
        ours.push(stopwatch.elapsed());
        floor.push(bare_commit(&mut bare, facts)?);
    }
    Ok(Measurement::of_times(Medians { ours: median(ours), floor: median(floor) }))
}

pub(crate) fn bare_commit(bare: &mut BareFacts, facts: &[Fact]) -> Result<Duration> {
    let payloads: Vec<String> = facts.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    let (at, hash) = (i64::try_from(Standing.now().0)?, "0".repeat(64));
    let stopwatch = Stopwatch::start();
    bare.commit(at, &hash, &payloads)?;
    Ok(stopwatch.elapsed())
}

/// A journal to write to, and what to write.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) runtime: Runtime,
    pub(crate) rehearsal: Rehearsal,
}

impl Scene {
    pub(crate) fn set(bench: &Bench) -> Result<Self> {
        let stage = Stage::with_files(bench, 1)?;
        stage.run("TASK", 1, "none")?;
        let runtime = runtime()?;
        let rehearsal = Rehearsal::read(&runtime, &stage.journal())?;
        Ok(Self { stage, runtime, rehearsal })
    }
}
