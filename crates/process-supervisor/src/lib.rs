//! The only crate that starts processes: kept children (agents and checks that outlive the engine), quick helper
//! programs such as git, and the end of all of them. It must not know what a child is for.
//!
//! See the README beside this crate for the files of an effect directory and the states of a kept child.

mod beside;
mod bounded_log;
mod cgroup;
mod child_end;
mod child_spec;
mod clock;
mod detached;
mod effect_dir;
mod error;
mod family_size;
mod identity;
mod inherited_descriptors;
mod keeper;
mod kept_child;
mod last_line;
mod launch;
mod launcher;
mod leftovers;
mod os_signals;
mod os_text;
mod own_secrets;
mod piped_child;
mod process_exit;
mod process_table;
mod quick_command;
mod redaction;
mod room;
mod sandbox;
mod sweep;

pub use beside::{Aside, aside, each_side_by_side, side_by_side};
pub use child_end::{ChildEnd, EndedBy, HowEnded, NotStartedKind};
pub use child_spec::{COOKIE_VARIABLE, ChildSpec, ChildStdin, Limits, OverlayMount};
pub use detached::{DetachedCommand, DetachedGroup, DetachedStdio, spawn_detached};
pub use error::SupervisorError;
pub use identity::ProcessIdentity;
pub use keeper::keep;
pub use kept_child::{Found, KeeperProgram, KeptChild, find, forget, start};
pub use last_line::last_line;
pub use launcher::launch;
pub use leftovers::remove_leftovers;
pub use os_signals::{Shutdown, ShutdownRequests, on_shutdown_request, report_files_that_may_not_grow};
pub use own_secrets::keep_own_secrets;
pub use piped_child::{ExitWatch, PipedChild, PipedCommand, Pipes};
pub use process_table::escapees;
pub use quick_command::{QuickCommand, QuickError, QuickOutput};
pub use redaction::{Redaction, Secrets};
pub use sandbox::{
    Sandbox, SandboxKind, SandboxMeans, landlock_version, may_look_into_others, sandbox_means, try_overlay,
};
pub use sweep::sweep;
