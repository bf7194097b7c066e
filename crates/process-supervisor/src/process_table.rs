//! Reads `/proc`: who is whose child, who carries a cookie. It only looks; ending processes is the sweepers' work.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use crate::child_spec::COOKIE_VARIABLE;
use crate::error::SupervisorError;
use crate::identity::ProcessIdentity;

/// Some fifty numbers and a name of at most 16 bytes (64 for a kernel thread).
const LONGEST_STAT: usize = 2048;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// One line of the process table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: u32,
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) threads: u32,
    pub(crate) start_ticks: u64,
}

impl ProcessEntry {
    /// Nothing of it runs any more. Its first thread may be gone while others go on, or end what they were killed in: so long the
    /// process has its files and its locks.
    pub(crate) fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }
}

/// Processes that carry this cookie and are alive: for `doctor` and for tests, where it must be empty.
pub fn escapees(cookie: &str) -> Result<Vec<ProcessIdentity>, SupervisorError> {
    let boot_id = boot_id()?;
    let carriers = all()?.into_iter().filter(|entry| !entry.is_zombie() && carries(entry.pid, cookie));
    Ok(carriers.map(|entry| ProcessIdentity::from_entry(&entry, boot_id.clone())).collect())
}

/// Every process there is now. One that appears or goes while this reads may be missing.
pub(crate) fn all() -> Result<Vec<ProcessEntry>, SupervisorError> {
    let folder =
        std::fs::read_dir("/proc").map_err(|source| SupervisorError::file("read", "/proc", source))?;
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(pids.filter_map(read).collect())
}

pub(crate) fn read(pid: u32) -> Option<ProcessEntry> {
    // One read: the kernel makes the line anew for each, and a keeper reads those of all processes there are.
    let mut line = [0; LONGEST_STAT];
    let length = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse(&line[..length])
}

/// The children of this process's first thread, dead ones included. `None` on a kernel without this list.
///
/// One that ends while the list is read may hide others: a hint where to look, never the proof that nobody is there.
pub(crate) fn own_children() -> Option<Vec<u32>> {
    let list = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).ok()?;
    Some(list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// The members of `table` that descend from one of `roots`, without the roots themselves.
pub(crate) fn descendants(table: &[ProcessEntry], roots: &[u32]) -> Vec<ProcessEntry> {
    let mut family: HashSet<u32> = roots.iter().copied().collect();
    let mut found: Vec<ProcessEntry> = Vec::new();
    loop {
        let before = found.len();
        for entry in table {
            if family.contains(&entry.parent) && family.insert(entry.pid) {
                found.push(entry.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// True when the process was started with `WINDLASS_COOKIE=<cookie>` in its environment.
pub(crate) fn carries(pid: u32, cookie: &str) -> bool {
    let wanted = format!("{COOKIE_VARIABLE}={cookie}");
    std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}

pub(crate) fn boot_id() -> Result<String, SupervisorError> {
    let text =
        std::fs::read_to_string(BOOT_ID).map_err(|source| SupervisorError::file("read", BOOT_ID, source))?;
    Ok(text.trim().to_owned())
}

/// The name stands in parentheses and may itself contain blanks and parentheses, so fields count from the last one.
fn parse(stat: &[u8]) -> Option<ProcessEntry> {
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(stat.split(|byte| *byte == b' ').next()?).ok()?.parse().ok()?;
    let fields: Vec<&str> =
        std::str::from_utf8(stat.get(end_of_name + 1..)?).ok()?.split_whitespace().collect();
    Some(ProcessEntry {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: u32, parent: u32) -> ProcessEntry {
        ProcessEntry { pid, state: 'S', parent, group: pid, session: 1, threads: 1, start_ticks: 0 }
    }

    #[test]
    fn a_process_name_with_blanks_and_parentheses_does_not_shift_the_fields() {
        let line = b"42 (a) b) (c) S 7 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3";
        let parsed = parse(line).unwrap();
        assert_eq!((parsed.pid, parsed.state, parsed.parent), (42, 'S', 7));
        assert_eq!((parsed.group, parsed.session, parsed.start_ticks), (40, 39, 98765));
    }

    #[test]
    fn a_process_whose_first_thread_is_gone_lives_until_the_last_one_is() {
        let line = |threads: u32| {
            format!("42 (a) Z 7 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 98765 1 2 3")
        };
        assert!(!parse(line(2).as_bytes()).unwrap().is_zombie());
        assert!(parse(line(1).as_bytes()).unwrap().is_zombie());
    }

    #[test]
    fn descendants_are_found_in_any_order_and_strangers_are_not() {
        let table = [entry(5, 4), entry(4, 3), entry(3, 1), entry(9, 1), entry(2, 1)];
        let mut pids: Vec<u32> = descendants(&table, &[3]).iter().map(|entry| entry.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [4, 5]);
    }
}
