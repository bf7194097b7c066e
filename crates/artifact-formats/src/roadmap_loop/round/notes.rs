//! What implementers and workers leave: `implementation-notes.md`, the direct evidence of a planner that did a simple task
//! itself, and how far each worker of a fan-out is, as told by its files. It believes words about the past only where they
//! have the agreed form; whether the code is right is the reviewer's business.

use super::closeout_fields::{closeout_of, mode_faults};
use super::files;
use super::labelled::{Label, Labelled, Section, is_none, labels, readable, unquoted};
use super::plan::Worker;
use crate::fault::excerpt;
use crate::faults::Faults;
use crate::one_line::one_line;
use crate::roadmap_loop::closeout::{Closeout, CloseoutMode};

const MAX_BLOCKER_CHARS: usize = 600;

/// Sections of `implementation-notes.md`, as they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notes {
    pub changes_made: String,
    pub tests: String,
    pub notes: Option<String>,
    /// Whether a planner claims to have done the work itself; [`DirectEvidence`] says whether that counts.
    pub claims_direct: bool,
}

impl Notes {
    pub fn parse(text: &str) -> Result<Self, Faults> {
        let text = readable(files::NOTES, text)?;
        let document = Labelled::read(files::NOTES, &text);
        let changes = document.required("Changes Made");
        if changes.as_ref().is_some_and(|section| !section.has_words()) {
            document.report("### Changes Made: must not be empty".to_owned());
        }
        let direct = document.optional("Direct Verification");
        let claims_direct = direct.is_some();
        let tests = document.optional("Tests").or(direct).or_else(|| document.optional("Verification"));
        if !tests.as_ref().is_some_and(Section::has_words) {
            document.report("the section \"### Tests\" is required and absent or empty".to_owned());
        }
        let notes = document.optional("Notes").map(|section| section.text());
        let value = changes.zip(tests).map(|(changes, tests)| Self {
            changes_made: changes.text(),
            tests: tests.text(),
            notes: notes.filter(|text| !text.is_empty()),
            claims_direct,
        });
        document.finish(value)
    }
}

/// What a planner must leave so that a simple round needs neither implementer nor reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectEvidence {
    pub checks: Vec<DirectCheck>,
    pub closeout: Closeout,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectCheck {
    pub command: String,
    pub result: String,
}

impl DirectEvidence {
    /// Faults for evidence that is missing, ambiguous or not passing: none of them may stand for a review.
    pub fn parse(text: &str, milestone_id: &str) -> Result<Self, Faults> {
        let text = readable(files::NOTES, text)?;
        let document = Labelled::read(files::NOTES, &text);
        if !document.required("Changes Made").is_some_and(|section| section.has_words()) {
            document.report("### Changes Made: must say what was changed".to_owned());
        }
        let checks = document.required("Direct Verification").map(|section| checks_of(&section));
        let closeout = document.required("Direct Closeout").and_then(|section| {
            let closeout = closeout_of(&section, milestone_id)?;
            if closeout.mode == CloseoutMode::SemanticUpdateRequired {
                document.report("### Direct Closeout: a simple task cannot change the roadmap".to_owned());
            }
            for sentence in mode_faults(&closeout) {
                document.report(format!("### Direct Closeout: {sentence}"));
            }
            Some(closeout)
        });
        let value = checks.zip(closeout).map(|(checks, closeout)| Self { checks, closeout });
        document.finish(value)
    }
}

fn checks_of(section: &Section<'_, '_>) -> Vec<DirectCheck> {
    let found = labels(section.lines(), &["Command", "Result"]);
    let mut checks = Vec::new();
    let mut command: Option<&Label<'_>> = None;
    for label in &found {
        if label.name == "Command" {
            if let Some(open) = command.replace(label) {
                section.report(open.line, "the command has no result");
            }
            continue;
        }
        let Some(open) = command.take() else {
            section.report(label.line, "the result has no command");
            continue;
        };
        let result = label.all_words();
        match passed(&result) {
            Some(true) => {}
            Some(false) => section.report(label.line, "the command did not pass"),
            None => section.report(label.line, "a result must begin with pass or fail"),
        }
        checks.push(DirectCheck { command: unquoted(&open.all_words()).to_owned(), result });
    }
    if let Some(open) = command {
        section.report(open.line, "the command has no result");
    }
    if found.is_empty() {
        let line = section.lines().first().map_or(1, |line| line.number);
        section.report(line, "there is no pair of Command and Result");
    }
    checks
}

/// Decided by the first word alone: further on every result mentions failures, be it none of them.
fn passed(result: &str) -> Option<bool> {
    let first = result.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    match first.to_ascii_lowercase().as_str() {
        "pass" | "passed" | "passes" | "ok" | "green" | "success" | "succeeded" => Some(true),
        "fail" | "failed" | "fails" | "failure" | "error" | "red" => Some(false),
        _ => None,
    }
}

/// How far a worker is, derived from its places and files and kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// Assigned, and nothing was made for it yet.
    Pending,
    /// It has its branch and worktree, and no finished handoff.
    Running,
    /// Its handoff is ready.
    Complete,
    /// The integration's notes say that its work was taken.
    Integrated,
    Blocked(String),
}

/// What can be seen of a worker's branch and worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workplace {
    Absent,
    Present,
    /// Recorded and gone, or unreadable.
    Unobservable,
}

/// The state of one worker; `notes` and `handoff` are the texts of its files, `integration_notes` that of the round's.
pub fn worker_state(
    worker: &Worker,
    workplace: Workplace,
    notes: Option<&str>,
    handoff: Option<&str>,
    integration_notes: Option<&str>,
) -> WorkerState {
    if integration_notes.is_some_and(|text| consumes(text, &worker.worker_id)) {
        return WorkerState::Integrated;
    }
    // A finished handoff says more than notes that were written on the way.
    match handoff.map(Handoff::read) {
        Some(Handoff::Ready) => return WorkerState::Complete,
        Some(Handoff::Blocked(why)) => return WorkerState::Blocked(why),
        Some(Handoff::Unfinished(_)) | None => {}
    }
    if let Some(Handoff::Blocked(why)) = notes.map(Handoff::read) {
        return WorkerState::Blocked(why);
    }
    match workplace {
        Workplace::Absent => WorkerState::Pending,
        Workplace::Present => WorkerState::Running,
        Workplace::Unobservable => {
            WorkerState::Blocked(format!("the worktree of worker {} cannot be observed", worker.worker_id))
        }
    }
}

/// What keeps a handoff that is there from being one: it says neither that the share is ready nor what blocks it.
pub fn handoff_faults(worker_id: &str, text: &str) -> Option<Faults> {
    let sentence = match Handoff::read(text) {
        Handoff::Ready | Handoff::Blocked(_) => return None,
        Handoff::Unfinished(why) => why,
    };
    Some(Faults::one(&files::of_worker(worker_id, files::HANDOFF), sentence))
}

/// What a handoff says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Handoff {
    Ready,
    /// With the place and what has to stand there.
    Unfinished(String),
    Blocked(String),
}

impl Handoff {
    fn read(text: &str) -> Self {
        let text = match readable(files::HANDOFF, text) {
            Ok(text) => text,
            Err(faults) => return Self::Unfinished(faults.sentences().join("; ")),
        };
        let document = Labelled::read(files::HANDOFF, &text);
        let lines: Vec<_> = text
            .lines()
            .enumerate()
            .map(|(number, text)| super::labelled::Line { number: number + 1, text })
            .collect();
        let found = labels(&lines, &["Status", "Blocker"]);
        let get = |name: &str| found.iter().find(|label| label.name == name);
        let section = ["Blocker", "Blocked"].iter().find_map(|title| document.optional(title));
        let section =
            section.map(|section| section.text()).filter(|words| !words.is_empty() && !is_none(words));
        let blocker = get("Blocker").and_then(Label::text).or(section);
        if let Some(why) = blocker {
            return Self::Blocked(one_line(&why, MAX_BLOCKER_CHARS));
        }
        let stated: Vec<(&Label<'_>, Option<Self>)> = found
            .iter()
            .filter(|label| label.name == "Status")
            .map(|label| (label, Self::stated(label)))
            .collect();
        let Some((first, status)) = stated.first() else {
            return Self::Unfinished("there is no line `Status:`; it must say ready or blocked".to_owned());
        };
        // Either could be meant.
        if let Some((other, _)) = stated.iter().find(|(_, other)| other != status) {
            let (one, two) = (first.line, other.line);
            return Self::Unfinished(format!(
                "line {two}: Status: says something else than line {one}; keep one"
            ));
        }
        status.clone().unwrap_or_else(|| {
            let found = excerpt(&first.all_words());
            Self::Unfinished(format!("line {}: Status: must be ready or blocked; found {found}", first.line))
        })
    }

    /// Nothing where the word is none of those that were agreed on.
    fn stated(status: &Label<'_>) -> Option<Self> {
        match status.word().as_deref() {
            Some("ready" | "complete" | "completed" | "done") => Some(Self::Ready),
            Some("blocked") => Some(Self::Blocked("the handoff says blocked and not by what".to_owned())),
            _ => None,
        }
    }
}

/// Whether the integration's notes list the worker under Integrated Workers.
pub fn consumes(integration_notes: &str, worker_id: &str) -> bool {
    let Ok(text) = readable(files::NOTES, integration_notes) else { return false };
    let document = Labelled::read(files::NOTES, &text);
    let Some(section) = document.optional("Integrated Workers") else { return false };
    let is_id = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let mut words = section.lines().iter().flat_map(|line| line.text.split(|letter: char| !is_id(letter)));
    words.any(|word| word.trim_end_matches('.') == worker_id)
}
