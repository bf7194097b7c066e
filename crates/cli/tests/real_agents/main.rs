//! Whole runs with the real agent programs: the real binary, the real codex, claude, gemini, opencode and copilot, and
//! a scripted model in place of a provider. A binary of its own, because these tests are slow and need the programs.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod script;
mod stage;
mod troubles;
mod whole_runs;
