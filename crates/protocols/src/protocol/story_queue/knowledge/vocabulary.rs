//! Articles, links between them, and who read what.

use crate::protocol::story_queue::vocabulary::{
    AgentId, ArticleId, JsonText, KeyId, LinkId, Micros, ProjectId, StoryId,
};
use crate::protocol::story_queue::words::words;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    pub enum Category {
        Pattern = "pattern",
        Convention = "convention",
        Decision = "decision",
        Finding = "finding",
        Reference = "reference",
    }
}

words! {
    pub enum ArticleStatus {
        Draft = "draft",
        Published = "published",
        Archived = "archived",
        Superseded = "superseded",
    }
}

words! {
    pub enum ArticleScope {
        Tenant = "tenant",
        /// Shown to everybody, without a key.
        System = "system",
    }
}

/// What an article was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub kind: String,
    /// A story, a review or an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    pub id: ArticleId,
    pub title: String,
    pub body: String,
    pub category: Category,
    pub status: ArticleStatus,
    pub scope: ArticleScope,
    pub slug: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default)]
    pub metadata: JsonText,
    pub created_by: String,
    pub created_at: Micros,
    pub updated_at: Micros,
}

words! {
    pub enum LinkKind {
        RelatesTo = "relates_to",
        DerivedFrom = "derived_from",
        Contradicts = "contradicts",
        Supersedes = "supersedes",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub id: LinkId,
    pub source: ArticleId,
    pub target: ArticleId,
    pub kind: LinkKind,
    #[serde(default)]
    pub metadata: JsonText,
    pub created_at: Micros,
}

words! {
    pub enum AccessKind {
        Search = "search",
        Get = "get",
        Context = "context",
        Index = "index",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub article: ArticleId,
    pub kind: AccessKind,
    pub at: Micros,
    pub key: Option<KeyId>,
    pub agent: Option<AgentId>,
    pub project: Option<ProjectId>,
    pub story: Option<StoryId>,
}
