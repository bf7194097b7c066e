//! What a face can ask of a roadmap loop.

pub(crate) mod look;
pub(crate) mod report;
pub(crate) mod start;
