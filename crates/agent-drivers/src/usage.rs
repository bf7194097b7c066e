//! Adds up what an agent says it used, so that a cap can end it in mid-turn and nothing is counted twice.
//! Knows how reports overlap, not who makes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::signal::{Signal, UsageScope};

/// Figures of one reply, one program run or one conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// All input tokens, cached ones included.
    pub input: u64,
    pub cached: u64,
    /// All output tokens, reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// Millionths of the currency; `None` where nobody told a price.
    pub cost_micros: Option<u64>,
}

impl Totals {
    pub const fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    fn combine(self, other: Self, by: fn(u64, u64) -> u64) -> Self {
        Self {
            input: by(self.input, other.input),
            cached: by(self.cached, other.cached),
            output: by(self.output, other.output),
            reasoning: by(self.reasoning, other.reasoning),
            cost_micros: match (self.cost_micros, other.cost_micros) {
                (Some(mine), Some(theirs)) => Some(by(mine, theirs)),
                (mine, theirs) => mine.or(theirs),
            },
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// The larger of each figure: two reports of the same thing, of which the later knows more.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        self.combine(other, u64::max)
    }

    /// What came on top of `earlier`. A total never shrinks; one that says so counts as nothing new.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cost_micros: self.cost_micros.map(|cost| cost.saturating_sub(earlier.cost_micros.unwrap_or(0))),
            ..self.combine(earlier, u64::saturating_sub)
        }
    }
}

/// What one run of an agent program has used so far, by its own reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageTally {
    /// What earlier runs in the same conversation were counted with.
    before: Totals,
    steps: Totals,
    replies: BTreeMap<String, Totals>,
    process: Totals,
    session: Totals,
}

impl UsageTally {
    /// `before` is the [`Self::session`] of the last run in the conversation that is resumed; `None` for a fresh one.
    pub fn new(before: Option<Totals>) -> Self {
        Self { before: before.unwrap_or_default(), ..Self::default() }
    }

    pub fn hear(&mut self, signal: &Signal) {
        let Signal::Usage { scope, reply, input, cached, output, reasoning, cost_micros } = signal else {
            return;
        };
        let told = Totals {
            input: *input,
            cached: *cached,
            output: *output,
            reasoning: *reasoning,
            cost_micros: *cost_micros,
        };
        match (scope, reply) {
            (UsageScope::Step, None) => self.steps = self.steps.plus(told),
            (UsageScope::Step, Some(reply)) => {
                let known = self.replies.entry(reply.clone()).or_default();
                *known = known.at_least(told);
            }
            (UsageScope::Process, _) => self.process = self.process.at_least(told),
            (UsageScope::Session, _) => self.session = self.session.at_least(told),
        }
    }

    /// This run's figures. A program that reports in several ways speaks of the same tokens more than once, so the
    /// largest report counts.
    pub fn totals(&self) -> Totals {
        let told = self.replies.values().fold(self.steps, |sum, reply| sum.plus(*reply));
        told.at_least(self.process).at_least(self.session.since(self.before))
    }

    pub fn tokens(&self) -> u64 {
        self.totals().tokens()
    }

    /// `None` where the program told no price, which is not the same as free.
    pub fn cost_micros(&self) -> Option<u64> {
        self.totals().cost_micros
    }

    /// The conversation's figures up to now; to be handed to the tally of the run that resumes it.
    pub fn session(&self) -> Totals {
        self.before.plus(self.totals())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(scope: UsageScope, reply: Option<&str>, input: u64, output: u64, cost: Option<u64>) -> Signal {
        Signal::Usage {
            scope,
            reply: reply.map(str::to_owned),
            input,
            cached: input / 2,
            output,
            reasoning: 0,
            cost_micros: cost,
        }
    }

    fn tally(before: Option<Totals>, signals: &[Signal]) -> UsageTally {
        let mut tally = UsageTally::new(before);
        for signal in signals {
            tally.hear(signal);
        }
        tally
    }

    #[test]
    fn steps_add_up() {
        let step = usage(UsageScope::Step, None, 100, 10, Some(7));
        let tally = tally(None, &[step.clone(), step]);
        assert_eq!((tally.tokens(), tally.cost_micros()), (220, Some(14)));
        assert_eq!(tally.totals().cached, 100);
    }

    #[test]
    fn a_reply_that_is_reported_on_every_line_is_counted_once_with_what_the_last_line_knows() {
        let signals = [
            usage(UsageScope::Step, Some("a"), 100, 1, None),
            usage(UsageScope::Step, Some("a"), 100, 40, None),
            usage(UsageScope::Step, Some("a"), 100, 3, None),
            usage(UsageScope::Step, Some("b"), 200, 1, None),
        ];
        assert_eq!(tally(None, &signals[..1]).tokens(), 101);
        assert_eq!(tally(None, &signals).tokens(), 341);
        assert_eq!(tally(None, &signals).cost_micros(), None);
    }

    #[test]
    fn a_closing_total_speaks_of_the_same_tokens_as_the_replies_before_it() {
        let signals = [
            usage(UsageScope::Step, Some("a"), 100, 1, None),
            usage(UsageScope::Step, Some("b"), 200, 1, None),
            usage(UsageScope::Process, None, 300, 90, None),
        ];
        assert_eq!(tally(None, &signals).tokens(), 390);
    }

    #[test]
    fn a_resumed_conversation_is_charged_for_what_is_new() {
        let first = tally(None, &[usage(UsageScope::Session, None, 1000, 100, Some(500))]);
        assert_eq!(first.tokens(), 1100);
        let second = tally(Some(first.session()), &[usage(UsageScope::Session, None, 3000, 250, Some(800))]);
        assert_eq!((second.tokens(), second.cost_micros()), (2150, Some(300)));
        let third = tally(Some(second.session()), &[usage(UsageScope::Session, None, 3100, 260, Some(810))]);
        assert_eq!((third.tokens(), third.cost_micros()), (110, Some(10)));
        assert_eq!(third.session().tokens(), 3360);
    }

    #[test]
    fn tokens_of_the_run_and_cost_of_the_conversation_are_kept_apart() {
        let signals = [
            usage(UsageScope::Process, None, 1000, 100, None),
            usage(UsageScope::Session, None, 0, 0, Some(900)),
        ];
        let before = Totals { input: 5000, output: 500, cost_micros: Some(600), ..Totals::default() };
        let tally = tally(Some(before), &signals);
        assert_eq!((tally.tokens(), tally.cost_micros()), (1100, Some(300)));
        assert_eq!(tally.session().tokens(), 6600);
        assert_eq!(tally.session().cost_micros, Some(900));
    }

    #[test]
    fn nobody_gets_money_back_and_nothing_overflows() {
        let before = Totals { input: 500, cost_micros: Some(600), ..Totals::default() };
        let shrunk = tally(Some(before), &[usage(UsageScope::Session, None, 100, 1, Some(100))]);
        assert_eq!((shrunk.tokens(), shrunk.cost_micros()), (1, Some(0)));
        let huge = usage(UsageScope::Step, None, u64::MAX, u64::MAX, Some(u64::MAX));
        assert_eq!(tally(None, &[huge.clone(), huge]).tokens(), u64::MAX);
    }
}
