//! What a row yields, and whether that meets its goal.

use std::time::Duration;

use serde_json::{Value, json};

use super::medians::Medians;
use crate::stopwatch::readable;

/// What must hold. Ratios are to the floor measured in the same run, because machines differ and are noisy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    RatioAtMost(f64),
    TimeBelow(Duration),
    CountAtMost(u64),
    /// Shown, not judged: there is no promise behind it.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    Time(Duration),
    Count(u64),
}

/// Our way, and the same work done by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    pub measured: Quantity,
    pub floor: Option<Quantity>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchVerdict {
    Met,
    Missed,
    /// No goal, or nothing to hold it against.
    NotJudged,
}

impl Measurement {
    /// Two times, as [`super::interleaved`] gives them.
    pub fn of_times(medians: Medians) -> Self {
        Self { measured: Quantity::Time(medians.ours), floor: Some(Quantity::Time(medians.floor)) }
    }

    pub fn ratio(&self) -> Option<f64> {
        let floor = self.floor?.number();
        (floor > 0.0).then(|| self.measured.number() / floor)
    }

    pub fn verdict(&self, goal: Goal) -> BenchVerdict {
        let met = match (goal, self.measured) {
            (Goal::RatioAtMost(limit), _) => self.ratio().map(|ratio| ratio <= limit),
            (Goal::TimeBelow(limit), Quantity::Time(time)) => Some(time < limit),
            (Goal::CountAtMost(limit), Quantity::Count(count)) => Some(count <= limit),
            _ => None,
        };
        match met {
            Some(true) => BenchVerdict::Met,
            Some(false) => BenchVerdict::Missed,
            None => BenchVerdict::NotJudged,
        }
    }
}

impl Quantity {
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^53")]
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Count(count) => count as f64,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Time(time) => readable(time),
            Self::Count(count) => count.to_string(),
        }
    }

    pub(super) fn json(self) -> Value {
        match self {
            Self::Time(time) => json!({ "nanoseconds": u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) }),
            Self::Count(count) => json!({ "count": count }),
        }
    }
}

impl Goal {
    pub(super) fn text(self) -> String {
        match self {
            Self::RatioAtMost(limit) => format!("≤ {limit}×"),
            Self::TimeBelow(limit) => format!("< {}", readable(limit)),
            Self::CountAtMost(limit) => format!("≤ {limit}"),
            Self::None => String::new(),
        }
    }
}

impl BenchVerdict {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::NotJudged => "not judged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::times;

    #[test]
    fn goals_are_met_at_their_limit_and_missed_beyond() {
        assert_eq!(times(20, 10).verdict(Goal::RatioAtMost(2.0)), BenchVerdict::Met);
        assert_eq!(times(21, 10).verdict(Goal::RatioAtMost(2.0)), BenchVerdict::Missed);
        assert_eq!(times(999, 0).verdict(Goal::TimeBelow(Duration::from_secs(1))), BenchVerdict::Met);
        assert_eq!(times(1_000, 0).verdict(Goal::TimeBelow(Duration::from_secs(1))), BenchVerdict::Missed);
        let count = Measurement { measured: Quantity::Count(7), floor: None };
        assert_eq!(count.verdict(Goal::CountAtMost(6)), BenchVerdict::Missed);
        assert_eq!(count.verdict(Goal::RatioAtMost(2.0)), BenchVerdict::NotJudged);
        assert_eq!(times(1, 0).verdict(Goal::RatioAtMost(2.0)), BenchVerdict::NotJudged);
    }
}
