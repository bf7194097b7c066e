//! What is wrong with the collection as a whole: stale, unlinked, contradicting, thin, or made from something that is gone.

use super::State;
use super::vocabulary::{Article, ArticleStatus, Category, Link, LinkKind, Source};
use crate::protocol::story_queue::decide::Decided;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::vocabulary::{Micros, ProjectId};
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintFor {
    pub project: Option<ProjectId>,
    pub stale_days: u64,
    pub min_coverage: usize,
    /// Of each sort; the counts are whole.
    pub most: usize,
}

impl Default for LintFor {
    fn default() -> Self {
        Self { project: None, stale_days: 90, min_coverage: 3, most: 50 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lint<'a> {
    pub articles: usize,
    pub stale: Vec<&'a Article>,
    pub stale_count: usize,
    pub orphans: Vec<&'a Article>,
    pub orphan_count: usize,
    /// Two published articles that contradict each other.
    pub contradictions: Vec<&'a Link>,
    pub contradiction_count: usize,
    /// Categories with too few published articles.
    pub thin: Vec<(Category, usize)>,
    pub broken_sources: Vec<&'a Article>,
    pub broken_source_count: usize,
}

/// `exists` is asked of every source that refers to something of ours.
pub fn lint<'a>(
    knowledge: &'a State,
    ask: &LintFor,
    now: Micros,
    exists: impl Fn(&Source) -> bool,
) -> Decided<Lint<'a>> {
    if !(1..=500).contains(&ask.most) {
        return Err(Refusal::field("max_per_category", "must be between 1 and 500"));
    }
    if ask.stale_days == 0 {
        return Err(Refusal::field("stale_days", "must be greater than 0"));
    }
    let limit = now.0.saturating_sub(Micros::seconds(ask.stale_days.saturating_mul(86_400)).0);
    let published = || {
        knowledge.articles.values().filter(|article| {
            article.status == ArticleStatus::Published
                && (ask.project.is_none() || article.project == ask.project)
        })
    };
    let is_published =
        |id| knowledge.articles.get(&id).is_some_and(|article| article.status == ArticleStatus::Published);
    let contradicting = published()
        .flat_map(|article| knowledge.links_of(article.id).filter(move |link| link.source == article.id));
    let contradicting =
        contradicting.filter(|link| link.kind == LinkKind::Contradicts && is_published(link.target));
    let (stale, stale_count) = capped(published().filter(|article| article.updated_at.0 < limit), ask.most);
    let unlinked = published().filter(|article| knowledge.links_of(article.id).next().is_none());
    let (orphans, orphan_count) = capped(unlinked, ask.most);
    let (contradictions, contradiction_count) = capped(contradicting, ask.most);
    let sourced = published().filter(|article| article.source.as_ref().is_some_and(|source| !exists(source)));
    let (broken_sources, broken_source_count) = capped(sourced, ask.most);
    let count = |category| published().filter(|article| article.category == category).count();
    let counts = Category::ALL.iter().map(|category| (*category, count(*category)));
    Ok(Lint {
        articles: published().count(),
        stale,
        stale_count,
        orphans,
        orphan_count,
        contradictions,
        contradiction_count,
        thin: counts.filter(|(_, count)| *count < ask.min_coverage).collect(),
        broken_sources,
        broken_source_count,
    })
}

fn capped<T>(all: impl Iterator<Item = T>, most: usize) -> (Vec<T>, usize) {
    let all: Vec<T> = all.collect();
    let count = all.len();
    (all.into_iter().take(most).collect(), count)
}
