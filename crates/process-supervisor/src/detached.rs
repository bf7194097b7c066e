//! Starts a process and forgets it. For the scripted actor only, whose job is to misbehave on purpose (children that
//! outlive it, daemons): everything else uses a kept child or a quick command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;

use crate::child_end::NotStartedKind;
use crate::error::SupervisorError;
use crate::identity::ProcessIdentity;
use crate::launch::{Group, Launch};

/// A process that nobody will wait for.
#[derive(Debug, Clone)]
pub struct DetachedCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub directory: PathBuf,
    /// Complete: nothing is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    pub stdin: DetachedStdio,
    pub stdout: DetachedStdio,
    pub stderr: DetachedStdio,
    pub group: DetachedGroup,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetachedStdio {
    /// The caller's own stream, for instance to keep a pipe open.
    Inherit,
    Null,
    /// Read from the start as standard input, appended to as an output.
    File(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetachedGroup {
    /// The caller's process group.
    Inherited,
    /// A group of its own. A new session the program must open itself.
    Own,
}

/// Starts the process and returns without waiting. It stays a zombie of the caller when it ends first.
pub fn spawn_detached(command: &DetachedCommand) -> Result<ProcessIdentity, SupervisorError> {
    let launch = Launch {
        program: &command.program,
        args: &command.args,
        directory: &command.directory,
        environment: &command.environment,
        group: match command.group {
            DetachedGroup::Inherited => Group::Inherited,
            DetachedGroup::Own => Group::Own,
        },
    };
    let mut process = launch.command().map_err(|refused| match refused.kind {
        NotStartedKind::NotFound => SupervisorError::ProgramNotFound { program: command.program.clone() },
        NotStartedKind::NotExecutable | NotStartedKind::NoRoom | NotStartedKind::Other => {
            SupervisorError::Start {
                program: command.program.clone(),
                source: std::io::Error::other(refused),
            }
        }
    })?;
    process.stdin(command.stdin.input()?).stdout(command.stdout.output()?).stderr(command.stderr.output()?);
    let child = process
        .spawn()
        .map_err(|source| SupervisorError::Start { program: command.program.clone(), source })?;
    ProcessIdentity::of(child.id())
}

impl DetachedStdio {
    fn input(&self) -> Result<Stdio, SupervisorError> {
        self.open(|path| File::open(path))
    }

    fn output(&self) -> Result<Stdio, SupervisorError> {
        self.open(|path| OpenOptions::new().create(true).append(true).open(path))
    }

    fn open(&self, file: impl Fn(&PathBuf) -> std::io::Result<File>) -> Result<Stdio, SupervisorError> {
        match self {
            Self::Inherit => Ok(Stdio::inherit()),
            Self::Null => Ok(Stdio::null()),
            Self::File(path) => {
                file(path).map(Stdio::from).map_err(|source| SupervisorError::file("open", path, source))
            }
        }
    }
}
