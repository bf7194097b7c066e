//! The private place of Windlass on this machine: journal, evidence, control git directories, what each effect left.
//! Knows only where things are; what they mean is known elsewhere.

use crate::fault::file_fault;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};
use windlass_protocols::{EffectId, RunId};

#[derive(Clone, Debug)]
pub(crate) struct StateDir(PathBuf);

impl StateDir {
    /// Makes it if it is not there, readable for nobody else.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Fault> {
        let state = Self(path);
        if state.0.symlink_metadata().is_ok() && !state.0.is_dir() {
            return Err(state.unusable("it is not a directory"));
        }
        make_private(&state.0).map_err(|fault| state.unusable(&fault.message))?;
        Ok(state)
    }

    /// Nothing can be recorded there; nothing was begun either.
    pub(crate) fn unusable(&self, why: &str) -> Fault {
        let message = format!("the state directory {} cannot be used: {why}", self.0.display());
        Fault::new(Code::BadSettings, message)
            .kept("nothing was started")
            .hint("make it a directory that you can write, or choose another with WINDLASS_STATE_DIR")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("journal.db")
    }

    pub(crate) fn evidence(&self) -> PathBuf {
        self.0.join("evidence")
    }

    /// One control git directory per repository, named by the repository's key.
    pub(crate) fn control(&self, repository_key: &str) -> PathBuf {
        self.0.join("control").join(repository_key)
    }

    /// Checkouts that the runs on a repository share, by the repository's key.
    pub(crate) fn pristine(&self, repository_key: &str) -> PathBuf {
        self.all_pristine().join(repository_key)
    }

    pub(crate) fn all_pristine(&self) -> PathBuf {
        self.0.join("pristine")
    }

    /// When the worktrees were last held to their budget.
    pub(crate) fn budget_look(&self) -> PathBuf {
        self.0.join("worktree-budget.json")
    }

    pub(crate) fn trust(&self) -> PathBuf {
        self.0.join("trust.json")
    }

    /// Notifications on their way.
    pub(crate) fn notify(&self) -> PathBuf {
        self.0.join("notify")
    }

    /// Which contracts of goal loops a person has agreed to.
    pub(crate) fn contracts(&self) -> PathBuf {
        self.0.join("contracts.json")
    }

    pub(crate) fn run(&self, run: &RunId) -> PathBuf {
        self.0.join("runs").join(run.as_str())
    }

    pub(crate) fn effect(&self, run: &RunId, effect: EffectId) -> PathBuf {
        self.run(run).join("effects").join(effect.to_string())
    }

    /// The n-th child of an effect that starts several, one after the other.
    pub(crate) fn effect_part(&self, run: &RunId, effect: EffectId, part: usize) -> PathBuf {
        self.effect(run, effect).join(format!("part-{part}"))
    }
}

pub(crate) fn make_private(path: &Path) -> Result<(), Fault> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| file_fault("make the directory", path, &error))
}
