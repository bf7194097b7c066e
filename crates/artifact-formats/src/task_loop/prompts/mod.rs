//! What each role is told: a body (ours or the user's) and the orchestration context appended to it.
//! It knows wording and inputs; it does not know how a prompt reaches its agent.

mod evidence;
mod repair;

use std::path::Path;

use super::audit_results::AuditCheck;
use super::engine_written::CommandEnding;
use crate::data_block::{DATA_NOTICE, data_block, inline_code};
use crate::gate::GateEvidence;
use crate::template::fill;

pub use repair::{RepairPrompt, RepairedArtifact};

/// Put at the end of a prompt for an agent that may write nothing: its last message is its answer.
pub const SPOKEN_ANSWER: &str = include_str!("../../../prompts/spoken-answer.md");

/// The task as every role sees it.
#[derive(Debug, Clone, Copy)]
pub struct TaskBrief<'a> {
    pub task_id: &'a str,
    pub task_text: &'a str,
    pub round: u32,
    pub max_rounds: u32,
}

/// Absolute paths a role works with.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub worktree: &'a str,
    pub round_directory: &'a str,
    /// Where the role leaves its artifact; also given to it as `$WINDLASS_OUTBOX`.
    pub outbox: &'a str,
}

/// Whose words open the prompt.
#[derive(Debug, Clone, Copy)]
pub enum PromptBody<'a> {
    BuiltIn,
    /// A prompt file of the user: taken verbatim, nothing in it is filled in.
    Replaced(&'a str),
}

/// A command the engine ran, as evidence.
#[derive(Debug, Clone, Copy)]
pub struct CheckReport<'a> {
    pub command: &'a str,
    pub ending: CommandEnding,
    pub output_tail: &'a str,
}

/// Feedback of a round before the last one.
#[derive(Debug, Clone, Copy)]
pub struct PastFeedback<'a> {
    pub round: u32,
    pub from: FeedbackSource,
    pub text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackSource {
    Judge,
    Auditor,
    /// The engine itself, for example because the change was empty.
    Engine,
}

#[derive(Debug, Clone, Copy)]
pub struct DoerPrompt<'a> {
    pub task: TaskBrief<'a>,
    pub places: Places<'a>,
    pub body: PromptBody<'a>,
    /// The lines of the round before, verbatim; `None` in the first round.
    pub feedback: Option<PastFeedback<'a>>,
    /// Older feedback, oldest first, so that the doer does not undo what an earlier round asked for.
    pub history: &'a [PastFeedback<'a>],
    pub baseline: &'a [CheckReport<'a>],
}

#[derive(Debug, Clone, Copy)]
pub struct JudgePrompt<'a> {
    pub task: TaskBrief<'a>,
    pub places: Places<'a>,
    pub body: PromptBody<'a>,
    /// Text of `handoff.json`; `None` where none exists, as in a dry run.
    pub handoff: Option<&'a str>,
    pub eval_commands: &'a [&'a str],
    pub results: &'a [CheckReport<'a>],
    pub baseline: &'a [CheckReport<'a>],
    /// What the change did to its own measures, one line each.
    pub gate: GateEvidence<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct AuditorPrompt<'a> {
    pub task: TaskBrief<'a>,
    pub places: Places<'a>,
    pub body: PromptBody<'a>,
    pub handoff: Option<&'a str>,
    /// Text of `verdict.json`.
    pub verdict: Option<&'a str>,
    pub audit_commands: &'a [&'a str],
    pub checks: &'a [AuditCheck],
    pub results: &'a [CheckReport<'a>],
}

impl DoerPrompt<'_> {
    pub fn render(&self) -> String {
        let base = Base::new(self.task);
        let worktree = inline_code(self.places.worktree);
        let round_directory = inline_code(self.places.round_directory);
        let handoff_path = path_in(self.places.outbox, "handoff.json");
        let patch_path = path_in(self.places.outbox, "patch.diff");
        let expectations = RepairedArtifact::Handoff.expectations(self.task.task_id);
        let body = self.body.text_or(|| {
            let own = [
                ("task_text", base.task_text.as_str()),
                ("handoff_path", &handoff_path),
                ("patch_path", &patch_path),
                ("expectations", &expectations),
            ];
            base.fill(include_str!("../../../prompts/doer.md"), &own)
        });
        let context = [
            ("worktree", worktree.as_str()),
            ("round_directory", &round_directory),
            ("handoff_path", &handoff_path),
            ("patch_path", &patch_path),
            ("feedback", &evidence::latest_feedback(self.feedback)),
            ("history", &evidence::feedback_history(self.history)),
            ("baseline", &evidence::check_reports(self.baseline)),
        ];
        self.body.with_context(
            body,
            &base,
            &base.fill(include_str!("../../../prompts/context-doer.md"), &context),
        )
    }
}

impl JudgePrompt<'_> {
    pub fn render(&self) -> String {
        let base = Base::new(self.task);
        let worktree = inline_code(self.places.worktree);
        let round_directory = inline_code(self.places.round_directory);
        let handoff_path = path_in(self.places.round_directory, "handoff.json");
        let patch_path = path_in(self.places.round_directory, "patch.diff");
        let verdict_path = path_in(self.places.outbox, "verdict.json");
        let expectations = RepairedArtifact::Verdict.expectations(self.task.task_id);
        let commands = evidence::commands(self.eval_commands, "evaluation");
        let body = self.body.text_or(|| {
            let own = [
                ("task_text", base.task_text.as_str()),
                ("handoff_path", &handoff_path),
                ("patch_path", &patch_path),
                ("verdict_path", &verdict_path),
                ("commands", &commands),
                ("expectations", &expectations),
            ];
            base.fill(include_str!("../../../prompts/judge.md"), &own)
        });
        let context = [
            ("worktree", worktree.as_str()),
            ("round_directory", &round_directory),
            ("handoff_path", &handoff_path),
            ("patch_path", &patch_path),
            ("verdict_path", &verdict_path),
            ("handoff", &evidence::artifact("handoff.json, written by the doer", self.handoff)),
            ("results", &evidence::check_reports(self.results)),
            ("baseline", &evidence::check_reports(self.baseline)),
            ("gate", &self.gate.text()),
        ];
        self.body.with_context(
            body,
            &base,
            &base.fill(include_str!("../../../prompts/context-judge.md"), &context),
        )
    }
}

impl AuditorPrompt<'_> {
    pub fn render(&self) -> String {
        let base = Base::new(self.task);
        let worktree = inline_code(self.places.worktree);
        let round_directory = inline_code(self.places.round_directory);
        let handoff_path = path_in(self.places.round_directory, "handoff.json");
        let verdict_path = path_in(self.places.round_directory, "verdict.json");
        let patch_path = path_in(self.places.round_directory, "patch.diff");
        let audit_path = path_in(self.places.outbox, "audit.json");
        let expectations = RepairedArtifact::Audit.expectations(self.task.task_id);
        let commands = evidence::commands(self.audit_commands, "audit");
        let body = self.body.text_or(|| {
            let own = [
                ("task_text", base.task_text.as_str()),
                ("handoff_path", &handoff_path),
                ("verdict_path", &verdict_path),
                ("patch_path", &patch_path),
                ("audit_path", &audit_path),
                ("commands", &commands),
                ("expectations", &expectations),
            ];
            base.fill(include_str!("../../../prompts/auditor.md"), &own)
        });
        let context = [
            ("worktree", worktree.as_str()),
            ("round_directory", &round_directory),
            ("handoff_path", &handoff_path),
            ("verdict_path", &verdict_path),
            ("patch_path", &patch_path),
            ("audit_path", &audit_path),
            ("handoff", &evidence::artifact("handoff.json, written by the doer", self.handoff)),
            ("verdict", &evidence::artifact("verdict.json, written by the judge", self.verdict)),
            ("checks", &evidence::audit_checks(self.checks)),
            ("results", &evidence::check_reports(self.results)),
        ];
        self.body.with_context(
            body,
            &base,
            &base.fill(include_str!("../../../prompts/context-auditor.md"), &context),
        )
    }
}

impl PromptBody<'_> {
    fn text_or(self, built_in: impl FnOnce() -> String) -> String {
        match self {
            Self::BuiltIn => built_in(),
            Self::Replaced(text) => text.to_owned(),
        }
    }

    /// A user's own words are the same for every task, so what the task is stands below them.
    fn with_context(self, mut prompt: String, base: &Base, context: &str) -> String {
        if !prompt.ends_with('\n') {
            prompt.push('\n');
        }
        prompt.push('\n');
        prompt.push_str(context);
        if let Self::Replaced(_) = self {
            prompt.push_str("\n### Task\n\n");
            prompt.push_str(&base.task_text);
            prompt.push('\n');
        }
        prompt
    }
}

/// The values that body and context of every role share.
struct Base {
    task_id: String,
    task_text: String,
    round: String,
    max_rounds: String,
}

impl Base {
    fn new(task: TaskBrief<'_>) -> Self {
        Self {
            task_id: inline_code(task.task_id),
            task_text: data_block("task text, given by the user", task.task_text),
            round: task.round.to_string(),
            max_rounds: task.max_rounds.to_string(),
        }
    }

    fn fill(&self, template: &str, own: &[(&str, &str)]) -> String {
        let mut values = vec![
            ("task_id", self.task_id.as_str()),
            ("round", &self.round),
            ("max_rounds", &self.max_rounds),
            ("data_notice", DATA_NOTICE),
        ];
        values.extend_from_slice(own);
        fill(template, &values).expect("every built-in template is filled in by a test with these names")
    }
}

fn path_in(directory: &str, name: &str) -> String {
    inline_code(&Path::new(directory).join(name).to_string_lossy())
}
