//! What the end of an agent's step means: its exit code, its words and its usage put together by its dialect, in the
//! words a decision uses. An exit code alone proves nothing.

use super::listen::{Guard, Heard};
use super::step;
use crate::clock::SystemClock;
use crate::context::RunContext;
use std::path::{Path, PathBuf};
use windlass_agent_drivers::{
    Access, AgentChoice, Conclusion, HowItEnded, Limit, RateLimitWait, Reckoning, SessionIds, Totals, driver,
};
use windlass_engine::Clock;
use windlass_process_supervisor::{ChildEnd, EndedBy, HowEnded};
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::{AgentSession, Count, Price, TokenKinds, Told, Trouble, Usage};
use windlass_protocols::{EffectId, Millis};

/// An agent's step that has ended, as far as its own words tell.
pub(super) struct Ended {
    pub(super) usage: Usage,
    pub(super) trouble: Option<Trouble>,
    pub(super) session: Option<AgentSession>,
    pub(super) model: Option<String>,
    /// An answer that was spoken rather than left in the outbox.
    pub(super) spoken: Option<String>,
    /// The last thing it said, for people; absent where its output is no event stream.
    pub(super) last_message: Option<String>,
}

/// Where a program leaves its usage that tells it nowhere else.
pub(super) fn usage_file(directory: &Path) -> PathBuf {
    directory.join("told").join("usage.json")
}

/// The id of a conversation that has to be known even if the agent is killed before it says one.
pub(super) fn own_session_id(context: &RunContext, choice: &AgentChoice, effect: EffectId) -> Option<String> {
    if driver::capabilities(choice).session_ids != SessionIds::Ours {
        return None;
    }
    let digest = crate::evidence::digest(format!("session {}/{effect}", context.run).as_bytes());
    let hex = digest.as_str();
    // The form of a random UUID (version 4, variant 1); it is as unique as its run and step.
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    Some(format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30)))
}

pub(super) fn read(
    context: &RunContext,
    choice: &AgentChoice,
    (effect, asked): (EffectId, &RunAgent),
    end: &ChildEnd,
    directory: &Path,
) -> Ended {
    let before = asked.session.as_ref().map(|session| totals_of(&session.so_far));
    let heard = Heard::of(choice, directory, &usage_file(directory), before);
    let model = heard.model().or(choice.model()).map(str::to_owned);
    let totals = heard.tally.totals();
    let priced = |totals: &Totals| {
        let names = [model.as_deref(), choice.model(), Some(choice.kind())];
        context.prices.cost_micros(totals, &names)
    };
    let cost = priced(&totals);
    let told = told(cost, driver::reckon(choice, &how_it_ended(end), &heard.signals));
    let usage = Usage { told, ..spent(&totals, cost.unwrap_or(0), step::usage(end, asked.limits)) };
    let resumed = asked.session.as_ref().map(|session| session.id.clone());
    let session = heard.session().map(str::to_owned).or(resumed);
    let session = session.or_else(|| own_session_id(context, choice, effect)).map(|id| {
        let so_far = heard.tally.session();
        AgentSession { id, so_far: spent(&so_far, so_far.cost_micros.unwrap_or(0), Usage::default()) }
    });
    let trouble = match step::ended_for(end, directory) {
        Some(trouble) => Some(trouble),
        None => heard
            .destroyed(Guard::of(&context.spec))
            .or_else(|| trouble(choice, end, &heard))
            .or_else(|| (cost.is_none() && totals.tokens() > 0).then(|| unpriced(context, choice)).flatten()),
    };
    let access = if asked.role.may_write() { Access::ReadWrite } else { Access::ReadOnly };
    Ended {
        usage,
        trouble,
        // Only one that can be gone on with is worth remembering.
        session: session.filter(|_| driver::capabilities(choice).resume),
        model,
        spoken: driver::spoken_answer(choice, access, &heard.signals),
        last_message: matches!(choice, AgentChoice::Known { .. } | AgentChoice::Acp { .. })
            .then(|| windlass_agent_drivers::final_message(&heard.signals).unwrap_or_default()),
    }
}

/// A cap on money that cannot be counted would be no cap.
fn unpriced(context: &RunContext, choice: &AgentChoice) -> Option<Trouble> {
    let caps = context.spec.caps();
    let money = [caps.cost_micros, caps.step.cost_micros, caps.day.cost_micros, caps.repository.cost_micros];
    let kind = choice.kind();
    money.iter().any(Option::is_some).then(|| Trouble::Misconfigured {
        why: format!(
            "told its tokens and no price, so the cap on money cannot be kept; add the price of `{kind}` to the \
             setting `prices`, or cap tokens instead"
        ),
    })
}

fn told(cost: Option<u64>, reckoning: Reckoning) -> Told {
    Told {
        price: if cost == Some(0) { Price::Free } else { Price::AsAmount },
        count: match reckoning {
            Reckoning::All => Count::All,
            Reckoning::AtLeast => Count::AtLeast,
        },
    }
}

fn spent(totals: &Totals, cost_micros: u64, measured: Usage) -> Usage {
    Usage {
        tokens: totals.tokens(),
        cost_micros,
        kinds: TokenKinds {
            input: totals.input,
            cached: totals.cached,
            output: totals.output,
            reasoning: totals.reasoning,
        },
        ..measured
    }
}

pub(super) fn totals_of(usage: &Usage) -> Totals {
    Totals {
        input: usage.kinds.input,
        cached: usage.kinds.cached,
        output: usage.kinds.output,
        reasoning: usage.kinds.reasoning,
        cost_micros: Some(usage.cost_micros).filter(|cost| *cost > 0 || usage.told.price == Price::Free),
    }
}

fn trouble(choice: &AgentChoice, end: &ChildEnd, heard: &Heard) -> Option<Trouble> {
    let dialect = matches!(choice, AgentChoice::Known { .. } | AgentChoice::Acp { .. });
    match driver::conclude(choice, &how_it_ended(end), &heard.signals) {
        Conclusion::RateLimited { wait } => {
            let until = match wait {
                RateLimitWait::Untold => None,
                RateLimitWait::ForMs(delay) => Some(Millis(SystemClock.now().0.saturating_add(delay))),
                RateLimitWait::UntilMs(moment) => Some(Millis(moment)),
            };
            let why = heard.last_error().unwrap_or("its provider's limit is reached").to_owned();
            Some(Trouble::Limited { until, why })
        }
        Conclusion::Unavailable { reason } => Some(Trouble::Unavailable { why: reason }),
        Conclusion::Misconfigured { reason, hint } => {
            Some(Trouble::Misconfigured { why: format!("{}; {hint}", without_subject(&reason)) })
        }
        // A program without a dialect has said all with its exit code; one that says more is believed when it says no.
        Conclusion::Failed { reason, .. } | Conclusion::CutOff { reason } if dialect || end.is_success() => {
            Some(Trouble::Failed { why: after_subject(&reason) })
        }
        Conclusion::Finished
        | Conclusion::Failed { .. }
        | Conclusion::CutOff { .. }
        | Conclusion::Stopped { .. }
        | Conclusion::NotStarted { .. }
        | Conclusion::Lost { .. } => None,
    }
}

/// The loop puts the role's name in front, and a program's own words are no verb to it.
fn after_subject(reason: &str) -> String {
    reason.strip_prefix("the agent ").map_or_else(|| format!("failed: {reason}"), str::to_owned)
}

fn without_subject(reason: &str) -> &str {
    reason.strip_prefix("the agent ").unwrap_or(reason)
}

fn how_it_ended(end: &ChildEnd) -> HowItEnded {
    match (&end.how, end.ended_by) {
        (HowEnded::Lost { reason }, _) => HowItEnded::Lost { reason: reason.clone() },
        (HowEnded::NotStarted { reason, .. }, _) => HowItEnded::NotStarted { reason: reason.clone() },
        (_, Some(by)) => HowItEnded::Stopped {
            by: match by {
                EndedBy::TotalLimit => Limit::TotalTime,
                EndedBy::IdleLimit => Limit::IdleTime,
                EndedBy::OutputLimit => Limit::OutputBytes,
                EndedBy::MemoryLimit => Limit::Memory,
                EndedBy::ProcessLimit => Limit::Processes,
                EndedBy::StopRequest => Limit::StopRequest,
            },
        },
        (HowEnded::Exited { code }, None) => HowItEnded::Exited { code: *code },
        (HowEnded::Signaled { signal }, None) => HowItEnded::Signaled { signal: *signal },
    }
}
