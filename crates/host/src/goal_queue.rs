//! The goal loop's files, once read, as the queue that decisions work with. It reads no file: a run has them from its
//! newest commit and the checkout, a look before any run from the checkout alone, and both must come to the same.

use windlass_artifact_formats::goal_loop::{
    Autonomy as Level, Caps, Contract, DesignDocument, Feature, FeatureList, ItemStatus, OnBlocked, Priority,
    RunLog,
};
use windlass_protocols::Millis;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Design, Item, Limits, Queue, Status};

/// Without the sealed sources, which only a run has.
pub(crate) fn queue(contract: &Contract, features: &FeatureList, caps: &Caps, items: Vec<Item>) -> Queue {
    let in_scope = features.items().filter(|feature| contract.scope.contains(&feature.id));
    let not_enforced = contract.not_enforced();
    let mut notices: Vec<String> =
        not_enforced.iter().map(|sentence| format!("{NOT_ENFORCED}{sentence}")).collect();
    notices.extend(contract.notes.iter().cloned());
    Queue {
        scope: in_scope.map(|feature| feature.id.to_string()).collect(),
        items,
        autonomy: match contract.autonomy {
            Level::L1 => Autonomy::L1,
            Level::L2 => Autonomy::L2,
            Level::L3 => Autonomy::L3,
        },
        limits: limits(caps),
        parks: contract.on_blocked == OnBlocked::GoOn,
        sources: Vec::new(),
        notices,
    }
}

/// What a notice about a sentence of the contract begins with that no machine holds to.
pub(crate) const NOT_ENFORCED: &str = "not enforced: ";

pub(crate) fn item(feature: &Feature, log: Option<&RunLog>, design: Option<&DesignDocument>) -> Item {
    let approved = feature.design_status.as_deref() == Some("approved");
    let designed_paths = design.is_some_and(|design| !design.files.is_empty());
    Item {
        id: feature.id.to_string(),
        name: feature.name.clone(),
        priority: match feature.priority {
            Priority::Given(value) => Some(thousandths(value)),
            Priority::Unstated => None,
        },
        status: status(feature.status),
        dependencies: feature.dependencies.iter().map(ToString::to_string).collect(),
        criteria: u32::try_from(feature.acceptance_criteria.len()).unwrap_or(u32::MAX),
        paths_stated: designed_paths || !feature.affected_files.is_empty() || !feature.location.is_empty(),
        risky: feature.risk.as_deref() == Some("high"),
        design: match (design, approved) {
            (Some(_), true) => Design::Approved,
            (Some(_), false) => Design::Draft,
            (None, _) => Design::None,
        },
        passed_before: log.is_some_and(|log| log.passes(&feature.id).next().is_some()),
    }
}

fn limits(caps: &Caps) -> Limits {
    Limits {
        iterations: caps.iterations,
        commits: caps.commits,
        rework: caps.rework_per_item,
        time: Some(Millis::minutes(caps.wall_clock_minutes.into())),
        tokens: caps.tokens,
        cost_micros: caps.cost_micros.and_then(|cost| u64::try_from(cost).ok()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a priority beyond the range is as good as its end")]
fn thousandths(value: f64) -> i64 {
    (value * 1000.0).round() as i64
}

const fn status(status: ItemStatus) -> Status {
    match status {
        ItemStatus::NotStarted => Status::NotStarted,
        ItemStatus::InProgress => Status::InProgress,
        ItemStatus::Complete => Status::Complete,
        ItemStatus::NeedsRework => Status::NeedsRework,
        ItemStatus::Blocked => Status::Blocked,
        ItemStatus::Existing => Status::Existing,
        ItemStatus::Cancelled => Status::Cancelled,
    }
}
