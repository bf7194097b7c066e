//! Git for a maker that must not write the user's repository: its worktree is given a common directory of its own, in which it
//! may commit, branch and configure as it likes, and which borrows the user's objects. Nothing in it is ever believed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::durable_file::{read_plain, replace_for_now};
use crate::error::GitError;
use crate::repository::Repository;
use crate::worktree::{Head, Worktree};

/// Nobody has directories of references inside each other so deep; a loop of links has.
const DEEPEST: usize = 24;

impl Repository {
    /// Makes `place`, which must not be there yet, the common directory of git inside the worktree. `before` are the places
    /// of earlier steps in the same worktree: what was staged or committed there stays readable.
    ///
    /// Comes back with all that git writes from now on; nothing where the worktree is not one of ours.
    pub fn set_apart(
        &self,
        worktree: &Worktree,
        place: &Path,
        before: &[PathBuf],
    ) -> Result<Vec<PathBuf>, GitError> {
        let (common, admin) = (self.checkout.common_dir(), worktree.admin_dir());
        let is_directory = admin.symlink_metadata().is_ok_and(|found| found.is_dir());
        let lists = |path: &Path| path.as_os_str().as_bytes().contains(&b'\n');
        if !is_directory || !worktree.belongs_to_us() || lists(common) || lists(place) {
            return Ok(Vec::new());
        }
        for directory in ["objects/info", "objects/pack", "refs/heads", "info"] {
            let path = place.join(directory);
            fs::create_dir_all(&path).map_err(GitError::io("create directory", &path))?;
        }
        let borrowed = std::iter::once(self.checkout.objects_dir())
            .chain(before.iter().rev().map(|place| place.join("objects")));
        let borrowed: Vec<u8> =
            borrowed.flat_map(|path| [path.as_os_str().as_bytes(), b"\n"].concat()).collect();
        replace_for_now(&place.join("objects/info/alternates"), &borrowed)?;
        for name in ["config", "HEAD", "info/exclude", "shallow"] {
            if let Ok(content) = read_plain(&common.join(name)) {
                replace_for_now(&place.join(name), &content)?;
            }
        }
        let hooks = place.join("hooks");
        std::os::unix::fs::symlink(common.join("hooks"), &hooks).map_err(GitError::io("link", &hooks))?;
        let mut references = every_reference(common);
        if let (Head::Branch(name), Some(last)) = (worktree.head(), before.last()) {
            carry_over(&mut references, &name, last);
        }
        let lines: Vec<String> = references.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        replace_for_now(&place.join("packed-refs"), lines.concat().as_bytes())?;
        replace_for_now(&admin.join("commondir"), &[place.as_os_str().as_bytes(), b"\n"].concat())?;
        Ok(vec![admin.to_owned(), place.to_owned()])
    }
}

/// As they stand in the files, packed and loose. One that cannot be read is not there for whoever looks from this place.
fn every_reference(common: &Path) -> BTreeMap<String, String> {
    let mut found = packed(common);
    let mut open = vec![(common.join("refs"), String::from("refs"), 0)];
    while let Some((directory, name, depth)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(part) = entry.file_name().into_string() else { continue };
            let name = format!("{name}/{part}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => open.push((entry.path(), name, depth + 1)),
                Ok(kind) if kind.is_file() => found.extend(id_in(&entry.path()).map(|id| (name, id))),
                _ => {}
            }
        }
    }
    found
}

fn packed(common: &Path) -> BTreeMap<String, String> {
    let text = read_plain(&common.join("packed-refs")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let entries = text.lines().filter_map(|line| line.split_once(' '));
    entries.filter(|(id, _)| is_id(id)).map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
}

fn id_in(file: &Path) -> Option<String> {
    let text = read_plain(file).ok()?;
    let id = std::str::from_utf8(&text).ok()?.trim_end();
    is_id(id).then(|| id.to_owned())
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What the maker committed on its branch in its last place, unless somebody else has moved the branch since.
fn carry_over(references: &mut BTreeMap<String, String>, name: &str, last: &Path) {
    let Some(own) = id_in(&last.join(name)) else { return };
    if references.get(name) == packed(last).get(name) {
        references.insert(name.to_owned(), own);
    }
}
