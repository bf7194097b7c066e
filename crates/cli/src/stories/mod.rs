//! Where the story queue is and with whose key it is asked: a configured server, or the queue on this machine.

mod by_turns;
mod config;
mod desk;
mod local;
#[cfg(test)]
mod remedies;
mod remembered;
mod remote;

pub(crate) use by_turns::{ByTurns, Notices};
pub(crate) use config::Config;
pub(crate) use desk::{Desk, found, is_id, story_path};
pub(crate) use local::{Local, Speaker};
pub(crate) use remote::Remote;
