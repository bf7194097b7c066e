//! A hermetic world for one test: its own home, a repository made with plain git, and a control directory beside it.
#![expect(dead_code, reason = "each test program uses its part")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use windlass_git_workspaces::{
    Checkout, Commit, Git, IgnoredFiles, Keeping, Moment, Patch, RepoPath, Repository, Snapshot,
    SnapshotLimits, TreeId,
};
use windlass_process_supervisor::QuickCommand;

pub(crate) const NOON: Moment = Moment { seconds: 1_700_000_000, offset_minutes: 60 };
pub(crate) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

pub(crate) struct World {
    pub(crate) root: tempfile::TempDir,
    pub(crate) repo: PathBuf,
}

impl World {
    /// A repository with a few files of each kind and one commit.
    pub(crate) fn new() -> Self {
        let world = Self::empty("repo", &[]);
        world.write("readme.txt", "hello\n");
        world.write("src/main.rs", "fn main() {}\n");
        world.write("src/deep/er/data.bin", b"\0\x01\x02\xff\0".as_slice());
        world.write("tool.sh", "#!/bin/sh\n");
        chmod(&world.repo.join("tool.sh"), 0o755);
        std::os::unix::fs::symlink("readme.txt", world.repo.join("link")).unwrap();
        world.write(".gitignore", "*.ignored\n/target/\n");
        world.commit_all("first");
        world
    }

    /// A repository without a commit, in a directory of this name.
    pub(crate) fn empty(name: impl AsRef<OsStr>, init_options: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let repo = root.path().canonicalize().unwrap().join(name.as_ref());
        fs::create_dir_all(&repo).unwrap();
        let world = Self { root, repo };
        let mut arguments = vec!["init", "-q", "-b", "main"];
        arguments.extend(init_options);
        world.git(&world.repo, &arguments);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        write(&self.repo.join(path), content);
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.git(&self.repo, &["add", "-A"]);
        self.git(&self.repo, &["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Plain git as a user or an agent would run it; fails the test if git does.
    pub(crate) fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.try_git(directory, arguments);
        output.unwrap_or_else(|stderr| panic!("git {arguments:?} failed: {stderr}"))
    }

    pub(crate) fn try_git(&self, directory: &Path, arguments: &[&str]) -> Result<String, String> {
        let output = QuickCommand::new("git", directory)
            .args(arguments.iter().copied())
            .env("PATH", SEARCH_PATH)
            .env("HOME", self.root.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A U Thor")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_AUTHOR_DATE", "1600000000 +0000")
            .env("GIT_COMMITTER_DATE", "1600000000 +0000")
            .env("GIT_COMMITTER_NAME", "C O Mitter")
            .env("GIT_COMMITTER_EMAIL", "committer@example.com")
            .run()
            .unwrap();
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// A line of a shell in which git is the user's.
    pub(crate) fn shell(&self, directory: &Path, line: &str) {
        let command = QuickCommand::new("/bin/sh", directory).args(["-c", line]);
        let output = command.env("PATH", SEARCH_PATH).env("HOME", self.root.path()).run().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A repository whose git can be taken away, to prove that nobody asks for it.
    pub(crate) fn with_removable_git(&self) -> (Repository, PathBuf) {
        let link = self.path("bin").join("git");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let real = self.git(&self.repo, &["--exec-path"]);
        std::os::unix::fs::symlink(Path::new(&real).join("git"), &link).unwrap();
        let git = Git::locate(link.parent().unwrap().as_os_str()).unwrap();
        let checkout = Checkout::discover(&self.repo).unwrap();
        (Repository::open(git, checkout, &self.path("control")).unwrap(), link)
    }

    pub(crate) fn open(&self) -> Repository {
        self.open_at(&self.repo)
    }

    pub(crate) fn open_at(&self, path: &Path) -> Repository {
        let checkout = Checkout::discover(path).unwrap();
        Repository::open(locate_git(), checkout, &self.path("control")).unwrap()
    }

    /// The repository and its HEAD, imported.
    pub(crate) fn ready(&self) -> (Repository, Commit) {
        let repository = self.open();
        let base = repository.head().unwrap();
        repository.import(&base).unwrap();
        (repository, base)
    }

    /// The repository with a worktree for a maker at `doer`, on branch `work`.
    pub(crate) fn with_doer(&self) -> (Repository, Commit, PathBuf) {
        let (repository, base) = self.ready();
        let doer = self.path("doer");
        repository.add_worktree(&doer, "work", "doer", &base).unwrap();
        (repository, base, doer)
    }
}

/// Under this name, without ignored files.
pub(crate) fn keeping(name: &str) -> Keeping<'_> {
    Keeping { name, time: NOON, ignored: IgnoredFiles::LeftOut }
}

pub(crate) fn locate_git() -> Git {
    Git::locate(OsStr::new(SEARCH_PATH)).unwrap()
}

pub(crate) fn take(repository: &Repository, directory: &Path, base: &Commit) -> Snapshot {
    repository.snapshot(directory, "doer", &base.tree, SnapshotLimits::default()).unwrap()
}

pub(crate) fn patch_text(repository: &Repository, base: &TreeId, tree: &TreeId) -> Vec<u8> {
    match repository.patch(base, tree, 1 << 30).unwrap() {
        Patch::Complete(patch) => patch,
        Patch::TooLarge { .. } => panic!("a test patch is not that large"),
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn text(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

/// Path, mode (0 for a link, 1 for an empty directory) and content or link target.
pub(crate) type Found = (OsString, u32, Vec<u8>);

/// Every file, link and empty directory under `directory` except a top-level `.git`, with mode and content.
pub(crate) fn contents(directory: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(current) = open.pop() {
        let mut is_empty = true;
        for entry in fs::read_dir(&current).unwrap() {
            is_empty = false;
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(directory).unwrap().as_os_str().to_owned();
            if relative == ".git" {
                continue;
            }
            let kind = fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                found.push((
                    relative,
                    0,
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                ));
            } else {
                found.push((relative, kind.permissions().mode() & 0o777, fs::read(&path).unwrap()));
            }
        }
        if is_empty && current != directory {
            found.push((current.strip_prefix(directory).unwrap().as_os_str().to_owned(), 1, Vec::new()));
        }
    }
    found.sort();
    found
}
