//! Sealed artifacts by content: what a verdict rests on is stored once, read-only, under the hash of its bytes, out of
//! the agents' way. Whatever lies in a run directory is only a copy of this.

use crate::durable_file::{Flush, replace};
use crate::fault::file_fault;
use crate::state_dir::make_private;
use sha2::{Digest as _, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};
use windlass_protocols::{ArtifactRef, Digest};

#[derive(Clone, Debug)]
pub(crate) struct EvidenceStore(PathBuf);

impl EvidenceStore {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path_of(&self, digest: &Digest) -> PathBuf {
        let text = digest.as_str();
        self.0.join(text.get(..2).unwrap_or("xx")).join(text)
    }

    /// Durable when this returns; sealing the same bytes again costs a look.
    pub(crate) fn seal(&self, name: &str, content: &[u8]) -> Result<ArtifactRef, Fault> {
        let digest = digest(content);
        let path = self.path_of(&digest);
        let there = std::fs::metadata(&path).is_ok_and(|found| found.len() == content.len() as u64);
        if !there {
            make_private(path.parent().unwrap_or(&self.0))?;
            replace(&path, content, Flush::ToDisk)?;
        }
        Ok(ArtifactRef { name: name.to_owned(), digest, bytes: content.len() as u64 })
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
    let mut file = std::fs::File::open(path)?;
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
