//! What a run may use up and what it has used up. Both are folded from facts, so a restart can reset neither.

use crate::effect::StepLimits;
use crate::outcome::Usage;
use crate::vocabulary::Millis;
use core::fmt;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    Rounds,
    Minutes,
    Tokens,
    Money,
    OutputBytes,
    /// Of one step.
    StepTokens,
    StepMoney,
    /// Of all runs of one day.
    DayTokens,
    DayMoney,
    /// Of all runs on one repository.
    RepositoryTokens,
    RepositoryMoney,
}

impl Dimension {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Minutes => "minutes",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::OutputBytes => "output bytes",
            Self::StepTokens => "tokens for one step",
            Self::StepMoney => "money for one step",
            Self::DayTokens => "tokens for one day",
            Self::DayMoney => "money for one day",
            Self::RepositoryTokens => "tokens for this repository",
            Self::RepositoryMoney => "money for this repository",
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// `None` means: no cap in this dimension. Rounds always have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    pub rounds: u32,
    pub time: Option<Millis>,
    pub tokens: Option<u64>,
    pub cost_micros: Option<u64>,
    pub output_bytes: Option<u64>,
    /// No single step may run longer than this, whatever is left for the run.
    pub step_time: Millis,
    /// No single step may be silent longer than this.
    pub step_idle: Option<Millis>,
    /// What one agent may spend in one step.
    #[serde(default, skip_serializing_if = "Spend::is_uncapped")]
    pub step: Spend,
    /// What all runs together may spend in one day; measured by the host, which knows the other runs.
    #[serde(default, skip_serializing_if = "Spend::is_uncapped")]
    pub day: Spend,
    /// What all runs on this repository may spend together, ever.
    #[serde(default, skip_serializing_if = "Spend::is_uncapped")]
    pub repository: Spend,
}

/// A cap on what agents cost. `None` means: no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    #[serde(default)]
    pub tokens: Option<u64>,
    #[serde(default)]
    pub cost_micros: Option<u64>,
}

impl Spend {
    pub const fn is_uncapped(&self) -> bool {
        self.tokens.is_none() && self.cost_micros.is_none()
    }
}

/// More room for a run that is taken up again. Caps only ever grow: nothing a person adds can shorten a running step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapChange {
    pub more_rounds: u32,
    pub more_time: Millis,
    pub more_tokens: u64,
    pub more_cost_micros: u64,
    pub more_output_bytes: u64,
}

impl CapChange {
    /// What two people gave one after the other.
    pub(crate) fn add(&mut self, other: Self) {
        self.more_rounds = self.more_rounds.saturating_add(other.more_rounds);
        self.more_time = Millis(self.more_time.0.saturating_add(other.more_time.0));
        self.more_tokens = self.more_tokens.saturating_add(other.more_tokens);
        self.more_cost_micros = self.more_cost_micros.saturating_add(other.more_cost_micros);
        self.more_output_bytes = self.more_output_bytes.saturating_add(other.more_output_bytes);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub caps: Caps,
    pub used: Usage,
}

impl Budget {
    pub fn charge(&mut self, usage: Usage) {
        self.used.duration = Millis(self.used.duration.0.saturating_add(usage.duration.0));
        self.used.output_bytes = self.used.output_bytes.saturating_add(usage.output_bytes);
        self.used.spend(&usage);
    }

    pub fn extend(&mut self, more: CapChange) {
        self.caps.rounds = self.caps.rounds.saturating_add(more.more_rounds);
        grow(&mut self.caps.tokens, more.more_tokens);
        grow(&mut self.caps.cost_micros, more.more_cost_micros);
        grow(&mut self.caps.output_bytes, more.more_output_bytes);
        if let Some(time) = &mut self.caps.time {
            *time = Millis(time.0.saturating_add(more.more_time.0));
        }
    }

    /// The first dimension with nothing left; rounds are counted by the loop itself.
    pub fn exhausted(&self) -> Option<Dimension> {
        let reached = |used: u64, cap: Option<u64>| cap.is_some_and(|cap| used >= cap);
        if reached(self.used.duration.0, self.caps.time.map(|time| time.0)) {
            Some(Dimension::Minutes)
        } else if reached(self.used.tokens, self.caps.tokens) {
            Some(Dimension::Tokens)
        } else if reached(self.used.cost_micros, self.caps.cost_micros) {
            Some(Dimension::Money)
        } else if reached(self.used.output_bytes, self.caps.output_bytes) {
            Some(Dimension::OutputBytes)
        } else {
            None
        }
    }

    /// Forgets the cap of one dimension, to see which other one is reached.
    pub(crate) fn lift(&mut self, dimension: Dimension) {
        match dimension {
            // Not caps of the run itself: the loop counts rounds, a step has its own, the host adds up the others.
            Dimension::Rounds
            | Dimension::StepTokens
            | Dimension::StepMoney
            | Dimension::DayTokens
            | Dimension::DayMoney
            | Dimension::RepositoryTokens
            | Dimension::RepositoryMoney => {}
            Dimension::Minutes => self.caps.time = None,
            Dimension::Tokens => self.caps.tokens = None,
            Dimension::Money => self.caps.cost_micros = None,
            Dimension::OutputBytes => self.caps.output_bytes = None,
        }
    }

    /// What one step may use: its own limits, or less where the run has less left.
    pub fn step_limits(&self) -> StepLimits {
        let left = |used: u64, cap: u64| cap.saturating_sub(used);
        let total = match self.caps.time {
            Some(time) => self.caps.step_time.0.min(left(self.used.duration.0, time.0)),
            None => self.caps.step_time.0,
        };
        StepLimits {
            total: Millis(total),
            idle: self.caps.step_idle,
            output_bytes: self.caps.output_bytes.map(|cap| left(self.used.output_bytes, cap)),
            tokens: self.caps.tokens.map(|cap| left(self.used.tokens, cap)),
            cost_micros: self.caps.cost_micros.map(|cap| left(self.used.cost_micros, cap)),
        }
    }
}

fn grow(cap: &mut Option<u64>, more: u64) {
    if let Some(cap) = cap {
        *cap = cap.saturating_add(more);
    }
}
