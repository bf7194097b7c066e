//! The orchestrator of a story queue: what it is asked, and what came of it. The views are the exact shape of `--json`.

use crate::commands::SettingValue;
use crate::views::Status;
use serde::Serialize;
use std::path::PathBuf;

/// `windlass orchestrate`. What is absent comes from the settings, or from the tenant.
#[derive(Clone, Debug, Default)]
pub struct StartOrchestration {
    pub repository: PathBuf,
    /// Where the user stands; relative paths on the command line mean relative to here.
    pub directory: PathBuf,
    /// By id, slug or name.
    pub project: String,
    /// A key of role user: with it the orchestrator's own identities are made.
    pub user_key: String,
    /// How many stories at once; the tenant's setting, else 2.
    pub parallel: Option<u32>,
    /// End after what is ready now.
    pub once: bool,
    pub max_stories: Option<u32>,
    pub max_minutes: Option<u64>,
    /// Stories that wait for a person and may be tried again, by number or id.
    pub retry: Vec<String>,
    /// Stories that others called done and that a person lets stand so, by number or id.
    pub accept: Vec<String>,
    /// Where stories land: a branch of its own for the project, or the branch that is checked out.
    pub branch: Option<String>,
    pub settings: Vec<(String, SettingValue)>,
    /// The command as a person types it to go on, without what is meant for one time only.
    pub again: Option<String>,
    /// Trust the commands of this repository without asking.
    pub yes: bool,
}

/// How an orchestration ended.
#[derive(Clone, Debug, Serialize)]
pub struct Orchestrated {
    pub project: String,
    pub status: Status,
    /// Why it ended, in one sentence.
    pub now: String,
    pub branch: String,
    /// What this orchestration verified, in that order.
    pub verified: Vec<VerifiedStory>,
    /// Stories that others reported, reviewed or verified while they were in hand here, by number.
    pub alarms: Vec<String>,
    /// Stories that others called done, which a person let stand: nothing of them landed here. By number.
    pub by_others: Vec<String>,
    /// Who waits for a person, and what can be done about it.
    pub waiting: Vec<WaitingStory>,
    pub total_stories: u64,
    pub verified_stories: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct VerifiedStory {
    pub number: String,
    pub title: String,
    pub commit: String,
    pub run: String,
    pub cycles: u32,
}

#[derive(Clone, Debug, Serialize)]
pub struct WaitingStory {
    pub number: String,
    pub title: String,
    pub why: String,
    /// What goes on with it, ready to be typed.
    pub commands: Vec<String>,
}
