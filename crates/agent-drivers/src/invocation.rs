//! What the engine asks of an agent and what a driver answers: one command line, ready to be started.
//! Nothing here knows a particular agent program.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nearest::{advice, nearest};

/// The hidden command of the windlass program that plays a script: `windlass __play FILE`.
pub const PLAY_COMMAND: &str = "__play";

/// Who the agent is in this step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Doer,
    Judge,
    Auditor,
    Sensor,
    Controller,
    Actuator,
    Planner,
    Builder,
    Evaluator,
    Implementer,
    Reviewer,
    #[serde(rename = "recovery-investigator")]
    Investigator,
}

impl Role {
    pub const ALL: [Self; 12] = [
        Self::Doer,
        Self::Judge,
        Self::Auditor,
        Self::Sensor,
        Self::Controller,
        Self::Actuator,
        Self::Planner,
        Self::Builder,
        Self::Evaluator,
        Self::Implementer,
        Self::Reviewer,
        Self::Investigator,
    ];
    pub(crate) const NAMES: [&'static str; 12] = [
        "doer",
        "judge",
        "auditor",
        "sensor",
        "controller",
        "actuator",
        "planner",
        "builder",
        "evaluator",
        "implementer",
        "reviewer",
        "recovery-investigator",
    ];

    pub const fn as_str(self) -> &'static str {
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
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{given}`: {}", advice(nearest(.given, &Role::NAMES), &Role::NAMES))]
pub struct UnknownRole {
    pub given: String,
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| UnknownRole { given: text.to_owned() })
    }
}

/// Whether the agent is meant to change the workspace. The sandbox and the hash comparison enforce it in any case;
/// a driver adds the program's own read-only mode where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    ReadWrite,
    ReadOnly,
}

/// Whether the agent may run commands of its own. Not every program can be told, see [`crate::driver::commands_off`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commands {
    Allowed,
    Off,
}

/// One step to be done by an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    pub run_id: String,
    pub task_id: String,
    pub role: Role,
    /// Counted from 1.
    pub round: u32,
    /// Counted from 1 within the round; a repair request is the next attempt.
    pub attempt: u32,
    /// The iteration of a control loop's node, such as `2.1`; absent in other loops.
    pub label: Option<String>,
    /// The directory the agent works in; also the directory it is started in.
    pub workspace: PathBuf,
    /// The private directory in which this step leaves its artifacts.
    pub outbox: PathBuf,
    /// Holds the prompt; becomes the agent's stdin where the driver says [`Stdin::Prompt`].
    pub prompt_file: PathBuf,
    pub access: Access,
    pub commands: Commands,
    /// Directories outside the workspace that the prompt speaks of. Programs that fence what may be read are told of
    /// them; that none of them is changed is somebody else's care.
    pub readable: Vec<PathBuf>,
    pub session: Session,
    /// Holds the final answer to a shape, where the driver says that the answer is spoken, see [`AnswerBy`].
    pub answer_schema: Option<AnswerSchema>,
    /// Where a program that keeps its token counts out of its output leaves them. The file need not exist.
    pub usage_file: PathBuf,
    /// This very program, which plays scripts under a hidden command.
    pub windlass_program: PathBuf,
}

/// Which conversation of the program the step belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    /// A new one, under this id where the program lets us choose ([`crate::SessionIds::Ours`]; a UUID). A run that is
    /// killed early may never have told an id of its own.
    Fresh { id: Option<String> },
    /// An earlier one goes on.
    Resume { id: String },
}

/// The same JSON schema twice, because some programs want its text and some the path of a file with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSchema {
    pub text: String,
    pub file: PathBuf,
}

/// How an agent hands over its answer. A program in its read-only mode cannot leave files in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerBy {
    Outbox,
    /// As the structured answer in its closing word ([`crate::Signal::End`]).
    ClosingWord,
    /// As the last JSON object in its last message.
    FinalMessage,
}

/// What to connect to the agent's stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stdin {
    /// The prompt file, fed and closed.
    Prompt,
    /// Nothing: an end of file at the first read. Several programs hang on a pipe that is left open.
    None,
}

/// A command ready to be started in the invocation's workspace. No shell is involved unless it is the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub arguments: Vec<String>,
    /// Additions to the allow-listed environment of the user (see [`crate::environment_allow_list`]).
    pub environment: BTreeMap<String, String>,
    pub stdin: Stdin,
    /// To be written before the start, with the directories they lie in: settings that a program takes only from a file.
    pub files: BTreeMap<PathBuf, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("the {what} {path:?} is not valid UTF-8 and cannot be handed to an agent")]
    PathNotText { what: &'static str, path: PathBuf },
}

impl Invocation {
    /// The `WINDLASS_…` names every agent finds in its environment.
    pub(crate) fn environment(&self) -> Result<BTreeMap<String, String>, BuildError> {
        Ok([
            ("WINDLASS_RUN", self.run_id.clone()),
            ("WINDLASS_TASK", self.task_id.clone()),
            ("WINDLASS_ROLE", self.role.to_string()),
            ("WINDLASS_ROUND", self.round.to_string()),
            ("WINDLASS_ATTEMPT", self.attempt.to_string()),
            ("WINDLASS_OUTBOX", text_of("outbox", &self.outbox)?),
        ]
        .into_iter()
        .chain(self.label.iter().map(|label| ("WINDLASS_LABEL", label.clone())))
        .map(|(name, value)| (name.to_owned(), value))
        .collect())
    }
}

/// Each path behind a flag of its own, for programs that take the flag more than once.
pub(crate) fn flagged<'a>(
    flag: &str,
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<Vec<String>, BuildError> {
    let mut words = Vec::new();
    for path in paths {
        words.extend([flag.to_owned(), text_of("directory", path)?]);
    }
    Ok(words)
}

pub(crate) fn text_of(what: &'static str, path: &Path) -> Result<String, BuildError> {
    path.to_str().map(str::to_owned).ok_or_else(|| BuildError::PathNotText { what, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_round_trip_and_a_slip_is_corrected() {
        for role in Role::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        let error = "juge".parse::<Role>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown role `juge`: did you mean `judge`? (known: doer, judge, auditor, sensor, controller, actuator, planner, builder, evaluator, implementer, reviewer, recovery-investigator)"
        );
    }
}
