//! Tools of the chain of custody: dispatches, capability tokens, tree heads.

use super::plan::{IN_PROJECT, STORY};
use super::row::{Argument, Kind, Tool, Way, maybe, needed};
use crate::keys::Wanted::{Orchestrator, User};

const VIOLATION: Argument = needed("violation_id", Kind::Text, "the violation's id");
const NOTE: Argument = maybe("note", Kind::Text, "what was found");

pub(super) const TOOLS: &[Tool] = &[
    Tool::post("dispatch", "/dispatches", "Makes a key for a sub-agent, below the dispatch of whoever asks.")
        .with(&[
            needed("role", Kind::OneOf(&["agent", "orchestrator"]), "what the sub-agent may be"),
            needed("agent_id", Kind::Text, "which agent it is"),
            maybe("parent_dispatch_id", Kind::Text, "the dispatch above it"),
            maybe("story_id", Kind::Text, "the story it is for"),
            IN_PROJECT,
            maybe("expires_in_seconds", Kind::Integer, "60 to 14400 (3600)"),
        ]),
    Tool::get("list_violations", "/violations", "What was tried against custody.")
        .key(User)
        .way(Way::Rows)
        .with(&[maybe("status", Kind::OneOf(&["pending", "resolved", "ignored"]), "only these")]),
    Tool::post(
        "resolve_violation",
        "/violations/{violation_id}/resolve",
        "Settles a violation. Not by whoever caused it.",
    )
    .key(User)
    .with(&[VIOLATION, NOTE]),
    Tool::post(
        "ignore_violation",
        "/violations/{violation_id}/ignore",
        "Lets a violation be. Not by whoever caused it.",
    )
    .key(User)
    .with(&[VIOLATION, NOTE]),
    Tool::post(
        "release_story",
        "/stories/{story_id}/release",
        "Ends a story's quarantine. Not by whoever implemented it or caused that.",
    )
    .key(Orchestrator)
    .with(&[STORY, IN_PROJECT, needed("note", Kind::Text, "why it may go on")]),
    Tool::get("get_sth", "/audit/sth/{tenant_id}", "The signed head of a tenant's audit chain.")
        .with(&[needed("tenant_id", Kind::Text, "the tenant's id")]),
    Tool::post(
        "recover_cap",
        "/stories/{story_id}/recover-cap",
        "A new capability token for one that was lost.",
    )
    .with(&[
        STORY,
        IN_PROJECT,
        maybe(
            "cap_type",
            Kind::OneOf(&["start_cap", "report_cap", "verify_cap", "review_complete_cap"]),
            "which one",
        ),
        maybe("lineage", Kind::Texts, "dispatches from the root to the caller"),
    ]),
];
