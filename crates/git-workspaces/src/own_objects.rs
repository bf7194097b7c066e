//! Objects of the control directory, made and read as the files they are, without starting git. Only objects that lie
//! in a file of their own are found here; whoever asks for another one goes to git. Must not know the user's store.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Blob,
    Tree,
    Commit,
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
                let hashed = hasher.try_finalize();
                if hashed.has_collision() {
                    return Err(GitError::Collision);
                }
                Oid::from_bytes(hashed.hash())
            }
            ObjectFormat::Sha256 => Oid::from_bytes(&Sha256::digest(&whole)),
        };
        Ok(Self { id, whole })
    }
}

/// Durable when this returns.
pub(crate) fn store(objects: &Path, new: &[NewObject]) -> Result<(), GitError> {
    let mut unflushed = Vec::new();
    let mut directories = BTreeSet::new();
    let mut put = |object: &NewObject| -> io::Result<()> {
        let target = place(objects, &format!("{:?}", object.id));
        let stored = compress_to_vec_zlib(&object.whole, COMPRESSION);
        if read_plain(&target).is_ok_and(|found| found == stored) {
            // Whoever stored it may have been killed before it was flushed.
            unflushed.push(File::open(&target)?);
        } else {
            // What stands there was packed another way by git, or was damaged by a power cut.
            unflushed.push(write(&target, &stored)?);
            directories.insert(objects.to_owned());
        }
        directories.extend(target.parent().map(Path::to_owned));
        Ok(())
    };
    let written = new.iter().try_for_each(&mut put);
    let flushed = written
        .and_then(|()| unflushed.iter().try_for_each(File::sync_all))
        .and_then(|()| directories.iter().try_for_each(|directory| sync_directory(directory)));
    flushed.map_err(GitError::io("write to", objects))
}

/// The kind, by git's word for it, and the content; `None` where it has no file of its own that can be read.
pub(crate) fn read(objects: &Path, id: &str) -> Option<(String, Vec<u8>)> {
    let path = place(objects, id);
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
pub(crate) fn read_blob(objects: &Path, id: Oid) -> Option<Vec<u8>> {
    let (kind, content) = read(objects, &format!("{id:?}"))?;
    (kind == Kind::Blob.word()).then_some(content)
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
        let objects = tempfile::tempdir().unwrap();
        let new = [NewObject::new(Kind::Blob, b"some\0bytes", ObjectFormat::Sha1).unwrap()];
        let target = place(objects.path(), &format!("{:?}", new[0].id));
        assert_eq!(read_blob(objects.path(), new[0].id), None);
        store(objects.path(), &new).unwrap();
        assert_eq!(read_blob(objects.path(), new[0].id).unwrap(), b"some\0bytes");
        // As a power cut leaves a file whose name was durable before its content.
        fs::remove_file(&target).unwrap();
        fs::write(&target, b"").unwrap();
        assert_eq!(read_blob(objects.path(), new[0].id), None);
        store(objects.path(), &new).unwrap();
        assert_eq!(read_blob(objects.path(), new[0].id).unwrap(), b"some\0bytes");
        let name = format!("{:?}", new[0].id);
        assert_eq!(read(objects.path(), &name).unwrap().0, "blob");
    }
}
