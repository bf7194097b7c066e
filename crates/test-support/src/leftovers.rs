//! Processes that belong to a world: its directory stands in their command line or in their environment. A keeper has
//! an empty environment and an agent may have any command line, so both are looked at.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Leftover {
    pid: i32,
    command: String,
}

impl Leftover {
    pub(crate) fn is_keeper(&self) -> bool {
        self.command.contains(" __keep ")
    }

    /// SIGKILL, if it is still the process that was found; whether it was hit.
    pub(crate) fn kill(&self, root: &Path) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        // Looked at again through a descriptor: the pid may belong to somebody else by now.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        let same =
            leftover(self.pid, root.as_os_str().as_bytes()).is_some_and(|now| now.command == self.command);
        same && pidfd_send_signal(&process, Signal::KILL).is_ok()
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.command)
    }
}

pub(crate) fn find(root: &Path) -> Vec<Leftover> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| u32::try_from(*pid) != Ok(std::process::id()))
        .filter_map(|pid| leftover(pid, root.as_os_str().as_bytes()))
        .collect()
}

/// Kills them, and looks again for what they started meanwhile.
pub(crate) fn end(root: &Path) {
    for _ in 0..20 {
        let found = find(root);
        if found.is_empty() {
            return;
        }
        for process in found {
            if let Some(pid) = Pid::from_raw(process.pid) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// A zombie has neither command line nor environment any more and is no leftover.
fn leftover(pid: i32, root: &[u8]) -> Option<Leftover> {
    let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let (command, environment) = (read("cmdline"), read("environ"));
    if !names(&command, root) && !names(&environment, root) {
        return None;
    }
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(Leftover { pid, command: words.join(" ").trim_end().to_owned() })
}

fn names(text: &[u8], root: &[u8]) -> bool {
    text.windows(root.len()).any(|window| window == root)
}
