//! Whether this machine has disks whose power can be cut: loop devices, ext4, and root who may mount them. Where it has none,
//! these tests are skipped and named. It does not know what the tests do with them.

use anyhow::{Context, Result, bail};

use crate::agent_programs::{SKIPPED_VARIABLE, Skipped};
use crate::commands::{self, Repository};
use crate::console;

/// As test-support calls it.
const NAME: &str = "power-cuts";
/// Makes one, mounts it where nobody else sees it, and takes it away again; what fails says why.
const TRY: &str = "set -e; image=$(mktemp); place=$(mktemp -d); trap 'rm -f $image; rmdir $place' EXIT
truncate -s 16M $image; mkfs.ext4 -q -F $image; mount -o loop $image $place; umount $place";

/// Comes back with the reason why tests must do without it.
pub(crate) fn look(repository: &Repository) -> Option<Skipped> {
    match can_be_cut(repository) {
        Ok(()) => {
            console::say("found disks whose power can be cut");
            None
        }
        Err(error) => {
            let reason = format!("{error:#}");
            console::say(&format!("skipping {NAME}: {reason}"));
            Some(Skipped { name: NAME.to_owned(), reason })
        }
    }
}

fn can_be_cut(repository: &Repository) -> Result<()> {
    let unwanted = commands::environment(SKIPPED_VARIABLE).unwrap_or_default();
    if unwanted.split(',').any(|name| name.trim() == NAME) {
        bail!("{SKIPPED_VARIABLE} names it");
    }
    let mut unshare = repository.program("unshare");
    let tried = commands::capture(unshare.args(["--mount", "--", "sh", "-c", TRY]))
        .context("`unshare` of util-linux is not installed")?;
    if tried.success {
        return Ok(());
    }
    let said = tried.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    bail!("root, loop devices and mkfs.ext4 are needed, and this machine says: {}", said.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever this machine has, the answer is one of the two, and nothing of the attempt is left.
    #[test]
    fn a_machine_without_such_disks_says_why() {
        if let Some(Skipped { name, reason }) = look(&Repository::of_this_build()) {
            assert!(name == NAME && reason.len() > 20, "{reason}");
        }
    }
}
