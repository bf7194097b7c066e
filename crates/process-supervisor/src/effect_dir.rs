//! The files that a keeper and an engine share: names, atomic writes, the lock. It knows nothing of processes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cgroup::Cgroup;
use crate::child_end::ChildEnd;
use crate::child_spec::ChildSpec;
use crate::error::SupervisorError;
use crate::identity::ProcessIdentity;
use crate::leftovers::remove_leftovers;

/// Numbers the writes of this process, for the names of temporary files.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// One of the two output streams of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub(crate) const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];

    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// What a file must outlast. A power cut ends keeper and child as well, so that who they were no longer matters; how
/// the child ended is what a step that may have taken hours rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survives {
    TheProcess,
    PowerCuts,
}

/// The child as recorded right after it was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildRecord {
    pub(crate) identity: ProcessIdentity,
    pub(crate) started_ms: u64,
    /// The session the child was born in; tells its group from a later one with the same number.
    pub(crate) session: u32,
}

/// The right to start or bury the child of a directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _directory: Option<File>,
    _file: Option<File>,
}

/// A directory that belongs to exactly one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EffectDir(PathBuf);

impl EffectDir {
    pub(crate) fn new(path: &Path) -> Result<Self, SupervisorError> {
        std::path::absolute(path).map(Self).map_err(|source| SupervisorError::file("locate", path, source))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn log(&self, stream: Stream) -> PathBuf {
        self.0.join(format!("{}.log", stream.name()))
    }

    /// The end of a long stream is written to two files in turn; they are joined to the log when the child has ended.
    pub(crate) fn tail_segment(&self, stream: Stream, which: usize) -> PathBuf {
        self.0.join(format!("{}.tail.{which}", stream.name()))
    }

    pub(crate) fn read_spec(&self) -> Result<ChildSpec, SupervisorError> {
        let path = self.0.join("spec.json");
        read_json(&path)?.ok_or_else(|| SupervisorError::file("read", path, io::ErrorKind::NotFound))
    }

    /// As [`Self::read_spec`], but `None` where a power cut took it.
    pub(crate) fn read_spec_if_kept(&self) -> Result<Option<ChildSpec>, SupervisorError> {
        read_whole(&self.0.join("spec.json"))
    }

    pub(crate) fn write_spec(&self, spec: &ChildSpec) -> Result<(), SupervisorError> {
        self.write_json("spec.json", spec, Survives::TheProcess)
    }

    pub(crate) fn read_keeper(&self) -> Result<Option<ProcessIdentity>, SupervisorError> {
        read_whole(&self.0.join("keeper.json"))
    }

    pub(crate) fn read_child(&self) -> Result<Option<ChildRecord>, SupervisorError> {
        read_whole(&self.0.join("child.json"))
    }

    pub(crate) fn read_group(&self) -> Result<Option<Cgroup>, SupervisorError> {
        read_whole(&self.0.join("group.json"))
    }

    pub(crate) fn write_group(&self, group: &Cgroup) -> Result<(), SupervisorError> {
        self.write_json("group.json", group, Survives::TheProcess)
    }

    /// An end that cannot be read is no end: whoever wrote it was not the keeper, which renames a whole file.
    pub(crate) fn read_end(&self) -> Result<Option<ChildEnd>, SupervisorError> {
        read_whole(&self.0.join("exit.json"))
    }

    pub(crate) fn write_end(&self, end: &ChildEnd) -> Result<(), SupervisorError> {
        self.write_json("exit.json", end, Survives::PowerCuts)
    }

    /// Who holds this may start or bury the child. `None` when somebody else holds it; it is released when dropped.
    ///
    /// The directory itself is locked, which takes no file of its own. Keepers of earlier versions locked one, and so does
    /// everybody where a file system locks no directories.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>, SupervisorError> {
        let failed = |action, source| SupervisorError::file(action, &self.0, source);
        let directory = File::open(&self.0).map_err(|source| failed("open", source))?;
        let directory = match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Some(directory),
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(_) => None,
        };
        let path = self.0.join("keeper.lock");
        let file = OpenOptions::new().create(directory.is_none()).truncate(false).write(true).open(&path);
        let file = match file {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_some() => {
                return Ok(Some(Lock { _directory: directory, _file: None }));
            }
            Err(source) => return Err(SupervisorError::file("open", &path, source)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _directory: directory, _file: Some(file) })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(SupervisorError::file("lock", &path, error)),
        }
    }

    /// Removes what a killed keeper had not yet renamed. Only for the holder of the lock: nobody else writes these.
    pub(crate) fn remove_temporaries(&self) {
        // What cannot be removed is litter, not a fault.
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let of_a_keeper = [".keeper.json.", ".child.json.", ".exit.json.", ".group.json."];
            if of_a_keeper.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes())) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Takes away what is left of a child, for the holder of the lock. The end goes last: until then it is the end of a
    /// child whose keeper is gone, and whoever is killed here begins again.
    pub(crate) fn forget(&self) -> Result<(), SupervisorError> {
        let segments = |stream| [0, 1].map(|which| self.tail_segment(stream, which));
        let records = ["keeper.json", "child.json", "group.json"].map(|name| self.0.join(name));
        let files = records
            .into_iter()
            .chain(Stream::BOTH.map(|stream| self.log(stream)))
            .chain(Stream::BOTH.into_iter().flat_map(segments))
            .chain([self.0.join("exit.json")]);
        for file in files {
            match std::fs::remove_file(&file) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(SupervisorError::file("remove", file, source));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Readers see nothing or the whole file; after a power cut they may see an empty one, which counts as nothing. The
    /// temporary name is this writer's alone, so that two who write the same file cannot tear each other's.
    fn write_json(
        &self,
        name: &'static str,
        value: &impl Serialize,
        survives: Survives,
    ) -> Result<(), SupervisorError> {
        let target = self.0.join(name);
        let temporary = self.temporary(name);
        let text = line(value, &target)?;
        let written = (|| {
            let mut file = File::create(&temporary)?;
            file.write_all(&text)?;
            windlass_crash_points::reach("rename.before");
            std::fs::rename(&temporary, &target)?;
            windlass_crash_points::reach("rename.after");
            match survives {
                Survives::TheProcess => Ok(()),
                // Once, after the renaming: flushing a new file makes its name durable with it.
                Survives::PowerCuts => file.sync_all(),
            }
        })();
        written.map_err(|source| SupervisorError::file("write", target, source))
    }

    /// A name of this writer's alone, with what killed writers of the same file left taken away.
    fn temporary(&self, name: &str) -> PathBuf {
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let prefix = format!(".{name}.");
        remove_leftovers(&self.0.join(name), &prefix);
        self.0.join(format!("{prefix}{}.{number}", std::process::id()))
    }
}

pub(crate) fn line(value: &impl Serialize, target: &Path) -> Result<Vec<u8>, SupervisorError> {
    let mut text = serde_json::to_vec(value)
        .map_err(|source| SupervisorError::Malformed { path: target.to_owned(), source })?;
    text.push(b'\n');
    Ok(text)
}

/// As [`read_json`] of what its writer renamed into place: what cannot be read was torn by a power cut, or put there by
/// somebody else, and counts as nothing. Who is at work is told by the lock, never by a record alone.
fn read_whole<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SupervisorError> {
    match read_json(path) {
        Err(SupervisorError::Malformed { .. }) => Ok(None),
        read => read,
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SupervisorError> {
    match std::fs::read(path) {
        // A file whose name outlived a power cut and whose content did not.
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => match serde_json::from_slice(&text) {
            Ok(value) => Ok(Some(value)),
            Err(source) => Err(SupervisorError::Malformed { path: path.to_owned(), source }),
        },
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SupervisorError::file("read", path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a power cut leaves what was renamed and not flushed: nothing, a beginning, or what stood in the block before.
    #[test]
    fn a_record_that_was_torn_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let directory = EffectDir::new(folder.path()).unwrap();
        for torn in ["", "{\"pid\":12", "    ", "\0\0\0\0"] {
            for name in ["keeper.json", "child.json", "group.json", "exit.json", "spec.json"] {
                std::fs::write(folder.path().join(name), torn).unwrap();
            }
            assert!(directory.read_keeper().unwrap().is_none(), "{torn:?}");
            assert!(directory.read_child().unwrap().is_none(), "{torn:?}");
            assert!(directory.read_group().unwrap().is_none(), "{torn:?}");
            assert!(directory.read_end().unwrap().is_none(), "{torn:?}");
            assert!(directory.read_spec_if_kept().unwrap().is_none(), "{torn:?}");
        }
    }
}
