//! Looks at everything a run needs before one is started, and says for each thing how to mend it.

use super::agents;
use crate::host::{Host, locate_git};
use crate::notify::Plan;
use crate::settings::{self, Environment, Origin};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use windlass_agent_drivers::{AgentChoice, AgentProgram, VersionVerdict, judge_version, version_advice};
use windlass_control_api::views::{Diagnosis, DiagnosisLine, Health, Status};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;
use windlass_journal::Integrity;
use windlass_process_supervisor::sandbox_means;

/// Below this a run is likely to meet a full disk.
const LITTLE_SPACE: u64 = 1024 * 1024 * 1024;
const NO_SPACE: u64 = 64 * 1024 * 1024;

pub(crate) async fn diagnose(host: &Host, repository: Option<&Path>) -> Result<Diagnosis, Fault> {
    let mut lines = vec![git(&host.environment), state_directory(host), disk(host.state.path())];
    lines.push(sandbox(&host.program));
    lines.push(overlays(host));
    lines.push(journal(host).await);
    lines.push(runs(host).await?);
    lines.extend(repository.map(repository_line));
    lines.extend(agent_lines(&host.environment, repository).await);
    // Settings that cannot be read have their own line.
    let checkout = repository.and_then(|path| Checkout::discover(path).ok());
    if let Ok(settings) = host.settings_for(checkout.as_ref().map(Checkout::work_tree), &[]) {
        lines.extend(super::notify::lines(host, &Plan::of(&settings)));
        lines.extend(super::disk_use::lines(host, super::disk_budget::budget(&settings)).await?);
    }
    Ok(Diagnosis { lines })
}

/// The same for a machine whose state directory or journal cannot be opened at all, for this reason.
pub async fn without_state(
    environment: &Environment,
    reason: &Fault,
    repository: Option<&Path>,
) -> Diagnosis {
    let what = if reason.code == Code::BadSettings { "state directory" } else { "journal" };
    let mut lines =
        vec![git(environment), line(what, Health::Broken, reason.message.clone(), &reason.hints.join("; "))];
    lines.extend(repository.map(repository_line));
    lines.extend(agent_lines(environment, repository).await);
    Diagnosis { lines }
}

fn line(what: &str, state: Health, details: String, fix: &str) -> DiagnosisLine {
    DiagnosisLine { what: what.to_owned(), state, details, fix: fix.to_owned() }
}

fn git(environment: &Environment) -> DiagnosisLine {
    match locate_git(environment) {
        Ok(git) => line("git", Health::Good, git.version().to_string(), ""),
        Err(fault) => {
            line("git", Health::Broken, fault.message, "install git 2.39 or newer and put it on PATH")
        }
    }
}

fn state_directory(host: &Host) -> DiagnosisLine {
    let path = host.state.path();
    let shown = path.display().to_string();
    if host.journal.is_read_only() {
        return line(
            "state directory",
            Health::Broken,
            format!("{shown} can be read but not written: runs can be looked at, none can be started"),
            "make it writable, or choose another with WINDLASS_STATE_DIR",
        );
    }
    match std::fs::metadata(path) {
        Ok(found) if found.mode().trailing_zeros() >= 6 => line("state directory", Health::Good, shown, ""),
        Ok(_) => line(
            "state directory",
            Health::Warning,
            format!("{shown} can be read by others"),
            &format!("chmod 700 {shown}"),
        ),
        Err(error) => line("state directory", Health::Broken, error.to_string(), "set WINDLASS_STATE_DIR"),
    }
}

fn disk(path: &Path) -> DiagnosisLine {
    match rustix::fs::statvfs(path) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let shown = format!("{} MB free", free / (1024 * 1024));
            let fix = "free some space: `windlass clean --dry-run` shows what ended runs left behind";
            if free < NO_SPACE {
                line("disk", Health::Broken, shown, fix)
            } else if free < LITTLE_SPACE {
                line("disk", Health::Warning, shown, fix)
            } else {
                line("disk", Health::Good, shown, "")
            }
        }
        Err(error) => line("disk", Health::Warning, error.to_string(), "look at the file system"),
    }
}

/// Which kind agents and checks are held by, and why not by the other.
fn sandbox(program: &Path) -> DiagnosisLine {
    let means = sandbox_means(program);
    let landlock = match &means.landlock {
        Ok(version) => format!("landlock, version {version}"),
        Err(why) => format!("no landlock ({why})"),
    };
    let namespaces = match &means.namespaces {
        Ok(()) => "namespaces".to_owned(),
        Err(why) => format!("no namespaces ({why})"),
    };
    let details = format!("{landlock}; {namespaces}");
    if means.first().is_some() {
        line("sandbox", Health::Good, details, "")
    } else {
        line(
            "sandbox",
            Health::Warning,
            details,
            "agents and checks run with all your rights; `windlass explain-error WL-SANDBOX-001` says what a kernel needs",
        )
    }
}

/// Whether large repositories need no checkout of their own for each run.
fn overlays(host: &Host) -> DiagnosisLine {
    match crate::workspaces::can_be_had(host) {
        Ok(()) => line("overlays", Health::Good, "workspaces can be layers over one checkout".to_owned(), ""),
        Err(why) => line("overlays", Health::Good, format!("workspaces are worktrees: {why}"), ""),
    }
}

async fn journal(host: &Host) -> DiagnosisLine {
    match host.journal.health().await {
        Ok(health) => {
            let count =
                |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
            let details = format!(
                "{}: {} runs, {} facts, SQLite {}",
                health.path.display(),
                count(health.runs),
                count(health.facts),
                health.sqlite_version
            );
            match health.integrity {
                Integrity::Sound => line("journal", Health::Good, details, ""),
                Integrity::Damaged(findings) => line(
                    "journal",
                    Health::Broken,
                    format!("{details}; damaged: {}", findings.join("; ")),
                    "restore the journal from a backup; do not resume runs before",
                ),
            }
        }
        Err(error) => line("journal", Health::Broken, error.to_string(), "mend what the message names"),
    }
}

async fn runs(host: &Host) -> Result<DiagnosisLine, Fault> {
    let lines = super::queries::list(host, None).await?;
    let waiting = lines.iter().filter(|line| line.status == Status::Interrupted).count();
    let asking = lines.iter().filter(|line| line.waits).count();
    let details = format!("{} in all, {waiting} interrupted, {asking} waiting for a person", lines.len());
    Ok(if waiting > 0 {
        line("runs", Health::Warning, details, "`windlass resume --all` goes on with the interrupted ones")
    } else {
        line(
            "runs",
            Health::Good,
            details,
            if asking > 0 { "`windlass inbox` shows what is asked" } else { "" },
        )
    })
}

fn repository_line(path: &Path) -> DiagnosisLine {
    match Checkout::discover(path) {
        Ok(checkout) => line("repository", Health::Good, checkout.work_tree().display().to_string(), ""),
        Err(error) => {
            line("repository", Health::Warning, error.to_string(), "go to a repository, or `git init`")
        }
    }
}

/// The agents the settings name: are they there, which version, is somebody logged in?
async fn agent_lines(environment: &Environment, repository: Option<&Path>) -> Vec<DiagnosisLine> {
    let checkout = repository.and_then(|path| Checkout::discover(path).ok());
    let work_tree = checkout.as_ref().map(Checkout::work_tree);
    let settings = match settings::resolve(environment, work_tree, &[]) {
        Ok(settings) => settings,
        Err(fault) => {
            return vec![line(
                "settings",
                Health::Broken,
                fault.message,
                "mend the file that the message names",
            )];
        }
    };
    let mut lines = Vec::new();
    for (key, text) in agents::named(&settings) {
        // Relative paths mean: relative to the file they stand in, as for a run.
        let place = match settings.origin(key) {
            Some(Origin::RepositoryFile(file) | Origin::UserFile(file)) => file.parent(),
            Some(Origin::BuiltIn | Origin::Variable(_) | Origin::Argument) | None => repository,
        };
        lines.push(agent(environment, key, &text, place.unwrap_or(Path::new(""))).await);
    }
    if lines.is_empty() {
        lines.push(line(
            "agents",
            Health::Warning,
            "the settings name none".to_owned(),
            "give `--agent` to `windlass run`, or put `agent = \"…\"` into windlass.toml; `windlass agents` shows which are there",
        ));
    }
    lines.extend(
        settings
            .warnings
            .iter()
            .map(|warning| line("settings", Health::Warning, warning.clone(), "correct or remove the key")),
    );
    lines
}

async fn agent(environment: &Environment, key: &str, text: &str, place: &Path) -> DiagnosisLine {
    let what = format!("agent ({key})");
    let choice = match AgentChoice::parse(text).and_then(|choice| choice.anchored(place)) {
        Ok(choice) => choice,
        Err(error) => {
            let fix = "name one of the agent programs, or KIND:REST";
            return line(&what, Health::Broken, error.to_string(), fix);
        }
    };
    match &choice {
        AgentChoice::Known { program, .. } => known_agent(environment, &what, text, *program).await,
        AgentChoice::Command { program, .. } | AgentChoice::Acp { program, .. } => {
            let found = if program.contains('/') {
                Path::new(program).is_file()
            } else {
                agents::find(environment, program).is_some()
            };
            if found {
                line(&what, Health::Good, text.to_owned(), "")
            } else {
                let fix = "install it or give its full path";
                line(&what, Health::Broken, format!("{program} was not found"), fix)
            }
        }
        AgentChoice::Scripted { file } if !Path::new(file).is_file() => {
            line(&what, Health::Broken, format!("{file} was not found"), "give the path of the script")
        }
        AgentChoice::Scripted { .. } | AgentChoice::Shell { .. } => {
            line(&what, Health::Good, text.to_owned(), "")
        }
    }
}

/// Without a login it may still work, because some programs have other ways to know their user.
async fn known_agent(
    environment: &Environment,
    what: &str,
    text: &str,
    program: AgentProgram,
) -> DiagnosisLine {
    if agents::find(environment, program.as_str()).is_none() {
        return line(what, Health::Broken, format!("{program} was not found"), &program.install_command());
    }
    let answers = agents::ask(environment, &[program]).await;
    let version = match answers.get(&program) {
        Some(agents::Answer::Version(version)) => version,
        Some(agents::Answer::Fails { why }) => {
            let details = format!("{text}: it does not work: {why}");
            return line(what, Health::Broken, details, &format!("try `{program} --version`"));
        }
        Some(agents::Answer::Untold) | None => {
            let details = format!("{text}: it does not tell its version");
            return line(what, Health::Warning, details, &format!("try `{program} --version`"));
        }
    };
    let details = format!("{text}, version {version}");
    if judge_version(program, *version) == VersionVerdict::Older {
        let advice = version_advice(program, *version).unwrap_or_default();
        return line(what, Health::Warning, details, &advice);
    }
    let login = agents::login(environment, program);
    if login.seems_there() {
        return line(what, Health::Good, details, "");
    }
    let fix = format!("log in with `{}`, or set {}", login.command, program.login().variables[0]);
    line(what, Health::Warning, format!("{details}: no sign of a login"), &fix)
}
