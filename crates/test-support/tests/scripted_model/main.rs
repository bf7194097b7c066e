//! The scripted model alone, asked over plain TCP as a program would: the shape of every wire format, every fault, how
//! entries are chosen, what is recorded. Real programs are asked in `real_agents.rs`.
#![expect(clippy::unwrap_used, reason = "the whole program is a test")]

mod choosing;
mod client;
mod faults;
mod wire_formats;
