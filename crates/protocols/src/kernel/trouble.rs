//! What an agent's trouble means for any loop: a limit and an outage are waited for or passed to the next of the chain, a
//! wrong key needs a person, a passed cap ends the run. None of them is a word about the work. It knows no loop.

use super::attempts::Attempts;
use super::availability::{FOR_GOOD, MAX_LIMITED, Patience};
use super::budget::Dimension;
use crate::outcome::{AgentReport, StepEnd, Trouble};
use crate::vocabulary::Millis;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// A moment that is told but already here is still a moment to let pass.
const SHORTEST_WAIT: Millis = Millis(1_000);
/// No provider's window is longer; a later moment is a misreading.
const LONGEST_WAIT: Millis = Millis::minutes(31 * 24 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutKind {
    Limited,
    Unavailable,
    Misconfigured,
}

/// Why a step is asked for again; each kind has its own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryKind {
    Lost,
    Failed,
    Interrupted,
}

/// What is known when an agent comes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) attempts: Attempts,
    pub(crate) patience: Patience,
    /// How many agents the role's chain has.
    pub(crate) chain: u32,
    pub(crate) now: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It ended as it should; its answer counts.
    Sound,
    /// The step failed in these words.
    Failed(String),
    /// Not to be asked before that moment.
    Out {
        until: Millis,
        kind: OutKind,
        why: String,
    },
    /// Waiting was tried often enough.
    KeepsFailing(String),
    Exhausted(Dimension),
}

/// Looks at how the agent ended before anybody looks at what it left.
pub(crate) fn treatment(report: &AgentReport, at: Situation) -> Treatment {
    match &report.trouble {
        Some(Trouble::Limited { until, why }) => limited(*until, why, at),
        Some(Trouble::Unavailable { why }) => unavailable(why, at),
        Some(Trouble::Misconfigured { why }) => {
            Treatment::Out { until: FOR_GOOD, kind: OutKind::Misconfigured, why: why.clone() }
        }
        Some(Trouble::CapPassed { dimension }) => match dimension {
            Dimension::StepTokens | Dimension::StepMoney => {
                Treatment::Failed(format!("used up its {dimension} and was ended"))
            }
            Dimension::Rounds
            | Dimension::Minutes
            | Dimension::Tokens
            | Dimension::Money
            | Dimension::OutputBytes
            | Dimension::DayTokens
            | Dimension::DayMoney
            | Dimension::RepositoryTokens
            | Dimension::RepositoryMoney => Treatment::Exhausted(*dimension),
        },
        Some(Trouble::Destructive { command }) => {
            Treatment::Failed(format!("was ended for a destructive command: {command}"))
        }
        Some(Trouble::Failed { why }) => Treatment::Failed(why.clone()),
        None if report.end == (StepEnd::Exited { code: 0 }) => Treatment::Sound,
        None => Treatment::Failed(describe(&report.end)),
    }
}

fn limited(until: Option<Millis>, why: &str, at: Situation) -> Treatment {
    let earlier = at.attempts.limited;
    if earlier >= MAX_LIMITED {
        return Treatment::KeepsFailing(format!("is limited by its provider again and again: {why}"));
    }
    let until = match until {
        Some(until) => until.clamp(later(at.now, SHORTEST_WAIT), later(at.now, LONGEST_WAIT)),
        None => later(at.now, at.patience.after_untold_limit(earlier)),
    };
    Treatment::Out { until, kind: OutKind::Limited, why: why.to_string() }
}

fn unavailable(why: &str, at: Situation) -> Treatment {
    let earlier = at.attempts.unserved;
    let chain = at.chain.max(1);
    if earlier >= at.patience.tries.saturating_mul(chain) {
        return Treatment::KeepsFailing(format!("cannot reach its provider: {why}"));
    }
    let until = later(at.now, at.patience.after_outage(earlier / chain));
    Treatment::Out { until, kind: OutKind::Unavailable, why: why.to_string() }
}

const fn later(now: Millis, delay: Millis) -> Millis {
    Millis(now.0.saturating_add(delay.0))
}

/// Words for a step that ended in another way than it should.
pub(crate) fn describe(end: &StepEnd) -> String {
    match end {
        StepEnd::Exited { code } => format!("exited with {code}"),
        StepEnd::Signaled { signal } => format!("was ended by signal {signal}"),
        StepEnd::TotalLimit => "ran into its time limit".to_string(),
        StepEnd::IdleLimit => "was silent longer than its idle limit".to_string(),
        StepEnd::OutputLimit => "printed more than its output limit".to_string(),
        StepEnd::MemoryLimit => "used more memory than it may".to_string(),
        StepEnd::ProcessLimit => "started more processes than it may".to_string(),
        StepEnd::NotStarted { reason } => format!("could not be started: {reason}"),
    }
}

/// A sentence, and below it what was printed last.
pub(crate) fn with_last_words(sentence: &str, last_words: &str) -> String {
    last_words.lines().fold(sentence.to_string(), |mut text, line| {
        text.push_str("\n    ");
        text.push_str(line);
        text
    })
}
