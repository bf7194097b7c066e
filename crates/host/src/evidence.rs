//! Sealed artifacts by content: what a verdict rests on is stored once, read-only, under the hash of its bytes, out of
//! the agents' way. Whatever lies in a run directory is only a copy of this.

use crate::durable_file::{Flush, place};
use crate::fault::file_fault;
use crate::state_dir::make_private;
use sha2::{Digest as _, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_control_api::{Code, Fault};
use windlass_protocols::{ArtifactRef, Digest};

#[derive(Clone, Debug)]
pub(crate) struct EvidenceStore {
    directory: PathBuf,
    /// Sealed, and not yet known to outlast the loss of power.
    unflushed: Arc<Mutex<Vec<File>>>,
}

impl EvidenceStore {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, unflushed: Arc::default() }
    }

    pub(crate) fn path_of(&self, digest: &Digest) -> PathBuf {
        let text = digest.as_str();
        self.directory.join(text.get(..2).unwrap_or("xx")).join(text)
    }

    /// Whole when this returns, durable after [`Self::flush`]; sealing the same bytes again costs a look.
    pub(crate) fn seal(&self, name: &str, content: &[u8]) -> Result<ArtifactRef, Fault> {
        let digest = digest(content);
        let path = self.path_of(&digest);
        let there = std::fs::metadata(&path).is_ok_and(|found| found.len() == content.len() as u64);
        let file = if there {
            // Whoever sealed it may have been killed before it was flushed.
            File::open(&path).map_err(|error| file_fault("open", &path, &error))?
        } else {
            make_private(path.parent().unwrap_or(&self.directory))?;
            place(&path, content, Flush::ToSystem)?
        };
        if !content.is_empty() {
            self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        }
        Ok(ArtifactRef { name: name.to_owned(), digest, bytes: content.len() as u64 })
    }

    /// Makes everything sealed so far durable, names and all. Called before facts that speak of it are appended.
    ///
    /// Side by side, because a file system flushes once for all who wait for it at the same time.
    pub(crate) fn flush(&self) -> Result<(), Fault> {
        let files = std::mem::take(&mut *self.unflushed.lock().unwrap_or_else(PoisonError::into_inner));
        let Some((first, others)) = files.split_first() else { return Ok(()) };
        let flushed = std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|file| scope.spawn(|| file.sync_all())).collect();
            let lost = |_| Err(std::io::Error::other("a flush ended in an unforeseen way"));
            others
                .into_iter()
                .fold(first.sync_all(), |so_far, other| so_far.and(other.join().unwrap_or_else(lost)))
        });
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

pub(crate) fn digest(content: &[u8]) -> Digest {
    let hash = Sha256::digest(content);
    let mut text = String::with_capacity(64);
    for byte in hash {
        let _ = write!(text, "{byte:02x}");
    }
    Digest::new(text)
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
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Digest::new(text))
}
