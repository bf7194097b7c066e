//! Everything a new control plane is made of, in both generations: contract files, roles, and a roadmap family built from
//! what people answered. It knows texts; which of them are missing and where they are written is decided elsewhere.

mod carried_over;
mod contract;
mod family;
mod outline;
mod questions;

pub use carried_over::completed_verification;
pub use contract::{IGNORE_FILE, contract_files, ignores_worktrees};
pub use family::family_files;
pub use outline::{
    DEFAULT_LANE, Family, FamilyDirection, FamilyMilestone, Ledger, Outline, OutlineDirection,
    OutlineMilestone,
};
pub use questions::{EXAMPLE, QUESTIONS, Question, Suggestion};

/// A file with its path from the top of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaffoldFile {
    pub path: String,
    pub text: String,
}

impl ScaffoldFile {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}
