//! What an agent's trouble means for the loop: a limit and an outage are waited for or passed to the next of the chain, a
//! wrong key needs a person, a passed cap ends the run. None of them is a word about the work.

use super::end::{Cause, End};
use super::facts::{Fact as TaskFact, OutKind};
use super::next::{describe, record, state};
use crate::draft::Draft;
use crate::kernel::availability::{Available, FOR_GOOD, MAX_LIMITED};
use crate::kernel::budget::Dimension;
use crate::outcome::{AgentReport, StepEnd, Trouble};
use crate::vocabulary::Millis;
use alloc::format;
use alloc::string::String;

/// A moment that is told but already here is still a moment to let pass.
const SHORTEST_WAIT: Millis = Millis(1_000);
/// No provider's window is longer; a later moment is a misreading.
const LONGEST_WAIT: Millis = Millis::minutes(31 * 24 * 60);

pub(super) enum Treated {
    /// Everything there is to say was recorded.
    Done,
    /// The step failed in these words.
    Failed(String),
    /// It ended as it should; its answer counts.
    Sound,
}

/// Looks at how the agent ended before anybody looks at what it left.
pub(super) fn treat(draft: &mut Draft, report: &AgentReport) -> Treated {
    match &report.trouble {
        Some(Trouble::Limited { until, why }) => limited(draft, report, *until, why),
        Some(Trouble::Unavailable { why }) => unavailable(draft, report, why),
        Some(Trouble::Misconfigured { why }) => misconfigured(draft, report, why),
        Some(Trouble::CapPassed { dimension }) => match dimension {
            Dimension::StepTokens | Dimension::StepMoney => {
                Treated::Failed(format!("used up its {dimension} and was ended"))
            }
            Dimension::Rounds
            | Dimension::Minutes
            | Dimension::Tokens
            | Dimension::Money
            | Dimension::OutputBytes
            | Dimension::DayTokens
            | Dimension::DayMoney
            | Dimension::RepositoryTokens
            | Dimension::RepositoryMoney => {
                record(draft, TaskFact::Concluded { end: End::Exhausted { dimension: *dimension } });
                Treated::Done
            }
        },
        Some(Trouble::Failed { why }) => Treated::Failed(why.clone()),
        None if report.end == (StepEnd::Exited { code: 0 }) => Treated::Sound,
        None => Treated::Failed(describe(&report.end)),
    }
}

fn limited(draft: &mut Draft, report: &AgentReport, until: Option<Millis>, why: &str) -> Treated {
    let state = state(draft);
    let earlier = state.attempts.limited;
    if earlier >= MAX_LIMITED {
        return keeps_failing(draft, report, format!("is limited by its provider again and again: {why}"));
    }
    let soonest = later(draft.now(), SHORTEST_WAIT);
    let until = match until {
        Some(until) => until.clamp(soonest, later(draft.now(), LONGEST_WAIT)),
        None => later(draft.now(), state.spec.patience.after_untold_limit(earlier)),
    };
    out(draft, report, until, OutKind::Limited, why);
    Treated::Done
}

fn unavailable(draft: &mut Draft, report: &AgentReport, why: &str) -> Treated {
    let state = state(draft);
    let (earlier, patience) = (state.attempts.unserved, state.spec.patience);
    let chain = u32::try_from(state.spec.place.chain(report.role).count()).unwrap_or(1).max(1);
    if earlier >= patience.tries.saturating_mul(chain) {
        return keeps_failing(draft, report, format!("cannot reach its provider: {why}"));
    }
    let until = later(draft.now(), patience.after_outage(earlier / chain));
    out(draft, report, until, OutKind::Unavailable, why);
    Treated::Done
}

/// Another agent of the chain may do without a person; the last one may not.
fn misconfigured(draft: &mut Draft, report: &AgentReport, why: &str) -> Treated {
    out(draft, report, FOR_GOOD, OutKind::Misconfigured, why);
    let state = state(draft);
    let chain = state.spec.place.chain(report.role);
    if state.availability.choose(chain, draft.now()) == Available::Never {
        let cause = Cause::AgentNotStarted { role: report.role, reason: why.into() };
        record(draft, TaskFact::Concluded { end: End::NeedsHuman { cause } });
    }
    Treated::Done
}

fn keeps_failing(draft: &mut Draft, report: &AgentReport, why: String) -> Treated {
    let cause = Cause::AgentKeepsFailing { role: report.role, why };
    record(draft, TaskFact::Concluded { end: End::NeedsHuman { cause } });
    Treated::Done
}

fn out(draft: &mut Draft, report: &AgentReport, until: Millis, kind: OutKind, why: &str) {
    let role = report.role;
    let state = state(draft);
    let asked = state.session.as_ref().filter(|last| last.role == role).map(|last| last.agent.as_str());
    // A record from before there were chains names no agent in its requests.
    let agent = asked.or_else(|| state.spec.place.chain(role).next()).unwrap_or_default().into();
    record(draft, TaskFact::AgentOut { role, agent, until, kind, why: why.into() });
}

const fn later(now: Millis, delay: Millis) -> Millis {
    Millis(now.0.saturating_add(delay.0))
}
