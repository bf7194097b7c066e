//! What the kernel says of an agent's trouble, in the words of a task loop.

use super::end::{Cause, End};
use super::facts::{Fact as TaskFact, OutKind};
use super::next::{record, state};
use crate::draft::Draft;
use crate::kernel::availability::Available;
use crate::kernel::trouble::{Situation, Treatment, treatment};
use crate::outcome::AgentReport;
use crate::vocabulary::Millis;
use alloc::string::String;

pub(super) enum Treated {
    /// Everything there is to say was recorded.
    Done,
    /// The step failed in these words.
    Failed(String),
    /// It ended as it should; its answer counts.
    Sound,
}

pub(super) fn treat(draft: &mut Draft, report: &AgentReport) -> Treated {
    let state = state(draft);
    let situation = Situation {
        attempts: state.attempts,
        patience: state.spec.patience,
        chain: u32::try_from(state.spec.place.chain(report.role).count()).unwrap_or(1),
        now: draft.now(),
    };
    match treatment(report, situation) {
        Treatment::Sound => return Treated::Sound,
        Treatment::Failed(why) => return Treated::Failed(why),
        Treatment::Out { until, kind, why } => out(draft, report, until, kind, why),
        Treatment::KeepsFailing(why) => {
            let cause = Cause::AgentKeepsFailing { role: report.role, why };
            record(draft, TaskFact::Concluded { end: End::NeedsHuman { cause } });
        }
        Treatment::Exhausted(dimension) => {
            record(draft, TaskFact::Concluded { end: End::Exhausted { dimension } });
        }
    }
    Treated::Done
}

fn out(draft: &mut Draft, report: &AgentReport, until: Millis, kind: OutKind, why: String) {
    let role = report.role;
    let before = state(draft);
    let asked = before.session.as_ref().filter(|last| last.role == role).map(|last| last.agent.as_str());
    // A record from before there were chains names no agent in its requests.
    let agent = asked.or_else(|| before.spec.place.chain(role).next()).unwrap_or_default().into();
    record(draft, TaskFact::AgentOut { role, agent, until, kind, why: why.clone() });
    let state = state(draft);
    // Another agent of the chain may do without a person; the last one may not.
    if kind == OutKind::Misconfigured
        && state.availability.choose(state.spec.place.chain(role), draft.now()) == Available::Never
    {
        let cause = Cause::AgentNotStarted { role, reason: why };
        record(draft, TaskFact::Concluded { end: End::NeedsHuman { cause } });
    }
}
