//! The state of one tenant: a fold of its entries. `evolve` is total and is all that replay runs.

use super::facts::{Change, Entry};
use super::{
    answers, checkpoints, custody, knowledge, plan, skills, tenancy, ui_tests, usage, webhooks, work,
};

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// How many entries were folded: the journal's expected version, and the sequence number of the change feed.
    pub version: u64,
    pub tenancy: tenancy::State,
    pub plan: plan::State,
    pub work: work::State,
    pub custody: custody::State,
    pub checkpoints: checkpoints::State,
    pub usage: usage::State,
    pub skills: skills::State,
    pub webhooks: webhooks::State,
    pub knowledge: knowledge::State,
    pub ui_tests: ui_tests::State,
    pub answers: answers::State,
}

impl Ledger {
    pub fn evolve(&mut self, entry: &Entry) {
        self.version += 1;
        match &entry.change {
            // The server's own streams; a tenant's never holds them.
            Change::Registry(_) | Change::Heads(_) => {}
            Change::Tenancy(change) => self.tenancy.evolve(entry, change),
            Change::Plan(change) => {
                self.plan.evolve(entry, change);
                self.work.follow_plan(&self.plan, entry, change);
            }
            Change::Work(change) => self.work.evolve(&self.plan, entry, change),
            Change::Custody(change) => {
                self.custody.evolve(entry, change);
                self.work.follow_custody(&self.plan, change);
            }
            Change::Checkpoints(change) => self.checkpoints.evolve(entry, change),
            Change::Usage(change) => self.usage.evolve(entry, change),
            Change::Skills(change) => self.skills.evolve(entry, change),
            Change::Webhooks(change) => self.webhooks.evolve(entry, change),
            Change::Knowledge(change) => self.knowledge.evolve(entry, change),
            Change::UiTests(change) => self.ui_tests.evolve(entry, change),
            Change::Answers(change) => self.answers.evolve(entry, change),
        }
    }
}
