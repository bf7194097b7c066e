//! What happens in a roadmap loop, in sentences: one short line for everything a person follows a round by.

use super::{found, local_time, short};
use windlass_control_api::events::Tone;
use windlass_protocols::Run;
use windlass_protocols::kernel::availability::FOR_GOOD;
use windlass_protocols::kernel::gate::GateFinding;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::{
    Closed, Fact, OutKind, RetryKind, UpdateStep, Why,
};
use windlass_protocols::protocol::roadmap_rounds::not_merged;
use windlass_protocols::protocol::roadmap_rounds::plane::{Plane, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::state::{MergedRound, State};
use windlass_protocols::protocol::roadmap_rounds::steps::{
    Held, Kept, PlaceTaken, PlaneOutcome, PlaneStep, RoundWork, WorkCaptured, WorkKind,
};

fn state(run: &Run) -> Option<&State> {
    match &run.started.as_ref()?.protocol {
        Protocol::RoadmapRounds(state) => Some(state),
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_) => None,
    }
}

/// Who is at work on what.
pub(super) fn working(work: &RoundWork) -> String {
    let round = &work.round;
    match &work.kind {
        WorkKind::Plan => format!("{round}: the planner chooses and plans"),
        WorkKind::Implement => format!("{round}: the implementer works"),
        WorkKind::Worker { worker } => format!("{round}: worker {worker} works"),
        WorkKind::Integrate => format!("{round}: the implementer brings the shares together"),
        WorkKind::Review => format!("{round}: the reviewer looks at it"),
        WorkKind::AuthorUpdate => format!("{round}: the planner revises the roadmap"),
        WorkKind::ReviewUpdate => format!("{round}: the reviewer looks at the revised roadmap"),
        WorkKind::Investigate { .. } => format!("{round}: the investigator looks into it"),
    }
}

pub(super) fn stepping(step: &PlaneStep) -> (String, Tone) {
    let text = match step {
        // Read before every decision: telling it each time would bury the rest.
        PlaneStep::Read { .. } | PlaneStep::WriteState(_) | PlaneStep::LookAtGate(_) => String::new(),
        PlaneStep::OpenWorktree(asked) => format!("making {}", asked.worktree),
        PlaneStep::CaptureWork(asked) => format!("{}: taking down what was left", asked.work.round),
        PlaneStep::SetAside(asked) => format!("{}: setting an earlier review aside", asked.work.round),
        PlaneStep::TakeUp(asked) => format!("{}: taking up what lies there", asked.round),
        PlaneStep::CombineWork(asked) => format!("{}: merging into {}", asked.round, asked.branch),
        PlaneStep::FinalizeRound(asked) => format!("{}: merging", asked.round),
        PlaneStep::PublishUpdate(asked) => format!("publishing {}", asked.revision),
    };
    (text, Tone::Quiet)
}

pub(super) fn stepped(outcome: &PlaneOutcome) -> (String, Tone) {
    match outcome.itself() {
        PlaneOutcome::StateMoved => {
            ("the state file was changed meanwhile: read again".to_owned(), Tone::Attention)
        }
        PlaneOutcome::Held(held) => (held_words(held), Tone::Attention),
        PlaneOutcome::SetAside { kept: Some(kept), .. }
        | PlaneOutcome::WorkCombined { kept: Some(kept), .. } => {
            let text = format!("what stood there uncommitted was put back; {}", kept.way_back());
            (text, Tone::Attention)
        }
        PlaneOutcome::Looked { .. }
        | PlaneOutcome::Read(_)
        | PlaneOutcome::StateWritten { .. }
        | PlaneOutcome::WorktreeOpened { .. }
        | PlaneOutcome::WorkCaptured(_)
        | PlaneOutcome::SetAside { .. }
        | PlaneOutcome::TakenUp { .. }
        | PlaneOutcome::WorkCombined { .. }
        | PlaneOutcome::GateLooked(_)
        | PlaneOutcome::Merged { .. } => (String::new(), Tone::Quiet),
    }
}

fn held_words(held: &Held) -> String {
    match held {
        Held::BaseMoved => "not merged: the base branch moved meanwhile".to_owned(),
        Held::Conflicts { paths } => {
            format!("not merged: it does not fit the base in {}", paths.join(", "))
        }
        Held::Stale { why } | Held::InTheWay { why } => format!("not merged: {why}"),
    }
}

pub(super) fn sentence(run: &Run, fact: &Fact) -> (String, Tone) {
    match fact {
        Fact::BaseFixed { commit } => (format!("the loop begins at {}", short(commit.as_str())), Tone::Quiet),
        Fact::PlaneTaken { plane, noticed } => taken(run, plane, noticed),
        Fact::RoundOpened { round, branch, .. } => (format!("{round} opened on {branch}"), Tone::Plain),
        Fact::StageDecided { round, from, to, why } => moved(round, (*from, *to), why),
        Fact::WorkEnded { work, failed: Some(why) } => {
            (format!("{}: {} came to nothing: {why}", work.round, work.kind.words()), Tone::Bad)
        }
        Fact::WorkTaken { captured } => captured_words(captured),
        Fact::ReviewSetAside { work, .. } => {
            (format!("{}: an earlier review was set aside", work.round), Tone::Quiet)
        }
        Fact::TakenUp { round, update, places } => taken_up(round, *update, places),
        Fact::WorkCombined { round, conflicts, .. } if conflicts.is_empty() => {
            (format!("{round}: brought together"), Tone::Quiet)
        }
        Fact::WorkCombined { round, conflicts, .. } => {
            (format!("{round}: conflicts in {}", conflicts.join(", ")), Tone::Attention)
        }
        Fact::MergeConflicted { round, paths } => {
            (format!("{round} does not fit the base in {}", paths.join(", ")), Tone::Attention)
        }
        Fact::GateLooked { looked } if looked.findings.is_empty() => quiet(),
        Fact::GateLooked { looked } => on_gate(&looked.round, &looked.findings),
        Fact::GateInspected { round, report } if !report.findings.is_empty() => {
            on_gate(round, &report.findings)
        }
        Fact::GateInspected { round, report } if !report.red.is_empty() => {
            let named: Vec<String> = report.red.iter().map(|command| format!("`{command}`")).collect();
            (format!("{round} does not pass {}", named.join(", ")), Tone::Attention)
        }
        Fact::GateInspected { round, .. } => {
            (format!("{round} passes with the base's own tests and configuration too"), Tone::Good)
        }
        Fact::GateHeld { round, findings } => {
            let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
            (format!("{round} is approved and waits: nobody waived {}", names.join(", ")), Tone::Attention)
        }
        Fact::RoundMerged { round, commit, .. } => {
            let book = state(run).and_then(|state| state.book.rounds.get(round));
            let ignored = book.map(|book| book.ignored.join(", ")).filter(|names| !names.is_empty());
            let left = ignored.map(|names| format!(", without what the repository's rules ignore: {names}"));
            let plane = state(run).and_then(|state| state.plane.as_ref());
            let lost = plane.and_then(|plane| plane.lost_of(round));
            let lost = lost.map(|lost| format!(", without what its workers made: {lost}"));
            let without: String = left.into_iter().chain(lost).collect();
            (format!("{round} merged as {}{without}", short(commit.as_str())), Tone::Good)
        }
        Fact::WorkEnded { failed: None, .. } | Fact::RoundClosed { how: Closed::Merged, .. } => quiet(),
        Fact::RoundClosed { round, how: Closed::Cancelled } => {
            (format!("{round} cancelled: its planner asks for another roadmap"), Tone::Attention)
        }
        Fact::UpdateOpened(opened) => (
            format!(
                "roadmap update opened after {}: {} to {}",
                opened.source_round, opened.prior_revision, opened.proposed_revision
            ),
            Tone::Plain,
        ),
        Fact::UpdateDecided { decided, .. } => update(decided),
        Fact::UpdateMerged { commit, revision, .. } => {
            (format!("roadmap {revision} merged as {}", short(commit.as_str())), Tone::Good)
        }
        Fact::Concluded { end } => concluded(run, end),
        fact => tried_again(fact),
    }
}

fn on_gate(round: &str, findings: &[GateFinding]) -> (String, Tone) {
    let (words, tone) = found(findings);
    (format!("{round}: {words}"), tone)
}

const fn quiet() -> (String, Tone) {
    (String::new(), Tone::Quiet)
}

/// The first look is told whole, every later one only where people changed something.
fn taken(run: &Run, plane: &Plane, noticed: &[String]) -> (String, Tone) {
    if !noticed.is_empty() {
        return (noticed.join("; "), Tone::Attention);
    }
    if state(run).is_some_and(|state| state.pass > 1) {
        return quiet();
    }
    let live = match plane.rounds.len() {
        0 => String::new(),
        1 => ", 1 round live".to_owned(),
        several => format!(", {several} rounds live"),
    };
    let open = plane.unfinished().count();
    let text = format!(
        "{} {}: {open} of {} milestones open{live}",
        plane.roadmap_id,
        plane.revision,
        plane.milestones.len()
    );
    if plane.oddities.is_empty() {
        return (text, Tone::Plain);
    }
    (format!("{text}; {}", plane.oddities.join("; ")), Tone::Attention)
}

fn moved(round: &str, (from, to): (RoundStage, RoundStage), why: &Why) -> (String, Tone) {
    match why {
        Why::Planned { milestone, direction, item } => {
            (format!("{round} planned: {item} ({milestone}, {direction})"), Tone::Plain)
        }
        Why::Direct { .. } => (format!("{round} planned, done and proven by its planner"), Tone::Good),
        Why::Implemented => (format!("{round} implemented"), Tone::Plain),
        Why::Approved { .. } => (format!("{round} approved"), Tone::Good),
        Why::Rejected { changes } => {
            (format!("{round} rejected ({}): {}", to.word(), changes.join("; ")), Tone::Bad)
        }
        Why::BaseMoved { conflicts } if conflicts.is_empty() => {
            (format!("{round}: the base moved and was merged in; {}", to.word()), Tone::Attention)
        }
        Why::Unclassified { .. }
        | Why::BaseMoved { .. }
        | Why::CloseoutStale { .. }
        | Why::RoadmapRevised { .. }
        | Why::PlanOutdated { .. }
        | Why::NotWaived { .. }
        | Why::ChecksRed { .. }
        | Why::Unproven { .. } => {
            (format!("{round} back to {}: {}", to.word(), why.words()), Tone::Attention)
        }
        Why::Proven => (format!("{round} goes on at {}: {}", to.word(), why.words()), Tone::Plain),
        Why::PutBack => (format!("{round} put back from {} to {}", from.word(), to.word()), Tone::Attention),
    }
}

fn captured_words(captured: &WorkCaptured) -> (String, Tone) {
    let round = &captured.work.round;
    let plural = if captured.files_changed == 1 { "file" } else { "files" };
    let mut text =
        format!("{round}: {} {plural} at {}", captured.files_changed, short(captured.commit.as_str()));
    if !captured.put_back.is_empty() {
        text.push_str("; put back, for it was not its to write: ");
        text.push_str(&captured.put_back.join(", "));
    }
    let kept = captured.kept.as_ref().map(Kept::way_back);
    for told in kept.into_iter().chain(not_merged(&captured.ignored)) {
        text.push_str("; ");
        text.push_str(&told);
    }
    for hazard in &captured.hazards {
        text.push_str("; ");
        text.push_str(hazard);
    }
    let loud = !captured.put_back.is_empty() || !captured.hazards.is_empty() || !captured.ignored.is_empty();
    (text, if loud { Tone::Attention } else { Tone::Quiet })
}

/// What somebody else had left, where there was anything.
fn taken_up(round: &str, update: bool, places: &[PlaceTaken]) -> (String, Tone) {
    let whose = if update { format!("the roadmap update of {round}") } else { round.to_owned() };
    let told = places.iter().filter(|place| place.files_changed > 0 || !place.put_back.is_empty());
    let lines: Vec<String> = told
        .map(|place| {
            let whose = match &place.worker {
                Some(worker) => format!("{whose}, worker {worker}"),
                None => whose.clone(),
            };
            let lay = if place.files_changed == 1 { "file that lay" } else { "files that lay" };
            let mut text = format!(
                "{whose}: {} {lay} uncommitted in its worktree, committed now at {}",
                place.files_changed,
                short(place.commit.as_str())
            );
            if !place.put_back.is_empty() {
                text.push_str("; put back, for it belongs to nobody who works there: ");
                text.push_str(&place.put_back.join(", "));
            }
            let kept = place.kept.as_ref().map(Kept::way_back);
            for told in kept.into_iter().chain(not_merged(&place.ignored)) {
                text.push_str("; ");
                text.push_str(&told);
            }
            text
        })
        .collect();
    if lines.is_empty() { quiet() } else { (lines.join("; "), Tone::Attention) }
}

fn update(decided: &UpdateStep) -> (String, Tone) {
    match decided {
        UpdateStep::Authored => ("roadmap update written".to_owned(), Tone::Plain),
        UpdateStep::Approved { .. } => ("roadmap update approved".to_owned(), Tone::Good),
        UpdateStep::Rejected { summary } => (format!("roadmap update rejected: {summary}"), Tone::Bad),
        UpdateStep::Activated { revision } => (format!("roadmap revised to {revision}"), Tone::Good),
        UpdateStep::SentBack { why } => (format!("roadmap update sent back: {why}"), Tone::Attention),
    }
}

fn tried_again(fact: &Fact) -> (String, Tone) {
    let text = match fact {
        Fact::RetryDecided { work, mechanism, attempt, why } => format!(
            "{}: {} again ({}, attempt {attempt}): {why}",
            work.round,
            work.kind.words(),
            mechanism.words()
        ),
        Fact::InvestigationDecided { work, why, .. } => {
            format!("{}: {} does not get on: {why}", work.round, work.kind.words())
        }
        Fact::Diagnosed { work, diagnosis: Some(diagnosis) } => {
            format!("{}: the investigator says: {}", work.round, diagnosis.summary)
        }
        Fact::Diagnosed { work, diagnosis: None } => format!("{}: no diagnosis could be had", work.round),
        Fact::RepairAsked { work, faults } => {
            format!("{}: {} cannot be used: {}", work.round, work.kind.words(), faults.join("; "))
        }
        Fact::StepRetried { work, kind, why } => {
            let again = match kind {
                RetryKind::Interrupted => "goes on",
                RetryKind::Lost | RetryKind::Failed => "tried again",
            };
            let round = work.as_ref().map(|work| format!("{}: ", work.round)).unwrap_or_default();
            format!("{round}{why}; {again}")
        }
        Fact::AgentOut { agent, until, kind: OutKind::Misconfigured, .. } if *until == FOR_GOOD => {
            format!("{agent} is not asked again before a person has looked")
        }
        Fact::AgentOut { agent, until, .. } => format!("{agent} is not asked before {}", local_time(until.0)),
        Fact::Recovered { rounds, .. } => {
            let rounds: Vec<String> =
                rounds.iter().map(|(round, stage)| format!("{round} at {}", stage.word())).collect();
            let which = if rounds.is_empty() { "the controller".to_owned() } else { rounds.join(", ") };
            format!("taken up again from a blocked state: {which}")
        }
        Fact::ControllerSet { stage, why } => {
            return (format!("the controller's stage is {}: {why}", stage.word()), Tone::Quiet);
        }
        Fact::Blocked { round, update, why, .. } => {
            let what = match round {
                Some(round) if *update => format!("the roadmap update after {round} is"),
                Some(round) => round.clone(),
                None if *update => "the roadmap update is".to_owned(),
                None => "the loop".to_owned(),
            };
            return (format!("{what} blocked: {why}"), Tone::Bad);
        }
        _ => return quiet(),
    };
    (text, Tone::Attention)
}

fn concluded(run: &Run, end: &End) -> (String, Tone) {
    match end {
        End::Complete | End::RoundsUsed => {
            let merged = state(run).map(|state| state.merged.as_slice()).unwrap_or_default();
            let without = merged.iter().filter(|round| !round.ignored.is_empty());
            let ignored: Vec<String> =
                without.map(|round| format!("{} ({})", round.ignored.join(", "), round.round)).collect();
            let lost = |round: &MergedRound| Some(format!("{} in {}", round.lost.as_ref()?, round.round));
            let lost: Vec<String> = merged.iter().filter_map(lost).collect();
            if ignored.is_empty() && lost.is_empty() {
                return (end.words(), Tone::Good);
            }
            let mut text = end.words();
            for (left, names) in [
                ("not merged, for the repository's rules ignore it", ignored),
                ("not merged of what workers made", lost),
            ] {
                if !names.is_empty() {
                    text.push_str("; ");
                    text.push_str(left);
                    text.push_str(": ");
                    text.push_str(&names.join(", "));
                }
            }
            (text, Tone::Attention)
        }
        End::NotReady { .. } => (format!("it cannot go on: {}", end.words()), Tone::Bad),
        End::Blocked { .. } => (end.words(), Tone::Bad),
        End::Spent { .. } | End::Stopped { .. } => (end.words(), Tone::Attention),
    }
}
