//! The run of a checkout that a new one would take the place of: where it can be gone on with, that is what to do next, and
//! what comes of it is decided with all it remembers.

use super::superseded::replayed;
use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::views::{LoopKind, Status};
use windlass_engine::Journal;
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::roadmap_rounds::outlook::{outlook, outlook_of_run};
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::{Observation, Run};

pub(super) struct Earlier {
    /// What to do next.
    pub(super) command: String,
    run: Option<Run>,
    cut_off: Option<CutOff>,
}

/// A run that nobody drives and that has not ended.
struct CutOff {
    run: String,
    /// What it was about to bring to the base branch.
    merging: Option<String>,
}

impl Earlier {
    pub(super) fn none(command: &str) -> Self {
        Self { command: command.to_owned(), run: None, cut_off: None }
    }

    /// What to say of files that are not what is committed, where a run was cut off that may have left them.
    pub(super) fn of_uncommitted(&self) -> Option<String> {
        let CutOff { run, merging } = self.cut_off.as_ref()?;
        Some(match merging {
            Some(what) => format!(
                "{run} was cut off while it merged {what}: these are its files and not your edits; `windlass resume {run}` \
                 finishes the merge, before anything is committed or undone by hand"
            ),
            None => format!(
                "{run} was cut off; if these are not your edits, `windlass resume {run}` goes on with it"
            ),
        })
    }

    pub(super) fn outlook(&self, plane: &Plane) -> String {
        let again =
            Observation::Reopened { caps: CapChange::default(), note: None, limits: NewLimits::default() };
        let resumed = self.run.as_ref().and_then(|run| outlook_of_run(run, again, plane));
        resumed.unwrap_or_else(|| outlook(plane))
    }
}

/// Nothing where the newest run of this checkout came to an end that needs nobody.
pub(super) async fn newest(host: &Host, top: &Path) -> Result<Option<Earlier>, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let of_here = heads.iter().find(|head| {
        let line = headline::line(head, false);
        line.kind == LoopKind::Roadmap && Path::new(&line.repository) == top
    });
    let Some(head) = of_here else { return Ok(None) };
    let line = find::line(host, head).await?;
    let run = &head.run;
    Ok(match line.status {
        Status::Running => Some(Earlier::none(&format!("windlass log {run} -f"))),
        Status::Interrupted => {
            let merging = merging(&replayed(host, head).await?);
            let cut_off = Some(CutOff { run: run.to_string(), merging });
            Some(Earlier { cut_off, ..Earlier::none(&format!("windlass resume {run}")) })
        }
        // Whoever stopped it goes on with all it knows: who was at work, what was decided, how often something was tried.
        _ if line.waits || line.status == Status::Stopped => {
            let command = format!("windlass resume {run}");
            Some(Earlier { command, run: Some(replayed(host, head).await?), cut_off: None })
        }
        _ => None,
    })
}

/// The merge that was asked for and that nobody saw the end of.
fn merging(run: &Run) -> Option<String> {
    let Some(Protocol::RoadmapRounds(state)) = run.started.as_ref().map(|started| &started.protocol) else {
        return None;
    };
    let round = state.book.rounds.iter().find(|(_, book)| book.finalizing.is_some());
    let update = state.book.update.as_ref().and_then(|(_, book)| book.publishing.as_ref());
    round.map(|(id, _)| id.clone()).or_else(|| Some(format!("the roadmap's {}", update?.revision)))
}
