//! Articles and links: what a team wants its agents to know. Drafts by agents, published by others.
//! Reading order: `vocabulary`, this file, `articles`, `links`, `index`, `search`, `lint`, `access`.

mod access;
mod articles;
mod index;
mod links;
mod lint;
mod search;
mod vocabulary;

pub use access::{
    AgentUsage, ArticleStats, Who, agent_usage, article_stats, note_access, project_usage, top, unused,
};
pub use articles::{
    CreateArticle, EditArticle, archive_article, bulk_publish, create_article, drafts, edit_article,
    publish_article, restore_article, unpublish_article,
};
pub use links::{link_articles, unlink_articles};
pub use lint::{Lint, LintFor, lint};
pub use search::{Found, Mode, Search, context, not_configured, search};
pub use vocabulary::{
    Access, AccessKind, Article, ArticleScope, ArticleStatus, Category, Link, LinkKind, Source,
};

use super::facts::Entry;
use super::vocabulary::{ArticleId, JsonText, LinkId, Micros, ProjectId, StoryId};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use index::Index;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub articles: BTreeMap<ArticleId, Article>,
    pub links: BTreeMap<LinkId, Link>,
    /// In the order they came.
    pub accesses: Vec<Access>,
    by_slug: BTreeMap<String, ArticleId>,
    links_of: BTreeMap<ArticleId, BTreeSet<LinkId>>,
    drafts: BTreeSet<(Micros, ArticleId)>,
    index: Index,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Created(Box<Article>),
    Edited {
        article: ArticleId,
        title: String,
        body: String,
        category: Category,
        tags: Vec<String>,
        project: Option<ProjectId>,
        metadata: JsonText,
    },
    Moved {
        article: ArticleId,
        from: ArticleStatus,
        to: ArticleStatus,
    },
    Linked(Link),
    Unlinked {
        link: LinkId,
    },
    /// One entry per question, whatever number of articles answered it.
    Accessed {
        articles: Vec<ArticleId>,
        kind: AccessKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        story: Option<StoryId>,
    },
}

impl State {
    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Created(article) => self.insert((**article).clone()),
            Change::Edited { article, title, body, category, tags, project, metadata } => {
                let Some(mut kept) = self.take(*article) else { return };
                kept.title.clone_from(title);
                kept.body.clone_from(body);
                kept.category = *category;
                kept.tags.clone_from(tags);
                kept.project = *project;
                kept.metadata = metadata.clone();
                kept.updated_at = entry.at;
                self.insert(kept);
            }
            Change::Moved { article, to, .. } => {
                let Some(mut kept) = self.take(*article) else { return };
                kept.status = *to;
                kept.updated_at = entry.at;
                self.insert(kept);
            }
            Change::Linked(link) => {
                for end in [link.source, link.target] {
                    self.links_of.entry(end).or_default().insert(link.id);
                }
                self.links.insert(link.id, link.clone());
            }
            Change::Unlinked { link } => {
                let Some(gone) = self.links.remove(link) else { return };
                for end in [gone.source, gone.target] {
                    if let Some(links) = self.links_of.get_mut(&end) {
                        links.remove(link);
                    }
                }
            }
            Change::Accessed { articles, kind, project, story } => {
                let access = |article: &ArticleId| Access {
                    article: *article,
                    kind: *kind,
                    at: entry.at,
                    key: entry.by.key,
                    agent: entry.by.agent,
                    project: *project,
                    story: *story,
                };
                self.accesses.extend(articles.iter().map(access));
            }
        }
    }

    pub fn by_slug(&self, slug: &str) -> Option<&Article> {
        self.by_slug.get(slug).and_then(|id| self.articles.get(id))
    }

    pub fn links_of(&self, article: ArticleId) -> impl Iterator<Item = &Link> {
        self.links_of.get(&article).into_iter().flatten().filter_map(|id| self.links.get(id))
    }

    fn insert(&mut self, article: Article) {
        self.by_slug.insert(article.slug.clone(), article.id);
        match article.status {
            ArticleStatus::Draft => {
                self.drafts.insert((article.created_at, article.id));
            }
            // Only what is published is found.
            ArticleStatus::Published => self.index.add(&article),
            ArticleStatus::Archived | ArticleStatus::Superseded => {}
        }
        self.articles.insert(article.id, article);
    }

    fn take(&mut self, id: ArticleId) -> Option<Article> {
        let article = self.articles.remove(&id)?;
        self.by_slug.remove(&article.slug);
        self.drafts.remove(&(article.created_at, id));
        if article.status == ArticleStatus::Published {
            self.index.remove(&article);
        }
        Some(article)
    }
}
