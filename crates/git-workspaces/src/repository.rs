//! The handle everything else hangs on: the user's checkout together with its private control directory, and the
//! import that makes the control directory independent of the user's object store.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::checkout::Checkout;
use crate::control_dir::{ControlDir, ObjectFormat};
use crate::durable_file::{ensure, read_plain, unique_beside};
use crate::error::GitError;
use crate::git_command::{Git, GitCall};
use crate::id_memory::IdMemory;
use crate::ids::{Commit, TreeId};
use crate::index_file::Index;
use crate::own_objects::OwnObjects;
use crate::taken_up::TakenUp;
use crate::tree_memory::TreeMemory;

/// Listings of base trees are caches; this many stay.
const BASE_LISTINGS_KEPT: usize = 8;

/// The user's repository as the engine works with it.
#[derive(Debug, Clone)]
pub struct Repository {
    pub(crate) git: Git,
    pub(crate) checkout: Checkout,
    pub(crate) control: ControlDir,
    pub(crate) format: ObjectFormat,
    pub(crate) resolved: Arc<Mutex<BTreeMap<String, Commit>>>,
    pub(crate) memory: TreeMemory,
    pub(crate) told: IdMemory,
    pub(crate) taken_up: TakenUp,
    pub(crate) objects: OwnObjects,
}

impl Repository {
    /// Opens or completes the control directory at `control_path`, which must lie outside every agent's reach.
    /// One control directory serves all checkouts of one repository.
    pub fn open(git: Git, checkout: Checkout, control_path: &Path) -> Result<Self, GitError> {
        let format = object_format(&checkout);
        let control = ControlDir::open(control_path, &checkout, format)?;
        let objects = OwnObjects::at(control.objects());
        let (memory, told) = (TreeMemory::default(), IdMemory::default());
        let taken_up = TakenUp::default();
        Ok(Self { git, checkout, control, format, resolved: Arc::default(), memory, told, taken_up, objects })
    }

    pub fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// Brings the content of a commit into the control directory. From then on nothing done to the user's object
    /// store (garbage collection, forged objects) changes what the engine reads. Call it before an agent starts.
    pub fn import(&self, commit: &Commit) -> Result<(), GitError> {
        let marker = self.control.imported().join(commit.tree.as_str());
        let imported = read_plain(&marker).unwrap_or_default();
        let mut imported = String::from_utf8_lossy(&imported).into_owned();
        if imported.lines().any(|id| id == commit.id.as_str()) {
            return Ok(());
        }
        if self.told.whole().get(&commit.tree).is_some()
            && self.made_here(&commit.id).as_ref() == Some(commit)
        {
            return Ok(());
        }
        let mut wanted = vec![commit.id.as_str().to_owned()];
        if !marker.exists() {
            wanted.extend(self.objects_of(&commit.tree, &self.imported_trees()?, ReadFrom::UserToo)?);
        }
        let pack = self.control.git_dir().join("objects/pack/pack");
        self.internal_call()
            .also_objects_in(&self.checkout.objects_dir())
            .args(["pack-objects", "-q", "--window=0"])
            .arg(pack)
            .stdin((wanted.join("\n") + "\n").into_bytes())
            .run()
            .map_err(|error| missing_objects(&commit.tree, error))?;
        imported.push_str(commit.id.as_str());
        imported.push('\n');
        ensure(&marker, imported.as_bytes())
    }

    /// All of the tree was read from the control directory, beyond a base that is there too.
    pub(crate) fn note_whole(&self, tree: &TreeId, base: &TreeId) {
        let is_imported = || self.control.imported().join(base.as_str()).exists();
        if self.told.whole().get(base).is_some() || is_imported() {
            self.told.whole().keep(tree.clone(), &());
        }
    }

    /// Ids of what `tree` needs beyond `known`, the tree itself included.
    pub(crate) fn objects_of(
        &self,
        tree: &TreeId,
        known: &[String],
        from: ReadFrom,
    ) -> Result<Vec<String>, GitError> {
        let call = self.internal_call();
        let call = match from {
            ReadFrom::ControlOnly => call,
            ReadFrom::UserToo => call.also_objects_in(&self.checkout.objects_dir()),
        };
        let exclusions: String = known.iter().flat_map(|id| ["^", id.as_str(), "\n"]).collect();
        let listed = call
            .args(["rev-list", "--objects", "--stdin"])
            .stdin(format!("{tree}\n{exclusions}").into_bytes())
            .run()
            .map_err(|error| missing_objects(tree, error))?;
        let id_digits = self.format.id_bytes() * 2;
        // A newline in a path is printed as it is, so only lines that start with an id count.
        let ids = listed.split(|byte| *byte == b'\n').filter_map(|line| {
            let id = line.get(..id_digits)?;
            let ends = line.len() == id_digits || line[id_digits] == b' ';
            (ends && crate::ids::Oid::from_hex(id).is_ok()).then(|| String::from_utf8_lossy(id).into_owned())
        });
        Ok(ids.collect())
    }

    pub(crate) fn imported_trees(&self) -> Result<Vec<String>, GitError> {
        let directory = self.control.imported();
        let entries = fs::read_dir(&directory).map_err(GitError::io("list", &directory))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| TreeId::parse(name).is_ok()).collect())
    }

    /// The paths of a tree, read once per tree and then kept as an index file.
    pub(crate) fn listing(&self, tree: &TreeId) -> Result<Arc<Index>, GitError> {
        if let Some(known) = self.memory.listing(tree) {
            return Ok(known);
        }
        if let Some(known) = self.listing_by_delta(tree) {
            return Ok(known);
        }
        let listing = Arc::new(self.stored_listing(tree)?);
        self.memory.keep_listing(tree, &listing);
        Ok(listing)
    }

    fn stored_listing(&self, tree: &TreeId) -> Result<Index, GitError> {
        let path = self.listing_path(tree);
        if let Ok(index) = Index::read(&path)
            && index.is_of(tree)
        {
            return Ok(index);
        }
        let temporary = fresh_index_path(&path);
        self.internal_call().index_file(&temporary).arg("read-tree").arg(tree.as_str()).run()?;
        let index = Index::read(&temporary)?;
        install_index(&temporary, &path)?;
        self.drop_old_listings()?;
        Ok(index)
    }

    pub(crate) fn listing_path(&self, tree: &TreeId) -> PathBuf {
        self.control.indexes().join(format!("tree-{tree}.index"))
    }

    pub(crate) fn drop_old_listings(&self) -> Result<(), GitError> {
        let directory = self.control.indexes();
        let entries = fs::read_dir(&directory).map_err(GitError::io("list", &directory))?;
        let mut listings: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"tree-"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        listings.sort();
        let superfluous = listings.len().saturating_sub(BASE_LISTINGS_KEPT);
        for (_, path) in listings.into_iter().take(superfluous) {
            // A cache that stays is no harm, and another process may have dropped it already.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// A call on the control directory that touches no work tree.
    pub(crate) fn internal_call(&self) -> GitCall {
        let nowhere = self.control.no_work_tree();
        self.git.call(self.control.git_dir(), &nowhere).work_tree(&nowhere)
    }

    /// A call on the control directory with `directory` as work tree.
    pub(crate) fn call_in(&self, directory: &Path, index: &Path) -> GitCall {
        self.git.call(self.control.git_dir(), directory).work_tree(directory).index_file(index)
    }
}

/// Whether objects may come from the user's store as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadFrom {
    ControlOnly,
    UserToo,
}

/// A name for an index that only one call uses, so that no lock of a killed call can be in the way.
pub(crate) fn fresh_index_path(path: &Path) -> PathBuf {
    let fresh = unique_beside(path);
    let mut lock = fresh.clone().into_os_string();
    lock.push(".lock");
    // Leftovers of a killed process that had our number; nobody can be using them.
    let _ = fs::remove_file(&fresh);
    let _ = fs::remove_file(lock);
    fresh
}

pub(crate) fn write_index(path: &Path, index: &Index, format: ObjectFormat) -> Result<(), GitError> {
    fs::write(path, index.to_bytes(format.id_bytes())).map_err(GitError::io("write", path))
}

/// Not made durable: an index is a memory of what was seen, and one that a power cut damaged is built anew.
pub(crate) fn install_index(temporary: &Path, path: &Path) -> Result<(), GitError> {
    windlass_crash_points::reach("rename.before");
    fs::rename(temporary, path).map_err(GitError::io("write", path))?;
    windlass_crash_points::reach("rename.after");
    Ok(())
}

fn missing_objects(tree: &TreeId, error: GitError) -> GitError {
    match error {
        // What could not be written is not missing, and a run must not end for it.
        error @ GitError::Command { .. } if error.is_about_space() => error,
        GitError::Command { stderr, .. } => GitError::MissingObjects {
            tree: tree.to_string(),
            detail: stderr.lines().last().unwrap_or("").to_owned(),
        },
        other => other,
    }
}

/// The hash function is the one fact needed from the user's configuration; it is read as text and only decides how
/// long an id is, so a lie makes calls fail but runs nothing.
fn object_format(checkout: &Checkout) -> ObjectFormat {
    let config = read_plain(&checkout.common_dir().join("config")).unwrap_or_default();
    let text = String::from_utf8_lossy(&config).to_lowercase();
    let says_sha256 = text.lines().any(|line| {
        line.split_once('=')
            .is_some_and(|(key, value)| key.trim() == "objectformat" && value.trim() == "sha256")
    });
    if says_sha256 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 }
}
