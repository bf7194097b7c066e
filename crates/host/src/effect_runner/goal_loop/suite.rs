//! Runs the full test suite on an exact tree, where the evaluators look, and reads which tests passed. The exit code
//! counts; the names tell a regression from a new test that is still red.

use super::super::gate::tools;
use super::super::step::{self, Counted, Told};
use super::shown;
use crate::context::RunContext;
use crate::fault::bug;
use crate::fence::{self, Step, Who};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_artifact_formats::goal_loop::{TestsExit, TestsRun};
use windlass_control_api::Fault;
use windlass_process_supervisor::{ChildSpec, Secrets};
use windlass_protocols::effect::{RunSuite, SuitePurpose};
use windlass_protocols::outcome::{StepEnd, SuiteReport, Usage};
use windlass_protocols::{ArtifactRef, EffectId, Outcome, Role, Run};

/// More names than this say nothing new to a builder, and the list is sealed whole.
const MAX_NAMES: usize = 50;

pub(in super::super) async fn run(
    context: Arc<RunContext>,
    effect: EffectId,
    asked: RunSuite,
    run: Arc<Run>,
    told: Told,
) -> Result<Outcome, Fault> {
    let directory = context.state.effect_part(&context.run, effect, 0);
    let prepare = {
        let (context, run, asked) = (Arc::clone(&context), Arc::clone(&run), asked.clone());
        let records = directory.clone();
        move || {
            shown::to_checks(&context, &run, &asked.tree)?;
            let mut spec = command(&context, effect, &asked);
            let worktree = spec.directory.clone();
            let step = Step { directory: &records, worktree: &worktree, who: Who::Command };
            fence::put_around(&context, &mut spec, &step)?;
            Ok((spec, Secrets::new()))
        }
    };
    let end = step::command_in(&context, directory.clone(), told, prepare).await?;
    let Some(end) = end else { return Ok(Outcome::Interrupted { usage: Usage::default() }) };
    let usage = step::usage(&end, asked.limits);
    let end = match step::count(&end, &directory) {
        Counted::Lost(reason) => return Ok(Outcome::Lost { reason, usage }),
        Counted::Interrupted => return Ok(Outcome::Interrupted { usage }),
        Counted::Ended(end) => end,
    };
    step::blocking(move || report(&context, &asked, &directory, (end, usage))).await
}

fn command(context: &RunContext, effect: EffectId, asked: &RunSuite) -> ChildSpec {
    let mut spec = context.check(effect, asked.limits);
    spec.program = PathBuf::from("/bin/sh");
    spec.args = vec!["-c".into(), asked.command.clone().into()];
    spec.directory = context.worktree(Role::Evaluator);
    spec
}

fn report(
    context: &RunContext,
    asked: &RunSuite,
    directory: &Path,
    (end, usage): (StepEnd, Usage),
) -> Result<Outcome, Fault> {
    let printed = step::printed(directory);
    let exit = if end == (StepEnd::Exited { code: 0 }) { TestsExit::Success } else { TestsExit::Failure };
    let found = TestsRun::read(&String::from_utf8_lossy(&printed), exit);
    let differing = match &asked.baseline {
        Some(baseline) => differing(asked, &read_list(context, baseline)?, &found),
        None => Vec::new(),
    };
    let list = serde_json::to_vec(&List::of(&found)).map_err(|error| bug(error.to_string()))?;
    let (passed, total) = found.tally().unwrap_or_default();
    Ok(Outcome::SuiteRan(Box::new(SuiteReport {
        purpose: asked.purpose,
        tree: asked.tree.clone(),
        end,
        passed,
        total,
        failing: bounded(found.failed.iter().cloned().collect()),
        regressions: bounded(differing),
        list: Some(context.evidence.seal("tests.json", &list)?),
        log: context.evidence.seal("tests.log", &printed)?,
        usage,
        gate: match asked.purpose {
            SuitePurpose::Baseline | SuitePurpose::BaselineAgain => Vec::new(),
            SuitePurpose::Item => tools::replaced(context).into_iter().collect(),
        },
    })))
}

/// Of two runs on one tree what differs, of two trees what was green and is not.
fn differing(asked: &RunSuite, baseline: &TestsRun, now: &TestsRun) -> Vec<String> {
    match asked.purpose {
        SuitePurpose::Baseline | SuitePurpose::BaselineAgain => baseline.flaky(now),
        SuitePurpose::Item => {
            let regressions = baseline.compared_with(now).regressions;
            regressions.into_iter().filter(|name| !asked.flaky.contains(name)).collect()
        }
    }
}

/// A run of the suite as it is sealed.
#[derive(Serialize, Deserialize)]
struct List {
    green: bool,
    passed: BTreeSet<String>,
    failed: BTreeSet<String>,
    counts: Option<(u32, u32)>,
}

impl List {
    fn of(run: &TestsRun) -> Self {
        Self {
            green: run.exit == TestsExit::Success,
            passed: run.passed.clone(),
            failed: run.failed.clone(),
            counts: run.counts,
        }
    }
}

fn bounded(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names
}

fn read_list(context: &RunContext, artifact: &ArtifactRef) -> Result<TestsRun, Fault> {
    let bytes = context.evidence.read(artifact)?;
    let list: List =
        serde_json::from_slice(&bytes).map_err(|error| bug(format!("the sealed list of tests: {error}")))?;
    let exit = if list.green { TestsExit::Success } else { TestsExit::Failure };
    Ok(TestsRun { passed: list.passed, failed: list.failed, counts: list.counts, exit })
}
