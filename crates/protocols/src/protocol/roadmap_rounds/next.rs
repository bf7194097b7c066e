//! What to ask for next, read off the state alone: captures first, then the plane is read, what is decided is written, and
//! only then something new is decided. The controller does one thing at a time; agents of several rounds work beside it.

use super::asking::{self, Asked};
use super::book::Phase;
use super::end::End;
use super::facts::{Fact as RoadmapFact, RetryKind};
use super::ladder;
use super::opening;
use super::plane::{ControllerStage, Plane, RoundStage, UpdateStatus};
use super::rounds;
use super::state::State;
use super::steps::{CaptureWork, PlaneStep, RoundWork, WriteState};
use super::updates;
use crate::draft::Draft;
use crate::effect::{CloseRun, Effect};
use crate::fact::Fact;
use crate::protocol::Protocol;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// # Panics
/// Never: this loop's code is only reached by runs of this loop.
pub(super) fn state(draft: &Draft) -> &State {
    match draft.protocol() {
        Protocol::RoadmapRounds(state) => state,
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_) => {
            unreachable!("a roadmap loop's step in another loop")
        }
    }
}

pub(super) fn record(draft: &mut Draft, fact: RoadmapFact) {
    draft.record(Fact::RoadmapRounds(fact));
}

pub(super) fn conclude(draft: &mut Draft, end: End) {
    if state(draft).end.is_none() {
        record(draft, RoadmapFact::Concluded { end });
    }
}

pub(crate) fn go_on(draft: &mut Draft) {
    loop {
        match next(draft) {
            Next::Decided(fact) => record(draft, *fact),
            Next::Ask(effect) => match draft.exhausted() {
                Some(dimension) => conclude(draft, End::Spent { dimension }),
                None => draft.request(*effect),
            },
            Next::Control(effect) => draft.request(*effect),
            Next::Nothing => return,
        }
    }
}

/// One move of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Something follows from what is known without asking anybody.
    Decided(Box<RoadmapFact>),
    /// Costs something, and is not begun once a cap is reached.
    Ask(Box<Effect>),
    /// The controller's own hands: neither a cap nor a request to stop keeps it from leaving the files in order.
    Control(Box<Effect>),
    /// Everything waits for something that is under way.
    Nothing,
}

pub(super) fn decided(fact: RoadmapFact) -> Next {
    Next::Decided(Box::new(fact))
}

pub(super) fn control(effect: impl Into<Effect>) -> Next {
    Next::Control(Box::new(effect.into()))
}

fn next(draft: &Draft) -> Next {
    let state = state(draft);
    if let Some(next) = to_capture(draft) {
        return next;
    }
    if state.is_controlling() {
        return Next::Nothing;
    }
    if let Some(end) = &state.end {
        return wind_up(state, end);
    }
    if !state.prepared {
        return control(Effect::PrepareWorkspaces);
    }
    let Some(plane) = state.plane.as_ref().filter(|_| !state.plane_is_old) else {
        return control(PlaneStep::Read { pass: state.pass });
    };
    if !state.unwritten.is_empty() {
        return control(write(state, plane));
    }
    if let Some(stop) = draft.stop() {
        if state.works_under_way() || !state.in_flight.is_empty() {
            return Next::Nothing;
        }
        let end = End::Stopped { by: stop.by.to_string(), reason: stop.reason.clone() };
        return decided(RoadmapFact::Concluded { end });
    }
    decide(draft, plane)
}

fn write(state: &State, plane: &Plane) -> PlaneStep {
    PlaneStep::WriteState(WriteState { seen: plane.state.clone(), edits: state.unwritten.clone() })
}

/// What an agent left is taken down before anybody looks at it.
fn to_capture(draft: &Draft) -> Option<Next> {
    let state = state(draft);
    let plane = state.plane.as_ref()?;
    state.book.works.iter().find_map(|(work, book)| {
        if !matches!(book.phase, Phase::Left { .. }) {
            return None;
        }
        let work = work.clone();
        let Some((branch, worktree, parent)) = asking::place(plane, &work) else {
            let why = "there is nothing any more to take it down on".to_string();
            let (work, kind) = (Some(work), RetryKind::Failed);
            return Some(decided(RoadmapFact::StepRetried { work, kind, why }));
        };
        let (parent, decided_at) = (book.shown.clone().unwrap_or(parent), draft.now());
        Some(control(PlaneStep::CaptureWork(CaptureWork { work, branch, worktree, parent, decided_at })))
    })
}

/// The order of the startup procedure, for a plane that was read just now and has everything written that is decided.
fn decide(draft: &Draft, plane: &Plane) -> Next {
    let state = state(draft);
    if let Some(why) = &state.stuck {
        if state.works_under_way() || !state.in_flight.is_empty() {
            return Next::Nothing;
        }
        return decided(RoadmapFact::Concluded { end: End::Blocked { why: why.clone() } });
    }
    // Whose round it is goes on from what comes of that.
    if state.book.works.values().any(super::book::Work::is_taken_down_again) {
        return Next::Nothing;
    }
    if let Some(fact) = recovery(state, plane) {
        return decided(fact);
    }
    // A stale `done` goes before anything is begun under it.
    if plane.stage == ControllerStage::Done
        && let Some(fact) = stage(state, plane)
    {
        return decided(fact);
    }
    if let Some(next) = ladder::investigations(draft, plane) {
        return next;
    }
    let mut waiting = Waiting::default();
    if let Some(update) = &plane.update
        && let Some(next) = updates::decide(draft, plane, update, &mut waiting)
    {
        return next;
    }
    for round in &plane.rounds {
        if let Some(next) = rounds::decide(draft, plane, round, &mut waiting) {
            return next;
        }
    }
    if let Some(next) = opening::decide(draft, plane, &mut waiting) {
        return next;
    }
    if let Some(fact) = stage(state, plane) {
        return decided(fact);
    }
    if state.works_under_way() || !state.in_flight.is_empty() {
        return Next::Nothing;
    }
    nothing_moves(draft, plane, waiting)
}

/// Why rounds do not move, collected while all of them are looked at.
#[derive(Default)]
pub(super) struct Waiting {
    /// The first agent that can be asked again.
    pub(super) for_agent: Option<crate::effect::Wait>,
    pub(super) reasons: Vec<String>,
}

impl Waiting {
    pub(super) fn reason(&mut self, why: String) {
        self.reasons.push(why);
    }

    /// Asks, or notes when it can be asked.
    pub(super) fn ask(&mut self, asked: Asked) -> Option<Next> {
        match asked {
            Asked::Now(effect) => Some(Next::Ask(effect)),
            Asked::Later(wait) => {
                let sooner = self.for_agent.as_ref().is_none_or(|known| wait.until < known.until);
                if sooner {
                    self.for_agent = Some(wait);
                }
                None
            }
            Asked::Nobody(why) => Some(decided(why)),
        }
    }
}

/// The stage the state file has to show.
fn stage(state: &State, plane: &Plane) -> Option<RoadmapFact> {
    let (wanted, why) = if plane.update.is_some() {
        (ControllerStage::UpdateRoadmap, "a roadmap update is under way")
    } else if plane.is_complete() {
        (ControllerStage::Done, "every milestone is done and nothing is live")
    } else {
        (ControllerStage::DispatchRounds, "milestones are open or rounds are live")
    };
    let blocked = plane.stage == ControllerStage::Blocked && !state.given_up.is_empty();
    (plane.stage != wanted && !blocked)
        .then(|| RoadmapFact::ControllerSet { stage: wanted, why: why.to_string() })
}

/// Blockage that this run did not run into itself is a position to leave, never a result.
fn recovery(state: &State, plane: &Plane) -> Option<RoadmapFact> {
    let rounds: Vec<(String, RoundStage)> = plane
        .rounds
        .iter()
        .filter(|round| !state.given_up.contains_key(&Some(round.id.clone())))
        .filter(|round| round.stage == RoundStage::Blocked)
        .map(|round| (round.id.clone(), rounds::lawful_position(state, round)))
        .collect();
    let given_up_on_update = state.given_up.contains_key(&None);
    let update = plane.update.as_ref().is_some_and(|update| update.status == UpdateStatus::Blocked);
    let update = update && !given_up_on_update;
    let blocked = plane.stage == ControllerStage::Blocked || !plane.errors.is_empty();
    let ours = !state.given_up.is_empty() || state.stuck.is_some();
    (!rounds.is_empty() || update || (blocked && !ours)).then_some(RoadmapFact::Recovered { rounds, update })
}

fn nothing_moves(draft: &Draft, plane: &Plane, waiting: Waiting) -> Next {
    let state = state(draft);
    if plane.is_complete() && plane.stage == ControllerStage::Done {
        return decided(RoadmapFact::Concluded { end: End::Complete });
    }
    if let Some(wait) = waiting.for_agent {
        return control(Effect::Wait(wait));
    }
    if state.given_up.is_empty() && plane.rounds.is_empty() && state.is_used_up(draft.budget().caps.rounds) {
        return decided(RoadmapFact::Concluded { end: End::RoundsUsed });
    }
    let given_up = state.given_up.iter().map(|(round, why)| match round {
        Some(round) => format!("{round}: {why}"),
        None => format!("the roadmap update: {why}"),
    });
    let mut reasons: Vec<String> = given_up.collect();
    reasons.extend(waiting.reasons);
    let why = if reasons.is_empty() {
        "nothing can go on, and no rule says why".to_string()
    } else {
        reasons.join("; ")
    };
    decided(RoadmapFact::Blocked { round: None, update: false, rejection: None, why })
}

fn wind_up(state: &State, end: &End) -> Next {
    let at_work = state.works_under_way() || !state.in_flight.is_empty();
    match &state.plane {
        _ if at_work => Next::Nothing,
        // What is decided stands in the file before the run is over, unless the file itself is what is wrong.
        Some(_) if state.unwritten.is_empty() || matches!(end, End::NotReady { .. }) => close(state, end),
        // Nor does a file that cannot be had keep the run from being over.
        Some(_) if state.cannot_write() => close(state, end),
        Some(_) if state.plane_is_old => control(PlaneStep::Read { pass: state.pass }),
        Some(plane) => control(write(state, plane)),
        None => close(state, end),
    }
}

fn close(state: &State, end: &End) -> Next {
    control(Effect::CloseRun(CloseRun {
        final_verdict: end.word().to_string(),
        judge_verdict: "not-run".to_string(),
        audit_gate: "not-run".to_string(),
        rounds_completed: u32::try_from(state.merged.len()).unwrap_or(u32::MAX),
    }))
}

/// A round's record in words, for whoever asks why it stands.
pub(super) fn named(work: &RoundWork) -> String {
    format!("{} of {}", work.kind.words(), work.round)
}
