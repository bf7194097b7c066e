//! `docs/FEATURES.json`: the queue of items and their status. Read by shape, edited only at the bytes that change.
//! It knows the file; which item is worked on next is decided elsewhere.

mod changes;
mod edit;
mod read;
mod rules;

use std::cmp::Ordering;
use std::ops::Range;

use super::item_id::ItemId;
use crate::extra_keys::ExtraKeys;
use crate::faults::Faults;
use crate::fields::choice;
use crate::recognised::Recognised;

pub use changes::{DefinitionChanges, FieldChange, FieldOwner, ItemChange};
pub use edit::{EditFault, NewItem};

pub const FEATURES_FILE: &str = "docs/FEATURES.json";

/// The queue with the exact text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureList {
    source: String,
    items: Vec<Placed>,
    /// `"onboarded"` for a repository that had code before.
    pub project_type: Option<String>,
}

/// An item and where its keys stand.
#[derive(Debug, Clone, PartialEq)]
struct Placed {
    feature: Feature,
    /// The object, braces included.
    span: Range<usize>,
    /// Keys in the order of the file with the places of their values.
    fields: Vec<(String, Range<usize>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    pub id: ItemId,
    pub name: String,
    pub priority: Priority,
    pub status: ItemStatus,
    pub description: String,
    pub acceptance_criteria: Vec<String>,
    pub contract: ItemContract,
    pub dependencies: Vec<ItemId>,
    pub designed: bool,
    pub design_doc: Option<String>,
    pub design_status: Option<String>,
    /// The key `type`, for refactorings.
    pub kind: Option<String>,
    pub affected_files: Vec<String>,
    pub risk: Option<String>,
    pub rollback_plan: Option<String>,
    pub location: Vec<String>,
    pub test_coverage: Option<String>,
    pub quality: Option<String>,
    pub architecture_revision: Option<String>,
    pub architecture_note: Option<String>,
    pub cancel_reason: Option<String>,
    pub extra: ExtraKeys,
}

/// What is delivered and how that is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemContract {
    pub deliverable: String,
    pub verification: String,
}

choice! {
    /// How far an item is.
    ItemStatus {
        NotStarted = "not-started",
        InProgress = "in-progress",
        Complete = "complete",
        NeedsRework = "needs-rework",
        Blocked = "blocked",
        Existing = "existing",
        Cancelled = "cancelled",
    }
}

impl ItemStatus {
    /// Whether an item that depends on one with this status can be worked on.
    pub const fn meets_dependency(self) -> bool {
        matches!(self, Self::Complete | Self::Existing)
    }
}

/// Smaller comes first; an item without one comes last.
#[derive(Debug, Clone, Copy)]
pub enum Priority {
    Given(f64),
    Unstated,
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Given(one), Self::Given(two)) => one.total_cmp(two),
            (Self::Given(_), Self::Unstated) => Ordering::Less,
            (Self::Unstated, Self::Given(_)) => Ordering::Greater,
            (Self::Unstated, Self::Unstated) => Ordering::Equal,
        }
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Priority {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Priority {}

impl FeatureList {
    /// Tells our files from those of other tools and says everything that is wrong with ours.
    pub fn recognise(text: &str) -> Recognised<Self> {
        read::recognise(text)
    }

    /// For callers that need one of ours: a foreign file is a fault here.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        Self::recognise(text).or_faults(FEATURES_FILE)
    }

    /// The file's text, byte for byte as it was read or edited.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// In the order of the file.
    pub fn items(&self) -> impl Iterator<Item = &Feature> {
        self.items.iter().map(|placed| &placed.feature)
    }

    pub fn get(&self, id: &ItemId) -> Option<&Feature> {
        self.items().find(|item| item.id == *id)
    }

    /// The dependencies of an item that are neither complete nor existing.
    pub fn unmet_dependencies(&self, item: &Feature) -> Vec<ItemId> {
        let is_met = |id: &&ItemId| self.get(id).is_some_and(|found| found.status.meets_dependency());
        item.dependencies.iter().filter(|id| !is_met(id)).cloned().collect()
    }

    /// The next free number of a prefix: above every number in use, for numbers are never given twice.
    pub fn next_id(&self, prefix: char) -> Option<ItemId> {
        let used = self.items().map(|item| &item.id).filter(|id| id.prefix() == prefix);
        let highest = used.map(ItemId::number).max().unwrap_or(0);
        ItemId::numbered(prefix, highest.checked_add(1)?)
    }
}
