//! The only place that runs git: snapshots as tree ids, patches, workspaces, commits and references. Agents may write the
//! user's git directory, so no git process started here ever reads its configuration, hooks or attributes; it must not
//! know what a workspace is used for. A [`Checkout`] says where the user's repository is (plain files, no process), a
//! [`Repository`] adds the private control directory in which all the work happens.

mod beginning;
mod blockers;
mod branch_worktree;
mod checkout;
mod commit;
mod confined_dir;
mod control_dir;
mod copies;
mod durable_file;
mod error;
mod fast_forward;
mod files_at;
mod fingerprint;
mod git_command;
mod hazard;
mod history;
mod id_memory;
mod ids;
mod ignore_rules;
mod index_file;
mod index_lock;
mod loose_objects;
mod materialise;
mod merge_trees;
mod move_directly;
mod noted_trees;
mod overlay;
mod own_objects;
mod passed_over;
mod patch;
mod publish;
mod record_directly;
mod references;
mod repo_path;
mod repository;
mod scan;
mod selection;
mod snapshot;
mod tree_builder;
mod tree_memory;
mod worktree;
mod worktree_removal;
mod write_tree;

pub use checkout::Checkout;
pub use commit::{CommitRequest, Identity, Moment};
pub use error::GitError;
pub use fast_forward::{FastForward, NotFastForwarded};
pub use fingerprint::{Drift, Fingerprint};
pub use git_command::{Git, GitVersion};
pub use hazard::{Hazard, SnapshotLimits};
pub use ids::{Commit, CommitId, TreeId};
pub use merge_trees::{MergedTree, Side};
pub use overlay::Overlay;
pub use passed_over::PassedOver;
pub use patch::Patch;
pub use references::ReferenceUpdate;
pub use repo_path::RepoPath;
pub use repository::Repository;
pub use selection::{Difference, FileId, Part, Selected};
pub use snapshot::{Change, ChangeKind, IgnoredFiles, Snapshot};
pub use worktree::{Head, NewWorktree, Worktree};
pub use worktree_removal::{Keeping, Kept, Obstacle, Removal};
