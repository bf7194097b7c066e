//! Ways not to end, and ways to end badly. Nothing here has a limit of its own: limits are what it is there to test.

use std::path::Path;

use rustix::event::{Timespec, pause, poll};
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use windlass_agent_drivers::script::{Content, CrashSignal, Hang, Output};

use crate::actor::Next;
use crate::{ActorError, files, streams};

/// Short enough that a test does not wait, long enough that a waiting agent costs nothing.
const LOOK_EVERY_MS: u64 = 10;

pub(crate) fn hang(hang: &Hang) -> Result<Next, ActorError> {
    match hang {
        Hang::Quiet => loop {
            pause();
        },
        Hang::Chatty { every_ms, text } => {
            let line = Content::Text(format!("{text}\n"));
            loop {
                streams::say(Output::Stdout, &line)?;
                let_pass(*every_ms);
            }
        }
    }
}

pub(crate) fn wait_for(path: &Path) -> Result<(), ActorError> {
    loop {
        match std::fs::symlink_metadata(path) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => let_pass(LOOK_EVERY_MS),
            Err(source) => {
                return Err(ActorError::File { doing: "look for", path: path.to_owned(), source });
            }
        }
    }
}

pub(crate) fn beat(path: &Path, every_ms: u64) -> Result<Next, ActorError> {
    loop {
        files::append_bytes(path, b"beat\n")?;
        let_pass(every_ms);
    }
}

pub(crate) fn let_pass(milliseconds: u64) {
    let seconds = i64::try_from(milliseconds / 1000).unwrap_or(i64::MAX);
    let nanoseconds = i64::try_from(milliseconds % 1000 * 1_000_000).unwrap_or_default();
    // Ends early on a signal, which only makes the next look come sooner.
    let _ = poll(&mut [], Some(&Timespec { tv_sec: seconds, tv_nsec: nanoseconds }));
}

pub(crate) fn crash(signal: CrashSignal) -> Result<Next, ActorError> {
    let signal = match signal {
        CrashSignal::Kill => Signal::KILL,
        CrashSignal::Segv => Signal::SEGV,
        CrashSignal::Abrt => Signal::ABORT,
    };
    // A core file in the workspace would look like the agent's work.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, no_core).map_err(|errno| system("forbid a core file", errno))?;
    // Again and again: the handler the standard library keeps for stack overflows takes the first SEGV.
    loop {
        kill_process(getpid(), signal).map_err(|errno| system("send a signal to itself", errno))?;
    }
}

/// SIGTERM is received and nothing is done about it, for as long as this lives and longer.
pub(crate) struct DeafToTerm {
    _runtime: Runtime,
}

impl DeafToTerm {
    pub(crate) fn from_now_on() -> Result<Self, ActorError> {
        let failed = |source| ActorError::System { doing: "take over SIGTERM", source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
        let entered = runtime.enter();
        drop(signal(SignalKind::terminate()).map_err(failed)?);
        drop(entered);
        Ok(Self { _runtime: runtime })
    }
}

pub(crate) fn system(doing: &'static str, errno: rustix::io::Errno) -> ActorError {
    ActorError::System { doing, source: errno.into() }
}
