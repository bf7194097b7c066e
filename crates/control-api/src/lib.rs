//! The stable border between faces and host: what can be asked (`commands`), what comes back (`views`, `events`), how it
//! fails (`errors`) and how a program ends (`exit_codes`). Faces know this crate only; it knows nobody.

pub mod agents;
pub mod commands;
pub mod compat;
pub mod control;
pub mod control_loop;
pub mod errors;
pub mod events;
pub mod exit_codes;
pub mod goal_loop;
pub mod goal_setup;
pub mod inbox;
pub mod keeping;
pub mod money;
pub mod notify;
pub mod orchestration;
pub mod roadmap_loop;
pub mod roadmap_setup;
pub mod stories;
pub mod views;

pub use control::{Control, Reply};
pub use errors::{Code, Fault};
