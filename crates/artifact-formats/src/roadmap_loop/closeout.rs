//! What a reviewer approved to be noted in the roadmap when a round merges. It knows the approved edits as data; how they
//! are applied, and whether they still fit, is for the control plane.

use crate::fields::choice;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closeout {
    pub mode: CloseoutMode,
    pub status_changes: Vec<StatusChange>,
    pub completion_pointers: Vec<CompletionPointer>,
    pub history_entries: Vec<HistoryEntry>,
    /// Why the roadmap's meaning must change; only with [`CloseoutMode::SemanticUpdateRequired`].
    pub reason: Option<String>,
}

choice! {
    CloseoutMode {
        StatusOnly = "status-only",
        SemanticUpdateRequired = "semantic-update-required",
        /// The round says nothing about a milestone; structured Markdown only.
        None = "none",
    }
}

choice! {
    MilestoneStatus {
        Pending = "pending",
        InProgress = "in-progress",
        Done = "done",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    pub milestone_id: String,
    /// Structured Markdown may leave it out; then whatever stands there is replaced.
    pub expected_current_status: Option<MilestoneStatus>,
    pub target_status: MilestoneStatus,
    /// Key of the view's anchors; records only.
    pub anchor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionPointer {
    /// Key of the view's anchors in records, a milestone id in structured Markdown.
    pub anchor_or_milestone: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Key of the view's anchors; structured Markdown has one place only.
    pub anchor: Option<String>,
    pub text: String,
}

impl Closeout {
    /// A closeout without any edit.
    pub fn empty(mode: CloseoutMode) -> Self {
        Self {
            mode,
            status_changes: Vec::new(),
            completion_pointers: Vec::new(),
            history_entries: Vec::new(),
            reason: None,
        }
    }

    pub fn has_edits(&self) -> bool {
        !(self.status_changes.is_empty()
            && self.completion_pointers.is_empty()
            && self.history_entries.is_empty())
    }
}
