//! Whole turns: the real client between a test and a scripted agent. One test binary, so that it is linked once.

mod failures;
mod permissions;
mod scene;
mod turns;
