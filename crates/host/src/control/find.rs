//! Finds the run somebody means: by id, by the beginning of one, by task, or by its directory.

use super::trust;
use crate::context::RunContext;
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::holder::Owner;
use crate::host::Host;
use crate::notify::Plan;
use crate::past::Past;
use std::path::Path;
use windlass_control_api::views::RunLine;
use windlass_control_api::{Code, Fault};
use windlass_engine::{Holder, Journal, RunHead, Stored, engine};
use windlass_git_workspaces::Checkout;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::spec::Place;
use windlass_protocols::{Run, RunId};

pub(crate) async fn head(host: &Host, name: &str) -> Result<RunHead, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    if let Some(head) = heads.iter().find(|head| head.run.as_str() == name) {
        return Ok(head.clone());
    }
    let by_place = |head: &&RunHead| {
        let line = headline::line(head, false);
        line.task == name || same_directory(&line.run_dir, name)
    };
    // The list has the newest first, and that is the one somebody means by a task's name.
    if let Some(head) = heads.iter().find(by_place) {
        return Ok(head.clone());
    }
    let begun: Vec<&RunHead> = heads.iter().filter(|head| head.run.as_str().starts_with(name)).collect();
    match (begun.as_slice(), name.is_empty()) {
        ([head], false) => Ok((*head).clone()),
        ([], _) | (_, true) => Err(unknown(name)),
        (several, false) => {
            let names: Vec<&str> = several.iter().map(|head| head.run.as_str()).collect();
            Err(Fault::new(
                Code::UnknownRun,
                format!("several runs begin with `{name}`: {}", names.join(", ")),
            )
            .hint("give enough of the name to be unique"))
        }
    }
}

pub(crate) fn unknown(name: &str) -> Fault {
    Fault::new(Code::UnknownRun, format!("there is no run `{name}`"))
        .hint("`windlass ls` lists every run of this machine")
}

fn same_directory(run_dir: &str, name: &str) -> bool {
    let path = Path::new(run_dir);
    path.file_name().is_some_and(|last| last == name)
        || path == Path::new(name)
        || Path::new(name).canonicalize().is_ok_and(|found| found == path)
}

/// Somebody's run for whoever will drive it: nothing of it has to be read twice.
pub(crate) async fn past(host: &Host, name: &str) -> Result<(RunHead, Past), Fault> {
    let head = head(host, name).await?;
    let mut past = Past::unread(&head.run);
    past.catch_up(&host.journal).await?;
    Ok((head, past))
}

/// A run as its facts make it, with the rows they came from.
pub(crate) async fn run(host: &Host, name: &str) -> Result<(RunHead, Vec<Stored>, Run), Fault> {
    let head = head(host, name).await?;
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    let run = engine::replay(&head.run, &stored).map_err(journal_fault)?;
    Ok((head, stored, run))
}

pub(crate) fn protocol(run: &Run) -> Result<&Protocol, Fault> {
    let started = run.started.as_ref();
    let started = started.ok_or_else(|| Fault::new(Code::UnknownRun, "the run was never started"))?;
    Ok(&started.protocol)
}

/// Everything needed to carry out effects of a run that is in the journal.
pub(crate) fn context(host: &Host, id: &RunId, protocol: &Protocol) -> Result<RunContext, Fault> {
    let place = protocol.place();
    let checkout = Checkout::discover(Path::new(&place.repository)).map_err(git_fault)?;
    same_repository(place, &checkout)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &[])?;
    // The run's own commands were agreed to when it began; the repository's file may name other channels since.
    let distrusted =
        Plan::is_of_the_repository(&settings) && trust::require(host, &checkout, &settings, false).is_err();
    let mut context = host.run_context(id.clone(), protocol.spec(), host.repository(checkout)?, &settings)?;
    if distrusted {
        context.notify = host.notify_plan(Plan::without_the_repositorys(&settings));
    }
    Ok(context)
}

/// The same for a repository that was moved, and stands where somebody says. It is only looked at.
pub(crate) fn context_at(
    host: &Host,
    id: &RunId,
    protocol: &Protocol,
    place: &Path,
) -> Result<RunContext, Fault> {
    let checkout = Checkout::discover(place).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &[])?;
    host.run_context(id.clone(), protocol.spec(), host.repository(checkout)?, &settings)
}

/// A repository that is gone must not be taken for the one around it.
fn same_repository(place: &Place, found: &Checkout) -> Result<(), Fault> {
    let recorded = Path::new(&place.common_dir);
    // It may have been moved and left a link behind.
    if recorded.canonicalize().is_ok_and(|recorded| recorded == found.common_dir()) {
        return Ok(());
    }
    let message = format!(
        "{} is no longer the repository of this run: it had its objects in {}, and what is found there now is {}",
        place.repository,
        place.common_dir,
        found.common_dir().display()
    );
    Err(Fault::new(Code::NotARepository, message)
        .kept("the record of the run; the other repository was not touched")
        .hint("put the repository of the run back where it was"))
}

/// The living process that drives a run, if there is one.
pub(crate) async fn driver_of(host: &Host, run: &RunId) -> Result<Option<Driving>, Fault> {
    let holder = host.journal.holder(run.as_str()).await.map_err(journal_fault)?;
    let driving = |holder: Holder| Some(Driving { owner: Owner::of(&holder)?, since_ms: holder.since.0 });
    Ok(holder.and_then(driving).filter(|driving| driving.owner.lives()))
}

pub(crate) struct Driving {
    pub(crate) owner: Owner,
    pub(crate) since_ms: u64,
}

pub(crate) async fn line(host: &Host, head: &RunHead) -> Result<RunLine, Fault> {
    let line = headline::line(head, false);
    if line.status == windlass_control_api::views::Status::Interrupted
        && driver_of(host, &head.run).await?.is_some()
    {
        return Ok(headline::line(head, true));
    }
    Ok(line)
}
