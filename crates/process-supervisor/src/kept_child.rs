//! The engine's side of a kept child: start a keeper, find one again after a restart, wait for the end. It talks to
//! the keeper through the effect directory and signals only, so it does not matter which engine started it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::beside::aside;
use crate::child_end::ChildEnd;
use crate::child_spec::ChildSpec;
use crate::effect_dir::EffectDir;
use crate::error::SupervisorError;
use crate::identity::ProcessIdentity;
use crate::launch::{Group, Launch};
use crate::process_exit;
use crate::room::{Rooms, look_for_room};
use crate::sweep::sweep;

/// How long to look away while another process is between taking the lock and saying who it is.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The program that calls [`crate::keep`]; the effect directory is added as its last argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperProgram {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Complete, normally empty. It is the keeper's own; the child gets what its spec says.
    pub environment: BTreeMap<OsString, OsString>,
}

/// What there is in an effect directory.
#[derive(Debug)]
pub enum Found {
    /// No keeper ever came to the point of starting the child: it is safe to start.
    NotStarted,
    Running(KeptChild),
    Ended(ChildEnd),
    /// The keeper is gone and left no end: [`crate::sweep`], then the child counts as lost.
    Orphaned,
}

/// A child under a keeper. Dropping it changes nothing for the child.
#[derive(Debug)]
pub struct KeptChild {
    directory: EffectDir,
    /// Refers to the keeper process itself, never to a later one with its pid. `None` once that process is gone.
    keeper: Option<OwnedFd>,
    /// Set when the keeper is our own child and has to be reaped.
    own: Option<Child>,
}

/// Keepers whose `KeptChild` was dropped; reaped as they end, so that no zombies gather in a long-lived engine.
static UNWATCHED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Starts the child under a keeper. Whatever already runs or ran in this directory is adopted, never started again.
pub fn start(
    keeper: &KeeperProgram,
    effect_dir: &Path,
    spec: &ChildSpec,
) -> Result<KeptChild, SupervisorError> {
    reap_unwatched(None);
    let directory = EffectDir::new(effect_dir)?;
    match find(effect_dir)? {
        Found::NotStarted => {}
        Found::Running(child) => return Ok(child),
        Found::Ended(_) | Found::Orphaned => {
            return Ok(KeptChild { directory, keeper: None, own: None });
        }
    }
    std::fs::create_dir_all(effect_dir)
        .map_err(|source| SupervisorError::file("create", effect_dir, source))?;
    directory.write_spec(spec)?;
    look_for_room([effect_dir, &spec.directory])?;
    Rooms::take(&directory)?;
    let own = start_keeper(keeper, &directory)?;
    let pidfd = open_pidfd(own.id())?;
    Ok(KeptChild { directory, keeper: Some(pidfd), own: Some(own) })
}

/// Looks without changing anything.
pub fn find(effect_dir: &Path) -> Result<Found, SupervisorError> {
    let directory = EffectDir::new(effect_dir)?;
    let Some(identity) = directory.read_keeper()? else {
        return Ok(directory.read_end()?.map_or(Found::NotStarted, Found::Ended));
    };
    // While the keeper lives, an end is not the end: its child could have written it.
    if let Some(keeper) = pidfd_of(&identity) {
        return Ok(Found::Running(KeptChild { directory, keeper: Some(keeper), own: None }));
    }
    Ok(match directory.read_end()? {
        Some(end) => Found::Ended(end),
        None => Found::Orphaned,
    })
}

/// Makes it as if the child had never been started, for one that has ended and whose end is worth nothing, because what it
/// printed could not be kept. May be repeated; it refuses while a keeper is alive.
pub fn forget(effect_dir: &Path) -> Result<(), SupervisorError> {
    let directory = EffectDir::new(effect_dir)?;
    match directory.try_lock()? {
        Some(_lock) => directory.forget(),
        None => Err(SupervisorError::KeeperAlive { path: directory.path().to_owned() }),
    }
}

impl KeptChild {
    /// The directory this child belongs to.
    pub fn effect_dir(&self) -> &Path {
        self.directory.path()
    }

    /// Waits for the end. May be dropped and called again; every call returns the same end.
    ///
    /// When the keeper died without leaving an end, its children are swept and the end is `Lost`.
    pub async fn wait(&mut self) -> Result<ChildEnd, SupervisorError> {
        loop {
            self.keeper_gone().await?;
            match find(self.directory.path())? {
                Found::Ended(end) => return Ok(end),
                Found::Running(mut other) => self.keeper = other.keeper.take(),
                Found::NotStarted | Found::Orphaned => {
                    let path = self.directory.path().to_owned();
                    let failed =
                        |source| SupervisorError::Thread { purpose: "end what is left of a step", source };
                    match aside(move || sweep(&path)).map_err(failed)?.done().await {
                        Err(SupervisorError::KeeperAlive { .. }) => tokio::time::sleep(LOCK_PAUSE).await,
                        result => return result,
                    }
                }
            }
        }
    }

    /// Asks the keeper to end the child politely, then, after the grace period, by force. Returns at once.
    pub fn stop(&self) -> Result<(), SupervisorError> {
        self.signal(Signal::TERM)
    }

    /// Asks the keeper to end the child by force. Returns at once.
    pub fn kill(&self) -> Result<(), SupervisorError> {
        // Not a second SIGTERM: two of a kind that are pending together arrive as one.
        self.signal(Signal::QUIT)
    }

    fn signal(&self, signal: Signal) -> Result<(), SupervisorError> {
        // The keeper we started may have found another one at work: the one that said who it is has the child.
        let at_work = self.directory.read_keeper()?.as_ref().and_then(pidfd_of);
        let Some(keeper) = at_work.as_ref().or(self.keeper.as_ref()) else { return Ok(()) };
        match pidfd_send_signal(keeper, signal) {
            // A keeper that is gone has nothing left to stop.
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(SupervisorError::file("signal the keeper of", self.directory.path(), error)),
        }
    }

    /// Returns when the keeper process has ended, and reaps it if it is ours.
    async fn keeper_gone(&mut self) -> Result<(), SupervisorError> {
        let failed = |source| SupervisorError::file("watch the keeper of", self.directory.path(), source);
        if let Some(keeper) = &self.keeper {
            process_exit::ended(keeper).await.map_err(failed)?;
        }
        self.keeper = None;
        if let Some(mut own) = self.own.take() {
            // It has exited, so this does not block; its status says nothing that the directory does not.
            let _ = own.wait();
        }
        Ok(())
    }
}

impl Drop for KeptChild {
    fn drop(&mut self) {
        reap_unwatched(self.own.take());
    }
}

fn reap_unwatched(another: Option<Child>) {
    let mut unwatched = UNWATCHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    unwatched.extend(another);
    unwatched.retain_mut(|keeper| matches!(keeper.try_wait(), Ok(None)));
}

fn start_keeper(keeper: &KeeperProgram, directory: &EffectDir) -> Result<Child, SupervisorError> {
    let mut args = keeper.args.clone();
    args.push(directory.path().as_os_str().to_owned());
    let launch = Launch {
        program: &keeper.program,
        args: &args,
        directory: directory.path(),
        environment: &keeper.environment,
        // A terminal's Ctrl-C goes to the engine's group; the engine decides what it means for the child.
        group: Group::Own,
    };
    let failed = |source| SupervisorError::Start { program: keeper.program.clone(), source };
    let mut command = launch.command().map_err(|refused| failed(std::io::Error::other(refused)))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    windlass_crash_points::reach("keeper.before");
    let child = command.spawn().map_err(failed)?;
    windlass_crash_points::reach("keeper.after");
    Ok(child)
}

fn open_pidfd(pid: u32) -> Result<OwnedFd, SupervisorError> {
    let failed = |source| SupervisorError::Process { action: "watch", pid, source };
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let raw = raw.ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
    pidfd_open(raw, PidfdFlags::empty()).map_err(|error| failed(error.into()))
}

/// The order matters: only after the descriptor is open does "still the same start time" prove whom it refers to.
fn pidfd_of(identity: &ProcessIdentity) -> Option<OwnedFd> {
    let descriptor = open_pidfd(identity.pid).ok()?;
    identity.is_alive().then_some(descriptor)
}
