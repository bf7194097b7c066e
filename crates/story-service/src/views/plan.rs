//! Projects, epics, stories and dependencies as clients see them.

use crate::asked::{free_json, id_or_null, maybe_moment, moment};
use crate::views::work;
use serde_json::{Map, Value, json};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::plan::{
    CentiHours, Criterion, Dependency, Edge, Epic, Project, Story,
};
use windlass_protocols::protocol::story_queue::vocabulary::StoryId;
use windlass_protocols::protocol::story_queue::work::{
    AgentStatus, Counts, CriterionVerdict, Track, VerifiedStatus,
};

pub(crate) fn project(project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "slug": project.slug,
        "repo_url": project.repo_url,
        "description": project.description,
        "tech_stack": project.tech_stack,
        "mission": project.mission,
        "status": project.status.name(),
        "metadata": free_json(&project.metadata),
        "inserted_at": moment(project.created),
        "updated_at": moment(project.updated),
    })
}

pub(crate) fn epic(epic: &Epic) -> Value {
    json!({
        "id": epic.id,
        "project_id": epic.project,
        "number": epic.number,
        "title": epic.title,
        "description": epic.description,
        "phase": epic.phase,
        "position": epic.position,
        "metadata": free_json(&epic.metadata),
        "inserted_at": moment(epic.created),
        "updated_at": moment(epic.updated),
    })
}

pub(crate) fn story_by_id(ledger: &Ledger, id: StoryId) -> Value {
    ledger.plan.story(id).map_or(Value::Null, |found| story(ledger, found))
}

/// Both tracks beside what is to be done.
pub(crate) fn story(ledger: &Ledger, story: &Story) -> Value {
    let nothing = Track::default();
    let track = ledger.work.track(story.id).unwrap_or(&nothing);
    let agent = |principal: Option<&windlass_protocols::protocol::story_queue::work::Principal>| {
        id_or_null(principal.and_then(|principal| principal.agent))
    };
    json!({
        "id": story.id,
        "project_id": story.project,
        "epic_id": story.epic,
        "epic_number": ledger.plan.epic(story.epic).map(|epic| epic.number),
        "number": story.number.to_string(),
        "title": story.title,
        "description": story.description,
        "acceptance_criteria": criteria(ledger, story),
        "estimated_hours": story.estimated_hours.map(hours),
        "sort_key": story.number.sort_key(),
        "metadata": metadata(story, track),
        "agent_status": track.standing.agent.name(),
        "verified_status": track.standing.verified.name(),
        "assigned_agent_id": id_or_null(track.assigned_agent()),
        "reported_by_agent_id": agent(track.reported_by.as_ref()),
        "assigned_at": maybe_moment(track.assigned_at),
        "review_requested_at": maybe_moment(track.review_requested_at),
        "reported_done_at": maybe_moment(track.reported_done_at),
        "verified_at": maybe_moment(track.verified_at),
        "rejected_at": maybe_moment(track.rejected_at),
        "rejection_reason": track.rejection_reason,
        "implementer_dispatch_id": id_or_null(track.implementer_dispatch),
        "verifier_dispatch_id": id_or_null(track.verifier_dispatch),
        "verifier_needed": track.verifier_needed,
        "quarantined": track.is_quarantined(),
        "iteration_count": track.verifications.len(),
        "inserted_at": moment(story.created),
        "updated_at": moment(story.updated.max(track.updated)),
    })
}

/// What the author attached, with what the queue itself noted.
fn metadata(story: &Story, track: &Track) -> Value {
    let Value::Object(mut metadata) = free_json(&story.metadata) else { return json!({}) };
    if let Some(backfill) = &track.backfill {
        metadata.insert("backfill".into(), work::backfill(backfill));
    }
    if let Some(score) = track.lazy_score {
        metadata.insert("lazy_score".into(), json!(f64::from(score) / 1000.0));
    }
    Value::Object(metadata)
}

/// Each with what was last said of it.
pub(crate) fn criteria(ledger: &Ledger, story: &Story) -> Vec<Value> {
    let track = ledger.work.track(story.id);
    let verdict = |one: &Criterion| track.and_then(|track| track.criteria.get(&one.ac_id));
    story.criteria.iter().map(|one| criterion(one, verdict(one))).collect()
}

pub(crate) fn criterion_of(ledger: &Ledger, story: StoryId, ac_id: &str) -> Value {
    let shown = ledger.plan.story(story).map(|story| criteria(ledger, story)).unwrap_or_default();
    shown.into_iter().find(|one| one["id"] == ac_id).unwrap_or(Value::Null)
}

fn criterion(criterion: &Criterion, verdict: Option<&CriterionVerdict>) -> Value {
    let mut shown = match free_json(&criterion.extra) {
        Value::Object(extra) => extra,
        _ => Map::new(),
    };
    shown.insert("id".into(), json!(criterion.ac_id));
    shown.insert("criterion".into(), json!(criterion.criterion));
    let status = verdict.map_or(criterion.status, |verdict| verdict.status);
    shown.insert("status".into(), json!(status.name()));
    if let Some(verdict) = verdict {
        shown.insert("verified_at".into(), moment(verdict.at));
        shown.insert("verified_by_agent_id".into(), id_or_null(verdict.by.agent));
        shown.insert("verified_by_dispatch_id".into(), id_or_null(verdict.by.lineage.last().copied()));
        shown.insert("evidence_path".into(), json!(verdict.evidence));
    }
    if let Some(verification) = &criterion.verification {
        shown.insert("verification_criterion".into(), free_json(verification));
    }
    Value::Object(shown)
}

pub(crate) fn hours(hours: CentiHours) -> Value {
    json!(f64::from(hours.0) / 100.0)
}

pub(crate) fn dependency(ledger: &Ledger, dependency: &Dependency) -> Value {
    let mut shown = json!({
        "id": dependency.id,
        "project_id": dependency.project,
        "inserted_at": moment(dependency.created),
    });
    let Value::Object(fields) = &mut shown else { return shown };
    match dependency.edge {
        Edge::Story { from, on } => {
            let number = |id| ledger.plan.story(id).map(|story| story.number.to_string());
            fields.insert("story_id".into(), json!(from));
            fields.insert("story_number".into(), json!(number(from)));
            fields.insert("depends_on_story_id".into(), json!(on));
            fields.insert("depends_on_story_number".into(), json!(number(on)));
        }
        Edge::Epic { from, on } => {
            let number = |id| ledger.plan.epic(id).map(|epic| epic.number);
            fields.insert("epic_id".into(), json!(from));
            fields.insert("epic_number".into(), json!(number(from)));
            fields.insert("depends_on_epic_id".into(), json!(on));
            fields.insert("depends_on_epic_number".into(), json!(number(on)));
        }
    }
    shown
}

pub(crate) fn progress(counts: &Counts) -> Map<String, Value> {
    let by = |names: Vec<&'static str>, numbers: &[u32]| -> Value {
        let pairs = names.into_iter().zip(numbers).map(|(name, number)| (name.to_owned(), json!(number)));
        Value::Object(pairs.collect())
    };
    let agent = AgentStatus::ALL.into_iter().map(AgentStatus::name).collect();
    let verified = VerifiedStatus::ALL.into_iter().map(VerifiedStatus::name).collect();
    let mut shown = Map::new();
    shown.insert("total_stories".into(), json!(counts.stories));
    shown.insert("stories_by_agent_status".into(), by(agent, &counts.agent));
    shown.insert("stories_by_verified_status".into(), by(verified, &counts.verified));
    shown.insert("verification_percentage".into(), json!(f64::from(counts.verified_per_mille()) / 10.0));
    shown
}
