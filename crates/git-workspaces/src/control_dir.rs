//! The private git directory in which all work on objects, indexes and work trees happens, and the reference view
//! through which the user's branches are read and moved. Both have a configuration of our own; the user's is never
//! read. Must not know about workspaces.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use crate::checkout::{Checkout, short_hash};
use crate::durable_file::{ensure, place, read_plain};
use crate::error::GitError;

/// Every path gets its bytes stored and restored as they are, whatever attributes the tree itself asks for: this
/// file wins over those in the tree. `working-tree-encoding` knows no "false", so it is made unspecified.
const ATTRIBUTES: &str = "* -text -crlf -ident -filter !eol !working-tree-encoding !diff !merge !whitespace \
                          !conflict-marker-size !export-subst !export-ignore\n";

const CONFIG: &str = "\tbare = false
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	sparseCheckout = false
	attributesFile = /dev/null
	excludesFile = /dev/null
	autocrlf = false
	safecrlf = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	precomposeUnicode = false
	protectHFS = true
	protectNTFS = true
	trustctime = true
	checkStat = default
	logAllRefUpdates = false
	fsync = objects,reference
	fsyncMethod = batch
[index]
	version = 2
	sparse = false
[gc]
	auto = 0
[maintenance]
	auto = false
[submodule]
	recurse = false
[diff]
	ignoreSubmodules = all
	renames = false
[protocol]
	allow = never
";

#[derive(Debug, Clone)]
pub(crate) struct ControlDir {
    root: PathBuf,
    view: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    pub(crate) fn id_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The id that stands for "no object" in a compare-and-swap.
    pub(crate) fn zero_id(self) -> String {
        "0".repeat(self.id_bytes() * 2)
    }
}

impl ControlDir {
    /// Makes whatever is missing. Each file is complete or absent, so a crash in here is repaired by the next call.
    pub(crate) fn open(root: &Path, checkout: &Checkout, format: ObjectFormat) -> Result<Self, GitError> {
        create_private_dir(root)?;
        let root = root.canonicalize().map_err(GitError::io("find", root))?;
        let view = root.join("views").join(short_hash(checkout.git_dir()));
        let control = Self { root, view };
        fill_git_dir(&control.root, format)?;
        for directory in ["refs/heads", "indexes", "imported", "worktrees", "no-work-tree"] {
            create_private_dir(&control.root.join(directory))?;
        }
        let exclude = control.root.join("info/exclude");
        if !exclude.exists() {
            let mut patterns = read_plain(&checkout.common_dir().join("info/exclude")).unwrap_or_default();
            patterns.extend(b"\n/.orchestrator/\n");
            ensure(&exclude, &patterns)?;
        }
        control.fill_view(checkout, format)?;
        Ok(control)
    }

    /// Git directory for objects, indexes and work trees.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.root
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// Git directory whose references are the user's.
    pub(crate) fn view(&self) -> &Path {
        &self.view
    }

    pub(crate) fn indexes(&self) -> PathBuf {
        self.root.join("indexes")
    }

    pub(crate) fn imported(&self) -> PathBuf {
        self.root.join("imported")
    }

    /// One file for each worktree that was made completely and not yet removed. Kept here, where no agent can
    /// delete it: by it we tell work in progress from a checkout that a crash left half made.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// Stands in where a git command insists on a work tree that it does not use.
    pub(crate) fn no_work_tree(&self) -> PathBuf {
        self.root.join("no-work-tree")
    }

    /// The view shares the reference files (and so their locks) with the repository, but not its configuration:
    /// newer gits can define hooks there, and no command line option switches those off.
    fn fill_view(&self, checkout: &Checkout, format: ObjectFormat) -> Result<(), GitError> {
        create_private_dir(&self.view)?;
        fill_git_dir(&self.view, format)?;
        create_private_dir(&self.view.join("logs"))?;
        let common = checkout.common_dir();
        for (name, target) in [
            ("refs", common.join("refs")),
            ("packed-refs", common.join("packed-refs")),
            ("logs/refs", common.join("logs/refs")),
            ("logs/HEAD", checkout.git_dir().join("logs/HEAD")),
        ] {
            ensure_link(&self.view.join(name), &target)?;
        }
        Ok(())
    }
}

fn fill_git_dir(git_dir: &Path, format: ObjectFormat) -> Result<(), GitError> {
    for directory in ["objects/info", "objects/pack", "info"] {
        create_private_dir(&git_dir.join(directory))?;
    }
    let config = match format {
        ObjectFormat::Sha1 => format!("[core]\n\trepositoryformatversion = 0\n{CONFIG}"),
        ObjectFormat::Sha256 => {
            format!("[core]\n\trepositoryformatversion = 1\n{CONFIG}[extensions]\n\tobjectFormat = sha256\n")
        }
    };
    ensure(&git_dir.join("config"), config.as_bytes())?;
    ensure(&git_dir.join("info/attributes"), ATTRIBUTES.as_bytes())?;
    let head = git_dir.join("HEAD");
    if !head.exists() {
        // In the view somebody else may have written the user's HEAD meanwhile.
        place(&head, b"ref: refs/heads/none\n")?;
    }
    Ok(())
}

fn create_private_dir(path: &Path) -> Result<(), GitError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(GitError::io("create directory", path))
}

fn ensure_link(link: &Path, target: &Path) -> Result<(), GitError> {
    if fs::read_link(link).is_ok_and(|found| found == target) {
        return Ok(());
    }
    let temporary = crate::durable_file::unique_beside(link);
    // A leftover of a killed process with our number.
    let _ = fs::remove_file(&temporary);
    symlink(target, &temporary)
        .and_then(|()| crate::durable_file::rename(&temporary, link))
        .map_err(GitError::io("link", link))
}
