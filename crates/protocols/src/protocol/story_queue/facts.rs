//! What is journaled of a tenant: one entry per change, with who, when and in which project. The journal's hash chain over
//! these entries is the audit chain; the audit log, the change feed and a story's history are views of them.

use super::caller::Actor;
use super::vocabulary::{Micros, ProjectId};
use super::{
    answers, checkpoints, custody, heads, knowledge, plan, registry, skills, tenancy, ui_tests, usage,
    webhooks, work,
};
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Micros,
    pub by: Actor,
    /// Set for everything that happens inside a project: the feed is asked by project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub change: Change,
}

/// An entry as the journal keeps it: its JSON as text. Who reads a tenant's stream takes it apart; whoever stores or shows facts
/// of runs need not know, nor be built for, everything that can happen to a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryText(pub String);

/// By area; each area has its own list, state and rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The server's list of tenants and its superadmin keys; a stream of its own.
    Registry(registry::Change),
    /// What was signed of a tenant's chain; a stream of its own.
    Heads(heads::Change),
    /// The tenant itself, its keys and its agents.
    Tenancy(tenancy::Change),
    /// Projects, epics, stories, criteria and dependencies: what is to be done.
    Plan(plan::Change),
    /// What becomes of stories: claimed, reported, reviewed, verified.
    Work(work::Change),
    /// Dispatches, capability tokens, violations, halts.
    Custody(custody::Change),
    Checkpoints(checkpoints::Change),
    Usage(usage::Change),
    Skills(skills::Change),
    Webhooks(webhooks::Change),
    Knowledge(knowledge::Change),
    UiTests(ui_tests::Change),
    /// What a request under an idempotency key was answered.
    Answers(answers::Change),
}
