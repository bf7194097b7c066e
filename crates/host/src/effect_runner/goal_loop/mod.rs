//! The steps of a goal loop: the queue read, the suite run, the builder's work taken down and looked at for what is not its
//! item's, the verified tree committed with the loop's own files.

pub(crate) use files::plant;

pub(super) mod answer;
pub(super) mod capture;
pub(super) mod close;
pub(super) mod commit;
mod evaluations;
mod files;
mod ledger;
pub(super) mod prepare;
pub(super) mod prompt;
pub(super) mod queue;
mod scope;
pub(super) mod shown;
pub(super) mod suite;
