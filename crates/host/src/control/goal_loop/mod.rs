//! What people ask of goal loops: set one up, look at it, start it.

pub(crate) mod report;
