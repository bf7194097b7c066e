//! What a child may write, as data, and the kernel's means to hold it to that. It must not know who the child is: which
//! places are whose is the caller's policy.
//!
//! Landlock is asked first, because it needs nothing but a thread; a user and mount namespace is the second choice.

mod capabilities;
pub(crate) mod landlock;
pub(crate) mod namespaces;
pub(crate) mod overlay_mount;
mod probe;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::os_text;

pub use capabilities::may_look_into_others;
pub use overlay_mount::try_overlay;
pub use probe::{SandboxMeans, landlock_version, sandbox_means};

/// The fence around one child: whatever is not below one of these places it can read and not write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    pub kind: SandboxKind,
    /// Directories with all below them, and single files. A place that is not there is passed over: nobody can need it.
    #[serde(with = "os_text::paths")]
    pub writable: Vec<PathBuf>,
}

/// By which of the kernel's means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    Landlock,
    /// A user namespace with a mount namespace in which everything else is mounted read-only.
    Namespaces,
}

impl SandboxKind {
    pub(crate) const ALL: [Self; 2] = [Self::Landlock, Self::Namespaces];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        }
    }
}

/// Devices that belong to nobody; without them hardly a shell script runs.
pub(crate) const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];
