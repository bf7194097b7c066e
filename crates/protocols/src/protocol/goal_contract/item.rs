//! What the loop itself established about one item, beside what the file says. Counters only grow; a person who lets an
//! item be tried again opens a new count beside the old one.

use super::facts::{Ending, RejectedBy};
use super::queue::{Design, Item, Standing, Status, Work};
use super::spec::Claimed;
use crate::outcome::DesignReport;
use crate::vocabulary::{ArtifactRef, CommitId, TreeId};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemState {
    /// Iterations that ended without a yes, over the whole run.
    pub rework: u32,
    /// The same since a person last answered or gave more room; this is what the cap counts.
    pub rework_since: u32,
    /// Every root cause, oldest first: a builder is told all of them.
    pub causes: Vec<Failed>,
    /// Which of them a person has not looked at yet.
    pub causes_since: usize,
    pub regressions_in_a_row: u32,
    pub inconclusive_in_a_row: u32,
    /// The half-built content, and the commit it stands on.
    pub attempt: Option<(TreeId, CommitId)>,
    pub design: Option<DesignReport>,
    pub design_approved: bool,
    pub designs_rejected: Vec<String>,
    pub begun: bool,
    /// What was called complete did not hold when it was checked.
    pub refuted: bool,
    /// An evaluator passed it in this run.
    pub passed: bool,
    pub committed: Option<CommitId>,
    pub parked: Option<String>,
    /// It was a person who put it aside: others that are tried again do not bring it back.
    pub skipped: bool,
}

/// What becomes of the count that the cap on rework is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tries {
    Anew,
    Kept,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub iteration: u32,
    pub by: RejectedBy,
    pub key: String,
    pub cause: String,
    pub issues: Vec<String>,
}

impl Failed {
    pub fn sentence(&self) -> String {
        self.by.sentence(&self.cause)
    }
}

impl ItemState {
    /// What stands in the file for it, where the loop has a word of its own.
    pub fn status(&self) -> Option<Status> {
        if self.passed {
            Some(Status::Complete)
        } else if self.parked.is_some() {
            Some(Status::Blocked)
        } else if self.rework > 0 || self.refuted {
            Some(Status::NeedsRework)
        } else if self.begun {
            Some(Status::InProgress)
        } else {
            None
        }
    }

    /// Whether this cause was given before, by its key or else in the same words, and nobody has looked since. A person's
    /// own words are never held against them.
    pub(super) fn is_known(&self, by: RejectedBy, key: &str, cause: &str) -> bool {
        let since = self.causes.get(self.causes_since..).unwrap_or_default();
        by != RejectedBy::Person
            && since
                .iter()
                .any(|failed| failed.by != RejectedBy::Person && (failed.key == key || failed.cause == cause))
    }

    pub(super) fn end(&mut self, iteration: u32, work: Work, ending: &Ending) {
        match ending {
            Ending::Accepted => {
                self.passed = true;
                self.attempt = None;
                (self.regressions_in_a_row, self.inconclusive_in_a_row) = (0, 0);
            }
            Ending::Rework { by, key, cause, issues } => {
                // Nobody tried yet what a recheck refutes.
                let tried = u32::from(work != Work::Recheck);
                self.refuted |= work == Work::Recheck;
                self.rework = self.rework.saturating_add(tried);
                self.rework_since = self.rework_since.saturating_add(tried);
                self.inconclusive_in_a_row = 0;
                self.regressions_in_a_row =
                    if *by == RejectedBy::Regression { self.regressions_in_a_row + 1 } else { 0 };
                self.causes.push(Failed {
                    iteration,
                    by: *by,
                    key: key.clone(),
                    cause: cause.clone(),
                    issues: issues.clone(),
                });
            }
            Ending::Inconclusive { .. } => self.inconclusive_in_a_row += 1,
            // What was built beyond the item, or cannot be looked at, is not built upon.
            Ending::Escalated { .. } => self.attempt = None,
        }
    }

    /// A person lets it be tried again.
    pub(super) fn forgive(&mut self, tries: Tries) {
        if tries == Tries::Anew {
            self.rework_since = 0;
        }
        self.causes_since = self.causes.len();
        (self.regressions_in_a_row, self.inconclusive_in_a_row) = (0, 0);
        if !self.skipped {
            self.parked = None;
        }
    }

    /// What a builder has to be told about earlier tries.
    pub(super) fn told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for failed in &self.causes {
            lines.push(format!("iteration {}: {}", failed.iteration, failed.sentence()));
        }
        if let Some(last) = self.causes.last() {
            lines.extend(last.issues.iter().map(|issue| format!("issue: {issue}")));
        }
        lines
    }

    /// Tests that the last try broke.
    pub fn last_regressions(&self) -> Vec<String> {
        let last = self.causes.last().filter(|failed| failed.by == RejectedBy::Regression);
        last.map(|failed| failed.issues.clone()).unwrap_or_default()
    }

    pub(super) fn design(&self, item: &Item) -> Design {
        match (&self.design, self.design_approved) {
            (Some(_), true) => Design::Approved,
            (Some(_), false) => Design::Draft,
            (None, _) => item.design,
        }
    }

    pub(super) fn design_artifact(&self) -> Option<&ArtifactRef> {
        self.design.as_ref().map(|design| &design.artifact)
    }
}

/// What the loop established first, the file second.
pub(super) fn standing(item: &Item, known: Option<&ItemState>, in_scope: bool, claimed: Claimed) -> Standing {
    if let Some(known) = known {
        if known.passed {
            return Standing::Accepted;
        }
        // Cancelled is a word that only people write.
        if known.parked.is_some() || item.status == Status::Cancelled {
            return Standing::Aside;
        }
        if known.rework > 0 || known.refuted || known.begun {
            return Standing::Open(Work::Rework);
        }
    }
    match item.status {
        Status::NeedsRework | Status::InProgress => Standing::Open(Work::Rework),
        Status::NotStarted => Standing::Open(Work::Build),
        Status::Blocked | Status::Cancelled => Standing::Aside,
        Status::Complete if !in_scope || item.passed_before || claimed == Claimed::Trust => {
            Standing::Accepted
        }
        // Named by the contract, so somebody wants to know.
        Status::Complete => Standing::Open(Work::Recheck),
        Status::Existing if in_scope && claimed == Claimed::Recheck => Standing::Open(Work::Recheck),
        Status::Existing => Standing::Accepted,
    }
}
