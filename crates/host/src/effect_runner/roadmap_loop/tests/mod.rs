//! The controller's steps on real repositories, one at a time.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod capturing;
mod combining;
mod finalizing;
mod opening;
mod publishing;
mod texts;
mod world;
