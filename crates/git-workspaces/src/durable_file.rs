//! Writing files so that a crash leaves either the old or the new content. Must not know what the files mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::GitError;

/// Between a file's name and the numbers of whoever writes it.
const TEMPORARY: &str = ".tmp-";

/// Replaces `path` by a file with this content, durably.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), GitError> {
    let temporary = unique_beside(path);
    let written = write_new(&temporary, content)
        .and_then(|file| file.sync_all())
        .and_then(|()| rename(&temporary, path));
    if written.is_err() {
        // The original error matters more than a temporary file that could not be taken away.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(GitError::io("write", path))
}

/// As [`replace`], but only killing us cannot tear it: for what is written again before it is next needed, or flushed
/// together with other things.
pub(crate) fn replace_for_now(path: &Path, content: &[u8]) -> Result<(), GitError> {
    let temporary = unique_beside(path);
    let written = write_new(&temporary, content).map(drop).and_then(|()| {
        windlass_crash_points::reach("rename.before");
        fs::rename(&temporary, path)?;
        windlass_crash_points::reach("rename.after");
        Ok(())
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(GitError::io("write", path))
}

/// Puts a file where there is none. One that is there stays, also one that another process put there just now.
pub(crate) fn place(path: &Path, content: &[u8]) -> Result<(), GitError> {
    let temporary = unique_beside(path);
    let written = write_new(&temporary, content).and_then(|file| file.sync_all()).and_then(|()| {
        windlass_crash_points::reach("rename.before");
        let placed = renameat_with(CWD, &temporary, CWD, path, RenameFlags::NOREPLACE);
        windlass_crash_points::reach("rename.after");
        match placed {
            Ok(()) => sync_directory(path.parent().unwrap_or(Path::new("/"))),
            Err(Errno::EXIST) => fs::remove_file(&temporary),
            // Few file systems cannot do this; what is lost there is only the race.
            Err(Errno::INVAL | Errno::NOSYS) if !path.exists() => rename(&temporary, path),
            Err(error) => Err(error.into()),
        }
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(GitError::io("write", path))
}

/// As [`replace`], but leaves a file alone that already has this content.
pub(crate) fn ensure(path: &Path, content: &[u8]) -> Result<(), GitError> {
    match read_plain(path) {
        Ok(found) if found == content => Ok(()),
        _ => replace(path, content),
    }
}

/// As [`ensure`], but durable only after [`flush`] of the file and of the directory that holds its name.
pub(crate) fn ensure_for_now(path: &Path, content: &[u8]) -> Result<(), GitError> {
    match read_plain(path) {
        Ok(found) if found == content => Ok(()),
        _ => replace_for_now(path, content),
    }
}

/// Makes what a file holds durable, or the names in a directory.
pub(crate) fn flush(path: &Path) -> Result<(), GitError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(GitError::io("flush", path))
}

/// Makes everything durable that was written to the disk on which this directory lies, by whomever: one wait for many
/// files that nobody has listed.
pub(crate) fn flush_disk_of(directory: &Path) -> Result<(), GitError> {
    let flushed = File::open(directory).and_then(|open| Ok(rustix::fs::syncfs(open)?));
    flushed.map_err(GitError::io("flush", directory))
}

/// Reads a regular file and nothing else: an agent may have put a pipe there that would block us for ever.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    fs::read(path)
}

/// Renames, marked as a crash point on both sides, and makes the new name durable.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    windlass_crash_points::reach("rename.before");
    fs::rename(from, to)?;
    windlass_crash_points::reach("rename.after");
    sync_directory(to.parent().unwrap_or(Path::new("/")))
}

pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// A name in the same directory that no other call uses: two calls, or a killed one, can never meet on it. What a
/// killed one left for this path is taken away.
pub(crate) fn unique_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(TEMPORARY);
    if let Some(prefix) = name.to_str() {
        windlass_process_supervisor::remove_leftovers(path, prefix);
    }
    name.push(format!("{}-{number}", std::process::id()));
    path.with_file_name(name)
}

/// Whether [`unique_beside`] can have made this name for that path.
pub(crate) fn is_temporary_of(name: &Path, path: &Path) -> bool {
    let beside = name.as_os_str().as_bytes().strip_prefix(path.as_os_str().as_bytes());
    let numbers = beside.and_then(|rest| rest.strip_prefix(TEMPORARY.as_bytes()));
    numbers.is_some_and(|text| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<File> {
    // A process with our number may have died here before; its leftover is in nobody's use.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    file.write_all(content)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_placed_first_stays_and_nothing_is_left_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("HEAD");
        place(&path, b"first").unwrap();
        place(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
