//! Dialects of agent programs: which command to start, what its lines mean, how its end is to be read.
//! Pure: no files, processes, clock or environment. Whoever starts the program lives elsewhere.
//!
//! A new agent program is one more variant of [`AgentChoice`], one file here and one arm in each function of
//! [`driver`]; nothing outside this crate changes.

mod choice;
mod conclusion;
pub mod driver;
mod environment;
mod invocation;
mod nearest;
mod plain;
pub mod script;
mod signal;
mod words;

pub use choice::{AgentChoice, ChoiceError};
pub use conclusion::{ClosingWord, Conclusion, HowItEnded, Limit};
pub use driver::{Capabilities, ReadOnlyMode};
pub use environment::{environment_allow_list, is_passed_through};
pub use invocation::{Access, BuildError, CommandLine, Invocation, PLAY_COMMAND, Role, Stdin, UnknownRole};
pub use signal::{EndClaim, RateLimitWait, Severity, Signal, Stream, UsageScope};
pub use words::{WordsError, quote_words, split_words};
