//! Copies a handful of objects from one store to another as the files they are, without starting git. Must not know
//! what the objects are, and believes nothing about what it finds: whoever asked reads the result back.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::durable_file::{read_plain, sync_directory};

/// Each file is flushed on its own; beyond this git, which flushes all of them at once, is faster.
const A_HANDFUL: usize = 16;
const TEMPORARY: &str = "tmp_obj_windlass-";
/// Two rounds that are worked on side by side may store the same object at the same moment.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Whether the objects are all in the other store now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    All,
    /// Too many, in a pack, or something else stands under the name of one: git is to say what becomes of them.
    NotAll,
}

/// Durable when this returns.
pub(crate) fn copy(from: &Path, to: &Path, ids: &[&str]) -> io::Result<Copied> {
    if ids.len() > A_HANDFUL {
        return Ok(Copied::NotAll);
    }
    let mut unflushed = Vec::new();
    let mut directories = BTreeSet::new();
    for id in ids {
        let Ok(object) = read_plain(&place(from, id)) else { return Ok(Copied::NotAll) };
        let target = place(to, id);
        let file = if target.symlink_metadata().is_err() {
            directories.insert(to.to_owned());
            write(&target, &object)?
        } else if read_plain(&target).is_ok_and(|found| found == object) {
            // Whoever stored it may not have flushed it.
            File::open(&target)?
        } else {
            return Ok(Copied::NotAll);
        };
        directories.extend(target.parent().map(Path::to_owned));
        unflushed.push(file);
    }
    // After all are written: flushing the first one takes most of the others along.
    unflushed.iter().try_for_each(File::sync_all)?;
    directories.iter().try_for_each(|directory| sync_directory(directory))?;
    Ok(Copied::All)
}

pub(crate) fn place(objects: &Path, id: &str) -> PathBuf {
    let (directory, name) = id.split_at(2.min(id.len()));
    objects.join(directory).join(name)
}

/// Whole or not there. What a kill leaves is taken away by the next attempt, or by git, which knows such names.
pub(crate) fn write(target: &Path, object: &[u8]) -> io::Result<File> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    windlass_process_supervisor::remove_leftovers(target, TEMPORARY);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!("{TEMPORARY}{}-{number}-{name}", std::process::id()));
    // A process with our number may have died here before; its leftover is in nobody's use.
    let _ = fs::remove_file(&temporary);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(&temporary)?;
    file.write_all(object)?;
    // Starts the writing. Flushing one file after another is slow where each has to begin with that.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    windlass_crash_points::reach("rename.before");
    fs::rename(&temporary, target)?;
    windlass_crash_points::reach("rename.after");
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "aabbccddeeff00112233445566778899aabbccdd";

    fn stores() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("aa")).unwrap();
        fs::create_dir_all(&to).unwrap();
        fs::write(place(&from, ID), "an object").unwrap();
        (directory, from, to)
    }

    #[test]
    fn an_object_arrives_once_with_nothing_beside_it() {
        let (_directory, from, to) = stores();
        // Left by a process that was killed; its number is above the largest that Linux gives out.
        fs::create_dir(to.join("aa")).unwrap();
        fs::write(to.join("aa").join(format!("{TEMPORARY}4194305-x")), "half").unwrap();
        for _ in 0..2 {
            assert_eq!(copy(&from, &to, &[ID]).unwrap(), Copied::All);
            assert_eq!(fs::read(place(&to, ID)).unwrap(), b"an object");
            assert_eq!(fs::read_dir(to.join("aa")).unwrap().count(), 1);
        }
    }

    #[test]
    fn the_same_object_can_be_stored_by_many_at_once() {
        let (_directory, from, to) = stores();
        for _ in 0..50 {
            let _ = fs::remove_dir_all(&to);
            fs::create_dir_all(&to).unwrap();
            std::thread::scope(|scope| {
                let many: Vec<_> = (0..4).map(|_| scope.spawn(|| copy(&from, &to, &[ID]))).collect();
                for one in many {
                    assert_eq!(one.join().unwrap().unwrap(), Copied::All);
                }
            });
            assert_eq!(fs::read_dir(to.join("aa")).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_is_not_a_file_of_its_own_or_stands_there_otherwise_is_left_to_git() {
        let (_directory, from, to) = stores();
        let packed = ID.replace('a', "b");
        assert_eq!(copy(&from, &to, &[&packed]).unwrap(), Copied::NotAll);
        assert_eq!(copy(&from, &to, &[ID; A_HANDFUL + 1]).unwrap(), Copied::NotAll);
        fs::create_dir(to.join("aa")).unwrap();
        fs::write(place(&to, ID), "another").unwrap();
        assert_eq!(copy(&from, &to, &[ID]).unwrap(), Copied::NotAll);
        assert_eq!(fs::read(place(&to, ID)).unwrap(), b"another");
    }
}
