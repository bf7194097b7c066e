//! What builder, evaluator and planner of a goal loop are told. Words of the repository and of other roles stand only in
//! labelled data blocks. It knows wording and inputs; it does not know how a prompt reaches its agent.

mod blocks;
mod repair;

use super::allowed_paths::Allowed;
use super::features::Feature;
use super::item_id::ItemId;
use super::tests_run::TestsComparison;
use crate::data_block::{DATA_NOTICE, inline_code};
use crate::gate::GateEvidence;
use crate::template::fill;

pub use crate::task_loop::prompts::SPOKEN_ANSWER;
pub use repair::{RepairPrompt, RepairedAnswer};

/// Absolute paths a role works with.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub worktree: &'a str,
    /// Where the role leaves its answer; also given to it as `$WINDLASS_OUTBOX`.
    pub outbox: &'a str,
}

/// An attempt that was not accepted: why, in the evaluator's or the engine's words.
#[derive(Debug, Clone, Copy)]
pub struct EarlierAttempt<'a> {
    pub iteration: u32,
    /// Category, place and words.
    pub root_cause: &'a str,
    /// Single findings, each on a line.
    pub issues: &'a [String],
    pub fix: &'a str,
}

#[derive(Debug, Clone, Copy)]
pub struct BuilderPrompt<'a> {
    pub item: &'a Feature,
    pub places: Places<'a>,
    /// Of each dependency its id, name and status.
    pub dependencies: &'a [(ItemId, String, String)],
    pub allowed: &'a Allowed,
    pub test_command: Option<&'a str>,
    /// All earlier attempts at this item, oldest first; empty for the first.
    pub earlier: &'a [EarlierAttempt<'a>],
    /// Tests that were green before the item was begun and are not any more.
    pub regressions: &'a [String],
    /// The change so far lies in the worktree.
    pub goes_on: GoesOn,
}

/// What the worktree holds when the builder starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoesOn {
    Fresh,
    FromEarlierAttempt,
}

/// The test run of the engine on the tree that is judged.
#[derive(Debug, Clone, Copy)]
pub struct TestEvidence<'a> {
    pub command: &'a str,
    pub summary: &'a str,
    pub comparison: Option<&'a TestsComparison>,
    pub output_tail: &'a str,
}

#[derive(Debug, Clone, Copy)]
pub struct EvaluatorPrompt<'a> {
    pub item: &'a Feature,
    pub places: Places<'a>,
    pub diff: &'a str,
    /// Nothing where no test command is known.
    pub tests: Option<TestEvidence<'a>>,
    /// Causes of earlier attempts: the same one again must be given in the same place.
    pub earlier: &'a [EarlierAttempt<'a>],
    pub gate: GateEvidence<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct PlannerPrompt<'a> {
    pub item: &'a Feature,
    pub places: Places<'a>,
    /// Text of `docs/PLAN.md`.
    pub plan: Option<&'a str>,
    /// Text of `docs/ARCHITECTURE.md`.
    pub architecture: Option<&'a str>,
    /// Where in the code to begin reading.
    pub pointers: &'a [String],
    /// A person's reason for refusing an earlier design of this item.
    pub refused_because: Option<&'a str>,
}

impl BuilderPrompt<'_> {
    pub fn render(&self) -> String {
        let own = [
            ("report_path", answer_path(self.places, "report.md")),
            ("dependencies", blocks::dependencies(self.dependencies)),
            ("design", blocks::design(self.item)),
            ("allowed", blocks::allowed(self.allowed)),
            ("test_command", blocks::test_command(self.test_command)),
            ("start", blocks::start(self.goes_on)),
            ("earlier", blocks::earlier(self.earlier)),
            ("regressions", blocks::regressions(self.regressions)),
        ];
        rendered(include_str!("../../../prompts/goal-loop/builder.md"), self.item, self.places, &own)
    }
}

impl EvaluatorPrompt<'_> {
    pub fn render(&self) -> String {
        let own = [
            ("answer_path", answer_path(self.places, "evaluation.json")),
            ("diff", blocks::change(self.diff)),
            ("tests", blocks::tests(self.tests)),
            ("gate", self.gate.text()),
            ("earlier", blocks::earlier(self.earlier)),
            ("expectations", RepairedAnswer::Evaluation.expectations(&self.item.id)),
        ];
        rendered(include_str!("../../../prompts/goal-loop/evaluator.md"), self.item, self.places, &own)
    }
}

impl PlannerPrompt<'_> {
    pub fn render(&self) -> String {
        let own = [
            ("answer_path", answer_path(self.places, "design.json")),
            ("plan", blocks::document("docs/PLAN.md", self.plan)),
            ("architecture", blocks::document("docs/ARCHITECTURE.md", self.architecture)),
            ("pointers", blocks::pointers(self.pointers)),
            ("refused", blocks::refused(self.refused_because)),
            ("expectations", RepairedAnswer::Design.expectations(&self.item.id)),
        ];
        rendered(include_str!("../../../prompts/goal-loop/planner.md"), self.item, self.places, &own)
    }
}

/// What all three are told: the item and where they work.
fn rendered(template: &str, item: &Feature, places: Places<'_>, own: &[(&str, String)]) -> String {
    let shared = [
        ("id", inline_code(item.id.as_str())),
        ("item", blocks::item(item)),
        ("worktree", inline_code(places.worktree)),
        ("data_notice", DATA_NOTICE.to_owned()),
    ];
    let values: Vec<(&str, &str)> =
        shared.iter().chain(own).map(|(name, value)| (*name, value.as_str())).collect();
    fill(template, &values).expect("every template is filled in by a test with these names")
}

fn answer_path(places: Places<'_>, name: &str) -> String {
    inline_code(&format!("{}/{name}", places.outbox.trim_end_matches('/')))
}
