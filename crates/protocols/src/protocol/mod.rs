//! The closed list of loops. A sixth one is one folder, one variant here, and the compiler's list of what to add.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange};
use crate::observation::Rejection;
use crate::outcome::{Outcome, Usage};
use crate::run::Run;
use crate::vocabulary::Actor;
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

pub mod judged_task;

/// What a run is asked to do, complete: nothing is looked up after the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spec {
    JudgedTask(Box<judged_task::spec::TaskSpec>),
}

impl Spec {
    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        match self {
            Self::JudgedTask(spec) => spec.validate(),
        }
    }

    pub(crate) fn budget(&self) -> Budget {
        match self {
            Self::JudgedTask(spec) => Budget { caps: spec.caps, used: Usage::default() },
        }
    }
}

/// The state of the loop a run follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    JudgedTask(judged_task::state::State),
}

impl Protocol {
    pub(crate) fn begin(spec: &Spec) -> Self {
        match spec {
            Spec::JudgedTask(spec) => Self::JudgedTask(judged_task::state::State::new((**spec).clone())),
        }
    }

    pub(crate) fn evolve(&mut self, fact: &Fact) {
        match self {
            Self::JudgedTask(state) => state.evolve(fact),
        }
    }
}

/// Requests whatever comes next from the state as it is: at the start, after a decision, after a reopening.
pub(crate) fn go_on(draft: &mut Draft) {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::next::go_on(draft),
    }
}

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::decide::settled(draft, request, outcome),
    }
}

pub(crate) fn may_reopen(run: &Run, caps: CapChange) -> Result<(), Rejection> {
    match run.started.as_ref().map(|started| (&started.protocol, &started.budget)) {
        Some((Protocol::JudgedTask(state), budget)) => judged_task::reopen::allowed(state, budget, caps),
        None => Err(Rejection::NotStarted),
    }
}

pub(crate) fn land(
    draft: &mut Draft,
    by: &Actor,
    landing: &judged_task::spec::Landing,
) -> Result<(), Rejection> {
    match draft.protocol() {
        Protocol::JudgedTask(_) => judged_task::reopen::land(draft, by, landing),
    }
}
