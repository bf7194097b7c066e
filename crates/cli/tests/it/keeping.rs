//! What `clean` takes can be had again, a person can stand in any tree, and a run proves itself in one file.

mod archives;
mod budget;
mod checkouts;
pub(crate) mod leftovers;
mod reruns;
mod undoing;

use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Everything in a directory: mode and bytes of files, targets of links, empty directories. `.git` at the top is git's, and so
/// is the file that says where the git directory of a worktree is.
fn everything(directory: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(current) = open.pop() {
        for entry in std::fs::read_dir(&current).unwrap().flatten() {
            let (path, about) = (entry.path(), entry.metadata().unwrap());
            let name = path.strip_prefix(directory).unwrap().to_owned();
            if name == Path::new(".git") || (name.ends_with(".git") && about.is_file()) {
                continue;
            }
            let mode = about.permissions().mode() & 0o7777;
            if about.is_dir() {
                found.insert(name, (mode, b"directory".to_vec()));
                open.push(path);
            } else if about.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(name, (0, target.into_os_string().into_encoded_bytes()));
            } else {
                found.insert(name, (mode, std::fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// Leaves what no agent would: notes, secrets, links, empty directories.
fn leave_things(directory: &Path) {
    let write = |name: &str, text: &[u8], mode: u32| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("notes by hand.txt", b"half an idea\r\n\0\xff", 0o644);
    write("deep/er/tool", b"#!/bin/sh\n", 0o755);
    write("secret", b"s", 0o600);
    write("build.log", b"ignored by name\n", 0o644);
    std::fs::create_dir_all(directory.join("empty/inside")).unwrap();
    std::os::unix::fs::symlink("nowhere", directory.join("dangling")).unwrap();
}

/// The worktrees and branches that a report says went.
fn taken(report: &Value, kind: &str) -> Vec<String> {
    let items = report["items"].as_array().unwrap().iter();
    let text = |item: &Value| item["what"].as_str().unwrap().to_owned();
    items.filter(|item| item["kind"] == kind).map(text).collect()
}
