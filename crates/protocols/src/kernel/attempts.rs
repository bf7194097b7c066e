//! How often one step may be asked for again, and why each kind of failure has its own count.

use super::trouble::{OutKind, RetryKind};
use serde::{Deserialize, Serialize};

/// A step whose end nobody saw is asked for again this often before a person is asked.
pub const MAX_LOST: u32 = 4;
/// A person interrupts a step now and then; one that is interrupted this often is not interrupted by a person.
pub const MAX_INTERRUPTED: u32 = 10;
/// A checker that fails (not: that says no) is asked for again this often.
pub const MAX_CHECKER_FAILURES: u32 = 2;
/// An unreadable answer is sent back once.
pub const MAX_REPAIRS: u32 = 1;
/// A maker that fails this many rounds in a row will not get better by being asked again.
pub const MAX_MAKER_FAILURES_IN_A_ROW: u32 = 3;

/// Counts of the step that is being tried now; a new step begins with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    pub lost: u32,
    pub interrupted: u32,
    pub failed: u32,
    pub repairs: u32,
    /// The provider did not answer.
    #[serde(default)]
    pub unserved: u32,
    /// The provider said: not now.
    #[serde(default)]
    pub limited: u32,
}

impl Attempts {
    /// How often the step was asked for and did not come to its end.
    pub const fn total(&self) -> u32 {
        self.lost + self.interrupted + self.failed + self.repairs + self.unserved + self.limited
    }

    pub(crate) fn retried(&mut self, kind: RetryKind) {
        match kind {
            RetryKind::Lost => self.lost += 1,
            RetryKind::Failed => self.failed += 1,
            RetryKind::Interrupted => self.interrupted += 1,
        }
    }

    /// A wrong key is no attempt: nothing was tried.
    pub(crate) fn out(&mut self, kind: OutKind) {
        match kind {
            OutKind::Limited => self.limited += 1,
            OutKind::Unavailable => self.unserved += 1,
            OutKind::Misconfigured => {}
        }
    }

    pub const fn may_retry_lost(&self) -> bool {
        self.lost < MAX_LOST
    }

    pub const fn may_retry_interrupted(&self) -> bool {
        self.interrupted < MAX_INTERRUPTED
    }

    pub const fn may_retry_checker(&self) -> bool {
        self.failed < MAX_CHECKER_FAILURES
    }

    pub const fn may_repair(&self) -> bool {
        self.repairs < MAX_REPAIRS
    }
}
