//! What an entry is to those who listen. One place for all paths: a story moved in bulk is told as one moved alone.

use super::payload::Payload;
use super::vocabulary::Event;
use crate::protocol::story_queue::facts::{Change, Entry};
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::vocabulary::{JsonText, StoryId};
use crate::protocol::story_queue::work::{How, Standing};
use crate::protocol::story_queue::{plan, tenancy, work};
use alloc::format;
use alloc::string::ToString;

/// Usage and knowledge announce for themselves, for their events say more than their entries.
pub fn news_of(ledger: &Ledger, entry: &Entry) -> Option<(Event, Payload)> {
    match &entry.change {
        Change::Work(change) => news_of_work(ledger, change),
        Change::Plan(plan::Change::Imported { project, counts, .. }) => {
            let payload = Payload::new()
                .text("project_id", &project.to_string())
                .number("epics_created", counts.epics_created.into())
                .number("stories_created", counts.stories_created.into())
                .number("epics_updated", counts.epics_updated.into())
                .number("stories_updated", counts.stories_updated.into())
                .number("dependencies_created", counts.dependencies_created.into());
            Some((Event::ProjectImported, payload))
        }
        Change::Tenancy(tenancy::Change::AgentRegistered { agent, .. }) => {
            let payload = Payload::new().text("agent_id", &agent.id.to_string()).text("name", &agent.name);
            Some((Event::AgentRegistered, payload))
        }
        _ => None,
    }
}

fn news_of_work(ledger: &Ledger, change: &work::Change) -> Option<(Event, Payload)> {
    match change {
        work::Change::Moved { story, from, to, how } => {
            let payload = moved(ledger, *story, *from, *to);
            match how {
                How::Contracted { .. }
                | How::ContractVoided
                | How::Reworded
                | How::Claimed
                | How::Started
                | How::Reported
                | How::Unclaimed => Some((Event::StoryStatusChanged, payload)),
                How::Verified { verification } => {
                    Some((Event::StoryVerified, payload.number("iteration", verification.iteration.into())))
                }
                How::Rejected { reason, verification } => {
                    let payload = payload
                        .text("reason", reason)
                        .number("iteration", verification.iteration.into())
                        .json("findings", &verification.findings);
                    Some((Event::StoryRejected, payload))
                }
                How::AutoReset => Some((Event::StoryAutoReset, payload)),
                How::ForceUnclaimed => Some((Event::StoryForceUnclaimed, payload)),
                How::Backfilled { .. } => Some((Event::StoryBackfilled, payload)),
                // Told once, by the import as a whole.
                How::Imported { .. } => None,
            }
        }
        work::Change::ReviewRequested { story, verifier, .. } => {
            let payload = about(ledger, *story);
            let payload = match verifier {
                Some(verifier) => payload.text("verifier_dispatch_id", &verifier.to_string()),
                None => payload,
            };
            Some((Event::StoryReviewRequested, payload))
        }
        work::Change::Reviewed { review } => {
            let payload = about(ledger, review.story)
                .text("review_type", &review.review_type)
                .number("findings_count", review.findings_count.into());
            Some((Event::StoryReviewCompleted, payload))
        }
        work::Change::ArtifactReported { artifact } => {
            let payload = about(ledger, artifact.story)
                .text("artifact_type", &artifact.artifact_type)
                .text("path", &artifact.path);
            Some((Event::ArtifactReported, payload))
        }
        work::Change::EpicCompleted { epic } => {
            let payload = Payload::new().text("epic_id", &epic.to_string());
            let payload = match ledger.plan.epic(*epic) {
                Some(epic) => payload.number("number", epic.number.into()).text("title", &epic.title),
                None => payload,
            };
            Some((Event::EpicCompleted, payload))
        }
        work::Change::Judged { .. } | work::Change::CriterionJudged { .. } => None,
    }
}

fn about(ledger: &Ledger, id: StoryId) -> Payload {
    let payload = Payload::new().text("story_id", &id.to_string());
    match ledger.plan.story(id) {
        Some(story) => payload
            .text("number", &story.number.to_string())
            .text("title", &story.title)
            .text("epic_id", &story.epic.to_string())
            .text("project_id", &story.project.to_string()),
        None => payload,
    }
}

fn moved(ledger: &Ledger, id: StoryId, from: Standing, to: Standing) -> Payload {
    let state = |standing: Standing| {
        let (agent, verified) = (standing.agent.name(), standing.verified.name());
        let text = format!(r#"{{"agent_status":"{agent}","verified_status":"{verified}"}}"#);
        JsonText(text)
    };
    about(ledger, id).json("old_state", &state(from)).json("new_state", &state(to))
}
