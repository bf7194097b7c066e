//! What a team wants its agents to know: articles, links, and finding them.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, maybe_moment, moment};
use crate::resolve;
use crate::route::Kind::{Any, Integer, List, Number, Object, Text};
use crate::route::{Field, PAGE, Route, Who, needs, takes};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Get, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::knowledge::{
    self, AccessKind, Article, ArticleScope, ArticleStatus, Category, CreateArticle, EditArticle, Found,
    Link, LinkKind, LintFor, Mode, Search, Source,
};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{ArticleId, KeyRole, LinkId, Micros, ProjectId};

const READING: Who = Who::AtLeast(KeyRole::Agent);
const ORCHESTRATOR: Who = Who::AtLeast(KeyRole::Orchestrator);
const USER: Who = Who::AtLeast(KeyRole::User);
const ARTICLE: &[Field] = &[
    needs("title", Text),
    needs("body", Text),
    needs("category", Text),
    takes("status", Text),
    takes("slug", Text),
    takes("tags", List),
    takes("source_type", Text),
    takes("source_id", Text),
    takes("project_id", Text),
    takes("scope", Text),
    takes("metadata", Object),
];
const FINDING: &[Field] = &[
    takes("q", Text),
    takes("query", Text),
    takes("mode", Text),
    takes("category", Text),
    takes("tags", Text),
    takes("status", Text),
    takes("project_id", Text),
    takes("project", Text),
    takes("story_id", Text),
    takes("recency_weight", Number),
    takes("limit", Integer),
    takes("offset", Integer),
    PAGE[0],
    PAGE[1],
];

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/articles", READING, "Write an article; an agent's is a draft", create).body(ARTICLE),
    Route::read("/articles", READING, "Articles", list).query(FINDING),
    Route::write(Get, "/articles/:id", READING, "One article, by id or slug", show)
        .query(&[takes("story_id", Text)]),
    Route::write(Patch, "/articles/:id", USER, "Change an article", edit).body(&[
        takes("title", Text),
        takes("body", Text),
        takes("category", Text),
        takes("tags", List),
        takes("project_id", Text),
        takes("metadata", Object),
    ]),
    Route::write(Delete, "/articles/:id", USER, "Archive an article", archive),
    Route::write(Post, "/articles/:id/publish", ORCHESTRATOR, "Publish a draft", publish),
    Route::write(Post, "/articles/:id/unpublish", USER, "Make a published article a draft again", unpublish),
    Route::write(Post, "/articles/:id/archive", USER, "Take an article out", archive),
    Route::read("/articles/:id/links", READING, "An article's links", links),
    Route::write(Post, "/article_links", READING, "Link two articles", link).body(&[
        needs("source_article_id", Text),
        needs("target_article_id", Text),
        needs("relationship_type", Text),
        takes("metadata", Object),
    ]),
    Route::write(Delete, "/article_links/:id", USER, "Remove a link", unlink),
    Route::read("/projects/:id/articles", READING, "A project's articles", of_project).query(FINDING),
    Route::write(Post, "/projects/:id/articles", READING, "Write an article about a project", create)
        .body(ARTICLE),
    Route::write(
        Get,
        "/projects/:id/knowledge/index",
        READING,
        "Titles of what is published for a project",
        index,
    )
    .query(FINDING),
    Route::write(Get, "/knowledge/index", READING, "Titles of what is published", index).query(FINDING),
    Route::write(Get, "/knowledge/search", READING, "Find articles by words", search).query(FINDING),
    Route::write(Get, "/knowledge/context", READING, "What to read before a task", context).query(FINDING),
    Route::read("/knowledge/drafts", ORCHESTRATOR, "What waits to be published", drafts).query(FINDING),
    Route::read("/knowledge/lint", ORCHESTRATOR, "What is wrong with the collection", lint).query(&[
        takes("project_id", Text),
        takes("stale_days", Integer),
        takes("min_coverage", Integer),
        takes("max_per_category", Integer),
    ]),
    Route::write(
        Post,
        "/knowledge/bulk-publish",
        USER,
        "Publish up to 100 drafts, all or none",
        bulk_publish,
    )
    .body(&[needs("article_ids", List)]),
    Route::write(
        Post,
        "/knowledge/ingest",
        ORCHESTRATOR,
        "Needs a language model, which none is configured",
        ingest,
    )
    .body(&[
        takes("url", Text),
        takes("content", Text),
        takes("source_type", Text),
        takes("project_id", Text),
    ]),
    Route::write(
        Post,
        "/knowledge/ingest/batch",
        ORCHESTRATOR,
        "Needs a language model, which none is configured",
        ingest,
    )
    .body(&[takes("items", List), takes("project_id", Any)]),
    Route::read("/knowledge/ingestion-jobs", ORCHESTRATOR, "Always empty without a language model", jobs),
    Route::read("/knowledge/pipeline", ORCHESTRATOR, "How many articles are in which state", pipeline),
    Route::read("/knowledge/export", USER, "Every article as one document", export),
    Route::read("/knowledge/analytics/top-articles", ORCHESTRATOR, "What is read most", top).query(&[
        takes("limit", Integer),
        takes("since_days", Integer),
        takes("access_type", Text),
    ]),
    Route::read("/knowledge/analytics/unused-articles", ORCHESTRATOR, "What nobody reads", unused)
        .query(&[takes("limit", Integer), takes("days_unused", Integer)]),
    Route::read("/knowledge/analytics/agents/:id", ORCHESTRATOR, "What an agent reads", of_agent)
        .query(&[takes("since_days", Integer)]),
    Route::read(
        "/knowledge/analytics/projects/:id/usage",
        ORCHESTRATOR,
        "What is read for a project",
        project_usage,
    )
    .query(&[takes("since_days", Integer)]),
    Route::read("/knowledge/articles/:id/stats", ORCHESTRATOR, "Who reads an article", stats),
];

fn view(article: &Article) -> Value {
    let mut shown = line(article);
    shown["body"] = json!(article.body);
    shown["metadata"] = free_json(&article.metadata);
    shown
}

fn line(article: &Article) -> Value {
    json!({
        "id": article.id,
        "title": article.title,
        "category": article.category.name(),
        "status": article.status.name(),
        "scope": article.scope.name(),
        "slug": article.slug,
        "tags": article.tags,
        "source_type": article.source.as_ref().map(|source| &source.kind),
        "source_id": article.source.as_ref().and_then(|source| source.reference.as_ref()),
        "project_id": id_or_null(article.project),
        "created_by": article.created_by,
        "inserted_at": moment(article.created_at),
        "updated_at": moment(article.updated_at),
    })
}

/// Written for everybody: neither whose tenant it is nor who wrote it is told.
pub(crate) fn system_articles(ledger: &Ledger) -> impl Iterator<Item = Value> {
    let all = ledger.knowledge.articles.values();
    let shown = all.filter(|article| {
        article.scope == ArticleScope::System && article.status == ArticleStatus::Published
    });
    shown.map(|article| {
        json!({
            "id": article.id,
            "title": article.title,
            "slug": article.slug,
            "category": article.category.name(),
            "tags": article.tags,
            "body": article.body,
            "updated_at": moment(article.updated_at),
        })
    })
}

fn link_view(link: &Link) -> Value {
    json!({
        "id": link.id,
        "source_article_id": link.source,
        "target_article_id": link.target,
        "relationship_type": link.kind.name(),
        "metadata": free_json(&link.metadata),
        "inserted_at": moment(link.created_at),
    })
}

fn find<'a>(ledger: &'a Ledger, word: &str) -> Decided<&'a Article> {
    let found = match word.parse::<ArticleId>() {
        Ok(id) => ledger.knowledge.articles.get(&id),
        Err(_) => ledger.knowledge.by_slug(word),
    };
    found.ok_or_else(|| Refusal::not_found("article"))
}

fn shown(ledger: &Ledger, id: ArticleId) -> Decided<Reply> {
    let article = ledger.knowledge.articles.get(&id).ok_or_else(|| Refusal::not_found("article"))?;
    Ok(Reply::ok(json!({ "article": view(article) })))
}

fn category(text: Option<&str>) -> Decided<Option<Category>> {
    let wrong = |_| Refusal::field("category", "must be pattern, convention, decision, finding or reference");
    text.map(|text| text.parse().map_err(wrong)).transpose()
}

fn status(text: Option<&str>) -> Decided<Option<ArticleStatus>> {
    let wrong = |_| Refusal::field("status", "must be draft, published, archived or superseded");
    text.map(|text| text.parse().map_err(wrong)).transpose()
}

fn project_of(ledger: &Ledger, asked: &Asked) -> Decided<Option<ProjectId>> {
    asked.text("project_id").map(|word| resolve::project(ledger, word)).transpose()
}

/// The project of the path, where the route has one.
fn project_around(ledger: &Ledger, asked: &Asked) -> Decided<Option<ProjectId>> {
    if asked.parameter("id").is_empty() {
        return Ok(None);
    }
    resolve::project_in_path(ledger, asked).map(Some)
}

fn scope_of(asked: &Asked) -> Decided<ArticleScope> {
    let wrong = |_| Refusal::field("scope", "must be tenant or system");
    asked.text("scope").map_or(Ok(ArticleScope::Tenant), |name| name.parse().map_err(wrong))
}

fn create(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_around(draft.ledger(), asked)?.or(project_of(draft.ledger(), asked)?);
    let source = asked.owned("source_type").map(|kind| Source { kind, reference: asked.owned("source_id") });
    let ask = CreateArticle {
        title: asked.needed("title"),
        body: asked.needed("body"),
        category: category(asked.text("category"))?.unwrap_or(Category::Reference),
        status: status(asked.text("status"))?,
        scope: scope_of(asked)?,
        slug: asked.owned("slug"),
        tags: asked.texts("tags")?,
        source,
        project,
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let id = knowledge::create_article(draft, ask)?;
    Ok(shown(draft.ledger(), id)?.with_status(201))
}

fn listed(look: &Look<'_>, asked: &Asked, project: Option<ProjectId>) -> Decided<Reply> {
    let (category, status) = (category(asked.query("category"))?, status(asked.query("status"))?);
    let found: Vec<&Article> = look
        .ledger
        .knowledge
        .articles
        .values()
        .filter(|article| project.is_none_or(|project| article.project == Some(project)))
        .filter(|article| category.is_none_or(|category| article.category == category))
        .filter(|article| status.is_none_or(|status| article.status == status))
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |article| view(article))))
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    listed(look, asked, resolve::project_in_query(look.ledger, asked)?)
}

fn of_project(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    listed(look, asked, Some(resolve::project_in_path(look.ledger, asked)?))
}

/// Who reads what is recorded with the answer that shows it.
fn read(draft: &mut Draft<'_>, asked: &Asked, articles: Vec<ArticleId>, kind: AccessKind) -> Decided<()> {
    let project = resolve::project_in_query(draft.ledger(), asked)?;
    let story =
        asked.query("story_id").map(|word| resolve::story(draft.ledger(), asked, word)).transpose()?;
    knowledge::note_access(draft, articles, kind, project, story);
    Ok(())
}

fn show(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked.parameter("id"))?.id;
    read(draft, asked, vec![id], AccessKind::Get)?;
    shown(draft.ledger(), id)
}

fn edit(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked.parameter("id"))?.id;
    let project = match asked.body.get("project_id") {
        None => None,
        Some(_) => Some(project_of(draft.ledger(), asked)?),
    };
    let ask = EditArticle {
        title: asked.owned("title"),
        body: asked.owned("body"),
        category: category(asked.text("category"))?,
        tags: asked.value("tags").map(|_| asked.texts("tags")).transpose()?,
        project,
        metadata: asked.json("metadata"),
    };
    knowledge::edit_article(draft, id, ask)?;
    shown(draft.ledger(), id)
}

fn moved(
    draft: &mut Draft<'_>,
    asked: &Asked,
    to: fn(&mut Draft<'_>, ArticleId) -> Decided<()>,
) -> Decided<Reply> {
    let id = find(draft.ledger(), asked.parameter("id"))?.id;
    to(draft, id)?;
    shown(draft.ledger(), id)
}

fn publish(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    moved(draft, asked, knowledge::publish_article)
}

fn unpublish(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    moved(draft, asked, knowledge::unpublish_article)
}

fn archive(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    moved(draft, asked, knowledge::archive_article)
}

fn links(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(look.ledger, asked.parameter("id"))?.id;
    let found: Vec<Value> = look.ledger.knowledge.links_of(id).map(link_view).collect();
    Ok(Reply::ok(json!({ "data": found })))
}

fn link(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let source = find(draft.ledger(), &asked.needed("source_article_id"))?.id;
    let target = find(draft.ledger(), &asked.needed("target_article_id"))?.id;
    let wrong = |_| {
        Refusal::field("relationship_type", "must be relates_to, derived_from, contradicts or supersedes")
    };
    let kind: LinkKind = asked.needed("relationship_type").parse().map_err(wrong)?;
    let id =
        knowledge::link_articles(draft, source, target, kind, asked.json("metadata").unwrap_or_default())?;
    let made = draft.ledger().knowledge.links.get(&id).ok_or_else(|| Refusal::not_found("article link"))?;
    Ok(Reply::created(json!({ "article_link": link_view(made) })))
}

fn unlink(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<LinkId>("id", "article link")?;
    knowledge::unlink_articles(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}

fn wanted(ledger: &Ledger, asked: &Asked) -> Decided<Search> {
    let wrong = |_| Refusal::field("mode", "must be keyword, semantic or combined");
    Ok(Search {
        query: asked.query("q").or_else(|| asked.query("query")).unwrap_or_default().to_owned(),
        mode: asked.query("mode").unwrap_or("combined").parse::<Mode>().map_err(wrong)?,
        project: resolve::project_in_query(ledger, asked)?,
        category: category(asked.query("category"))?,
        tags: asked
            .query("tags")
            .map(|tags| tags.split(',').map(ToOwned::to_owned).collect())
            .unwrap_or_default(),
    })
}

fn found_rows(found: &[Found<'_>]) -> (Vec<ArticleId>, Vec<Value>) {
    let row = |found: &Found<'_>| {
        let mut shown = view(found.article);
        shown["score_per_mille"] = json!(found.score);
        shown["relevance_per_mille"] = json!(found.relevance);
        shown
    };
    (found.iter().map(|found| found.article.id).collect(), found.iter().map(row).collect())
}

fn search(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let ask = wanted(draft.ledger(), asked)?;
    let page = asked.page(10, 100)?;
    let all = knowledge::search(&draft.ledger().knowledge, &ask)?;
    let total = all.len();
    let on_page: Vec<Found<'_>> = all.into_iter().skip(page.skip).take(page.size).collect();
    let (ids, rows) = found_rows(&on_page);
    read(draft, asked, ids, AccessKind::Search)?;
    Ok(Reply::ok(page.envelope(rows, total)))
}

fn context(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let ask = wanted(draft.ledger(), asked)?;
    let limit = asked.query_number("limit")?.unwrap_or(5);
    let weight = match asked.query("recency_weight") {
        None => 300,
        Some(text) => {
            let weight: Option<f64> = text.parse().ok().filter(|weight| (0.0..=1.0).contains(weight));
            let weight = weight.ok_or_else(|| Refusal::field("recency_weight", "must be between 0 and 1"))?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
            {
                (weight * 1000.0).round() as u64
            }
        }
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = knowledge::context(&draft.ledger().knowledge, &ask, asked.at, weight, limit)?;
    let (ids, rows) = found_rows(&found);
    read(draft, asked, ids, AccessKind::Context)?;
    Ok(Reply::ok(json!({ "data": rows })))
}

fn index(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let ledger = draft.ledger();
    let project = project_around(ledger, asked)?.or(resolve::project_in_query(ledger, asked)?);
    let published: Vec<&Article> = draft
        .ledger()
        .knowledge
        .articles
        .values()
        .filter(|article| article.status == ArticleStatus::Published)
        .filter(|article| project.is_none_or(|project| article.project.is_none_or(|own| own == project)))
        .collect();
    let page = asked.page(100, 500)?;
    let ids = published.iter().skip(page.skip).take(page.size).map(|article| article.id).collect();
    let shown = page.of(&published, |article| line(article));
    read(draft, asked, ids, AccessKind::Index)?;
    Ok(Reply::ok(shown))
}

fn drafts(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = resolve::project_in_query(look.ledger, asked)?;
    let found: Vec<&Article> = knowledge::drafts(&look.ledger.knowledge, project).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |article| view(article))))
}

fn lint(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let usual = LintFor::default();
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let ask = LintFor {
        project: resolve::project_in_query(look.ledger, asked)?,
        stale_days: asked.query_number("stale_days")?.unwrap_or(usual.stale_days),
        min_coverage: asked.query_number("min_coverage")?.map_or(usual.min_coverage, size),
        most: asked.query_number("max_per_category")?.map_or(usual.most, size),
    };
    // A source that is spelled as a story is one of ours; anything else cannot be looked up here.
    let exists = |source: &Source| {
        let story = source.reference.as_ref().and_then(|word| word.parse().ok());
        story.is_none_or(|id| source.kind != "story" || look.ledger.plan.story(id).is_some())
    };
    let found = knowledge::lint(&look.ledger.knowledge, &ask, asked.at, exists)?;
    let lines = |articles: &[&Article]| articles.iter().map(|article| line(article)).collect::<Vec<_>>();
    Ok(Reply::ok(json!({ "lint": {
        "articles": found.articles,
        "stale": lines(&found.stale), "stale_count": found.stale_count,
        "orphans": lines(&found.orphans), "orphan_count": found.orphan_count,
        "contradictions": found.contradictions.iter().map(|link| link_view(link)).collect::<Vec<_>>(),
        "contradiction_count": found.contradiction_count,
        "coverage_gaps": found.thin.iter().map(|(category, count)| json!({ "category": category.name(), "count": count })).collect::<Vec<_>>(),
        "broken_sources": lines(&found.broken_sources), "broken_source_count": found.broken_source_count,
    } })))
}

fn bulk_publish(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let words = asked.texts("article_ids")?;
    let ids = words
        .iter()
        .map(|word| find(draft.ledger(), word).map(|article| article.id))
        .collect::<Decided<Vec<_>>>()?;
    let count = knowledge::bulk_publish(draft, &ids)?;
    Ok(Reply::ok(json!({ "published": count })))
}

fn ingest(_: &mut Draft<'_>, _: &Asked) -> Decided<Reply> {
    Err(knowledge::not_configured("taking articles out of a text"))
}

fn jobs(_: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    Ok(Reply::ok(asked.page(20, 100)?.envelope(Vec::new(), 0)))
}

#[expect(clippy::unnecessary_wraps, reason = "every read of the table has this shape")]
fn pipeline(look: &Look<'_>, _: &Asked) -> Decided<Reply> {
    let count = |status: ArticleStatus| {
        look.ledger.knowledge.articles.values().filter(|article| article.status == status).count()
    };
    let counts: serde_json::Map<String, Value> =
        ArticleStatus::ALL.iter().map(|status| (status.name().to_owned(), json!(count(*status)))).collect();
    Ok(Reply::ok(json!({ "pipeline": counts })))
}

#[expect(clippy::unnecessary_wraps, reason = "every read of the table has this shape")]
fn export(look: &Look<'_>, _: &Asked) -> Decided<Reply> {
    let articles: Vec<Value> = look.ledger.knowledge.articles.values().map(view).collect();
    let links: Vec<Value> = look.ledger.knowledge.links.values().map(link_view).collect();
    Ok(Reply::ok(json!({ "articles": articles, "links": links })))
}

fn since(asked: &Asked, name: &str, days: u64) -> Decided<Micros> {
    let days = asked.query_number(name)?.unwrap_or(days);
    Ok(Micros(asked.at.0.saturating_sub(Micros::seconds(days.saturating_mul(86_400)).0)))
}

fn counted(ledger: &Ledger, (id, count): &(ArticleId, usize)) -> Value {
    let title = ledger.knowledge.articles.get(id).map(|article| article.title.clone());
    json!({ "article_id": id, "title": title, "access_count": count })
}

fn top(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let wrong = |_| Refusal::field("access_type", "must be search, get, context or index");
    let kind =
        asked.query("access_type").map(|text| text.parse::<AccessKind>().map_err(wrong)).transpose()?;
    let rows = knowledge::top(&look.ledger.knowledge, since(asked, "since_days", 30)?, kind);
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |row| counted(look.ledger, row))))
}

fn unused(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = knowledge::unused(&look.ledger.knowledge, since(asked, "days_unused", 30)?);
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |article| line(article))))
}

fn usage(look: &Look<'_>, asked: &Asked, usage: &knowledge::AgentUsage) -> Decided<Reply> {
    let mut body = asked.page(20, 100)?.of(&usage.articles, |row| counted(look.ledger, row));
    body["meta"]["total_accesses"] = json!(usage.total);
    Ok(Reply::ok(body))
}

fn of_agent(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let agent = resolve::agent(look.ledger, asked.parameter("id"))?;
    let who = knowledge::Who::Agent(agent);
    usage(look, asked, &knowledge::agent_usage(&look.ledger.knowledge, who, since(asked, "since_days", 30)?))
}

fn project_usage(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = resolve::project_in_path(look.ledger, asked)?;
    usage(
        look,
        asked,
        &knowledge::project_usage(&look.ledger.knowledge, project, since(asked, "since_days", 30)?),
    )
}

fn stats(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(look.ledger, asked.parameter("id"))?.id;
    let stats = knowledge::article_stats(&look.ledger.knowledge, id);
    let by_kind: serde_json::Map<String, Value> =
        stats.by_kind.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect();
    Ok(Reply::ok(json!({ "stats": {
        "article_id": id, "total_accesses": stats.total, "by_access_type": by_kind,
        "unique_readers": stats.readers, "last_accessed_at": maybe_moment(stats.last_access),
    } })))
}
