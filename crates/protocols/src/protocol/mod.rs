//! The closed list of loops. A sixth one is one folder, one variant here, and the compiler's list of what to add.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange, Caps};
use crate::kernel::person::Word;
use crate::kernel::place::Place;
use crate::observation::Rejection;
use crate::outcome::{Outcome, Usage};
use crate::run::Run;
use crate::vocabulary::{Actor, TaskId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use feedback_control::facts::NewLimits;
use serde::{Deserialize, Serialize};

pub mod feedback_control;
pub mod goal_contract;
pub mod judged_task;
pub mod roadmap_rounds;
pub mod story_queue;

/// What a run is asked to do, complete: nothing is looked up after the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spec {
    JudgedTask(Box<judged_task::spec::TaskSpec>),
    FeedbackControl(Box<feedback_control::spec::ControlSpec>),
    GoalContract(Box<goal_contract::spec::GoalSpec>),
    RoadmapRounds(Box<roadmap_rounds::spec::RoadmapSpec>),
}

impl Spec {
    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        match self {
            Self::JudgedTask(spec) => spec.validate(),
            Self::FeedbackControl(spec) => spec.validate(),
            Self::GoalContract(spec) => spec.validate(),
            Self::RoadmapRounds(spec) => spec.validate(),
        }
    }

    pub(crate) fn budget(&self) -> Budget {
        match self {
            Self::JudgedTask(spec) => Budget { caps: spec.caps, used: Usage::default() },
            Self::FeedbackControl(spec) => Budget { caps: spec.caps, used: Usage::default() },
            Self::GoalContract(spec) => Budget { caps: spec.caps, used: Usage::default() },
            Self::RoadmapRounds(spec) => Budget { caps: spec.caps, used: Usage::default() },
        }
    }

    /// What every loop has.
    pub fn place(&self) -> &Place {
        match self {
            Self::JudgedTask(spec) => &spec.place,
            Self::FeedbackControl(spec) => &spec.place,
            Self::GoalContract(spec) => &spec.place,
            Self::RoadmapRounds(spec) => &spec.place,
        }
    }

    pub fn place_mut(&mut self) -> &mut Place {
        match self {
            Self::JudgedTask(spec) => &mut spec.place,
            Self::FeedbackControl(spec) => &mut spec.place,
            Self::GoalContract(spec) => &mut spec.place,
            Self::RoadmapRounds(spec) => &mut spec.place,
        }
    }

    pub fn task(&self) -> &TaskId {
        match self {
            Self::JudgedTask(spec) => &spec.task,
            Self::FeedbackControl(spec) => &spec.task,
            Self::GoalContract(spec) => &spec.task,
            Self::RoadmapRounds(spec) => &spec.task,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::JudgedTask(spec) => &spec.text,
            Self::FeedbackControl(spec) => &spec.text,
            Self::GoalContract(spec) => &spec.text,
            Self::RoadmapRounds(spec) => &spec.text,
        }
    }

    pub fn caps(&self) -> &Caps {
        match self {
            Self::JudgedTask(spec) => &spec.caps,
            Self::FeedbackControl(spec) => &spec.caps,
            Self::GoalContract(spec) => &spec.caps,
            Self::RoadmapRounds(spec) => &spec.caps,
        }
    }
}

/// The state of the loop a run follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    JudgedTask(Box<judged_task::state::State>),
    FeedbackControl(Box<feedback_control::state::State>),
    GoalContract(Box<goal_contract::state::State>),
    RoadmapRounds(Box<roadmap_rounds::state::State>),
}

impl Protocol {
    pub fn place(&self) -> &Place {
        match self {
            Self::JudgedTask(state) => &state.spec.place,
            Self::FeedbackControl(state) => &state.spec.place,
            Self::GoalContract(state) => &state.spec.place,
            Self::RoadmapRounds(state) => &state.spec.place,
        }
    }

    pub fn task(&self) -> &TaskId {
        match self {
            Self::JudgedTask(state) => &state.spec.task,
            Self::FeedbackControl(state) => &state.spec.task,
            Self::GoalContract(state) => &state.spec.task,
            Self::RoadmapRounds(state) => &state.spec.task,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::JudgedTask(state) => &state.spec.text,
            Self::FeedbackControl(state) => &state.spec.text,
            Self::GoalContract(state) => &state.spec.text,
            Self::RoadmapRounds(state) => &state.spec.text,
        }
    }

    /// What the run was asked to do, as it is to be done now.
    pub fn spec(&self) -> Spec {
        match self {
            Self::JudgedTask(state) => Spec::JudgedTask(Box::new(state.spec.clone())),
            Self::FeedbackControl(state) => Spec::FeedbackControl(Box::new(state.spec.clone())),
            Self::GoalContract(state) => Spec::GoalContract(Box::new(state.spec.clone())),
            Self::RoadmapRounds(state) => Spec::RoadmapRounds(Box::new(state.spec.clone())),
        }
    }

    /// Rounds or iterations so far; of a control loop those of its outermost node.
    pub fn round(&self) -> u32 {
        match self {
            Self::JudgedTask(state) => state.round,
            Self::FeedbackControl(state) => state.stack.first().map_or(0, |frame| frame.iteration),
            Self::GoalContract(state) => state.iteration,
            Self::RoadmapRounds(state) => state.opened,
        }
    }

    pub(crate) fn begin(spec: &Spec) -> Self {
        match spec {
            Spec::JudgedTask(spec) => {
                Self::JudgedTask(Box::new(judged_task::state::State::new((**spec).clone())))
            }
            Spec::FeedbackControl(spec) => {
                Self::FeedbackControl(Box::new(feedback_control::state::State::new((**spec).clone())))
            }
            Spec::GoalContract(spec) => {
                Self::GoalContract(Box::new(goal_contract::state::State::new((**spec).clone())))
            }
            Spec::RoadmapRounds(spec) => {
                Self::RoadmapRounds(Box::new(roadmap_rounds::state::State::new((**spec).clone())))
            }
        }
    }

    pub(crate) fn evolve(&mut self, fact: &Fact) {
        match self {
            Self::JudgedTask(state) => state.evolve(fact),
            Self::FeedbackControl(state) => state.evolve(fact),
            Self::GoalContract(state) => state.evolve(fact),
            Self::RoadmapRounds(state) => state.evolve(fact),
        }
    }
}

/// Requests whatever comes next from the state as it is: at the start, after a decision, after a reopening.
pub(crate) fn go_on(draft: &mut Draft) {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::next::go_on(draft),
        Protocol::FeedbackControl(_) => feedback_control::next::go_on(draft),
        Protocol::GoalContract(_) => goal_contract::next::go_on(draft),
        Protocol::RoadmapRounds(_) => roadmap_rounds::next::go_on(draft),
    }
}

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::decide::settled(draft, request, outcome),
        Protocol::FeedbackControl(_) => feedback_control::decide::settled(draft, request, outcome),
        Protocol::GoalContract(_) => goal_contract::decide::settled(draft, request, outcome),
        Protocol::RoadmapRounds(_) => roadmap_rounds::decide::settled(draft, request, outcome),
    }
}

pub(crate) fn may_reopen(run: &Run, caps: CapChange, limits: &NewLimits) -> Result<(), Rejection> {
    match run.started.as_ref().map(|started| (&started.protocol, &started.budget)) {
        Some((Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_), _))
            if *limits != NewLimits::default() =>
        {
            let why = "patience and iterations are limits of a control loop".to_string();
            Err(Rejection::InvalidSpec { why })
        }
        Some((Protocol::JudgedTask(state), budget)) => judged_task::reopen::allowed(state, budget, caps),
        Some((Protocol::FeedbackControl(state), budget)) => {
            feedback_control::reopen::allowed(state, budget, caps, limits)
        }
        Some((Protocol::GoalContract(state), budget)) => {
            goal_contract::person::may_reopen(state, budget, caps)
        }
        Some((Protocol::RoadmapRounds(state), budget)) => {
            roadmap_rounds::person::may_reopen(state, budget, caps)
        }
        None => Err(Rejection::NotStarted),
    }
}

pub(crate) fn take_limits(draft: &mut Draft, limits: &NewLimits) {
    if *limits != NewLimits::default() {
        let limits = limits.clone();
        draft.record(Fact::FeedbackControl(feedback_control::facts::Fact::LimitsChanged { limits }));
    }
}

pub(crate) fn land(
    draft: &mut Draft,
    by: &Actor,
    landing: &judged_task::spec::Landing,
) -> Result<(), Rejection> {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::reopen::land(draft, by, landing),
        Protocol::FeedbackControl(state) => {
            let branch = &state.spec.place.doer_branch;
            let why = format!("a control loop leaves its commits on {branch}; merge that");
            Err(Rejection::NothingToLand { why })
        }
        Protocol::GoalContract(state) => {
            let branch = &state.spec.place.doer_branch;
            let why = format!("a goal loop leaves its commits on {branch}; merge that");
            Err(Rejection::NothingToLand { why })
        }
        Protocol::RoadmapRounds(state) => {
            let branch = &state.spec.place.doer_branch;
            let why = format!("a roadmap loop merges its rounds into {branch} itself");
            Err(Rejection::NothingToLand { why })
        }
    }
}

/// A person's word to a run nobody works on.
pub(crate) fn person_said(draft: &mut Draft, by: &Actor, word: &Word) -> Result<(), Rejection> {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::person::said(draft, by, word),
        Protocol::FeedbackControl(_) => feedback_control::reopen::person_said(draft, by, word),
        Protocol::GoalContract(_) => goal_contract::person::said(draft, by, word),
        Protocol::RoadmapRounds(_) => roadmap_rounds::person::said(draft, by, word),
    }
}
