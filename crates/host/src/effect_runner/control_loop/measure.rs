//! Runs a node's sensors, side by side, each on a snapshot of its own, so that none disturbs another. The engine reads
//! the exit codes; nobody's opinion enters a reading.

use super::super::checks;
use super::super::gate::tools;
use super::super::step::{self, Counted, Told};
use super::files;
use super::shown;
use crate::context::RunContext;
use crate::fault::git_fault;
use crate::fence::{self, Step, Who};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use windlass_artifact_formats::control_loop::{
    AgentFile, Better, MetricRule, SensorOutput, SensorStatus, clean_output,
};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Fingerprint, TreeId};
use windlass_process_supervisor::{ChildSpec, Secrets};
use windlass_protocols::effect::{Measure, SensorRun, StepLimits};
use windlass_protocols::outcome::{
    GateFinding, Measured, Metric, OUTPUT_LIMIT, Reading, ReadingStatus, StepEnd, TIME_LIMIT, Usage,
};
use windlass_protocols::{EffectId, Outcome, Run};

/// What a shell says of a command that it cannot run or find.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;
/// More sensors than this at once would only wait for each other.
const FEWEST_AT_ONCE: usize = 2;
/// Of the files that a sensor changed in its own snapshot, so many are named.
const MAX_EDITED: usize = 20;

pub(in super::super) async fn run(
    context: Arc<RunContext>,
    effect: EffectId,
    asked: Measure,
    run: Arc<Run>,
    told: Told,
) -> Result<Outcome, Fault> {
    let (tree_context, tree_run, plant) = (Arc::clone(&context), Arc::clone(&run), asked.tree.clone());
    let tree = step::blocking(move || {
        let state = files::state(&tree_run)?;
        if let Some((_, base)) = &state.base {
            tools::remember(&tree_context, base)?;
        }
        shown::tree(&tree_context, state, &plant, (&[], &[]))
    })
    .await?;
    let at_once =
        std::thread::available_parallelism().map_or(FEWEST_AT_ONCE, usize::from).max(FEWEST_AT_ONCE);
    let room = Arc::new(Semaphore::new(at_once));
    let mut under_way = Vec::new();
    for (number, sensor) in asked.sensors.iter().enumerate() {
        let one = OneSensor {
            context: Arc::clone(&context),
            run: Arc::clone(&run),
            effect,
            number,
            depth: asked.depth,
            sensor: sensor.clone(),
            limits: StepLimits { total: sensor.total.unwrap_or(asked.limits.total), ..asked.limits },
            tree: tree.clone(),
        };
        let (room, told) = (Arc::clone(&room), told.clone());
        under_way.push(tokio::spawn(async move {
            let _room = room.acquire_owned().await;
            one.measure(told).await
        }));
    }
    let mut usage = Usage::default();
    let mut readings = Vec::new();
    let mut cut_off = None;
    for task in under_way {
        let joined = task.await.map_err(|error| crate::fault::bug(format!("a sensor's step: {error}")))?;
        let (ended, used) = joined?;
        // They ran side by side: what the run waited for is the slowest.
        usage.duration = usage.duration.max(used.duration);
        usage.output_bytes = usage.output_bytes.saturating_add(used.output_bytes);
        usage.held_by = used.held_by.or(usage.held_by);
        match ended {
            Ended::Read(reading) => readings.push(reading),
            Ended::Interrupted => cut_off = Some(None),
            Ended::Lost(reason) => cut_off = cut_off.or(Some(Some(reason))),
        }
    }
    Ok(match cut_off {
        Some(None) => Outcome::Interrupted { usage },
        Some(Some(reason)) => Outcome::Lost { reason, usage },
        None => {
            let gate = replaced(context, &readings).await?;
            Outcome::Measured(Measured { tree: asked.tree, readings, usage, gate })
        }
    })
}

/// Programs that are others than at the base. Only asked where all sensors are content: nobody is misled by a failure.
async fn replaced(context: Arc<RunContext>, readings: &[Reading]) -> Result<Vec<GateFinding>, Fault> {
    if readings.iter().any(|reading| reading.required && reading.status != ReadingStatus::Pass) {
        return Ok(Vec::new());
    }
    step::blocking(move || Ok(tools::replaced(&context).into_iter().collect())).await
}

struct OneSensor {
    context: Arc<RunContext>,
    run: Arc<Run>,
    effect: EffectId,
    number: usize,
    depth: u32,
    sensor: SensorRun,
    limits: StepLimits,
    tree: TreeId,
}

enum Ended {
    Read(Reading),
    Interrupted,
    Lost(String),
}

impl OneSensor {
    async fn measure(self, told: Told) -> Result<(Ended, Usage), Fault> {
        let this = Arc::new(self);
        let directory = this.context.state.effect_part(&this.context.run, this.effect, this.number);
        let before: Arc<Mutex<Option<Fingerprint>>> = Arc::default();
        let prepare = {
            let (this, before) = (Arc::clone(&this), Arc::clone(&before));
            move || {
                let (spec, fingerprint) = this.prepare()?;
                if let Ok(mut slot) = before.lock() {
                    *slot = Some(fingerprint);
                }
                Ok((spec, Secrets::new()))
            }
        };
        let end = step::command_in(&this.context, directory.clone(), told, prepare).await?;
        let Some(end) = end else { return Ok((Ended::Interrupted, Usage::default())) };
        let usage = step::usage(&end, this.limits);
        let end = match step::count(&end, &directory) {
            Counted::Lost(reason) => return Ok((Ended::Lost(reason), usage)),
            Counted::Interrupted => return Ok((Ended::Interrupted, usage)),
            Counted::Ended(end) => end,
        };
        let reading = step::blocking(move || {
            let before = before.lock().ok().and_then(|mut slot| slot.take());
            this.read(&end, &directory, before.as_ref())
        });
        Ok((Ended::Read(reading.await?), usage))
    }

    fn prepare(&self) -> Result<(ChildSpec, Fingerprint), Fault> {
        let context = &self.context;
        let path = context.sensor_worktree(self.depth, self.number);
        let key = context.sensor_index_key(self.depth, self.number);
        let shown = shown::show(context, files::state(&self.run)?, (&path, &key), &self.tree)?;
        let mut spec = context.check(self.effect, self.limits);
        spec.program = PathBuf::from("/bin/sh");
        spec.args = checks::shell_arguments(&context.spec, &self.sensor.command);
        spec.directory.clone_from(&path);
        let directory = context.state.effect_part(&context.run, self.effect, self.number);
        let step = Step { directory: &directory, worktree: &path, who: Who::Command };
        fence::put_around(context, &mut spec, &step)?;
        Ok((spec, shown))
    }

    fn read(
        &self,
        end: &StepEnd,
        directory: &std::path::Path,
        before: Option<&Fingerprint>,
    ) -> Result<Reading, Fault> {
        let (status, exit_code, cause) = judge(end);
        let printed = step::printed(directory);
        let output = clean_output(&String::from_utf8_lossy(&printed));
        let report = SensorOutput {
            sensor: self.sensor.name.clone(),
            status: Some(if status == ReadingStatus::Pass { SensorStatus::Pass } else { SensorStatus::Fail }),
            command: Some(self.sensor.command.clone()),
            exit_code,
            cause: cause.clone(),
            output: output.clone(),
        };
        let evidence = &self.context.evidence;
        let name = &self.sensor.name;
        Ok(Reading {
            sensor: name.clone(),
            status,
            required: self.sensor.required,
            cause,
            metrics: self.metrics(&output)?,
            edited: before.map(|shown| self.edited(shown)).transpose()?.unwrap_or_default(),
            artifact: evidence.seal(&format!("sensor-{name}-output.md"), report.render().as_bytes())?,
            log: Some(evidence.seal(&format!("sensor-{name}.log"), &printed)?),
            tests: checks::tests(&self.context, end, &printed),
        })
    }

    /// By the rule in the sensor's own file, or whatever well-known tools print.
    fn metrics(&self, output: &str) -> Result<Vec<Metric>, Fault> {
        let node = self.context.control_loop()?.node(self.depth as usize);
        let file = node.sensors.iter().find(|sensor| sensor.name == self.sensor.name).map(|one| &one.file);
        let rule = file
            .and_then(|file| AgentFile::parse(&file.path, &file.text).ok())
            .and_then(|(file, _)| file.metric);
        let read = rule.unwrap_or(MetricRule::Auto).read(output);
        let better = |better| match better {
            Better::Higher => windlass_protocols::outcome::Better::Higher,
            Better::Lower => windlass_protocols::outcome::Better::Lower,
        };
        let metrics = read.into_iter().map(|metric| Metric {
            name: metric.name,
            thousandths: metric.value,
            finer: metric.finer,
            unit: metric.unit,
            better: better(metric.better),
        });
        Ok(metrics.collect())
    }

    /// It measured its own snapshot, so no harm was done; but whoever reads the record should know.
    fn edited(&self, shown: &Fingerprint) -> Result<Vec<String>, Fault> {
        let drift = self.context.repository.drift_since(shown).map_err(git_fault)?;
        let paths = drift.changed.iter().chain(&drift.deleted).map(ToString::to_string);
        Ok(paths.take(MAX_EDITED).collect())
    }
}

fn judge(end: &StepEnd) -> (ReadingStatus, Option<i32>, Option<String>) {
    let failed = |code, cause: &str| (ReadingStatus::Fail, code, Some(cause.to_owned()));
    match end {
        StepEnd::Exited { code: 0 } => (ReadingStatus::Pass, Some(0), None),
        StepEnd::Exited { code: code @ (NOT_EXECUTABLE | NOT_FOUND) } => failed(Some(*code), "not-runnable"),
        StepEnd::Exited { code } => (ReadingStatus::Fail, Some(*code), None),
        StepEnd::Signaled { signal } => failed(None, &format!("ended by signal {signal}")),
        StepEnd::TotalLimit => failed(None, TIME_LIMIT),
        StepEnd::IdleLimit => failed(None, "idle limit"),
        StepEnd::OutputLimit => failed(None, OUTPUT_LIMIT),
        StepEnd::MemoryLimit => failed(None, "memory limit"),
        StepEnd::ProcessLimit => failed(None, "process limit"),
        StepEnd::NotStarted { .. } => failed(None, "not-runnable"),
    }
}
