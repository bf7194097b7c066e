//! The whole state of a workspace as commits under `refs/windlass/kept/`: its files as one tree, and beside it what a tree
//! cannot say (where it stood, on what, its index, empty directories, permissions). Proven to read back before anybody
//! deletes anything. Must not delete anything itself.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use crate::blockers::entries_of;
use crate::commit::{CommitRequest, Identity};
use crate::confined_dir::ConfinedDir;
use crate::durable_file::read_plain;
use crate::error::GitError;
use crate::ids::{Commit, CommitId, Oid, TreeId};
use crate::index_file::{Index, IndexEntry, MODE_EXECUTABLE, MODE_FILE};
use crate::own_objects::{Kind, NewObject};
use crate::references::ReferenceUpdate;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::scan::FileStat;
use crate::worktree::{Head, Worktree};
use crate::worktree_removal::{Keeping, Kept};

pub(crate) const KEPT: &str = "refs/windlass/kept/";
/// Trailers that say what a kept commit is.
pub(crate) const STATE: &str = "Windlass-State";
pub(crate) const BRANCH: &str = "Windlass-Branch";
/// Files of the tree that says what the other tree cannot.
pub(crate) const ABOUT: &str = "about";
pub(crate) const INDEX: &str = "index";
/// A worktree whose index is larger stays.
const LARGEST_INDEX: u64 = 256 * 1024 * 1024;
/// Git removes those that nobody needs after two weeks.
const MOST_SHARED_PARTS: usize = 64;
const USUAL_FILE: u32 = 0o644;
const USUAL_EXECUTABLE: u32 = 0o755;

/// What a tree cannot say of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) path: PathBuf,
    pub(crate) key: String,
    /// What its HEAD said, and the commit that was.
    pub(crate) head: String,
    pub(crate) at: String,
    pub(crate) empty: Vec<RepoPath>,
    /// Permissions that are not the usual ones of a file, a program or a directory.
    pub(crate) modes: Vec<(u32, RepoPath)>,
}

impl About {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |key: &str, value: &[u8]| bytes.extend([key.as_bytes(), b" ", value, b"\0"].concat());
        put("path", self.path.as_os_str().as_bytes());
        put("key", self.key.as_bytes());
        put("head", self.head.as_bytes());
        put("at", self.at.as_bytes());
        self.empty.iter().for_each(|path| put("empty", path.as_bytes()));
        for (mode, path) in &self.modes {
            put("mode", &[format!("{mode:o} ").as_bytes(), path.as_bytes()].concat());
        }
        bytes
    }

    /// Words it does not know are passed over: a later version may say more.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut about = Self::default();
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        for record in bytes.split(|byte| *byte == 0) {
            let Some(space) = record.iter().position(|byte| *byte == b' ') else { continue };
            let (key, value) = (&record[..space], &record[space + 1..]);
            match key {
                b"path" => about.path = PathBuf::from(std::ffi::OsStr::from_bytes(value)),
                b"key" => about.key = text(value),
                b"head" => about.head = text(value),
                b"at" => about.at = text(value),
                b"empty" => about.empty.push(RepoPath::new(value)),
                b"mode" => about.modes.extend(mode_and_path(value)),
                _ => {}
            }
        }
        about
    }
}

fn mode_and_path(value: &[u8]) -> Option<(u32, RepoPath)> {
    let space = value.iter().position(|byte| *byte == b' ')?;
    let mode = u32::from_str_radix(std::str::from_utf8(&value[..space]).ok()?, 8).ok()?;
    Some((mode, RepoPath::new(&value[space + 1..])))
}

impl Repository {
    /// Records a workspace under its name in the user's repository: every file, untracked ones too, its index, its empty
    /// directories. Earlier states kept under the same name stay reachable as ancestors. When this returns, all of it was
    /// read back from there.
    pub fn keep(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        keeping: &Keeping<'_>,
    ) -> Result<Kept, GitError> {
        self.finish_giving_back(worktree)?;
        let Keeping { name, time, ignored } = *keeping;
        let reference = format!("{KEPT}{name}");
        let snapshot = self.look_at_all(worktree, key, base, ignored)?;
        let hazards = snapshot.hazards.into_iter().filter(crate::worktree_removal::loses_content).collect();
        let left_out = snapshot.left_out;
        let head = self.commit_at_head(worktree)?.unwrap_or_else(|| base.id.clone());
        let state = self.write_state(worktree, key, &head, &snapshot.tree)?;
        let earlier = self.read_reference(&reference)?;
        if let Some(earlier) = &earlier
            && self.resolve_commit(earlier.as_str())?.tree == snapshot.tree
            && self.trailer(earlier, STATE)?.as_deref() == Some(state.as_str())
        {
            self.reads_back(earlier)?;
            return Ok(Kept { reference, commit: earlier.clone(), hazards, left_out });
        }
        let windlass = Identity::new("windlass", "windlass@localhost")?;
        let request = |tree, parents, message| CommitRequest {
            tree,
            parents,
            message,
            author: &windlass,
            committer: &windlass,
            time,
        };
        let said = format!("What the files of workspace {name} do not say");
        let beside = self.publish_new(&request(&state, &[], &said), &base.tree)?;
        let parents: Vec<CommitId> =
            std::iter::once(head).chain(earlier.clone()).chain([beside.id]).collect();
        let message = format!("Keep workspace {name}\n\n{STATE}: {state}");
        let commit = self.publish_new(&request(&snapshot.tree, &parents, &message), &base.tree)?.id;
        self.keep_as(&reference, &commit, earlier.as_ref())?;
        Ok(Kept { reference, commit, hazards, left_out })
    }

    /// Records where a branch stands, so that it may be deleted. Asked again it finds what it recorded.
    pub fn keep_branch(
        &self,
        branch: &str,
        tip: &CommitId,
        keeping: &Keeping<'_>,
    ) -> Result<String, GitError> {
        let Keeping { name, time, .. } = *keeping;
        let reference = format!("{KEPT}{name}");
        let earlier = self.read_reference(&reference)?;
        if let Some(earlier) = &earlier
            && self.parents(earlier)?.first() == Some(tip)
            && self.trailer(earlier, BRANCH)?.as_deref() == Some(branch)
        {
            self.reads_back(earlier)?;
            return Ok(reference);
        }
        let at = self.take_in(tip)?;
        let windlass = Identity::new("windlass", "windlass@localhost")?;
        // An earlier version kept the tip itself under this name.
        let before = earlier.clone().filter(|earlier| earlier != tip);
        let parents: Vec<CommitId> = std::iter::once(tip.clone()).chain(before).collect();
        let message = format!("Keep branch {branch}\n\n{BRANCH}: {branch}");
        let request = CommitRequest {
            tree: &at.tree,
            parents: &parents,
            message: &message,
            author: &windlass,
            committer: &windlass,
            time,
        };
        let commit = self.publish_new(&request, &at.tree)?.id;
        self.keep_as(&reference, &commit, earlier.as_ref())?;
        Ok(reference)
    }

    fn keep_as(&self, reference: &str, commit: &CommitId, was: Option<&CommitId>) -> Result<(), GitError> {
        match self.update_reference(reference, commit, was)? {
            ReferenceUpdate::Updated => self.reads_back(commit),
            ReferenceUpdate::Conflict { found } => Err(GitError::NotOurs {
                path: PathBuf::from(reference),
                what: format!("it moved to {found:?} while something was being kept there"),
            }),
        }
    }

    /// Whether the user's repository has every object of a kept commit, each with the content its name says. Git hashes all
    /// of them; only what it complains of tells, for its exit status does not.
    pub fn reads_back(&self, commit: &CommitId) -> Result<(), GitError> {
        let parents = self.parents(commit)?;
        let wanted: String =
            std::iter::once(commit).chain(&parents).flat_map(|id| [id.as_str(), "\n"]).collect();
        let call = self.internal_call().objects_in(&self.checkout.objects_dir());
        let call = call.args(["rev-list", "--objects", "--verify-objects", "--no-walk", "--stdin"]);
        let output = call.stdin(wanted.into_bytes()).run_any()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let complaint = said.lines().find(|line| line.starts_with("error:") || line.starts_with("fatal:"));
        if output.status.success() && complaint.is_none() {
            return Ok(());
        }
        let detail = complaint.unwrap_or("git gives no reason").to_owned();
        Err(GitError::NotReadBack { commit: commit.to_string(), detail })
    }

    /// The tree that says what the files do not, stored in the control directory.
    fn write_state(
        &self,
        worktree: &Worktree,
        key: &str,
        head: &CommitId,
        kept: &TreeId,
    ) -> Result<TreeId, GitError> {
        let root = ConfinedDir::open(worktree.path())?;
        let said = match worktree.head() {
            Head::Branch(name) => format!("ref: {name}"),
            Head::Detached(id) => id.to_string(),
            Head::Unreadable => String::new(),
        };
        let Beside { empty, modes } = beside_the_files(&root)?;
        let about = About {
            path: worktree.path().to_owned(),
            key: key.to_owned(),
            head: said,
            at: head.to_string(),
            empty,
            modes,
        };
        let mut new = vec![(ABOUT.to_owned(), NewObject::new(Kind::Blob, &about.to_bytes(), self.format)?)];
        if let Some((index, staged)) = self.index_and_staged(worktree, kept)? {
            new.push((INDEX.to_owned(), index));
            new.extend(staged.into_iter().map(|object| (format!("staged/{:?}", object.id), object)));
        }
        let entry = |path: &str, oid: Oid| IndexEntry {
            path: RepoPath::new(path),
            mode: MODE_FILE,
            oid,
            stat: crate::index_file::CachedStat::default(),
        };
        let entries = new.iter().map(|(path, object)| entry(path, object.id)).collect();
        let files = new.into_iter().map(|(_, object)| object).collect();
        let (tree, _) = self.write_tree(Index::of_entries(entries), &Index::default(), files)?;
        self.make_durable(&tree)?;
        Ok(tree)
    }

    /// The index as the file it is, and the content that only it names: staged, and then changed again or deleted. One of two
    /// parts becomes one. Of an index that git cannot read the bytes are kept, which name nothing. `None` where there is none.
    fn index_and_staged(
        &self,
        worktree: &Worktree,
        kept: &TreeId,
    ) -> Result<Option<(NewObject, Vec<NewObject>)>, GitError> {
        let Some(content) = index_of(worktree)? else { return Ok(None) };
        let copy = crate::repository::fresh_index_path(&self.control.indexes().join("kept.index"));
        fs::write(&copy, &content).map_err(GitError::io("write", &copy))?;
        let read = self.in_one_part(worktree, &copy);
        // Only copies; one that stays is litter.
        let _ = fs::remove_file(&copy);
        let OnePart { content, listed } = read?.unwrap_or_else(|| OnePart { content, listed: Vec::new() });
        let known: std::collections::BTreeSet<Vec<u8>> =
            self.listing(kept)?.entries.iter().map(|entry| format!("{:?}", entry.oid).into_bytes()).collect();
        let mut only_there: Vec<&[u8]> = listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.starts_with(b"160000 "))
            .filter_map(|line| line.split(|byte| *byte == b' ').nth(1))
            .filter(|id| !known.contains(*id))
            .collect();
        only_there.sort_unstable();
        only_there.dedup();
        let staged = self.read_users(&only_there)?;
        Ok(Some((NewObject::new(Kind::Blob, &content, self.format)?, staged)))
    }

    /// The index as one file, and what it lists; `None` where git cannot read it. With `core.splitIndex` most of it lies in
    /// another file beside it, which git looks for in its own directory.
    fn in_one_part(&self, worktree: &Worktree, copy: &Path) -> Result<Option<OnePart>, GitError> {
        let shared = shared_parts(&worktree.git_dir());
        let copies: Vec<PathBuf> = shared
            .iter()
            .filter_map(|part| {
                let place = self.control.git_dir().join(part.file_name()?);
                let content = read_plain(part).ok()?;
                fs::write(&place, content).ok().map(|()| place)
            })
            .collect();
        let call = || self.internal_call().index_file(copy);
        let joined = if copies.is_empty() {
            Ok(())
        } else {
            call().args(["update-index", "--no-split-index"]).run_any().map(drop)
        };
        let listed = joined.and_then(|()| call().args(["ls-files", "-s", "-z"]).run_any());
        for place in copies {
            let _ = fs::remove_file(place);
        }
        let listed = listed?;
        if !listed.status.success() {
            return Ok(None);
        }
        let content = read_plain(copy).map_err(GitError::io("read", copy))?;
        Ok(Some(OnePart { content, listed: listed.stdout }))
    }

    /// Whether what a tree cannot say is in a directory as it was when the worktree was kept.
    pub(crate) fn says_the_same(
        &self,
        worktree: &Worktree,
        directory: &Path,
        kept: &CommitId,
    ) -> Result<bool, GitError> {
        let state = self.trailer(kept, STATE)?.and_then(|id| TreeId::parse(&id).ok());
        let Some(state) = state else { return Ok(false) };
        let Some(about) = self.about(&state)? else { return Ok(false) };
        let Beside { empty, modes } = beside_the_files(&ConfinedDir::open(directory)?)?;
        let index = match index_of(worktree)? {
            // In one part it is another file than it was; what it names was kept if nobody wrote it since.
            Some(index) if shared_parts(&worktree.git_dir()).is_empty() => Some(index),
            Some(_) => return Ok(about.empty == empty && about.modes == modes),
            None => None,
        };
        Ok(about.empty == empty && about.modes == modes && self.state_file(&state, INDEX)? == index)
    }

    /// Files of the user's object store. One that is not there, or is not what its name says, is no content of anybody's.
    fn read_users(&self, ids: &[&[u8]]) -> Result<Vec<NewObject>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.view_call()?.args(["cat-file", "--batch", "--buffer"]);
        let printed = call.stdin([ids.join(&b'\n'), b"\n".to_vec()].concat()).run()?;
        let (mut rest, mut found) = (printed.as_slice(), Vec::new());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let words: Vec<&str> = line.split(' ').collect();
            let [id, kind, size] = words.as_slice() else { continue };
            let Ok(size) = size.parse::<usize>() else { continue };
            let Some(content) = rest.get(..size) else { break };
            let object = NewObject::new(Kind::Blob, content, self.format)?;
            if *kind == "blob" && format!("{:?}", object.id) == *id {
                found.push(object);
            }
            rest = rest.get(size + 1..).unwrap_or_default();
        }
        Ok(found)
    }

    pub(crate) fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let content = self.commit_text(commit)?;
        let header = content.lines().take_while(|line| !line.is_empty());
        header.filter_map(|line| line.strip_prefix("parent ")).map(CommitId::parse).collect()
    }

    pub(crate) fn trailer(&self, commit: &CommitId, key: &str) -> Result<Option<String>, GitError> {
        Ok(trailer_in(&self.commit_text(commit)?, key))
    }

    pub(crate) fn commit_text(&self, commit: &CommitId) -> Result<String, GitError> {
        if let Some((kind, content)) = self.objects.read(commit.as_str())
            && kind == "commit"
        {
            return Ok(String::from_utf8_lossy(&content).into_owned());
        }
        let content = self.view_call()?.args(["cat-file", "commit", commit.as_str()]).run()?;
        Ok(String::from_utf8_lossy(&content).into_owned())
    }
}

/// Whether so much was staged that it is not kept.
pub(crate) fn is_index_too_large(worktree: &Worktree) -> bool {
    let git_dir = worktree.git_dir();
    let parts = shared_parts(&git_dir).into_iter().chain([git_dir.join("index")]);
    parts.filter_map(|part| fs::symlink_metadata(part).ok()).any(|found| found.len() >= LARGEST_INDEX)
}

fn index_of(worktree: &Worktree) -> Result<Option<Vec<u8>>, GitError> {
    let path = worktree.git_dir().join("index");
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() < LARGEST_INDEX) {
        return Ok(None);
    }
    read_plain(&path).map(Some).map_err(GitError::io("read", &path))
}

/// What git calls the larger part of a split index, by the hash of its content. A few that are no longer needed may be among them.
fn shared_parts(git_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(git_dir).into_iter().flatten().flatten();
    let is_part = |entry: &fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let id = name.strip_prefix("sharedindex.").unwrap_or_default();
        let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id && entry.metadata().is_ok_and(|found| found.is_file() && found.len() < LARGEST_INDEX)
    };
    entries.filter(is_part).take(MOST_SHARED_PARTS).map(|entry| entry.path()).collect()
}

pub(crate) fn trailer_in(commit: &str, key: &str) -> Option<String> {
    let (_, message) = commit.split_once("\n\n")?;
    let mut lines = message.lines().rev();
    lines.find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(": ")?.to_owned()))
}

/// An index as one file, and what git lists of it.
struct OnePart {
    content: Vec<u8>,
    listed: Vec<u8>,
}

struct Beside {
    empty: Vec<RepoPath>,
    modes: Vec<(u32, RepoPath)>,
}

/// Directories that hold nothing, and whatever has other permissions than a fresh checkout would give it.
fn beside_the_files(root: &ConfinedDir) -> Result<Beside, GitError> {
    let (mut empty, mut modes) = (Vec::new(), Vec::new());
    let mut open = vec![Vec::new()];
    while let Some(directory) = open.pop() {
        let entries = entries_of(root, &directory).map_err(GitError::errno("walk", root.path()))?;
        if entries.is_empty() && !directory.is_empty() {
            empty.push(RepoPath::new(directory.clone()));
        }
        for (name, kind) in entries {
            if directory.is_empty() && name == b".git" {
                continue;
            }
            let path = if directory.is_empty() { name } else { [&directory, &b"/"[..], &name].concat() };
            if !matches!(kind, FileType::Directory | FileType::RegularFile) {
                continue;
            }
            let found = rustix::fs::statat(root.descriptor(), path.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
            let Ok(found) = found else { continue };
            let mode = FileStat::new(&found, None).mode & 0o7777;
            let usual = match kind {
                FileType::RegularFile => mode == USUAL_FILE || mode == USUAL_EXECUTABLE,
                _ => mode == USUAL_EXECUTABLE,
            };
            if !usual {
                modes.push((mode, RepoPath::new(path.clone())));
            }
            if kind == FileType::Directory {
                open.push(path);
            }
        }
    }
    empty.sort();
    modes.sort_by(|left, right| left.1.cmp(&right.1));
    Ok(Beside { empty, modes })
}

/// What a file of a kept tree is given where nothing else was noted of it.
pub(crate) const fn usual_mode(entry_mode: u32) -> u32 {
    if entry_mode == MODE_EXECUTABLE { USUAL_EXECUTABLE } else { USUAL_FILE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_workspace_is_read_back_whatever_its_names() {
        let about = About {
            path: PathBuf::from("/a b/with\nline"),
            key: "run-doer".to_owned(),
            head: "ref: refs/heads/x".to_owned(),
            at: "a".repeat(40),
            empty: vec![RepoPath::new("a b"), RepoPath::new(&b"\xff\n"[..])],
            modes: vec![(0o600, RepoPath::new("secret file")), (0o2755, RepoPath::new("d"))],
        };
        let mut bytes = about.to_bytes();
        assert_eq!(About::parse(&bytes), about);
        bytes.extend(b"later word\0nonsense\0");
        assert_eq!(About::parse(&bytes), about);
    }

    #[test]
    fn the_last_trailer_of_its_name_counts_and_the_header_never() {
        let commit = "tree x\nWindlass-State: no\n\nSubject\n\nWindlass-State: one\nWindlass-State: two\n";
        assert_eq!(trailer_in(commit, STATE).as_deref(), Some("two"));
        assert_eq!(trailer_in(commit, BRANCH), None);
    }
}
