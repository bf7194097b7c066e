//! A child in conversation with its parent: two pipes, the parent's own stderr and process group, and an end on every
//! path. For a process that is itself a kept child: whatever this one leaves behind, the keeper above sweeps.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::child_end::NotStartedKind;
use crate::clock;
use crate::error::SupervisorError;
use crate::launch::{Group, Launch, spawn_failure};

/// One program to talk to: no shell, a complete environment.
#[derive(Debug, Clone)]
pub struct PipedCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub directory: PathBuf,
    pub environment: BTreeMap<OsString, OsString>,
}

/// The running program. Killed and reaped when dropped.
#[derive(Debug)]
pub struct PipedChild {
    child: Child,
    exit: OwnedFd,
}

/// Our ends of the two pipes.
#[derive(Debug)]
pub struct Pipes {
    pub to_child: ChildStdin,
    pub from_child: ChildStdout,
}

/// Another thread's view of the child: it can wait for the end and do nothing else.
#[derive(Debug)]
pub struct ExitWatch {
    exit: OwnedFd,
}

impl PipedCommand {
    pub fn start(&self) -> Result<(PipedChild, Pipes), SupervisorError> {
        let failed = |source| SupervisorError::Start { program: self.program.clone(), source };
        let launch = Launch {
            program: &self.program,
            args: &self.args,
            directory: &self.directory,
            environment: &self.environment,
            group: Group::Inherited,
        };
        let mut command = launch.command().map_err(|refused| match refused.kind {
            NotStartedKind::NotFound => SupervisorError::ProgramNotFound { program: self.program.clone() },
            NotStartedKind::NotExecutable | NotStartedKind::NoRoom | NotStartedKind::Other => {
                failed(io::Error::other(refused))
            }
        })?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command
            .spawn()
            .map_err(|error| failed(io::Error::other(spawn_failure(&self.program, &error))))?;
        let pipes = Pipes {
            to_child: child.stdin.take().expect("stdin was asked to be a pipe"),
            from_child: child.stdout.take().expect("stdout was asked to be a pipe"),
        };
        match exit_of(&child) {
            Ok(exit) => Ok((PipedChild { child, exit }, pipes)),
            Err(error) => {
                // Without a way to wait for it there is no use for it; the error is on its way to the caller.
                let _ = child.kill().and_then(|()| child.wait());
                Err(failed(error))
            }
        }
    }
}

fn exit_of(child: &Child) -> io::Result<OwnedFd> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the child has no usable pid"))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

impl PipedChild {
    pub fn exit_watch(&self) -> Result<ExitWatch, SupervisorError> {
        let exit = self.exit.try_clone().map_err(|source| self.failure("watch", source))?;
        Ok(ExitWatch { exit })
    }

    /// Lets the child end by itself for a while, and says how it did; `None` when it had to be killed. Its pipe should
    /// have been closed before, so that it has a reason to end.
    pub fn end(&mut self, grace: Duration) -> Result<Option<ExitStatus>, SupervisorError> {
        let waited = wait(&self.exit, Some(grace)).map_err(|source| self.failure("wait for", source))?;
        if waited == Waited::StillRunning {
            self.child.kill().map_err(|source| self.failure("kill", source))?;
        }
        let status = self.child.wait().map_err(|source| self.failure("wait for", source))?;
        Ok((waited == Waited::Ended).then_some(status))
    }

    fn failure(&self, action: &'static str, source: io::Error) -> SupervisorError {
        SupervisorError::Process { action, pid: self.child.id(), source }
    }
}

impl Drop for PipedChild {
    fn drop(&mut self) {
        // After `end` both do nothing: the standard library remembers that the child was reaped.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

impl ExitWatch {
    /// Blocks until the child has ended.
    pub fn wait(&self) -> io::Result<()> {
        wait(&self.exit, None).map(drop)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Waited {
    Ended,
    StillRunning,
}

fn wait(exit: &OwnedFd, patience: Option<Duration>) -> io::Result<Waited> {
    let deadline = patience.map(clock::after);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(clock::now()));
        let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let mut polled = [PollFd::new(exit, PollFlags::IN)];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(0) => return Ok(Waited::StillRunning),
            Ok(_) => return Ok(Waited::Ended),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
