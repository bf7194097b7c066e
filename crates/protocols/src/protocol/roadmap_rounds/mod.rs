//! The roadmap loop: rounds of plan → implement → review → finalize over a roadmap of milestones, several at once where the
//! roadmap allows it, and updates of the roadmap itself. Start at `next.rs`.

mod asking;
pub mod book;
pub(crate) mod decide;
pub mod end;
pub(crate) mod explain;
pub mod facts;
pub(crate) mod inbox;
pub mod integrity;
pub(crate) mod invariants;
mod ladder;
mod merging;
pub(crate) mod next;
pub mod opening;
mod ordering;
pub mod outlook;
pub(crate) mod person;
pub mod plane;
mod reconcile;
mod retrying;
mod reviewing;
mod rounds;
pub mod spec;
pub mod state;
pub mod steps;
mod taking_down;
mod taking_up;
mod updates;

pub use asking::{not_merged, number};
pub use explain::progress;
