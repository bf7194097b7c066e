//! The bare minimum for the same work: the same agents, the git plumbing nobody can do without, one durable commit
//! where ours has one. No supervision, no validation, no evidence, no second look at anything.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use serde_json::Value;
use xtask::commands;

use crate::agent;
use crate::bare_journal;
use crate::stage::Stage;

/// About what one of our appends stores, and the prompt and answers that it speaks of.
pub(crate) const BYTES_A_COMMIT: usize = 8 * 1024;

/// What a verdict or a branch rests on must survive the loss of power, in the cheapest way git has. By itself it makes a
/// reference durable, and not what the reference leads to.
const DURABLE: [(&str, &str); 2] = [("core.fsync", "objects,reference"), ("core.fsyncMethod", "batch")];

/// Two worktrees over one private git directory, as ours has them.
pub(crate) struct ByHand<'a> {
    stage: &'a Stage,
    git_directory: PathBuf,
    base: String,
    journal_file: PathBuf,
    /// Open while a run is under way.
    journal: Option<Connection>,
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
            journal_file: stage.on_disk(&format!("{name}.db")),
            journal: None,
            stage,
            git_directory,
            round: 0,
        };
        for (key, value) in [("core.bare", "false")].into_iter().chain(DURABLE) {
            by_hand.git_in(stage.repository().as_path(), &["config", key, value], "")?;
        }
        Ok(by_hand)
    }

    /// The journal, the base as an id, both branches in the user's repository, both worktrees; what follows is a run's
    /// first round.
    pub(crate) fn prepare(&mut self, run: u32) -> Result<()> {
        self.round = 0;
        // Each run is a program of its own, which opens its journal and closes it.
        self.open_journal()?;
        self.commit()?;
        self.git_of_user(&["rev-parse", "--verify", "HEAD^{commit}"], "")?;
        let branch = |name: &str| format!("create refs/heads/by-hand-{run}-{name} {}\n", self.base);
        self.git_of_user(&["update-ref", "--stdin"], &(branch("doer") + &branch("judge")))?;
        for name in ["doer", "judge"] {
            let worktree = self.worktree(name);
            let _ = std::fs::remove_file(self.index(&worktree));
            std::fs::create_dir_all(&worktree)?;
            self.git_in(&worktree, &["read-tree", "--reset", "-u", &self.base], "")?;
            self.link(&worktree, &format!("ref: refs/heads/by-hand-{run}-{name}\n"))?;
        }
        self.commit()
    }

    /// What `git worktree add` would leave, so that an agent can use git where it works.
    pub(crate) fn link(&self, worktree: &Path, head: &str) -> Result<()> {
        let name = worktree.file_name().unwrap_or_default();
        let admin = self.stage.repository().join(".git/worktrees").join(name);
        std::fs::create_dir_all(&admin)?;
        let dot_git = worktree.join(".git");
        std::fs::write(admin.join("gitdir"), format!("{}\n", dot_git.display()))?;
        std::fs::write(admin.join("commondir"), "../..\n")?;
        std::fs::write(admin.join("HEAD"), head)?;
        std::fs::copy(self.index(worktree), admin.join("index"))?;
        std::fs::write(dot_git, format!("gitdir: {}\n", admin.display()))?;
        Ok(())
    }

    /// Not part of the work: the next run begins with nothing there.
    pub(crate) fn clear(&self) {
        let _ = std::fs::remove_dir_all(self.stage.in_memory("by-hand"));
    }

    /// Doer, snapshot, patch, judge. Returns the tree that was judged.
    pub(crate) fn round(&mut self) -> Result<String> {
        self.round += 1;
        let (doer, judge) = (self.worktree("doer"), self.worktree("judge"));
        self.play("doer", &doer)?;
        self.commit()?;
        self.git_in(&doer, &["add", "--all"], "")?;
        let tree = self.git_in(&doer, &["write-tree"], "")?.trim().to_owned();
        self.git_in(&doer, &["diff-tree", "-r", "-p", &self.base, &tree], "")?;
        self.commit()?;
        self.git_in(&judge, &["read-tree", "--reset", "-u", &tree], "")?;
        self.link(&judge, &format!("{}\n", self.base))?;
        self.play("judge", &judge)?;
        self.commit()?;
        Ok(tree)
    }

    /// Auditor, and the change as a commit in the user's repository.
    pub(crate) fn finish(&mut self, tree: &str, run: u32) -> Result<()> {
        let judge = self.worktree("judge");
        self.play("auditor", &judge)?;
        self.commit()?;
        let commit = self.commit_on(&judge, tree, &self.base)?;
        self.publish(&judge, &commit, &self.base)?;
        let landing = format!("create refs/heads/by-hand-{run} {commit}\n");
        self.git_of_user(&["update-ref", "--stdin"], &landing)?;
        self.commit()?;
        self.commit()?;
        self.journal = None;
        Ok(())
    }

    pub(crate) fn commit_on(&self, worktree: &Path, tree: &str, parent: &str) -> Result<String> {
        let commit = self.git_in(worktree, &["commit-tree", tree, "-p", parent, "-m", "a change"], "")?;
        Ok(commit.trim().to_owned())
    }

    /// What a commit has beyond another one, into the user's repository.
    pub(crate) fn publish(&self, worktree: &Path, commit: &str, beyond: &str) -> Result<()> {
        let pack = self.stage.on_disk("change.pack");
        let mut packing = self.git(worktree, &["pack-objects", "-q", "--revs", "--stdout"]);
        packing.stdout(std::fs::File::create(&pack)?);
        run_with_input(&mut packing, &format!("{commit}\n^{beyond}\n"))?;
        run_with_file(&mut self.user_git(&["unpack-objects", "-q"]), &pack).map(drop)
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The journal of a run that begins now.
    pub(crate) fn open_journal(&mut self) -> Result<()> {
        self.journal = Some(bare_journal::open(&self.journal_file)?);
        Ok(())
    }

    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        self.stage.in_memory("by-hand").join(name)
    }

    pub(crate) fn index(&self, worktree: &Path) -> PathBuf {
        self.git_directory.join(worktree.file_name().unwrap_or_default()).with_extension("index")
    }

    fn git(&self, worktree: &Path, words: &[&str]) -> Command {
        let mut command = self.stage.git();
        command.current_dir(worktree).env("GIT_DIR", &self.git_directory).env("GIT_WORK_TREE", worktree);
        command.env("GIT_INDEX_FILE", self.index(worktree)).args(words);
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "bench")
                .env(format!("GIT_{who}_EMAIL"), "bench@localhost");
        }
        command
    }

    pub(crate) fn git_in(&self, worktree: &Path, words: &[&str], input: &str) -> Result<String> {
        run_with_input(&mut self.git(worktree, words), input)
    }

    fn user_git(&self, words: &[&str]) -> Command {
        let mut command = self.stage.git();
        command.current_dir(self.stage.repository());
        for (key, value) in DURABLE {
            command.args(["-c", &format!("{key}={value}")]);
        }
        command.args(words);
        command
    }

    pub(crate) fn git_of_user(&self, words: &[&str], input: &str) -> Result<String> {
        run_with_input(&mut self.user_git(words), input)
    }

    fn play(&self, role: &str, worktree: &Path) -> Result<()> {
        let answer: Value = serde_json::from_slice(&self.answer_of(role, (self.round, 0), worktree)?)?;
        ensure!(answer["task_id"].is_string(), "the {role} left no answer");
        Ok(())
    }

    /// What the role leaves in this round, of which so many are rejected.
    pub(crate) fn answer_of(
        &self,
        role: &str,
        (round, rejected): (u32, u32),
        worktree: &Path,
    ) -> Result<Vec<u8>> {
        let status = self.stage.agent(role, round, rejected, worktree)?.status()?;
        ensure!(status.success(), "the {role} ended with {status}");
        Ok(std::fs::read(self.stage.outbox().join(agent::answer_of(role)?))?)
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
        let journal = self.journal.as_mut().context("no run is under way")?;
        bare_journal::commit(journal, &[&[b'x'; BYTES_A_COMMIT]])
    }
}

fn run_with_input(command: &mut Command, input: &str) -> Result<String> {
    let (read, mut write) = std::io::pipe()?;
    // A few hundred bytes at most, which fit into any pipe.
    write.write_all(input.as_bytes())?;
    drop(write);
    commands::capture(command.stdin(read))?.expect_success()
}

fn run_with_file(command: &mut Command, input: &Path) -> Result<String> {
    commands::capture(command.stdin(std::fs::File::open(input)?))?.expect_success()
}
