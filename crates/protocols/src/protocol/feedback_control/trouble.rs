//! What the kernel says of an agent's trouble, in the words of a control loop.

use super::end::{Cause, End};
use super::facts::{Fact as ControlFact, OutKind};
use super::next::{fail, record, spent_share, state};
use crate::draft::Draft;
use crate::kernel::availability::Available;
use crate::kernel::trouble::{Situation, Treatment, treatment};
use crate::outcome::AgentReport;
use crate::vocabulary::Role;
use alloc::string::String;

pub(super) enum Treated {
    Done,
    Failed(String),
    Sound,
}

pub(super) fn treat(draft: &mut Draft, report: &AgentReport) -> Treated {
    let role = report.role;
    let before = state(draft);
    let situation = Situation {
        attempts: before.attempts,
        patience: before.spec.patience,
        chain: u32::try_from(before.spec.place.chain(role).count()).unwrap_or(1),
        now: draft.now(),
    };
    match treatment(report, situation) {
        Treatment::Sound => return Treated::Sound,
        Treatment::Failed(why) => return Treated::Failed(why),
        Treatment::KeepsFailing(why) => fail(draft, Cause::AgentKeepsFailing { role, why }),
        // Ended for its node's share, not for the run's: `go_on` ends the node. What measures a step has no share to keep to.
        Treatment::Exhausted(_)
            if role != Role::Sensor && draft.exhausted().is_none() && spent_share(before).is_some() => {}
        Treatment::Exhausted(dimension) => {
            record(draft, ControlFact::Concluded { end: End::Exhausted { dimension } });
        }
        Treatment::Out { until, kind, why } => {
            let asked = before.session.as_ref().filter(|last| last.role == role);
            let agent = asked.map(|last| last.agent.clone()).unwrap_or_default();
            record(draft, ControlFact::AgentOut { role, agent, until, kind, why: why.clone() });
            let state = state(draft);
            let chain = state.spec.place.chain(role);
            if kind == OutKind::Misconfigured
                && state.availability.choose(chain, draft.now()) == Available::Never
            {
                fail(draft, Cause::AgentNotStarted { role, reason: why });
            }
        }
    }
    Treated::Done
}
