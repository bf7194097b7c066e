//! The closeout as labelled Markdown states it, in a review or in a planner's direct evidence, and the rules that hold for
//! every closeout. It knows no roadmap: whether a milestone exists and stands as expected is checked when it is applied.

use super::labelled::{Label, Section, unquoted};
use crate::fault::excerpt;
use crate::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, HistoryEntry, MilestoneStatus, StatusChange,
};

const LABELS: [&str; 5] =
    ["Mode", "Status changes", "Completion pointers", "History entries", "Semantic update reason"];

/// Reads the five labels. A pointer that names no milestone belongs to the round's own; whether the one it names is there
/// is for whoever has the roadmap.
pub(super) fn closeout_of(section: &Section<'_, '_>, own_milestone: &str) -> Option<Closeout> {
    let labels = section.labels(&LABELS);
    let mode = labels.choice::<CloseoutMode>(LABELS[0]);
    let changes = labels.required(LABELS[1]).map(|label| status_changes(section, label)).unwrap_or_default();
    let mut milestones: Vec<&str> = changes.iter().map(|change| change.milestone_id.as_str()).collect();
    milestones.push(own_milestone);
    let pointers = labels.required(LABELS[2]).map(Label::entries).unwrap_or_default();
    let pointers = pointers.iter().map(|entry| pointer(entry, &milestones, own_milestone)).collect();
    let history = labels.required(LABELS[3]).map(Label::entries).unwrap_or_default();
    let reason = labels.required(LABELS[4]).and_then(Label::text);
    let closeout = Closeout {
        mode: mode?,
        status_changes: changes,
        completion_pointers: pointers,
        history_entries: history.into_iter().map(|text| HistoryEntry { anchor: None, text }).collect(),
        reason,
    };
    Some(closeout)
}

/// What contradicts itself in a closeout.
pub(super) fn mode_faults(closeout: &Closeout) -> Vec<String> {
    let mut faults = Vec::new();
    let mode = closeout.mode;
    if mode != CloseoutMode::StatusOnly && closeout.has_edits() {
        faults.push(format!("mode {mode} allows no status changes, completion pointers or history entries"));
    }
    match (mode, &closeout.reason) {
        (CloseoutMode::SemanticUpdateRequired, None) => {
            faults.push(format!("mode {mode} needs the reason why the roadmap must change"));
        }
        (CloseoutMode::StatusOnly | CloseoutMode::None, Some(_)) => {
            faults.push(format!("mode {mode} allows no reason for a semantic update"));
        }
        _ => {}
    }
    let pointers = closeout.completion_pointers.iter().map(|entry| &entry.text);
    for text in pointers.chain(closeout.history_entries.iter().map(|entry| &entry.text)) {
        if text.contains(['\n', '\r']) {
            faults.push(format!("an entry must be one line, found {}", excerpt(text)));
        }
    }
    for (at, change) in closeout.status_changes.iter().enumerate() {
        let again =
            closeout.status_changes[..at].iter().any(|before| before.milestone_id == change.milestone_id);
        if again {
            faults.push(format!("the status of {} is changed twice", change.milestone_id));
        }
    }
    faults
}

fn status_changes(section: &Section<'_, '_>, label: &Label<'_>) -> Vec<StatusChange> {
    let mut changes = Vec::new();
    for entry in label.entries() {
        match status_change(&entry) {
            Some(change) => changes.push(change),
            None => section.report(
                label.line,
                &format!(
                    "a status change is written `milestone-id`: pending -> done; found {}",
                    excerpt(&entry)
                ),
            ),
        }
    }
    changes
}

/// Words that may stand around the id and the states of a status change.
const CONNECTING: [&str; 12] = [
    "selector",
    "milestone",
    "id",
    "from",
    "to",
    "status",
    "expected",
    "current",
    "target",
    "set",
    "becomes",
    "change",
];

/// A milestone id and one or two states: the last one is where it goes.
fn status_change(entry: &str) -> Option<StatusChange> {
    let plain = entry.replace("->", " ").replace(['→', ',', ';', '(', ')'], " ");
    let words = plain.split_whitespace().map(|word| word.trim_matches(['`', '*', '"', '[', ']', '.', ':']));
    let mut milestone_id = None;
    let mut states = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        if let Some(state) = status(&lower) {
            states.push(state);
        } else if !CONNECTING.contains(&lower.as_str()) && milestone_id.replace(word.to_owned()).is_some() {
            // "stays in-progress" is no change: with a word that is not known, nobody can tell what was approved.
            return None;
        }
    }
    let (expected, target) = match states.as_slice() {
        [target] => (None, *target),
        [expected, target] => (Some(*expected), *target),
        _ => return None,
    };
    Some(StatusChange {
        milestone_id: milestone_id?,
        expected_current_status: expected,
        target_status: target,
        anchor: None,
    })
}

fn status(word: &str) -> Option<MilestoneStatus> {
    match word {
        "completed" => Some(MilestoneStatus::Done),
        _ => MilestoneStatus::from_word(word),
    }
}

/// `milestone-id: text` where the id is one of the known milestones or is written as one; other text is the round's
/// milestone's.
fn pointer(entry: &str, milestones: &[&str], own: &str) -> CompletionPointer {
    if let Some((id, text)) = entry.split_once(':') {
        let (id, marked) = (unquoted(id), id.trim().starts_with('`'));
        if (milestones.contains(&id) || (marked && reads_like_milestone(id))) && !text.trim().is_empty() {
            return CompletionPointer { anchor_or_milestone: id.to_owned(), text: unquoted(text).to_owned() };
        }
    }
    CompletionPointer { anchor_or_milestone: own.to_owned(), text: entry.to_owned() }
}

/// An id, and no file, code or round: those are what a pointer points at.
fn reads_like_milestone(id: &str) -> bool {
    let is_round =
        id.strip_prefix("round-").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !id.is_empty() && !is_round && id.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}
