//! Sensors measure, a controller compares and plans, an actuator edits or is a loop itself; one commit for each iteration.
//! Reading order: `spec`, `frame` (one node at work), `steadiness` (what the measured history says), `next`, `decide`.

mod asking;
pub mod decide;
pub mod end;
pub(crate) mod explain;
pub mod facts;
pub mod frame;
pub(crate) mod inbox;
pub mod invariants;
pub mod next;
pub mod plant_gate;
pub mod reopen;
pub mod spec;
pub mod stage;
pub mod state;
pub mod steadiness;
mod trouble;
