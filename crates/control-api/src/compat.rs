//! What only the stand-ins for the original scripts need, apart from `Control` so that no other face has to know it.

use crate::control::Reply;
use std::path::PathBuf;

pub trait Compat {
    /// Makes the doer's and the judge's worktree in a run directory; comes back with the path of `worktrees.env`.
    fn make_worktrees(&self, command: MakeWorktrees) -> Reply<'_, PathBuf>;
}

/// `windlass compat mk-worktrees`.
#[derive(Clone, Debug)]
pub struct MakeWorktrees {
    pub repository: PathBuf,
    pub run_dir: PathBuf,
    pub base: String,
    /// A generated name where none is given.
    pub doer_branch: Option<String>,
    pub judge_branch: Option<String>,
    pub judge_access: JudgeAccess,
    pub standing: Standing,
}

/// Whether the write bits of the judge's worktree are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeAccess {
    ReadOnly,
    Writable,
}

/// What becomes of something that already stands where a worktree shall go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is in the way: refused.
    Refuse,
    /// It goes, after its content was kept.
    Replace,
}
