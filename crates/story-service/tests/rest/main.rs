//! The queue through its one door, over the journal in memory: what a client of the REST interface sees.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod costs;
mod everywhere;
mod full_disk;
mod heads;
mod isolation;
mod lifecycle;
mod once;
mod plans;
mod properties;
mod random_calls;
mod support;
mod table;
mod webhooks;
