//! How many processes descend from this one and how much memory they hold, for the limits on both. Looks only.

use std::fs;

use crate::child_end::EndedBy;
use crate::child_spec::Limits;
use crate::process_table;

/// Which limit the family below this process has passed, if one.
pub(crate) fn passed(limits: &Limits) -> Option<EndedBy> {
    let table = process_table::all().ok()?;
    let family = process_table::descendants(&table, &[std::process::id()]);
    let alive = || family.iter().filter(|entry| !entry.is_zombie());
    let count = u64::try_from(alive().count()).unwrap_or(u64::MAX);
    if limits.processes.is_some_and(|most| count > most) {
        return Some(EndedBy::ProcessLimit);
    }
    let most = limits.memory_bytes?;
    let held: u64 = alive().map(|entry| memory_of(entry.pid)).fold(0, u64::saturating_add);
    (held > most).then_some(EndedBy::MemoryLimit)
}

/// What it holds for itself; pages of files do not count, because the kernel can drop them.
fn memory_of(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let held = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = held.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}
