//! The bare minimum for an iteration of a control loop: the same agents and the same sensor, each on a tree of its own,
//! the exact content as a commit, the branch moved only from where it was. No supervision, no second look at anything.

use std::path::Path;

use anyhow::{Result, ensure};
use xtask::commands;

use crate::by_hand::ByHand;
use crate::stage::{SENSOR, Stage};

/// Where the files of the loop lie.
const LOOP: &str = ".ai-loop";

pub(crate) struct ControlByHand<'a> {
    stage: &'a Stage,
    hand: ByHand<'a>,
    branch: String,
    head: String,
    /// The content that was captured last.
    tree: String,
    iteration: u32,
}

impl<'a> ControlByHand<'a> {
    /// The branch, and the worktree of the actuator.
    pub(crate) fn begin(stage: &'a Stage, name: &str) -> Result<Self> {
        let mut hand = ByHand::make(stage, name)?;
        hand.open_journal()?;
        let head = hand.base().to_owned();
        let branch = format!("refs/heads/{name}");
        hand.git_of_user(&["update-ref", "--stdin"], &format!("create {branch} {head}\n"))?;
        let actuator = hand.worktree("actuator");
        for name in ["actuator", "controller", "sensor"] {
            std::fs::create_dir_all(hand.worktree(name))?;
        }
        hand.git_in(&actuator, &["read-tree", "--reset", "-u", &head], "")?;
        std::fs::create_dir_all(actuator.join(LOOP))?;
        Ok(Self { stage, tree: head.clone(), hand, branch, head, iteration: 0 })
    }

    /// Controller, actuator, snapshot, sensor, commit; durable after each.
    pub(crate) fn iteration(&mut self) -> Result<()> {
        self.iteration += 1;
        let [controller, actuator, sensor] =
            ["controller", "actuator", "sensor"].map(|name| self.hand.worktree(name));
        let head = self.head.clone();
        self.show(&controller, &head)?;
        let decision = self.hand.answer_of("controller", (self.iteration, u32::MAX), &controller)?;
        ensure!(decision.starts_with(b"---\ntarget-met: false"), "the controller decided nothing");
        self.hand.commit()?;

        let state = format!("---\niteration: {}\n---\n\n{}", self.iteration, "a change\n".repeat(20));
        std::fs::write(actuator.join(LOOP).join("orchestrator-output.md"), state)?;
        std::fs::write(actuator.join(LOOP).join("controller-output.md"), decision)?;
        self.hand.link(&actuator, &format!("{head}\n"))?;
        let action = self.hand.answer_of("actuator", (self.iteration, u32::MAX), &actuator)?;
        self.hand.commit()?;

        self.hand.git_in(&actuator, &["add", "--all"], "")?;
        let tree = self.hand.git_in(&actuator, &["write-tree"], "")?.trim().to_owned();
        self.hand.git_in(&actuator, &["diff-tree", "-r", "-p", &self.tree, &tree], "")?;
        self.hand.commit()?;

        self.show(&sensor, &tree)?;
        let mut measuring = self.stage.start(Path::new("/bin/sh"));
        let reading =
            commands::capture(measuring.args(["-c", SENSOR]).current_dir(&sensor))?.expect_success()?;
        self.hand.commit()?;

        std::fs::write(actuator.join(LOOP).join("actuator-output.md"), action)?;
        std::fs::write(actuator.join(LOOP).join("sensor-fine-output.md"), reading)?;
        self.hand.git_in(&actuator, &["add", LOOP], "")?;
        let whole = self.hand.git_in(&actuator, &["write-tree"], "")?.trim().to_owned();
        let commit = self.hand.commit_on(&actuator, &whole, &head)?;
        self.hand.publish(&actuator, &commit, &head)?;
        let moved = format!("update {} {commit} {head}\n", self.branch);
        self.hand.git_of_user(&["update-ref", "--stdin"], &moved)?;
        (self.head, self.tree) = (commit, tree);
        self.hand.commit()
    }

    /// A directory that holds exactly this, with git inside it standing at the newest commit.
    fn show(&self, worktree: &Path, tree: &str) -> Result<()> {
        self.hand.git_in(worktree, &["read-tree", "--reset", "-u", tree], "")?;
        self.hand.link(worktree, &format!("{}\n", self.head))
    }
}
