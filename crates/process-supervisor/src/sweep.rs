//! Buries a child whose keeper was killed: ends everything it left and writes the end that the keeper could not. It
//! never starts anything, and it never touches a process it cannot prove to be the child's.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::bounded_log::{LogFiles, Written};
use crate::cgroup::Cgroup;
use crate::child_end::{ChildEnd, HowEnded};
use crate::clock;
use crate::effect_dir::{ChildRecord, EffectDir, Stream};
use crate::error::SupervisorError;
use crate::process_table::{self, ProcessEntry};

/// A process that survives SIGKILL this long hangs in the kernel, and waiting longer would hang us too.
pub(crate) const SWEEP_LIMIT: Duration = Duration::from_secs(10);
/// So many looks that always find somebody new, and killing is tried without having stopped them all.
pub(crate) const FREEZE_PASSES: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Ends what a dead keeper left running and settles the effect. The end that is already there wins, so this may be
/// repeated; it refuses while a keeper is alive.
pub fn sweep(effect_dir: &Path) -> Result<ChildEnd, SupervisorError> {
    let directory = EffectDir::new(effect_dir)?;
    let lock = directory.try_lock()?;
    if lock.is_none() {
        return Err(SupervisorError::KeeperAlive { path: directory.path().to_owned() });
    }
    sweep_locked(&directory)
}

/// As [`sweep`], for a caller that holds the lock.
pub(crate) fn sweep_locked(directory: &EffectDir) -> Result<ChildEnd, SupervisorError> {
    if let Some(end) = directory.read_end()? {
        return Ok(end);
    }
    let end = if directory.read_keeper()?.is_some() {
        bury(directory)?
    } else {
        // A keeper says who it is before it starts anything, so nothing was done; but that the program cannot be
        // started is not what this means, and whoever waits may try again.
        ChildEnd::without_run(HowEnded::Lost {
            reason: "its keeper ended before it started the program".into(),
        })
    };
    directory.remove_temporaries();
    directory.write_end(&end)?;
    Ok(end)
}

fn bury(directory: &EffectDir) -> Result<ChildEnd, SupervisorError> {
    let Some(spec) = directory.read_spec_if_kept()? else {
        // It was written before the keeper started, and only a power cut takes it away; nobody outlives one.
        return Ok(ChildEnd::without_run(HowEnded::Lost { reason: "the machine went down".into() }));
    };
    let child = directory.read_child()?;
    let group = directory.read_group()?;
    let swept = kill_until_gone(|| remains(child.as_ref(), (&spec.cookie, group.as_ref())))?;
    if let Some(group) = &group {
        group.remove();
    }
    let mut written = [0; 2];
    for (stream, bytes) in Stream::BOTH.into_iter().zip(&mut written) {
        // The log is for people; that it cannot be put together must not keep the effect from being settled.
        let _ = LogFiles::new(directory, stream, &spec.limits).join(Written::Unknown);
        *bytes = std::fs::metadata(directory.log(stream)).map_or(0, |about| about.len());
    }
    Ok(ChildEnd {
        started_ms: child.map_or(0, |record| record.started_ms),
        stdout_bytes: written[0],
        stderr_bytes: written[1],
        leaked_processes: swept.killed,
        surviving_processes: swept.surviving,
        sandbox: spec.sandbox.as_ref().map(|sandbox| sandbox.kind),
        ..ChildEnd::without_run(HowEnded::Lost { reason: "its keeper was killed".into() })
    })
}

/// Everything that provably belongs to the child: itself, its group, whoever carries the cookie or is a member of its control
/// group, and their families.
fn remains(
    child: Option<&ChildRecord>,
    (cookie, group): (&str, Option<&Cgroup>),
) -> Result<Vec<ProcessEntry>, SupervisorError> {
    let members = group.map(Cgroup::members).unwrap_or_default();
    let table = process_table::all()?;
    let me = std::process::id();
    // The number of the child means the child only in its own boot, and while no later process has it.
    let boot_id = process_table::boot_id()?;
    let child = child.filter(|record| {
        let taken = |entry: &ProcessEntry| {
            entry.pid == record.identity.pid && entry.start_ticks != record.identity.start_ticks
        };
        record.identity.boot_id == boot_id && !table.iter().any(taken)
    });
    let belongs = |entry: &ProcessEntry| {
        let recorded = child.is_some_and(|record| {
            let leader = &record.identity;
            let in_group = entry.group == leader.pid && entry.session == record.session;
            entry.pid == leader.pid || (in_group && entry.start_ticks >= leader.start_ticks)
        });
        let listed = members.contains(&entry.pid);
        entry.pid != me && (recorded || listed || process_table::carries(entry.pid, cookie))
    };
    let mut found: Vec<ProcessEntry> = table.iter().filter(|entry| belongs(entry)).cloned().collect();
    let roots: Vec<u32> = found.iter().map(|entry| entry.pid).collect();
    found.extend(process_table::descendants(&table, &roots));
    // The zombies among them are another process's to reap.
    found.retain(|entry| !entry.is_zombie() && entry.pid != me);
    found.sort_by_key(|entry| entry.pid);
    found.dedup();
    Ok(found)
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Swept {
    pub(crate) killed: u32,
    pub(crate) surviving: u32,
}

fn kill_until_gone(
    look: impl Fn() -> Result<Vec<ProcessEntry>, SupervisorError>,
) -> Result<Swept, SupervisorError> {
    let deadline = clock::after(SWEEP_LIMIT);
    let mut met = HashSet::new();
    loop {
        let found = freeze_and_kill(&look, &mut met)?;
        let surviving = u32::try_from(found.len()).unwrap_or(u32::MAX);
        if found.is_empty() || clock::now() >= deadline {
            let met = u32::try_from(met.len()).unwrap_or(u32::MAX);
            return Ok(Swept { killed: met - surviving.min(met), surviving });
        }
        wait_for_one(&found);
    }
}

/// Stops every process that `look` finds until it finds no new one, then kills them all.
///
/// Stopped first, because a bomb refills the places of those who were killed faster than a scan can follow, whereas
/// the stopped ones keep their places and start nothing. Returns what was found in the last look.
pub(crate) fn freeze_and_kill(
    look: impl Fn() -> Result<Vec<ProcessEntry>, SupervisorError>,
    met: &mut HashSet<(u32, u64)>,
) -> Result<Vec<ProcessEntry>, SupervisorError> {
    let mut frozen = HashSet::new();
    let mut passes = 0;
    loop {
        let found = look()?;
        passes += 1;
        let mut fresh = false;
        for entry in &found {
            if frozen.insert((entry.pid, entry.start_ticks)) {
                fresh = true;
                send(entry, Signal::STOP);
            }
            if !entry.is_zombie() {
                met.insert((entry.pid, entry.start_ticks));
            }
        }
        if !fresh || passes == FREEZE_PASSES {
            for entry in &found {
                send(entry, Signal::KILL);
            }
            return Ok(found);
        }
    }
}

/// To this process and to no later one that was given its number: the kernel's handle holds on to whoever has the number, and
/// only then it is looked whether that is still the one that was found. A process that is gone by now, or is not ours to
/// signal, shows in the next look.
pub(crate) fn send(entry: &ProcessEntry, signal: Signal) {
    let Some(pid) = i32::try_from(entry.pid).ok().and_then(Pid::from_raw) else { return };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    let is_still_the_one =
        process_table::read(entry.pid).is_some_and(|now| now.start_ticks == entry.start_ticks);
    if !is_still_the_one {
        return;
    }
    let _ = match handle {
        Ok(handle) => pidfd_send_signal(handle, signal),
        // Too many files are open, or the kernel has no handles.
        Err(Errno::NOSYS | Errno::MFILE | Errno::NFILE | Errno::INVAL | Errno::PERM) => {
            kill_process(pid, signal)
        }
        Err(_) => return,
    };
}

/// Returns when one of them has ended, or after a moment.
fn wait_for_one(found: &[ProcessEntry]) {
    let pid = found.first().and_then(|entry| i32::try_from(entry.pid).ok()).and_then(Pid::from_raw);
    let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
        return;
    };
    let timeout = Timespec::try_from(BETWEEN_LOOKS).expect("a few milliseconds fit");
    // Interrupted or not, the caller looks again.
    let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_with_the_same_number_is_sent_nothing() {
        let mut me = process_table::read(std::process::id()).unwrap();
        me.start_ticks += 1;
        // It would end this test.
        send(&me, Signal::KILL);
    }
}
