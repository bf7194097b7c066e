//! Tools of the chain of custody: dispatches, capability tokens, tree heads.

use super::plan::STORY;
use super::row::{Kind, Tool, maybe, needed};

pub(super) const TOOLS: &[Tool] = &[
    Tool::post("dispatch", "/dispatches", "Makes a key for a sub-agent, below the dispatch of whoever asks.")
        .with(&[
            needed("role", Kind::OneOf(&["agent", "orchestrator"]), "what the sub-agent may be"),
            needed("agent_id", Kind::Text, "which agent it is"),
            maybe("parent_dispatch_id", Kind::Text, "the dispatch above it"),
            maybe("story_id", Kind::Text, "the story it is for"),
            maybe("expires_in_seconds", Kind::Integer, "60 to 14400 (3600)"),
        ]),
    Tool::get("get_sth", "/audit/sth/{tenant_id}", "The signed head of a tenant's audit chain.")
        .with(&[needed("tenant_id", Kind::Text, "the tenant's id")]),
    Tool::post(
        "recover_cap",
        "/stories/{story_id}/recover-cap",
        "A new capability token for one that was lost.",
    )
    .with(&[
        STORY,
        maybe(
            "cap_type",
            Kind::OneOf(&["start_cap", "report_cap", "verify_cap", "review_complete_cap"]),
            "which one",
        ),
        maybe("lineage", Kind::Texts, "dispatches from the root to the caller"),
    ]),
];
