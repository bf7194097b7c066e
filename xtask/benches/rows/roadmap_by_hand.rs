//! The bare minimum for a round of a roadmap: a branch and a worktree, the same three agents in it, a commit of what each
//! left, one squash commit on the base branch and in the user's checkout, and a state file that is durable at every stage.
//! No supervision, nothing is read back, no second look at anything.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::by_hand::ByHand;
use crate::roadmap_plane::STATE;
use crate::stage::Stage;

const STAGES: [&str; 3] = ["plan", "implement", "review"];
const ROLES: [&str; 3] = ["planner", "implementer", "reviewer"];

pub(crate) struct RoadmapByHand<'a> {
    stage: &'a Stage,
    hand: ByHand<'a>,
    base: String,
    round: u32,
}

impl<'a> RoadmapByHand<'a> {
    pub(crate) fn begin(stage: &'a Stage) -> Result<Self> {
        let mut hand = ByHand::make(stage, "roadmap-by-hand")?;
        hand.open_journal()?;
        Ok(Self { stage, base: hand.base().to_owned(), hand, round: 0 })
    }

    /// Open, then each role with its commit, then the squash; durable after each.
    pub(crate) fn round(&mut self) -> Result<()> {
        self.round += 1;
        let branch = format!("refs/heads/orchestrator/round-{:03}-by-hand", self.round);
        let worktree = self.worktree();
        std::fs::create_dir_all(&worktree)?;
        self.hand.git_of_user(&["update-ref", "--stdin"], &format!("create {branch} {}\n", self.base))?;
        self.hand.git_in(&worktree, &["read-tree", "--reset", "-u", &self.base], "")?;
        self.hand.link(&worktree, &format!("ref: {branch}\n"))?;
        self.hand.commit()?;
        let mut head = self.base.clone();
        let mut tree = String::new();
        for (role, stage) in ROLES.into_iter().zip(STAGES) {
            self.write_state(stage)?;
            self.hand.commit()?;
            let status = self.stage.agent(role, self.round, 0, &worktree)?.status()?;
            ensure!(status.success(), "the {role} ended with {status}");
            self.hand.commit()?;
            self.hand.git_in(&worktree, &["add", "--all"], "")?;
            self.hand.git_in(&worktree, &["write-tree"], "")?.trim().clone_into(&mut tree);
            let commit = self.hand.commit_on(&worktree, &tree, &head)?;
            self.hand.publish(&worktree, &commit, &head)?;
            let moved = format!("update {branch} {commit} {head}\n");
            self.hand.git_of_user(&["update-ref", "--stdin"], &moved)?;
            head = commit;
            self.hand.commit()?;
        }
        self.write_state("finalize-round")?;
        self.hand.commit()?;
        let squash = self.hand.commit_on(&worktree, &tree, &self.base)?;
        self.hand.publish(&worktree, &squash, &head)?;
        let moved = format!("update refs/heads/main {squash} {}\n", self.base);
        self.hand.git_of_user(&["update-ref", "--stdin"], &moved)?;
        self.hand.git_of_user(&["read-tree", "-m", "-u", &self.base, &squash], "")?;
        self.base = squash;
        self.hand.commit()?;
        self.write_state("done")?;
        self.hand.commit()
    }

    fn worktree(&self) -> PathBuf {
        self.stage.repository().join(format!("orchestrator/worktrees/round-{:03}", self.round))
    }

    /// Written beside it, made durable, put in its place.
    fn write_state(&self, stage: &str) -> Result<()> {
        let path = self.stage.repository().join(STATE);
        let beside = path.with_extension("tmp");
        let text = format!(
            "{{ \"round\": {}, \"stage\": \"{stage}\", \"rest\": \"{}\" }}\n",
            self.round,
            "x".repeat(700)
        );
        std::fs::write(&beside, text)?;
        std::fs::File::open(&beside)?.sync_all()?;
        std::fs::rename(&beside, &path)?;
        std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(())
    }
}
