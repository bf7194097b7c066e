//! Who holds a repository or a run, and whether that process still lives. A lease without a living holder is taken over
//! and said; a living holder is named and left alone.

use crate::clock::SystemClock;
use crate::fault::{bug, journal_fault, supervisor_fault};
use crate::host::Host;
use crate::repository_lock::{Asked, Record, RepositoryLock, Standing};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Clock, Holder, Journal, Lease, LeaseAnswer};
use windlass_journal::SqliteJournal;
use windlass_process_supervisor::ProcessIdentity;

/// How often a held repository is asked for again. Only who waits for it waits for this.
const WAIT: Duration = Duration::from_millis(250);
/// How often again where nobody says who it is. A new holder says it at once, and a killed one has the lock until its last thread
/// is through with what it was writing: neither is a reason to send anybody away.
const UNSAID: u32 = 12;

/// What to do about a repository that another process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfHeld {
    GiveUp,
    Wait,
}

impl IfHeld {
    pub(crate) const fn waiting(wait: bool) -> Self {
        if wait { Self::Wait } else { Self::GiveUp }
    }
}

/// A repository in this process's hands: locked for every process, leased for those with the same journal.
pub(crate) struct HeldRepository {
    pub(crate) owner: Owner,
    lock: RepositoryLock,
    lease: Lease,
}

impl HeldRepository {
    /// A sentence where somebody had taken the lock's file away; a fault where it is too late to put it back.
    pub(crate) fn look_after(&self) -> Result<Option<String>, Fault> {
        Ok(match self.lock.look_after()? {
            Standing::AsItWas => None,
            Standing::PutBack => {
                Some("somebody deleted the lock of the repository; it was put back".to_owned())
            }
        })
    }

    /// Gives it back whatever came out; the first thing that went wrong is what is told.
    pub(crate) async fn release<T>(self, host: &Host, outcome: Result<T, Fault>) -> Result<T, Fault> {
        let given_back = host.journal.release(&self.lease).await.map_err(journal_fault);
        drop(self.lock);
        let outcome = outcome?;
        given_back.map(|()| outcome)
    }
}

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
                let known = is_recorded(journal, &gone.run).await?;
                notice = Some(taken_over(&gone, owner, known));
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

/// A holder that was killed before its first fact left no run that anybody could ask for.
async fn is_recorded(journal: &SqliteJournal, run: &str) -> Result<bool, Fault> {
    let runs = journal.runs().await.map_err(journal_fault)?;
    Ok(runs.iter().any(|head| head.run.as_str() == run))
}

/// Names the run that was cut off, unless it is the one that goes on now.
fn taken_over(gone: &Owner, by: &Owner, recorded: bool) -> String {
    let Owner { process, run, doing } = gone;
    let its_run = if run.is_empty() || *run == by.run {
        String::new()
    } else if !recorded {
        format!("; its run {run} had not begun")
    } else {
        format!("; its run {run} was cut off: `windlass explain {run}` says how it can go on")
    };
    format!("process {} ({doing}) held this and is gone; taken over{its_run}", process.pid)
}

/// Takes the repository, or says who has it. A dead holder's place is taken, and that is said.
pub(crate) async fn hold_repository(
    host: &Host,
    common_dir: &str,
    owner: &Owner,
    if_held: IfHeld,
    watcher: &dyn Watcher,
) -> Result<HeldRepository, Fault> {
    let (mut said, mut unsaid) = (false, 0);
    loop {
        let fault = match ask(host, common_dir, owner, watcher).await? {
            Ok(held) => return Ok(held),
            Err(HeldBy::NobodyKnown) if if_held == IfHeld::GiveUp && unsaid < UNSAID => {
                unsaid += 1;
                tokio::time::sleep(WAIT).await;
                continue;
            }
            Err(held) if if_held == IfHeld::GiveUp => return Err(held.into_fault()),
            Err(held) => held.into_fault(),
        };
        if !said {
            watcher.hear(&Event::Notice { text: format!("waiting: {}", fault.message) });
            said = true;
        }
        tokio::time::sleep(WAIT).await;
    }
}

/// Why a repository was not to be had.
enum HeldBy {
    Somebody(Fault),
    NobodyKnown,
}

impl HeldBy {
    fn into_fault(self) -> Fault {
        match self {
            Self::Somebody(fault) => fault,
            Self::NobodyKnown => Fault::new(
                Code::RepositoryHeld,
                "the repository is held by another process, which has not said yet who it is",
            )
            .kept("nothing was changed")
            .hint("ask again in a moment"),
        }
    }
}

async fn ask(
    host: &Host,
    common_dir: &str,
    owner: &Owner,
    watcher: &dyn Watcher,
) -> Result<Result<HeldRepository, HeldBy>, Fault> {
    let key = repository_key(common_dir);
    let lock = match RepositoryLock::ask(Path::new(common_dir), &Record::of(owner, &host.state))? {
        Asked::Granted(lock) => lock,
        Asked::Held(record) => {
            // Our own journal knows best who it is; the file has the words of a process that may use another one.
            let leased = host.journal.holder(&key).await.map_err(journal_fault)?;
            let leased = leased.filter(|holder| Owner::of(holder).is_some_and(|owner| owner.lives()));
            return Ok(Err(match (leased, record) {
                (Some(holder), _) => HeldBy::Somebody(held_fault("the repository", &holder)),
                (None, Some(record)) => HeldBy::Somebody(locked_fault(host, &record)),
                (None, None) => HeldBy::NobodyKnown,
            }));
        }
    };
    Ok(match hold(&host.journal, &key, owner).await? {
        Ok((lease, notice)) => {
            if let Some(text) = notice {
                watcher.hear(&Event::Notice { text });
            }
            Ok(HeldRepository { owner: owner.clone(), lock, lease })
        }
        Err(holder) => Err(HeldBy::Somebody(held_fault("the repository", &holder))),
    })
}

pub(crate) fn held_fault(what: &str, holder: &Holder) -> Fault {
    let (who, run) = match Owner::of(holder) {
        Some(owner) => (format!("process {} ({})", owner.process.pid, owner.doing), owner.run),
        None => (holder.owner.clone(), String::new()),
    };
    let since = crate::narrate::local_time(holder.since.0);
    Fault::new(Code::RepositoryHeld, format!("{what} is held by {who} since {since}"))
        .kept("nothing was changed")
        .hint(how_to_look(&run, ""))
}

/// Not every holder drives a run.
fn how_to_look(run: &str, variable: &str) -> String {
    if run.is_empty() {
        return "wait until it is done".to_owned();
    }
    format!(
        "look at it with `{variable}windlass log {run} -f`, or end it with `{variable}windlass stop {run}`"
    )
}

/// The holder is not in our journal: it uses another one, or comes from another machine.
fn locked_fault(host: &Host, record: &Record) -> Fault {
    let Owner { process, run, doing } = &record.owner;
    let since = crate::narrate::local_time(record.since_ms);
    let state = record.state_directory.display();
    let its_run = if run.is_empty() { String::new() } else { format!("its run is {run}, ") };
    let message = format!(
        "the repository is held by process {} ({doing}) on {} since {since}; {its_run}in the state directory {state}",
        process.pid, record.host
    );
    // Both places may have the same name: two machines, or two users who share a directory.
    let variable = if record.state_directory == host.state.path() {
        String::new()
    } else {
        format!("WINDLASS_STATE_DIR={state} ")
    };
    Fault::new(Code::RepositoryHeld, message).kept("nothing was changed").hint(how_to_look(run, &variable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Access;
    use crate::settings::Environment;
    use std::future::poll_fn;
    use std::task::Poll;

    struct Nobody;

    impl Watcher for Nobody {
        fn hear(&self, _: &Event) {}
    }

    #[test]
    fn a_lock_whose_holder_is_known_to_nobody_is_asked_for_again() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("state").to_string_lossy().into_owned();
        let environment = Environment([("WINDLASS_STATE_DIR".to_owned(), state)].into());
        let host = Host::open(environment, "windlass".into(), Access::Look).unwrap();
        let common_dir = place.path().to_string_lossy().into_owned();
        let owner = Owner::this_process("a-run", "windlass resume").unwrap();
        let mut killed = owner.clone();
        killed.process.start_ticks += 1;
        let left = RepositoryLock::ask(place.path(), &Record::of(&killed, &host.state)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let asking = hold_repository(&host, &common_dir, &owner, IfHeld::GiveUp, &Nobody);
            let mut asking = std::pin::pin!(asking);
            // Asked once, while the last thread of the killed one still has it.
            assert!(poll_fn(|context| Poll::Ready(asking.as_mut().poll(context).is_pending())).await);
            drop(left);
            assert_eq!(asking.await.map(|held| held.owner.run).unwrap(), "a-run");
        });
    }
}
