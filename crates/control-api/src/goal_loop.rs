//! What of a goal loop is told across the border: counters, items, what waits for a person, which commits to read.

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct GoalReport {
    /// `SUCCESS`, `HARD KILL (…)`, `ESCALATED`, `STOPPED`; absent while the run goes on or is only held up.
    pub outcome: Option<String>,
    pub branch: String,
    pub base_branch: String,
    /// Absent before the contract was read.
    pub autonomy: Option<String>,
    pub iterations: Counter,
    pub commits_used: Counter,
    pub items: Vec<ItemView>,
    /// What a person is asked to say yes or no to.
    pub proposed: Option<ProposedView>,
    /// What was committed, oldest first: the diffs to read.
    pub commits: Vec<CommitView>,
    pub iterations_done: Vec<IterationView>,
    /// Read and not enforced, or ignored.
    pub notices: Vec<String>,
    /// Tests that differ by themselves.
    pub flaky: Vec<String>,
    pub next_steps: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counter {
    pub used: u32,
    pub cap: u32,
}

#[derive(Clone, Debug, Serialize)]
pub struct ItemView {
    pub id: String,
    pub name: String,
    pub status: String,
    pub in_scope: bool,
    pub rework: u32,
    /// Root causes, oldest first.
    pub causes: Vec<String>,
    /// Why it was put aside.
    pub parked: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ProposedView {
    pub item: String,
    /// `change` or `design`.
    pub kind: &'static str,
    /// What an approval has to name.
    pub tree: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct CommitView {
    pub item: String,
    pub commit: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct IterationView {
    pub number: u32,
    pub item: String,
    /// `build`, `rework` or `recheck`.
    pub work: &'static str,
    /// `accepted`, `rework`, `inconclusive` or `escalated`.
    pub result: &'static str,
    pub why: String,
    pub tests: Option<TestCount>,
    pub commit: Option<String>,
    pub findings: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct TestCount {
    pub passed: u32,
    pub total: u32,
}
