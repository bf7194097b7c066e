//! One hash for everything under a directory: names, kinds, modes, contents, link targets.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Two directories have the same hash when nothing that a user could see differs. `left_out` are names in the topmost
/// directory that do not count.
pub fn tree_hash(directory: &Path, left_out: &[&str]) -> String {
    let mut hash = Sha256::new();
    add_directory(&mut hash, directory, left_out);
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

fn add_directory(hash: &mut Sha256, directory: &Path, left_out: &[&str]) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut names: Vec<_> = entries.map(|entry| entry.expect("a readable entry").file_name()).collect();
    names.retain(|name| !left_out.iter().any(|left_out| name == left_out));
    names.sort();
    for name in names {
        let path = directory.join(&name);
        let metadata = path.symlink_metadata().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        add(hash, name.as_bytes());
        add_entry(hash, &path, &metadata);
    }
    add(hash, b"end of directory");
}

fn add_entry(hash: &mut Sha256, path: &Path, metadata: &Metadata) {
    let failed = |error: std::io::Error| -> Vec<u8> { panic!("{}: {error}", path.display()) };
    if metadata.is_symlink() {
        let target = fs::read_link(path).map(|target| target.as_os_str().as_bytes().to_vec());
        add(hash, b"link");
        add(hash, &target.unwrap_or_else(failed));
        return;
    }
    add(hash, format!("{:o}", metadata.permissions().mode()).as_bytes());
    if metadata.is_dir() {
        add_directory(hash, path, &[]);
    } else if metadata.is_file() {
        add(hash, &fs::read(path).unwrap_or_else(failed));
    }
}

/// With its length, so that two neighbours cannot be mistaken for two others.
fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update(bytes.len().to_le_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_difference_changes_the_hash() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/file"), "text").unwrap();
        let mut seen = vec![tree_hash(root, &[])];
        let mut changed = |what: &str| {
            let hash = tree_hash(root, &[]);
            assert!(!seen.contains(&hash), "{what}");
            seen.push(hash);
        };
        fs::write(root.join("a/file"), "texT").unwrap();
        changed("content");
        fs::set_permissions(root.join("a/file"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("mode");
        fs::rename(root.join("a/file"), root.join("a/other")).unwrap();
        changed("name");
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        changed("link");
        let with_link = tree_hash(root, &["link"]);
        fs::remove_file(root.join("link")).unwrap();
        assert_eq!(tree_hash(root, &[]), with_link);
    }
}
