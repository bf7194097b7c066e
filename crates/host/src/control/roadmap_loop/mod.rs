//! What people ask of roadmap loops: set one up, look at it, migrate it, run it.

mod checkpoint;
pub(crate) mod closeout;
mod earlier;
pub(crate) mod init;
pub(crate) mod inspect;
mod last_good;
mod left_behind;
pub(crate) mod look;
pub(crate) mod migrate;
mod on_disk;
pub(crate) mod overtake;
mod reasons;
pub(crate) mod report;
pub(crate) mod start;
pub(crate) mod superseded;
pub(crate) mod verify;

use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Repository;

/// A control plane that nothing can be done with as it is.
fn unusable(why: impl Into<String>) -> Fault {
    Fault::new(Code::PlaneUnusable, why).hint("`windlass roadmap inspect` lists everything at once")
}

struct Unheard;

impl Watcher for Unheard {
    fn hear(&self, _: &Event) {}
}

/// Does something that takes a moment while nobody else drives the repository.
async fn hold_briefly<T>(
    host: &Host,
    repository: &Repository,
    doing: &str,
    work: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let common = repository.checkout().common_dir().to_string_lossy().into_owned();
    let owner = Owner::this_process("", doing)?;
    let held = hold_repository(host, &common, &owner, IfHeld::GiveUp, &Unheard).await?;
    let outcome = work();
    held.release(host, outcome).await
}
