//! `windlass agents`: which agent programs are there, and how each is held back. `windlass agents try` asks one.

pub(crate) mod trial;

use super::repository_here;
use crate::output::{Output, Paint, Table, printable};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use windlass_control_api::agents::{AgentView, LoginView, VersionState};
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Show the agent programs of this machine: version, login, how they are held back
///
/// A login is only guessed at: from the names of variables that are set and from files that exist. Nothing is opened.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass agents
  windlass agents --json | jq -r '.[] | select(.path == null) | .install'
  windlass agents try codex"
)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    /// The repository whose settings say which role uses which; the one the current directory is in if not given
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    Try(trial::TryArgs),
}

pub(crate) async fn run(
    repo: Option<&Path>,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let repository = repository_here(repo)?;
    let agents = control.agents(repository.as_deref()).await?;
    if output.is_json() {
        output.document(&agents);
    } else {
        show(&agents, output);
    }
    Ok(exit_codes::ACCEPTED)
}

impl AgentsArgs {
    pub(crate) fn repo(&self) -> Option<&Path> {
        self.repo.as_deref()
    }
}

fn show(agents: &[AgentView], output: &mut Output) {
    let look = output.look();
    let mut table = Table::new(look, &["AGENT", "VERSION", "LOGIN", "AS MAKER", "AS CHECKER", "USED BY"]);
    for agent in agents {
        let name = format!("{} {}", look.mark(tone(agent)), look.paint(Paint::Name, &agent.name));
        let used_by = if agent.used_by.is_empty() { String::from("-") } else { agent.used_by.join(", ") };
        if !agent.is_usable() {
            let dash = || String::from("-");
            let how = if agent.path.is_some() { "does not start" } else { "missing" };
            table.row(vec![name, how.to_owned(), dash(), dash(), dash(), used_by]);
            continue;
        }
        let maker = if agent.fences_commands { "sandboxed" } else { "commands not fenced" };
        let checker = if agent.read_only_mode { "own read-only mode" } else { "compared only" };
        let version = agent.version.as_deref().map_or_else(|| String::from("not told"), printable);
        let login = login(&agent.login);
        table.row(vec![name, version, login, maker.to_owned(), checker.to_owned(), used_by]);
    }
    for line in table.lines() {
        output.line(line);
    }
    let notes: Vec<String> = agents.iter().filter_map(note).collect();
    if !notes.is_empty() {
        output.line("");
    }
    for note in notes {
        output.line(note);
    }
}

fn tone(agent: &AgentView) -> Tone {
    let version_fits = matches!(agent.version_state, VersionState::Known | VersionState::Newer);
    match (agent.is_usable(), version_fits && agent.login.seems_there()) {
        (false, _) => Tone::Bad,
        (true, true) => Tone::Good,
        (true, false) => Tone::Attention,
    }
}

/// The name of a variable, or the end of a file's path.
fn login(login: &LoginView) -> String {
    if let Some(name) = login.variables.first() {
        return printable(name);
    }
    let Some(file) = &login.file else { return String::from("none seen") };
    let mut parts: Vec<&str> = file.rsplit('/').take(2).collect();
    parts.reverse();
    printable(&parts.join("/"))
}

/// What to do about it, if anything.
fn note(agent: &AgentView) -> Option<String> {
    if let (Some(path), false) = (&agent.path, agent.is_usable()) {
        return Some(format!("{}: {path}: {}", agent.name, printable(&agent.fails)));
    }
    if !agent.is_usable() {
        return Some(format!("{}: install with `{}`", agent.name, agent.install));
    }
    if !agent.advice.is_empty() {
        return Some(format!("{}: {}", agent.name, printable(&agent.advice)));
    }
    (!agent.login.seems_there()).then(|| format!("{}: log in with `{}`", agent.name, agent.login.command))
}
