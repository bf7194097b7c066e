//! The way back from `clean`: what is kept under `refs/windlass/kept/`, where it belongs, and for how long it stays.

use super::find;
use super::resume::Silence;
use crate::clock::SystemClock;
use crate::fault::git_fault;
use crate::headline;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use std::path::Path;
use windlass_control_api::keeping::{KeptView, Undo, UndoItem, UndoReport, Undone};
use windlass_control_api::{Code, Fault};
use windlass_engine::Clock;
use windlass_git_workspaces::{Checkout, GitError, GivenBack, KeptThing, KeptWhat, Repository};
use windlass_protocols::Role;

/// Less would not be what the manual says, whatever a setting says.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Everything kept in a repository, the newest first.
pub(crate) fn list(host: &Host, path: &Path) -> Result<Vec<KeptView>, Fault> {
    let checkout = Checkout::discover(path).map_err(git_fault)?;
    let days = keep_days(host, &checkout)?;
    let repository = host.repository(checkout)?;
    let mut things = repository.kept_things("").map_err(git_fault)?;
    things.sort_by(|left, right| right.at.cmp(&left.at).then_with(|| left.name.cmp(&right.name)));
    things.iter().map(|thing| view(&repository, thing, days)).collect()
}

pub(crate) fn keep_days(host: &Host, checkout: &Checkout) -> Result<u64, Fault> {
    let settings = host.settings_for(Some(checkout.work_tree()), &[])?;
    Ok(settings.number("keep-days").unwrap_or(30))
}

fn view(repository: &Repository, thing: &KeptThing, days: u64) -> Result<KeptView, Fault> {
    let kept_at = u64::try_from(thing.at).unwrap_or(0).saturating_mul(1000);
    let (kind, what) = kind_and_name(thing);
    Ok(KeptView {
        id: thing.name.clone(),
        run: run_of(thing).to_owned(),
        kind: kind.to_owned(),
        what,
        commit: thing.commit.to_string(),
        kept_at,
        kept: crate::narrate::local_time(kept_at),
        until: kept_at.saturating_add(days.saturating_mul(DAY_MS)),
        stands: stands(repository, thing)?,
    })
}

pub(crate) fn run_of(thing: &KeptThing) -> &str {
    thing.name.split('/').next().unwrap_or_default()
}

pub(crate) fn kind_and_name(thing: &KeptThing) -> (&'static str, String) {
    match &thing.what {
        KeptWhat::Worktree { path } => ("worktree", path.display().to_string()),
        KeptWhat::Branch { name, .. } => ("branch", name.clone()),
    }
}

/// Whether it was kept so long ago that nobody needs to keep it. A clock that was set back makes it younger, never older.
pub(crate) fn is_old(thing: &KeptThing, days: u64) -> bool {
    let kept_at = u64::try_from(thing.at).unwrap_or(0).saturating_mul(1000);
    SystemClock.now().0 >= kept_at.saturating_add(days.saturating_mul(DAY_MS))
}

fn stands(repository: &Repository, thing: &KeptThing) -> Result<bool, Fault> {
    match &thing.what {
        KeptWhat::Worktree { path } => Ok(path.symlink_metadata().is_ok()),
        KeptWhat::Branch { name, .. } => {
            repository.is_taken(&format!("refs/heads/{name}")).map_err(git_fault)
        }
    }
}

pub(crate) async fn undo(host: &Host, command: Undo) -> Result<UndoReport, Fault> {
    let (repository, things) = meant(host, &command).await?;
    let run = things.first().map(run_of).unwrap_or_default().to_owned();
    let owner = Owner::this_process(&run, "windlass undo")?;
    let common_dir = repository.checkout().common_dir().to_string_lossy().into_owned();
    let held = hold_repository(host, &common_dir, &owner, IfHeld::GiveUp, &Silence).await?;
    let given = give_back(&repository, things);
    held.release(host, given).await
}

/// Branches first: a worktree goes back onto its own.
fn give_back(repository: &Repository, mut things: Vec<KeptThing>) -> Result<UndoReport, Fault> {
    things.sort_by_key(|thing| matches!(thing.what, KeptWhat::Worktree { .. }));
    let mut items = Vec::new();
    for thing in &things {
        let (kind, what) = kind_and_name(thing);
        let (outcome, why) = match repository.give_back(thing) {
            Ok(GivenBack::Done) => (Undone::GivenBack, format!("as it was kept in {}", thing.commit)),
            Ok(GivenBack::Stands) => (Undone::Stands, "it stands there already".to_owned()),
            Ok(GivenBack::Taken(why)) => (Undone::NotGivenBack, why),
            Err(
                error @ (GitError::NotReadBack { .. }
                | GitError::NotOurs { .. }
                | GitError::ReferenceBlocked { .. }
                | GitError::ReferenceLocked { .. }),
            ) => (Undone::NotGivenBack, error.to_string()),
            Err(error) => return Err(git_fault(error)),
        };
        items.push(UndoItem { id: thing.name.clone(), kind: kind.to_owned(), what, outcome, why });
    }
    Ok(UndoReport { items })
}

/// Whether it was kept because it was taken away. What a roadmap put back while it ran is kept as a branch of ours, and what a
/// maker left before a person took over still stands.
fn was_cleaned(thing: &KeptThing) -> bool {
    match &thing.what {
        KeptWhat::Branch { name, .. } => !name.starts_with("windlass/kept/"),
        KeptWhat::Worktree { .. } => {
            let last = thing.name.rsplit('/').next().unwrap_or_default();
            ![Role::Doer, Role::Builder].iter().any(|role| last.starts_with(&format!("{role}-before-")))
        }
    }
}

/// What somebody means: a run, one kept thing, or the run that was cleaned last.
async fn meant(host: &Host, command: &Undo) -> Result<(Repository, Vec<KeptThing>), Fault> {
    let nothing = |what: &str| {
        Fault::new(Code::NotAllowedNow, format!("nothing is kept of {what}"))
            .kept("nothing was changed")
            .hint("`windlass undo --list` shows what is kept in this repository")
    };
    let Some(what) = &command.what else {
        let repository = here(host, command)?;
        let things = repository.kept_things("").map_err(git_fault)?;
        let cleaned = things.iter().filter(|thing| was_cleaned(thing)).max_by_key(|thing| thing.at);
        let newest = cleaned.map(|thing| run_of(thing).to_owned());
        let newest = newest.ok_or_else(|| nothing("this repository"))?;
        let is_meant = |thing: &KeptThing| run_of(thing) == newest && was_cleaned(thing);
        let of_run = things.into_iter().filter(is_meant).collect();
        return Ok((repository, of_run));
    };
    let (name, whole) = match what.split_once('/') {
        Some((run, _)) => (run, false),
        None => (what.as_str(), true),
    };
    let repository = match find::head(host, name).await {
        Ok(head) => {
            let place = headline::line(&head, false).repository;
            let checkout = Checkout::discover(Path::new(&place)).map_err(git_fault)?;
            let repository = host.repository(checkout)?;
            let things = repository.kept_things(head.run.as_str()).map_err(git_fault)?;
            let things: Vec<KeptThing> =
                things.into_iter().filter(|thing| whole || thing.name == *what).collect();
            return if things.is_empty() { Err(nothing(what)) } else { Ok((repository, things)) };
        }
        // A run that the journal of this machine does not know may still be kept in this repository.
        Err(_) => here(host, command)?,
    };
    let things = repository.kept_things("").map_err(git_fault)?;
    let is_meant = |thing: &KeptThing| {
        let by_commit = what.len() >= 7 && thing.commit.as_str().starts_with(what.as_str());
        thing.name == *what || by_commit || (whole && run_of(thing) == what)
    };
    let things: Vec<KeptThing> = things.into_iter().filter(is_meant).collect();
    if things.is_empty() { Err(nothing(what)) } else { Ok((repository, things)) }
}

fn here(host: &Host, command: &Undo) -> Result<Repository, Fault> {
    let path = command.repository.as_deref().unwrap_or(Path::new("."));
    host.repository(Checkout::discover(path).map_err(git_fault)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_git_workspaces::CommitId;

    #[test]
    fn only_what_was_taken_away_counts_as_cleaned() {
        let commit = CommitId::parse(&"a".repeat(40)).unwrap();
        let kept =
            |name: &str, what| KeptThing { name: name.to_owned(), commit: commit.clone(), at: 0, what };
        let branch = |name: &str| KeptWhat::Branch { name: name.to_owned(), tip: commit.clone() };
        let worktree = || KeptWhat::Worktree { path: "/w".into() };
        assert!(was_cleaned(&kept("r/doer", worktree())));
        assert!(was_cleaned(&kept("r/doer-branch", branch("codex/x"))));
        assert!(!was_cleaned(&kept("r/round-1-abc", branch("windlass/kept/round-1-abc"))));
        assert!(!was_cleaned(&kept("r/doer-before-1", worktree())));
    }
}
