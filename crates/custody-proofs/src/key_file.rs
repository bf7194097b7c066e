//! A signing key in a file that only its owner can read: made once, found again, never overwritten.
//! The only place of this crate that touches the disk or asks for randomness.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::keys::{Seed, SigningKey};

#[derive(Debug, Error)]
pub enum KeyFileError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} holds no Ed25519 key in PKCS#8, as PEM", .0.display())]
    NotAKey(PathBuf),
    /// A key that others could read may have been copied; it proves nothing any more.
    #[error("{} can be read by others (mode {mode:o}); it must be 600", path.display())]
    Exposed { path: PathBuf, mode: u32 },
}

pub fn fresh_seed() -> io::Result<Seed> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(Seed(bytes))
}

pub fn read(path: &Path) -> Result<SigningKey, KeyFileError> {
    let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Exposed { path: path.to_owned(), mode });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    SigningKey::from_pem(&text).map_err(|_| KeyFileError::NotAKey(path.to_owned()))
}

/// The key of this file, made first if there is none. Of two processes that make it at once both get the same.
pub fn read_or_make(path: &Path) -> Result<SigningKey, KeyFileError> {
    match read(path) {
        Err(KeyFileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
    let seed = fresh_seed().map_err(failed)?;
    put_in_place(path, &SigningKey::from_seed(seed).to_pem()).map_err(failed)?;
    read(path)
}

/// Written whole beside its place and linked there, so that nobody ever reads half a key and none is replaced.
fn put_in_place(path: &Path, text: &str) -> io::Result<()> {
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let beside = path.with_extension(format!("{:016x}", u64::from_be_bytes(suffix)));
    let written = write_new(&beside, text).and_then(|()| match fs::hard_link(&beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&beside);
    written.and(removed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_only_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.pem");
        let made = read_or_make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read_or_make(&path).unwrap().public(), made.public());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn makers_at_the_same_time_agree_on_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.pem");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_make(&path).unwrap())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap().public()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_and_so_is_what_is_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.pem");
        read_or_make(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read(&path), Err(KeyFileError::Exposed { mode: 0o640, .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "no key").unwrap();
        assert!(matches!(read_or_make(&path), Err(KeyFileError::NotAKey(_))), "and it is not overwritten");
        assert_eq!(fs::read_to_string(&path).unwrap(), "no key");
    }
}
