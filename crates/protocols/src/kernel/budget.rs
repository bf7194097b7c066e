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
}

impl Dimension {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Minutes => "minutes",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::OutputBytes => "output bytes",
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub caps: Caps,
    pub used: Usage,
}

impl Budget {
    pub fn charge(&mut self, usage: Usage) {
        self.used.duration = Millis(self.used.duration.0.saturating_add(usage.duration.0));
        self.used.output_bytes = self.used.output_bytes.saturating_add(usage.output_bytes);
        self.used.tokens = self.used.tokens.saturating_add(usage.tokens);
        self.used.cost_micros = self.used.cost_micros.saturating_add(usage.cost_micros);
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
            Dimension::Rounds => {}
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
        }
    }
}

fn grow(cap: &mut Option<u64>, more: u64) {
    if let Some(cap) = cap {
        *cap = cap.saturating_add(more);
    }
}
