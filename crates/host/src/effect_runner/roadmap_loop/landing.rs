//! Brings a finished commit home to the base branch, the user's checkout with it, and finds one that is there already.
//! Local changes are never overwritten. Doing it twice changes nothing.

use super::super::land::in_the_way;
use super::site::{Site, Step, held, refused};
use std::time::Duration;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_git_workspaces::{Commit, CommitId, FastForward, NotFastForwarded};
use windlass_protocols::TreeId;
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneOutcome};

/// An editor's or a prompt's git holds the index for less than this all together.
const BUSY_TRIES: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(100);

/// A commit of the base branch since `fork` that says it is the one asked for: whoever made it, there is never a second.
pub(super) fn earlier(
    site: &Site<'_>,
    base_branch: &str,
    (key, value): (&str, &str),
    fork: &CommitId,
) -> Step<Option<Commit>> {
    let Some(tip) = site.tip(base_branch)? else {
        return refused(format!("the base branch {base_branch} is gone"));
    };
    let found = site.repository.trailers(key, &tip, fork)?;
    let found = found.into_iter().find(|(_, text)| text == value);
    found.map(|(id, _)| site.known(&id)).transpose()
}

/// What is to be done about a commit that was made: brought home, unless another one is home already. Where it cannot even
/// be made any more, the one that is home still counts.
pub(super) fn bring_home(
    site: &Site<'_>,
    base_branch: &str,
    earlier: Option<Commit>,
    made: Step<(Commit, Commit)>,
) -> Step<PlaneOutcome> {
    let (base, commit) = match (made, &earlier) {
        (Ok((base, commit)), None) => (base, commit),
        (Ok((base, commit)), Some(earlier)) if *earlier == commit => (base, commit),
        (_, Some(earlier)) => return Ok(merged(earlier)),
        (Err(stop), None) => return Err(stop),
    };
    let reference = format!("refs/heads/{base_branch}");
    if site.repository.current_branch()?.as_deref() != Some(reference.as_str()) {
        let why = format!("your checkout is no longer on {base_branch}; switch back to it");
        return held(Held::InTheWay { why });
    }
    match move_checkout(site, &base, &commit)? {
        FastForward::Done => Ok(merged(&commit)),
        FastForward::Refused(NotFastForwarded::HeadMoved { .. } | NotFastForwarded::BranchMoved) => {
            held(Held::BaseMoved)
        }
        FastForward::Refused(NotFastForwarded::IndexBusy) => {
            held(Held::InTheWay { why: index_is_held(site) })
        }
        FastForward::Refused(reason) => held(Held::InTheWay { why: in_the_way(&reason) }),
    }
}

/// The state file of the checkout tells what is live there, and stays.
fn move_checkout(site: &Site<'_>, base: &Commit, commit: &Commit) -> Step<FastForward> {
    patiently(|| Ok(site.repository.fast_forward_keeping(base, commit, &[STATE_FILE])?))
}

/// Another git is done with the index in a moment; only one that keeps it is told of.
#[expect(clippy::disallowed_methods, reason = "another program gives its lock back without telling anybody")]
fn patiently(mut attempt: impl FnMut() -> Step<FastForward>) -> Step<FastForward> {
    for _ in 0..BUSY_TRIES {
        let moved = attempt()?;
        if moved != FastForward::Refused(NotFastForwarded::IndexBusy) {
            return Ok(moved);
        }
        std::thread::sleep(BUSY_WAIT);
    }
    attempt()
}

fn index_is_held(site: &Site<'_>) -> String {
    let checkout = site.repository.checkout();
    let lock = checkout.git_dir().join("index.lock");
    let shown = lock.strip_prefix(checkout.work_tree()).unwrap_or(&lock).display();
    format!("another git keeps the index of your checkout locked; if none is at work, remove {shown}")
}

fn merged(commit: &Commit) -> PlaneOutcome {
    PlaneOutcome::Merged {
        commit: windlass_protocols::CommitId::new(commit.id.as_str()),
        tree: TreeId::new(commit.tree.as_str()),
    }
}

/// Where a branch left the base.
pub(super) fn fork_of(site: &Site<'_>, branch: &str, head: &Commit, base: &Commit) -> Step<Commit> {
    match site.repository.merge_base(&head.id, &base.id)? {
        Some(fork) => site.known(&fork.id),
        None => refused(format!("{branch} has no history in common with the base branch")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_busy_for_a_moment_is_waited_for() {
        let mut tries = 0;
        let moved = patiently(|| {
            tries += 1;
            Ok(if tries < 4 { FastForward::Refused(NotFastForwarded::IndexBusy) } else { FastForward::Done })
        });
        assert!(matches!(moved, Ok(FastForward::Done)), "{moved:?}");
        assert_eq!(tries, 4);
    }
}
