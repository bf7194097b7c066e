//! Notifications: what people are told of runs they do not watch. Reading order: `plan` (to whom), `message` (what),
//! `follower` (when, beside the driver), `deliveries` (the files in between), `courier` (the sending), then the
//! channels. Nothing here decides anything about a run, and no run waits for any of it.

mod command;
mod courier;
mod deliveries;
mod desktop;
mod follower;
mod mark;
mod message;
mod plan;
mod webhook;

pub(crate) use courier::{Courier, Patience};
pub(crate) use deliveries::{Deliveries, Failed};
pub(crate) use follower::Follower;
pub(crate) use message::Message;
pub(crate) use plan::{Channel, Plan, problem};

use crate::settings::Environment;
use std::path::PathBuf;

/// What channels send with.
#[derive(Clone, Debug)]
pub(crate) struct Kit {
    pub(crate) environment: Environment,
    /// This program, which is also the keeper of a command.
    pub(crate) program: PathBuf,
}

/// Why a delivery did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It may go away by itself.
    Passing(String),
    /// Trying again would meet the same.
    Lasting(String),
}

impl Trouble {
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Passing(words) | Self::Lasting(words) => words,
        }
    }
}

/// One try. Blocks for as long as the channel's own limit allows. `place` belongs to this delivery alone.
pub(crate) fn send(
    kit: &Kit,
    channel: &Channel,
    message: &Message,
    place: &std::path::Path,
) -> Result<(), Trouble> {
    match channel {
        Channel::Desktop => desktop::send(kit, message),
        Channel::Command { command, given } => command::send(kit, (command, *given), message, place),
        Channel::Webhook { url, secret_env } => webhook::send(kit, url, secret_env.as_deref(), message),
    }
}

/// Whether a person sits before a desktop that can show something; else why not.
pub(crate) fn desktop_is_there(environment: &Environment) -> Result<PathBuf, &'static str> {
    desktop::find(environment)
}
