//! Drives one run: lease → decide → append → dispatch. Reading order: `ports` (what the engine needs from outside),
//! `engine` (the order that must never change), `chain` (how a record proves itself), `memory_journal` (the reference),
//! `conformance` (what every journal must do). Knows no runtime, no SQL, no process and no file.

pub mod chain;
pub mod conformance;
pub mod engine;
pub mod memory_journal;
pub mod ports;
pub mod ready;

pub use engine::{Engine, EngineError};
pub use memory_journal::MemoryJournal;
pub use ports::{
    Append, Clock, EffectRunner, Holder, Journal, JournalError, Lease, LeaseAnswer, Message, RunHead, Stored,
};
