//! What a person's own checkout holds beyond its commit, before a loop begins on it. Every loop that asks asks here, so that
//! none calls changed what the person's git calls clean.

use crate::fault::git_fault;
use crate::settings::Environment;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Commit, PersonsEnvironment, Repository, SnapshotLimits, TreeId, Uncommitted};

/// Where worktrees of runs are; never a part of what a run looks at.
pub(super) const RUNS: &str = ".orchestrator/";
/// So many of the changed files are named; the rest is counted.
const NAMED_CHANGES: usize = 5;

pub(super) struct OwnCheckout<'a> {
    repository: &'a Repository,
    environment: PersonsEnvironment,
    found: Uncommitted,
}

impl<'a> OwnCheckout<'a> {
    pub(super) fn look(repository: &'a Repository, environment: &Environment) -> Result<Self, Fault> {
        let environment = PersonsEnvironment::of(&environment.0);
        let found = repository.uncommitted(&environment).map_err(git_fault)?;
        Ok(Self { repository, environment, found })
    }

    /// Which files are not as they are committed.
    pub(super) fn changed(&self) -> Vec<String> {
        let changed = self.found.changed.iter().map(ToString::to_string);
        changed.filter(|path| !path.starts_with(RUNS)).collect()
    }

    /// As git would commit all of it.
    pub(super) fn tree(&self, head: &Commit) -> Result<TreeId, Fault> {
        if !self.found.unmerged.is_empty() {
            let paths: Vec<String> = self.found.unmerged.iter().map(ToString::to_string).collect();
            let message = format!("a merge in your checkout is not finished: {}", named(&paths));
            return Err(Fault::new(Code::NotAllowedNow, message)
                .kept("nothing was begun")
                .hint("`--allow-dirty` would take the marks of its conflicts along: finish it, or `git merge --abort`"));
        }
        self.repository.with_uncommitted(head, &self.found, &self.environment).map_err(git_fault)
    }
}

/// Refuses to work in a checkout whose files are not what is committed, byte for byte, though git calls them clean: what is
/// written there is taken as it is, and would be committed so.
pub(super) fn hold_to_the_bytes(repository: &Repository, head: &Commit) -> Result<(), Fault> {
    let checkout = repository.checkout();
    let key = format!("checkout-{}", checkout.repository_key());
    let found = repository.snapshot(checkout.work_tree(), &key, &head.tree, SnapshotLimits::NONE);
    let found = found.map_err(git_fault)?;
    let others = found.changes.iter().map(|change| change.path.to_string());
    let others: Vec<String> = others.filter(|path| !path.starts_with(RUNS)).collect();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!(
        "git calls your checkout clean, but it does not hold what is committed byte for byte: {}",
        named(&others)
    );
    Err(Fault::new(Code::NotAllowedNow, message)
        .kept("nothing was begun")
        .hint("filters, line ends, a sparse checkout and your own ignore rules are not for `--in-place`: leave it out"))
}

/// The first few of them.
fn named(paths: &[String]) -> String {
    let shown: Vec<&str> = paths.iter().take(NAMED_CHANGES).map(String::as_str).collect();
    let more = if paths.len() > shown.len() { ", …" } else { "" };
    shown.join(", ") + more
}

/// A refusal, to which the caller says what can be done.
pub(super) fn dirty(changed: &[String]) -> Fault {
    let count = match changed.len() {
        1 => "1 uncommitted change".to_owned(),
        several => format!("{several} uncommitted changes"),
    };
    Fault::new(Code::NotAllowedNow, format!("your checkout has {count}: {}", named(changed)))
        .kept("nothing was begun")
}
