//! Everything that can reach a run from outside, and the ways in which it can be refused.

use crate::kernel::budget::CapChange;
use crate::kernel::person::Word;
use crate::outcome::Outcome;
use crate::protocol::Spec;
use crate::protocol::feedback_control::facts::NewLimits;
use crate::vocabulary::{Actor, EffectId, Millis, RunId, TreeId};
use alloc::string::String;
use core::fmt;

/// An observation with the moment and the actor; the only door through which time enters a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped<T> {
    pub at: Millis,
    pub by: Actor,
    pub body: T,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Somebody asks for this run. The spec names everything; nothing is looked up later.
    Start { run: RunId, spec: Spec },
    /// An effect came to its end, or is known to never come to one.
    EffectFinished { effect: EffectId, outcome: Outcome },
    /// Somebody wants the run to end as soon as nothing is under way.
    StopRequested { reason: String },
    /// Somebody takes an ended run up again, with more room or a word for the maker. The limits are a control loop's own.
    Reopened { caps: CapChange, note: Option<String>, limits: NewLimits },
    /// Somebody wants the accepted change landed after all, or again after a refusal.
    LandingRequested { landing: crate::protocol::judged_task::spec::Landing },
    /// Somebody answers a run that waits for a person.
    PersonSaid { word: Word },
}

/// Not allowed now. Plain data: nothing was changed and nothing is wrong with us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    AlreadyStarted,
    NotStarted,
    /// A late, doubled or fenced-off answer.
    NotUnsettled {
        effect: EffectId,
    },
    /// The outcome is not one this effect can have.
    OutcomeDoesNotFit {
        effect: EffectId,
    },
    AlreadyEnded,
    NotEnded,
    /// The run ended in a way that leaves nothing to take up.
    NothingToReopen {
        why: String,
    },
    NothingToLand {
        why: String,
    },
    InvalidSpec {
        why: String,
    },
    /// A person's word that the run does not wait for.
    NotAsked {
        why: String,
    },
    /// A person has the work in hand.
    TakenOver {
        by: Actor,
        branch: String,
    },
    /// An approval names one tree and the run waits with another.
    OtherTree {
        named: TreeId,
        waits: TreeId,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyStarted => f.write_str("the run has started already"),
            Self::NotStarted => f.write_str("the run has not started"),
            Self::NotUnsettled { effect } => write!(f, "effect {effect} is not waiting for an answer"),
            Self::OutcomeDoesNotFit { effect } => write!(f, "this outcome does not answer effect {effect}"),
            Self::AlreadyEnded => f.write_str("the run has ended"),
            Self::NotEnded => f.write_str("the run has not ended"),
            Self::NothingToReopen { why } => write!(f, "nothing to take up again: {why}"),
            Self::NothingToLand { why } => write!(f, "nothing to land: {why}"),
            Self::InvalidSpec { why } => write!(f, "the run cannot be started: {why}"),
            Self::NotAsked { why } => write!(f, "the run does not wait for that: {why}"),
            Self::TakenOver { by, branch } => {
                write!(f, "{by} took the work over on {branch} and has not handed it back")
            }
            Self::OtherTree { named, waits } => {
                write!(f, "the run waits with tree {waits}, not with tree {named}")
            }
        }
    }
}

impl core::error::Error for Rejection {}
