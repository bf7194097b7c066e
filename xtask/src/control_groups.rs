//! Whether this user may make control groups that limit processes and memory. Where not, the tests of such groups are skipped and
//! named; the limits themselves are tested all the same. It does not know what those tests do.

use anyhow::{Context, Result, bail};

use crate::agent_programs::{SKIPPED_VARIABLE, Skipped};
use crate::commands::{self, Repository};
use crate::console;

/// As test-support calls it.
const NAME: &str = "control-groups";
/// In the unified hierarchy beside or below the own group, else in each of the older ones below it. What fails says why.
const TRY: &str = r#"
limited() { # a directory, and pairs of a file and its value
  mkdir "$1" || return 1
  made=$1; shift; done=0
  while [ $# -gt 0 ]; do echo "$2" > "$made/$1" || done=1; shift 2; done
  rmdir "$made"; return $done
}
name=windlass-try-$$
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
if [ "$unified" ]; then
  for here in "$unified$(dirname "$own")" "$unified$own"; do
    limited "$here/$name" pids.max 100 memory.max 100000000 && exit 0
  done
fi
for pair in pids:pids.max:100 memory:memory.limit_in_bytes:100000000; do
  controller=${pair%%:*}; rest=${pair#*:}
  mount=$(awk -v c="$controller" '$3 == "cgroup" && ("," $4 ",") ~ ("," c ",") { print $2; exit }' /proc/self/mounts)
  own=$(awk -F: -v c="$controller" '("," $2 ",") ~ ("," c ",") { print $3; exit }' /proc/self/cgroup)
  [ "$mount" ] && limited "$mount$own/$name" "${rest%%:*}" "${rest#*:}" || exit 1
done
"#;

/// Comes back with the reason why tests must do without them.
pub(crate) fn look(repository: &Repository) -> Option<Skipped> {
    match can_be_made(repository) {
        Ok(()) => {
            console::say("found control groups that can be made");
            None
        }
        Err(error) => {
            let reason = format!("{error:#}");
            console::say(&format!("skipping {NAME}: {reason}"));
            Some(Skipped { name: NAME.to_owned(), reason })
        }
    }
}

fn can_be_made(repository: &Repository) -> Result<()> {
    let unwanted = commands::environment(SKIPPED_VARIABLE).unwrap_or_default();
    if unwanted.split(',').any(|name| name.trim() == NAME) {
        bail!("{SKIPPED_VARIABLE} names it");
    }
    let mut shell = repository.program("sh");
    let tried = commands::capture(shell.args(["-c", TRY])).context("no shell")?;
    if tried.success {
        return Ok(());
    }
    let line = tried.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("there are none");
    bail!("this user may make none: {}", line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever this machine has, the answer is one of the two.
    #[test]
    fn a_machine_without_control_groups_says_why() {
        if let Some(Skipped { name, reason }) = look(&Repository::of_this_build()) {
            assert!(name == NAME && reason.len() > 20, "{reason}");
        }
    }
}
