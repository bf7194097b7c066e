//! A blocked run whose question is nobody's any more: a later run of the same checkout went on with its control plane. There is
//! one plane, so answering the older one would set it to work on whatever the plane is about by now.

use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use windlass_control_api::views::LoopKind;
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, RunHead, engine};
use windlass_protocols::inbox::waiting;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::state::State;
use windlass_protocols::{Run, RunId};

/// The newest run that went on where this one waits. `heads` are all runs, the newest first.
pub(crate) async fn by(host: &Host, heads: &[RunHead], head: &RunHead) -> Result<Option<RunId>, Fault> {
    let line = headline::line(head, false);
    if !line.waits || line.kind != LoopKind::Roadmap {
        return Ok(None);
    }
    let mut own: Option<Run> = None;
    for later in heads.iter().filter(|later| later.run != head.run && later.started_at >= head.updated_at) {
        let other = headline::line(later, false);
        if other.kind != LoopKind::Roadmap || other.repository != line.repository {
            continue;
        }
        let own = match &mut own {
            Some(own) => own,
            None => own.insert(replayed(host, head).await?),
        };
        if went_on(own, &replayed(host, later).await?) {
            return Ok(Some(later.run.clone()));
        }
    }
    Ok(None)
}

/// Refuses what is said to such a run, and names the one to talk to.
pub(crate) async fn refuse(host: &Host, head: &RunHead, run: &Run) -> Result<(), Fault> {
    if waiting(run).is_none() {
        return Ok(());
    }
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let Some(later) = by(host, &heads, head).await? else { return Ok(()) };
    let waits = heads.iter().any(|head| head.run == later && headline::line(head, false).waits);
    let hint = if waits {
        format!("`windlass answer {later} \"…\"` answers that one")
    } else {
        format!(
            "`windlass roadmap status {later}` shows what came of it; `windlass roadmap run --agent …` begins anew"
        )
    };
    let message = format!("{} is superseded by run {later}, which went on with its roadmap", head.run);
    Err(Fault::new(Code::NotAllowedNow, message).kept("nothing was changed").hint(hint))
}

async fn replayed(host: &Host, head: &RunHead) -> Result<Run, Fault> {
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    engine::replay(&head.run, &stored).map_err(journal_fault)
}

/// A run that was stopped before it came to anything, or could not begin, leaves the older one's question as it is.
fn went_on(own: &Run, other: &Run) -> bool {
    let (Some(own), Some(state)) = (state(own), state(other)) else { return false };
    let ended = matches!(state.end, Some(End::Complete | End::Blocked { .. } | End::RoundsUsed));
    let rounds = own.plane.iter().flat_map(|plane| &plane.rounds);
    let merged = rounds.into_iter().any(|round| state.merged.iter().any(|merged| merged.round == round.id));
    state.plane.is_some() && (!other.ended || ended || merged)
}

fn state(run: &Run) -> Option<&State> {
    match find::protocol(run) {
        Ok(Protocol::RoadmapRounds(state)) => Some(state),
        Ok(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_)) | Err(_) => {
            None
        }
    }
}
