//! An article's life. Publishing is a judgement that an agent does not make about its own words, on no path: not by
//! creating it published, not by editing it, not by a link that replaces a published one.

use super::vocabulary::{Article, ArticleScope, ArticleStatus, Category, Source};
use super::{Change, State};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{ArticleId, JsonText, KeyRole, ProjectId};
use crate::protocol::story_queue::webhooks::{self, Event, Payload};
use crate::protocol::story_queue::words::{check_length, check_text};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const PUBLISHED_AT_ONCE: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateArticle {
    pub title: String,
    pub body: String,
    pub category: Category,
    /// Absent is a draft.
    pub status: Option<ArticleStatus>,
    pub scope: ArticleScope,
    /// Absent is made from the title.
    pub slug: Option<String>,
    pub tags: Vec<String>,
    pub source: Option<Source>,
    pub project: Option<ProjectId>,
    pub metadata: JsonText,
}

pub fn create_article(draft: &mut Draft<'_>, ask: CreateArticle) -> Decided<ArticleId> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    let status = ask.status.unwrap_or(ArticleStatus::Draft);
    check_first_status(draft, status)?;
    if ask.scope == ArticleScope::System && draft.caller().role != KeyRole::Superadmin {
        let message = "articles for everybody are a superadmin's";
        return Err(Refusal::new(Kind::NotAllowed, message).with_code(RefusalCode::SystemScopeForbidden));
    }
    check_words(&ask.title, &ask.body, &ask.tags)?;
    if let Some(source) = &ask.source {
        check_text("source_type", &source.kind, 100)?;
        check_length("source_id", source.reference.as_deref().unwrap_or_default(), 2000)?;
    }
    let id = ArticleId(draft.ids().fresh());
    let slug = choose_slug(draft, ask.slug, &ask.title, id)?;
    let article = Article {
        id,
        title: ask.title,
        body: ask.body,
        category: ask.category,
        status,
        scope: ask.scope,
        slug,
        tags: ask.tags,
        source: ask.source,
        project: ask.project,
        metadata: ask.metadata,
        created_by: draft.caller().label.clone(),
        created_at: draft.at(),
        updated_at: draft.at(),
    };
    let payload = about(&article);
    draft.record(ask.project, facts::Change::Knowledge(Change::Created(Box::new(article))));
    webhooks::announce(draft, Event::ArticleCreated, ask.project, payload);
    Ok(id)
}

fn check_first_status(draft: &Draft<'_>, status: ArticleStatus) -> Decided<()> {
    match status {
        ArticleStatus::Draft => Ok(()),
        ArticleStatus::Published if draft.caller().role >= KeyRole::Orchestrator => Ok(()),
        ArticleStatus::Published => {
            let message = "an agent's article starts as a draft; somebody else publishes it";
            Err(Refusal::new(Kind::NotAllowed, message).with_code(RefusalCode::PublishForbidden))
        }
        ArticleStatus::Archived | ArticleStatus::Superseded => {
            Err(Refusal::field("status", "must be draft or published for a new article"))
        }
    }
}

fn check_words(title: &str, body: &str, tags: &[String]) -> Decided<()> {
    check_text("title", title, 500)?;
    check_text("body", body, 100_000)?;
    if tags.len() > 20 {
        return Err(Refusal::field("tags", "should have at most 20 items"));
    }
    let well_formed = |tag: &String| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        (1..=100).contains(&tag.len()) && tag.bytes().all(allowed)
    };
    if tags.iter().all(well_formed) {
        return Ok(());
    }
    Err(Refusal::field("tags", "must be 1 to 100 letters, digits, _ or -"))
}

fn choose_slug(draft: &Draft<'_>, asked: Option<String>, title: &str, id: ArticleId) -> Decided<String> {
    let knowledge = &draft.ledger().knowledge;
    if let Some(slug) = asked {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if slug.is_empty() || slug.len() > 200 || !slug.bytes().all(allowed) {
            return Err(Refusal::field("slug", "must be 1 to 200 lower-case letters, digits or -"));
        }
        if knowledge.by_slug(&slug).is_some() {
            return Err(Refusal::new(Kind::Conflict, "an article with this slug exists already")
                .with_detail("slug", "has already been taken"));
        }
        return Ok(slug);
    }
    let plain = slug_of(title);
    // The id's tail is random; a second article of the same title gets it.
    let tail: String = format!("{id}").rsplit('-').take(1).collect();
    Ok(if plain.is_empty() || knowledge.by_slug(&plain).is_some() {
        format!("{plain}-{tail}")
    } else {
        plain
    })
}

fn slug_of(title: &str) -> String {
    let mut slug = String::new();
    for character in title.chars().take(180) {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').into()
}

pub(super) fn about(article: &Article) -> Payload {
    Payload::new()
        .text("article_id", &format!("{}", article.id))
        .text("title", &article.title)
        .text("category", article.category.name())
        .text("status", article.status.name())
}

pub(super) fn existing<'a>(draft: &'a Draft<'_>, id: ArticleId) -> Decided<&'a Article> {
    draft.ledger().knowledge.articles.get(&id).ok_or_else(|| Refusal::not_found("article"))
}

/// What is absent stays as it is; the status moves by its own verbs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditArticle {
    pub title: Option<String>,
    pub body: Option<String>,
    pub category: Option<Category>,
    pub tags: Option<Vec<String>>,
    pub project: Option<Option<ProjectId>>,
    pub metadata: Option<JsonText>,
}

pub fn edit_article(draft: &mut Draft<'_>, id: ArticleId, ask: EditArticle) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let now = existing(draft, id)?.clone();
    let title = ask.title.unwrap_or(now.title);
    let body = ask.body.unwrap_or(now.body);
    let tags = ask.tags.unwrap_or(now.tags);
    check_words(&title, &body, &tags)?;
    let project = ask.project.unwrap_or(now.project);
    let change = Change::Edited {
        article: id,
        title,
        body,
        category: ask.category.unwrap_or(now.category),
        tags,
        project,
        metadata: ask.metadata.unwrap_or(now.metadata),
    };
    draft.record(project, facts::Change::Knowledge(change));
    announce_about(draft, Event::ArticleUpdated, id);
    Ok(())
}

pub(super) fn announce_about(draft: &mut Draft<'_>, event: Event, id: ArticleId) {
    if let Ok(article) = existing(draft, id) {
        let (project, payload) = (article.project, about(article));
        webhooks::announce(draft, event, project, payload);
    }
}

pub fn publish_article(draft: &mut Draft<'_>, id: ArticleId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    check_move(draft, id, &[ArticleStatus::Draft], ArticleStatus::Published)?;
    shift(draft, id, ArticleStatus::Published);
    announce_about(draft, Event::ArticleUpdated, id);
    Ok(())
}

/// All of them or none.
pub fn bulk_publish(draft: &mut Draft<'_>, ids: &[ArticleId]) -> Decided<usize> {
    draft.caller().require_at_least(KeyRole::User)?;
    if ids.is_empty() || ids.len() > PUBLISHED_AT_ONCE {
        return Err(Refusal::field("article_ids", "should have 1 to 100 items"));
    }
    let mut once: Vec<ArticleId> = ids.to_vec();
    once.sort_unstable();
    once.dedup();
    for id in &once {
        check_move(draft, *id, &[ArticleStatus::Draft], ArticleStatus::Published)?;
    }
    for id in &once {
        shift(draft, *id, ArticleStatus::Published);
        announce_about(draft, Event::ArticleUpdated, *id);
    }
    Ok(once.len())
}

pub fn unpublish_article(draft: &mut Draft<'_>, id: ArticleId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    check_move(draft, id, &[ArticleStatus::Published], ArticleStatus::Draft)?;
    shift(draft, id, ArticleStatus::Draft);
    announce_about(draft, Event::ArticleUpdated, id);
    Ok(())
}

/// A superseded article becomes a draft again, to be judged anew.
pub fn restore_article(draft: &mut Draft<'_>, id: ArticleId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    check_move(draft, id, &[ArticleStatus::Superseded], ArticleStatus::Draft)?;
    shift(draft, id, ArticleStatus::Draft);
    announce_about(draft, Event::ArticleUpdated, id);
    Ok(())
}

/// Also what deleting means: what was known stays readable.
pub fn archive_article(draft: &mut Draft<'_>, id: ArticleId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let from = [ArticleStatus::Draft, ArticleStatus::Published];
    check_move(draft, id, &from, ArticleStatus::Archived)?;
    shift(draft, id, ArticleStatus::Archived);
    announce_about(draft, Event::ArticleArchived, id);
    Ok(())
}

fn check_move(draft: &Draft<'_>, id: ArticleId, from: &[ArticleStatus], to: ArticleStatus) -> Decided<()> {
    let article = existing(draft, id)?;
    if from.contains(&article.status) {
        return Ok(());
    }
    let message = format!("an article that is {} does not become {}", article.status.name(), to.name());
    Err(Refusal::new(Kind::Conflict, message)
        .with_context("article_id", format!("{id}"))
        .with_context("status", article.status.name()))
}

pub(super) fn shift(draft: &mut Draft<'_>, id: ArticleId, to: ArticleStatus) {
    let Ok(article) = existing(draft, id) else { return };
    let (from, project) = (article.status, article.project);
    draft.record(project, facts::Change::Knowledge(Change::Moved { article: id, from, to }));
}

/// Oldest first, for whoever curates them.
pub fn drafts(state: &State, project: Option<ProjectId>) -> impl Iterator<Item = &Article> {
    let waiting = state.drafts.iter().filter_map(|(_, id)| state.articles.get(id));
    waiting.filter(move |article| project.is_none() || article.project == project)
}
