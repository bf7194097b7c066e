//! A git repository as a user has it, made with fixed names and dates so that ids are the same in every run.

use crate::untouched::Untouched;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_process_supervisor::QuickCommand;

pub struct Repository {
    path: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl Repository {
    pub(crate) fn make(path: PathBuf, environment: &BTreeMap<OsString, OsString>) -> Self {
        std::fs::create_dir_all(&path).expect("the world can be written");
        let mut environment = environment.clone();
        let fixed = [
            ("GIT_AUTHOR_NAME", "Tester"),
            ("GIT_AUTHOR_EMAIL", "tester@localhost"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_NAME", "Tester"),
            ("GIT_COMMITTER_EMAIL", "tester@localhost"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
        ];
        environment.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        let repository = Self { path, environment };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.write("README.md", "# A repository\n").commit("begin");
        repository
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As an argument for `--repo`.
    pub fn text(&self) -> &str {
        self.path.to_str().expect("the test chose a readable name")
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path.join(name);
        let folder = path.parent().expect("a file in the repository has a folder");
        std::fs::create_dir_all(folder).expect("the repository can be written");
        std::fs::write(path, text).expect("the repository can be written");
        self
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Commits everything there is; comes back with the id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git as the user would; comes back with what it printed, without the last line end.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command(args).run().expect("git can be run");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {}: {stderr}", args.join(" "));
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Whether git ends with 0, for questions such as `show-ref --verify`.
    pub fn git_succeeds(&self, args: &[&str]) -> bool {
        self.command(args).run().expect("git can be run").status.success()
    }

    /// How everything that is the user's own stands now.
    pub fn record(&self) -> Untouched {
        Untouched::record(self)
    }

    fn command(&self, args: &[&str]) -> QuickCommand {
        QuickCommand::new("git", &self.path).args(args.iter().copied()).envs(self.environment.clone())
    }
}
