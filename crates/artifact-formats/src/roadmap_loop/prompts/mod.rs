//! What the roles of a roadmap loop are told: their own role file first, the controller's assignment below it. Words of the
//! repository and of other roles stand only in labelled data blocks. It knows wording and inputs; it does not know how a
//! prompt reaches its agent.

mod blocks;
mod examples;
mod expectations;
mod repair;

use super::lineage::Lineage;
use super::round::{Faults, Integration, RoundForm, Worker, WorkerState, files, update_artifact};
use crate::data_block::{DATA_NOTICE, inline_code};
use crate::gate::{GateEvidence, WaivedIn};
use crate::markdown::with_closed_fence;
use expectations::{filled, in_round};

pub use crate::task_loop::prompts::SPOKEN_ANSWER;
pub use examples::{CloseoutTargets, UpdateNames};
pub use expectations::Expected;
pub use repair::RepairPrompt;

/// Who is asked, and where it works.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// Text of `orchestrator/roles/<role>.md`.
    pub role_text: &'a str,
    pub form: RoundForm,
    /// The round, or the round an update comes from.
    pub round_id: &'a str,
    pub branch: &'a str,
    /// Absolute path.
    pub worktree: &'a str,
}

/// A direction that can be worked on now.
#[derive(Debug, Clone, Copy)]
pub struct ReadyDirection<'a> {
    pub milestone_id: &'a str,
    pub milestone_title: &'a str,
    pub milestone_status: &'a str,
    pub direction_id: &'a str,
    pub summary: &'a str,
    pub parallel_hints: &'a str,
}

/// A round that lives beside this one.
#[derive(Debug, Clone, Copy)]
pub struct OtherRound<'a> {
    pub round_id: &'a str,
    pub stage: &'a str,
    pub milestone_id: &'a str,
    pub extracted_item_id: &'a str,
    pub parallel_group: Option<&'a str>,
    /// What it says about its own work, such as the summary of its selection.
    pub scope: &'a str,
}

/// Why the role is asked again.
#[derive(Debug, Clone, Copy)]
pub enum Again<'a> {
    First,
    /// A review rejected what was there; its text.
    Rejected(&'a str),
    /// The controller could not go on; its words.
    SentBack(&'a str),
    /// The base moved and the work no longer fits it.
    BaseMoved(&'a str),
    /// The base moved and was merged in; whoever reviews it judges the two together.
    BaseMergedIn(&'a str),
}

#[derive(Debug, Clone, Copy)]
pub struct PlannerPrompt<'a> {
    pub assignment: Assignment<'a>,
    /// The active bundle; milestone, direction and item where a retry keeps them, else placeholders for the example.
    pub lineage: &'a Lineage,
    pub ready: &'a [ReadyDirection<'a>],
    pub others: &'a [OtherRound<'a>],
    pub again: Again<'a>,
}

/// What an update is made for.
#[derive(Debug, Clone, Copy)]
pub enum UpdateSource<'a> {
    /// The reason an approved review gave.
    MergedRound { reason: &'a str },
    /// Text of the planner's request.
    PlannerRequest { request: &'a str },
}

#[derive(Debug, Clone, Copy)]
pub struct UpdatePlannerPrompt<'a> {
    pub assignment: Assignment<'a>,
    pub names: UpdateNames<'a>,
    pub prior_dir: &'a str,
    pub source: UpdateSource<'a>,
    pub attempt: u32,
    pub again: Again<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct ImplementerPrompt<'a> {
    pub assignment: Assignment<'a>,
    pub roadmap_dir: &'a str,
    pub others: &'a [OtherRound<'a>],
    pub again: Again<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct WorkerPrompt<'a> {
    /// With the worker's own branch and worktree.
    pub assignment: Assignment<'a>,
    pub roadmap_dir: &'a str,
    pub worker: &'a Worker,
    /// All of the plan, this one included.
    pub workers: &'a [Worker],
    pub again: Again<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct IntegrationPrompt<'a> {
    pub assignment: Assignment<'a>,
    pub roadmap_dir: &'a str,
    pub integration: &'a Integration,
    pub workers: &'a [(&'a Worker, &'a WorkerState)],
    pub again: Again<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct ReviewerPrompt<'a> {
    pub assignment: Assignment<'a>,
    pub lineage: &'a Lineage,
    /// The commit the round forked from or was refreshed to.
    pub base_commit: &'a str,
    pub targets: CloseoutTargets<'a>,
    pub again: Again<'a>,
    pub gate: GateEvidence<'a>,
    /// Checks of the engine that are red on the round.
    pub red: &'a [String],
}

#[derive(Debug, Clone, Copy)]
pub struct UpdateReviewerPrompt<'a> {
    pub assignment: Assignment<'a>,
    pub names: UpdateNames<'a>,
    pub prior_dir: &'a str,
    pub source: UpdateSource<'a>,
    pub attempt: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct InvestigatorPrompt<'a> {
    pub assignment: Assignment<'a>,
    /// The stage that went nowhere, as the state names it.
    pub stage: &'a str,
    /// Where the answer goes; also given as `$WINDLASS_OUTBOX`.
    pub outbox: &'a str,
    /// What went wrong, as far as the controller knows.
    pub failure: &'a str,
    pub observations: &'a [String],
    pub faults: &'a [Faults],
}

impl PlannerPrompt<'_> {
    pub fn render(&self) -> String {
        let Assignment { round_id, form, .. } = self.assignment;
        let scope = match form {
            RoundForm::Records => "",
            RoundForm::StructuredMarkdown => ", unless the task is simple and you do it yourself",
        };
        let expected = Expected::Plan { round_id, form, lineage: self.lineage };
        let own = [
            ("roadmap_dir", inline_code(&self.lineage.roadmap_dir)),
            ("bundle_files", bundle_files(form).to_owned()),
            ("ready", blocks::ready(self.ready)),
            ("others", blocks::others(self.others)),
            ("retry", blocks::again(self.again)),
            ("expectations", expected.text()),
            ("request_path", in_round(round_id, files::UPDATE_REQUEST)),
            ("request", expectations::request(round_id, self.lineage)),
            ("planner_scope", scope.to_owned()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/planner.md"), self.assignment, &own)
    }
}

impl UpdatePlannerPrompt<'_> {
    pub fn render(&self) -> String {
        let own = [
            ("roadmap_dir", inline_code(self.prior_dir)),
            ("attempt", self.attempt.to_string()),
            ("new_dir", inline_code(self.names.new_dir)),
            ("bundle_files", bundle_files(self.assignment.form).to_owned()),
            ("update_path", inline_code(&update_artifact(self.assignment.round_id))),
            ("source", blocks::source(self.source)),
            ("retry", blocks::again(self.again)),
            ("expectations", Expected::Update(self.names).text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/update-planner.md"), self.assignment, &own)
    }
}

impl ImplementerPrompt<'_> {
    pub fn render(&self) -> String {
        let own = [
            ("reads", self.assignment.plan_files(self.roadmap_dir)),
            ("others", blocks::others(self.others)),
            ("retry", blocks::again(self.again)),
            ("expectations", Expected::Notes { round_id: self.assignment.round_id }.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/implementer.md"), self.assignment, &own)
    }
}

impl WorkerPrompt<'_> {
    pub fn render(&self) -> String {
        let (round_id, worker_id) = (self.assignment.round_id, self.worker.worker_id.as_str());
        let own = [
            ("worker_id", inline_code(worker_id)),
            ("assignment_path", inline_code(&self.worker.assignment_path)),
            ("reads", self.assignment.plan_files(self.roadmap_dir)),
            ("part", blocks::worker_part(self.worker)),
            ("workers", blocks::other_workers(self.worker, self.workers)),
            ("retry", blocks::again(self.again)),
            ("expectations", Expected::Handoff { round_id, worker_id }.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/worker.md"), self.assignment, &own)
    }
}

impl IntegrationPrompt<'_> {
    pub fn render(&self) -> String {
        let workers: Vec<String> = self.workers.iter().map(|(worker, _)| worker.worker_id.clone()).collect();
        let expected = Expected::IntegrationNotes { round_id: self.assignment.round_id, workers: &workers };
        let own = [
            ("reads", self.assignment.plan_files(self.roadmap_dir)),
            ("part", blocks::integration(self.integration)),
            ("workers", blocks::worker_states(self.workers)),
            ("retry", blocks::again(self.again)),
            ("expectations", expected.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/integration.md"), self.assignment, &own)
    }
}

impl ReviewerPrompt<'_> {
    pub fn render(&self) -> String {
        let Assignment { round_id, form, .. } = self.assignment;
        let expected = Expected::Review { round_id, form, lineage: self.lineage, targets: self.targets };
        let reads = format!(
            "{}, {}",
            in_round(round_id, files::NOTES),
            self.assignment.plan_files(&self.lineage.roadmap_dir)
        );
        let waived_in = match form {
            RoundForm::Records => WaivedIn::Record,
            RoundForm::StructuredMarkdown => WaivedIn::Markdown,
        };
        let own = [
            ("base", inline_code(self.base_commit)),
            ("reads", reads),
            ("roadmap_dir", inline_code(&self.lineage.roadmap_dir)),
            ("bundle_files", bundle_files(form).to_owned()),
            ("targets", blocks::targets(&self.targets)),
            ("retry", blocks::again(self.again)),
            ("gate", self.gate.of_round(waived_in, self.red)),
            ("expectations", expected.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/reviewer.md"), self.assignment, &own)
    }
}

impl UpdateReviewerPrompt<'_> {
    pub fn render(&self) -> String {
        let source_round_id = self.assignment.round_id;
        let own = [
            ("roadmap_dir", inline_code(self.prior_dir)),
            ("new_dir", inline_code(self.names.new_dir)),
            ("bundle_files", bundle_files(self.assignment.form).to_owned()),
            ("update_path", inline_code(&update_artifact(source_round_id))),
            ("attempt", self.attempt.to_string()),
            ("source", blocks::source(self.source)),
            ("expectations", Expected::UpdateReview { source_round_id }.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/update-reviewer.md"), self.assignment, &own)
    }
}

impl InvestigatorPrompt<'_> {
    pub fn render(&self) -> String {
        let answer = format!("{}/recovery.json", self.outbox.trim_end_matches('/'));
        let expected = Expected::Recovery { subject_id: self.assignment.round_id };
        let own = [
            ("stage", inline_code(self.stage)),
            ("failure", blocks::failure(self.failure)),
            ("observations", blocks::observations(self.observations)),
            ("faults", blocks::faults(self.faults)),
            ("answer_path", inline_code(&answer)),
            ("expectations", expected.text()),
        ];
        rendered(include_str!("../../../prompts/roadmap-loop/investigator.md"), self.assignment, &own)
    }
}

impl Assignment<'_> {
    /// What a role reads before it starts: the plan's files and how it is verified.
    fn plan_files(&self, roadmap_dir: &str) -> String {
        let names: &[&str] = match self.form {
            RoundForm::Records => &[files::PLAN, files::SELECTION_RECORD, files::PLAN_RECORD],
            RoundForm::StructuredMarkdown => &[files::PLAN],
        };
        let mut paths: Vec<String> = names.iter().map(|name| in_round(self.round_id, name)).collect();
        paths.push(inline_code(&format!("{roadmap_dir}/verification.md")));
        paths.join(", ")
    }
}

fn bundle_files(form: RoundForm) -> &'static str {
    match form {
        RoundForm::Records => "`roadmap.md`, `roadmap-view.json` and `verification.md`",
        RoundForm::StructuredMarkdown => "`roadmap.md` and `verification.md`",
    }
}

pub(super) fn rules() -> String {
    include_str!("../../../prompts/roadmap-loop/rules.md").trim_end().to_owned()
}

/// The role's own text, and below it what every role is told beside its own values.
fn rendered(template: &str, assignment: Assignment<'_>, own: &[(&str, String)]) -> String {
    let places = format!(
        "- Round: {}\n- Branch: {}\n- Worktree, and where the paths below start: {}",
        inline_code(assignment.round_id),
        inline_code(assignment.branch),
        inline_code(assignment.worktree)
    );
    let shared = [("places", places), ("data_notice", DATA_NOTICE.to_owned()), ("rules", rules())];
    let values: Vec<(&str, &str)> =
        shared.iter().chain(own).map(|(name, value)| (*name, value.as_str())).collect();
    let context = filled(template, &values);
    // A fence left open in the role file would swallow the assignment.
    format!("{}\n\n{context}", with_closed_fence(assignment.role_text.trim_end()))
}
