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
    FindingName, GateFinding, GateReport, Integrity, NewTests, NewTestsSay, PathKind, TestCount, Touch,
    TouchedPath, counted, fewer_tests,
};
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
    let mut bench =
        Bench { context: Arc::clone(&context), effect, run, told, first: 0, used: Usage::default() };
    let mut asked = asked;
    let mut unmeasured = Unmeasured::default();
    if asked.unmeasured {
        // What leaves the protected files alone needs no comparing with the base.
        let trees = [Some(&asked.tree), Some(&asked.base).filter(|_| !plan.touched.is_empty())];
        for (place, tree) in trees.into_iter().flatten().enumerate() {
            match bench.run_on(tree, &asked.commands, &asked).await? {
                Ran::All(results, _) => unmeasured.results[place] = results,
                Ran::CutOff(outcome) => return Ok(outcome),
            }
        }
        asked = unmeasured.narrowed(asked);
    }
    let tests = telling_of_tests(&context.spec, &asked.commands);
    let batches = [(Some(&plan.with_base), &asked.commands), (plan.on_base.as_ref(), &tests)];
    let mut results = [Vec::new(), Vec::new()];
    for (place, (tree, commands)) in batches.into_iter().enumerate() {
        let Some(tree) = tree else { continue };
        // The same content was measured just now.
        if asked.unmeasured && *tree == asked.tree {
            results[place] = unmeasured.green();
            continue;
        }
        match bench.run_on(tree, commands, &asked).await? {
            Ran::All(all, _) => results[place] = all,
            Ran::CutOff(outcome) => return Ok(outcome),
        }
    }
    let used = bench.used;
    step::blocking(move || {
        let [with_base, on_base] = &results;
        report(&context, effect, &asked, (&plan, with_base, on_base, &unmeasured), used)
    })
    .await
}

/// Where the commands run on one tree after the other, as the parts of one effect.
struct Bench {
    context: Arc<RunContext>,
    effect: EffectId,
    run: Arc<Run>,
    told: Told,
    /// The number of the next part.
    first: usize,
    used: Usage,
}

impl Bench {
    async fn run_on(
        &mut self,
        tree: &TreeId,
        commands: &[String],
        asked: &InspectGate,
    ) -> Result<Ran, Fault> {
        // Sensors have a limit each, as when they measure.
        let share = match &self.context.spec {
            Spec::FeedbackControl(_) => Share::Each,
            Spec::JudgedTask(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => Share::Together,
        };
        let (first, tree, commands) = (self.first, tree.clone(), commands.to_vec());
        self.first += commands.len();
        let batch = Batch { first, tree, commands, limits: asked.limits, share };
        let ran = run_all(&self.context, self.effect, &batch, &self.run, &self.told).await?;
        let Ran::All(all, usage) = ran else { return Ok(ran) };
        self.used.duration.0 += usage.duration.0;
        self.used.output_bytes += usage.output_bytes;
        let (context, effect, flaky) = (Arc::clone(&self.context), self.effect, asked.flaky.clone());
        let results = step::blocking(move || Ok(steadied(&context, effect, (first, all), &flaky))).await?;
        Ok(Ran::All(results, usage))
    }
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
        let (red, red_at_base) = (self.red(), red(&self.results[1]));
        let commands = asked.commands.iter().filter(|command| !red.contains(command)).cloned().collect();
        InspectGate { commands, red_at_base, ..asked }
    }

    fn green(&self) -> Vec<CheckResult> {
        self.results[0].iter().filter(|result| result.passed()).cloned().collect()
    }

    fn red(&self) -> Vec<String> {
        red(&self.results[0])
    }

    /// Of those that are green: a red one says nothing about how many there are.
    fn fewer_tests(&self) -> Option<GateFinding> {
        fewer_tests(&TestCount::of(counted(&self.results[1])), counted(&self.green()))
    }
}

fn red(results: &[CheckResult]) -> Vec<String> {
    results.iter().filter(|result| !result.passed()).map(|result| result.command.clone()).collect()
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
        // One that was cut off may have failed in what it had not come to yet.
        if !flaky.is_empty() && !result.passed() && came_to_its_end(&result) {
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

/// Whether what it said is its word: it was not ended by a limit or a signal, and was started at all.
const fn came_to_its_end(result: &CheckResult) -> bool {
    matches!(result.end, StepEnd::Exited { .. })
}

/// The trees to run the checks on.
struct Plan {
    touched: Vec<TouchedPath>,
    with_base: TreeId,
    /// Absent where nothing would be learned.
    on_base: Option<TreeId>,
}

impl Plan {
    fn of(context: &RunContext, asked: &InspectGate) -> Result<Self, Fault> {
        let (base, tree) = (git_tree(&asked.base)?, git_tree(&asked.tree)?);
        let guard = Guard::of(context, &base);
        let differences = context.repository.differences(&base, &tree).map_err(git_fault)?;
        let touched = touched(&guard, &differences);
        let select = |onto, from, paths: &BTreeSet<&str>| {
            // Touched paths are known by how they are shown, also those whose names are no text.
            let takes = |path: &windlass_git_workspaces::RepoPath| paths.contains(path.to_string().as_str());
            let selected = context.repository.select(onto, from, takes).map_err(git_fault)?;
            Ok::<TreeId, Fault>(TreeId::new(selected.tree.as_str()))
        };
        // What was added goes away: a new test file can end the process before the old tests run.
        let old = touched.iter().filter_map(|one| match &one.how {
            Touch::Renamed { from } => Some(from.as_str()),
            Touch::Added | Touch::Modified | Touch::Deleted => None,
        });
        let paths = touched.iter().map(|one| one.path.as_str()).chain(old).collect();
        let with_base = select(&tree, &base, &paths)?;
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
        Ok(Self { with_base, on_base: on_base.filter(|one| *one != asked.tree), touched })
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
    // One that did not come to its end says nothing of the new tests; it is in the evidence.
    let new_tests: Vec<NewTests> = on_base
        .iter()
        .filter(|result| came_to_its_end(result))
        .map(|result| NewTests { command: result.command.clone(), say: say(result) })
        .collect();
    let sealed = Sealed {
        touched: &plan.touched,
        with_protected_files_of_the_base: Section { tree: Some(&plan.with_base), results: with_base },
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
        ran_with_base: with_base.iter().map(|result| result.command.clone()).collect(),
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
            if came_to_its_end(result) {
                format!("`{}` is red with them as they were{known}", result.command)
            } else {
                let how =
                    "came to no end of its own with them as they were, so it is not known whether it passes";
                format!("`{}` {how}{known}", result.command)
            }
        })
        .collect();
    let mut named: Vec<&TouchedPath> = touched.iter().collect();
    named.sort_by_key(|one| one.only_adds_a_test());
    about.extend(named.into_iter().take(8).map(TouchedPath::words));
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
