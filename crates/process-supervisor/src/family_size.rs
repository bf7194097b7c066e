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
    let held = |of: fn(u32) -> u64| alive().map(|entry| of(entry.pid)).fold(0, u64::saturating_add);
    // The exact look is slow; the quick one never says less.
    (held(at_most) > most && held(share_of) > most).then_some(EndedBy::MemoryLimit)
}

/// What it has in memory for itself and together with others, who each have all of that; pages of files on a disk do not
/// count, because the kernel can drop them.
fn at_most(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    kilobytes(&status, &["RssAnon:", "RssShmem:"])
}

/// Of memory that several have, each has its part, so that it counts once. Where the kernel does not tell, each has all of it.
fn share_of(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    if rollup.contains("Pss_Shmem:") {
        kilobytes(&rollup, &["Pss_Anon:", "Pss_Shmem:"])
    } else {
        at_most(pid)
    }
}

fn kilobytes(text: &str, names: &[&str]) -> u64 {
    let of_line = |line: &str| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    text.lines().filter_map(of_line).fold(0, u64::saturating_add).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_shared_counts_beside_what_a_process_has_for_itself() {
        let status = "VmRSS:\t900 kB\nRssAnon:\t     100 kB\nRssFile:\t 700 kB\nRssShmem:\t     30 kB\n";
        assert_eq!(kilobytes(status, &["RssAnon:", "RssShmem:"]), 130 * 1024);
        let me = std::process::id();
        assert!(share_of(me) > 0 && share_of(me) <= at_most(me).saturating_mul(2));
    }
}
