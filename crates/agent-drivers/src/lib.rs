//! Dialects of agent programs: which command to start, what its lines mean, how its end is to be read.
//! Pure: no files, processes, clock or environment. Whoever starts the program lives elsewhere.
//!
//! A new agent program is one more [`AgentProgram`], one file in `programs` and one arm in each function of
//! [`driver`]; nothing outside this crate changes.

mod acp;
mod acp_answers;
mod acp_updates;
mod answer;
mod choice;
mod conclusion;
mod confinement;
pub mod driver;
mod environment;
mod error_text;
mod invocation;
mod login;
mod model_wish;
mod nearest;
mod own_places;
mod plain;
mod probe;
mod program;
mod programs;
mod reckoning;
pub mod script;
mod signal;
mod usage;
mod vendor;
mod words;

pub use acp::ACP_COMMAND;
pub use acp_answers::{acp_answer, acp_error, acp_failure};
pub use acp_updates::{AcpCall, AcpUpdates};
pub use answer::{answer_from_message, final_message};
pub use choice::{AgentChoice, ChoiceError};
pub use conclusion::{ClosingWord, Conclusion, HowItEnded, Limit};
pub use confinement::Confinement;
pub use driver::{Capabilities, ReadOnlyMode, SessionIds};
pub use environment::{environment_allow_list, is_passed_through, is_passed_to, is_secret};
pub use invocation::{
    Access, AnswerBy, AnswerSchema, BuildError, CommandLine, Commands, Invocation, PLAY_COMMAND, Role,
    Session, Stdin, UnknownRole,
};
pub use login::{Login, LoginFile};
pub use own_places::{brings_own_sandbox, own_places, rooms_in_tmp, temporary_variables};
pub use probe::{
    KnownVersions, Probe, Version, VersionVerdict, judge_version, probe, read_version, version_advice,
};
pub use program::AgentProgram;
pub use reckoning::Reckoning;
pub use signal::{EndClaim, ErrorKind, RateLimitWait, Severity, Signal, Stream, UsageScope};
pub use usage::{Totals, UsageTally};
pub use vendor::Vendor;
pub use words::{WordsError, quote_words, split_words};
