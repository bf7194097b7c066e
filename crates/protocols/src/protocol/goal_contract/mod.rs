//! The goal loop: a contract, a queue of items, a budget and a level of autonomy. Check the stop contract, select one item,
//! design, build, test, evaluate, ask a person where the level says so, commit, record.
//! Reading order: `spec`, `queue`, `facts`, `item`, `iteration`, `state`, `next`, `integrity`, `decide`,
//! `agents`, `person`.

mod agents;
mod asking;
pub(crate) mod decide;
pub mod end;
pub(crate) mod explain;
pub mod facts;
pub(crate) mod inbox;
mod integrity;
pub(crate) mod invariants;
pub mod item;
pub mod iteration;
pub(crate) mod next;
pub mod person;
pub mod queue;
pub mod reports;
pub mod spec;
pub mod stage;
pub mod state;
