//! Starts the child inside its fence. The keeper itself stays outside: it goes on writing the records that the child must not
//! reach.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::pipe;

use crate::child_end::NotStartedKind;
use crate::launch::{Launch, NotLaunchable, spawn_failure};
use crate::launcher;
use crate::sandbox::{DEVICES, Sandbox, SandboxKind, landlock};

pub(super) fn spawn(
    launch: &Launch<'_>,
    stdin: Stdio,
    sandbox: Option<&Sandbox>,
) -> Result<Child, NotLaunchable> {
    match sandbox {
        None => started(&mut launch.command()?, stdin, launch.program),
        Some(sandbox) if sandbox.kind == SandboxKind::Landlock => {
            let mut command = launch.command()?;
            let devices = DEVICES.iter().map(Path::new);
            // Landlock holds the thread that asks for it and whatever that thread starts. A thread that then ends costs less
            // than a process that then becomes the child, and leaves the rest of the keeper as it was.
            std::thread::scope(|scope| {
                let fenced = || {
                    let places = sandbox.writable.iter().map(PathBuf::as_path);
                    landlock::restrict_this_thread(places.chain(devices))
                        .map_err(|error| no_fence(&error))?;
                    started(&mut command, stdin, launch.program)
                };
                scope.spawn(fenced).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        }
        Some(sandbox) => through_launcher(launch, stdin, sandbox),
    }
}

fn started(command: &mut Command, stdin: Stdio, program: &Path) -> Result<Child, NotLaunchable> {
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| spawn_failure(program, &error))
}

fn through_launcher(launch: &Launch<'_>, stdin: Stdio, sandbox: &Sandbox) -> Result<Child, NotLaunchable> {
    let program = launch.resolved()?;
    let own = std::env::current_exe().map_err(|error| no_fence(&error))?;
    // The launcher inherits the writing end; for the short time nothing else is started here.
    let (reading, writing) = pipe().map_err(|error| no_fence(&error))?;
    fcntl_setfd(&reading, FdFlags::CLOEXEC).map_err(|error| no_fence(&error))?;
    let places = sandbox.writable.iter().map(PathBuf::as_path);
    let words = launcher::words(&writing, places, (&program, launch.program, launch.args));
    let through = Launch { program: &own, args: &words, ..*launch };
    let mut child = started(&mut through.command()?, stdin, launch.program)?;
    drop(writing);
    match launcher::heard(reading) {
        None => Ok(child),
        Some(reason) => {
            // It has said its last word and is ending.
            let _ = child.wait();
            Err(no_fence(&reason))
        }
    }
}

fn no_fence(why: &impl std::fmt::Display) -> NotLaunchable {
    NotLaunchable { kind: NotStartedKind::Other, reason: format!("its sandbox cannot be set up: {why}") }
}
