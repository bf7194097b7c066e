//! Git for a maker that must not write the user's repository: its worktree is given a git directory of its own, in which it
//! may commit, branch and configure as it likes, and which borrows the user's objects. What is registered of the worktree in the
//! user's repository stays as it was: `git log --all` and `git gc` there look at the HEAD and the index of every worktree, and
//! must not be led to objects they do not have. Nothing in it is ever believed.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::path_from_line;
use crate::durable_file::{is_temporary_of, read_plain, replace_for_now};
use crate::error::GitError;
use crate::ids::{CommitId, TreeId};
use crate::layers::Layers;
use crate::pristine::{Pristine, index_content};
use crate::repository::Repository;
use crate::worktree::{APART, Head, Worktree, head_in, put_index, time_of};

/// Nobody has directories of references inside each other so deep; a loop of links has.
const DEEPEST: usize = 24;
/// What every place begins with: these directories, what is copied from the user's where it is there, and the rest.
const DIRECTORIES: [&str; 4] = ["objects/info", "objects/pack", "refs/heads", "info"];
const COPIED: [&str; 4] = ["config", "HEAD", "info/exclude", "shallow"];
const WORKTREES: &str = "worktrees";
/// What a linked worktree's own git directory begins with.
const LINKED: [&str; 4] = ["HEAD", "index", "gitdir", "commondir"];
const HOOKS: &str = "hooks";
const REFERENCES: &str = "packed-refs";
/// The same without what was carried over from the place before; for us, git does not know this file.
const USERS_REFERENCES: &str = "windlass-users-references";

impl Repository {
    /// Gives git inside the worktree a git directory of its own in `folder`, which is this worktree's alone. The places
    /// of earlier steps there stay: what was staged or committed in them stays readable. One in which nothing was left is
    /// used again, so that a run of a thousand steps that leave git alone has one place and not a thousand.
    ///
    /// Comes back with all that git writes from now on; nothing where the worktree is not one of ours.
    pub fn set_apart(&self, worktree: &Worktree, folder: &Path) -> Result<Vec<PathBuf>, GitError> {
        let (common, admin) = (self.checkout.common_dir(), worktree.admin_dir());
        let lists = |path: &Path| path.as_os_str().as_bytes().contains(&b'\n');
        if !is_directory(admin) || !worktree.belongs_to_us() || lists(common) || lists(folder) {
            return Ok(Vec::new());
        }
        let (place, before) = next_place(folder)?;
        let git_dir = self.lay_out(worktree, (&place, &before), worktree.head())?;
        carry_over_standing(worktree, &git_dir)?;
        link_back(worktree, &git_dir)?;
        worktree.turn_to(&git_dir)?;
        Ok(vec![place])
    }

    /// The same for a workspace of layers, of which nothing is registered in the user's repository: its `.git` is written to
    /// the upper layer. Comes back with all that git writes.
    pub fn set_apart_in_layers(
        &self,
        worktree: &Worktree,
        (folder, layers): (&Path, &Layers),
        standing: &Standing<'_>,
    ) -> Result<Vec<PathBuf>, GitError> {
        let what = "a line of a list cannot name it";
        let lists = |path: &Path| path.as_os_str().as_bytes().contains(&b'\n');
        if lists(self.checkout.common_dir()) || lists(folder) {
            return Err(GitError::UnusableWorkspace { path: folder.to_owned(), what });
        }
        let last = last_git_dir(worktree, folder);
        let (place, before) = next_place(folder)?;
        let head = last.as_deref().map_or(Head::Unreadable, head_in);
        let git_dir = self.lay_out(worktree, (&place, &before), head)?;
        match standing {
            Standing::AsLeft { branch, pristine } => {
                if let Some(last) = last.filter(|last| last.join("HEAD").is_file()) {
                    carry_over(&[last], &git_dir)?;
                } else {
                    put(&git_dir.join("HEAD"), format!("ref: refs/heads/{branch}\n").as_bytes())?;
                    let (index, written) = index_content(pristine)?;
                    put_index(&git_dir, &index, written)?;
                }
            }
            Standing::At { commit, pristine, tree } => {
                put(&git_dir.join("HEAD"), format!("{commit}\n").as_bytes())?;
                let target = git_dir.join("index");
                let _ = fs::remove_file(git_dir.join("index.lock"));
                self.write_index_of_layers(&target, layers, &self.view(pristine, tree)?)?;
            }
        }
        link_back(worktree, &git_dir)?;
        let line = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
        put(&layers.upper().join(".git"), &line)?;
        Ok(vec![place])
    }

    /// Whether git in a workspace of layers still has this commit checked out, on no branch.
    pub fn layers_stand_at(
        &self,
        worktree: &Worktree,
        (folder, layers): (&Path, &Layers),
        commit: &CommitId,
    ) -> bool {
        let Some(git_dir) = last_git_dir(worktree, folder) else { return false };
        let line = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
        let is_linked = read_plain(&layers.upper().join(".git")).is_ok_and(|found| found == line);
        is_linked && head_in(&git_dir) == Head::Detached(commit.clone())
    }

    /// A place with what every place begins with. Comes back with the directory of git inside the worktree.
    fn lay_out(
        &self,
        worktree: &Worktree,
        (place, before): (&Path, &[PathBuf]),
        head: Head,
    ) -> Result<PathBuf, GitError> {
        let common = self.checkout.common_dir();
        let linked = linked_name(worktree);
        for directory in DIRECTORIES.iter().map(Path::new).chain([linked.as_path()]) {
            let path = place.join(directory);
            fs::create_dir_all(&path).map_err(GitError::io("create directory", &path))?;
        }
        let borrowed = std::iter::once(self.checkout.objects_dir())
            .chain(before.iter().rev().map(|place| place.join("objects")));
        let borrowed: Vec<u8> =
            borrowed.flat_map(|path| [path.as_os_str().as_bytes(), b"\n"].concat()).collect();
        put(&place.join("objects/info/alternates"), &borrowed)?;
        for name in COPIED {
            match read_plain(&common.join(name)) {
                Ok(content) => put(&place.join(name), &content)?,
                Err(_) => remove(&place.join(name))?,
            }
        }
        link(&place.join(HOOKS), &common.join(HOOKS))?;
        let users = every_reference(common);
        let own = match (head, before.last()) {
            (Head::Branch(name), Some(last)) => carried_over(&users, name, last),
            _ => None,
        };
        put(&place.join(USERS_REFERENCES), lines(&users).as_bytes())?;
        let references: BTreeMap<String, String> = users.into_iter().chain(own).collect();
        put(&place.join(REFERENCES), lines(&references).as_bytes())?;
        Ok(place.join(linked))
    }
}

fn link_back(worktree: &Worktree, git_dir: &Path) -> Result<(), GitError> {
    let back = [worktree.path().join(".git").as_os_str().as_bytes(), b"\n"].concat();
    put(&git_dir.join("gitdir"), &back)?;
    put(&git_dir.join("commondir"), b"../..\n")
}

/// Where git in a workspace of layers is to stand.
#[derive(Debug, Clone, Copy)]
pub enum Standing<'a> {
    /// Where it was left; at the beginning on this branch (short name), with the index of the checkout.
    AsLeft { branch: &'a str, pristine: &'a Pristine },
    /// On no branch at this commit, with an index that shows the tree.
    At { commit: &'a CommitId, pristine: &'a Pristine, tree: &'a TreeId },
}

fn linked_name(worktree: &Worktree) -> PathBuf {
    Path::new(WORKTREES).join(worktree.admin_dir().file_name().unwrap_or_default())
}

/// The directory of git inside a worktree in the last place that was set apart for it.
pub(crate) fn last_git_dir(worktree: &Worktree, folder: &Path) -> Option<PathBuf> {
    let (_, last) = numbered_places(folder).ok()?.pop()?;
    Some(last.join(linked_name(worktree))).filter(|git_dir| is_directory(git_dir))
}

/// Whether nothing was left in any of the places of a worktree: then nobody misses them once the worktree is gone.
pub fn nothing_was_left_apart(folder: &Path) -> Result<bool, GitError> {
    let entries = fs::read_dir(folder).map_err(GitError::io("list", folder))?;
    Ok(entries.flatten().all(|entry| nothing_was_left_in(&entry.path())))
}

/// HEAD and the index as git inside the worktree had them last.
fn carry_over_standing(worktree: &Worktree, git_dir: &Path) -> Result<(), GitError> {
    carry_over(&[worktree.git_dir(), worktree.admin_dir().to_owned()], git_dir)
}

/// From the first of these that has it.
fn carry_over(from: &[PathBuf], git_dir: &Path) -> Result<(), GitError> {
    if from.first().is_some_and(|last| last == git_dir) {
        return Ok(());
    }
    let of_either = |name: &str| {
        let files = from.iter().map(|directory| directory.join(name));
        files.into_iter().find_map(|file| read_plain(&file).ok().map(|content| (file, content)))
    };
    if let Some((_, head)) = of_either("HEAD") {
        put(&git_dir.join("HEAD"), &head)?;
    }
    if let Some((file, index)) = of_either("index") {
        put_index(git_dir, &index, time_of(&file)?)?;
    }
    Ok(())
}

/// Whether nobody did anything with git in a place that was set apart: then it holds nothing that is only there.
pub fn is_untouched_place(place: &Path) -> bool {
    nothing_was_left_in(place)
}

/// The worktree of the repository with this common directory whose git works in a place below `folder`.
pub fn worktree_set_apart_in(common_dir: &Path, folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    fs::read_dir(common_dir.join("worktrees")).ok()?.flatten().find_map(|entry| {
        let line = |name: &str| read_plain(&entry.path().join(name)).ok().map(|line| path_from_line(&line));
        let place = entry.path().join(line(APART)?).canonicalize().ok()?;
        let dot_git = line("gitdir")?;
        place.starts_with(&folder).then(|| dot_git.parent().unwrap_or(&dot_git).to_owned())
    })
}

fn numbered_places(folder: &Path) -> Result<Vec<(u64, PathBuf)>, GitError> {
    let entries = fs::read_dir(folder).map_err(GitError::io("list", folder))?;
    let numbered = |entry: fs::DirEntry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()));
    let mut places: Vec<(u64, PathBuf)> = entries.flatten().filter_map(numbered).collect();
    places.sort();
    Ok(places)
}

/// The last place if nothing was left in it, else a new one; and those before it.
fn next_place(folder: &Path) -> Result<(PathBuf, Vec<PathBuf>), GitError> {
    let places = numbered_places(folder)?;
    let next = places.last().map_or(1, |(number, _)| number + 1);
    let mut places: Vec<PathBuf> = places.into_iter().map(|(_, place)| place).collect();
    let untouched = |last: &mut PathBuf| {
        nothing_was_left_in(last) || {
            remove_own_leftovers(last);
            nothing_was_left_in(last)
        }
    };
    let place = match places.pop_if(untouched) {
        Some(untouched) => untouched,
        None => folder.join(next.to_string()),
    };
    Ok((place, places))
}

/// Of ours who were killed while they wrote a file of the place.
fn remove_own_leftovers(place: &Path) {
    let linked = fs::read_dir(place.join(WORKTREES)).into_iter().flatten().flatten();
    let linked = linked.flat_map(|entry| LINKED.map(|name| entry.path().join(name)));
    let own = COPIED.iter().chain([&REFERENCES, &USERS_REFERENCES, &"objects/info/alternates"]);
    for file in own.map(|name| place.join(name)).chain(linked) {
        if let Some(name) = file.file_name().and_then(std::ffi::OsStr::to_str) {
            windlass_process_supervisor::remove_leftovers(&file, &format!("{name}.tmp-"));
        }
    }
}

/// Whether it has no more than what every place begins with. What its files say does not count: they are written again.
fn nothing_was_left_in(place: &Path) -> bool {
    let linked = fs::read_dir(place.join(WORKTREES)).into_iter().flatten().flatten();
    let linked: Vec<PathBuf> = linked.map(|entry| Path::new(WORKTREES).join(entry.file_name())).collect();
    let known: Vec<PathBuf> = std::iter::once(PathBuf::from("objects/info/alternates"))
        .chain(COPIED.iter().chain([&REFERENCES, &USERS_REFERENCES]).map(PathBuf::from))
        .chain(linked.iter().flat_map(|linked| LINKED.iter().map(|name| linked.join(name))))
        .collect();
    let directories: Vec<&Path> = DIRECTORIES
        .iter()
        .map(Path::new)
        .chain([Path::new(WORKTREES)])
        .chain(linked.iter().map(PathBuf::as_path))
        .flat_map(Path::ancestors)
        .collect();
    directories.iter().all(|directory| {
        let here = place.join(directory);
        let entries = match fs::read_dir(&here) {
            Ok(entries) => entries,
            // We were killed before it was made.
            Err(error) => return error.kind() == ErrorKind::NotFound,
        };
        is_directory(&here)
            && entries.flatten().all(|entry| {
                let path = directory.join(entry.file_name());
                let Ok(kind) = entry.file_type() else { return false };
                (kind.is_dir() && directories.contains(&path.as_path()))
                    || (kind.is_file() && (known.contains(&path) || is_half_written(&path, &known)))
                    || (kind.is_symlink() && path == Path::new(HOOKS))
            })
    })
}

/// What we left if we were killed while one of these was written; it goes when that one is written again.
fn is_half_written(path: &Path, known: &[PathBuf]) -> bool {
    known.iter().any(|known| is_temporary_of(path, known))
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// A file that says so already is left alone: on some file systems making one costs more than reading ten.
fn put(path: &Path, content: &[u8]) -> Result<(), GitError> {
    let as_long = path.symlink_metadata().is_ok_and(|about| about.len() == content.len() as u64);
    if as_long && read_plain(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    replace_for_now(path, content)
}

fn link(path: &Path, target: &Path) -> Result<(), GitError> {
    if fs::read_link(path).is_ok_and(|there| there == target) {
        return Ok(());
    }
    remove(path)?;
    std::os::unix::fs::symlink(target, path).map_err(GitError::io("link", path))
}

fn remove(path: &Path) -> Result<(), GitError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(GitError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// As they stand in the files, packed and loose. One that cannot be read is not there for whoever looks from this place.
fn every_reference(common: &Path) -> BTreeMap<String, String> {
    let mut found = packed(&common.join(REFERENCES));
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

fn packed(file: &Path) -> BTreeMap<String, String> {
    let text = read_plain(file).unwrap_or_default();
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

/// What the maker had its branch at in its last place, unless somebody else has moved the branch since.
fn carried_over(users: &BTreeMap<String, String>, name: String, last: &Path) -> Option<(String, String)> {
    let own = id_in(&last.join(&name)).or_else(|| packed(&last.join(REFERENCES)).remove(&name))?;
    let moved = users.get(&name) != packed(&last.join(USERS_REFERENCES)).get(&name);
    (!moved).then_some((name, own))
}

fn lines(references: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = references.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
    lines.concat()
}
