//! Section 11: articles, links, search and lint; and TRAP 13.

use crate::scene::{DAY, Scene, agent, assert_least, key, kind, project, uuid};
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::knowledge::{
    self, AccessKind, ArticleScope, ArticleStatus, Category, CreateArticle, EditArticle, LinkKind, LintFor,
    Mode, Search, Source, Who,
};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::{ArticleId, JsonText, KeyRole, ProjectId};

fn ask(title: &str, body: &str) -> CreateArticle {
    CreateArticle {
        title: title.into(),
        body: body.into(),
        category: Category::Pattern,
        status: None,
        scope: ArticleScope::Tenant,
        slug: None,
        tags: Vec::new(),
        source: None,
        project: None,
        metadata: JsonText::default(),
    }
}

fn draft_of(scene: &mut Scene, title: &str) -> ArticleId {
    scene
        .run(&key(KeyRole::Agent), |draft| knowledge::create_article(draft, ask(title, "body")))
        .expect("the scene allows it")
}

fn published(scene: &mut Scene, ask: CreateArticle) -> ArticleId {
    let ask = CreateArticle { status: Some(ArticleStatus::Published), ..ask };
    scene
        .run(&key(KeyRole::Orchestrator), |draft| knowledge::create_article(draft, ask))
        .expect("the scene allows it")
}

fn status(scene: &Scene, id: ArticleId) -> ArticleStatus {
    scene.ledger.knowledge.articles[&id].status
}

fn link(
    scene: &mut Scene,
    role: KeyRole,
    from: ArticleId,
    to: ArticleId,
    kind: LinkKind,
) -> Result<(), Kind> {
    let made =
        scene.run(&key(role), |draft| knowledge::link_articles(draft, from, to, kind, JsonText::default()));
    made.map(|_| ()).map_err(|refusal| refusal.kind)
}

fn query(words: &str) -> Search {
    Search { query: words.into(), mode: Mode::Keyword, project: None, category: None, tags: Vec::new() }
}

fn titles(scene: &Scene, ask: &Search) -> Vec<String> {
    let found = knowledge::search(&scene.ledger.knowledge, ask).expect("the scene allows it");
    found.iter().map(|row| row.article.title.clone()).collect()
}

#[test]
fn trap_13_an_agent_cannot_create_what_is_published_already() {
    let mut scene = Scene::new();
    let asked = CreateArticle { status: Some(ArticleStatus::Published), ..ask("a", "b") };
    let refusal =
        scene.run(&key(KeyRole::Agent), |draft| knowledge::create_article(draft, asked.clone())).unwrap_err();
    assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("publish_forbidden")));
    scene.run(&key(KeyRole::Orchestrator), |draft| knowledge::create_article(draft, asked)).unwrap();
    let odd = CreateArticle { status: Some(ArticleStatus::Superseded), ..ask("a", "b") };
    let refused = scene.run(&key(KeyRole::User), |draft| knowledge::create_article(draft, odd));
    assert_eq!(kind(refused), Some(Kind::Invalid));
}

#[test]
fn trap_13_an_agent_cannot_replace_a_published_article_by_a_link() {
    let mut scene = Scene::new();
    let old = published(&mut scene, ask("old", "b"));
    let new = draft_of(&mut scene, "new");
    assert_eq!(link(&mut scene, KeyRole::Agent, new, old, LinkKind::Supersedes), Err(Kind::NotAllowed));
    assert_eq!(link(&mut scene, KeyRole::Orchestrator, new, old, LinkKind::Supersedes), Err(Kind::Conflict));
    scene.run(&key(KeyRole::Orchestrator), |draft| knowledge::publish_article(draft, new)).unwrap();
    assert_eq!(link(&mut scene, KeyRole::Orchestrator, new, old, LinkKind::Supersedes), Ok(()));
    assert_eq!(status(&scene, old), ArticleStatus::Superseded);
    assert_eq!(titles(&scene, &query("old")), Vec::<String>::new(), "and is found no more");
    scene.run(&key(KeyRole::User), |draft| knowledge::restore_article(draft, old)).unwrap();
    assert_eq!(status(&scene, old), ArticleStatus::Draft);
}

#[test]
fn each_move_has_its_role_and_its_start() {
    let mut scene = Scene::new();
    let id = draft_of(&mut scene, "a");
    let publish =
        |scene: &mut Scene, role| scene.run(&key(role), |draft| knowledge::publish_article(draft, id));
    assert_eq!(kind(publish(&mut scene, KeyRole::Agent)), Some(Kind::NotAllowed));
    publish(&mut scene, KeyRole::Orchestrator).unwrap();
    assert_eq!(kind(publish(&mut scene, KeyRole::User)), Some(Kind::Conflict));
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| knowledge::unpublish_article(draft, id)));
    let edit = EditArticle { title: Some("b".into()), ..EditArticle::default() };
    assert_least(KeyRole::User, |caller| {
        scene.run(caller, |draft| knowledge::edit_article(draft, id, edit.clone()))
    });
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| knowledge::archive_article(draft, id)));
    assert_eq!(status(&scene, id), ArticleStatus::Archived);
    assert_eq!(kind(publish(&mut scene, KeyRole::User)), Some(Kind::Conflict), "archived stays");
}

#[test]
fn system_articles_are_a_superadmins() {
    let mut scene = Scene::new();
    let asked = CreateArticle { scope: ArticleScope::System, ..ask("a", "b") };
    let refusal =
        scene.run(&key(KeyRole::User), |draft| knowledge::create_article(draft, asked.clone())).unwrap_err();
    assert_eq!(refusal.code, Some("system_scope_forbidden"));
    scene.run(&key(KeyRole::Superadmin), |draft| knowledge::create_article(draft, asked)).unwrap();
}

#[test]
fn words_tags_and_slugs_have_limits() {
    let mut scene = Scene::new();
    let wrong = [
        ("title", ask("", "b")),
        ("title", ask(&"x".repeat(501), "b")),
        ("body", ask("a", &"x".repeat(100_001))),
        ("tags", CreateArticle { tags: vec!["a b".into()], ..ask("a", "b") }),
        ("tags", CreateArticle { tags: vec!["a".into(); 21], ..ask("a", "b") }),
        ("slug", CreateArticle { slug: Some("A b".into()), ..ask("a", "b") }),
    ];
    for (field, asked) in wrong {
        let refusal =
            scene.run(&key(KeyRole::User), |draft| knowledge::create_article(draft, asked)).unwrap_err();
        assert_eq!(refusal.details[0].0, field);
    }
    let first = draft_of(&mut scene, "How we test: Fast!");
    let second = draft_of(&mut scene, "How we test: Fast!");
    let slug = |id| scene.ledger.knowledge.articles[&id].slug.clone();
    assert_eq!(slug(first), "how-we-test-fast");
    assert!(slug(second).starts_with("how-we-test-fast-"), "{}", slug(second));
    assert_eq!(scene.ledger.knowledge.by_slug("how-we-test-fast").map(|found| found.id), Some(first));
    let taken = CreateArticle { slug: Some("how-we-test-fast".into()), ..ask("a", "b") };
    let refused = scene.run(&key(KeyRole::User), |draft| knowledge::create_article(draft, taken));
    assert_eq!(kind(refused), Some(Kind::Conflict));
}

#[test]
fn bulk_publishing_is_all_or_nothing_and_a_users() {
    let mut scene = Scene::new();
    let ids = [draft_of(&mut scene, "a"), draft_of(&mut scene, "b")];
    let done = published(&mut scene, ask("c", "d"));
    let user = key(KeyRole::User);
    let publish = |draft: &mut Draft<'_>| knowledge::bulk_publish(draft, &ids);
    assert_eq!(kind(scene.run(&key(KeyRole::Orchestrator), publish)), Some(Kind::NotAllowed));
    let mixed = scene.run(&user, |draft| knowledge::bulk_publish(draft, &[ids[0], done]));
    assert_eq!(kind(mixed), Some(Kind::Conflict));
    assert_eq!(status(&scene, ids[0]), ArticleStatus::Draft);
    let many = scene.run(&user, |draft| knowledge::bulk_publish(draft, &[ids[0]; 101]));
    assert_eq!(kind(many), Some(Kind::Invalid));
    assert_eq!(
        scene.run(&user, |draft| knowledge::bulk_publish(draft, &[ids[0], ids[1], ids[0]])).unwrap(),
        2
    );
    assert_eq!(knowledge::drafts(&scene.ledger.knowledge, None).count(), 0);
}

#[test]
fn links_are_single_and_never_to_oneself() {
    let mut scene = Scene::new();
    let (a, b) = (draft_of(&mut scene, "a"), draft_of(&mut scene, "b"));
    assert_eq!(link(&mut scene, KeyRole::Agent, a, a, LinkKind::RelatesTo), Err(Kind::Invalid));
    assert_eq!(
        link(&mut scene, KeyRole::Agent, a, ArticleId(uuid(3)), LinkKind::RelatesTo),
        Err(Kind::NotFound)
    );
    assert_eq!(link(&mut scene, KeyRole::Agent, a, b, LinkKind::RelatesTo), Ok(()));
    assert_eq!(link(&mut scene, KeyRole::Agent, a, b, LinkKind::RelatesTo), Err(Kind::Conflict));
    assert_eq!(
        link(&mut scene, KeyRole::Agent, b, a, LinkKind::RelatesTo),
        Ok(()),
        "the other way is another"
    );
    assert_eq!(scene.ledger.knowledge.links_of(a).count(), 2);
    let id = *scene.ledger.knowledge.links.keys().next().unwrap();
    assert_least(KeyRole::User, |caller| {
        match scene.run(caller, |draft| knowledge::unlink_articles(draft, id)) {
            Err(refusal) if refusal.kind == Kind::NotFound => Ok(()),
            other => other,
        }
    });
    assert_eq!(scene.ledger.knowledge.links_of(b).count(), 1);
}

#[test]
fn search_finds_published_words_best_first() {
    let mut scene = Scene::new();
    published(&mut scene, ask("Retry queues", "What a worker does."));
    published(&mut scene, ask("Workers", "A worker may retry. Nothing about lines."));
    let tagged =
        CreateArticle { tags: vec!["retry".into()], category: Category::Decision, ..ask("Other", "Text") };
    published(&mut scene, tagged);
    draft_of(&mut scene, "retry draft");
    assert_eq!(titles(&scene, &query("RETRY queue")), ["Retry queues", "Other", "Workers"]);
    assert_eq!(titles(&scene, &Search { category: Some(Category::Decision), ..query("retry") }), ["Other"]);
    assert_eq!(titles(&scene, &Search { tags: vec!["retry".into()], ..query("retry") }), ["Other"]);
    assert_eq!(titles(&scene, &query("absent")), Vec::<String>::new());
    for wrong in ["", &"x".repeat(501)] {
        assert!(knowledge::search(&scene.ledger.knowledge, &query(wrong)).is_err());
    }
}

#[test]
fn search_follows_edits_and_stays_in_its_project() {
    let mut scene = Scene::new();
    let inside = CreateArticle { project: Some(project()), ..ask("Lanterns", "b") };
    let id = published(&mut scene, inside);
    let elsewhere = Search { project: Some(ProjectId(uuid(9))), ..query("lantern") };
    assert_eq!(titles(&scene, &elsewhere).len(), 0);
    assert_eq!(titles(&scene, &Search { project: Some(project()), ..query("lantern") }).len(), 1);
    let edit = EditArticle { title: Some("Torches".into()), ..EditArticle::default() };
    scene.run(&key(KeyRole::User), |draft| knowledge::edit_article(draft, id, edit)).unwrap();
    assert_eq!(titles(&scene, &query("lanterns")).len(), 0);
    assert_eq!(titles(&scene, &query("torch torches")).len(), 1);
}

#[test]
fn what_needs_a_model_is_refused_and_combined_falls_back_to_words() {
    let mut scene = Scene::new();
    published(&mut scene, ask("Retry", "b"));
    let semantic = Search { mode: Mode::Semantic, ..query("retry") };
    let refusal = knowledge::search(&scene.ledger.knowledge, &semantic).unwrap_err();
    assert_eq!(refusal.code, Some("not_configured"));
    assert_eq!(titles(&scene, &Search { mode: Mode::Combined, ..query("retry") }), ["Retry"]);
}

#[test]
fn context_weighs_relevance_against_age() {
    let mut scene = Scene::new();
    published(&mut scene, ask("Retry retry", "retry"));
    scene.pass(30 * DAY);
    published(&mut scene, ask("Note", "retry"));
    let rows = |weight, limit| {
        let now = scene.now;
        knowledge::context(&scene.ledger.knowledge, &query("retry"), now, weight, limit).map(|found| {
            found.iter().map(|row| (row.article.title.clone(), row.recency, row.score)).collect::<Vec<_>>()
        })
    };
    let by_words = rows(0, 5).unwrap();
    assert_eq!((by_words[0].0.as_str(), by_words[0].2), ("Retry retry", 1000));
    let by_age = rows(1000, 5).unwrap();
    assert_eq!((by_age[0].0.as_str(), by_age[0].1), ("Note", 1000));
    assert_eq!(by_age[1].1, 368, "e^-1 after thirty days");
    assert_eq!(rows(300, 1).unwrap().len(), 1);
    assert!(rows(1001, 5).is_err() && rows(300, 21).is_err() && rows(300, 0).is_err());
}

#[test]
fn lint_names_what_is_stale_alone_contradicting_thin_or_broken() {
    let mut scene = Scene::new();
    let sourced = CreateArticle {
        source: Some(Source { kind: "review".into(), reference: Some("gone".into()) }),
        ..ask("a", "b")
    };
    let old = published(&mut scene, sourced);
    scene.pass(91 * DAY);
    let (b, c) = (published(&mut scene, ask("b", "b")), published(&mut scene, ask("c", "c")));
    link(&mut scene, KeyRole::Agent, b, c, LinkKind::Contradicts).unwrap();
    draft_of(&mut scene, "not yet");
    let state = &scene.ledger.knowledge;
    let lint =
        knowledge::lint(state, &LintFor::default(), scene.now, |source| source.kind != "review").unwrap();
    let ids =
        |articles: &[&knowledge::Article]| articles.iter().map(|article| article.id).collect::<Vec<_>>();
    assert_eq!((lint.articles, ids(&lint.stale), ids(&lint.orphans)), (3, vec![old], vec![old]));
    assert_eq!((lint.contradiction_count, ids(&lint.broken_sources)), (1, vec![old]));
    assert_eq!(lint.thin.len(), 4, "patterns are three, the others none");
    let capped = LintFor { stale_days: 1, most: 1, ..LintFor::default() };
    scene.pass(2 * DAY);
    let lint = knowledge::lint(&scene.ledger.knowledge, &capped, scene.now, |_| true).unwrap();
    assert_eq!((lint.stale.len(), lint.stale_count), (1, 3));
    let wrong = LintFor { most: 501, ..LintFor::default() };
    assert!(knowledge::lint(&scene.ledger.knowledge, &wrong, scene.now, |_| true).is_err());
}

#[test]
fn reading_is_counted_by_article_reader_and_project() {
    let mut scene = Scene::new();
    let (read, idle) = (published(&mut scene, ask("a", "b")), published(&mut scene, ask("c", "d")));
    let since = scene.now;
    scene.pass(DAY);
    for kind in [AccessKind::Get, AccessKind::Search] {
        let note = |draft: &mut Draft<'_>| {
            knowledge::note_access(draft, vec![read], kind, Some(project()), None);
            Ok(())
        };
        scene.run(&key(KeyRole::Agent), note).unwrap();
    }
    let before = scene.entries.len();
    let nothing = |draft: &mut Draft<'_>| {
        knowledge::note_access(draft, Vec::new(), AccessKind::Search, None, None);
        Ok(())
    };
    scene.run(&key(KeyRole::Agent), nothing).unwrap();
    assert_eq!(scene.entries.len(), before);
    let state = &scene.ledger.knowledge;
    assert_eq!(knowledge::top(state, since, None), [(read, 2)]);
    assert_eq!(knowledge::top(state, since, Some(AccessKind::Get)), [(read, 1)]);
    assert_eq!(knowledge::agent_usage(state, Who::Agent(agent(1)), since).total, 2);
    assert_eq!(knowledge::agent_usage(state, Who::Agent(agent(2)), since).total, 0);
    assert_eq!(knowledge::project_usage(state, project(), since).articles, [(read, 2)]);
    let counts = knowledge::article_stats(state, read);
    assert_eq!((counts.total, counts.readers, counts.last_access), (2, 1, Some(scene.now)));
    let unused: Vec<ArticleId> =
        knowledge::unused(state, scene.now).iter().map(|article| article.id).collect();
    assert_eq!(unused, [idle]);
}
