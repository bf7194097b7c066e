//! One process per repository, whatever state directory it uses: a file in the repository's common git directory that
//! the system locks for as long as its holder lives. The lock decides; what is written in the file only explains.

use crate::clock::SystemClock;
use crate::fault::bug;
use crate::holder::Owner;
use crate::state_dir::StateDir;
use rustix::fs::{FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};
use windlass_engine::Clock;

pub(crate) const FILE_NAME: &str = "windlass.lock";

/// More than any holder writes about itself.
const RECORD_BYTES: usize = 16 * 1024;

/// Who holds the lock, in its own words. Nobody is believed to hold it because of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) owner: Owner,
    pub(crate) since_ms: u64,
    pub(crate) state_directory: PathBuf,
    pub(crate) host: String,
}

impl Record {
    pub(crate) fn of(owner: &Owner, state: &StateDir) -> Self {
        Self {
            owner: owner.clone(),
            since_ms: SystemClock.now().0,
            state_directory: state.path().to_owned(),
            host: host_name(),
        }
    }

    /// Left behind by a holder that was killed: the present one has not yet written its own.
    fn is_left_over(&self) -> bool {
        self.host == host_name() && !self.owner.lives()
    }
}

/// Held until it is dropped, or until this process is gone.
#[derive(Debug)]
pub(crate) struct RepositoryLock {
    path: PathBuf,
    file: RefCell<File>,
    record: String,
}

/// What came of asking for the lock.
pub(crate) enum Asked {
    Granted(RepositoryLock),
    /// With the holder's words about itself, where they can be read.
    Held(Option<Record>),
}

/// What the holder found when it looked after its lock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    AsItWas,
    /// The file was taken away; nobody had taken the lock meanwhile.
    PutBack,
}

impl RepositoryLock {
    pub(crate) fn ask(common_dir: &Path, record: &Record) -> Result<Asked, Fault> {
        let path = common_dir.join(FILE_NAME);
        let record = serde_json::to_string(record).map_err(|error| bug(error.to_string()))?;
        Ok(match lock(&path)? {
            Some(file) => {
                write(&file, &record).map_err(|error| unusable("write", &path, &error))?;
                Asked::Granted(Self { path, file: RefCell::new(file), record })
            }
            None => Asked::Held(read(&path)),
        })
    }

    /// Whoever deletes the file opens the door for a second holder. The first one closes it again, or goes when it comes
    /// too late.
    pub(crate) fn look_after(&self) -> Result<Standing, Fault> {
        if is_at(&self.file.borrow(), &self.path) {
            return Ok(Standing::AsItWas);
        }
        let Some(file) = lock(&self.path)? else {
            let message = format!(
                "{} was taken away while this process held it, and another one holds it now",
                self.path.display()
            );
            return Err(Fault::new(Code::RepositoryHeld, message)
                .kept("everything recorded so far; agents at work go on and their results are kept")
                .hint("`windlass resume RUN` goes on when the other process is done"));
        };
        write(&file, &self.record).map_err(|error| unusable("write", &self.path, &error))?;
        self.file.replace(file);
        Ok(Standing::PutBack)
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        // The words go before the lock does; if they stay, the next holder sees that they are a dead process's.
        let _ = self.file.borrow().set_len(0);
    }
}

/// The file, locked, and known to be the one that everybody else finds. `None` when somebody else holds it.
fn lock(path: &Path) -> Result<Option<File>, Fault> {
    loop {
        let file = open(path).map_err(|error| unusable("open", path, &error))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Deleted or replaced between opening and locking: a lock on a file that nobody finds keeps nobody out.
            Ok(()) if !is_at(&file, path) => {}
            Ok(()) => return Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(unusable("lock", path, &error.into())),
        }
    }
}

/// A link or a pipe in its place is refused. Children do not inherit it, so an agent cannot keep the lock alive.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, Mode::from(0o600)) {
        Ok(made) => {
            let made = File::from(made);
            // Whoever shares the repository shares the lock.
            let directory = path.parent().unwrap_or(Path::new("/")).metadata()?;
            made.set_permissions(PermissionsExt::from_mode(directory.mode() & 0o666))?;
            made
        }
        Err(rustix::io::Errno::EXIST) => match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(found) => File::from(found),
            // Deleted just now: the next attempt makes it.
            Err(rustix::io::Errno::NOENT) => return open(path),
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("it is no plain file")) }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(found)) => identity(held) == identity(found),
        _ => false,
    }
}

fn write(mut file: &File, record: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0))?;
    file.write_all(record.as_bytes())
}

fn read(path: &Path) -> Option<Record> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let mut bytes = vec![0; RECORD_BYTES];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let record: Record = serde_json::from_slice(bytes.get(..length)?).ok()?;
    (!record.is_left_over()).then_some(record)
}

fn unusable(action: &str, path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(
        Code::GitUnusable,
        format!("cannot {action} the lock of the repository, {}: {error}", path.display()),
    )
    .kept("nothing was changed")
    .hint("Windlass writes branches and worktrees into the git directory: make it writable, and its lock a plain file")
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let owner = Owner::this_process("a-run", "windlass run TASK-1").unwrap();
        Record { owner, since_ms: 7, state_directory: "/somewhere".into(), host: host_name() }
    }

    fn granted(directory: &Path) -> RepositoryLock {
        match RepositoryLock::ask(directory, &record()).unwrap() {
            Asked::Granted(lock) => lock,
            Asked::Held(holder) => panic!("held by {holder:?}"),
        }
    }

    #[test]
    fn the_second_to_ask_is_told_about_the_first_and_comes_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = granted(directory.path());
        let Asked::Held(Some(holder)) = RepositoryLock::ask(directory.path(), &record()).unwrap() else {
            panic!("granted twice");
        };
        assert_eq!((holder.owner.run.as_str(), holder.since_ms), ("a-run", 7));
        drop(first);
        let _second = granted(directory.path());
    }

    #[test]
    fn words_of_a_dead_holder_explain_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let lock = granted(directory.path());
        let mut dead = record();
        dead.owner.process.start_ticks += 1;
        write(&lock.file.borrow(), &serde_json::to_string(&dead).unwrap()).unwrap();
        assert!(matches!(RepositoryLock::ask(directory.path(), &record()).unwrap(), Asked::Held(None)));
    }

    #[test]
    fn a_holder_puts_a_deleted_file_back_unless_another_was_faster() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE_NAME);
        let first = granted(directory.path());
        assert_eq!(first.look_after().unwrap(), Standing::AsItWas);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(first.look_after().unwrap(), Standing::PutBack);
        assert!(matches!(RepositoryLock::ask(directory.path(), &record()).unwrap(), Asked::Held(Some(_))));
        std::fs::remove_file(&path).unwrap();
        let _second = granted(directory.path());
        assert_eq!(first.look_after().unwrap_err().code, Code::RepositoryHeld);
    }

    #[test]
    fn what_is_no_plain_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE_NAME);
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        let Err(fault) = RepositoryLock::ask(directory.path(), &record()) else { panic!("granted") };
        assert_eq!(fault.code, Code::GitUnusable);
        assert!(!directory.path().join("elsewhere").exists());
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(RepositoryLock::ask(directory.path(), &record()).is_err());
    }
}
