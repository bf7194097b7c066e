//! Tools of the lifecycle of a story.

use super::plan::{IN_PROJECT, STORY};
use super::row::{Argument, Kind, Tool, Way, maybe, needed};
use crate::keys::Wanted::{Agent, Orchestrator};

/// A token travels with the call that needs it.
const CAPABILITY: Argument = maybe("cap", Kind::Text, "the capability token, where the tenant asks for one");
const REVIEW_TYPE: Argument = needed("review_type", Kind::Text, "what kind of review it was");
const FINDINGS: Argument = maybe("findings", Kind::Objects, "severity, ac_id, description of each");

pub(super) const TOOLS: &[Tool] = &[
    Tool::post(
        "contract_story",
        "/stories/{story_id}/contract",
        "Says that the story was read: its title and number of criteria.",
    )
    .key(Agent)
    .with(&[
        STORY,
        IN_PROJECT,
        needed("story_title", Kind::Text, "the title, word for word"),
        needed("ac_count", Kind::Integer, "how many acceptance criteria it has"),
    ]),
    Tool::post("claim_story", "/stories/{story_id}/claim", "Takes a contracted story.")
        .key(Agent)
        .with(&[STORY, IN_PROJECT]),
    Tool::post("start_story", "/stories/{story_id}/start", "Begins work on a claimed story.")
        .key(Agent)
        .with(&[STORY, IN_PROJECT, CAPABILITY]),
    Tool::post(
        "request_review",
        "/stories/{story_id}/request-review",
        "The implementer has finished; others take over.",
    )
    .key(Agent)
    .with(&[STORY, IN_PROJECT]),
    Tool::post("report_story", "/stories/{story_id}/report", "Reports a story done. Not by its implementer.")
        .key(Orchestrator)
        .with(&[
            STORY,
            IN_PROJECT,
            maybe("artifact_type", Kind::Text, "such as commit_diff").to("artifact.artifact_type"),
            maybe("artifact_path", Kind::Text, "where it is").to("artifact.path"),
            maybe("token_usage", Kind::Object, "input_tokens, output_tokens, model_name, cost_millicents"),
            CAPABILITY,
        ]),
    Tool::post(
        "review_complete",
        "/stories/{story_id}/review-complete",
        "Records a finished review. Not by the implementer.",
    )
    .key(Orchestrator)
    .with(&[
        STORY,
        IN_PROJECT,
        REVIEW_TYPE,
        maybe("findings_count", Kind::Integer, "what was found"),
        maybe("fixes_count", Kind::Integer, "how many of them were mended"),
        maybe("disproved_count", Kind::Integer, "how many were none"),
        maybe("summary", Kind::Text, "in words"),
        CAPABILITY,
    ]),
    Tool::post(
        "verify_story",
        "/stories/{story_id}/verify",
        "Says that a reviewed story is done; a result of fail rejects it.",
    )
    .key(Orchestrator)
    .with(&[
        STORY,
        IN_PROJECT,
        maybe("result", Kind::OneOf(&["pass", "fail", "partial"]), "pass if not given"),
        maybe("summary", Kind::Text, "in words; the reason where it fails"),
        maybe("review_type", Kind::Text, "what kind of review it was"),
        maybe("commit_sha", Kind::Text, "what was looked at"),
        FINDINGS,
        CAPABILITY,
    ]),
    Tool::post(
        "judge_criterion",
        "/stories/{story_id}/acceptance_criteria/{criterion_id}",
        "Says of one criterion of reported work whether it holds. One that failed bars verify_story.",
    )
    .key(Orchestrator)
    .with(&[
        STORY,
        IN_PROJECT,
        needed("criterion_id", Kind::Text, "such as AC-1"),
        needed("status", Kind::OneOf(&["verified", "failed", "unverifiable"]), "what was found"),
        needed("evidence_path", Kind::Text, "where that can be seen, or why it cannot"),
    ]),
    Tool::post("reject_story", "/stories/{story_id}/reject", "Sends a story back.")
        .key(Orchestrator)
        .with(&[STORY, IN_PROJECT, needed("reason", Kind::Text, "why"), FINDINGS]),
    Tool::post("unclaim_story", "/stories/{story_id}/unclaim", "Gives a claimed story back.")
        .key(Agent)
        .with(&[STORY, IN_PROJECT]),
    Tool::post(
        "force_unclaim_story",
        "/stories/{story_id}/force-unclaim",
        "Takes a story from whoever has it.",
    )
    .key(Orchestrator)
    .with(&[STORY, IN_PROJECT]),
    Tool::post(
        "backfill_story",
        "/stories/{story_id}/backfill",
        "Marks work done elsewhere, before it ever entered the queue.",
    )
    .key(Orchestrator)
    .with(&[
        STORY,
        IN_PROJECT,
        needed("reason", Kind::Text, "why, up to 2000 characters"),
        maybe("evidence_url", Kind::Text, "where it can be seen, http or https; this or pr_number is needed"),
        maybe("pr_number", Kind::Integer, "of the pull request"),
    ]),
    Tool::post("bulk_claim", "/stories/bulk/claim", "Claims up to 50 contracted stories.")
        .key(Agent)
        .with(&[needed("story_ids", Kind::Texts, "at most 50"), IN_PROJECT]),
    Tool::post(
        "bulk_verify",
        "/stories/bulk/verify",
        "Verifies up to 50 stories, each as verify_story would.",
    )
    .key(Orchestrator)
    .with(&[needed("stories", Kind::Objects, "story_id, summary, review_type of each"), IN_PROJECT]),
    Tool::post(
        "bulk_reject",
        "/stories/bulk/reject",
        "Rejects up to 50 stories, each as reject_story would.",
    )
    .key(Orchestrator)
    .with(&[needed("stories", Kind::Objects, "story_id and reason of each"), IN_PROJECT]),
    Tool::post(
        "bulk_mark_complete",
        "/stories/bulk/mark-complete",
        "Marks up to 50 stories complete, each under the same guards.",
    )
    .key(Orchestrator)
    .with(&[needed("stories", Kind::Objects, "story_id, summary, review_type of each"), IN_PROJECT]),
    Tool::post(
        "verify_all_in_epic",
        "/epics/{epic_id}/verify-all",
        "Verifies what is reported in an epic, story by story.",
    )
    .key(Orchestrator)
    .with(&[
        needed("epic_id", Kind::Text, "the epic"),
        IN_PROJECT,
        REVIEW_TYPE,
        needed("summary", Kind::Text, "in words"),
    ]),
    Tool::post("add_artifact", "/stories/{story_id}/artifacts", "Records something a story produced.")
        .key(Agent)
        .with(&[
            STORY,
            IN_PROJECT,
            needed("artifact_type", Kind::Text, "such as migration or test"),
            needed("path", Kind::Text, "where it is"),
            maybe("exists", Kind::Flag, "whether it was found"),
            maybe("details", Kind::Object, "anything else"),
        ]),
    Tool::get("list_artifacts", "/stories/{story_id}/artifacts", "What a story is said to have produced.")
        .way(Way::Rows)
        .with(&[STORY, IN_PROJECT]),
    Tool::get("get_story_history", "/stories/{story_id}/history", "Everything that happened to a story.")
        .way(Way::Rows)
        .with(&[STORY, IN_PROJECT]),
    Tool::get("list_verifications", "/stories/{story_id}/verifications", "Every verdict on a story.")
        .key(Orchestrator)
        .way(Way::Rows)
        .with(&[STORY, IN_PROJECT]),
];
