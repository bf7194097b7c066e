//! The bare minimum of a round in layers: the same agents, each in an overlay, the change taken from the upper layer by one git
//! that grows with nothing, one durable commit where ours has one.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use rusqlite::Connection;
use xtask::commands;

use crate::agent;
use crate::bare_journal;
use crate::by_hand::{BYTES_A_COMMIT, ByHand};
use crate::stage::Stage;

const CHANGED: &str = "changed.txt";

pub(crate) struct LayersByHand<'a> {
    stage: &'a Stage,
    git: ByHand<'a>,
    journal: Connection,
    folder: PathBuf,
    round: u32,
}

impl<'a> LayersByHand<'a> {
    /// The shared checkout, the layers, and an index for git inside.
    pub(crate) fn make(stage: &'a Stage) -> Result<Self> {
        let git = ByHand::make(stage, "layers-by-hand")?;
        let folder = stage.on_disk("layers-by-hand");
        let files = folder.join("files");
        std::fs::create_dir_all(&files)?;
        let base = git.base().to_owned();
        git.git_in(&files, &["read-tree", "--reset", "-u", &base], "")?;
        for role in ["doer", "judge"] {
            for layer in ["upper", "work", "change", "place", "git"] {
                std::fs::create_dir_all(folder.join(role).join(layer))?;
            }
        }
        let journal = bare_journal::open(&stage.on_disk("layers-by-hand.db"))?;
        Ok(Self { stage, git, journal, folder, round: 0 })
    }

    /// Doer, the change as a tree, patch, judge.
    pub(crate) fn round(&mut self) -> Result<()> {
        self.round += 1;
        self.play("doer")?;
        self.commit()?;
        let content = std::fs::read(self.folder.join("doer/upper").join(CHANGED))?;
        let (base, reference) = (self.git.base().to_owned(), format!("refs/heads/round-{}", self.round));
        let stream = format!(
            "commit {reference}\ncommitter b <b@localhost> 0 +0000\ndata 1\nx\nfrom {base}\nM 100644 inline {CHANGED}\ndata {}\n{}\n",
            content.len(),
            String::from_utf8_lossy(&content),
        );
        let files = self.folder.join("files");
        self.git.git_in(&files, &["fast-import", "--quiet"], &stream)?;
        self.git.git_in(&files, &["diff-tree", "-r", "-p", &base, &reference], "")?;
        self.commit()?;
        let judge = self.folder.join("judge");
        for layer in ["upper", "change"] {
            std::fs::remove_dir_all(judge.join(layer))?;
            std::fs::create_dir(judge.join(layer))?;
        }
        std::fs::write(judge.join("change").join(CHANGED), &content)?;
        // Git inside has an index of its own.
        std::fs::copy(self.git.index(&files), judge.join("git/index"))?;
        std::fs::write(judge.join("upper/.git"), format!("gitdir: {}\n", judge.join("git").display()))?;
        self.play("judge")?;
        self.commit()
    }

    fn play(&self, role: &str) -> Result<()> {
        let layers = self.folder.join(role);
        let agent = self.stage.agent(role, self.round, 0, &layers.join("place"))?;
        let mut command = self.stage.start(Path::new(agent.get_program()));
        command.arg(agent::LAYERS);
        for layer in ["place", "upper", "work", "change"] {
            command.arg(layers.join(layer));
        }
        command.arg(self.folder.join("files")).args(agent.get_args()).current_dir(layers.join("place"));
        for (name, value) in agent.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        command.stdin(std::fs::File::open(self.stage.prompt())?);
        commands::capture(&mut command)?.expect_success()?;
        let answer = self.stage.outbox().join(agent::answer_of(role)?);
        ensure!(answer.is_file(), "the {role} left no answer");
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        bare_journal::commit(&mut self.journal, &[&[b'x'; BYTES_A_COMMIT]])
    }
}
