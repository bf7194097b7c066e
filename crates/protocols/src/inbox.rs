//! Which runs wait for a person, what they wait with, and what can be said to them. Data only; a face decides how it looks.

use crate::protocol::{Protocol, feedback_control, goal_contract, judged_task, roadmap_rounds};
use crate::run::{Run, TakenOver};
use crate::vocabulary::TreeId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub question: Question,
    /// Why a person is asked, in one sentence.
    pub cause: String,
    /// What was said that led there.
    pub said: Vec<String>,
    /// The content the run waits with, where it waits with one.
    pub tree: Option<TreeId>,
    /// One line for each of the last passes.
    pub tried: Vec<String>,
    pub suggestion: String,
    /// Every way on, the likeliest first.
    pub commands: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What to do now.
    Answer,
    /// Where an accepted change is to go.
    Landing,
    /// Yes or no to exactly what is proposed.
    Approval,
    /// Whether to go on.
    GoOn,
    /// The work a person took over is to come back.
    HandBack,
}

impl Question {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Landing => "landing",
            Self::Approval => "approval",
            Self::GoOn => "go-on",
            Self::HandBack => "hand-back",
        }
    }
}

/// Nothing while somebody works on the run, when it ended in a way nobody has to look at, and once it was dismissed.
pub fn waiting(run: &Run) -> Option<Waiting> {
    let started = run.started.as_ref().filter(|_| run.ended && !run.dismissed)?;
    let id = started.id.as_str();
    let asked = match &started.protocol {
        Protocol::JudgedTask(state) => judged_task::inbox::waiting(run, state, id),
        Protocol::FeedbackControl(state) => feedback_control::inbox::waiting(run, state, id),
        Protocol::GoalContract(state) => goal_contract::inbox::waiting(run, state, id),
        Protocol::RoadmapRounds(state) => roadmap_rounds::inbox::waiting(run, state, id),
    };
    match &run.taken_over {
        Some(taken) => Some(in_hand(taken, asked, id)),
        None => asked,
    }
}

fn in_hand(taken: &TakenOver, before: Option<Waiting>, id: &str) -> Waiting {
    let (said, tried) = before.map(|before| (before.said, before.tried)).unwrap_or_default();
    Waiting {
        question: Question::HandBack,
        cause: format!("{} took the work over on {}", taken.by, taken.branch),
        said,
        tree: None,
        tried,
        suggestion: "hand the work back when it is done: it is checked and judged like anybody's".to_string(),
        commands: alloc::vec![
            format!("windlass hand-back {id}"),
            format!("windlass hand-back {id} --discard"),
        ],
    }
}

/// What an approval has to name: the content of an accepted change, or what a goal loop proposes.
pub fn approvable(run: &Run) -> Option<TreeId> {
    match &run.started.as_ref().filter(|_| run.ended)?.protocol {
        Protocol::JudgedTask(state) => state.change.as_ref().map(|change| change.tree.clone()),
        Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
        Protocol::GoalContract(state) => goal_contract::inbox::proposed(state),
    }
}

/// What follows `windlass resume RUN` in a command: the room the run needs to go on.
pub(crate) fn room(resume: &str, id: &str) -> String {
    resume.strip_prefix(&format!("windlass resume {id}")).unwrap_or_default().to_string()
}
