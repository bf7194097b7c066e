//! The control loops that the journal knows of this repository: which names they took, and what became of those whose files
//! on a branch still say that they are running, because a run that is stopped makes no commit.

use super::setup::LeftOpen;
use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use windlass_control_api::Fault;
use windlass_control_api::views::LoopKind;
use windlass_engine::{Journal, RunHead};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{Fact, Millis, Run};

/// A name has the day in it, whatever the time zone.
const TWO_DAYS: Millis = Millis::minutes(2 * 24 * 60);

struct OwnRun {
    id: String,
    name: String,
    branch: String,
    ended: bool,
}

/// The newest first.
async fn heads(host: &Host, common_dir: &str) -> Result<Vec<RunHead>, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let of_repository = |head: &RunHead| {
        headline::common_dir(head).as_deref() == Some(common_dir)
            && headline::line(head, false).kind == LoopKind::Control
    };
    Ok(heads.into_iter().filter(of_repository).collect())
}

async fn own(host: &Host, head: &RunHead) -> Result<Option<OwnRun>, Fault> {
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    let mut run = Run::default();
    let mut ended = false;
    for (at, row) in stored.iter().enumerate() {
        let fact = row.fact(&head.run).map_err(journal_fault)?;
        ended = match fact {
            Fact::RunEnded => true,
            Fact::RunReopened { .. } => false,
            _ => ended,
        };
        // The first one has the names.
        if at == 0 {
            run.evolve(&fact);
        }
    }
    Ok(match find::protocol(&run) {
        Ok(Protocol::FeedbackControl(state)) => Some(OwnRun {
            id: head.run.to_string(),
            name: state.spec.run_name.clone(),
            branch: state.spec.place.doer_branch.clone(),
            ended,
        }),
        _ => None,
    })
}

/// Names of runs that nobody else may have: a branch of another name, or one that is gone, is not looked at for them.
pub(super) async fn names_of_late(host: &Host, common_dir: &str, now: Millis) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    for head in heads(host, common_dir).await? {
        if head.started_at.0.saturating_add(TWO_DAYS.0) >= now.0 {
            names.extend(own(host, &head).await?.map(|run| run.name));
        }
    }
    Ok(names)
}

/// What is to be said of loops that files of a set-up call running. Of our own that have ended there is nothing to say.
pub(super) async fn told(host: &Host, common_dir: &str, open: &[LeftOpen]) -> Result<Vec<String>, Fault> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = Vec::new();
    for head in heads(host, common_dir).await? {
        known.extend(own(host, &head).await?);
    }
    let told = open.iter().filter_map(|open| {
        let is_it = |run: &&OwnRun| run.branch == open.branch && open.run.as_ref().is_none_or(|of| *of == run.name);
        match known.iter().find(is_it) {
            Some(run) if run.ended => None,
            Some(run) => Some(format!(
                "{} says that a loop on {} is still running: `windlass resume {}` goes on with it; another run begins anew beside it",
                open.path, open.branch, run.id
            )),
            None => Some(open.words()),
        }
    });
    Ok(told.collect())
}
