//! Everything that is journaled, and the only thing that is stored. Changes are additive: new variants, new optional
//! fields; a journal written by any released version is read for ever.

use crate::effect::Effect;
use crate::kernel::budget::CapChange;
use crate::kernel::person::Word;
use crate::outcome::Outcome;
use crate::protocol::{Spec, feedback_control, goal_contract, judged_task, roadmap_rounds, story_queue};
use crate::vocabulary::{Actor, EffectId, Millis, RunId};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The version in the first fact of a run; raised when the meaning of a stored fact changes.
pub const FACT_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", content = "data", rename_all = "kebab-case")]
pub enum Fact {
    RunStarted {
        version: u32,
        run: RunId,
        spec: Spec,
        by: Actor,
    },
    EffectRequested {
        effect: EffectId,
        request: Effect,
    },
    EffectSettled {
        effect: EffectId,
        outcome: Outcome,
    },
    StopAsked {
        by: Actor,
        reason: String,
    },
    RunReopened {
        by: Actor,
        caps: CapChange,
        note: Option<String>,
    },
    /// A person wants the accepted change of an ended run landed there.
    LandingAsked {
        by: Actor,
        landing: judged_task::spec::Landing,
    },
    /// A person answered. Whether the run goes on by that is the loop's own fact.
    PersonSaid {
        by: Actor,
        word: Word,
    },
    JudgedTask(judged_task::facts::Fact),
    FeedbackControl(feedback_control::facts::Fact),
    GoalContract(goal_contract::facts::Fact),
    RoadmapRounds(roadmap_rounds::facts::Fact),
    /// An entry of a tenant's ledger, which is a stream of its own: no run holds one.
    StoryQueue(story_queue::facts::EntryText),
    RunEnded,
}

/// A fact with its moment, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub at: Millis,
    pub fact: Fact,
}

impl Fact {
    /// For logs and headings.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run-started",
            Self::EffectRequested { .. } => "effect-requested",
            Self::EffectSettled { .. } => "effect-settled",
            Self::StopAsked { .. } => "stop-asked",
            Self::RunReopened { .. } => "run-reopened",
            Self::LandingAsked { .. } => "landing-asked",
            Self::PersonSaid { .. } => "person-said",
            Self::JudgedTask(fact) => fact.name(),
            Self::FeedbackControl(fact) => fact.name(),
            Self::GoalContract(fact) => fact.name(),
            Self::RoadmapRounds(fact) => fact.name(),
            Self::StoryQueue(_) => "story-queue",
            Self::RunEnded => "run-ended",
        }
    }
}
