//! Plays a script as if it were an agent: a real process with real files, signals and children, in order to show and
//! test what Windlass does with good, bad and hopeless agents. It knows nothing of runs, only of its own step.

mod actor;
mod claims;
mod descendants;
mod files;
mod streams;
mod waiting;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use windlass_agent_drivers::Role;
use windlass_agent_drivers::script::{ForkAddress, ScriptError};
use windlass_process_supervisor::{QuickError, SupervisorError};

pub use descendants::{Part, Stage};

/// The script or its circumstances make no sense.
pub const EXIT_NO_PART: u8 = 2;
/// An action of the script could not be carried out.
pub const EXIT_ACTION_FAILED: u8 = 3;

/// Everything the actor needs to know, handed in by whoever calls it.
#[derive(Debug, Clone)]
pub struct Performance {
    pub script_file: PathBuf,
    pub part: Part,
    pub role: Role,
    pub round: u32,
    pub attempt: u32,
    pub label: Option<String>,
    pub task_id: Option<String>,
    pub workspace: PathBuf,
    pub outbox: PathBuf,
    /// This program, to be started again as a descendant.
    pub program: PathBuf,
    /// The whole environment, handed on to everything the script starts.
    pub environment: BTreeMap<OsString, OsString>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ActorError {
    #[error("usage: windlass __play FILE")]
    Usage,
    #[error("{name} is not set; the scripted agent is meant to be started by windlass")]
    NotSet { name: &'static str },
    #[error("{name} is `{value}`: {problem}")]
    BadValue { name: &'static str, value: String, problem: String },
    #[error("cannot read the script {}: {source}", path.display())]
    ScriptUnreadable { path: PathBuf, source: io::Error },
    #[error("script {}: {source}", path.display())]
    Script { path: PathBuf, source: ScriptError },
    #[error("script {} has no step for role {role}, round {round}, attempt {attempt}", path.display())]
    NoStep { path: PathBuf, role: Role, round: u32, attempt: u32 },
    #[error("script {} has no fork at {address}; was it changed while it was played?", path.display())]
    NoFork { path: PathBuf, address: ForkAddress },
    #[error("cannot find out where this program runs: {source}")]
    NoPlace { source: io::Error },
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot {doing}: {source}")]
    System { doing: &'static str, source: io::Error },
    #[error("`{command}` ended with {status}")]
    RunFailed { command: String, status: std::process::ExitStatus },
    #[error("{}", with_causes(.0))]
    Run(#[from] QuickError),
    #[error("cannot start a descendant: {}", with_causes(.0))]
    Descendant(#[from] SupervisorError),
    #[error("{artifact} needs a task id: WINDLASS_TASK is not set and the script gives no `task_id`")]
    NoTaskId { artifact: &'static str },
}

impl ActorError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage
            | Self::NotSet { .. }
            | Self::BadValue { .. }
            | Self::ScriptUnreadable { .. }
            | Self::Script { .. }
            | Self::NoStep { .. }
            | Self::NoFork { .. }
            | Self::NoPlace { .. } => EXIT_NO_PART,
            Self::File { .. }
            | Self::System { .. }
            | Self::RunFailed { .. }
            | Self::Run(_)
            | Self::Descendant(_)
            | Self::NoTaskId { .. } => EXIT_ACTION_FAILED,
        }
    }
}

/// Plays one step to its end and returns the exit code of the process.
pub fn play(performance: &Performance) -> u8 {
    actor::perform(performance).unwrap_or_else(|error| complain(&error))
}

/// The same for the hidden command `windlass __play`: `arguments` are the words after it; role, round and the rest
/// come from the `WINDLASS_…` names that every agent is given, the workspace is the current directory.
pub fn play_from_environment(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match from_environment(&arguments, std::env::vars_os().collect()) {
        Ok(performance) => play(&performance),
        Err(error) => complain(&error),
    }
}

fn from_environment(
    arguments: &[OsString],
    environment: BTreeMap<OsString, OsString>,
) -> Result<Performance, ActorError> {
    let (script_file, part) = match arguments {
        [file] => (file, Part::Agent),
        [file, option, stage, address] if option == descendants::OPTION => {
            (file, Part::from_words(stage, address).ok_or(ActorError::Usage)?)
        }
        _ => return Err(ActorError::Usage),
    };
    let workspace = std::env::current_dir().map_err(|source| ActorError::NoPlace { source })?;
    let value = |name: &'static str| environment.get(OsStr::new(name)).map(OsString::as_os_str);
    let number = |name: &'static str| match value(name) {
        None => Ok(1),
        Some(text) => {
            let text = text.to_string_lossy();
            text.parse::<u32>().map_err(|error| bad_value(name, &text, &error))
        }
    };
    let role = value("WINDLASS_ROLE").ok_or(ActorError::NotSet { name: "WINDLASS_ROLE" })?.to_string_lossy();
    let outbox = value("WINDLASS_OUTBOX").ok_or(ActorError::NotSet { name: "WINDLASS_OUTBOX" })?;
    Ok(Performance {
        script_file: workspace.join(Path::new(script_file)),
        part,
        role: role.parse().map_err(|error| bad_value("WINDLASS_ROLE", &role, &error))?,
        round: number("WINDLASS_ROUND")?,
        attempt: number("WINDLASS_ATTEMPT")?,
        // A task loop's passes have no label of their own; its task tells them from another task's.
        label: value("WINDLASS_LABEL")
            .or_else(|| value("WINDLASS_TASK"))
            .map(|label| label.to_string_lossy().into_owned()),
        task_id: value("WINDLASS_TASK").map(|task| task.to_string_lossy().into_owned()),
        outbox: workspace.join(Path::new(outbox)),
        program: std::env::current_exe().map_err(|source| ActorError::NoPlace { source })?,
        workspace,
        environment,
    })
}

fn bad_value(name: &'static str, value: &str, problem: &dyn std::fmt::Display) -> ActorError {
    ActorError::BadValue { name, value: value.to_owned(), problem: problem.to_string() }
}

/// The errors of the supervisor keep their causes to themselves; one line must carry them all.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn complain(error: &ActorError) -> u8 {
    // With stderr gone there is nobody left to tell; the exit code says the rest.
    let _ = writeln!(io::stderr(), "scripted agent: {error}");
    error.exit_code()
}
