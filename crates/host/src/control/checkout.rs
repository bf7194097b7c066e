//! A place for a person to stand in: an ordinary worktree of any tree that a run stood at. The run itself is not touched.

use super::find;
use super::standings::{self, At, Standing};
use crate::context::{RunContext, git_commit, git_tree};
use crate::effect_runner::author;
use crate::fault::{bug, git_fault};
use crate::host::Host;
use std::path::PathBuf;
use windlass_control_api::keeping::{CheckedOut, CheckoutRun};
use windlass_control_api::{Code, Fault};
use windlass_engine::{RunHead, Stored};
use windlass_git_workspaces::{Commit, CommitRequest, GitError, Moment};
use windlass_protocols::Run;

pub(crate) async fn checkout(host: &Host, command: CheckoutRun) -> Result<CheckedOut, Fault> {
    let (head, stored, run, label) = named(host, &command.run).await?;
    let context = find::context(host, &head.run, find::protocol(&run)?)?;
    let (label, commit) = commit_for(&context, (&head, &stored, &run), label.as_deref())?;
    let shown: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' }).collect();
    let directory = command.directory.unwrap_or_else(|| {
        PathBuf::from(context.run_dir()).join("worktrees").join(format!("checkout-{shown}"))
    });
    let repository = &context.repository;
    // It may lie inside the user's checkout, where nobody wants to see it in `git status`.
    crate::effect_runner::exclude_run_directory(&context)?;
    let place = (directory.as_path(), command.branch.as_deref());
    let worktree = repository.check_out(place, head.run.as_str(), &commit).map_err(in_the_way)?;
    Ok(CheckedOut {
        run: head.run.to_string(),
        round: label,
        worktree: worktree.path().to_string_lossy().into_owned(),
        commit: commit.id.to_string(),
        tree: commit.tree.to_string(),
        branch: command.branch,
    })
}

fn in_the_way(error: GitError) -> Fault {
    match error {
        GitError::NotOurs { .. } | GitError::BranchTaken { .. } => {
            Fault::new(Code::NotAllowedNow, error.to_string())
                .kept("what stands there; nothing was changed")
                .hint("name another directory: `windlass checkout RUN DIR`, or another branch")
        }
        error => git_fault(error),
    }
}

/// A run by any of its names, and what stands behind the last colon if that is none of them.
async fn named(host: &Host, text: &str) -> Result<(RunHead, Vec<Stored>, Run, Option<String>), Fault> {
    let unknown = match find::run(host, text).await {
        Ok((head, stored, run)) => return Ok((head, stored, run, None)),
        Err(fault) => fault,
    };
    let Some((name, label)) = text.rsplit_once(':').filter(|(name, _)| !name.is_empty()) else {
        return Err(unknown);
    };
    let (head, stored, run) = find::run(host, name).await?;
    Ok((head, stored, run, Some(label.to_owned())))
}

/// What is meant, as a commit of the user's repository.
fn commit_for(
    context: &RunContext,
    (head, stored, run): (&RunHead, &[Stored], &Run),
    label: Option<&str>,
) -> Result<(String, Commit), Fault> {
    let repository = &context.repository;
    let place = find::protocol(run)?.place();
    let base = || repository.take_in(&git_commit(&place.base)?).map_err(git_fault);
    if matches!(label, Some("base" | "0")) {
        return Ok(("base".to_owned(), base()?));
    }
    let standings = standings::of(&head.run, stored)?;
    let Standing { label, at } = standings::find(&standings, label)?;
    let commit = match at {
        At::Commit(commit, _) => repository.take_in(&git_commit(commit)?).map_err(git_fault)?,
        At::Tree(tree) => {
            let (base, tree) = (base()?, git_tree(tree)?);
            // A moment of the run, so that asking twice is the same commit.
            let seconds = i64::try_from(head.started_at.0 / 1000).map_err(|error| bug(error.to_string()))?;
            let author = author(&context.author).map_err(git_fault)?;
            let message = format!(
                "{}: as of {label}\n\nWindlass-Run: {}\nWindlass-Tree: {tree}",
                place_task(context),
                head.run
            );
            let request = CommitRequest {
                tree: &tree,
                parents: std::slice::from_ref(&base.id),
                message: &message,
                author: &author,
                committer: &author,
                time: Moment { seconds, offset_minutes: 0 },
            };
            repository.publish_new(&request, &base.tree).map_err(git_fault)?
        }
    };
    Ok((label.clone(), commit))
}

fn place_task(context: &RunContext) -> String {
    context.spec.task().to_string()
}
