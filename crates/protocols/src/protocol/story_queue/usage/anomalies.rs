//! Stories that cost far more or far less than their epic's average. A sign for a person; it moves nothing.

use super::Change;
use super::vocabulary::{Anomaly, AnomalyKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::vocabulary::{AnomalyId, EpicId, KeyRole, Micros, ProjectId, StoryId};
use crate::protocol::story_queue::webhooks::{self, Event, Payload};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

/// A round of the server, or of whoever asks for what was found. Answers how many are new.
pub fn scan_anomalies(draft: &mut Draft<'_>, project_of: impl Fn(EpicId) -> Option<ProjectId>) -> usize {
    let usage = &draft.ledger().usage;
    let mut suspects = Vec::new();
    for epic in usage.epics_with_costs() {
        let Some(project) = project_of(epic) else { continue };
        let costs: Vec<(StoryId, i64)> = usage.costs_in(epic).filter(|(_, cost)| *cost > 0).collect();
        let sum = costs.iter().fold(0i64, |sum, (_, cost)| sum.saturating_add(*cost));
        let Some(average) = i64::try_from(costs.len()).ok().and_then(|count| sum.checked_div(count)) else {
            continue;
        };
        for (story, cost) in costs {
            let kind = if cost > average.saturating_mul(3) {
                AnomalyKind::HighCost
            } else if cost.saturating_mul(10) < average {
                AnomalyKind::SuspiciouslyLow
            } else {
                continue;
            };
            // What somebody has settled is not found again before it costs something else.
            let settled = usage.anomalies.values().any(|(_, known)| {
                let same = known.story == story && known.kind == kind;
                same && known.resolved && known.story_cost_millicents == cost
            });
            if !settled {
                suspects.push((story, project, kind, (cost, average)));
            }
        }
    }
    suspects
        .into_iter()
        .filter(|(story, project, kind, costs)| found(draft, *story, *project, *kind, *costs))
        .count()
}

/// One unresolved anomaly of a kind per story; true when this is the one.
pub(super) fn found(
    draft: &mut Draft<'_>,
    story: StoryId,
    project: ProjectId,
    kind: AnomalyKind,
    (cost, reference): (i64, i64),
) -> bool {
    if draft.ledger().usage.unresolved(story, kind).is_some() {
        return false;
    }
    let id = AnomalyId(draft.ids().fresh());
    let share = (i128::from(cost) * 1000).checked_div(i128::from(reference)).unwrap_or(0);
    let anomaly = Anomaly {
        id,
        story,
        project,
        kind,
        story_cost_millicents: cost,
        reference_millicents: reference,
        deviation_per_mille: u64::try_from(share).unwrap_or(0),
        resolved: false,
        archived: false,
    };
    draft.record(Some(project), facts::Change::Usage(Change::AnomalyFound(Box::new(anomaly))));
    let payload = Payload::new()
        .text("anomaly_id", &format!("{id}"))
        .text("story_id", &format!("{story}"))
        .text("anomaly_type", kind.name())
        .number("story_cost_millicents", cost)
        .number("reference_cost_millicents", reference);
    webhooks::announce(draft, Event::TokenAnomalyDetected, Some(project), payload);
    true
}

pub fn resolve_anomaly(draft: &mut Draft<'_>, id: AnomalyId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let Some((_, anomaly)) = draft.ledger().usage.anomalies.get(&id) else {
        return Err(Refusal::not_found("cost anomaly"));
    };
    if !anomaly.resolved {
        let project = anomaly.project;
        draft.record(Some(project), facts::Change::Usage(Change::AnomalyResolved { anomaly: id }));
    }
    Ok(())
}

/// Resolved ones found before `before` leave the usual lists.
pub fn archive_anomalies(draft: &mut Draft<'_>, before: Micros) -> usize {
    let old = draft
        .ledger()
        .usage
        .anomalies
        .values()
        .filter(|(at, anomaly)| *at < before && anomaly.resolved && !anomaly.archived);
    let anomalies: Vec<AnomalyId> = old.map(|(_, anomaly)| anomaly.id).collect();
    let count = anomalies.len();
    if count > 0 {
        draft.record(None, facts::Change::Usage(Change::AnomaliesArchived { anomalies }));
    }
    count
}
