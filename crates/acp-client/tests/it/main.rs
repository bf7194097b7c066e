//! Whole turns: the real client between a test and a scripted agent. One test binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod failures;
mod permissions;
mod scene;
mod turns;
