//! The bare minimum for the same work: the same agents, the git plumbing nobody can do without, one durable commit
//! where ours has one. No supervision, no validation, no evidence, no second look at anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use xtask::commands;

use crate::bare_journal;
use crate::stage::Stage;

/// About what one of our appends stores, and the prompt and answers that it speaks of.
const BYTES_A_COMMIT: usize = 8 * 1024;

/// Two worktrees over one private git directory, as ours has them.
pub(crate) struct ByHand<'a> {
    stage: &'a Stage,
    git_directory: PathBuf,
    base: String,
    journal: Connection,
    round: u32,
}

impl<'a> ByHand<'a> {
    pub(crate) fn make(stage: &'a Stage, name: &str) -> Result<Self> {
        let git_directory = stage.on_disk(&format!("{name}.git"));
        let repository = stage.repository();
        let mut clone = stage.git();
        clone.args(["clone", "--quiet", "--bare", "--shared"]).arg(&repository).arg(&git_directory);
        commands::capture(&mut clone)?.expect_success()?;
        let by_hand = Self {
            base: commands::capture(stage.git().arg("-C").arg(&repository).args(["rev-parse", "HEAD"]))?
                .expect_success()?
                .trim()
                .to_owned(),
            journal: bare_journal::open(&stage.on_disk(&format!("{name}.db")))?,
            stage,
            git_directory,
            round: 0,
        };
        // What a verdict rests on must survive the loss of power, in the cheapest way git has.
        for (key, value) in [("core.bare", "false"), ("core.fsync", "objects,reference"), ("core.fsyncMethod", "batch")] {
            by_hand.git_in(stage.repository().as_path(), &["config", key, value])?;
        }
        Ok(by_hand)
    }

    /// Makes both worktrees anew; what follows is the first round of a run.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        self.round = 0;
        for name in ["doer", "judge"] {
            let worktree = self.worktree(name);
            let _ = std::fs::remove_dir_all(&worktree);
            let _ = std::fs::remove_file(self.index(&worktree));
            std::fs::create_dir_all(&worktree)?;
            self.git_in(&worktree, &["read-tree", "--reset", "-u", &self.base])?;
        }
        self.commit()
    }

    /// Doer, snapshot, patch, judge. Returns the tree that was judged.
    pub(crate) fn round(&mut self) -> Result<String> {
        self.round += 1;
        let (doer, judge) = (self.worktree("doer"), self.worktree("judge"));
        self.play("doer", &doer)?;
        self.commit()?;
        self.git_in(&doer, &["add", "--all"])?;
        let tree = self.git_in(&doer, &["write-tree"])?.trim().to_owned();
        self.git_in(&doer, &["diff-tree", "-r", "-p", &self.base, &tree])?;
        self.commit()?;
        self.git_in(&judge, &["read-tree", "--reset", "-u", &tree])?;
        self.play("judge", &judge)?;
        self.commit()?;
        Ok(tree)
    }

    /// Auditor and landing.
    pub(crate) fn finish(&mut self, tree: &str, branch: &str) -> Result<()> {
        let judge = self.worktree("judge");
        self.play("auditor", &judge)?;
        self.commit()?;
        let commit = self.git_in(&judge, &["commit-tree", tree, "-p", &self.base, "-m", "a change"])?;
        self.git_in(&judge, &["update-ref", &format!("refs/heads/{branch}"), commit.trim()])?;
        self.commit()?;
        self.commit()
    }

    fn worktree(&self, name: &str) -> PathBuf {
        self.stage.in_memory("by-hand").join(name)
    }

    fn index(&self, worktree: &Path) -> PathBuf {
        self.git_directory.join(worktree.file_name().unwrap_or_default()).with_extension("index")
    }

    fn git_in(&self, worktree: &Path, words: &[&str]) -> Result<String> {
        let mut command: Command = self.stage.git();
        command.current_dir(worktree).env("GIT_DIR", &self.git_directory).env("GIT_WORK_TREE", worktree);
        command.env("GIT_INDEX_FILE", self.index(worktree));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "bench").env(format!("GIT_{who}_EMAIL"), "bench@localhost");
        }
        commands::capture(command.args(words))?.expect_success()
    }

    fn play(&self, role: &str, worktree: &Path) -> Result<()> {
        let status = self.stage.agent(role, self.round, 0, worktree)?.status()?;
        ensure!(status.success(), "the {role} ended with {status}");
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        bare_journal::commit(&mut self.journal, &[&[b'x'; BYTES_A_COMMIT]])
    }
}
