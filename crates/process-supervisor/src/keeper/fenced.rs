//! Starts the child inside its fence. The keeper itself stays outside: it goes on writing the records that the child must not
//! reach.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, scope};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::pipe;

use crate::child_end::NotStartedKind;
use crate::child_spec::OverlayMount;
use crate::launch::{Launch, NotLaunchable, spawn_failure};
use crate::launcher;
use crate::sandbox::{DEVICES, Sandbox, SandboxKind, landlock};

pub(super) fn spawn(
    launch: &Launch<'_>,
    stdin: Stdio,
    (sandbox, overlay): (Option<&Sandbox>, Option<&OverlayMount>),
) -> Result<Child, NotLaunchable> {
    if overlay.is_some() {
        return through_launcher(launch, stdin, (sandbox, overlay));
    }
    match sandbox {
        None => started(&mut launch.command()?, stdin, launch.program),
        Some(sandbox) if sandbox.kind == SandboxKind::Landlock => {
            let mut command = launch.command()?;
            let devices = DEVICES.iter().map(Path::new);
            // Landlock holds the thread that asks for it and whatever that thread starts. A thread that then ends costs less
            // than a process that then becomes the child, and leaves the rest of the keeper as it was.
            scope(|scope| {
                let fenced = || {
                    let places = sandbox.writable.iter().map(PathBuf::as_path);
                    landlock::restrict_this_thread(places.chain(devices))
                        .map_err(|error| no_fence(&error))?;
                    started(&mut command, stdin, launch.program)
                };
                let thread = Builder::new()
                    .spawn_scoped(scope, fenced)
                    .map_err(|error| spawn_failure(launch.program, &error))?;
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        }
        Some(_) => through_launcher(launch, stdin, (sandbox, None)),
    }
}

fn started(command: &mut Command, stdin: Stdio, program: &Path) -> Result<Child, NotLaunchable> {
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| spawn_failure(program, &error))
}

fn through_launcher(
    launch: &Launch<'_>,
    stdin: Stdio,
    (sandbox, overlay): (Option<&Sandbox>, Option<&OverlayMount>),
) -> Result<Child, NotLaunchable> {
    // What lies in the layers is there for the launcher and not for us.
    let inside = overlay.is_some() && launch.is_relative();
    let program = if inside { launch.directory.join(launch.program) } else { launch.resolved()? };
    let own = std::env::current_exe().map_err(|error| no_fence(&error))?;
    // The launcher inherits the writing end; for the short time nothing else is started here.
    let (reading, writing) = pipe().map_err(|error| no_fence(&error))?;
    fcntl_setfd(&reading, FdFlags::CLOEXEC).map_err(|error| no_fence(&error))?;
    let words = launcher::words(&writing, (sandbox, overlay), (&program, launch.program, launch.args));
    let through = Launch { program: &own, args: &words, ..*launch };
    let mut child = started(&mut through.command()?, stdin, launch.program)?;
    drop(writing);
    match launcher::heard(reading) {
        None => Ok(child),
        Some(reason) => {
            // It has said its last word and is ending.
            let _ = child.wait();
            Err(if sandbox.is_some() { no_fence(&reason) } else { no_layers(&reason) })
        }
    }
}

fn no_layers(why: &str) -> NotLaunchable {
    NotLaunchable { kind: NotStartedKind::Other, reason: format!("its workspace cannot be set up: {why}") }
}

fn no_fence(why: &impl std::fmt::Display) -> NotLaunchable {
    NotLaunchable { kind: NotStartedKind::Other, reason: format!("its sandbox cannot be set up: {why}") }
}
