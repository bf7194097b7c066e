//! Who reads what, so that articles nobody needs can be found and taken out.

use super::vocabulary::{Access, AccessKind, Article, ArticleStatus};
use super::{Change, State};
use crate::protocol::story_queue::decide::Draft;
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::vocabulary::{AgentId, ArticleId, KeyId, Micros, ProjectId, StoryId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// After an answer that showed articles. Nothing is recorded when none were shown.
pub fn note_access(
    draft: &mut Draft<'_>,
    articles: Vec<ArticleId>,
    kind: AccessKind,
    project: Option<ProjectId>,
    story: Option<StoryId>,
) {
    if !articles.is_empty() {
        let change = Change::Accessed { articles, kind, project, story };
        draft.record(project, facts::Change::Knowledge(change));
    }
}

fn counted<'a>(accesses: impl Iterator<Item = &'a Access>) -> Vec<(ArticleId, usize)> {
    let mut counts: BTreeMap<ArticleId, usize> = BTreeMap::new();
    for access in accesses {
        *counts.entry(access.article).or_default() += 1;
    }
    let mut rows: Vec<(ArticleId, usize)> = counts.into_iter().collect();
    rows.sort_by_key(|(id, count)| (Reverse(*count), *id));
    rows
}

/// Most read first.
pub fn top(state: &State, since: Micros, kind: Option<AccessKind>) -> Vec<(ArticleId, usize)> {
    let wanted = |access: &&Access| access.at >= since && kind.is_none_or(|kind| kind == access.kind);
    counted(state.accesses.iter().filter(wanted))
}

/// Published before `since` and not read after it.
pub fn unused(state: &State, since: Micros) -> Vec<&Article> {
    let read: BTreeSet<ArticleId> =
        state.accesses.iter().filter(|access| access.at >= since).map(|access| access.article).collect();
    let idle = state.articles.values().filter(|article| {
        article.status == ArticleStatus::Published
            && article.created_at < since
            && !read.contains(&article.id)
    });
    idle.collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleStats {
    pub total: usize,
    pub by_kind: Vec<(AccessKind, usize)>,
    pub readers: usize,
    pub last_access: Option<Micros>,
}

pub fn article_stats(state: &State, article: ArticleId) -> ArticleStats {
    let own: Vec<&Access> = state.accesses.iter().filter(|access| access.article == article).collect();
    let of_kind = |kind: AccessKind| own.iter().filter(|access| access.kind == kind).count();
    let readers: BTreeSet<(Option<AgentId>, Option<KeyId>)> =
        own.iter().map(|access| (access.agent, access.key)).collect();
    ArticleStats {
        total: own.len(),
        by_kind: AccessKind::ALL.iter().map(|kind| (*kind, of_kind(*kind))).collect(),
        readers: readers.len(),
        last_access: own.iter().map(|access| access.at).max(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Agent(AgentId),
    Key(KeyId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentUsage {
    pub total: usize,
    pub articles: Vec<(ArticleId, usize)>,
}

impl AgentUsage {
    fn of(articles: Vec<(ArticleId, usize)>) -> Self {
        Self { total: articles.iter().map(|(_, count)| count).sum(), articles }
    }
}

pub fn agent_usage(state: &State, who: Who, since: Micros) -> AgentUsage {
    let is_theirs = |access: &&Access| match who {
        Who::Agent(agent) => access.agent == Some(agent),
        Who::Key(key) => access.key == Some(key),
    };
    AgentUsage::of(counted(state.accesses.iter().filter(|access| access.at >= since).filter(is_theirs)))
}

pub fn project_usage(state: &State, project: ProjectId, since: Micros) -> AgentUsage {
    let inside = |access: &&Access| access.at >= since && access.project == Some(project);
    AgentUsage::of(counted(state.accesses.iter().filter(inside)))
}
