//! One checkout of a base tree for everybody: made once, never worked in, the lowest layer of many workspaces. With it lies an
//! index whose stat data is that of its files. It can be made again at any time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::AtFlags;

use crate::confined_dir::remove_tree;
use crate::durable_file::{read_plain, sync_directory, unique_beside};
use crate::error::GitError;
use crate::ids::TreeId;
use crate::index_file::{Index, path_for_key};
use crate::layered_view::{BaseListing, Delta, View};
use crate::materialise::NOW;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::selection::FileId;
use crate::worktree::time_of;

const FILES: &str = "files";
const INDEX: &str = "index";

/// A checkout that is there in full.
#[derive(Debug, Clone)]
pub struct Pristine {
    directory: PathBuf,
    tree: TreeId,
}

impl Pristine {
    /// The lowest layer.
    pub fn files(&self) -> PathBuf {
        self.directory.join(FILES)
    }

    pub fn tree(&self) -> &TreeId {
        &self.tree
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.directory.join(INDEX)
    }
}

/// Pristine checkouts in a folder, the one that was used longest ago first.
pub fn pristine_checkouts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| TreeId::parse(name).is_ok()));
    let mut found: Vec<(SystemTime, PathBuf)> =
        named.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Takes one away that nobody has below their workspace.
pub fn remove_pristine(checkout: &Path) -> Result<(), GitError> {
    // Out of the way in one step: what is half removed must not be found in full.
    let doomed = unique_beside(checkout);
    fs::rename(checkout, &doomed).map_err(GitError::io("move aside", checkout))?;
    remove_tree(&doomed)
}

impl Repository {
    /// The checkout of `tree`, which must be imported, in a folder for the checkouts of this repository. Made if it is not there.
    ///
    /// `None` where the tree has submodules: their places are not told by a tree alone.
    pub fn pristine(&self, folder: &Path, tree: &TreeId) -> Result<Option<Pristine>, GitError> {
        let pristine = Pristine { directory: folder.join(tree.as_str()), tree: tree.clone() };
        if !pristine.directory.is_dir() {
            if self.listing(tree)?.entries.iter().any(crate::index_file::IndexEntry::is_gitlink) {
                return Ok(None);
            }
            self.make_pristine(&pristine)?;
        }
        // Its time says when it was last needed; without it, it goes sooner.
        let _ = rustix::fs::utimensat(rustix::fs::CWD, &pristine.directory, &NOW, AtFlags::empty());
        Ok(Some(pristine))
    }

    fn make_pristine(&self, pristine: &Pristine) -> Result<(), GitError> {
        let folder = pristine.directory.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(GitError::io("create directory", folder))?;
        remove_half_made(&pristine.directory)?;
        let temporary = unique_beside(&pristine.directory);
        remove_tree(&temporary)?;
        let key = format!("pristine-{}", pristine.tree);
        let files = temporary.join(FILES);
        self.materialise(&files, &key, &pristine.tree)?;
        let made = path_for_key(&self.control.indexes(), &key);
        let copied = temporary.join(INDEX);
        fs::copy(&made, &copied).map_err(GitError::io("write", &copied))?;
        set_time(&copied, time_of(&made)?)?;
        self.forget_index(&key);
        // All of it at once: one call for each of many files would take longer than writing them.
        let opened = fs::File::open(&temporary).map_err(GitError::io("open", &temporary))?;
        rustix::fs::syncfs(&opened).map_err(GitError::errno("flush", &temporary))?;
        windlass_crash_points::reach("rename.before");
        match fs::rename(&temporary, &pristine.directory) {
            Ok(()) => {}
            // Another process was faster.
            Err(_) if pristine.directory.is_dir() => return remove_tree(&temporary),
            Err(error) => return Err(GitError::io("write", &pristine.directory)(error)),
        }
        windlass_crash_points::reach("rename.after");
        sync_directory(folder).map_err(GitError::io("flush", folder))
    }

    /// What stands below a workspace on this checkout that shows `tree`.
    pub(crate) fn view(&self, pristine: &Pristine, tree: &TreeId) -> Result<View, GitError> {
        let base = self.base_listing(pristine)?;
        Ok(View { base, delta: self.delta(&pristine.tree, tree)? })
    }

    pub(crate) fn base_listing(&self, pristine: &Pristine) -> Result<Arc<BaseListing>, GitError> {
        if let Some(known) = self.told.base(&pristine.tree) {
            return Ok(known);
        }
        let index = Index::read(&pristine.index())?;
        if !index.is_of(&pristine.tree) {
            let what = "it is not of the tree whose checkout it lies with";
            return Err(GitError::DamagedIndex { path: pristine.index(), what });
        }
        let base = Arc::new(BaseListing::new(&pristine.tree, index, self.format));
        self.told.keep_base(&base);
        Ok(base)
    }

    /// What the second tree has differently, remembered or asked of git. Both must be known to the control directory.
    pub(crate) fn delta(&self, base: &TreeId, tree: &TreeId) -> Result<Arc<Delta>, GitError> {
        if base == tree {
            return Ok(Arc::default());
        }
        let pair = (base.clone(), tree.clone());
        if let Some(known) = self.told.deltas().get(&pair) {
            return Ok(known);
        }
        let call =
            self.internal_call().args(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]);
        let printed = call.args(["--end-of-options", base.as_str(), tree.as_str()]).run()?;
        let mut delta = Delta::new();
        let mut fields = printed.split(|byte| *byte == 0);
        while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
            let unreadable = || GitError::BadObjectId { text: String::from_utf8_lossy(about).into_owned() };
            // `:100644 100644 id id M`
            let words: Vec<&[u8]> = about.split(|byte| *byte == b' ').collect();
            let [_, mode, _, id, kind] = words.as_slice() else { return Err(unreadable()) };
            let mode = std::str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
            let now = if *kind == b"D" {
                None
            } else {
                Some(FileId { mode: mode.ok_or_else(unreadable)?, id: crate::ids::Oid::from_hex(id)? })
            };
            delta.insert(RepoPath::new(path), now);
        }
        let delta = Arc::new(delta);
        self.told.deltas().keep(pair, &delta);
        Ok(delta)
    }

    /// The list of a tree that is known to differ from a checkout's by little, made without asking git.
    pub(crate) fn listing_by_delta(&self, tree: &TreeId) -> Option<Arc<Index>> {
        let base = self.told.newest_base()?;
        if base.tree == *tree {
            return Some(Arc::clone(&base.index));
        }
        let delta = self.told.deltas().get(&(base.tree.clone(), tree.clone()))?;
        Some(Arc::new(View { base, delta }.listing()))
    }
}

/// What a process left that was killed while it made or removed this one.
fn remove_half_made(checkout: &Path) -> Result<(), GitError> {
    let folder = checkout.parent().unwrap_or(Path::new("/"));
    let name = checkout.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let process = found.strip_prefix(&format!("{name}.tmp-")).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            remove_tree(&entry.path())?;
        }
    }
    Ok(())
}

fn set_time(file: &Path, time: SystemTime) -> Result<(), GitError> {
    let opened = fs::File::options().write(true).open(file);
    opened.and_then(|file| file.set_modified(time)).map_err(GitError::io("write", file))
}

/// As it lies there, for git in a workspace on this checkout.
pub(crate) fn index_content(pristine: &Pristine) -> Result<(Vec<u8>, SystemTime), GitError> {
    let path = pristine.index();
    let content = read_plain(&path).map_err(GitError::io("read", &path))?;
    Ok((content, time_of(&path)?))
}
