//! Children, escapees and storms of them. A descendant is this program started once more with the place of its
//! actions in the script, because a safe program has no bare fork.

use std::ffi::{OsStr, OsString};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, setsid, waitpid};
use windlass_agent_drivers::PLAY_COMMAND;
use windlass_agent_drivers::script::{ForkAddress, ForkKind, HeldStdout};
use windlass_process_supervisor::{
    DetachedCommand, DetachedGroup, DetachedStdio, ProcessIdentity, spawn_detached,
};

use crate::waiting::{let_pass, system};
use crate::{ActorError, Performance};

/// Stands between the script and the two words of [`Part::from_words`].
pub(crate) const OPTION: &str = "--descendant";

/// Which process of the play this one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The one that was started as the agent.
    Agent,
    /// One that the script started.
    Descendant { stage: Stage, address: ForkAddress },
}

/// How far a descendant has got on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Has nothing left to do but its actions.
    Arrived,
    /// Opens a session of its own first.
    Leaving,
    /// Opens a session, starts the one that arrives, and is gone.
    Between { stdout: HeldStdout },
}

const STAGES: [(&str, Stage); 4] = [
    ("arrived", Stage::Arrived),
    ("leaving", Stage::Leaving),
    ("between-kept", Stage::Between { stdout: HeldStdout::Kept }),
    ("between-closed", Stage::Between { stdout: HeldStdout::Closed }),
];

impl Part {
    pub(crate) fn from_words(stage: &OsStr, address: &OsStr) -> Option<Self> {
        let stage = STAGES.iter().find(|(word, _)| stage == *word)?.1;
        Some(Self::Descendant { stage, address: address.to_str()?.parse().ok()? })
    }
}

impl Stage {
    fn word(self) -> &'static str {
        STAGES.iter().find(|(_, stage)| *stage == self).map_or("arrived", |(word, _)| word)
    }
}

/// Starts a descendant and returns once it is where it was meant to be, so that what the script does next cannot
/// overtake its escape.
pub(crate) fn fork(
    performance: &Performance,
    kind: ForkKind,
    stdout: HeldStdout,
    address: &ForkAddress,
) -> Result<(), ActorError> {
    let stage = match kind {
        ForkKind::Child => Stage::Arrived,
        ForkKind::Setsid => Stage::Leaving,
        ForkKind::Double => Stage::Between { stdout },
    };
    let child = start(performance, stage, stdout, address)?;
    match kind {
        ForkKind::Child => Ok(()),
        ForkKind::Setsid => wait_for_session(&child),
        ForkKind::Double => wait_for_end(&child),
    }
}

pub(crate) fn storm(performance: &Performance, count: u32, address: &ForkAddress) -> Result<(), ActorError> {
    for _ in 0..count {
        start(performance, Stage::Arrived, HeldStdout::Closed, address)?;
    }
    Ok(())
}

/// What a descendant does before its actions. Says whether there are any for this process.
pub(crate) fn enter(
    performance: &Performance,
    stage: Stage,
    address: &ForkAddress,
) -> Result<bool, ActorError> {
    let leave = || setsid().map(drop).map_err(|errno| system("open a session", errno));
    match stage {
        Stage::Arrived => Ok(true),
        Stage::Leaving => leave().map(|()| true),
        Stage::Between { stdout } => {
            leave()?;
            start(performance, Stage::Arrived, stdout, address).map(|_| false)
        }
    }
}

fn start(
    performance: &Performance,
    stage: Stage,
    stdout: HeldStdout,
    address: &ForkAddress,
) -> Result<ProcessIdentity, ActorError> {
    let output = match stdout {
        HeldStdout::Kept => DetachedStdio::Inherit,
        HeldStdout::Closed => DetachedStdio::Null,
    };
    Ok(spawn_detached(&DetachedCommand {
        program: performance.program.clone(),
        args: vec![
            OsString::from(PLAY_COMMAND),
            performance.script_file.clone().into_os_string(),
            OsString::from(OPTION),
            OsString::from(stage.word()),
            OsString::from(address.to_string()),
        ],
        directory: performance.workspace.clone(),
        environment: performance.environment.clone(),
        stdin: DetachedStdio::Null,
        stdout: output.clone(),
        stderr: output,
        group: DetachedGroup::Inherited,
    })?)
}

fn wait_for_session(child: &ProcessIdentity) -> Result<(), ActorError> {
    let pid = pid_of(child)?;
    loop {
        let ended = waitpid(Some(pid), WaitOptions::NOHANG);
        let ended = ended.map_err(|errno| system("look at a descendant", errno))?;
        if ended.is_some() || child.leads_session() {
            return Ok(());
        }
        let_pass(1);
    }
}

fn wait_for_end(child: &ProcessIdentity) -> Result<(), ActorError> {
    let pid = pid_of(child)?;
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(system("wait for a descendant", errno)),
        }
    }
}

fn pid_of(child: &ProcessIdentity) -> Result<Pid, ActorError> {
    let pid = i32::try_from(child.pid).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| system("read the id of a descendant", Errno::INVAL))
}
