//! A workspace put together from layers: what lies where, the layer that shows another tree than the checkout's, and a look at
//! what was changed. Mounts nothing: whoever works there does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::FileType;
use sha2::{Digest, Sha256};

use crate::confined_dir::{ConfinedDir, remove_tree};
use crate::durable_file::read_plain;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits, escapes};
use crate::ids::TreeId;
use crate::ignored_files::IgnoredFiles;
use crate::index_file::{MODE_EXECUTABLE, MODE_FILE, MODE_SYMLINK, MODE_TYPE};
use crate::layered_view::{Delta, View};
use crate::own_objects::{Kind, LARGEST, NewObject};
use crate::pristine::Pristine;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::selection::FileId;
use crate::snapshot::{Change, ChangeKind, Snapshot};
use crate::upper_layer::{Closed, Leaf, UpperLayer};

const UPPER: &str = "upper";
const WORK: &str = "work";
const CHANGE: &str = "change";
const UNFOLDED: &str = "unfolded";
const RULES: &str = "rules";
/// Beyond this git, which knows how to work on many files at once, is as fast on a whole directory.
const A_FEW: usize = 2_000;
const A_FEW_BYTES: u64 = 64 * 1024 * 1024;
const IGNORE_FILE: &str = ".gitignore";

/// The layers of one workspace, all in one directory out of everybody's reach.
#[derive(Debug, Clone)]
pub struct Layers {
    directory: PathBuf,
}

impl Layers {
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where everything that is changed in the workspace is written.
    pub fn upper(&self) -> PathBuf {
        self.directory.join(UPPER)
    }

    /// The kernel's own.
    pub fn work(&self) -> PathBuf {
        self.directory.join(WORK)
    }

    /// What the workspace shows besides the checkout; empty for the checkout's own tree.
    pub fn change(&self) -> PathBuf {
        self.directory.join(CHANGE)
    }

    /// All below the upper one, the first counts most.
    pub fn lower(&self, pristine: &Pristine) -> Vec<PathBuf> {
        vec![self.change(), pristine.files()]
    }

    /// Makes what is not there.
    pub fn make(&self) -> Result<(), GitError> {
        for directory in [self.upper(), self.work(), self.change()] {
            fs::create_dir_all(&directory).map_err(GitError::io("create directory", &directory))?;
        }
        Ok(())
    }

    /// Nothing was changed in it from now on. The kernel's own directory goes too: it speaks of what was in the upper one.
    pub fn clear(&self) -> Result<(), GitError> {
        for directory in [self.upper(), self.work()] {
            remove_tree(&directory)?;
        }
        self.make()
    }

    pub fn remove(&self) -> Result<(), GitError> {
        remove_tree(&self.directory)
    }

    /// What a workspace shows below its upper layer at a path of its top.
    pub fn shown_below(&self, pristine: &Pristine, name: &str) -> Option<PathBuf> {
        let changed = self.change().join(name);
        match rustix::fs::lstat(&changed) {
            Ok(stat) if crate::upper_layer::is_whiteout(&stat) => None,
            Ok(_) => Some(changed),
            Err(_) => Some(pristine.files().join(name)).filter(|path| path.symlink_metadata().is_ok()),
        }
    }
}

impl Repository {
    /// Makes a workspace show `tree`, and nothing of what was changed in it before.
    pub fn show_in_layers(
        &self,
        layers: &Layers,
        pristine: &Pristine,
        tree: &TreeId,
    ) -> Result<(), GitError> {
        remove_tree(&layers.change())?;
        layers.clear()?;
        let view = self.view(pristine, tree)?;
        self.write_change(&layers.change(), &view)
    }

    /// Refills the upper layer with what a tree has differently, as if somebody had made it there.
    pub(crate) fn write_change(&self, directory: &Path, view: &View) -> Result<(), GitError> {
        fs::create_dir_all(directory).map_err(GitError::io("create directory", directory))?;
        let root = ConfinedDir::open(directory)?;
        let contents = self.contents(view)?;
        for (path, id) in view.delta.iter().filter_map(|(path, id)| Some((path, (*id)?))) {
            let content = contents.get(path).map(Vec::as_slice).unwrap_or_default();
            if id.mode & MODE_TYPE == MODE_SYMLINK {
                // The directories on the way there.
                root.write_file(path, 0o600, b"")?;
                root.remove(path)?;
                let full = directory.join(path.as_path());
                std::os::unix::fs::symlink(OsStr::from_bytes(content), &full)
                    .map_err(GitError::io("link", &full))?;
            } else {
                let mode = if id.mode == MODE_EXECUTABLE { 0o777 } else { 0o666 };
                root.write_file(path, mode, content)?;
            }
        }
        let gone: BTreeSet<RepoPath> = view
            .delta
            .iter()
            .filter(|(_, id)| id.is_none())
            .filter_map(|(path, _)| topmost_gone(view, path))
            .collect();
        gone.iter().try_for_each(|path| mark_removed(&root, path))
    }

    /// The content of every changed file, with one process for those that are not at hand.
    fn contents(&self, view: &View) -> Result<BTreeMap<RepoPath, Vec<u8>>, GitError> {
        let mut contents = BTreeMap::new();
        let mut missing = Vec::new();
        for (path, id) in view.delta.iter().filter_map(|(path, id)| Some((path, (*id)?))) {
            match self.small_file(id.id) {
                Some(content) => drop(contents.insert(path.clone(), content)),
                None => missing.push((path, id.id)),
            }
        }
        if missing.is_empty() {
            return Ok(contents);
        }
        let asked: Vec<u8> = missing.iter().flat_map(|(_, id)| format!("{id:?}\n").into_bytes()).collect();
        let answers = self.internal_call().args(["cat-file", "--batch"]).stdin(asked).run()?;
        let mut rest = answers.as_slice();
        for (path, _) in missing {
            let content =
                crate::files_at::next_answer(&mut rest).ok_or_else(|| GitError::MissingObjects {
                    tree: view.base.tree.to_string(),
                    detail: format!("{path} cannot be read"),
                })?;
            contents.insert(path.clone(), content);
        }
        Ok(contents)
    }

    /// As [`Repository::snapshot`] of the whole workspace, by looking at what was changed in it alone. `key` names the index
    /// for the rare case that all of it has to be looked at.
    pub fn snapshot_layers(
        &self,
        (layers, pristine): (&Layers, &Pristine),
        key: &str,
        tree: &TreeId,
        limits: SnapshotLimits,
    ) -> Result<Snapshot, GitError> {
        let view = self.view(pristine, tree)?;
        if let Some(snapshot) = self.look_at_upper((layers, pristine), &view, tree, limits)? {
            self.make_durable(&snapshot.tree)?;
            return Ok(snapshot);
        }
        let whole = layers.directory.join(UNFOLDED);
        let key = format!("{key}-{UNFOLDED}");
        let unread = self.unfold_into(&whole, &key, layers, tree)?;
        let mut snapshot = self.record(&whole, &key, tree, limits, IgnoredFiles::LeftOut)?;
        let refused = |path: &RepoPath| Hazard::Refused { detail: format!("{path} cannot be opened") };
        snapshot.hazards.extend(unread.iter().map(refused));
        self.forget_index(&key);
        remove_tree(&whole)?;
        Ok(snapshot)
    }

    /// `None` where git has to look at the whole.
    fn look_at_upper(
        &self,
        (layers, pristine): (&Layers, &Pristine),
        view: &View,
        tree: &TreeId,
        limits: SnapshotLimits,
    ) -> Result<Option<Snapshot>, GitError> {
        let root = ConfinedDir::open(&layers.upper())?;
        let upper = UpperLayer::read(&root, Closed::PassedOver)?;
        let bytes = upper.leaves.iter().fold(0_u64, |all, leaf| all.saturating_add(size(leaf)));
        if let Some(beyond) = self.beyond_in_upper((&root, &upper), (layers, pristine), view, limits)? {
            return Ok(Some(Snapshot { tree: tree.clone(), ..beyond }));
        }
        if upper.is_odd || upper.leaves.len() > A_FEW || bytes > A_FEW_BYTES {
            return Ok(None);
        }
        let mut delta = gone_in(&upper, view);
        let (mut new_files, mut candidates, mut objects) = (Delta::new(), Vec::new(), Vec::new());
        for leaf in &upper.leaves {
            let Some((id, object)) = self.read_leaf(&root, leaf)? else { return Ok(None) };
            match view.find(&leaf.path) {
                Some(before) if before == id => drop(delta.remove(&leaf.path)),
                Some(_) => {
                    delta.insert(leaf.path.clone(), Some(id));
                    objects.push((leaf.path.clone(), object));
                }
                None => {
                    new_files.insert(leaf.path.clone(), Some(id));
                    candidates.push(&leaf.path);
                    objects.push((leaf.path.clone(), object));
                }
            }
        }
        let ignored = self.ignored_new(&candidates, (&root, &upper), (layers, pristine))?;
        delta.extend(new_files.into_iter().filter(|(path, _)| !ignored.contains(path)));
        let whole = Delta::clone(&view.delta);
        let now = View { base: Arc::clone(&view.base), delta: Arc::new(joined(whole, &delta, view)) };
        let (now_tree, trees) = now.tree(self.format)?;
        let mut new: Vec<NewObject> = objects
            .into_iter()
            .filter(|(path, _)| delta.contains_key(path))
            .map(|(_, object)| object)
            .collect();
        new.extend(trees);
        self.objects.store(&new)?;
        self.told.deltas().keep((view.base.tree.clone(), now_tree.clone()), &now.delta);
        self.told.deltas().keep((tree.clone(), now_tree.clone()), &Arc::new(delta.clone()));
        let changes = changes_of(&delta, view, &upper);
        let mut hazards = Vec::new();
        for (path, id) in delta.iter().filter_map(|(path, id)| Some((path, (*id)?))) {
            if id.mode & MODE_TYPE == MODE_SYMLINK
                && let Some(target) = root.link_target(path)?
                && escapes(path, &target)
            {
                hazards.push(Hazard::EscapingLink { path: path.clone(), target });
            }
        }
        hazards.extend(Hazard::of_size(&changes, limits));
        Ok(Some(Snapshot { tree: now_tree, changes, hazards, left_out: None }))
    }

    /// A change that is far too large, told by names and sizes alone: nothing of it is read or copied.
    fn beyond_in_upper(
        &self,
        (root, upper): (&ConfinedDir, &UpperLayer),
        (layers, pristine): (&Layers, &Pristine),
        view: &View,
        limits: SnapshotLimits,
    ) -> Result<Option<Snapshot>, GitError> {
        let bytes = upper.leaves.iter().fold(0_u64, |all, leaf| all.saturating_add(size(leaf)));
        if limits == SnapshotLimits::NONE || (upper.leaves.len() <= limits.paths && bytes <= limits.bytes) {
            return Ok(None);
        }
        let is_new = |leaf: &&Leaf| view.find(&leaf.path).is_none();
        let new: Vec<&RepoPath> = upper.leaves.iter().filter(is_new).map(|leaf| &leaf.path).collect();
        let ignored = self.ignored_new(&new, (root, upper), (layers, pristine))?;
        let grown = |leaf: &Leaf| {
            let below = [layers.change(), pristine.files()].map(|layer| layer.join(leaf.path.as_path()));
            let before = below.iter().find_map(|path| path.symlink_metadata().ok());
            size(leaf) > limits.bytes && before.is_none_or(|before| before.len() != size(leaf))
        };
        let change = |leaf: &Leaf| {
            let kind = if is_new(&leaf) {
                (!ignored.contains(&leaf.path)).then_some(ChangeKind::Added)
            } else {
                grown(leaf).then_some(ChangeKind::Modified)
            };
            kind.map(|kind| Change { path: leaf.path.clone(), kind, size: size(leaf) })
        };
        let mut changes: Vec<Change> = upper.leaves.iter().filter_map(change).collect();
        let mut hazards = Hazard::of_size(&changes, limits);
        if hazards.is_empty() {
            return Ok(None);
        }
        hazards.push(Hazard::NotRecorded);
        changes.truncate(limits.paths);
        Ok(Some(Snapshot { tree: pristine.tree().clone(), changes, hazards, left_out: None }))
    }

    /// `None` where it cannot be read as what it was a moment ago.
    fn read_leaf(&self, root: &ConfinedDir, leaf: &Leaf) -> Result<Option<(FileId, NewObject)>, GitError> {
        let (mode, content) = if leaf.kind == FileType::Symlink {
            let Some(target) = root.link_target(&leaf.path)? else { return Ok(None) };
            (MODE_SYMLINK, target)
        } else {
            let Ok(Some((stat, content))) = root.read_file(&leaf.path, LARGEST as u64) else {
                return Ok(None);
            };
            (if stat.st_mode & 0o100 == 0 { MODE_FILE } else { MODE_EXECUTABLE }, content)
        };
        let object = NewObject::new(Kind::Blob, &content, self.format)?;
        Ok(Some((FileId { mode, id: object.id }, object)))
    }

    /// Which of these are left out, by git's own rules: asked in a directory that has the rules of the workspace and nothing
    /// else, and once for the same question.
    fn ignored_new(
        &self,
        candidates: &[&RepoPath],
        upper: (&ConfinedDir, &UpperLayer),
        (layers, pristine): (&Layers, &Pristine),
    ) -> Result<BTreeSet<RepoPath>, GitError> {
        if candidates.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut directories: BTreeSet<&[u8]> = BTreeSet::from([&b""[..]]);
        for path in candidates {
            let bytes = path.as_bytes();
            let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            directories.extend(slashes.map(|(at, _)| &bytes[..=at]));
        }
        let mut rules = Vec::new();
        for directory in directories {
            let path = RepoPath::new([directory, IGNORE_FILE.as_bytes()].concat());
            if let Some(content) = rule_file(upper, (layers, pristine), &path) {
                rules.push((path, content));
            }
        }
        let asked: Vec<u8> = candidates.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let exclude = read_plain(&self.control.git_dir().join("info/exclude")).unwrap_or_default();
        let mut digest = Sha256::new();
        for part in [&exclude, &asked].into_iter().chain(rules.iter().map(|(_, content)| content)) {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        for (path, _) in &rules {
            digest.update(path.as_bytes());
        }
        let question: [u8; 32] = digest.finalize().into();
        if let Some(known) = self.told.ignored().get(&question) {
            return Ok(known.into_iter().collect());
        }
        let scratch = layers.directory.join(RULES);
        remove_tree(&scratch)?;
        fs::create_dir_all(&scratch).map_err(GitError::io("create directory", &scratch))?;
        let place = ConfinedDir::open(&scratch)?;
        for (path, content) in &rules {
            place.write_file(path, 0o600, content)?;
        }
        let index = self.control.indexes().join("none");
        let call = self.call_in(&scratch, &index).args(["check-ignore", "--no-index", "-z", "--stdin"]);
        let printed = call.stdin(asked).run_accepting(&[0, 1])?.stdout;
        remove_tree(&scratch)?;
        let found: Vec<RepoPath> =
            printed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect();
        self.told.ignored().keep(question, &found);
        Ok(found.into_iter().collect())
    }
}

/// A file of rules as the workspace shows it.
fn rule_file(
    (root, upper): (&ConfinedDir, &UpperLayer),
    (layers, pristine): (&Layers, &Pristine),
    path: &RepoPath,
) -> Option<Vec<u8>> {
    if let Ok(Some((kind, _))) = root.kind_of(path) {
        let read = (kind == FileType::RegularFile).then(|| root.read_file(path, LARGEST as u64));
        return read?.ok().flatten().map(|(_, content)| content);
    }
    let hides = |directory: &crate::upper_layer::Directory| {
        let rest = path.as_bytes().strip_prefix(directory.path.as_bytes());
        directory.is_opaque && rest.is_some_and(|rest| rest.starts_with(b"/"))
    };
    if upper.directories.iter().any(hides) {
        return None;
    }
    for below in [layers.change(), pristine.files()] {
        let full = below.join(path.as_path());
        match rustix::fs::lstat(&full) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                return read_plain(&full).ok();
            }
            Err(rustix::io::Errno::NOENT) => {}
            // Something else stands there or on the way there, and hides what lies below it.
            Ok(_) | Err(_) => return None,
        }
    }
    None
}

fn size(leaf: &Leaf) -> u64 {
    u64::try_from(leaf.stat.st_size).unwrap_or(0)
}

/// What an upper layer hides of what lies below it.
fn gone_in(upper: &UpperLayer, view: &View) -> Delta {
    let mut gone = Delta::new();
    let mut hide = |path: &RepoPath, itself: bool| {
        if itself && view.find(path).is_some() {
            gone.insert(path.clone(), None);
        }
        gone.extend(view.inside(path).into_iter().map(|path| (path, None)));
    };
    for path in &upper.removed {
        hide(path, true);
    }
    for leaf in &upper.leaves {
        hide(&leaf.path, false);
    }
    for directory in &upper.directories {
        if directory.is_opaque {
            hide(&directory.path, true);
        }
    }
    // A directory in the place of a file hides it without being marked.
    for directory in upper.directories.iter().filter(|directory| view.find(&directory.path).is_some()) {
        gone.insert(directory.path.clone(), None);
    }
    gone
}

/// Both differences as one, against the base of the first.
fn joined(mut whole: Delta, more: &Delta, view: &View) -> Delta {
    for (path, id) in more {
        let base = view.base.index.find(path.as_bytes()).map(FileId::of);
        if base == *id {
            whole.remove(path);
        } else {
            whole.insert(path.clone(), *id);
        }
    }
    whole
}

fn changes_of(delta: &Delta, view: &View, upper: &UpperLayer) -> Vec<Change> {
    let size_of = |path: &RepoPath| {
        let at = upper.leaves.binary_search_by(|leaf| leaf.path.cmp(path)).ok();
        at.map_or(0, |at| size(&upper.leaves[at]))
    };
    let change = |(path, now): (&RepoPath, &Option<FileId>)| {
        let kind = match (view.find(path), now) {
            (_, None) => ChangeKind::Deleted,
            (None, Some(_)) => ChangeKind::Added,
            (Some(before), Some(now)) if before.mode & MODE_TYPE != now.mode & MODE_TYPE => {
                ChangeKind::TypeChanged
            }
            (Some(before), Some(now)) if before.id == now.id => ChangeKind::ModeChanged,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        let size = if kind == ChangeKind::Deleted { 0 } else { size_of(path) };
        Change { path: path.clone(), kind, size }
    };
    delta.iter().map(change).collect()
}

/// Where the removal of this file shows: a directory that holds nothing any more goes as a whole. `None` where something else
/// stands in its way and hides it.
fn topmost_gone(view: &View, path: &RepoPath) -> Option<RepoPath> {
    let bytes = path.as_bytes();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let directory = RepoPath::new(&bytes[..at]);
        if view.find(&directory).is_some() {
            return None;
        }
        if !view.has_inside(&directory) {
            return Some(directory);
        }
    }
    (!view.has_inside(path)).then(|| path.clone())
}

fn mark_removed(root: &ConfinedDir, path: &RepoPath) -> Result<(), GitError> {
    // The directories on the way there.
    root.write_file(path, 0o600, b"")?;
    root.remove(path)?;
    let full = root.path().join(path.as_path());
    rustix::fs::mknodat(rustix::fs::CWD, &full, FileType::CharacterDevice, rustix::fs::Mode::empty(), 0)
        .map_err(GitError::errno("mark as removed", &full))
}
