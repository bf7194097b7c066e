//! Signs that little was done for a story that was estimated to be much: the lazy score.

use super::state::State;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::vocabulary::StoryId;
use crate::protocol::story_queue::words::words;
use alloc::vec::Vec;

/// What the reports of a story say was done. What was not told counts as nothing done: silence must not look diligent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    pub tokens: i64,
    pub tool_calls: u64,
    pub reasoning_tokens: u64,
    pub tests_run: u64,
}

words! {
    pub enum LazyFactor {
        FewTokens = "few_tokens",
        FewToolCalls = "few_tool_calls",
        LittleReasoning = "little_reasoning",
        NoTests = "no_tests",
        FewTests = "few_tests",
    }
}

impl LazyFactor {
    const fn per_mille(self) -> u32 {
        match self {
            Self::FewTokens => 800,
            Self::FewToolCalls => 900,
            Self::LittleReasoning => 700,
            Self::NoTests => 1000,
            Self::FewTests => 600,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LazyScore {
    pub per_mille: u32,
    pub factors: Vec<LazyFactor>,
}

impl LazyScore {
    pub const fn flagged(&self) -> bool {
        self.per_mille > 700
    }
}

impl State {
    pub fn effort(&self, story: StoryId) -> Effort {
        self.reports_of(story).fold(Effort::default(), |effort, stored| {
            let report = &stored.report;
            let tokens = report.input_tokens.saturating_add(report.output_tokens);
            Effort {
                tokens: effort.tokens.saturating_add(tokens),
                tool_calls: effort.tool_calls.saturating_add(report.tool_call_count.unwrap_or(0).into()),
                reasoning_tokens: effort
                    .reasoning_tokens
                    .saturating_add(report.cot_length_tokens.unwrap_or(0)),
                tests_run: effort.tests_run.saturating_add(report.tests_run_count.unwrap_or(0).into()),
            }
        })
    }
}

/// For the request that a story be reviewed: its score in thousandths, where there is an estimate to hold it against.
pub fn lazy_score_of(ledger: &Ledger, story: StoryId) -> Option<u32> {
    let hours = ledger.plan.story(story)?.estimated_hours?;
    Some(lazy_score(ledger.usage.effort(story), hours.0.into()).per_mille)
}

/// The mean of what was triggered. Up to an hour of estimated work nothing is expected; hours come in hundredths.
pub fn lazy_score(effort: Effort, estimated_hundredths: u64) -> LazyScore {
    if estimated_hundredths <= 100 {
        return LazyScore::default();
    }
    // 20 % of 10,000 tokens an hour is 2,000 an hour, 20 for each hundredth.
    let expected = i64::try_from(estimated_hundredths.saturating_mul(20)).unwrap_or(i64::MAX);
    let tests = match effort.tests_run {
        0 => Some(LazyFactor::NoTests),
        1 | 2 => Some(LazyFactor::FewTests),
        _ => None,
    };
    let factors: Vec<LazyFactor> = [
        (effort.tokens < expected).then_some(LazyFactor::FewTokens),
        (effort.tool_calls < 5).then_some(LazyFactor::FewToolCalls),
        (effort.reasoning_tokens < 100).then_some(LazyFactor::LittleReasoning),
        tests,
    ]
    .into_iter()
    .flatten()
    .collect();
    let sum: u32 = factors.iter().map(|factor| factor.per_mille()).sum();
    let per_mille = u32::try_from(factors.len()).ok().and_then(|count| sum.checked_div(count)).unwrap_or(0);
    LazyScore { per_mille, factors }
}
