//! Tools of the knowledge articles.

use super::plan::{IN_PROJECT, LIMIT, OFFSET};
use super::row::{Argument, Kind, Tool, Way, maybe, needed};
use crate::keys::Wanted::{Agent, Orchestrator, User};

const ARTICLE: Argument = needed("article_id", Kind::Text, "the article");
const FOR_STORY: Argument = maybe("story_id", Kind::Text, "the story it is wanted for");
const CATEGORIES: &[&str] = &["pattern", "convention", "decision", "finding", "reference"];
const SINCE_DAYS: Argument = maybe("since_days", Kind::Integer, "only of the last days");

pub(super) const TOOLS: &[Tool] = &[
    Tool::get("knowledge_index", "/knowledge/index", "Titles of what is known.")
        .key(Agent)
        .with(&[IN_PROJECT, FOR_STORY]),
    Tool::get("knowledge_search", "/knowledge/search", "Articles with these words.")
        .key(Agent)
        .way(Way::Rows)
        .with(&[
            needed("q", Kind::Text, "words to look for"),
            IN_PROJECT,
            FOR_STORY,
            maybe("category", Kind::OneOf(CATEGORIES), "only of this kind"),
            maybe("tags", Kind::Texts, "only with these tags"),
            maybe("mode", Kind::OneOf(&["keyword", "semantic", "combined"]), "how to look"),
            LIMIT,
        ]),
    Tool::get("knowledge_get", "/articles/{article_id}", "One article.")
        .key(Agent)
        .with(&[ARTICLE, IN_PROJECT, FOR_STORY]),
    Tool::get("knowledge_context", "/knowledge/context", "What is worth reading before some work.")
        .key(Agent)
        .with(&[
            needed("query", Kind::Text, "the work, up to 500 characters"),
            IN_PROJECT,
            FOR_STORY,
            LIMIT,
            maybe("recency_weight", Kind::Number, "0 to 1 (0.3)"),
        ]),
    Tool::post("knowledge_create", "/articles", "Writes a draft.").key(Agent).with(&[
        needed("title", Kind::Text, "up to 500 characters"),
        needed("body", Kind::Text, "Markdown"),
        needed("category", Kind::OneOf(CATEGORIES), "what kind it is"),
        maybe("tags", Kind::Texts, "at most 20"),
        IN_PROJECT,
    ]),
    Tool::post("knowledge_publish", "/articles/{article_id}/publish", "Publishes a draft.")
        .key(Orchestrator)
        .with(&[ARTICLE]),
    Tool::post(
        "knowledge_bulk_publish",
        "/knowledge/bulk-publish",
        "Publishes up to 100 drafts, all or none.",
    )
    .key(User)
    .with(&[needed("article_ids", Kind::Texts, "at most 100")]),
    Tool::post("knowledge_unpublish", "/articles/{article_id}/unpublish", "Makes an article a draft again.")
        .key(User)
        .with(&[ARTICLE]),
    Tool::post("knowledge_archive", "/articles/{article_id}/archive", "Puts an article away.")
        .key(User)
        .with(&[ARTICLE]),
    Tool::delete("knowledge_delete", "/articles/{article_id}", "Removes an article.")
        .key(User)
        .with(&[ARTICLE]),
    Tool::get("knowledge_drafts", "/knowledge/drafts", "Drafts that wait.")
        .key(Orchestrator)
        .way(Way::Rows)
        .with(&[LIMIT, OFFSET, IN_PROJECT]),
    Tool::get("knowledge_lint", "/knowledge/lint", "Stale, orphaned and contradicting articles.")
        .key(Orchestrator)
        .with(&[
            IN_PROJECT,
            maybe("stale_days", Kind::Integer, "what counts as stale (90)"),
            maybe("min_coverage", Kind::Integer, "articles a category should have (3)"),
            maybe("max_per_category", Kind::Integer, "findings of a kind at most (50)"),
        ]),
    Tool::get("knowledge_export", "/knowledge/export", "Every published article.")
        .key(User)
        .with(&[IN_PROJECT]),
    Tool::post("knowledge_ingest", "/knowledge/ingest", "Drafts from a page or a text.")
        .key(Orchestrator)
        .with(&[
            maybe("url", Kind::Text, "a page"),
            maybe("content", Kind::Text, "or a text"),
            needed("source_type", Kind::Text, "where it comes from"),
            IN_PROJECT,
        ]),
    Tool::post("knowledge_ingest_batch", "/knowledge/ingest/batch", "Drafts from up to 50 sources.")
        .key(Orchestrator)
        .with(&[needed("items", Kind::Objects, "url or content, and source_type, of each"), IN_PROJECT]),
    Tool::get("knowledge_ingestion_jobs", "/knowledge/ingestion-jobs", "How those are going.")
        .key(Orchestrator),
    Tool::get("knowledge_analytics_top", "/knowledge/analytics/top-articles", "What is read most.")
        .key(Orchestrator)
        .way(Way::Rows)
        .with(&[
            LIMIT,
            SINCE_DAYS,
            maybe("access_type", Kind::OneOf(&["search", "get", "context", "index"]), "read in this way"),
        ]),
    Tool::get("knowledge_article_stats", "/knowledge/articles/{article_id}/stats", "Who read an article.")
        .key(Orchestrator)
        .with(&[ARTICLE]),
    Tool::get(
        "knowledge_agent_usage",
        "/knowledge/analytics/agents/{agent_id}",
        "What an agent or a key read.",
    )
    .key(Orchestrator)
    .way(Way::AgentUsage)
    .with(&[
        maybe("agent_id", Kind::Text, "the agent"),
        maybe("api_key_id", Kind::Text, "or the key"),
        LIMIT,
        SINCE_DAYS,
    ]),
    Tool::get("knowledge_unused_articles", "/knowledge/analytics/unused-articles", "What nobody reads.")
        .key(Orchestrator)
        .way(Way::Rows)
        .with(&[maybe("days_unused", Kind::Integer, "for how many days"), LIMIT]),
    Tool::get("get_system_articles", "/articles/system", "Articles that come with the program.")
        .way(Way::SystemArticles)
        .with(&[maybe("slug", Kind::Text, "one of them"), maybe("category", Kind::Text, "of one kind")]),
];
