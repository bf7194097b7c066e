//! Runs the checks without what the change did to them: on the judged tree with the protected files of the base, and with its
//! new tests on the code of the base. A check that is green only with the maker's version is a finding.

use super::super::checks::{Batch, Ran, Share, run_all};
use super::super::step::{self, Told};
use super::touched::{Guard, touched};
use crate::context::{RunContext, git_tree};
use crate::fault::{bug, git_fault};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_artifact_formats::goal_loop::{TestsExit, TestsRun};
use windlass_control_api::Fault;
use windlass_protocols::effect::InspectGate;
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, Integrity, NewTests, NewTestsSay, PathKind, Touch, TouchedPath,
};
use windlass_protocols::kernel::gate::{TestCount, counted, fewer_tests};
use windlass_protocols::outcome::{CheckResult, StepEnd, Usage};
use windlass_protocols::protocol::Spec;
use windlass_protocols::{ArtifactRef, EffectId, Outcome, Run, TreeId};

pub(in super::super) async fn run(
    context: Arc<RunContext>,
    effect: EffectId,
    asked: InspectGate,
    run: Arc<Run>,
    told: Told,
) -> Result<Outcome, Fault> {
    let (planning, plan_of) = (Arc::clone(&context), asked.clone());
    let plan = step::blocking(move || Plan::of(&planning, &plan_of)).await?;
    let mut used = Usage::default();
    let mut first = 0;
    // Sensors have a limit each, as when they measure.
    let share = match &context.spec {
        Spec::FeedbackControl(_) => Share::Each,
        Spec::JudgedTask(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => Share::Together,
    };
    let mut asked = asked;
    let mut unmeasured = Unmeasured::default();
    if asked.unmeasured && (plan.with_base.is_some() || plan.on_base.is_some()) {
        let trees = [(&asked.tree, plan.with_base.is_some()), (&asked.base, true)];
        for (place, (tree, wanted)) in trees.into_iter().enumerate() {
            if !wanted {
                continue;
            }
            let (tree, commands) = (tree.clone(), asked.commands.clone());
            let batch = Batch { first, tree, commands, limits: asked.limits, share };
            first += asked.commands.len();
            match run_all(&context, effect, &batch, &run, &told).await? {
                Ran::All(all, usage) => {
                    unmeasured.results[place] = all;
                    used.duration.0 += usage.duration.0;
                    used.output_bytes += usage.output_bytes;
                }
                Ran::CutOff(outcome) => return Ok(outcome),
            }
        }
        asked = unmeasured.narrowed(asked);
    }
    let tests = telling_of_tests(&context.spec, &asked.commands);
    let mut batches =
        [(&plan.with_base, asked.commands.clone(), Vec::new()), (&plan.on_base, tests, Vec::new())];
    for (tree, commands, results) in &mut batches {
        let Some(tree) = tree else { continue };
        let (tree, commands) = (tree.clone(), std::mem::take(commands));
        let (next, known) = (first + commands.len(), (Arc::clone(&context), asked.flaky.clone()));
        let batch = Batch { first, tree, commands, limits: asked.limits, share };
        match run_all(&context, effect, &batch, &run, &told).await? {
            Ran::All(all, usage) => {
                *results =
                    step::blocking(move || Ok(steadied(&known.0, effect, (first, all), &known.1))).await?;
                first = next;
                used.duration.0 += usage.duration.0;
                used.output_bytes += usage.output_bytes;
            }
            Ran::CutOff(outcome) => return Ok(outcome),
        }
    }
    let [(_, _, with_base), (_, _, on_base)] = batches;
    step::blocking(move || report(&context, effect, &asked, (&plan, &with_base, &on_base, &unmeasured), used))
        .await
}

/// What the commands say of the change and of the base, where nobody had asked them.
#[derive(Default)]
struct Unmeasured {
    /// On the change, then on the base.
    results: [Vec<CheckResult>; 2],
}

impl Unmeasured {
    /// What is red on the change cannot pass only with its own tests.
    fn narrowed(&self, asked: InspectGate) -> InspectGate {
        let red = |results: &[CheckResult]| -> Vec<String> {
            let red = results.iter().filter(|result| !result.passed());
            red.map(|result| result.command.clone()).collect()
        };
        let [now, before] = &self.results;
        let red_now = red(now);
        let commands = asked.commands.iter().filter(|command| !red_now.contains(command)).cloned().collect();
        InspectGate { commands, red_at_base: red(before), ..asked }
    }

    fn red(&self) -> Vec<String> {
        let red = self.results[0].iter().filter(|result| !result.passed());
        red.map(|result| format!("`{}`", result.command)).collect()
    }

    /// Of those that are green: a red one says nothing about how many there are.
    fn fewer_tests(&self) -> Option<GateFinding> {
        let [now, before] = &self.results;
        let now: Vec<CheckResult> = now.iter().filter(|result| result.passed()).cloned().collect();
        fewer_tests(&TestCount::of(counted(before)), counted(&now))
    }
}

/// Those whose word on new tests means something. A pre-commit check was never run at the base, and is no test.
fn telling_of_tests(spec: &Spec, commands: &[String]) -> Vec<String> {
    match spec {
        Spec::GoalContract(spec) => spec.suite.iter().cloned().collect(),
        Spec::JudgedTask(_) | Spec::FeedbackControl(_) | Spec::RoadmapRounds(_) => commands.to_vec(),
    }
}

/// A run in which only tests failed that are known to be flaky says nothing against anybody.
fn steadied(
    context: &RunContext,
    effect: EffectId,
    (first, results): (usize, Vec<CheckResult>),
    flaky: &[String],
) -> Vec<CheckResult> {
    let steady = |(number, mut result): (usize, CheckResult)| {
        if !flaky.is_empty() && !result.passed() {
            let directory = context.state.effect_part(&context.run, effect, first + number);
            let printed = step::printed(&directory);
            let failed = TestsRun::read(&String::from_utf8_lossy(&printed), TestsExit::Failure).failed;
            if !failed.is_empty() && failed.iter().all(|name| flaky.contains(name)) {
                result.end = StepEnd::Exited { code: 0 };
            }
        }
        result
    };
    results.into_iter().enumerate().map(steady).collect()
}

/// The trees to run the checks on; absent where nothing would be learned.
struct Plan {
    touched: Vec<TouchedPath>,
    with_base: Option<TreeId>,
    on_base: Option<TreeId>,
}

impl Plan {
    fn of(context: &RunContext, asked: &InspectGate) -> Result<Self, Fault> {
        let (base, tree) = (git_tree(&asked.base)?, git_tree(&asked.tree)?);
        let guard = Guard::of(context, &base);
        let differences = context.repository.differences(&base, &tree).map_err(git_fault)?;
        let touched = touched(&guard, &differences);
        let select = |onto, from, paths: &BTreeSet<&str>| {
            let takes = |path: &windlass_git_workspaces::RepoPath| {
                std::str::from_utf8(path.as_bytes()).is_ok_and(|path| paths.contains(path))
            };
            let selected = context.repository.select(onto, from, takes).map_err(git_fault)?;
            Ok::<TreeId, Fault>(TreeId::new(selected.tree.as_str()))
        };
        let with_base = if touched.iter().all(TouchedPath::only_adds_a_test) {
            None
        } else {
            let old = touched.iter().filter_map(|one| match &one.how {
                Touch::Renamed { from } => Some(from.as_str()),
                Touch::Added | Touch::Modified | Touch::Deleted => None,
            });
            let paths = touched.iter().map(|one| one.path.as_str()).chain(old).collect();
            Some(select(&tree, &base, &paths)?)
        };
        let tests: BTreeSet<&str> = touched
            .iter()
            .filter(|one| one.kind == PathKind::Test && one.how != Touch::Deleted)
            .map(|one| one.path.as_str())
            .collect();
        let on_base = if tests.is_empty() || context.spec.place().gate.integrity != Integrity::Full {
            None
        } else {
            Some(select(&base, &tree, &tests)?)
        };
        let same = |one: &TreeId| *one != asked.tree;
        Ok(Self { with_base: with_base.filter(same), on_base: on_base.filter(same), touched })
    }
}

/// What was run, for whoever looks at the evidence.
#[derive(Serialize)]
struct Sealed<'a> {
    touched: &'a [TouchedPath],
    with_protected_files_of_the_base: Section<'a>,
    new_tests_on_the_base: Section<'a>,
    findings: &'a [GateFinding],
    new_tests: &'a [NewTests],
}

#[derive(Serialize)]
struct Section<'a> {
    tree: Option<&'a TreeId>,
    results: &'a [CheckResult],
}

fn report(
    context: &RunContext,
    effect: EffectId,
    asked: &InspectGate,
    (plan, with_base, on_base, unmeasured): (&Plan, &[CheckResult], &[CheckResult], &Unmeasured),
    usage: Usage,
) -> Result<Outcome, Fault> {
    let own = only_with_its_own(asked, &plan.touched, with_base);
    let findings: Vec<GateFinding> = own.into_iter().chain(unmeasured.fewer_tests()).collect();
    let say = |result: &CheckResult| match (result.passed(), asked.red_at_base.contains(&result.command)) {
        (_, true) => NewTestsSay::RedAtTheBaseAnyway,
        (true, false) => NewTestsSay::PassesWithoutTheChange,
        (false, false) => NewTestsSay::WouldHaveFailedBefore,
    };
    let new_tests: Vec<NewTests> =
        on_base.iter().map(|result| NewTests { command: result.command.clone(), say: say(result) }).collect();
    let sealed = Sealed {
        touched: &plan.touched,
        with_protected_files_of_the_base: Section { tree: plan.with_base.as_ref(), results: with_base },
        new_tests_on_the_base: Section { tree: plan.on_base.as_ref(), results: on_base },
        findings: &findings,
        new_tests: &new_tests,
    };
    let text = serde_json::to_vec_pretty(&sealed).map_err(|error| bug(error.to_string()))?;
    let mut evidence = vec![context.evidence.seal("gate.json", &text)?];
    let measured: usize = unmeasured.results.iter().map(Vec::len).sum();
    evidence.extend(logs(context, effect, measured + asked.commands.len() * 2)?);
    Ok(Outcome::GateInspected(Box::new(GateReport {
        tree: asked.tree.clone(),
        findings,
        new_tests,
        evidence,
        usage,
        red: unmeasured.red(),
    })))
}

fn only_with_its_own(
    asked: &InspectGate,
    touched: &[TouchedPath],
    results: &[CheckResult],
) -> Option<GateFinding> {
    let red: Vec<&CheckResult> = results.iter().filter(|result| !result.passed()).collect();
    if red.is_empty() {
        return None;
    }
    let mut about: Vec<String> = red
        .iter()
        .map(|result| {
            let known =
                if asked.red_at_base.contains(&result.command) { ", as it was at the base" } else { "" };
            format!("`{}` is red with them as they were{known}", result.command)
        })
        .collect();
    let named = touched.iter().filter(|one| !one.only_adds_a_test()).take(8).map(TouchedPath::words);
    about.extend(named);
    Some(GateFinding { kind: FindingName::PassesOnlyWithItsOwnTests, about })
}

fn logs(context: &RunContext, effect: EffectId, parts: usize) -> Result<Vec<ArtifactRef>, Fault> {
    let mut sealed = Vec::new();
    for part in 0..parts {
        let directory = context.state.effect_part(&context.run, effect, part);
        if directory.is_dir() {
            let name = format!("logs/gate-{}.log", part + 1);
            sealed.push(context.evidence.seal(&name, &step::printed(&directory))?);
        }
    }
    Ok(sealed)
}
