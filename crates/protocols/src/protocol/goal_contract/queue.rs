//! The work queue and the contract as they were read at a safe point, and which item is next. No file is known here: a
//! reading of the files is turned into this by whoever reads them.

use super::spec::Claimed;
use crate::vocabulary::{ArtifactRef, Millis};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// In the order of the file.
    pub items: Vec<Item>,
    /// Ids the contract includes and does not exclude, in the order of the file.
    pub scope: Vec<String>,
    pub autonomy: Autonomy,
    pub limits: Limits,
    /// The contract lets the loop put a failed item aside and go on with others.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub parks: bool,
    /// The texts all this was read from, sealed: what the prompts quote.
    pub sources: Vec<ArtifactRef>,
    /// What was read and is not enforced, or was ignored, in sentences for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Autonomy {
    /// One iteration, then a person; nothing is committed before a person approved exactly that tree.
    L1,
    /// Goes on and commits within its scope.
    L2,
    /// As L2, for scopes so narrow that every item states its paths.
    L3,
}

impl Autonomy {
    pub const fn word(self) -> &'static str {
        match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
        }
    }

    pub(crate) const fn asks_before_commit(self) -> bool {
        matches!(self, Self::L1)
    }

    pub(crate) const fn pauses_after_iteration(self) -> bool {
        matches!(self, Self::L1)
    }

    /// Whether it may run where no test can say no.
    pub(crate) const fn may_lack_tests(self) -> bool {
        matches!(self, Self::L1)
    }

    /// Whether an item may be built that says nowhere which files are its own.
    pub(crate) const fn may_lack_paths(self) -> bool {
        matches!(self, Self::L1 | Self::L2)
    }
}

/// The caps of the contract's budget. `None` means: no row for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub iterations: u32,
    pub commits: u32,
    /// Of one item.
    pub rework: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub name: String,
    /// In thousandths, smaller first; absent means last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    pub criteria: u32,
    /// Whether anything says which files are its own.
    pub paths_stated: bool,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub risky: bool,
    pub design: Design,
    /// A run log has a PASS of an evaluator for it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub passed_before: bool,
}

/// From here on an item is not trivial for its criteria alone.
const MANY_CRITERIA: u32 = 5;

impl Item {
    /// Trivial: what is to be built can be seen without a design. Items with stated paths have been thought about.
    pub fn is_trivial(&self, autonomy: Autonomy) -> bool {
        if self.paths_stated {
            return !self.risky;
        }
        autonomy.may_lack_paths() && !self.risky && self.criteria < MANY_CRITERIA
    }

    /// Features, refactorings and bugs are what the goal is about; what was there before is not.
    pub fn counts(&self) -> bool {
        !self.id.starts_with('E')
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    None,
    Draft,
    Approved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    NotStarted,
    InProgress,
    Complete,
    NeedsRework,
    Blocked,
    Existing,
    Cancelled,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::InProgress => "in-progress",
            Self::Complete => "complete",
            Self::NeedsRework => "needs-rework",
            Self::Blocked => "blocked",
            Self::Existing => "existing",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What an iteration does with its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// It is called complete; an evaluator looks at what is there.
    Recheck,
    Rework,
    Build,
}

/// Where an item stands, by what the loop itself established first and by the file second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Complete, and it counts.
    Accepted,
    /// To be worked on, in this way.
    Open(Work),
    /// Put aside, blocked, or given up.
    Aside,
}

pub enum Selection<'a> {
    Next(&'a Item, Work),
    /// Everything that counts is accepted.
    Done,
    /// What is left cannot be worked on, each with the reason.
    Stuck(Vec<(&'a Item, &'static str)>),
}

impl Queue {
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Leaves nothing wider than it was: a file that changes while agents work can only tighten what they may do. What may
    /// be worked on and how freely is agreed to when a run begins; more room is also given by whoever takes it up again.
    pub(super) fn take_in(&mut self, before: &Self, person_looked: bool) {
        let asked = (self.scope.clone(), self.autonomy, self.limits);
        // An item that was not in the queue yet may be what "all F" was agreed to for; whoever let the run go on knows.
        let is_new = |id: &str| person_looked && before.item(id).is_none();
        self.scope.retain(|id| before.scope.contains(id) || is_new(id));
        self.autonomy = self.autonomy.min(before.autonomy);
        if (&self.scope, self.autonomy) != (&asked.0, asked.1) {
            self.notices
                .push("the contract was widened since the run began; that takes a new run".to_string());
        }
        if person_looked {
            return;
        }
        let least = |new: Option<u64>, old: Option<u64>| match (new, old) {
            (Some(new), Some(old)) => Some(new.min(old)),
            (new, old) => new.or(old),
        };
        let (new, old) = (self.limits, before.limits);
        self.limits = Limits {
            iterations: new.iterations.min(old.iterations),
            commits: new.commits.min(old.commits),
            rework: new.rework.min(old.rework),
            time: least(new.time.map(|time| time.0), old.time.map(|time| time.0)).map(Millis),
            tokens: least(new.tokens, old.tokens),
            cost_micros: least(new.cost_micros, old.cost_micros),
        };
        if self.limits != asked.2 {
            self.notices.push(
                "the budget was raised while the loop ran; that counts from the next resume".to_string(),
            );
        }
    }

    /// Where an item stands by the file alone, for a look before any run.
    pub fn standing_in_file(&self, item: &Item, claimed: Claimed) -> Standing {
        super::item::standing(item, None, self.scope.contains(&item.id), claimed)
    }

    pub fn in_scope(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| self.scope.contains(&item.id))
    }

    /// Rechecks first, since others may depend on them; then rework, then new work, each by priority and order.
    pub fn select(&self, first: Option<&str>, standing: impl Fn(&Item) -> Standing) -> Selection<'_> {
        let met = |item: &Item| {
            item.dependencies.iter().all(|id| {
                self.item(id).is_none_or(|needed| {
                    needed.status == Status::Existing || standing(needed) == Standing::Accepted
                })
            })
        };
        let mut best: Option<(&Item, Work)> = None;
        let mut stuck = Vec::new();
        for item in self.in_scope() {
            match standing(item) {
                Standing::Open(work) if !met(item) && work != Work::Recheck => {
                    if item.counts() {
                        stuck.push((item, "a dependency is not accepted"));
                    }
                }
                Standing::Open(work) => {
                    let rank = |item: &Item, work: Work| {
                        (first != Some(item.id.as_str()), work, item.priority.unwrap_or(i64::MAX))
                    };
                    if best.is_none_or(|(other, theirs)| rank(item, work) < rank(other, theirs)) {
                        best = Some((item, work));
                    }
                }
                Standing::Aside if item.counts() && item.status != Status::Cancelled => {
                    stuck.push((item, "it is blocked"));
                }
                Standing::Accepted | Standing::Aside => {}
            }
        }
        match best {
            Some((item, work)) => Selection::Next(item, work),
            None if stuck.is_empty() => Selection::Done,
            None => Selection::Stuck(stuck),
        }
    }
}
