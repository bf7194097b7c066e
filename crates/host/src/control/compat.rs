//! Worktrees for the original's own tools, made our way: no hook or filter runs, and what stands in the way is kept.

use super::clean::KEPT_IGNORED_FILES;
use super::resume::Silence;
use crate::durable_file::ensure;
use crate::fault::{bug, file_fault, git_fault};
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::task_loop::{JudgeAccess as JudgeBits, WorktreesEnv};
use windlass_control_api::compat::{JudgeAccess, MakeWorktrees, Standing};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Commit, GitError, Keeping, Moment, NewWorktree, Repository};

const WRITE_BITS: u32 = 0o222;

/// As every other command that makes branches and worktrees: with the repository in this process's hands.
pub(crate) async fn make_worktrees(host: &Host, command: &MakeWorktrees) -> Result<PathBuf, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let owner = Owner::this_process("", "windlass compat mk-worktrees")?;
    let common_dir = checkout.common_dir().to_string_lossy().into_owned();
    let held = hold_repository(host, &common_dir, &owner, IfHeld::GiveUp, &Silence).await?;
    let made = make_held(host, command, checkout);
    held.release(host, made).await
}

fn make_held(host: &Host, command: &MakeWorktrees, checkout: Checkout) -> Result<PathBuf, Fault> {
    let repository = host.repository(checkout)?;
    let base = repository.resolve_commit(&command.base).map_err(git_fault)?;
    repository.import(&base).map_err(git_fault)?;
    let run_dir = &command.run_dir;
    std::fs::create_dir_all(run_dir).map_err(|error| file_fault("make the directory", run_dir, &error))?;
    let run_dir = run_dir.canonicalize().map_err(|error| file_fault("find", run_dir, &error))?;
    let stamp = crate::clock::zoned().strftime("%Y%m%d-%H%M%S").to_string();
    let named = |given: &Option<String>, role: &str| {
        given.clone().unwrap_or_else(|| format!("codex/loop-{stamp}-{role}"))
    };
    let doer = (run_dir.join("worktrees/doer"), named(&command.doer_branch, "doer"));
    let judge = (run_dir.join("worktrees/judge"), named(&command.judge_branch, "judge"));
    for (path, _) in [&doer, &judge] {
        make_room(&repository, path, &base, command.standing, &stamp)?;
    }
    let keys = [&doer, &judge]
        .map(|(path, _)| format!("compat-{}", crate::evidence::digest(path.to_string_lossy().as_bytes())));
    let wanted = [(&doer, &keys[0]), (&judge, &keys[1])];
    let wanted = wanted.map(|((path, branch), key)| NewWorktree { path, branch, key });
    repository.add_worktrees(&wanted, &base).map_err(git_fault)?;
    if command.judge_access == JudgeAccess::ReadOnly {
        strip_write_bits(&judge.0)?;
    }
    let env = WorktreesEnv {
        repo: command.repository.to_string_lossy().into_owned(),
        base_ref: command.base.clone(),
        doer_dir: doer.0.to_string_lossy().into_owned(),
        judge_dir: judge.0.to_string_lossy().into_owned(),
        doer_branch: doer.1,
        judge_branch: judge.1,
        judge_access: match command.judge_access {
            JudgeAccess::ReadOnly => JudgeBits::ReadOnly,
            JudgeAccess::Writable => JudgeBits::Writable,
        },
        extra_lines: Vec::new(),
    };
    let path = run_dir.join("worktrees.env");
    let text = env.render().map_err(|error| Fault::new(Code::BadArgument, error.to_string()))?;
    ensure(&path, text.as_bytes())?;
    Ok(path)
}

/// Nothing is deleted that is not kept: our own worktree goes after its content is in the repository, anything else is
/// moved aside.
fn make_room(
    repository: &Repository,
    path: &Path,
    base: &Commit,
    standing: Standing,
    stamp: &str,
) -> Result<(), Fault> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    if standing == Standing::Refuse {
        return Err(Fault::new(Code::RunDirectory, format!("{} is there already", path.display()))
            .kept("it is left as it was")
            .hint("`--force` puts a new one in its place and keeps what it holds"));
    }
    let worktree = repository.worktree_at(path).map_err(git_fault)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let time = Moment { seconds: crate::clock::timestamp().as_second(), offset_minutes: 0 };
    let key = format!("compat-{}", crate::evidence::digest(path.to_string_lossy().as_bytes()));
    let kept_as = format!("compat-{stamp}-{name}");
    let keeping = Keeping { name: &kept_as, time, ignored: KEPT_IGNORED_FILES };
    match repository.remove_worktree(&worktree, &key, base, &keeping) {
        Ok(_) | Err(GitError::NotOurs { .. } | GitError::UnusableWorkspace { .. }) => {}
        Err(error) => return Err(git_fault(error)),
    }
    if path.symlink_metadata().is_ok() {
        let aside = path.with_file_name(format!("{name}.replaced-{stamp}"));
        std::fs::rename(path, &aside).map_err(|error| file_fault("move aside", path, &error))?;
    }
    if path.symlink_metadata().is_ok() {
        Err(bug(format!("{} cannot be made free", path.display())))
    } else {
        Ok(())
    }
}

fn strip_write_bits(path: &Path) -> Result<(), Fault> {
    let found = path.symlink_metadata().map_err(|error| file_fault("look at", path, &error))?;
    if found.is_symlink() {
        return Ok(());
    }
    if found.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| file_fault("list", path, &error))?;
        for entry in entries.flatten() {
            strip_write_bits(&entry.path())?;
        }
    }
    let mode = std::fs::Permissions::from_mode(found.permissions().mode() & !WRITE_BITS);
    std::fs::set_permissions(path, mode).map_err(|error| file_fault("make read-only", path, &error))
}
