//! What loops may decide. Reading order: `observation` (what reaches us), `fact` (what is journaled), `effect` (what we
//! ask the world for), `run` (state as a fold of facts), `draft` (the decision), `protocol/` (the loops), `explain`, `inbox`.
//! Knows no clock, file, process, environment or randomness; without `std` the compiler sees to that.
#![no_std]

extern crate alloc;

pub mod draft;
pub mod effect;
pub mod explain;
pub mod fact;
pub mod inbox;
pub mod invariants;
pub mod kernel;
pub mod observation;
pub mod outcome;
pub mod protocol;
pub mod run;
pub mod usage;
pub mod vocabulary;

pub use draft::decide;
pub use effect::Effect;
pub use fact::Fact;
pub use observation::{Observation, Rejection, Stamped};
pub use outcome::Outcome;
pub use run::Run;
pub use vocabulary::{Actor, ArtifactRef, CommitId, Digest, EffectId, Millis, Role, RunId, TaskId, TreeId};
