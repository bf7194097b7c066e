//! The story queue as a program: the server on a real socket, killed wherever it writes.

mod crashes;
mod crowd;
mod damaged;
mod every_tool;
mod every_verb;
mod faces;
mod heads;
mod held;
mod lists;
mod local;
pub(crate) mod orchestrate;
mod power_cuts;
mod server;
mod skills;
mod tools;
mod webhooks;
