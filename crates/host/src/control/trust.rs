//! Whose commands may run here. What a repository's own settings would run needs a person's word once, remembered by
//! repository and by the hash of the whole set; what stands on the command line is that person's own word.

use crate::durable_file::{Flush, replace};
use crate::evidence::digest;
use crate::fault::{file_fault, git_fault};
use crate::host::Host;
use crate::settings::Settings;
use std::collections::BTreeMap;
use std::path::Path;
use windlass_control_api::views::TrustView;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Trust,
    Distrust,
}

/// Refuses to go on while the repository's commands are nobody's word.
pub(crate) fn require(host: &Host, checkout: &Checkout, settings: &Settings, yes: bool) -> Result<(), Fault> {
    require_all(host, checkout, (settings, &[]), yes)
}

/// The same with commands that stand in other files of the repository.
pub(crate) fn require_all(
    host: &Host,
    checkout: &Checkout,
    (settings, others): (&Settings, &[String]),
    yes: bool,
) -> Result<(), Fault> {
    let view = view(host, checkout, settings, others)?;
    if view.commands.is_empty() || view.trusted || yes {
        return Ok(());
    }
    let mut fault = Fault::new(
        Code::NotTrusted,
        match view.commands.len() {
            1 => "this repository would have a command run that nobody agreed to".to_owned(),
            several => format!("this repository would have {several} commands run that nobody agreed to"),
        },
    )
    .kept("nothing was run");
    for command in view.commands {
        for (number, line) in command.lines().enumerate() {
            let lead = if number == 0 { "it would run:" } else { "             " };
            fault = fault.hint(format!("{lead} {line}"));
        }
    }
    Err(fault.hint("agree for good with `windlass trust`, or for this once with `--yes`"))
}

/// Whether nothing would be refused.
pub(crate) fn agreed(
    host: &Host,
    checkout: &Checkout,
    settings: &Settings,
    others: &[String],
) -> Result<bool, Fault> {
    let view = view(host, checkout, settings, others)?;
    Ok(view.commands.is_empty() || view.trusted)
}

pub(crate) fn state(host: &Host, repository: &Path) -> Result<TrustView, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &[])?;
    view(host, &checkout, &settings, &commands_of(&checkout))
}

pub(crate) fn change(host: &Host, repository: &Path, decision: Decision) -> Result<TrustView, Fault> {
    let mut view = state(host, repository)?;
    let key = key(&Checkout::discover(repository).map_err(git_fault)?);
    let mut known = read(host)?;
    match decision {
        Decision::Trust => known.insert(key, view.hash.clone()),
        Decision::Distrust => known.remove(&key),
    };
    let text = serde_json::to_vec_pretty(&known).unwrap_or_default();
    replace(&host.state.trust(), &text, Flush::ToDisk)?;
    view.trusted = decision == Decision::Trust;
    Ok(view)
}

/// Every command that stands in files of loops; what is set up for two loops is agreed to once.
fn commands_of(checkout: &Checkout) -> Vec<String> {
    let mut commands = super::control_loop::commands_of(checkout);
    for command in super::goal_loop::commands_of(checkout) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// Whether this set of commands is agreed to, or a larger one that has all of it.
fn view(
    host: &Host,
    checkout: &Checkout,
    settings: &Settings,
    others: &[String],
) -> Result<TrustView, Fault> {
    let own = settings.repository_commands();
    let commands: Vec<String> = own.iter().chain(others).cloned().collect();
    let hash = hash(&commands);
    let repository = checkout.work_tree().to_string_lossy().into_owned();
    let agreed = read(host)?.get(&key(checkout)).cloned();
    let in_larger_set = || {
        let all: Vec<String> = own.into_iter().chain(commands_of(checkout)).collect();
        agreed.as_ref() == Some(&self::hash(&all)) && commands.iter().all(|command| all.contains(command))
    };
    let trusted = agreed.as_ref() == Some(&hash) || in_larger_set();
    Ok(TrustView { repository, commands, hash, trusted })
}

/// Of a list in JSON, so that two commands cannot be mistaken for one with a line break.
fn hash(commands: &[String]) -> String {
    digest(&serde_json::to_vec(commands).unwrap_or_default()).to_string()
}

/// All worktrees of a repository are trusted together.
fn key(checkout: &Checkout) -> String {
    checkout.common_dir().to_string_lossy().into_owned()
}

/// A file that cannot be read trusts nobody, and says so rather than forgetting what was agreed.
fn read(host: &Host) -> Result<BTreeMap<String, String>, Fault> {
    let path = host.state.trust();
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            Fault::new(Code::BadSettings, format!("{} cannot be read: {error}", path.display()))
                .hint("mend or remove the file; trust then has to be given again")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(file_fault("read", &path, &error)),
    }
}
