//! Section 11: webhooks, their outbox, and the hosts they may name.

use crate::scene::{DAY, Scene, assert_least, epic, key, kind, project, story, uuid};
use std::collections::BTreeSet;
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::facts;
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::{
    DeliveryId, JsonText, KeyRole, Micros, ProjectId, WebhookId,
};
use windlass_protocols::protocol::story_queue::webhooks::{
    self, Attempt, ChangeWebhook, CreateWebhook, Delivery, DeliveryStatus, Event, Payload, RETRY_SECONDS,
    Resolved, is_public_address,
};
use windlass_protocols::protocol::story_queue::work::{self, AgentStatus, How, Standing};

fn ask(url: &str) -> CreateWebhook {
    CreateWebhook {
        url: url.into(),
        resolved: Resolved::Public,
        sealed_secret: "sealed".into(),
        events: BTreeSet::from([Event::StoryVerified]),
        project: None,
        most: 10,
    }
}

fn create(scene: &mut Scene) -> WebhookId {
    scene
        .run(&key(KeyRole::User), |draft| webhooks::create_webhook(draft, ask("https://example.org/hook")))
        .expect("the scene allows it")
}

fn tell(scene: &mut Scene, event: Event, project: Option<ProjectId>) {
    let told = |draft: &mut Draft<'_>| {
        webhooks::announce(draft, event, project, Payload::new().text("story_id", "x"));
        Ok(())
    };
    scene.run(&key(KeyRole::Agent), told).expect("the scene allows it");
}

fn first_due(scene: &Scene) -> Option<DeliveryId> {
    scene.ledger.webhooks.due(scene.now).next().map(|(delivery, _)| delivery.id)
}

fn attempt(scene: &mut Scene, id: DeliveryId, attempt: Attempt) -> DeliveryStatus {
    scene
        .run(&key(KeyRole::Superadmin), |draft| webhooks::attempted(draft, id, attempt, 2))
        .expect("the scene allows it")
}

fn failed() -> Attempt {
    Attempt::Failed { error: "no answer in 10 s".into(), status: None }
}

fn give_up(scene: &mut Scene, id: DeliveryId) {
    while attempt(scene, id, failed()) != DeliveryStatus::Exhausted {
        scene.now = scene.ledger.webhooks.deliveries[&id].next_attempt_at.expect("the scene allows it");
    }
}

#[test]
fn webhooks_are_a_users_and_limited() {
    let mut scene = Scene::new();
    assert_least(KeyRole::User, |caller| {
        scene.run(caller, |draft| webhooks::create_webhook(draft, ask("https://example.org")))
    });
    let id = *scene.ledger.webhooks.webhooks.keys().next().unwrap();
    let same = ChangeWebhook::default();
    assert_least(KeyRole::User, |caller| {
        scene.run(caller, |draft| webhooks::change_webhook(draft, id, same.clone()))
    });
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| webhooks::test_webhook(draft, id)));
    let full = CreateWebhook { most: 2, ..ask("https://example.org") };
    let refusal = scene.run(&key(KeyRole::User), |draft| webhooks::create_webhook(draft, full)).unwrap_err();
    assert_eq!(refusal.code, Some("limit_reached"));
    let none = CreateWebhook { events: BTreeSet::new(), ..ask("https://example.org") };
    assert_eq!(
        kind(scene.run(&key(KeyRole::User), |draft| webhooks::create_webhook(draft, none))),
        Some(Kind::Invalid)
    );
}

#[test]
fn private_hosts_are_refused_as_written_and_as_resolved() {
    let mut scene = Scene::new();
    let user = key(KeyRole::User);
    let private = [
        "http://localhost/x",
        "http://LOCALHOST.:80",
        "http://127.0.0.1",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://10.1.2.3",
        "http://172.16.0.1",
        "http://192.168.1.1",
        "http://169.254.169.254/latest",
        "http://100.64.0.1",
        "http://0.0.0.0",
        "http://[::1]:8080/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://printer.local/",
        "http://metadata.google.internal/",
        "http://user@example.org/",
        "http://example.org\\@127.0.0.1/",
        "ftp://example.org/",
        "example.org",
        "http:///x",
    ];
    for url in private {
        let answer = scene.run(&user, |draft| webhooks::create_webhook(draft, ask(url)));
        assert_eq!(kind(answer), Some(Kind::Invalid), "{url}");
    }
    let resolves_inside = CreateWebhook { resolved: Resolved::Private, ..ask("https://example.org/") };
    let answer = scene.run(&user, |draft| webhooks::create_webhook(draft, resolves_inside));
    assert_eq!(kind(answer), Some(Kind::Invalid));
    let id = create(&mut scene);
    let moved =
        ChangeWebhook { url: Some(("http://10.0.0.1".into(), Resolved::Public)), ..ChangeWebhook::default() };
    let answer = scene.run(&user, |draft| webhooks::change_webhook(draft, id, moved));
    assert_eq!(kind(answer), Some(Kind::Invalid), "also when it is changed");
    for url in ["https://8.8.8.8/", "https://[2606:4700::1111]:444/a?b#c", "http://127.example.org/"] {
        scene.run(&user, |draft| webhooks::create_webhook(draft, ask(url))).unwrap();
    }
}

#[test]
fn addresses_written_as_others_are_seen_through() {
    for inside in [
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "::",
        "ff02::1",
        "198.18.0.1",
        "255.255.255.255",
    ] {
        assert!(!is_public_address(inside.parse().unwrap()), "{inside}");
    }
    for outside in ["1.1.1.1", "2a00:1450::1", "64:ff9b::808:808"] {
        assert!(is_public_address(outside.parse().unwrap()), "{outside}");
    }
}

#[test]
fn an_event_goes_to_those_who_asked_for_it_in_that_project() {
    let mut scene = Scene::new();
    let everywhere = create(&mut scene);
    let inside = CreateWebhook { project: Some(project()), ..ask("https://example.org") };
    let inside = scene.run(&key(KeyRole::User), |draft| webhooks::create_webhook(draft, inside)).unwrap();
    tell(&mut scene, Event::StoryRejected, Some(project()));
    assert_eq!(scene.ledger.webhooks.deliveries.len(), 0);
    tell(&mut scene, Event::StoryVerified, Some(ProjectId(uuid(9))));
    tell(&mut scene, Event::StoryVerified, Some(project()));
    assert_eq!(scene.ledger.webhooks.deliveries_of(everywhere).count(), 2);
    assert_eq!(scene.ledger.webhooks.deliveries_of(inside).count(), 1);
    let off = ChangeWebhook { active: Some(false), ..ChangeWebhook::default() };
    scene.run(&key(KeyRole::User), |draft| webhooks::change_webhook(draft, everywhere, off)).unwrap();
    assert_eq!(scene.ledger.webhooks.due(scene.now).count(), 1, "switched off: nothing is sent");
    let refused = scene.run(&key(KeyRole::User), |draft| webhooks::test_webhook(draft, everywhere));
    assert_eq!(kind(refused), Some(Kind::Conflict));
    scene.run(&key(KeyRole::User), |draft| webhooks::remove_webhook(draft, inside)).unwrap();
    assert_eq!(scene.ledger.webhooks.deliveries_of(inside).count(), 0);
}

#[test]
fn six_attempts_at_the_told_times_then_it_is_given_up() {
    let mut scene = Scene::new();
    create(&mut scene);
    tell(&mut scene, Event::StoryVerified, None);
    let id = first_due(&scene).unwrap();
    for wait in RETRY_SECONDS {
        assert_eq!(attempt(&mut scene, id, failed()), DeliveryStatus::Failed);
        assert_eq!(first_due(&scene), None);
        scene.pass(wait - 1);
        assert_eq!(first_due(&scene), None);
        scene.pass(1);
        assert_eq!(first_due(&scene), Some(id), "after {wait} s");
    }
    assert_eq!(attempt(&mut scene, id, failed()), DeliveryStatus::Exhausted);
    assert_eq!(scene.ledger.webhooks.deliveries[&id].attempts, 6);
    assert_eq!(scene.ledger.webhooks.next_due(), None);
    let late = |draft: &mut Draft<'_>| webhooks::attempted(draft, id, Attempt::Delivered { status: 200 }, 2);
    assert_eq!(kind(scene.run(&key(KeyRole::Superadmin), late)), Some(Kind::NotFound));
}

#[test]
fn too_many_given_up_in_a_row_switch_it_off_and_one_success_forgives() {
    let mut scene = Scene::new();
    let webhook = create(&mut scene);
    for outcome in [false, true, false, false] {
        tell(&mut scene, Event::StoryVerified, None);
        let id = first_due(&scene).unwrap();
        if outcome {
            attempt(&mut scene, id, Attempt::Delivered { status: 204 });
        } else {
            give_up(&mut scene, id);
        }
        let failures = scene.ledger.webhooks.webhooks[&webhook].consecutive_failures;
        assert_eq!(scene.ledger.webhooks.webhooks[&webhook].active, failures < 2);
    }
    assert!(!scene.ledger.webhooks.webhooks[&webhook].active);
    let on = ChangeWebhook { active: Some(true), ..ChangeWebhook::default() };
    scene.run(&key(KeyRole::User), |draft| webhooks::change_webhook(draft, webhook, on)).unwrap();
    assert_eq!(scene.ledger.webhooks.webhooks[&webhook].consecutive_failures, 0, "a new chance");
}

#[test]
fn long_data_loses_states_and_findings_first() {
    let long = JsonText(format!("\"{}\"", "x".repeat(40_000)));
    let short = Payload::new().text("a", "q\"\\\n\u{1}").json("old_state", &long);
    let (text, truncated) = short.clone().render();
    assert!(!truncated);
    assert!(text.as_str().starts_with(r#"{"a":"q\"\\\n\u0001","old_state":"#));
    let (text, truncated) = short.json("new_state", &long).number("n", -3).render();
    assert!(truncated);
    assert_eq!(text.as_str(), r#"{"a":"q\"\\\n\u0001","n":-3,"truncated":true}"#);
    let (text, _) = Payload::new().text("id", "1").text("body", &"y".repeat(70_000)).render();
    assert_eq!(text.as_str(), r#"{"id":"1","truncated":true}"#);
}

#[test]
fn settled_deliveries_are_forgotten_in_time() {
    let mut scene = Scene::new();
    create(&mut scene);
    tell(&mut scene, Event::StoryVerified, None);
    tell(&mut scene, Event::StoryVerified, None);
    let id = first_due(&scene).unwrap();
    attempt(&mut scene, id, Attempt::Delivered { status: 200 });
    scene.pass(31 * DAY);
    let before = Micros(scene.now.0 - Micros::seconds(30 * DAY).0);
    let forget = |draft: &mut Draft<'_>| Ok(webhooks::forget_deliveries(draft, before));
    assert_eq!(scene.run(&key(KeyRole::Superadmin), forget).unwrap(), 1, "what still waits stays");
    assert!(first_due(&scene).is_some());
}

#[test]
fn event_names_are_spelled_as_clients_know_them() {
    assert_eq!(Event::ALL.len(), 22);
    for event in Event::ALL {
        assert_eq!(event.name().parse(), Ok(*event));
        assert_eq!(serde_json::to_string(event).unwrap(), format!("\"{}\"", event.name()));
    }
    assert!("story.closed".parse::<Event>().is_err());
}

#[test]
fn what_becomes_of_a_story_is_queued_in_the_same_append() {
    let mut scene = Scene::new();
    let events = BTreeSet::from([Event::StoryStatusChanged, Event::EpicCompleted]);
    let asked = CreateWebhook { events, ..ask("https://example.org") };
    let webhook = scene.run(&key(KeyRole::User), |draft| webhooks::create_webhook(draft, asked)).unwrap();
    let moved = work::Change::Moved {
        story: story(1),
        from: Standing::default(),
        to: Standing { agent: AgentStatus::Contracted, ..Standing::default() },
        how: How::Contracted { wording: 0 },
    };
    let imported = work::Change::Moved {
        story: story(2),
        from: Standing::default(),
        to: Standing::default(),
        how: How::Imported { reason: None },
    };
    let before = scene.entries.len();
    let act = |draft: &mut Draft<'_>| {
        for change in [moved, imported, work::Change::EpicCompleted { epic: epic() }] {
            draft.record(Some(project()), facts::Change::Work(change));
        }
        Ok(())
    };
    scene.run(&key(KeyRole::Agent), act).unwrap();
    let queued: Vec<&Delivery> = scene.ledger.webhooks.deliveries_of(webhook).collect();
    assert_eq!(
        queued.iter().map(|told| told.event).collect::<Vec<_>>(),
        [Event::EpicCompleted, Event::StoryStatusChanged]
    );
    assert!(queued[1].payload.as_str().contains(r#""new_state":{"agent_status":"contracted""#));
    assert_eq!(scene.entries.len() - before, 5, "three that happened, two that are told");
    assert!(scene.entries[before..].iter().all(|entry| entry.project == Some(project())));
}
