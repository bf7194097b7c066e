//! Room on the disk for what a keeper will have to write, taken by the engine before the keeper is started, and a look
//! whether there is any for the child. A disk that fills up while an agent works would else cost the whole step: nobody
//! could know how it ended. Knows no process.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::effect_dir::{EffectDir, Survives, line};
use crate::error::SupervisorError;
use crate::leftovers::remove_leftovers;

/// More than any of these files takes: numbers and a sentence or two. One block of most file systems.
const SIZE: usize = 4096;

/// A child finds at least so much on the disks it works on: an answer, some small files and the beginning of what it
/// prints. An agent that cannot even write its answer would be paid for and asked again.
const FOR_THE_CHILD: u64 = 128 * 1024;

/// The room of one file. It is opened before the child is there, so that a child can put nothing in its place.
#[derive(Debug)]
pub(crate) struct Room {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

/// The room of everything a keeper writes in every step.
#[derive(Debug)]
pub(crate) struct Rooms {
    pub(crate) keeper: Room,
    pub(crate) child: Room,
    pub(crate) end: Room,
}

impl Rooms {
    const NAMES: [&'static str; 3] = ["keeper.json", "child.json", "exit.json"];

    /// For the engine. When this fails, nothing was begun and everything may be tried again. What it takes is for any
    /// keeper: two engines may be here at once, and each starts one.
    pub(crate) fn take(directory: &EffectDir) -> Result<(), SupervisorError> {
        Self::NAMES.into_iter().try_for_each(|name| {
            match take(&for_anybody(directory, name)) {
                // Another engine's, which serves as well.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                taken => taken.map(drop).map_err(|error| no_room(directory, name, error)),
            }
        })
    }

    /// For a keeper that has nothing to do here. Whoever has made the room his own already does not miss it, and whoever
    /// was about to takes it anew.
    pub(crate) fn forget(directory: &EffectDir) {
        for name in Self::NAMES {
            // What cannot be removed is litter, not a fault.
            let _ = std::fs::remove_file(for_anybody(directory, name));
        }
    }

    /// For the keeper that holds the lock: the room becomes its own, under a name that no engine and no other keeper uses.
    pub(crate) fn open(directory: &EffectDir) -> Result<Self, SupervisorError> {
        let [keeper, child, end] = Self::NAMES;
        Ok(Self {
            keeper: Room::open(directory, keeper)?,
            child: Room::open(directory, child)?,
            end: Room::open(directory, end)?,
        })
    }
}

impl Room {
    fn open(directory: &EffectDir, name: &str) -> Result<Self, SupervisorError> {
        // A keeper that was killed before it wrote anything had made its room its own already.
        remove_leftovers(&directory.path().join(name), &format!(".{name}."));
        let path = directory.path().join(format!(".{name}.{}.room", std::process::id()));
        let opened = match std::fs::rename(for_anybody(directory, name), &path) {
            Ok(()) => OpenOptions::new().write(true).open(&path),
            // An engine of an earlier version takes none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => take(&path),
            Err(error) => Err(error),
        };
        let file = opened.map_err(|error| no_room(directory, name, error))?;
        Ok(Self { file, path, target: directory.path().join(name) })
    }

    /// Readers see nothing or the whole file, as ever. May be tried again when it failed.
    pub(crate) fn write(
        &mut self,
        value: &impl Serialize,
        survives: Survives,
    ) -> Result<(), SupervisorError> {
        let text = line(value, &self.target)?;
        let written = (|| {
            // Over the bytes that are there: cutting the file first would give the room away.
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&text)?;
            self.file.set_len(text.len() as u64)?;
            if !self.is_in_place()? {
                return Err(io::Error::other("something else was put in its place"));
            }
            windlass_crash_points::reach("rename.before");
            std::fs::rename(&self.path, &self.target)?;
            windlass_crash_points::reach("rename.after");
            match survives {
                Survives::TheProcess => Ok(()),
                // Once, after the renaming: flushing a new file makes its name durable with it.
                Survives::PowerCuts => self.file.sync_all(),
            }
        })();
        written.map_err(|source| SupervisorError::file("write", &self.target, source))
    }

    /// Whether the name is still that of the file we hold.
    fn is_in_place(&self) -> io::Result<bool> {
        let (ours, named) = (self.file.metadata()?, std::fs::symlink_metadata(&self.path)?);
        Ok((ours.dev(), ours.ino()) == (named.dev(), named.ino()))
    }

    /// Gives back the room of a file that will not be written.
    pub(crate) fn give_back(self) {
        // What cannot be removed is litter, not a fault.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// For the engine, before it starts a child that works in these directories. Where a disk does not tell how much is left
/// on it, the child has to see.
pub(crate) fn look_for_room(directories: [&Path; 2]) -> Result<(), SupervisorError> {
    for directory in directories {
        let Ok(disk) = rustix::fs::statvfs(directory) else { continue };
        let left = disk.f_bavail.saturating_mul(disk.f_frsize);
        if disk.f_blocks > 0 && left < FOR_THE_CHILD {
            let full = rustix::io::Errno::NOSPC;
            return Err(SupervisorError::file("begin a step with so little room in", directory, full));
        }
    }
    Ok(())
}

fn for_anybody(directory: &EffectDir, name: &str) -> PathBuf {
    directory.path().join(format!(".{name}.room"))
}

fn no_room(directory: &EffectDir, name: &str, source: io::Error) -> SupervisorError {
    SupervisorError::file("take room for", directory.path().join(name), source)
}

/// All of it or nothing: a file that is too short would be taken for room later.
fn take(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    match file.write_all(&[b' '; SIZE]) {
        Ok(()) => Ok(file),
        Err(error) => {
            let _ = std::fs::remove_file(path);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_keeper_that_was_killed_is_given_back_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let directory = EffectDir::new(folder.path()).unwrap();
        for name in Rooms::NAMES {
            // Above the largest pid Linux gives out.
            std::fs::write(folder.path().join(format!(".{name}.4194305.room")), "").unwrap();
        }
        Rooms::take(&directory).unwrap();
        let rooms = Rooms::open(&directory).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), Rooms::NAMES.len());
        for room in [rooms.keeper, rooms.child, rooms.end] {
            room.give_back();
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
