//! What people ask of goal loops: set one up, look at it, start it.

pub(crate) mod add;
mod commands;
mod confirm;
mod ground;
pub(crate) mod init;
pub(crate) mod look;
mod open_runs;
pub(crate) mod report;
mod same_agent;
mod setup;
pub(crate) mod start;
mod tighten;

pub(crate) use commands::commands_of;
pub(crate) use init::put;
