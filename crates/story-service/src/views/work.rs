//! What was said about work: artifacts, reviews, verdicts, and what could be done next.

use crate::asked::{free_json, id_or_null, moment};
use crate::views::tenancy::lineage;
use serde_json::{Value, json};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, Artifact, Backfill, ReportedBy, Review, Verification,
};

pub(crate) fn artifact(artifact: &Artifact) -> Value {
    let by = match artifact.reported_by {
        ReportedBy::Agent => "agent",
        ReportedBy::Orchestrator => "orchestrator",
    };
    json!({
        "id": artifact.id,
        "story_id": artifact.story,
        "reported_by": by,
        "reporter_agent_id": id_or_null(artifact.reporter),
        "artifact_type": artifact.artifact_type,
        "path": artifact.path,
        "exists": artifact.exists,
        "details": free_json(&artifact.details),
        "inserted_at": moment(artifact.at),
    })
}

pub(crate) fn review(review: &Review) -> Value {
    json!({
        "id": review.id,
        "story_id": review.story,
        "reviewer_agent_id": id_or_null(review.reviewer.agent),
        "reviewer_lineage": lineage(&review.reviewer.lineage),
        "review_type": review.review_type,
        "findings_count": review.findings_count,
        "fixes_count": review.fixes_count,
        "disproved_count": review.disproved_count,
        "summary": review.summary,
        "completed_at": moment(review.completed_at),
        "inserted_at": moment(review.recorded_at),
    })
}

pub(crate) fn verification(verification: &Verification) -> Value {
    json!({
        "id": verification.id,
        "story_id": verification.story,
        "orchestrator_agent_id": id_or_null(verification.verifier.agent),
        "verifier_lineage": lineage(&verification.verifier.lineage),
        "result": verification.result.name(),
        "summary": verification.summary,
        "findings": free_json(&verification.findings),
        "review_type": verification.review_type,
        "commit_sha": verification.commit_sha,
        "iteration": verification.iteration,
        "inserted_at": moment(verification.at),
    })
}

pub(crate) fn backfill(backfill: &Backfill) -> Value {
    json!({
        "reason": backfill.reason,
        "evidence_url": backfill.evidence_url,
        "pr_number": backfill.pr_number,
        "source": "pre_loopctl",
    })
}

pub(crate) fn next_actions(ledger: &Ledger, story: StoryId, role: KeyRole) -> Value {
    let Some(track) = ledger.work.track(story) else { return json!([]) };
    let one = |next: work::NextAction| {
        json!({
            "action": next.action,
            "method": next.method,
            "path": next.path,
            "required_body": next.required_body,
            "preconditions": next.preconditions,
            "link": "/api/v1/openapi",
        })
    };
    work::next_actions(story, track, role).into_iter().map(one).collect::<Vec<_>>().into()
}
