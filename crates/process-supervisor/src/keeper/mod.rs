//! The keeper process: parent of exactly one child, which it starts at most once, bounds, buries and records. It knows
//! its effect directory and nothing of engines, and stays small because there is one of it for every running agent.

mod descendants;
mod fenced;
mod ladder;
mod output;
mod watch;

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::{getpid, set_child_subreaper};

use crate::cgroup::Cgroup;
use crate::child_end::{ChildEnd, EndedBy, HowEnded, NotStartedKind};
use crate::child_spec::{COOKIE_VARIABLE, ChildSpec, ChildStdin};
use crate::clock;
use crate::effect_dir::{ChildRecord, EffectDir, Survives};
use crate::error::SupervisorError;
use crate::identity::ProcessIdentity;
use crate::inherited_descriptors;
use crate::launch::{Group, Launch, NotLaunchable};
use crate::os_signals::report_files_that_may_not_grow;
use crate::own_secrets::keep_own_secrets;
use crate::process_table;
use crate::redaction::{Redaction, Secrets};
use crate::room::{Room, Rooms};
use crate::sweep;

/// A directory may be made writable again; the exit status of an agent that ran for an hour is worth the wait.
const WRITE_ATTEMPTS: u32 = 60;
const BETWEEN_WRITES: Duration = Duration::from_millis(500);

/// The whole life of a keeper. Returns the exit code of its process: 0 unless it could not do its work at all.
///
/// To be called before anything else is set up: it starts a runtime without threads and listens for signals.
pub fn keep(effect_dir: &Path) -> u8 {
    // It was told nothing but secrets.
    if keep_own_secrets(|_| false).is_err() || inherited_descriptors::close_on_exec().is_err() {
        return 1;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let kept = runtime
        .map_err(|source| SupervisorError::Signals { source })
        .and_then(|runtime| runtime.block_on(keep_one(effect_dir)));
    // The keeper has no terminal and no log. Whoever started it finds no end and settles the effect as lost.
    u8::from(kept.is_err())
}

async fn keep_one(effect_dir: &Path) -> Result<(), SupervisorError> {
    // Before the lock, so that from the first visible moment on a stop request is a request and not our death.
    let signals = watch::Signals::listen()?;
    report_files_that_may_not_grow()?;
    let directory = EffectDir::new(effect_dir)?;
    let Some(_lock) = directory.try_lock()? else {
        Rooms::forget(&directory);
        return Ok(());
    };
    if directory.read_end()?.is_some() {
        Rooms::forget(&directory);
        return Ok(());
    }
    if directory.read_keeper()?.is_some() {
        // An earlier keeper may have started the child: starting it again could do its work twice.
        return sweep::sweep_locked(&directory).map(drop);
    }
    let spec = directory.read_spec()?;
    set_child_subreaper(Some(getpid())).map_err(|error| SupervisorError::Process {
        action: "adopt orphans in",
        pid: std::process::id(),
        source: error.into(),
    })?;
    let mut rooms = Rooms::open(&directory)?;
    rooms.keeper.write(&ProcessIdentity::current()?, Survives::TheProcess)?;
    if spec.outlasts_power_cuts {
        // That it began, and what it finds: of a step that was cut off only its own work may be half there.
        flush_disks([directory.path(), &spec.directory])?;
    }
    let secrets = secrets(&spec);
    let redaction = Redaction::new(secrets.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())));
    // Never the name of an earlier group: whoever buries that one's child ends all its members.
    let name = format!("windlass-{}-{}", std::process::id(), clock::wall_ms());
    let group = Cgroup::make(&spec.limits, &name);
    if let Some(group) = &group {
        // Before the child: whoever buries it must know where its members are listed.
        directory.write_group(group)?;
    }
    let end = match spawn_in(group.as_ref(), &spec, &secrets) {
        Ok(child) => {
            let recorded = record(&child, rooms.child);
            let end = watch::until_the_end(
                &directory,
                (&spec, &redaction, group.as_ref()),
                child,
                recorded,
                signals,
            )
            .await?;
            let starved = group.as_ref().is_some_and(Cgroup::ran_out_of_memory);
            ChildEnd { ended_by: end.ended_by.or(starved.then_some(EndedBy::MemoryLimit)), ..end }
        }
        Err(refused) => {
            rooms.child.give_back();
            let how = HowEnded::NotStarted { reason: refused.reason, why: refused.kind };
            ChildEnd { started_ms: clock::wall_ms(), ..ChildEnd::without_run(how) }
        }
    };
    if let Some(group) = &group {
        group.remove();
    }
    if spec.outlasts_power_cuts {
        // An end that is known without what the child wrote would be worth nothing. A directory that the child took away
        // needs no flushing, and a disk that cannot be flushed is told of by the end that cannot be kept on it.
        let _ = flush_disks([directory.path(), &spec.directory]);
    }
    write_end(&directory, rooms.end, &end).await
}

/// Everything that anybody wrote to these disks: only the kernel knows which files a child wrote.
fn flush_disks(directories: [&Path; 2]) -> Result<(), SupervisorError> {
    let mut flushed = Vec::new();
    for directory in directories {
        let failed = |source| SupervisorError::file("flush", directory, source);
        // A child may have put something else in its place: a pipe would be waited for, and a link leads anywhere. The launch
        // of a child that has no directory says it better.
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened =
            std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(directory);
        let Ok(open) = opened else { continue };
        let disk = open.metadata().map_err(failed)?.dev();
        if !flushed.contains(&disk) {
            rustix::fs::syncfs(&open).map_err(|error| failed(error.into()))?;
            flushed.push(disk);
        }
    }
    Ok(())
}

/// The child is born in the group because its parent is there for that moment.
fn spawn_in(group: Option<&Cgroup>, spec: &ChildSpec, secrets: &Secrets) -> Result<Child, NotLaunchable> {
    let left = group.and_then(Cgroup::enter);
    let spawned = spawn(spec, secrets);
    if let Some(left) = left {
        left.go_back();
    }
    spawned
}

/// The values the engine put into our environment for the child, and nowhere else.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is how the keeper is handed what must not be stored"
)]
fn secrets(spec: &ChildSpec) -> Secrets {
    spec.secret_names.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?))).collect()
}

fn spawn(spec: &ChildSpec, secrets: &Secrets) -> Result<Child, NotLaunchable> {
    let stdin = match &spec.stdin {
        ChildStdin::Nothing => Stdio::null(),
        ChildStdin::File { path } => {
            std::fs::File::open(path).map(Stdio::from).map_err(|error| NotLaunchable {
                kind: NotStartedKind::Other,
                reason: format!("cannot open the input {}: {error}", path.display()),
            })?
        }
    };
    let mut environment = spec.environment.clone();
    environment.extend(secrets.clone());
    environment.insert(COOKIE_VARIABLE.into(), spec.cookie.clone().into());
    let launch = Launch {
        program: &spec.program,
        args: &spec.args,
        directory: &spec.directory,
        environment: &environment,
        group: Group::Own,
    };
    windlass_crash_points::reach("child.before");
    let child = fenced::spawn(&launch, stdin, (spec.sandbox.as_ref(), spec.overlay.as_ref()))?;
    windlass_crash_points::reach("child.after");
    Ok(child)
}

/// A child that is not reaped has its line in the process table, so that it is not found means `/proc` itself cannot be
/// read.
fn record(child: &Child, mut room: Room) -> Result<ChildRecord, SupervisorError> {
    let gone = || SupervisorError::Process {
        action: "record",
        pid: child.id(),
        source: rustix::io::Errno::SRCH.into(),
    };
    let identity = ProcessIdentity::of(child.id()).map_err(|_| gone())?;
    let session = process_table::read(child.id()).ok_or_else(gone)?.session;
    let record = ChildRecord { identity, started_ms: clock::wall_ms(), session };
    room.write(&record, Survives::TheProcess)?;
    Ok(record)
}

async fn write_end(directory: &EffectDir, mut room: Room, end: &ChildEnd) -> Result<(), SupervisorError> {
    for _ in 1..WRITE_ATTEMPTS {
        if room.write(end, Survives::PowerCuts).is_ok() {
            return Ok(());
        }
        // A child may have taken the room away.
        if directory.write_end(end).is_ok() {
            room.give_back();
            return Ok(());
        }
        tokio::time::sleep(BETWEEN_WRITES).await;
    }
    directory.write_end(end)
}
