//! What whoever asks could do next with a story, so that agents need not guess.

use super::track::{AgentStatus, Track, VerifiedStatus};
use crate::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAction {
    pub action: &'static str,
    pub method: &'static str,
    pub path: String,
    /// Fields the body must have.
    pub required_body: &'static [&'static str],
    pub preconditions: &'static [&'static str],
}

pub fn next_actions(id: StoryId, track: &Track, role: KeyRole) -> Vec<NextAction> {
    let action = |action: &'static str, tail: &str, required_body, preconditions| NextAction {
        action,
        method: "POST",
        path: format!("/api/v1/stories/{id}/{tail}"),
        required_body,
        preconditions,
    };
    let judging = matches!(role, KeyRole::Orchestrator | KeyRole::User);
    match track.standing.agent {
        _ if track.is_quarantined() => Vec::new(),
        AgentStatus::Pending if track.standing.verified == VerifiedStatus::Verified => Vec::new(),
        AgentStatus::Pending => Vec::from([action(
            "contract",
            "contract",
            &["story_title", "ac_count"],
            &["title and number of criteria are repeated as they read"],
        )]),
        AgentStatus::Contracted => {
            Vec::from([action("claim", "claim", &[], &["every dependency is verified"])])
        }
        AgentStatus::Assigned if role == KeyRole::Agent => {
            Vec::from([action("start", "start", &[], &["you are the assigned agent"])])
        }
        AgentStatus::Implementing if track.review_requested_at.is_some() && role <= KeyRole::Orchestrator => {
            Vec::from([action("report", "report", &[], &["you are not the agent who implements it"])])
        }
        AgentStatus::Implementing if role == KeyRole::Agent => Vec::from([action(
            "request_review",
            "request-review",
            &[],
            &["you are the assigned agent", "another agent reports the story done"],
        )]),
        AgentStatus::ReportedDone if track.standing.verified == VerifiedStatus::Unverified && judging => {
            Vec::from([
                action(
                    "verify",
                    "verify",
                    &[],
                    &["a review newer than the report", "you did not implement it"],
                ),
                action("reject", "reject", &["reason"], &["you did not implement it"]),
            ])
        }
        _ => Vec::new(),
    }
}
