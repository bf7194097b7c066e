//! Objects of the control directory, made and read as the files they are, without starting git. Only objects that lie
//! in a file of their own are found here; whoever asks for another one goes to git. Must not know the user's store.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha1_checked::Digest as _;
use sha2::Sha256;

use crate::control_dir::ObjectFormat;
use crate::durable_file::{read_plain, sync_directory};
use crate::error::GitError;
use crate::ids::Oid;
use crate::loose_objects::{place, write};

/// Fast rather than small: these are a loop's short files and the directories around them.
const COMPRESSION: u8 = 1;
/// What is larger is better looked at by git, which does not hold it in memory.
pub(crate) const LARGEST: usize = 8 * 1024 * 1024;
/// Of what was stored so many names are remembered, to spare storing it again.
const MOST_KNOWN: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Blob,
    Tree,
    Commit,
}

/// The store of the control directory, shared by all handles on one repository.
#[derive(Debug, Clone)]
pub(crate) struct OwnObjects {
    directory: PathBuf,
    ledger: Arc<Mutex<Ledger>>,
}

/// What this process stored.
#[derive(Debug, Default)]
struct Ledger {
    known: HashSet<Oid>,
    unflushed: HashSet<Oid>,
    /// How many of its directories may be new, and how many of them were when it was last flushed.
    directories_made: u64,
    directories_flushed: u64,
}

/// One that has its name already and is not stored yet.
#[derive(Debug)]
pub(crate) struct NewObject {
    pub(crate) id: Oid,
    whole: Vec<u8>,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }
}

impl NewObject {
    pub(crate) fn new(kind: Kind, content: &[u8], format: ObjectFormat) -> Result<Self, GitError> {
        let mut whole = format!("{} {}\0", kind.word(), content.len()).into_bytes();
        whole.extend(content);
        let id = match format {
            ObjectFormat::Sha1 => {
                let mut hasher = sha1_checked::Sha1::new();
                sha1_checked::Digest::update(&mut hasher, &whole);
                let finished = hasher.try_finalize();
                if finished.has_collision() {
                    return Err(GitError::Collision);
                }
                Oid::from_bytes(finished.hash())
            }
            ObjectFormat::Sha256 => Oid::from_bytes(&Sha256::digest(&whole)),
        };
        Ok(Self { id, whole })
    }
}

impl OwnObjects {
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { directory, ledger: Arc::default() }
    }

    /// Whole or not there; durable only after [`Self::flush`], for much is made to be shown once.
    pub(crate) fn store(&self, new: &[NewObject]) -> Result<(), GitError> {
        for object in new {
            let known = self.ledger().known.contains(&object.id);
            if !known {
                self.put(object).map_err(GitError::io("write to", &self.directory))?;
            }
        }
        let mut ledger = self.ledger();
        if ledger.known.len() > MOST_KNOWN {
            ledger.known.clear();
        }
        ledger.known.extend(new.iter().map(|object| object.id));
        Ok(())
    }

    fn put(&self, object: &NewObject) -> io::Result<()> {
        let target = place(&self.directory, &format!("{:?}", object.id));
        let stored = compress_to_vec_zlib(&object.whole, COMPRESSION);
        let has_directory = target.parent().is_some_and(Path::is_dir);
        // What else stands there was packed another way by git, or was damaged by a power cut.
        let stands = read_plain(&target).is_ok_and(|found| found == stored);
        if !stands {
            write(&target, &stored)?;
        }
        let mut ledger = self.ledger();
        // Also one that stood there: whoever stored it may have been killed before it was flushed.
        ledger.unflushed.insert(object.id);
        ledger.directories_made += u64::from(stands || !has_directory);
        Ok(())
    }

    /// Makes those durable that this process stored and that are wanted.
    pub(crate) fn flush(&self, wanted: impl Fn(&Oid) -> bool) -> Result<(), GitError> {
        let (ids, made, flushed) = {
            let ledger = self.ledger();
            let ids: Vec<Oid> = ledger.unflushed.iter().filter(|id| wanted(id)).copied().collect();
            (ids, ledger.directories_made, ledger.directories_flushed)
        };
        let paths: Vec<PathBuf> = ids.iter().map(|id| place(&self.directory, &format!("{id:?}"))).collect();
        let mut directories: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        if made > flushed {
            directories.insert(&self.directory);
        }
        // Files first: flushing one of them takes most of what is to be known of the others along.
        let files = paths.iter().try_for_each(|path| File::open(path)?.sync_all());
        files
            .and_then(|()| directories.iter().try_for_each(|directory| sync_directory(directory)))
            .map_err(GitError::io("flush", &self.directory))?;
        let mut ledger = self.ledger();
        ledger.unflushed.retain(|id| !ids.contains(id));
        ledger.directories_flushed = ledger.directories_flushed.max(made);
        Ok(())
    }

    /// The kind, by git's word for it, and the content; `None` where it has no file of its own that can be read.
    pub(crate) fn read(&self, id: &str) -> Option<(String, Vec<u8>)> {
        let path = place(&self.directory, id);
        if fs::metadata(&path).ok()?.len() > LARGEST as u64 {
            return None;
        }
        let mut whole = decompress_to_vec_zlib_with_limit(&read_plain(&path).ok()?, LARGEST).ok()?;
        let end = whole.iter().position(|byte| *byte == 0)?;
        let (kind, length) = std::str::from_utf8(&whole[..end]).ok()?.split_once(' ')?;
        let (kind, length): (String, usize) = (kind.to_owned(), length.parse().ok()?);
        whole.drain(..=end);
        (whole.len() == length).then_some((kind, whole))
    }

    /// The content of a file.
    pub(crate) fn read_blob(&self, id: Oid) -> Option<Vec<u8>> {
        let (kind, content) = self.read(&format!("{id:?}"))?;
        (kind == Kind::Blob.word()).then_some(content)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_gives() {
        let name =
            |kind, content: &[u8], format| format!("{:?}", NewObject::new(kind, content, format).unwrap().id);
        assert_eq!(
            name(Kind::Blob, b"hello\n", ObjectFormat::Sha1),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert_eq!(name(Kind::Tree, b"", ObjectFormat::Sha1), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        assert_eq!(
            name(Kind::Tree, b"", ObjectFormat::Sha256),
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        );
    }

    #[test]
    fn what_is_stored_is_read_back_and_a_damaged_one_is_stored_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = || OwnObjects::at(directory.path().to_owned());
        let new = [NewObject::new(Kind::Blob, b"some\0bytes", ObjectFormat::Sha1).unwrap()];
        let target = place(directory.path(), &format!("{:?}", new[0].id));
        assert_eq!(store().read_blob(new[0].id), None);
        store().store(&new).unwrap();
        assert_eq!(store().read_blob(new[0].id).unwrap(), b"some\0bytes");
        // As a power cut leaves a file whose name was durable before its content.
        fs::remove_file(&target).unwrap();
        fs::write(&target, b"").unwrap();
        assert_eq!(store().read_blob(new[0].id), None);
        store().store(&new).unwrap();
        assert_eq!(store().read_blob(new[0].id).unwrap(), b"some\0bytes");
        assert_eq!(store().read(&format!("{:?}", new[0].id)).unwrap().0, "blob");
    }

    #[test]
    fn what_is_flushed_is_what_was_wanted_and_also_what_stood_there_before() {
        let directory = tempfile::tempdir().unwrap();
        let new = ["one", "two"]
            .map(|text| NewObject::new(Kind::Blob, text.as_bytes(), ObjectFormat::Sha1).unwrap());
        for _ in 0..2 {
            let objects = OwnObjects::at(directory.path().to_owned());
            objects.store(&new).unwrap();
            assert_eq!(objects.ledger().unflushed.len(), 2);
            objects.flush(|id| *id == new[1].id).unwrap();
            assert_eq!(objects.ledger().unflushed, HashSet::from([new[0].id]));
            // Known by now, and durable as far as it was wanted.
            objects.store(&new).unwrap();
            assert_eq!(objects.ledger().unflushed.len(), 1);
        }
    }
}
