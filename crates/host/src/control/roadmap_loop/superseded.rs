//! A run whose place was taken: a later run of the same checkout went on with its control plane. There is one plane, so
//! answering the older one or going on with it would set it to work on whatever the plane is about by now.

use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use windlass_control_api::views::{LoopKind, Status};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, RunHead, Stored, engine};
use windlass_protocols::inbox::waiting;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::state::State;
use windlass_protocols::{Effect, Fact, Millis, Run, RunId};

/// The newest run that went on where this one waits, was stopped or was cut off. `heads` are all runs, the newest first.
pub(crate) async fn by(host: &Host, heads: &[RunHead], head: &RunHead) -> Result<Option<RunId>, Fault> {
    let line = headline::line(head, false);
    if line.status == Status::Accepted || line.kind != LoopKind::Roadmap {
        return Ok(None);
    }
    let mut own: Option<(Run, Millis)> = None;
    for later in heads.iter().filter(|later| later.run != head.run && later.started_at >= head.started_at) {
        let other = headline::line(later, false);
        if other.kind != LoopKind::Roadmap || other.repository != line.repository {
            continue;
        }
        let (own, worked_at) = match &mut own {
            Some(own) => own,
            None => own.insert(read(host, head).await?),
        };
        if later.started_at >= *worked_at && went_on(own, &replayed(host, later).await?) {
            return Ok(Some(later.run.clone()));
        }
    }
    Ok(None)
}

/// Refuses what is said to such a run, and names the one to talk to.
pub(crate) async fn refuse(host: &Host, head: &RunHead) -> Result<(), Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let Some(later) = by(host, &heads, head).await? else { return Ok(()) };
    let line = match heads.iter().find(|head| head.run == later) {
        Some(head) => find::line(host, head).await?,
        None => return Ok(()),
    };
    let hint = match line.status {
        _ if line.waits => format!("`windlass answer {later} \"…\"` answers that one"),
        Status::Running => format!("`windlass log {later} -f` shows what it does"),
        Status::Interrupted | Status::Stopped => format!("`windlass resume {later}` goes on with that one"),
        _ => format!(
            "`windlass roadmap status {later}` shows what came of it; `windlass roadmap run --agent …` begins anew"
        ),
    };
    let message = format!("{} is superseded by run {later}, which went on with its roadmap", head.run);
    Err(Fault::new(Code::NotAllowedNow, message).kept("nothing was changed").hint(hint))
}

pub(super) async fn replayed(host: &Host, head: &RunHead) -> Result<Run, Fault> {
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    engine::replay(&head.run, &stored).map_err(journal_fault)
}

/// A run, and when it last set anybody to work: what people say about it later does not count as going on.
async fn read(host: &Host, head: &RunHead) -> Result<(Run, Millis), Fault> {
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    let run = engine::replay(&head.run, &stored).map_err(journal_fault)?;
    let works = |row: &&Stored| {
        row.fact(&head.run).is_ok_and(|fact| {
            matches!(
                fact,
                Fact::RunReopened { .. } | Fact::EffectRequested { request: Effect::RunAgent(_), .. }
            )
        })
    };
    let worked_at = stored.iter().rev().find(works).map_or(head.started_at, |row| row.at);
    Ok((run, worked_at))
}

/// A run that was stopped before it came to anything, or could not begin, leaves the older one's question as it is. One that
/// is no question, but only was left, is overtaken as soon as an agent worked.
fn went_on(own: &Run, other: &Run) -> bool {
    let (Some(state_of_own), Some(state)) = (state(own), state(other)) else { return false };
    let ended = matches!(state.end, Some(End::Complete | End::Blocked { .. } | End::RoundsUsed));
    let rounds = state_of_own.plane.iter().flat_map(|plane| &plane.rounds);
    let merged = rounds.into_iter().any(|round| state.merged.iter().any(|merged| merged.round == round.id));
    let worked = other.started.as_ref().is_some_and(|started| started.budget.used.duration > Millis(0));
    let came_to = ended || merged || (worked && waiting(own).is_none());
    state.plane.is_some() && (!other.ended || came_to)
}

fn state(run: &Run) -> Option<&State> {
    match find::protocol(run) {
        Ok(Protocol::RoadmapRounds(state)) => Some(state),
        Ok(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_)) | Err(_) => {
            None
        }
    }
}
