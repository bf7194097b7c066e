//! Where facts become durable. Reading order: `sqlite/mod.rs` (the journal and its promises), `open` (what is refused
//! before anything is touched), `writer` (who commits, group commit), `changes` (the SQL of each change), `reader`.
//! A second database becomes a module beside `sqlite`. Knows what a fact is, not what it means.

pub mod sqlite;

pub use sqlite::{Batch, ChangeCounter, Health, Integrity, OpenError, SqliteJournal};
