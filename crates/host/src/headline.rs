//! A run in one line, kept beside its facts so that a list of ten thousand runs need not fold any of them.

use serde::{Deserialize, Serialize};
use windlass_control_api::views::{LoopKind, RunLine, Status};
use windlass_engine::RunHead;
use windlass_protocols::Run;
use windlass_protocols::explain::explain;
use windlass_protocols::inbox::waiting;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::end::End as ControlEnd;
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::goal_contract::end::{Cap, End as GoalEnd, NotReady};
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::roadmap_rounds::end::End as RoadmapEnd;

/// The wording of `now`. Raised whenever a sentence about a state changes, so that a line written before the change is
/// not taken for a forged one.
const WORDING: u32 = 3;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Headline {
    task: String,
    repository: String,
    common_dir: String,
    run_dir: String,
    /// Absent while it is under way.
    end: Option<String>,
    now: String,
    round: u32,
    rounds: u32,
    /// Lines of the first versions do not tell; they are of task loops.
    #[serde(default)]
    kind: LoopKind,
    /// Whether it waits for a person; lines of the first versions do not tell.
    #[serde(default)]
    waits: Option<bool>,
    /// Which wording `now` has; lines of the first versions do not tell.
    #[serde(default)]
    wording: u32,
}

/// Whether a stored line says of a run what its facts say, in whatever words it said so at its time.
pub(crate) fn agrees(stored: &str, run: &Run) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Headline>(text).ok();
    match (parsed(stored), parsed(&of(run))) {
        (Some(stored), Some(mut expected)) => {
            if stored.wording != expected.wording {
                expected.now.clone_from(&stored.now);
                expected.wording = stored.wording;
                expected.waits = stored.waits.and(expected.waits);
            }
            stored == expected
        }
        _ => stored == of(run),
    }
}

pub(crate) fn of(run: &Run) -> String {
    let Some(started) = &run.started else { return "{}".to_owned() };
    let place = started.protocol.place();
    let (round, rounds) = rounds(run);
    let headline = Headline {
        task: started.protocol.task().to_string(),
        repository: place.repository.clone(),
        common_dir: place.common_dir.clone(),
        run_dir: place.run_dir.clone(),
        end: status_of(run).map(|status| status.word().to_owned()),
        now: explain(run).now,
        round,
        rounds,
        kind: match started.protocol {
            Protocol::JudgedTask(_) => LoopKind::Task,
            Protocol::FeedbackControl(_) => LoopKind::Control,
            Protocol::GoalContract(_) => LoopKind::Goal,
            Protocol::RoadmapRounds(_) => LoopKind::Roadmap,
        },
        waits: Some(waiting(run).is_some()),
        wording: WORDING,
    };
    serde_json::to_string(&headline).unwrap_or_default()
}

pub(crate) fn rounds(run: &Run) -> (u32, u32) {
    match &run.started {
        Some(started) => {
            let cap = match &started.protocol {
                // The contract caps; before it was read nobody knows.
                Protocol::GoalContract(state) => Some(state.limits().map_or(0, |limits| limits.iterations)),
                Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
            };
            (started.protocol.round(), cap.unwrap_or(started.budget.caps.rounds))
        }
        None => (0, 0),
    }
}

/// The label of the iteration a control or goal loop is in.
pub(crate) fn iteration(run: &Run) -> Option<String> {
    match &run.started.as_ref()?.protocol {
        Protocol::FeedbackControl(state) => state.frame().map(Frame::label),
        Protocol::GoalContract(state) => {
            state.open.as_ref().map(|open| format!("{} ({})", open.number, open.item))
        }
        Protocol::RoadmapRounds(state) => {
            let live: Vec<&str> = state.book.rounds.keys().map(String::as_str).collect();
            (!live.is_empty()).then(|| live.join(", "))
        }
        Protocol::JudgedTask(_) => None,
    }
}

/// How an ended run ended.
pub(crate) fn status_of(run: &Run) -> Option<Status> {
    let started = run.started.as_ref().filter(|_| run.ended)?;
    Some(match &started.protocol {
        Protocol::JudgedTask(state) => match state.end.as_ref()? {
            End::Accepted { .. } => Status::Accepted,
            End::Rejected { .. } => Status::Rejected,
            End::NeedsHuman { .. } => Status::NeedsHuman,
            End::Exhausted { .. } => Status::Exhausted,
            End::Stopped { .. } => Status::Stopped,
            End::SetupFailed { .. } => Status::Failed,
        },
        Protocol::FeedbackControl(state) => match state.end.as_ref()? {
            ControlEnd::Complete => Status::Accepted,
            // Its last word was no, as in a task loop without rounds.
            ControlEnd::Exhausted { dimension: Dimension::Rounds } => Status::Rejected,
            ControlEnd::Exhausted { .. } => Status::Exhausted,
            ControlEnd::Stalled { .. } | ControlEnd::NeedsHuman { .. } => Status::NeedsHuman,
            ControlEnd::Stopped { .. } => Status::Stopped,
            ControlEnd::SetupFailed { .. } => Status::Failed,
        },
        Protocol::GoalContract(state) => match state.end.as_ref()? {
            GoalEnd::Success | GoalEnd::AsAsked { .. } => Status::Accepted,
            GoalEnd::HardKill { cap: Cap::Destructive { .. } }
            | GoalEnd::Escalated { .. }
            | GoalEnd::AwaitsApproval { .. }
            | GoalEnd::Paused { .. } => Status::NeedsHuman,
            GoalEnd::HardKill { .. } => Status::Exhausted,
            GoalEnd::Stopped { .. } => Status::Stopped,
            GoalEnd::NotReady { why: NotReady::RedBaseline { .. } } => Status::RedBaseline,
            GoalEnd::NotReady { .. } => Status::Failed,
        },
        Protocol::RoadmapRounds(state) => match state.end.as_ref()? {
            RoadmapEnd::Complete | RoadmapEnd::RoundsUsed => Status::Accepted,
            RoadmapEnd::Blocked { .. } => Status::NeedsHuman,
            // In the middle it rests until a person mended the files.
            RoadmapEnd::NotReady { .. } if state.plane.is_some() => Status::NeedsHuman,
            RoadmapEnd::Spent { .. } => Status::Exhausted,
            RoadmapEnd::Stopped { .. } => Status::Stopped,
            RoadmapEnd::NotReady { .. } => Status::Failed,
        },
    })
}

/// `driven` says whether some process drives the run now.
pub(crate) fn line(head: &RunHead, driven: bool) -> RunLine {
    let headline: Option<Headline> = serde_json::from_str(&head.headline).ok();
    let headline = headline.unwrap_or(Headline {
        task: String::new(),
        repository: String::new(),
        common_dir: String::new(),
        run_dir: String::new(),
        end: None,
        now: "its line cannot be read".to_owned(),
        round: 0,
        rounds: 0,
        kind: LoopKind::default(),
        waits: None,
        wording: WORDING,
    });
    let ended = headline.end.as_deref().and_then(status_from_word);
    let status = ended.unwrap_or(if driven { Status::Running } else { Status::Interrupted });
    RunLine {
        waits: headline.waits.unwrap_or(status == Status::NeedsHuman),
        run: head.run.to_string(),
        task: headline.task,
        status,
        now: headline.now,
        kind: headline.kind,
        round: headline.round,
        rounds: (headline.rounds != u32::MAX).then_some(headline.rounds),
        started_at_ms: head.started_at.0,
        updated_at_ms: head.updated_at.0,
        repository: headline.repository,
        run_dir: headline.run_dir,
    }
}

pub(crate) fn common_dir(head: &RunHead) -> Option<String> {
    serde_json::from_str::<Headline>(&head.headline).ok().map(|headline| headline.common_dir)
}

fn status_from_word(word: &str) -> Option<Status> {
    const ENDS: [Status; 7] = [
        Status::Accepted,
        Status::Rejected,
        Status::NeedsHuman,
        Status::Exhausted,
        Status::Stopped,
        Status::Failed,
        Status::RedBaseline,
    ];
    ENDS.into_iter().find(|status| status.word() == word)
}
