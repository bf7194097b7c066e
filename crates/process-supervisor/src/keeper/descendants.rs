//! Ends and reaps everything that descends from the keeper. As their subreaper it inherits every process whose parent
//! ended, however it was detached, so the family below it is complete.

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use tokio::signal::unix::Signal as SignalStream;

use crate::clock;
use crate::process_table::{self, ProcessEntry};
use crate::sweep::{FREEZE_PASSES, SWEEP_LIMIT, Swept, freeze_and_kill, send};

/// The death of a grandchild sends us no signal until it is ours, so look again now and then.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Everything below this process that is alive, except `child`, which has exited. Remembered to be counted as leaked.
pub(super) fn living_besides(child: Pid) -> HashSet<(u32, u64)> {
    // With the exit of the child all it left became ours. Reading the whole process table to find nobody would be the
    // most expensive thing a keeper does.
    let only_child = [child.as_raw_nonzero().get().unsigned_abs()];
    if process_table::own_children().is_some_and(|children| children == only_child) {
        return HashSet::new();
    }
    let alive = look().into_iter().filter(|entry| !entry.is_zombie());
    alive
        .filter(|entry| i32::try_from(entry.pid) != Ok(child.as_raw_nonzero().get()))
        .map(|entry| (entry.pid, entry.start_ticks))
        .collect()
}

/// Kills and reaps until nothing is left. `met` are those already found after the exit of the child.
pub(super) async fn end_all(mut met: HashSet<(u32, u64)>, child_ended: &mut SignalStream) -> Swept {
    let deadline = clock::after(SWEEP_LIMIT);
    if reap_all_ended() == Left::Nobody {
        return Swept { killed: u32::try_from(met.len()).unwrap_or(u32::MAX), surviving: 0 };
    }
    loop {
        freeze_direct_children();
        let found = freeze_and_kill(|| Ok(look()), &mut met).unwrap_or_default();
        let left = match reap_all_ended() {
            Left::Somebody => u32::try_from(found.len()).unwrap_or(u32::MAX).max(1),
            Left::Nobody => 0,
        };
        if left == 0 || clock::now() >= deadline {
            let met = u32::try_from(met.len()).unwrap_or(u32::MAX);
            return Swept { killed: met - left.min(met), surviving: left };
        }
        // Either way the next thing is to look again.
        let _ = tokio::time::timeout(BETWEEN_LOOKS, child_ended.recv()).await;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Somebody,
    Nobody,
}

fn reap_all_ended() -> Left {
    loop {
        match reap_one() {
            Reaped::One(..) => {}
            Reaped::NoneEnded => return Left::Somebody,
            // The proof that nobody is left: a look at /proc can miss a process that is just being born.
            Reaped::NoChildren => return Left::Nobody,
        }
    }
}

pub(super) enum Reaped {
    One(Pid, WaitStatus),
    NoneEnded,
    NoChildren,
}

/// Reaps one ended child of this process, if there is one.
pub(super) fn reap_one() -> Reaped {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => return Reaped::One(pid, status),
            Ok(None) => return Reaped::NoneEnded,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Reaped::NoChildren,
        }
    }
}

/// Stops our own children without reading the whole process table. A process that forks and exits all the time is gone
/// under its old pid before a full look ends; but with each exit its successor becomes our child, and this is fast.
fn freeze_direct_children() {
    let mut frozen = HashSet::new();
    for _ in 0..FREEZE_PASSES {
        // A kernel without this file leaves us with the full look, which ends all but the fastest.
        let Some(children) = process_table::own_children() else { return };
        let mut fresh = false;
        for pid in children {
            if frozen.insert(pid) {
                fresh = true;
                if let Some(child) = process_table::read(pid) {
                    send(&child, Signal::STOP);
                }
            }
        }
        if !fresh {
            return;
        }
    }
}

/// Zombies included: one that is not ours yet has a parent that must still go.
fn look() -> Vec<ProcessEntry> {
    // Without /proc nothing can be found; the group was killed by its id before.
    process_table::all()
        .map(|table| process_table::descendants(&table, &[std::process::id()]))
        .unwrap_or_default()
}
