//! Who holds a repository or a run, and whether that process still lives. A lease without a living holder is taken over
//! and said; a living holder is named and left alone.

use crate::clock::SystemClock;
use crate::fault::{bug, journal_fault, supervisor_fault};
use serde::{Deserialize, Serialize};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Clock, Holder, Journal, Lease, LeaseAnswer};
use windlass_journal::SqliteJournal;
use windlass_process_supervisor::ProcessIdentity;

/// The holder's own words, kept with the lease.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) process: ProcessIdentity,
    pub(crate) run: String,
    pub(crate) doing: String,
}

impl Owner {
    pub(crate) fn this_process(run: &str, doing: &str) -> Result<Self, Fault> {
        let process = ProcessIdentity::current().map_err(supervisor_fault)?;
        Ok(Self { process, run: run.to_owned(), doing: doing.to_owned() })
    }

    pub(crate) fn of(holder: &Holder) -> Option<Self> {
        serde_json::from_str(&holder.owner).ok()
    }

    pub(crate) fn lives(&self) -> bool {
        self.process.is_alive()
    }
}

pub(crate) fn repository_key(common_dir: &str) -> String {
    format!("repository {common_dir}")
}

/// The lease, and a sentence where it was taken from a dead process.
pub(crate) async fn hold(
    journal: &SqliteJournal,
    key: &str,
    owner: &Owner,
) -> Result<Result<(Lease, Option<String>), Holder>, Fault> {
    let text = serde_json::to_string(owner).map_err(|error| bug(error.to_string()))?;
    let now = || SystemClock.now();
    let mut answer = journal.acquire(key, &text, now()).await.map_err(journal_fault)?;
    let mut notice = None;
    // Another process may be taking the same dead holder's place; whoever comes second finds a living one.
    while let LeaseAnswer::Held(holder) = &answer {
        match Owner::of(holder) {
            Some(gone) if !gone.lives() => {
                notice = Some(format!(
                    "process {} ({}) held this and is gone; taken over",
                    gone.process.pid, gone.doing
                ));
                answer = journal.take_over(holder, &text, now()).await.map_err(journal_fault)?;
            }
            _ => break,
        }
    }
    Ok(match answer {
        LeaseAnswer::Granted(lease) => Ok((lease, notice)),
        LeaseAnswer::Held(holder) => Err(holder),
    })
}

pub(crate) fn held_fault(what: &str, holder: &Holder) -> Fault {
    let (who, run) = match Owner::of(holder) {
        Some(owner) => (format!("process {} ({})", owner.process.pid, owner.doing), owner.run),
        None => (holder.owner.clone(), "RUN".to_owned()),
    };
    let since = crate::narrate::local_time(holder.since.0);
    Fault::new(Code::RepositoryHeld, format!("{what} is held by {who} since {since}"))
        .kept("nothing was changed")
        .hint(format!("look at it with `windlass log {run} -f`, or end it with `windlass stop {run}`"))
        .hint("`windlass run --wait` waits for it")
}
