//! Sealed artifacts by content: what a verdict rests on is stored once, read-only, under the hash of its bytes, out of
//! the agents' way. Whatever lies in a run directory is only a copy of this.

use crate::durable_file::{ensure, place_read_only};
use crate::fault::file_fault;
use crate::state_dir::make_private;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_control_api::{Code, Fault};
use windlass_process_supervisor::each_side_by_side;
use windlass_protocols::{ArtifactRef, Digest};

#[derive(Clone, Debug)]
pub(crate) struct EvidenceStore {
    directory: PathBuf,
    /// Sealed, and not yet known to outlast the loss of power: files, and directories that hold new names. By path, so
    /// that a directory with several new names is flushed once.
    unflushed: Arc<Mutex<BTreeMap<PathBuf, File>>>,
}

impl EvidenceStore {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, unflushed: Arc::default() }
    }

    pub(crate) fn path_of(&self, digest: &Digest) -> PathBuf {
        let text = digest.as_str();
        self.directory.join(text.get(..2).unwrap_or("xx")).join(text)
    }

    /// Whole when this returns, durable after [`Self::flush`]. Sealing the same bytes again costs reading them; a file
    /// that no longer holds them is put right.
    pub(crate) fn seal(&self, name: &str, content: &[u8]) -> Result<ArtifactRef, Fault> {
        let digest = digest(content);
        let path = self.path_of(&digest);
        let unflushed = if self.holds(&digest) {
            // Whoever sealed it may have been killed before it was flushed.
            vec![(path.clone(), open(&path)?)]
        } else {
            let directory = path.parent().unwrap_or(&self.directory);
            let is_new = !directory.is_dir();
            make_private(directory)?;
            let file = place_read_only(&path, content)?;
            let above = is_new.then_some(self.directory.as_path());
            let directories =
                [directory].into_iter().chain(above).map(|path| Ok((path.to_owned(), open(path)?)));
            [Ok((path.clone(), file))].into_iter().chain(directories).collect::<Result<_, Fault>>()?
        };
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).extend(unflushed);
        Ok(ArtifactRef { name: name.to_owned(), digest, bytes: content.len() as u64 })
    }

    /// Seals what a step is about to be given, and lays it out there as well: one file under two names, both out of the
    /// agents' reach.
    pub(crate) fn seal_at(&self, name: &str, content: &[u8], path: &Path) -> Result<ArtifactRef, Fault> {
        let sealed = self.seal(name, content)?;
        if std::fs::hard_link(self.path_of(&sealed.digest), path).is_err() {
            // It is there already, or this file system knows no second names.
            ensure(path, content)?;
        }
        Ok(sealed)
    }

    /// Whether these bytes are sealed, and still what they were.
    pub(crate) fn holds(&self, digest: &Digest) -> bool {
        file_digest(&self.path_of(digest)).is_ok_and(|found| found == *digest)
    }

    /// Makes everything sealed so far durable, names and all. Called before facts that speak of it are appended.
    ///
    /// Side by side, because a file system flushes once for all who wait for it at the same time.
    pub(crate) fn flush(&self) -> Result<(), Fault> {
        let files = std::mem::take(&mut *self.unflushed.lock().unwrap_or_else(PoisonError::into_inner));
        let files: Vec<File> = files.into_values().collect();
        let flushed = each_side_by_side(&files, &File::sync_all);
        flushed.map_err(|error| file_fault("flush the evidence in", &self.directory, &error))
    }

    /// The sealed bytes; anything else than what was sealed is an error.
    pub(crate) fn read(&self, artifact: &ArtifactRef) -> Result<Vec<u8>, Fault> {
        let path = self.path_of(&artifact.digest);
        let content = std::fs::read(&path)
            .map_err(|error| file_fault(&format!("read the sealed {}", artifact.name), &path, &error))?;
        if digest(&content) == artifact.digest {
            Ok(content)
        } else {
            Err(Fault::new(
                Code::NotVerified,
                format!("the sealed {} is not what was sealed: {}", artifact.name, path.display()),
            )
            .kept("everything else; the damaged file is left as it is")
            .hint("do not trust this run before you know who changed the file"))
        }
    }
}

fn open(path: &Path) -> Result<File, Fault> {
    File::open(path).map_err(|error| file_fault("open", path, &error))
}

pub(crate) fn digest(content: &[u8]) -> Digest {
    Digest::new(hex(&Sha256::digest(content)))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The hash of a file of any size, without holding it in memory. A link is not the file it points to, and a pipe would
/// be waited for for ever.
pub(crate) fn file_digest(path: &Path) -> std::io::Result<Digest> {
    if !path.symlink_metadata()?.is_file() {
        return Err(std::io::Error::other("not a plain file"));
    }
    let mut hasher = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = std::io::Read::read(&mut file, &mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(Digest::new(hex(&hasher.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, EvidenceStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(directory.path().join("evidence"));
        (directory, store)
    }

    #[test]
    fn a_sealed_file_can_only_be_read() {
        let (_directory, store) = store();
        let sealed = store.seal("verdict.json", b"pass").unwrap();
        let mode = std::fs::metadata(store.path_of(&sealed.digest)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o400);
        store.flush().unwrap();
        assert_eq!(store.read(&sealed).unwrap(), b"pass");
    }

    #[test]
    fn what_a_step_is_given_is_the_sealed_file_itself_or_a_copy() {
        use std::os::unix::fs::MetadataExt;
        let (directory, store) = store();
        let path = directory.path().join("prompt.md");
        let sealed = store.seal_at("prompt.md", b"do it", &path).unwrap();
        let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
        assert_eq!(inode(&path), inode(&store.path_of(&sealed.digest)));
        assert_eq!(store.seal_at("prompt.md", b"do it", &path).unwrap(), sealed, "asked twice");
        store.seal_at("prompt.md", b"do something else", &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"do something else");
        assert_eq!(store.read(&sealed).unwrap(), b"do it");
    }

    #[test]
    fn a_damaged_file_is_not_taken_for_the_bytes_it_is_named_by() {
        let (_directory, store) = store();
        let sealed = store.seal("verdict.json", b"pass").unwrap();
        let path = store.path_of(&sealed.digest);
        // As long as what was sealed, so that the length tells nothing; then shorter; then something else altogether.
        for damage in [&b"fail"[..], b"p", b""] {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, damage).unwrap();
            assert!(store.read(&sealed).is_err() && !store.holds(&sealed.digest));
            assert_eq!(store.seal("verdict.json", b"pass").unwrap(), sealed);
            assert_eq!(store.read(&sealed).unwrap(), b"pass");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let _ = store.seal("verdict.json", b"pass").unwrap();
        assert!(path.symlink_metadata().unwrap().is_file());
    }
}
