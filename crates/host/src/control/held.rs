//! What held each step of a run to its own places, as the journal tells it.

use crate::fault::journal_fault;
use std::collections::BTreeMap;
use windlass_control_api::Fault;
use windlass_control_api::views::{HeldStep, SandboxView};
use windlass_engine::Stored;
use windlass_protocols::explain::describe;
use windlass_protocols::kernel::fence::SandboxWish;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{Effect, EffectId, Fact, RunId};

pub(super) fn view(protocol: &Protocol, (id, stored): (&RunId, &[Stored])) -> Result<SandboxView, Fault> {
    let mut asked: BTreeMap<EffectId, String> = BTreeMap::new();
    let mut steps = Vec::new();
    for row in stored {
        match row.fact(id).map_err(journal_fault)? {
            Fact::EffectRequested { effect, request } if starts_something(&request) => {
                asked.insert(effect, describe(&request));
            }
            Fact::EffectSettled { effect, outcome } => {
                steps.extend(asked.remove(&effect).map(|step| HeldStep {
                    step,
                    held_by: outcome.usage().held_by.map_or("", |kind| kind.word()).to_owned(),
                }));
            }
            _ => {}
        }
    }
    let asked = match protocol.place().fence.sandbox {
        SandboxWish::Required => "required",
        SandboxWish::Auto => "auto",
        SandboxWish::Off => "off",
    };
    Ok(SandboxView { asked: asked.to_owned(), steps })
}

const fn starts_something(request: &Effect) -> bool {
    matches!(request, Effect::RunAgent(_) | Effect::RunChecks(_) | Effect::Measure(_) | Effect::RunSuite(_))
}

/// Said where somebody should know: a step that nothing held, though somebody may have counted on it.
pub(super) fn because(view: &SandboxView) -> Option<String> {
    let words = view.words();
    (!words.is_empty())
        .then(|| format!("its agents and checks were held by: {words} (sandbox {})", view.asked))
}
