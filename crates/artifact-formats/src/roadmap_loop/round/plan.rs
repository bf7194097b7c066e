//! Who does a round's work and how carefully: the model, and how it is read from a structured `plan.md`. Worker boundaries
//! are the planner's alone; here they are only held against the rules.

use super::files;
use super::labelled::{Label, Labelled, Line, Section, labels, readable};
use super::selection::lineage_of;
use super::worker_rules;
use crate::faults::Faults;
use crate::fields::choice;
use crate::roadmap_loop::lineage::Lineage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundPlan {
    /// Copied from the selection, to be held against it.
    pub lineage: Lineage,
    pub worker_mode: WorkerMode,
    pub workers: Vec<Worker>,
    pub integration: Option<Integration>,
    pub profile: Option<Profile>,
}

choice! {
    WorkerMode {
        None = "none",
        Fanout = "fanout",
    }
}

choice! {
    /// How much the task itself asks for. Judged by the planner; nobody judges it again.
    Complexity {
        /// The planner does it alone.
        Simple = "simple",
        Standard = "standard",
        Closeout = "closeout",
    }
}

choice! {
    /// How much proof the things around the task ask for.
    VerificationProfile {
        Focused = "focused",
        Standard = "standard",
        Closeout = "closeout",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub complexity: Complexity,
    pub verification: VerificationProfile,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub worker_id: String,
    pub summary: String,
    /// From the top of the repository, like the two below.
    pub assignment_path: String,
    pub implementation_notes_path: String,
    pub handoff_path: String,
    pub branch: String,
    pub worktree_path: String,
    /// Path prefixes the worker may write under.
    pub write_scope: Vec<String>,
    pub depends_on_worker_ids: Vec<String>,
    pub blocks_integration: bool,
    pub verification_commands: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    pub summary: String,
    pub depends_on_worker_ids: Vec<String>,
    pub verification_commands: Vec<String>,
    pub integration_notes_path: String,
}

pub fn worker_branch(round_id: &str, worker_id: &str) -> String {
    format!("orchestrator/{round_id}-{worker_id}")
}

pub fn worker_worktree(round_id: &str, worker_id: &str) -> String {
    format!("orchestrator/worktrees/{round_id}-{worker_id}")
}

impl RoundPlan {
    pub fn worker(&self, worker_id: &str) -> Option<&Worker> {
        self.workers.iter().find(|worker| worker.worker_id == worker_id)
    }

    /// The planner did the work itself while planning.
    pub fn is_simple(&self) -> bool {
        self.profile.as_ref().is_some_and(|profile| profile.complexity == Complexity::Simple)
    }

    /// Reads a structured `plan.md`.
    pub fn from_plan(round_id: &str, text: &str) -> Result<Self, Faults> {
        let text = readable(files::PLAN, text)?;
        let document = Labelled::read(files::PLAN, &text);
        let lineage = document.required("Selected Extraction").map(|section| lineage_of(&section));
        for title in ["Approach", "Steps", "Verification"] {
            if document.required(title).is_some_and(|section| !section.has_words()) {
                document.report(format!("### {title}: must not be empty"));
            }
        }
        let profile = document.required("Execution Profile").and_then(|section| profile_of(&section));
        let fan_out = document.required("Worker Fan-Out").and_then(|section| fan_out_of(round_id, &section));
        let plan = lineage.zip(fan_out).map(|(lineage, (worker_mode, workers, integration))| Self {
            lineage,
            worker_mode,
            workers,
            integration,
            profile,
        });
        for sentence in plan.iter().flat_map(|plan| worker_rules::faults(round_id, plan)) {
            document.report(format!("### Worker Fan-Out: {sentence}"));
        }
        document.finish(plan)
    }

    /// The sections a plan beside records must have; what they say is the records' business.
    pub fn prose_faults(text: &str) -> Result<(), Faults> {
        let text = readable(files::PLAN, text)?;
        let document = Labelled::read(files::PLAN, &text);
        for title in ["Goal", "Steps", "Verification"] {
            if document.required(title).is_some_and(|section| !section.has_words()) {
                document.report(format!("### {title}: must not be empty"));
            }
        }
        document.finish(Some(()))
    }
}

fn profile_of(section: &Section<'_, '_>) -> Option<Profile> {
    let labels = section.labels(&["Complexity", "Verification profile", "Reason"]);
    let complexity = labels.choice::<Complexity>("Complexity");
    let verification = labels.choice::<VerificationProfile>("Verification profile");
    let reason = labels.filled("Reason");
    Some(Profile { complexity: complexity?, verification: verification?, reason })
}

type FanOut = (WorkerMode, Vec<Worker>, Option<Integration>);

fn fan_out_of(round_id: &str, section: &Section<'_, '_>) -> Option<FanOut> {
    let labels = section.labels(&["Worker mode", "Workers", "Integration"]);
    let mode = labels.choice::<WorkerMode>("Worker mode");
    let workers = labels.required("Workers").map(|label| workers_of(round_id, section, label));
    let workers = workers.unwrap_or_default();
    let all_ids = || workers.iter().map(|worker| worker.worker_id.clone()).collect::<Vec<_>>();
    let integration =
        labels.required("Integration").and_then(|label| integration_of(round_id, label, all_ids));
    mode.map(|mode| (mode, workers, integration))
}

const WORKER_LABELS: [&str; 6] = [
    "Worker id",
    "Summary",
    "Write scope",
    "Depends on worker ids",
    "Blocks integration",
    "Verification commands",
];

/// Blocks that begin with `Worker id:`, or the short form, one item per worker: its id and the paths it owns.
fn workers_of(round_id: &str, section: &Section<'_, '_>, label: &Label<'_>) -> Vec<Worker> {
    let found = labels(&label.below, &WORKER_LABELS);
    if !found.iter().any(|inner| inner.name == WORKER_LABELS[0]) {
        return label
            .entries()
            .iter()
            .filter_map(|entry| short_worker(round_id, section, label, entry))
            .collect();
    }
    let mut workers: Vec<Worker> = Vec::new();
    for inner in &found {
        if inner.name == WORKER_LABELS[0] {
            workers.push(Worker::named(round_id, inner.text().unwrap_or_default()));
            continue;
        }
        let Some(worker) = workers.last_mut() else {
            section.report(inner.line, &format!("\"{}:\" belongs to no worker", inner.name));
            continue;
        };
        match inner.name {
            "Summary" => worker.summary = inner.text().unwrap_or_default(),
            "Write scope" => worker.write_scope = inner.ids(),
            "Depends on worker ids" => worker.depends_on_worker_ids = inner.ids(),
            "Verification commands" => worker.verification_commands = inner.commands(),
            _ => match inner.word().as_deref() {
                Some("yes" | "true") => worker.blocks_integration = true,
                Some("no" | "false") => worker.blocks_integration = false,
                _ => section.report(inner.line, "\"Blocks integration:\" must be yes or no"),
            },
        }
    }
    workers
}

fn short_worker(round_id: &str, section: &Section<'_, '_>, label: &Label<'_>, entry: &str) -> Option<Worker> {
    let Some((id, paths)) = entry.split_once(':') else {
        section.report(label.line, "each worker needs its id, a colon, and the paths it owns");
        return None;
    };
    let mut worker = Worker::named(round_id, super::labelled::unquoted(id).to_owned());
    worker.write_scope = Label::of_value(label.name, label.line, paths).ids();
    Some(worker)
}

impl Worker {
    /// A worker of that name with nothing but its places; it blocks the integration until told otherwise.
    fn named(round_id: &str, worker_id: String) -> Self {
        let own = |name: &str| files::in_round(round_id, &files::of_worker(&worker_id, name));
        Self {
            summary: worker_id.clone(),
            assignment_path: own(files::ASSIGNMENT),
            implementation_notes_path: own(files::NOTES),
            handoff_path: own(files::HANDOFF),
            branch: worker_branch(round_id, &worker_id),
            worktree_path: worker_worktree(round_id, &worker_id),
            write_scope: Vec::new(),
            depends_on_worker_ids: Vec::new(),
            blocks_integration: true,
            verification_commands: Vec::new(),
            worker_id,
        }
    }
}

fn integration_of(
    round_id: &str,
    label: &Label<'_>,
    all_ids: impl Fn() -> Vec<String>,
) -> Option<Integration> {
    let known = ["Summary", "Depends on worker ids", "Verification commands"];
    let lines: Vec<Line<'_>> = label.below.clone();
    let found = labels(&lines, &known);
    let get = |name: &str| found.iter().find(|inner| inner.name == name);
    let summary = match get(known[0]) {
        Some(inner) => inner.text(),
        None => label.text(),
    }?;
    Some(Integration {
        summary,
        depends_on_worker_ids: get(known[1]).map_or_else(all_ids, Label::ids),
        verification_commands: get(known[2]).map(Label::commands).unwrap_or_default(),
        integration_notes_path: files::in_round(round_id, files::NOTES),
    })
}
