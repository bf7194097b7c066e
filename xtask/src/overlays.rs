//! Whether this machine can mount layers over a directory, as runs in layers do: in a mount namespace, with a user namespace for
//! whoever is not root. Where it cannot, those tests are skipped and named. It does not know what they do.

use anyhow::{Context, Result, bail};

use crate::agent_programs::{SKIPPED_VARIABLE, Skipped};
use crate::commands::{self, Repository};
use crate::console;

/// As test-support calls it.
const NAME: &str = "overlays";
/// What fails says why; the mount ends with its namespace.
const TRY: &str = "set -e; top=$(mktemp -d); trap 'rm -rf $top' EXIT
mkdir $top/lower $top/upper $top/work $top/place
unshare $1 sh -ec \"mount -t overlay overlay -o lowerdir=$top/lower,upperdir=$top/upper,workdir=$top/work,userxattr $top/place\"";

/// Comes back with the reason why tests must do without it.
pub(crate) fn look(repository: &Repository) -> Option<Skipped> {
    match can_be_mounted(repository) {
        Ok(()) => {
            console::say("found overlays that can be mounted");
            None
        }
        Err(error) => {
            let reason = format!("{error:#}");
            console::say(&format!("skipping {NAME}: {reason}"));
            Some(Skipped { name: NAME.to_owned(), reason })
        }
    }
}

fn can_be_mounted(repository: &Repository) -> Result<()> {
    let unwanted = commands::environment(SKIPPED_VARIABLE).unwrap_or_default();
    if unwanted.split(',').any(|name| name.trim() == NAME) {
        bail!("{SKIPPED_VARIABLE} names it");
    }
    // Root may do so without a user namespace; for everybody else that is the way.
    let mut said = String::new();
    for namespaces in ["-m", "-Urm"] {
        let mut shell = repository.program("sh");
        let tried = commands::capture(shell.args(["-c", TRY, "try", namespaces])).context("no shell")?;
        if tried.success {
            return Ok(());
        }
        said = tried.stderr;
    }
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    bail!("the kernel and the file system for temporary files do not offer it: {}", line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever this machine has, the answer is one of the two.
    #[test]
    fn a_machine_without_overlays_says_why() {
        if let Some(Skipped { name, reason }) = look(&Repository::of_this_build()) {
            assert!(name == NAME && reason.len() > 20, "{reason}");
        }
    }
}
