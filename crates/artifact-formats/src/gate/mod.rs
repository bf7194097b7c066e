//! What measures a change: which paths are protected, which files a check command runs, and what tests a text holds.
//! It knows names and texts; what a finding leads to is decided elsewhere.

mod assertions;
mod command_words;
mod commands;
mod evidence;
mod hampered;
mod languages;
mod module_names;
mod paths;
mod recipes;
mod test_texts;
mod waiver;

pub use commands::Instruments;
pub use evidence::{GateEvidence, WaivedIn};
pub use paths::{Protected, ProtectedPaths};
pub use test_texts::{Losses, TestTexts};
pub use waiver::{GateFinding, Waiver};
pub(crate) use waiver::{listed_waivers, waivers};
