//! What a role of a goal loop is told, put together from the run and from sealed evidence. The wording lives in
//! `artifact-formats`.

use super::files;
use super::scope;
use crate::context::RunContext;
use crate::fault::bug;
use std::path::Path;
use windlass_agent_drivers::AnswerBy;
use windlass_artifact_formats::data_block::data_block;
use windlass_artifact_formats::gate::GateEvidence;
use windlass_artifact_formats::goal_loop::prompts::{
    BuilderPrompt, EarlierAttempt, EvaluatorPrompt, GoesOn, Places, PlannerPrompt, RepairPrompt,
    RepairedAnswer, SPOKEN_ANSWER, TestEvidence,
};
use windlass_artifact_formats::goal_loop::{BuilderReport, Feature, FeatureList, ItemId};
use windlass_control_api::Fault;
use windlass_protocols::effect::{Ask, RunAgent};
use windlass_protocols::kernel::gate::{GateFinding, NewTests};
use windlass_protocols::outcome::SuiteReport;
use windlass_protocols::protocol::goal_contract::item::ItemState;
use windlass_protocols::protocol::goal_contract::iteration::Iteration;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{Role, Run};

/// Of the suite's output, so much is quoted.
const TAIL_LINES: usize = 80;
const TAIL_BYTES: usize = 12 * 1024;
const PLAN: &str = "docs/PLAN.md";
const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

pub(in super::super) fn render(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
    (outbox, answer_by): (&Path, AnswerBy),
) -> Result<String, Fault> {
    let state = files::state(run)?;
    let open = state.open.as_ref().ok_or_else(|| bug("an agent of a goal loop outside of an iteration"))?;
    let list = files::features(context, state, None)?;
    let id = files::item_id(&open.item)?;
    let item = list.get(&id).ok_or_else(|| bug(format!("{id} is not in the queue")))?;
    let (worktree, outbox) = (context.worktree(asked.role), outbox.to_string_lossy().into_owned());
    let worktree = worktree.to_string_lossy();
    let places = Places { worktree: &worktree, outbox: &outbox };
    let told = Told { context, state, open, list: &list, item, known: state.item(&open.item), places };
    let mut text = match (asked.role, &asked.ask) {
        (Role::Builder, Ask::Fresh { .. }) => told.builder()?,
        (Role::Builder, Ask::Repair { faults }) => told.report_again(faults),
        (Role::Evaluator, Ask::Fresh { .. }) => told.evaluator()?,
        (Role::Evaluator, Ask::Repair { faults }) => {
            told.repair(asked, RepairedAnswer::Evaluation, faults)?
        }
        (Role::Planner, Ask::Fresh { .. }) => told.planner()?,
        (Role::Planner, Ask::Repair { faults }) => told.repair(asked, RepairedAnswer::Design, faults)?,
        (role, _) => return Err(bug(format!("a goal loop asks for a {role}"))),
    };
    if let Ask::Fresh { feedback, .. } = &asked.ask {
        let notes = feedback.iter().filter(|line| line.starts_with("a person says: "));
        let notes: Vec<&str> = notes.map(String::as_str).collect();
        if !notes.is_empty() {
            text.push_str("\n\n## From the person in charge\n\n");
            text.push_str(&data_block("answers and notes of the person in charge", &notes.join("\n")));
        }
    }
    if let Some(own) = context.spec.place().prompts.get(&asked.role) {
        text.push_str("\n\n## House rules\n\n");
        text.push_str(own);
    }
    if answer_by != AnswerBy::Outbox {
        text.push('\n');
        text.push_str(SPOKEN_ANSWER);
    }
    Ok(text)
}

struct Told<'a> {
    context: &'a RunContext,
    state: &'a State,
    open: &'a Iteration,
    list: &'a FeatureList,
    item: &'a Feature,
    known: ItemState,
    places: Places<'a>,
}

impl Told<'_> {
    fn earlier(&self) -> Vec<EarlierAttempt<'_>> {
        self.known
            .causes
            .iter()
            .map(|failed| EarlierAttempt {
                iteration: failed.iteration,
                root_cause: &failed.cause,
                issues: &failed.issues,
                fix: "",
            })
            .collect()
    }

    fn builder(&self) -> Result<String, Fault> {
        let dependencies: Vec<(ItemId, String, String)> = self
            .item
            .dependencies
            .iter()
            .filter_map(|id| self.list.get(id))
            .map(|item| (item.id.clone(), item.name.clone(), item.status.to_string()))
            .collect();
        let allowed = scope::allowed(self.context, self.state, self.open)?
            .ok_or_else(|| bug("a builder of an item that is not in the queue"))?;
        let head = self.state.head.as_ref().map(|(_, tree)| tree);
        let goes_on = if head == Some(&self.open.start) { GoesOn::Fresh } else { GoesOn::FromEarlierAttempt };
        let regressions = self.known.last_regressions();
        Ok(BuilderPrompt {
            item: self.item,
            places: self.places,
            dependencies: &dependencies,
            allowed: &allowed,
            test_command: self.state.spec.suite.as_deref(),
            earlier: &self.earlier(),
            regressions: &regressions,
            goes_on,
        }
        .render())
    }

    /// The work is done and stays; only the report is missing.
    fn report_again(&self, faults: &[String]) -> String {
        format!(
            "You are the builder of item {}. Your report cannot be used: {}. Change nothing else, and write the report to `{}/{}` with the headings `Built`, `Files`, `Tests` and `Issues`.",
            self.item.id,
            faults.join("; "),
            self.places.outbox.trim_end_matches('/'),
            BuilderReport::FILE_NAME
        )
    }

    fn evaluator(&self) -> Result<String, Fault> {
        let diff = match &self.open.change {
            Some(change) => files::text(self.context, &change.patch)?,
            None => "(nothing was changed: grade what is there already)".to_owned(),
        };
        let baseline = self.state.baseline.as_ref().and_then(|baseline| baseline.suite.as_ref());
        let suite = self.open.suite.as_ref().or(baseline);
        let tail = suite.map(|suite| self.tail(suite)).transpose()?.unwrap_or_default();
        let summary = suite.map(summary).unwrap_or_default();
        let command = self.state.spec.suite.as_deref().unwrap_or_default();
        let tests =
            suite.map(|_| TestEvidence { command, summary: &summary, comparison: None, output_tail: &tail });
        let findings: Vec<String> = self.open.gate.findings.iter().map(GateFinding::words).collect();
        let new_tests: Vec<String> = self.open.gate.new_tests.iter().map(NewTests::words).collect();
        Ok(EvaluatorPrompt {
            item: self.item,
            places: self.places,
            diff: &diff,
            tests,
            earlier: &self.earlier(),
            gate: GateEvidence { findings: &findings, new_tests: &new_tests },
        }
        .render())
    }

    fn tail(&self, suite: &SuiteReport) -> Result<String, Fault> {
        let text = files::text(self.context, &suite.log)?;
        Ok(windlass_artifact_formats::task_loop::last_lines(&text, TAIL_LINES, TAIL_BYTES))
    }

    fn planner(&self) -> Result<String, Fault> {
        let plan = files::text_at_head(self.context, self.state, PLAN)?;
        let architecture = files::text_at_head(self.context, self.state, ARCHITECTURE)?;
        let pointers: Vec<String> =
            self.item.affected_files.iter().chain(&self.item.location).cloned().collect();
        Ok(PlannerPrompt {
            item: self.item,
            places: self.places,
            plan: plan.as_deref(),
            architecture: architecture.as_deref(),
            pointers: &pointers,
            refused_because: self.known.designs_rejected.last().map(String::as_str),
        }
        .render())
    }

    fn repair(&self, asked: &RunAgent, answer: RepairedAnswer, faults: &[String]) -> Result<String, Fault> {
        let left = asked.inputs.iter().find(|input| input.name.ends_with(".as-left"));
        let previous = left.map(|input| files::text(self.context, input)).transpose()?;
        Ok(RepairPrompt {
            answer,
            id: &self.item.id,
            outbox: self.places.outbox,
            faults: Some(&faults.join("\n")),
            previous: previous.as_deref(),
        }
        .render())
    }
}

fn summary(suite: &SuiteReport) -> String {
    let count =
        if suite.total > 0 { format!("{} of {} passed", suite.passed, suite.total) } else { String::new() };
    let word = if suite.is_green() { "green" } else { "red" };
    let failing = if suite.failing.is_empty() {
        String::new()
    } else {
        format!("; failing: {}", suite.failing.join(", "))
    };
    if count.is_empty() { format!("{word}{failing}") } else { format!("{word}, {count}{failing}") }
}
