//! What lies in a run's places and was not put there by the engine: an agent's forgery, a stray note. It is moved out of
//! every reader's way and kept; nothing of it is deleted, and nothing is ever read from it.

use crate::context::RunContext;
use crate::fault::file_fault;
use crate::state_dir::make_private;
use std::fs::{self, Metadata};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_crash_points::reach;

/// Where one run's foreign things go.
#[derive(Clone, Debug)]
pub(crate) struct ForeignShelf(PathBuf);

impl ForeignShelf {
    pub(crate) fn of(context: &RunContext) -> Self {
        Self(context.state.run(&context.run).join("foreign"))
    }

    /// Moves it to the shelf under this name; comes back with a sentence about it.
    pub(crate) fn take(&self, path: &Path, name: &Path) -> Result<String, Fault> {
        let place = self.free_place(name);
        make_private(place.parent().unwrap_or(&self.0))?;
        reach("rename.before");
        let moved = match fs::rename(path, &place) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => carry_over(path, &place),
            moved => moved,
        };
        moved.map_err(|error| file_fault("move aside", path, &error))?;
        reach("rename.after");
        Ok(format!("{} was not written by Windlass; it is kept as {}", path.display(), place.display()))
    }

    fn free_place(&self, name: &Path) -> PathBuf {
        let wanted = self.0.join(name);
        if wanted.symlink_metadata().is_err() {
            return wanted;
        }
        let stem = wanted.file_name().unwrap_or_default().to_owned();
        let numbered = (2_u32..).map(|number| {
            let mut name = stem.clone();
            name.push(format!(".{number}"));
            wanted.with_file_name(name)
        });
        let mut free = numbered.filter(|place| place.symlink_metadata().is_err());
        free.next().unwrap_or(wanted)
    }
}

/// A directory itself, not a link to one somewhere else.
pub(crate) fn is_real_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// To another file system a thing can only be copied. It goes from its old place when all of it is in the new one.
fn carry_over(from: &Path, to: &Path) -> Result<(), Error> {
    let found = from.symlink_metadata()?;
    copy(from, to, &found)?;
    if found.is_dir() { fs::remove_dir_all(from) } else { fs::remove_file(from) }
}

fn copy(from: &Path, to: &Path, found: &Metadata) -> Result<(), Error> {
    if found.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()), &entry.metadata()?)?;
        }
        Ok(())
    } else if found.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else if found.is_file() {
        fs::copy(from, to)?;
        fs::File::open(to)?.sync_all()
    } else {
        // A pipe, a socket or a device holds nothing that could be kept but the fact that it was there.
        fs::write(to, format!("something that is no file: {:?}\n", found.file_type()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_thing_of_the_same_name_does_not_replace_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = ForeignShelf(directory.path().join("foreign"));
        let forged = directory.path().join("verdict.json");
        for text in ["first", "second"] {
            fs::write(&forged, text).unwrap();
            let said = shelf.take(&forged, Path::new("round-1/verdict.json")).unwrap();
            assert!(said.contains("was not written by Windlass"), "{said}");
            assert!(!forged.exists());
        }
        let read =
            |name: &str| fs::read_to_string(directory.path().join("foreign/round-1").join(name)).unwrap();
        assert_eq!(read("verdict.json"), "first");
        assert_eq!(read("verdict.json.2"), "second");
    }

    #[test]
    fn what_cannot_be_renamed_is_copied_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/file"), "text").unwrap();
        std::os::unix::fs::symlink("/nowhere", from.join("link")).unwrap();
        carry_over(&from, &to).unwrap();
        assert!(!from.exists());
        assert_eq!(fs::read_to_string(to.join("inner/file")).unwrap(), "text");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("/nowhere"));
    }
}
