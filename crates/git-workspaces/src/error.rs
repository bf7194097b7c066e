//! What can go wrong here, with the path or command a person needs to act. Outcomes that a caller decides about
//! (a conflict, a hazard, a patch too large) are not errors and live with their operations.

use std::io;
use std::path::{Path, PathBuf};

use windlass_process_supervisor::QuickError;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("no git program in the search path {search_path:?}")]
    GitNotFound { search_path: String },
    #[error("git {found} at {} is too old, {minimum} or newer is needed", program.display())]
    GitTooOld { program: PathBuf, found: String, minimum: &'static str },
    #[error("{command} failed with {status}: {stderr}")]
    Command { command: String, status: String, stderr: String },
    #[error("git could not be run")]
    Run(#[from] QuickError),
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not inside a git repository", path.display())]
    NotARepository { path: PathBuf },
    #[error("{} is inside a bare repository or a git directory, a checkout is needed", path.display())]
    NoWorkTree { path: PathBuf },
    #[error("{} keeps its references in a reftable, only the files format is supported", path.display())]
    UnsupportedReferences { path: PathBuf },
    #[error("{revision:?} does not name a commit in this repository")]
    UnknownRevision { revision: String },
    #[error("{text:?} is not an object id")]
    BadObjectId { text: String },
    #[error("{name:?} is not a usable reference name")]
    BadReferenceName { name: String },
    #[error("an identity needs a name and an e-mail without line breaks and angle brackets")]
    BadIdentity,
    #[error("index file {} is damaged: {what}", path.display())]
    DamagedIndex { path: PathBuf, what: &'static str },
    #[error("git tells of the checkout what cannot be read: {record:?}")]
    UnreadableStatus { record: String },
    #[error("some content was made to have the same id as another one, and is not stored")]
    Collision,
    #[error("a path would be a file and a directory at once")]
    FileAndDirectory,
    #[error("objects of tree {tree} are missing from the repository (partial clone?): {detail}")]
    MissingObjects { tree: String, detail: String },
    #[error("the repository holds a forged or damaged copy of an object of commit {commit}: {detail}")]
    ForgedObject { commit: String, detail: String },
    #[error("what was kept as {commit} does not read back: {detail}")]
    NotReadBack { commit: String, detail: String },
    #[error("{} is not a directory that can be used as a workspace: {what}", path.display())]
    UnusableWorkspace { path: PathBuf, what: &'static str },
    #[error("{} could not be made to hold tree {tree}, first wrong path {wrong}", path.display())]
    NotMaterialised { path: PathBuf, tree: String, wrong: String },
    #[error("the layers in {} cannot be made a worktree of: {first} in them cannot be taken along", path.display())]
    NotUnfolded { path: PathBuf, first: String },
    #[error("{} already belongs to something else: {what}", path.display())]
    NotOurs { path: PathBuf, what: String },
    #[error("branch {branch} already exists at {found}")]
    BranchTaken { branch: String, found: String },
    #[error("there is no room for {name} beside {by}: git keeps references as paths")]
    ReferenceBlocked { name: String, by: String },
    #[error("{name} is locked, another git may be at work: {detail}")]
    ReferenceLocked { name: String, detail: String },
}

impl GitError {
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Whether git itself says that no space is left.
    pub fn is_about_space(&self) -> bool {
        let said = ["No space left on device", "Out of diskspace", "Disk quota exceeded"];
        matches!(self, Self::Command { stderr, .. } if said.iter().any(|words| stderr.contains(words)))
    }

    /// The same for calls that report a bare error number.
    pub(crate) fn errno(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(rustix::io::Errno) -> Self {
        let path = path.as_ref().to_owned();
        move |errno| Self::Io { action, path, source: errno.into() }
    }
}
