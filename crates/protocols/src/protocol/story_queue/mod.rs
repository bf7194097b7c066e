//! The story queue: a tenant's projects, epics and stories with two status tracks, and custody over both: who claims, who
//! reports, who reviews and who verifies are different actors, on every path. One ledger per tenant; `decide` is asked by
//! the server, the command line and the agents' tools alike.
//! Reading order: `vocabulary`, `caller`, `refusal`, `facts`, `ledger`, `decide`, then an area: `plan`, `work`, `custody`.

pub mod answers;
pub mod caller;
pub mod checkpoints;
pub mod custody;
pub mod decide;
pub mod facts;
pub mod heads;
pub mod invariants;
pub mod knowledge;
pub mod ledger;
pub mod plan;
pub mod refusal;
pub mod refusal_code;
pub mod registry;
pub mod skills;
pub mod tenancy;
pub mod ui_tests;
pub mod usage;
pub mod vocabulary;
pub mod webhooks;
pub mod words;
pub mod work;
