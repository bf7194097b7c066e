//! Faults and refusals as a user meets them: a stable code with a page of its own, what happened, what was kept, what to
//! do now. The pages are in `docs/errors/`; `windlass explain-error CODE` prints them.

use crate::exit_codes;
use serde::Serialize;
use std::fmt;

macro_rules! codes {
    ($($name:ident = $text:literal, $exit:ident;)+) => {
        /// Every code there is; a code is never given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($name),+ }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            pub const fn exit_code(self) -> u8 {
                match self { $(Self::$name => exit_codes::$exit),+ }
            }

            /// The page about this code, as it stands in `docs/errors/`.
            pub const fn page(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("../../../docs/errors/", $text, ".md"))),+ }
            }
        }
    };
}

codes! {
    JournalUnavailable = "WL-JOURNAL-001", FAULT;
    JournalDamaged = "WL-JOURNAL-002", FAULT;
    JournalFenced = "WL-JOURNAL-003", FAULT;
    GitUnusable = "WL-GIT-001", FAULT;
    NotARepository = "WL-GIT-002", USAGE;
    BadRevision = "WL-GIT-003", USAGE;
    FileSystem = "WL-FILES-001", FAULT;
    RunDirectory = "WL-FILES-002", FAULT;
    Supervisor = "WL-PROCESS-001", FAULT;
    NoSandbox = "WL-SANDBOX-001", REFUSED;
    UnknownRun = "WL-RUN-001", USAGE;
    NotAllowedNow = "WL-RUN-002", REFUSED;
    RepositoryHeld = "WL-RUN-003", REFUSED;
    OtherTree = "WL-RUN-004", REFUSED;
    TakenOver = "WL-RUN-005", REFUSED;
    NotTrusted = "WL-TRUST-001", REFUSED;
    BadSettings = "WL-SETTINGS-001", USAGE;
    BadArgument = "WL-USAGE-001", USAGE;
    UnknownAgent = "WL-AGENT-001", USAGE;
    LegacyRun = "WL-LEGACY-001", USAGE;
    NotVerified = "WL-VERIFY-001", NOT_VERIFIED;
    GoalFiles = "WL-GOAL-001", USAGE;
    NotConfirmed = "WL-GOAL-002", REFUSED;
    WouldWiden = "WL-GOAL-003", USAGE;
    PlaneUnusable = "WL-ROADMAP-001", USAGE;
    StoryRefused = "WL-STORY-001", REFUSED;
    StoryUnknown = "WL-STORY-002", USAGE;
    StoryServer = "WL-STORY-003", FAULT;
    StoryKey = "WL-STORY-004", USAGE;
    StoryKeyExposed = "WL-STORY-005", REFUSED;
    StorySigningKey = "WL-STORY-006", FAULT;
    Bug = "WL-BUG-001", FAULT;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a face shows when something did not work.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Which case of the code it is, where the other side tells cases apart; a word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// What is safe all the same; empty when nothing was at stake.
    pub kept: String,
    /// What to do now, one step each.
    pub hints: Vec<String>,
}

impl Fault {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), case: None, kept: String::new(), hints: Vec::new() }
    }

    #[must_use]
    pub fn kept(mut self, kept: impl Into<String>) -> Self {
        self.kept = kept.into();
        self
    }

    /// Puts the run where a hint says `RUN`, so that it can be typed as it stands.
    #[must_use]
    pub fn about(mut self, run: &str) -> Self {
        for hint in &mut self.hints {
            *hint = hint.replace(" RUN", &format!(" {run}"));
        }
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Fault {}
