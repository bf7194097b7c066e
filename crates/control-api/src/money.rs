//! What agents used: tokens and money, as they are asked for, counted and shown. A price nobody told is never nothing.

use serde::Serialize;
use std::path::PathBuf;

/// One unit of the currency.
pub const MICROS: u64 = 1_000_000;

/// Tokens and money of some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Steps of agents that have ended.
    pub steps: u64,
    /// All tokens: input and output.
    pub tokens: u64,
    /// Cached ones included.
    pub input: u64,
    pub cached: u64,
    /// Reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// Millionths of the currency's unit, of all steps whose price is known.
    pub cost_micros: u64,
    /// Tokens of steps whose price nobody told; what they cost is in no sum.
    pub unpriced_tokens: u64,
    /// Steps that ended before they had told all their tokens: where there are any, every sum here is "at least".
    pub cut_off_steps: u64,
}

impl Spent {
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            tokens: self.tokens.saturating_add(other.tokens),
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
            cut_off_steps: self.cut_off_steps.saturating_add(other.cut_off_steps),
        }
    }

    /// A fair share of it, rounded up: what is shown must not be less than what was paid. `None` of nobody.
    pub const fn shared_by(self, count: u64) -> Option<Self> {
        if count == 0 {
            return None;
        }
        Some(Self {
            steps: self.steps.div_ceil(count),
            tokens: self.tokens.div_ceil(count),
            input: self.input.div_ceil(count),
            cached: self.cached.div_ceil(count),
            output: self.output.div_ceil(count),
            reasoning: self.reasoning.div_ceil(count),
            cost_micros: self.cost_micros.div_ceil(count),
            unpriced_tokens: self.unpriced_tokens.div_ceil(count),
            cut_off_steps: self.cut_off_steps.div_ceil(count),
        })
    }
}

/// `windlass cost`.
#[derive(Clone, Debug, Default)]
pub struct AskCost {
    /// One run; every run of the repository, or of the machine, if absent.
    pub run: Option<String>,
    pub repository: Option<PathBuf>,
    pub by: CostBy,
    /// Milliseconds since 1970; steps that ended before are left out.
    pub since_ms: u64,
}

/// What the rows of a cost report stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBy {
    #[default]
    Run,
    Role,
    Agent,
    Model,
    Day,
}

#[derive(Clone, Debug, Serialize)]
pub struct CostReport {
    pub by: CostBy,
    pub rows: Vec<CostRow>,
    pub total: Spent,
    /// Runs in which an agent's step ended.
    pub runs: u64,
    /// Those of them whose change was accepted.
    pub accepted: u64,
    /// Everything that was spent, also on runs that came to nothing, for each accepted task; absent while there is none.
    pub per_accepted: Option<Spent>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// The run, role, agent, model or day.
    pub name: String,
    /// The task, in a report by run; empty else.
    pub task: String,
    pub spent: Spent,
    pub runs: u64,
    pub accepted: u64,
}

/// A decimal amount with up to six places, in millionths.
pub fn micros(text: &str) -> Option<u64> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || places.len() > 6 || !digits(whole) || !digits(places) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let places: u64 = format!("{places:0<6}").parse().ok()?;
    whole.checked_mul(MICROS)?.checked_add(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_and_nobody_has_none() {
        let spent = Spent { tokens: 10, cost_micros: 7, ..Spent::default() };
        let share = spent.shared_by(3).unwrap();
        assert_eq!((share.tokens, share.cost_micros, share.unpriced_tokens), (4, 3, 0));
        assert_eq!(spent.shared_by(0), None);
    }

    #[test]
    fn amounts_are_decimal_numbers_with_up_to_six_places() {
        assert_eq!(micros("0"), Some(0));
        assert_eq!(micros("1.5"), Some(1_500_000));
        assert_eq!(micros("0.000001"), Some(1));
        for wrong in ["", ".", ".5", "1,5", "-1", "1.0000001", "1e3", " 1", "99999999999999999999"] {
            assert_eq!(micros(wrong), None, "{wrong:?}");
        }
    }
}
