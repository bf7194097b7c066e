//! One iteration: what it has come to while it is under way, and what the ledger keeps of it.

use super::facts::Ending;
use super::queue::Work;
use crate::kernel::gate::Gate;
use crate::outcome::{BuildReport, CapturedChange, Finding, SuiteReport};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// Absent where there is no test command.
    pub suite: Option<SuiteReport>,
    pub flaky: Vec<String>,
}

/// The iteration under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub number: u32,
    pub item: String,
    pub work: Work,
    pub start: TreeId,
    /// The loop's newest commit when it was opened. A closing commit made meanwhile changes only the loop's own files, and
    /// nobody at work has seen it.
    pub on: Option<CommitId>,
    pub build: Option<BuildReport>,
    /// How the builder failed; what it left is kept all the same.
    pub build_failed: Option<String>,
    /// What a person handed back in the builder's place.
    pub handed_back: Option<TreeId>,
    pub change: Option<CapturedChange>,
    pub suite: Option<SuiteReport>,
    /// What the change did to what measures it.
    pub gate: Gate,
    /// A person was asked about that; whoever goes on without waiving it wants it put right.
    pub asked_about_gate: bool,
    /// An evaluator passed exactly the tree of the change.
    pub passed: Option<ArtifactRef>,
    pub pre_commit: Option<Vec<ArtifactRef>>,
    pub approved: bool,
    /// How often each role was asked in this iteration.
    pub asked: BTreeMap<Role, u32>,
}

impl Iteration {
    pub(super) fn begin(
        number: u32,
        item: &str,
        work: Work,
        (start, on): (&TreeId, Option<CommitId>),
    ) -> Self {
        Self {
            number,
            item: item.into(),
            work,
            start: start.clone(),
            on,
            build: None,
            build_failed: None,
            handed_back: None,
            change: None,
            suite: None,
            gate: Gate::default(),
            asked_about_gate: false,
            passed: None,
            pre_commit: None,
            approved: false,
            asked: BTreeMap::new(),
        }
    }

    pub(super) fn ended(
        self,
        (number, at): (u32, Millis),
        ending: &Ending,
        commit: Option<CommitId>,
        measured: Option<&SuiteReport>,
    ) -> PastIteration {
        let suite = self.suite.as_ref().or(measured.filter(|suite| suite.tree == *self.tree()));
        PastIteration {
            number,
            at,
            item: self.item,
            work: self.work,
            ending: ending.clone(),
            summary: self.build.map(|build| build.summary).unwrap_or_default(),
            tests: suite.map(|suite| (suite.passed, suite.total)),
            commit,
            findings: self
                .change
                .iter()
                .flat_map(|change| change.findings.iter().map(Finding::words))
                .chain(self.gate.waived())
                .collect(),
            evaluation: self.passed,
        }
    }

    /// What is judged: what was built, or what is there already.
    pub fn tree(&self) -> &TreeId {
        self.change.as_ref().map_or(&self.start, |change| &change.tree)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastIteration {
    pub number: u32,
    pub at: Millis,
    pub item: String,
    pub work: Work,
    pub ending: Ending,
    /// What its builder says it did, in one line.
    pub summary: String,
    pub tests: Option<(u32, u32)>,
    pub commit: Option<CommitId>,
    pub findings: Vec<String>,
    pub evaluation: Option<ArtifactRef>,
}
