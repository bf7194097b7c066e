//! Ids and small values every loop speaks in. Nothing here knows a loop.

use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// One controlled execution; the name of a stream in the journal.
    RunId
);
text_id!(
    /// The user's name for the task, `TASK-…`.
    TaskId
);
text_id!(
    /// A git tree: the exact content a verdict speaks of.
    TreeId
);
text_id!(
    /// A git commit.
    CommitId
);
text_id!(
    /// SHA-256 of some bytes, in lower-case hexadecimal.
    Digest
);

/// Counter of a run, never reused: the name under which an effect is sent, answered and refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Milliseconds: a length of time, or a moment since 1970 where the name says `at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    pub const fn minutes(minutes: u64) -> Self {
        Self(minutes.saturating_mul(60_000))
    }

    /// A moment in words, for a reader who may be in any time zone.
    pub fn utc(self) -> String {
        let seconds = self.0 / 1000;
        let (mut year, mut day) = (1970_u64, seconds / 86_400);
        if day > 3_000_000 {
            // Some eight thousand years from now: nobody means that moment.
            return String::from("the end of time");
        }
        let leap =
            |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        while day >= 365 + u64::from(leap(year)) {
            day -= 365 + u64::from(leap(year));
            year += 1;
        }
        let february = 28 + u64::from(leap(year));
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
            if day < length {
                break;
            }
            day -= length;
            month += 1;
        }
        let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
        alloc::format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", day + 1)
    }
}

/// Who brought an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    Engine,
    Human(String),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine => f.write_str("the engine"),
            Self::Human(name) => f.write_str(name),
        }
    }
}

/// Who an agent is asked to be. A role is never filled by the session that filled another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Doer,
    Judge,
    Auditor,
    /// Measures and does not judge.
    Sensor,
    /// Compares what was measured with what is wanted, and plans.
    Controller,
    /// Edits files after a plan.
    Actuator,
    /// Designs an item before it is built.
    Planner,
    /// Builds one item.
    Builder,
    /// Grades what was built for one item.
    Evaluator,
    /// Implements a planned round, a worker's share of it, or brings the shares together.
    Implementer,
    /// Approves or rejects what was implemented, or a roadmap update.
    Reviewer,
    /// Finds out why a round does not get on; decides and mends nothing.
    #[serde(rename = "recovery-investigator")]
    Investigator,
}

impl Role {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Doer => "doer",
            Self::Judge => "judge",
            Self::Auditor => "auditor",
            Self::Sensor => "sensor",
            Self::Controller => "controller",
            Self::Actuator => "actuator",
            Self::Planner => "planner",
            Self::Builder => "builder",
            Self::Evaluator => "evaluator",
            Self::Implementer => "implementer",
            Self::Reviewer => "reviewer",
            Self::Investigator => "recovery-investigator",
        }
    }

    /// Makers write; everybody else must leave tracked content as it was.
    pub const fn may_write(self) -> bool {
        match self {
            Self::Doer | Self::Actuator | Self::Builder | Self::Implementer => true,
            Self::Judge
            | Self::Auditor
            | Self::Sensor
            | Self::Controller
            | Self::Planner
            | Self::Evaluator
            | Self::Reviewer
            | Self::Investigator => false,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A sealed file: its name for people, its digest for everybody else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ArtifactRef {
    pub name: String,
    pub digest: Digest,
    pub bytes: u64,
}
