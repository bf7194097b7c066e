//! One file per thing a face can ask for. Each reads the journal, decides nothing itself, and says what came of it.

mod agent_policy;
pub(crate) mod agents;
pub(crate) mod clean;
pub(crate) mod compat;
pub(crate) mod control_loop;
pub(crate) mod cost;
pub(crate) mod diagnose;
pub(crate) mod find;
pub(crate) mod goal_loop;
mod held;
pub(crate) mod inbox;
pub(crate) mod legacy;
pub(crate) mod notify;
pub(crate) mod people;
pub(crate) mod queries;
pub(crate) mod resume;
pub(crate) mod roadmap_loop;
mod scratch;
pub(crate) mod start;
pub(crate) mod stories;
pub(crate) mod take_over;
pub(crate) mod task_spec;
pub(crate) mod trust;
pub(crate) mod verify;
