//! How the world of one seed behaves: each role and step has a leaning, so that rows of the same misfortune happen
//! often enough to reach the ends that need them.

use crate::choices::Choices;
use crate::control::plant::Moving;
use crate::goal::works::Building;
use crate::profile::Loop;
use windlass_protocols::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaning {
    Mixed,
    Good,
    Failing,
    Unreadable,
    AskingForPeople,
    /// Its provider is limited or out of order.
    Unserved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capturing {
    Mixed,
    SameAgain,
    Refusing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Temper {
    doer: Leaning,
    judge: Leaning,
    auditor: Leaning,
    pub(crate) capturing: Capturing,
    /// Answers get lost one after the other.
    pub(crate) losing: bool,
    /// Only landings get lost: without this, a run that loses much never comes so far.
    pub(crate) losing_landings: bool,
    /// Steps use up so much that caps are reached.
    pub(crate) wasteful: bool,
    /// What the actuators of a control loop do to the plant.
    pub(crate) moving: Moving,
    /// What the builders of a goal loop do to the content.
    pub(crate) building: Building,
}

impl Temper {
    pub(crate) fn draw(choices: &mut Choices, of: Loop) -> Self {
        let leaning = [
            (6, Leaning::Mixed),
            (4, Leaning::Good),
            (1, Leaning::Failing),
            (1, Leaning::Unreadable),
            (1, Leaning::AskingForPeople),
            (1, Leaning::Unserved),
        ];
        Self {
            doer: choices.weighted(&leaning),
            judge: choices.weighted(&leaning),
            auditor: choices.weighted(&leaning),
            capturing: choices.weighted(&[
                (10, Capturing::Mixed),
                (1, Capturing::SameAgain),
                (1, Capturing::Refusing),
            ]),
            losing: choices.once_in(12),
            losing_landings: choices.once_in(10),
            wasteful: choices.once_in(3),
            moving: match of {
                Loop::JudgedTask | Loop::GoalContract | Loop::RoadmapRounds => Moving::Mixed,
                Loop::FeedbackControl => Moving::draw(choices),
            },
            building: match of {
                Loop::JudgedTask | Loop::FeedbackControl | Loop::RoadmapRounds => Building::Mixed,
                Loop::GoalContract => Building::draw(choices),
            },
        }
    }

    pub(crate) fn of(self, role: Role) -> Leaning {
        match role {
            Role::Doer | Role::Actuator | Role::Builder | Role::Implementer => self.doer,
            Role::Judge | Role::Controller | Role::Evaluator | Role::Reviewer => self.judge,
            Role::Auditor | Role::Sensor | Role::Planner | Role::Investigator => self.auditor,
        }
    }
}
