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
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::roadmap_rounds::outlook::{outlook, outlook_of_run};
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::{Observation, Run};

pub(super) struct Earlier {
    /// What to do next.
    pub(super) command: String,
    run: Option<Run>,
}

impl Earlier {
    pub(super) fn none(command: &str) -> Self {
        Self { command: command.to_owned(), run: None }
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
        Status::Interrupted => Some(Earlier::none(&format!("windlass resume {run}"))),
        _ if line.waits => {
            let command = format!("windlass resume {run}");
            Some(Earlier { command, run: Some(replayed(host, head).await?) })
        }
        _ => None,
    })
}
