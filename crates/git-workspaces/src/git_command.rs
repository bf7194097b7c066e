//! Finds the git program and runs it with an environment made from nothing. The only file that starts a process;
//! it must not know which repository a call is about beyond the directories it is handed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_process_supervisor::{QuickCommand, QuickOutput};

use crate::error::GitError;
use crate::repo_path::quoted;

/// Older ones lack fixes we rely on: `core.fsync` by component, `read-tree --reset` over untracked files.
const MINIMUM: GitVersion = GitVersion { major: 2, minor: 39 };
const MINIMUM_TEXT: &str = "2.39";
/// Reading or writing a large tree takes time; a git that sits longer than this hangs on something planted.
const DEADLINE: Duration = Duration::from_mins(10);
/// Listings of very large repositories fit; a patch is bounded by its own limit.
const OUTPUT_LIMIT: usize = 512 * 1024 * 1024;

/// The git program, found and checked once.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    version: GitVersion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
}

impl Git {
    /// Looks for git in a search path of the form of `PATH`. Relative entries are skipped: they would name whatever
    /// a repository put there.
    pub fn locate(search_path: &OsStr) -> Result<Self, GitError> {
        let program = std::env::split_paths(search_path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join("git"))
            .find(|candidate| is_executable(candidate))
            .ok_or_else(|| GitError::GitNotFound {
                search_path: search_path.to_string_lossy().into_owned(),
            })?;
        let output = QuickCommand::new(&program, "/").arg("--version").env("LC_ALL", "C").run()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match GitVersion::parse(&text) {
            Some(version) if version >= MINIMUM => Ok(Self { program, version }),
            _ => Err(GitError::GitTooOld { program, found: text, minimum: MINIMUM_TEXT }),
        }
    }

    pub fn version(&self) -> GitVersion {
        self.version
    }

    /// A call on a git directory of ours. `directory` is where it runs.
    pub(crate) fn call(&self, git_dir: &Path, directory: &Path) -> GitCall {
        let mut search_path = self.program.parent().unwrap_or(Path::new("/usr/bin")).as_os_str().to_owned();
        search_path.push(":/usr/bin:/bin");
        let command = QuickCommand::new(&self.program, directory)
            .envs([
                ("LC_ALL", "C"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_ATTR_NOSYSTEM", "1"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_OPTIONAL_LOCKS", "0"),
                ("GIT_NO_REPLACE_OBJECTS", "1"),
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_ALLOW_PROTOCOL", ""),
                ("GIT_GRAFT_FILE", "/dev/null"),
                ("GIT_CEILING_DIRECTORIES", "/"),
                ("GIT_ADVICE", "0"),
                ("GIT_AUTHOR_NAME", "windlass"),
                ("GIT_AUTHOR_EMAIL", "windlass@localhost"),
                ("GIT_COMMITTER_NAME", "windlass"),
                ("GIT_COMMITTER_EMAIL", "windlass@localhost"),
            ])
            .env("PATH", search_path)
            .env("GIT_DIR", git_dir)
            .deadline(DEADLINE)
            .output_limit(OUTPUT_LIMIT);
        GitCall { command, shown: String::from("git") }
    }

    /// A call in somebody's own checkout, with the environment that they would make it in. Takes none of their locks.
    pub(crate) fn persons_call(
        &self,
        (git_dir, work_tree): (&Path, &Path),
        environment: &BTreeMap<OsString, OsString>,
    ) -> GitCall {
        let command = QuickCommand::new(&self.program, work_tree)
            .envs(environment.clone())
            .envs([
                ("LC_ALL", "C"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_OPTIONAL_LOCKS", "0"),
                ("GIT_NO_LAZY_FETCH", "1"),
            ])
            .env("GIT_DIR", git_dir)
            .env("GIT_WORK_TREE", work_tree)
            .deadline(DEADLINE)
            .output_limit(OUTPUT_LIMIT);
        GitCall { command, shown: String::from("git") }
    }
}

impl GitVersion {
    /// Reads `git version 2.39.5 (Apple Git-154)` and the like.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.strip_prefix("git version ")?.split(['.', ' ', '-']).map(str::parse);
        Some(Self { major: numbers.next()?.ok()?, minor: numbers.next()?.ok()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// One git process in the making.
pub(crate) struct GitCall {
    command: QuickCommand,
    shown: String,
}

impl GitCall {
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        let arg = arg.into();
        self.shown.push(' ');
        self.shown.push_str(&arg.to_string_lossy());
        self.command = self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: Into<OsString>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    pub(crate) fn work_tree(self, path: &Path) -> Self {
        self.env("GIT_WORK_TREE", path)
    }

    pub(crate) fn index_file(self, path: &Path) -> Self {
        self.env("GIT_INDEX_FILE", path)
    }

    pub(crate) fn objects_in(self, path: &Path) -> Self {
        self.env("GIT_OBJECT_DIRECTORY", path)
    }

    pub(crate) fn also_objects_in(self, path: &Path) -> Self {
        let list = quoted(path.as_os_str().as_encoded_bytes());
        self.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(list))
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.command = self.command.stdin(bytes);
        self
    }

    pub(crate) fn output_limit(mut self, bytes: usize) -> Self {
        self.command = self.command.output_limit(bytes);
        self
    }

    /// Runs to the end and returns what was printed, whatever the exit status.
    pub(crate) fn run_any(self) -> Result<QuickOutput, GitError> {
        windlass_crash_points::reach("git.before");
        let output = self.command.run();
        windlass_crash_points::reach("git.after");
        Ok(output?)
    }

    /// Runs to the end and returns standard output; any exit status but zero is an error.
    pub(crate) fn run(self) -> Result<Vec<u8>, GitError> {
        let shown = self.shown.clone();
        let output = self.run_any()?;
        if output.status.success() { Ok(output.stdout) } else { Err(failure(shown, &output)) }
    }

    /// As [`Self::run`], but the statuses in `accepted` are answers too.
    pub(crate) fn run_accepting(self, accepted: &[i32]) -> Result<QuickOutput, GitError> {
        let shown = self.shown.clone();
        let output = self.run_any()?;
        match output.status.code() {
            Some(code) if accepted.contains(&code) => Ok(output),
            _ => Err(failure(shown, &output)),
        }
    }
}

fn failure(command: String, output: &QuickOutput) -> GitError {
    let stderr = String::from_utf8_lossy(&output.stderr);
    GitError::Command { command, status: output.status.to_string(), stderr: stderr.trim().to_owned() }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_git_prints_and_compared_by_number() {
        let parsed = |text| GitVersion::parse(text).map(|version| (version.major, version.minor));
        assert_eq!(parsed("git version 2.39.5"), Some((2, 39)));
        assert_eq!(parsed("git version 2.50.1 (Apple Git-155)"), Some((2, 50)));
        assert_eq!(parsed("git version 3.0-rc1"), Some((3, 0)));
        assert_eq!(parsed("git version next"), None);
        assert_eq!(parsed("hub version 1"), None);
        assert!(GitVersion { major: 2, minor: 9 } < MINIMUM);
    }

    #[test]
    fn an_old_git_is_refused_with_its_version() {
        let directory = tempfile::tempdir().unwrap();
        let fake = directory.path().join("git");
        std::fs::write(&fake, "#!/bin/sh\necho git version 2.17.1\n").unwrap();
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Git::locate(directory.path().as_os_str()).unwrap_err().to_string();
        assert!(error.contains("2.17.1") && error.contains("2.39 or newer"), "{error}");
    }

    #[test]
    fn a_search_path_without_git_is_named() {
        let error = Git::locate(OsStr::new(".:/nonexistent")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent"), "{error}");
    }
}
