//! Makes the places a run works in. Every part may exist already: from a crash in the middle, or because the run was
//! begun by the original and is taken over.

use crate::context::{RunContext, git_commit, git_tree};
use crate::durable_file::{Flush, ensure, replace};
use crate::fault::{file_fault, git_fault};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, GitError, NewWorktree};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::{CommitId, Outcome, Role, TreeId};

/// Says whose run directory this is; also how a second attempt knows it may use it.
const OWNER_FILE: &str = "windlass.json";

pub(super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    let place = context.spec.place();
    let base = match context.repository.resolve_commit(git_commit(&place.base)?.as_str()) {
        Ok(base) => base,
        Err(error) => return Ok(refused(&error)),
    };
    if context.adopted().is_none() {
        if let Some(refusal) = claim_run_dir(context, base.tree.as_str())? {
            return Ok(refusal);
        }
        write_run_files(context)?;
    }
    match context.repository.import(&base) {
        Ok(()) => {}
        Err(error @ GitError::MissingObjects { .. }) => return Ok(refused(&error)),
        Err(error) => return Err(git_fault(error)),
    }
    exclude(context)?;
    match crate::workspaces::prepare(context, &base)? {
        Ok(false) => {}
        Ok(true) => return Ok(prepared(&base)),
        Err(error) => return refused_or_fault(error),
    }
    let roles = [(Role::Doer, place.doer_branch.as_str()), (Role::Judge, place.judge_branch.as_str())];
    if let Some(refusal) = worktrees(context, &roles, &base)? {
        return Ok(refusal);
    }
    Ok(prepared(&base))
}

fn prepared(base: &Commit) -> Outcome {
    Outcome::Prepared { base: CommitId::new(base.id.as_str()), base_tree: TreeId::new(base.tree.as_str()) }
}

fn refused(error: &GitError) -> Outcome {
    Outcome::Refused { reason: error.to_string() }
}

/// A directory that is there and not ours belongs to somebody; it is left alone.
pub(super) fn claim_run_dir(context: &RunContext, base_tree: &str) -> Result<Option<Outcome>, Fault> {
    let run_dir = context.run_dir();
    if let Some(parent) = run_dir.parent() {
        std::fs::create_dir_all(parent).map_err(|error| file_fault("make the directory", parent, &error))?;
    }
    let owner_file = run_dir.join(OWNER_FILE);
    let owner = crate::projection::metadata_at_start(context, base_tree);
    let found = std::fs::read_to_string(&owner_file).ok();
    match std::fs::create_dir(run_dir) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // It is flushed before anything else is put there, so that one that is torn is all there is.
            let ours = found
                .as_ref()
                .is_some_and(|text| text.contains(context.run.as_str()) || owner.starts_with(text.as_str()));
            let empty = std::fs::read_dir(run_dir).is_ok_and(|mut entries| {
                entries.all(|entry| entry.is_ok_and(|entry| is_half_an_owner_file(&entry)))
            });
            if !ours && !empty {
                let reason = format!("{} is there already and belongs to another run", run_dir.display());
                return Ok(Some(Outcome::Refused { reason }));
            }
        }
        Err(error) => return Err(file_fault("make the directory", run_dir, &error)),
    }
    if found.is_none_or(|found| found != owner) {
        replace(&owner_file, owner.as_bytes(), Flush::ToDisk)?;
    }
    Ok(None)
}

/// What a crash leaves of the first file of a run directory, which says whose it is.
fn is_half_an_owner_file(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(&format!(".{OWNER_FILE}."))
}

fn write_run_files(context: &RunContext) -> Result<(), Fault> {
    let run_dir = context.run_dir();
    let rounds = run_dir.join("rounds");
    std::fs::create_dir_all(&rounds).map_err(|error| file_fault("make the directory", &rounds, &error))?;
    crate::projection::run_files(context)
        .iter()
        .try_for_each(|(name, text)| ensure(&run_dir.join(name), text.as_bytes()))
}

pub(super) fn worktrees(
    context: &RunContext,
    roles: &[(Role, &str)],
    base: &Commit,
) -> Result<Option<Outcome>, Fault> {
    let places: Vec<_> = roles
        .iter()
        .map(|(role, branch)| (context.worktree(*role), *branch, context.index_key(*role)))
        .collect();
    let wanted: Vec<_> = places
        .iter()
        // The original made its own with git itself; they are used as they are.
        .filter(|(path, ..)| context.adopted().is_none() || !path.is_dir())
        .map(|(path, branch, key)| NewWorktree { path, branch, key })
        .collect();
    match context.repository.add_worktrees(&wanted, base) {
        Ok(()) => Ok(None),
        Err(error) => refused_or_fault(error).map(Some),
    }
}

/// What the repository refuses it will refuse again, and the run ends with the reason. Everything else is our own fault.
fn refused_or_fault(error: GitError) -> Result<Outcome, Fault> {
    match error {
        error @ (GitError::BranchTaken { .. }
            | GitError::NotOurs { .. }
            | GitError::MissingObjects { .. }
            | GitError::UnusableWorkspace { .. }
            // Such as a branch `codex`, beside which git has no room for `codex/…`: it will say so again.
            | GitError::ReferenceBlocked { .. }
            | GitError::ReferenceLocked { .. }
            | GitError::Command { .. }) => Ok(refused(&error)),
        error => Err(git_fault(error)),
    }
}

/// Puts worktrees back that were taken away since, the maker's with what was kept of it: its next round builds on that.
pub(crate) fn restore(context: &RunContext, protocol: &Protocol) -> Result<(), Fault> {
    let Protocol::JudgedTask(state) = protocol else {
        // A control loop makes each worktree anew from its commits before somebody works in it.
        return Ok(());
    };
    let Some((_, base_tree)) = state.base.as_ref().filter(|_| context.adopted().is_none()) else {
        return Ok(());
    };
    if context.is_layered() {
        return Ok(());
    }
    let base = context.base(base_tree)?;
    let repository = &context.repository;
    let place = context.spec.place();
    for (role, branch) in [(Role::Doer, &place.doer_branch), (Role::Judge, &place.judge_branch)] {
        let path = context.worktree(role);
        if repository.stands(&repository.worktree_at(&path).map_err(git_fault)?) {
            continue;
        }
        let found = repository.read_reference(&format!("refs/heads/{branch}")).map_err(git_fault)?;
        let tree = if role.may_write() { last_content(context, state)? } else { None };
        // On its branch as somebody may have moved it, with the content it had.
        let refilled = Commit {
            id: found.unwrap_or_else(|| base.id.clone()),
            tree: tree.unwrap_or_else(|| base.tree.clone()),
        };
        repository.add_worktree(&path, branch, &context.index_key(role), &refilled).map_err(git_fault)?;
    }
    Ok(())
}

/// What was kept when the maker's worktree was taken away, or else what was last taken down of it.
fn last_content(
    context: &RunContext,
    state: &State,
) -> Result<Option<windlass_git_workspaces::TreeId>, Fault> {
    let reference = format!("refs/windlass/kept/{}", context.kept_name(Role::Doer));
    let repository = &context.repository;
    if let Some(kept) = repository.read_reference(&reference).map_err(git_fault)? {
        let kept = repository.resolve_commit(kept.as_str()).map_err(git_fault)?;
        repository.import(&kept).map_err(git_fault)?;
        return Ok(Some(kept.tree));
    }
    state.change.as_ref().map(|change| git_tree(&change.tree)).transpose()
}

/// Keeps the run directory out of the user's `git status`, in the private exclude file.
pub(crate) fn exclude(context: &RunContext) -> Result<(), Fault> {
    let checkout = context.repository.checkout();
    let Ok(inside) = context.run_dir().strip_prefix(checkout.work_tree()) else {
        return Ok(());
    };
    let upto = inside.components().position(|part| part.as_os_str() == ".orchestrator");
    if let Some(position) = upto {
        let directory: std::path::PathBuf = inside.components().take(position + 1).collect();
        checkout.exclude(&format!("/{}/", directory.display())).map_err(git_fault)?;
    }
    Ok(())
}
