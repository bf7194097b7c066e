//! Steps that only a control loop asks for. What every loop asks for (agents, waiting) is carried out beside this folder
//! and comes here for what differs: which tree is shown, what is said, what an answer looks like.

pub(crate) use files::figure;
pub(crate) use leftovers::INTERRUPTED;

pub(super) mod answer;
pub(super) mod capture;
pub(super) mod close;
pub(super) mod commit;
mod edits;
mod files;
mod leftovers;
pub(super) mod measure;
pub(super) mod own_model;
pub(super) mod prepare;
pub(super) mod prompt;
pub(super) mod shown;
