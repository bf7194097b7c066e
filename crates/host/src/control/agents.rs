//! Looks at the agent programs of this machine: where they are, which version, whether somebody seems to be logged in.
//! Starts nothing but the question for a version, and that for a few seconds at the most.

use crate::host::Host;
use crate::settings::{Environment, Settings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_agent_drivers::{
    AgentChoice, AgentProgram, LoginFile, ReadOnlyMode, Version, VersionVerdict, driver, is_passed_to,
    judge_version, probe, read_version, version_advice,
};
use windlass_control_api::agents::{AgentView, LoginView, VersionState};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;
use windlass_process_supervisor::{QuickCommand, QuickError, aside};

/// A version is told in a moment; a program that needs longer is not asked on.
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_ANSWER: usize = 64 * 1024;

/// Every setting that names agents.
pub(super) const AGENT_KEYS: [&str; 7] =
    ["agent", "doer", "judge", "auditor", "doer-fallback", "judge-fallback", "auditor-fallback"];

pub(crate) async fn agents(host: &Host, repository: Option<&Path>) -> Result<Vec<AgentView>, Fault> {
    let checkout = repository.and_then(|path| Checkout::discover(path).ok());
    let settings = host.settings_for(checkout.as_ref().map(Checkout::work_tree), &[])?;
    let asked = ask(&host.environment, &AgentProgram::ALL).await;
    Ok(AgentProgram::ALL.into_iter().map(|program| view(host, program, &settings, &asked)).collect())
}

/// What a program says when it is asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Version(Version),
    /// It runs, and says something else.
    Untold,
    /// It does not even do that.
    Fails {
        why: String,
    },
}

impl Answer {
    const fn version(&self) -> Option<Version> {
        match self {
            Self::Version(version) => Some(*version),
            Self::Untold | Self::Fails { .. } => None,
        }
    }
}

/// What each setting that names agents says, one by one.
pub(super) fn named(settings: &Settings) -> Vec<(&'static str, String)> {
    let of = |key: &'static str| {
        let texts = match settings.text(key) {
            Some(text) => vec![text.to_owned()],
            None => settings.list(key),
        };
        texts.into_iter().map(move |text| (key, text))
    };
    AGENT_KEYS.into_iter().flat_map(of).collect()
}

fn view(
    host: &Host,
    program: AgentProgram,
    settings: &Settings,
    asked: &BTreeMap<AgentProgram, Answer>,
) -> AgentView {
    let choice = AgentChoice::Known { program, model: None, effort: None };
    let version = asked.get(&program).and_then(Answer::version);
    let fails = match asked.get(&program) {
        Some(Answer::Fails { why }) => why.clone(),
        Some(Answer::Version(_) | Answer::Untold) | None => String::new(),
    };
    let confinement = program.confinement();
    let uses = |text: &str| {
        AgentChoice::parse(text)
            .is_ok_and(|named| matches!(named, AgentChoice::Known { program: one, .. } if one == program))
    };
    let mut used_by: Vec<String> =
        named(settings).into_iter().filter(|(_, text)| uses(text)).map(|(key, _)| key.to_owned()).collect();
    used_by.dedup();
    AgentView {
        name: program.to_string(),
        title: program.title().to_owned(),
        path: find(&host.environment, program.as_str()).map(|path| path.to_string_lossy().into_owned()),
        fails,
        version: version.map(|version| version.to_string()),
        version_state: version.map_or(VersionState::Untold, |version| {
            match judge_version(program, version) {
                VersionVerdict::Known => VersionState::Known,
                VersionVerdict::Older => VersionState::Older,
                VersionVerdict::Newer => VersionState::Newer,
            }
        }),
        advice: version.and_then(|version| version_advice(program, version)).unwrap_or_default(),
        install: program.install_command(),
        as_maker: confinement.as_maker.to_owned(),
        as_checker: confinement.as_checker.to_owned(),
        fences_commands: confinement.fences_commands,
        read_only_mode: driver::capabilities(&choice).read_only == ReadOnlyMode::Own,
        login: login(&host.environment, program),
        used_by,
    }
}

/// What those that are there say, asked all at once.
pub(super) async fn ask(
    environment: &Environment,
    programs: &[AgentProgram],
) -> BTreeMap<AgentProgram, Answer> {
    let mut asked = Vec::new();
    for program in programs {
        let Some(path) = find(environment, program.as_str()) else { continue };
        let Some(question) = question(environment, *program, path) else { continue };
        asked.push((*program, aside(move || answer(&question))));
    }
    let mut answers = BTreeMap::new();
    for (program, answer) in asked {
        let answer = match answer {
            Ok(answer) => answer.done().await,
            Err(error) => Answer::Fails { why: format!("there is no room for a thread to ask it: {error}") },
        };
        answers.insert(program, answer);
    }
    answers
}

fn question(environment: &Environment, program: AgentProgram, path: PathBuf) -> Option<QuickCommand> {
    let choice = AgentChoice::Known { program, model: None, effort: None };
    let allowed = environment.0.iter().filter(|(name, _)| is_passed_to(&choice, name));
    let command = QuickCommand::new(path, Path::new("/"))
        .args(probe(&choice)?.arguments)
        .envs(allowed)
        .deadline(PATIENCE)
        .output_limit(LONGEST_ANSWER);
    Some(command)
}

fn answer(question: &QuickCommand) -> Answer {
    match question.run() {
        Ok(output) if output.status.success() => {
            let told = read_version(&String::from_utf8_lossy(&output.stdout));
            told.map_or(Answer::Untold, Answer::Version)
        }
        Ok(output) => {
            let said =
                String::from_utf8_lossy(&output.stderr).trim().lines().next().unwrap_or_default().to_owned();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            Answer::Fails { why: format!("asked for its version it ended with {}{said}", output.status) }
        }
        Err(QuickError::Deadline { deadline, .. }) => {
            let why = format!("asked for its version it said nothing for {} s", deadline.as_secs());
            Answer::Fails { why }
        }
        Err(error) => Answer::Fails { why: error.to_string() },
    }
}

/// Where a shell would find it.
pub(super) fn find(environment: &Environment, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_program(path));
    }
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path).map(|directory| directory.join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

pub(super) fn login(environment: &Environment, program: AgentProgram) -> LoginView {
    let login = program.login();
    let set = login.variables.iter().filter(|name| environment.get(name).is_some());
    let file = place_of(environment, &login.file).filter(|file| file.is_file());
    LoginView {
        variables: set.map(|name| (*name).to_owned()).collect(),
        file: file.map(|file| file.to_string_lossy().into_owned()),
        command: login.command.to_owned(),
    }
}

fn place_of(environment: &Environment, file: &LoginFile) -> Option<PathBuf> {
    let moved = file.directory_variable.and_then(|name| environment.get(name)).map(PathBuf::from);
    let home = || environment.get("HOME").map(|home| Path::new(home).join(file.directory));
    Some(moved.or_else(home)?.join(file.name))
}

/// Refuses a run whose agents cannot be started, and says of each what is known to be doubtful.
pub(super) async fn require(
    host: &Host,
    chosen: impl Iterator<Item = (String, AgentChoice)>,
) -> Result<Vec<String>, Fault> {
    let mut programs = Vec::new();
    for (role, choice) in chosen {
        match &choice {
            AgentChoice::Known { program, .. } => {
                if find(&host.environment, program.as_str()).is_none() {
                    return Err(missing(&role, &choice).hint(format!(
                        "install {} with `{}`",
                        program.title(),
                        program.install_command()
                    )));
                }
                if !programs.contains(program) {
                    programs.push(*program);
                }
            }
            AgentChoice::Acp { program, .. } | AgentChoice::Command { program, .. } => {
                if find(&host.environment, program).is_none() {
                    let hint = format!("put `{program}` on PATH, or give its full path");
                    return Err(missing(&role, &choice).hint(hint));
                }
            }
            AgentChoice::Scripted { file } if !Path::new(file).is_file() => {
                return Err(missing(&role, &choice).hint("give the path of the script"));
            }
            // What a shell makes of its line only the shell knows.
            AgentChoice::Scripted { .. } | AgentChoice::Shell { .. } => {}
        }
    }
    let doubt = |(program, answer): (AgentProgram, Answer)| match answer {
        Answer::Version(version) if judge_version(program, version) == VersionVerdict::Older => {
            version_advice(program, version)
        }
        Answer::Fails { why } => Some(format!("{program} may not work: {why}")),
        Answer::Version(_) | Answer::Untold => None,
    };
    Ok(ask(&host.environment, &programs).await.into_iter().filter_map(doubt).collect())
}

fn missing(role: &str, choice: &AgentChoice) -> Fault {
    let what = match choice {
        AgentChoice::Scripted { file } => format!("there is no file {file}"),
        AgentChoice::Command { program, .. } | AgentChoice::Acp { program, .. } if program.contains('/') => {
            format!("{program} is no program that can be run")
        }
        _ => format!("there is no program `{}` on PATH", choice.program_name().unwrap_or_default()),
    };
    Fault::new(Code::UnknownAgent, format!("the {role} is `{choice}`, but {what}"))
        .kept("nothing was started and nothing was recorded")
        .hint("`windlass agents` shows which agent programs are there; choose another with `--agent`")
}
