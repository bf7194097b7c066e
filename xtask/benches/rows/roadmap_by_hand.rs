//! The bare minimum for a round of a roadmap that survives the loss of power and of its controller: a branch and a worktree,
//! the same three agents, each under a process that outlives the controller and keeps its end, a commit of what each left,
//! its artifact read, one squash commit by compare-and-swap on the base branch and in the user's checkout, a state file that
//! is never written over unseen, and a journal. No limits, no roadmap read, no prompt made, no second look at anything.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::by_hand::ByHand;
use crate::roadmap_plane::{self, STATE};
use crate::stage::Stage;

const STAGES: [&str; 3] = ["plan", "implement", "review"];
const ROLES: [&str; 3] = ["planner", "implementer", "reviewer"];

pub(crate) struct RoadmapByHand<'a> {
    stage: &'a Stage,
    hand: ByHand<'a>,
    base: String,
    round: u32,
    /// The state file as it was written last.
    state: String,
}

impl<'a> RoadmapByHand<'a> {
    pub(crate) fn begin(stage: &'a Stage) -> Result<Self> {
        let mut hand = ByHand::make(stage, "roadmap-by-hand")?;
        hand.open_journal()?;
        let found = std::fs::read_to_string(stage.repository().join(STATE))?;
        Ok(Self { stage, base: hand.base().to_owned(), hand, round: 0, state: found })
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
            self.play(role, &worktree)?;
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

    /// A controller that is killed must find out how an agent ended, or it could not tell lost work from done work; and what
    /// the agent claims counts only once its artifact was read.
    fn play(&self, role: &str, worktree: &Path) -> Result<()> {
        let end = self.stage.on_disk(&format!("end-{}-{role}", self.round));
        let status = self.stage.kept_agent(role, self.round, worktree, &end)?.status()?;
        ensure!(status.success(), "the keeper of the {role} ended with {status}");
        ensure!(std::fs::read_to_string(&end)?.trim() == "0", "the {role} failed");
        let (path, expected) =
            roadmap_plane::artifact(role, self.round).context("the role leaves nothing")?;
        ensure!(std::fs::read_to_string(worktree.join(path))? == expected, "the {role} left something else");
        Ok(())
    }

    /// Written beside it, made durable, put in its place, unless somebody else wrote it meanwhile.
    fn write_state(&mut self, stage: &str) -> Result<()> {
        let path = self.stage.repository().join(STATE);
        let beside = path.with_extension("tmp");
        let text = format!(
            "{{ \"round\": {}, \"stage\": \"{stage}\", \"rest\": \"{}\" }}\n",
            self.round,
            "x".repeat(700)
        );
        ensure!(std::fs::read_to_string(&path)? == self.state, "somebody changed the state file");
        std::fs::write(&beside, &text)?;
        std::fs::File::open(&beside)?.sync_all()?;
        std::fs::rename(&beside, &path)?;
        std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        self.state = text;
        Ok(())
    }
}
