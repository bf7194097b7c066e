//! Which of the two this machine offers, found out by trying, and the reason where one is missing.

use std::path::Path;
use std::time::Duration;

use super::{SandboxKind, landlock};
use crate::launcher::LAUNCH_COMMAND;
use crate::quick_command::QuickCommand;

/// What the kernel offers, or why it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxMeans {
    /// Its version.
    pub landlock: Result<u32, String>,
    pub namespaces: Result<(), String>,
}

impl SandboxMeans {
    /// Landlock needs least; it comes first.
    pub fn first(&self) -> Option<SandboxKind> {
        if self.landlock.is_ok() {
            Some(SandboxKind::Landlock)
        } else {
            self.namespaces.is_ok().then_some(SandboxKind::Namespaces)
        }
    }

    /// For a program with a sandbox of its own, which Landlock would keep from being built.
    pub fn first_that_nests(&self) -> Option<SandboxKind> {
        if self.namespaces.is_ok() { Some(SandboxKind::Namespaces) } else { self.first() }
    }
}

/// `program` is ours: it is asked to enter a namespace and end.
pub fn sandbox_means(program: &Path) -> SandboxMeans {
    SandboxMeans { landlock: landlock_version(), namespaces: try_namespaces(program) }
}

/// As [`sandbox_means`], without a process where Landlock is there.
pub fn landlock_version() -> Result<u32, String> {
    match landlock::abi() {
        Ok(abi) if abi >= landlock::OLDEST_ABI => tried().map(|()| abi),
        Ok(abi) => Err(format!("Landlock version {abi} is too old, {} is needed", landlock::OLDEST_ABI)),
        Err(error) => Err(format!("the kernel has no Landlock, or it is switched off: {error}")),
    }
}

/// On a thread that ends with its fence: there can be no more than a few around each other.
fn tried() -> Result<(), String> {
    let trial = std::thread::Builder::new().spawn(|| landlock::restrict_this_thread(std::iter::empty()));
    // Where there is no room for a thread the kernel is believed: a step that then cannot be fenced is not started, while one
    // that is thought to need no fence would be.
    let Ok(trial) = trial else { return Ok(()) };
    match trial.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("Landlock refuses: {error}")),
        Err(_) => Err("Landlock could not be tried".to_owned()),
    }
}

fn try_namespaces(program: &Path) -> Result<(), String> {
    let command = QuickCommand::new(program, "/").arg(LAUNCH_COMMAND).deadline(Duration::from_secs(10));
    match command.run() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
