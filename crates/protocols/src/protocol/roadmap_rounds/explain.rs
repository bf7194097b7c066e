//! Why a roadmap loop is where it is: in rounds and stages, and the command that goes on.

use super::book::Phase;
use super::end::End;
use super::integrity::waive_command;
use super::plane::{MilestoneStatus, Plane, RoundStage};
use super::state::State;
use super::steps::{Mechanism, RoundWork};
use crate::explain::{Explanation, room_for_more, waited_for, waiting};
use crate::run::Run;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn explain(run: &Run, state: &State, id: &str) -> Explanation {
    match &state.end {
        Some(end) if run.ended => ended(run, state, end, id),
        Some(_) | None => under_way(run, state, id),
    }
}

fn under_way(run: &Run, state: &State, id: &str) -> Explanation {
    let mut because: Vec<String> =
        run.unsettled.iter().map(|(effect, request)| waited_for(run, *effect, request)).collect();
    because.extend(standing(state));
    let doing = waiting(run).unwrap_or_else(|| "the controller works".to_string());
    let live: Vec<String> = state.book.rounds.keys().cloned().collect();
    let now = if live.is_empty() { doing } else { format!("{}: {doing}", live.join(", ")) };
    let commands = alloc::vec![format!("windlass resume {id}"), format!("windlass stop {id}")];
    Explanation { now, because, commands }
}

fn ended(run: &Run, state: &State, end: &End, id: &str) -> Explanation {
    let mut because = Vec::new();
    let mut commands = Vec::new();
    let resume = resume_command(run, end, id);
    match end {
        End::Complete => commands.push(format!("windlass verify {id}")),
        End::Blocked { .. } => {
            commands.extend(waive_command(state, id));
            commands.push(format!("windlass answer {id} \"…\""));
            commands.push(resume);
        }
        End::NotReady { .. } => {
            commands.push("windlass roadmap inspect".to_string());
            commands.push(resume);
        }
        End::RoundsUsed | End::Spent { .. } | End::Stopped { .. } => commands.push(resume),
    }
    because.extend(standing(state));
    because.extend(state.merged.iter().map(|merged| format!("read {} ({})", merged.commit, merged.round)));
    let without = state.merged.iter().filter(|merged| !merged.ignored.is_empty());
    because.extend(without.map(|merged| {
        let names = merged.ignored.join(", ");
        format!("{} was merged without what the repository's rules ignore: {names}", merged.round)
    }));
    because.extend(state.merged.iter().filter_map(|merged| {
        let lost = merged.lost.as_ref()?;
        Some(format!("{} was merged without what its workers made: {lost}", merged.round))
    }));
    because.extend(
        state.merged.iter().flat_map(|one| one.waived.iter().map(|words| format!("{}: {words}", one.round))),
    );
    because.extend(state.revisions.iter().map(|(revision, commit)| format!("read {commit} ({revision})")));
    Explanation { now: end.words(), because, commands }
}

/// The roadmap and its live rounds in a few lines.
fn standing(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(plane) = &state.plane else { return lines };
    lines.push(progress(plane));
    for (round, book) in &state.book.rounds {
        let trouble = match book.stage {
            RoundStage::Blocked => state.given_up.get(&Some(round.clone())).map(|why| format!(": {why}")),
            _ => book.told.first().map(|told| format!(": {told}")),
        };
        lines.push(format!("{round} is at {}{}", book.stage.word(), trouble.unwrap_or_default()));
    }
    if let Some(update) = &plane.update {
        lines.push(format!(
            "the roadmap update to {} after {} is at attempt {}",
            update.proposed_revision, update.source_round, update.attempt
        ));
    }
    let failing =
        state.book.works.iter().filter_map(|(work, known)| failing(work, &known.phase, known.afresh));
    lines.extend(failing);
    lines
}

fn failing(work: &RoundWork, phase: &Phase, afresh: bool) -> Option<String> {
    let Phase::Failed { why } = phase else { return None };
    let mechanism = if afresh { Mechanism::FreshAgent } else { Mechanism::SameHandle };
    Some(format!("{} of {} failed {}: {why}", work.kind.words(), work.round, mechanism.words()))
}

pub fn progress(plane: &Plane) -> String {
    let done = plane.milestones.iter().filter(|milestone| milestone.status == MilestoneStatus::Done).count();
    format!(
        "{} {}: {done} of {} milestones are done",
        plane.roadmap_id,
        plane.revision,
        plane.milestones.len()
    )
}

/// The command with everything the run would otherwise be refused or ended for.
pub(super) fn resume_command(run: &Run, end: &End, id: &str) -> String {
    let mut command = format!("windlass resume {id}");
    if *end == End::RoundsUsed {
        command.push_str(" --rounds +1");
    }
    if let Some(started) = &run.started {
        command.push_str(&room_for_more(started.budget));
    }
    command
}
