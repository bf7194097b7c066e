//! Names one process for ever: a pid alone is reused, so the start time and the boot belong to it.

use serde::{Deserialize, Serialize};

use crate::error::SupervisorError;
use crate::process_table::{self, ProcessEntry};

/// One process, and no later one with the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Clock ticks from boot to the start of the process.
    pub start_ticks: u64,
    pub boot_id: String,
}

impl ProcessIdentity {
    pub fn current() -> Result<Self, SupervisorError> {
        Self::of(std::process::id())
    }

    /// The process that has this pid now; a zombie still has its pid.
    pub fn of(pid: u32) -> Result<Self, SupervisorError> {
        let entry = process_table::read(pid).ok_or_else(|| SupervisorError::Process {
            action: "read the start time of",
            pid,
            source: rustix::io::Errno::SRCH.into(),
        })?;
        Ok(Self::from_entry(&entry, process_table::boot_id()?))
    }

    /// False for a zombie and for a later process that was given the same pid.
    pub fn is_alive(&self) -> bool {
        self.entry().is_some_and(|entry| !entry.is_zombie())
    }

    /// Whether it leads a session of its own. Asked of the process table, because the system call has no answer for a
    /// session whose leader lies outside our pid namespace, as in a container.
    pub fn leads_session(&self) -> bool {
        self.entry().is_some_and(|entry| entry.session == entry.pid)
    }

    /// Its line in the process table, when that is still the same process.
    pub(crate) fn entry(&self) -> Option<ProcessEntry> {
        if process_table::boot_id().is_ok_and(|boot_id| boot_id == self.boot_id) {
            process_table::read(self.pid).filter(|entry| entry.start_ticks == self.start_ticks)
        } else {
            None
        }
    }

    pub(crate) fn from_entry(entry: &ProcessEntry, boot_id: String) -> Self {
        Self { pid: entry.pid, start_ticks: entry.start_ticks, boot_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_under_its_own_identity_only() {
        let me = ProcessIdentity::current().unwrap();
        assert!(me.is_alive());
        assert!(!ProcessIdentity { start_ticks: me.start_ticks + 1, ..me.clone() }.is_alive());
        assert!(!ProcessIdentity { boot_id: "another boot".into(), ..me }.is_alive());
    }
}
