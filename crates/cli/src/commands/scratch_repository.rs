//! A small repository of our own, made for showing or trying something. Nothing of the user's git configuration counts in
//! it: a hook or a signing key has no place there.

use crate::wiring::Environment;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};
use windlass_process_supervisor::QuickCommand;

/// Commits all files that stand in this directory.
pub(super) fn make(directory: &Path, message: &str, environment: &Environment) -> Result<(), Fault> {
    git(directory, &["init", "--quiet", "--initial-branch=main"], environment)?;
    commit_all(directory, message, environment)
}

pub(super) fn commit_all(directory: &Path, message: &str, environment: &Environment) -> Result<(), Fault> {
    git(directory, &["add", "--all"], environment)?;
    git(directory, &["commit", "--quiet", &format!("--message={message}")], environment)
}

pub(super) fn merge(directory: &Path, branch: &str, environment: &Environment) -> Result<(), Fault> {
    git(directory, &["merge", "--quiet", "--ff-only", branch], environment)
}

fn git(directory: &Path, args: &[&str], environment: &Environment) -> Result<(), Fault> {
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let command = QuickCommand::new("git", directory)
        .args(args.iter().copied())
        .env("PATH", path)
        .env("HOME", directory.as_os_str())
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")])
        .envs([("GIT_AUTHOR_NAME", "Demo"), ("GIT_AUTHOR_EMAIL", "demo@localhost")])
        .envs([("GIT_COMMITTER_NAME", "Demo"), ("GIT_COMMITTER_EMAIL", "demo@localhost")]);
    let failed = |what: String| {
        Fault::new(Code::GitUnusable, format!("`git {}` failed: {what}", args.join(" ")))
            .hint("`windlass doctor` says whether git can be used")
    };
    let output = command.run().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// Makes the directory, and refuses one that holds anything.
pub(super) fn empty_directory(path: &Path) -> Result<PathBuf, Fault> {
    std::fs::create_dir_all(path).map_err(|error| file_fault("make the directory", path, &error))?;
    let mut entries = std::fs::read_dir(path).map_err(|error| file_fault("read", path, &error))?;
    if entries.next().is_some() {
        let fault = Fault::new(Code::BadArgument, format!("{} is not empty", path.display()));
        return Err(fault.kept("nothing was changed").hint("give an empty or a new directory to --keep"));
    }
    Ok(path.to_owned())
}

pub(crate) fn temporary_directory(prefix: &str) -> Result<tempfile::TempDir, Fault> {
    tempfile::Builder::new()
        .prefix(prefix)
        .tempdir()
        .map_err(|error| Fault::new(Code::FileSystem, format!("cannot make a temporary directory: {error}")))
}

/// The user's environment without what is meant for Windlass itself, and with a state directory there.
pub(super) fn environment(state: &Path, user: &Environment) -> Environment {
    let ours = |name: &OsStr| name.to_string_lossy().starts_with("WINDLASS_");
    let mut environment: Environment = user
        .iter()
        .filter(|(name, _)| !ours(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment.insert("WINDLASS_STATE_DIR".into(), state.into());
    environment
}

pub(super) fn file_fault(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::FileSystem, format!("cannot {doing} {}: {error}", path.display()))
        .hint("is there room on the disk, and may you write there?")
}
