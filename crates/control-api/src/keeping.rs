//! What was taken away and can be had again, a place to stand in, and a run in one file.

use serde::Serialize;
use std::path::PathBuf;

/// Gives back what `clean` took.
#[derive(Clone, Debug)]
pub struct Undo {
    /// A run, or one kept thing by its id; what was kept last if not given.
    pub what: Option<String>,
    /// Where to look if it is no run.
    pub repository: Option<PathBuf>,
}

/// One thing that is kept under `refs/windlass/kept/`.
#[derive(Clone, Debug, Serialize)]
pub struct KeptView {
    /// As `undo` takes it: the run, and what it was there.
    pub id: String,
    pub run: String,
    /// `worktree` or `branch`
    pub kind: String,
    /// The path or the name.
    pub what: String,
    pub commit: String,
    /// Milliseconds since 1970.
    pub kept_at: u64,
    /// The same, in words of the local clock.
    pub kept: String,
    /// When `clean --expire-kept` may let it go.
    pub until: u64,
    /// Something stands in its place now, most likely itself.
    pub stands: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undone {
    GivenBack,
    /// It stood there already.
    Stands,
    /// Something else stands in its place, or what was kept does not read back; nothing was changed.
    NotGivenBack,
}

#[derive(Clone, Debug, Serialize)]
pub struct UndoItem {
    pub id: String,
    pub kind: String,
    pub what: String,
    pub outcome: Undone,
    pub why: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    pub items: Vec<UndoItem>,
}

/// Asks for an ordinary worktree of some tree of a run.
#[derive(Clone, Debug)]
pub struct CheckoutRun {
    /// `RUN`, or `RUN:ROUND` with whatever the loop counts: a round, an iteration, an item.
    pub run: String,
    pub directory: Option<PathBuf>,
    pub branch: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckedOut {
    pub run: String,
    pub round: String,
    pub worktree: String,
    pub commit: String,
    pub tree: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ExportRun {
    pub run: String,
    pub file: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    pub run: String,
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
    pub facts: u64,
    pub artifacts: u64,
    /// What could not be taken along, in sentences.
    pub left_out: Vec<String>,
}
