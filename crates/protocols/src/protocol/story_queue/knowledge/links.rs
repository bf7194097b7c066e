//! Links between articles. They are made and removed, never changed.

use super::Change;
use super::articles::{announce_about, existing, shift};
use super::vocabulary::{ArticleStatus, Link, LinkKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{ArticleId, JsonText, KeyRole, LinkId};
use crate::protocol::story_queue::webhooks::{self, Event, Payload};
use alloc::format;

/// `supersedes` takes a published article out of circulation, so it is no agent's to make, and its source must be published.
pub fn link_articles(
    draft: &mut Draft<'_>,
    source: ArticleId,
    target: ArticleId,
    kind: LinkKind,
    metadata: JsonText,
) -> Decided<LinkId> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    if kind == LinkKind::Supersedes {
        draft.caller().require_at_least(KeyRole::Orchestrator)?;
    }
    let (from, to) = (existing(draft, source)?, existing(draft, target)?);
    if source == target {
        return Err(Refusal::field("target_article_id", "can't be the article itself"));
    }
    if kind == LinkKind::Supersedes && from.status != ArticleStatus::Published {
        return Err(Refusal::new(Kind::Conflict, "only a published article supersedes another")
            .with_remedy("publish it first"));
    }
    let (project, replaced) = (from.project, to.status == ArticleStatus::Published);
    let same = |link: &Link| (link.source, link.target, link.kind) == (source, target, kind);
    if draft.ledger().knowledge.links_of(source).any(same) {
        return Err(Refusal::new(Kind::Conflict, "these articles are linked so already"));
    }
    let id = LinkId(draft.ids().fresh());
    let link = Link { id, source, target, kind, metadata, created_at: draft.at() };
    let payload = about(&link);
    draft.record(project, facts::Change::Knowledge(Change::Linked(link)));
    webhooks::announce(draft, Event::ArticleLinkCreated, project, payload);
    if kind == LinkKind::Supersedes && replaced {
        shift(draft, target, ArticleStatus::Superseded);
        announce_about(draft, Event::ArticleSuperseded, target);
    }
    Ok(id)
}

pub fn unlink_articles(draft: &mut Draft<'_>, id: LinkId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let Some(link) = draft.ledger().knowledge.links.get(&id) else {
        return Err(Refusal::not_found("article link"));
    };
    let payload = about(link);
    let project = existing(draft, link.source).ok().and_then(|article| article.project);
    draft.record(project, facts::Change::Knowledge(Change::Unlinked { link: id }));
    webhooks::announce(draft, Event::ArticleLinkDeleted, project, payload);
    Ok(())
}

fn about(link: &Link) -> Payload {
    Payload::new()
        .text("link_id", &format!("{}", link.id))
        .text("source_article_id", &format!("{}", link.source))
        .text("target_article_id", &format!("{}", link.target))
        .text("relationship_type", link.kind.name())
}
