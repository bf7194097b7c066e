//! The journal on real files, with real processes that are really killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod conformance;
mod damage;
mod kills;
mod opening;
mod processes;
mod record;
mod support;
