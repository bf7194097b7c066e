//! The one place that calls `Command::new`. Programs are resolved here, in the given `PATH`, so that the standard
//! library can use `posix_spawn`: it falls back to forking the whole parent when it has to search a changed `PATH`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};

use crate::child_end::NotStartedKind;

/// Why a program cannot be started, in words for a user.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct NotLaunchable {
    pub(crate) kind: NotStartedKind,
    pub(crate) reason: String,
}

/// Whether a child leads a process group of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Own,
    Inherited,
}

pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [OsString],
    pub(crate) directory: &'a Path,
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    pub(crate) group: Group,
}

impl Launch<'_> {
    /// A command that inherits nothing but what the caller then adds as standard streams.
    #[expect(clippy::disallowed_methods, reason = "this is the one place where children are made")]
    pub(crate) fn command(&self) -> Result<Command, NotLaunchable> {
        let mut command = Command::new(self.resolved()?);
        command.arg0(self.program).args(self.args).current_dir(self.directory);
        command.env_clear().envs(self.environment);
        if self.group == Group::Own {
            command.process_group(0);
        }
        Ok(command)
    }

    /// Whether the program is named by where it lies from the directory.
    pub(crate) fn is_relative(&self) -> bool {
        self.program.is_relative() && self.program.as_os_str().as_encoded_bytes().contains(&b'/')
    }

    /// The file that would be executed.
    pub(crate) fn resolved(&self) -> Result<PathBuf, NotLaunchable> {
        if !self.directory.is_dir() {
            return Err(NotLaunchable {
                kind: NotStartedKind::Other,
                reason: format!("working directory {} does not exist", self.directory.display()),
            });
        }
        resolve(self.program, self.directory, self.environment.get(OsStr::new("PATH")))
    }
}

/// Sorts what the kernel said about starting `program`.
pub(crate) fn spawn_failure(program: &Path, error: &io::Error) -> NotLaunchable {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => NotStartedKind::NotFound,
        io::ErrorKind::PermissionDenied => NotStartedKind::NotExecutable,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            NotStartedKind::NotExecutable
        }
        _ if lacks_room(error) => NotStartedKind::NoRoom,
        _ => NotStartedKind::Other,
    };
    let reason = if kind == NotStartedKind::NotFound {
        format!("{} names an interpreter that was not found", program.display())
    } else {
        format!("{} cannot be started: {error}", program.display())
    };
    NotLaunchable { kind, reason }
}

/// No further process or thread, no memory for one, no descriptor: none of it is about the program, and all of it passes.
fn lacks_room(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let scarce = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
    scarce.iter().any(|scarce| error.raw_os_error() == Some(scarce.raw_os_error()))
}

fn resolve(program: &Path, directory: &Path, search: Option<&OsString>) -> Result<PathBuf, NotLaunchable> {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        let path = directory.join(program);
        return match executable(&path) {
            Executable::Yes => Ok(path),
            Executable::No => Err(not_executable(&path)),
            Executable::Missing => Err(NotLaunchable {
                kind: NotStartedKind::NotFound,
                reason: format!("program {} was not found", path.display()),
            }),
        };
    }
    let mut refused = None;
    for folder in search.map(std::env::split_paths).into_iter().flatten() {
        let path = directory.join(folder).join(program);
        match executable(&path) {
            Executable::Yes => return Ok(path),
            Executable::No => refused = refused.or(Some(path)),
            Executable::Missing => {}
        }
    }
    match refused {
        Some(path) => Err(not_executable(&path)),
        None => Err(NotLaunchable {
            kind: NotStartedKind::NotFound,
            reason: format!("program {} was not found in PATH", program.display()),
        }),
    }
}

fn not_executable(path: &Path) -> NotLaunchable {
    NotLaunchable {
        kind: NotStartedKind::NotExecutable,
        reason: format!("{} is not an executable file", path.display()),
    }
}

enum Executable {
    Yes,
    No,
    Missing,
}

fn executable(path: &Path) -> Executable {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() && access(path, Access::EXEC_OK).is_ok() => Executable::Yes,
        Ok(_) => Executable::No,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Executable::No,
        Err(_) => Executable::Missing,
    }
}
