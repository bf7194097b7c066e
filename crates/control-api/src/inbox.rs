//! What waits for a person, and what a person can say to it. The views are the exact shape of `--json`.

use crate::commands::LandingPlace;
use crate::views::LoopKind;
use serde::Serialize;

/// One run that waits, with all that is needed to decide.
#[derive(Clone, Debug, Serialize)]
pub struct InboxEntry {
    pub run: String,
    pub kind: LoopKind,
    pub repository: String,
    pub task: String,
    /// The task in one line.
    pub title: String,
    /// What is wanted: `answer`, `landing`, `hand-back`.
    pub question: String,
    /// Why a person is asked, in one sentence.
    pub cause: String,
    /// What was said that led there.
    pub said: Vec<String>,
    /// The content it waits with.
    pub tree: Option<String>,
    /// One line for each of the last rounds.
    pub tried: Vec<String>,
    pub evidence: Vec<EvidenceView>,
    pub suggestion: String,
    /// Every way on, the likeliest first.
    pub commands: Vec<String>,
    pub waits_since_ms: u64,
}

/// Something to look at: a sealed file, or a command that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceView {
    pub what: String,
    pub see: String,
}

#[derive(Clone, Debug)]
pub struct ApproveRun {
    pub run: String,
    /// The beginning of the tree that was looked at; the one the run waits with if absent.
    pub tree: Option<String>,
    pub place: LandingPlace,
    pub wait: bool,
}

#[derive(Clone, Debug)]
pub struct RejectRun {
    pub run: String,
    pub reason: String,
    pub wait: bool,
}

#[derive(Clone, Debug)]
pub struct SkipRun {
    pub run: String,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct WaiveRun {
    pub run: String,
    /// Names of findings about the gate.
    pub findings: Vec<String>,
    pub reason: String,
    pub wait: bool,
}

#[derive(Clone, Debug)]
pub struct TakeOverRun {
    pub run: String,
    pub wait: bool,
}

/// Where a person goes on by hand.
#[derive(Clone, Debug, Serialize)]
pub struct TakenOver {
    pub run: String,
    pub worktree: String,
    pub branch: String,
    /// What stands there: the maker's last content.
    pub tree: String,
    /// What of the maker's worktree could not be brought along.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct HandBackRun {
    pub run: String,
    /// For the checkers: what was done.
    pub note: Option<String>,
    pub wait: bool,
}
