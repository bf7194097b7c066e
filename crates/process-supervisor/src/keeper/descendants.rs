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

/// Everything below this process that is alive, except `child`. Remembered to be counted as leaked.
pub(super) fn living_besides(child: Pid) -> HashSet<(u32, u64)> {
    let alive = look().into_iter().filter(|entry| !entry.is_zombie());
    alive
        .filter(|entry| i32::try_from(entry.pid) != Ok(child.as_raw_nonzero().get()))
        .map(|entry| (entry.pid, entry.start_ticks))
        .collect()
}

/// Kills and reaps until nothing is left. `met` are those already found after the exit of the child.
pub(super) async fn end_all(mut met: HashSet<(u32, u64)>, child_ended: &mut SignalStream) -> Swept {
    let deadline = clock::after(SWEEP_LIMIT);
    loop {
        freeze_direct_children();
        let found = freeze_and_kill(|| Ok(look()), &mut met).unwrap_or_default();
        let left = loop {
            match reap_one() {
                Reaped::One(..) => {}
                Reaped::NoneEnded => break u32::try_from(found.len()).unwrap_or(u32::MAX).max(1),
                // The proof that nobody is left: a look at /proc can miss a process that is just being born.
                Reaped::NoChildren => break 0,
            }
        };
        if left == 0 || clock::now() >= deadline {
            let met = u32::try_from(met.len()).unwrap_or(u32::MAX);
            return Swept { killed: met - left.min(met), surviving: left };
        }
        // Either way the next thing is to look again.
        let _ = tokio::time::timeout(BETWEEN_LOOKS, child_ended.recv()).await;
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
    let list = format!("/proc/self/task/{}/children", std::process::id());
    let mut frozen = HashSet::new();
    for _ in 0..FREEZE_PASSES {
        // A kernel without this file leaves us with the full look, which ends all but the fastest.
        let Ok(children) = std::fs::read_to_string(&list) else {
            return;
        };
        let mut fresh = false;
        for pid in children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()) {
            if frozen.insert(pid) {
                fresh = true;
                send(pid, Signal::STOP);
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
