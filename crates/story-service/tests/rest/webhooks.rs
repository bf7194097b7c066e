//! Events reach their receiver over real HTTP: signed, again after trouble, given up in the end, and never twice where the
//! first try was answered.

use crate::support::{Team, World};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_control_api::stories::Method;
use windlass_story_service::WebhookReach;
use windlass_test_support::{Said, WebhookReceiver};
use windlass_webhook_sender::signature::sign_body;

const PATIENCE: Duration = Duration::from_secs(15);

struct Listening {
    world: World,
    team: Team,
    receiver: WebhookReceiver,
    webhook: String,
    secret: String,
}

/// A webhook for new agents, whose receiver says this.
async fn listening(said: &[Said]) -> Listening {
    let world = World::new().letting_webhooks(WebhookReach::Anywhere);
    let team = world.team("acme").await;
    let receiver = WebhookReceiver::that_answers(said);
    let ask = json!({ "url": receiver.url(), "events": ["agent.registered"] });
    let made = world.post(&team.user, "/webhooks", ask).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (webhook, secret) = (text(&made["webhook"]["id"]), text(&made["signing_secret"]));
    Listening { world, team, receiver, webhook, secret }
}

impl Listening {
    async fn something_happens(&self) {
        let name = format!("agent {}", self.world.fresh_number());
        let made =
            self.world.post(&self.team.user, "/api_keys", json!({ "name": name, "role": "agent" })).await;
        let key = made["raw_key"].as_str().unwrap();
        self.world.post(key, "/agents/register", json!({ "name": name, "agent_type": "implementer" })).await;
    }

    async fn deliver(&self) {
        self.world.service.deliver_due(PATIENCE).await.unwrap();
    }

    /// Newest first.
    async fn deliveries(&self) -> Vec<Value> {
        let path = format!("/webhooks/{}/deliveries?page_size=100", self.webhook);
        self.world.get(&self.team.user, &path).await["data"].as_array().unwrap().clone()
    }

    async fn webhook(&self) -> Value {
        self.world.get(&self.team.user, "/webhooks").await["data"][0].clone()
    }
}

#[tokio::test]
async fn what_happens_is_told_once_and_signed() {
    let scene = listening(&[Said::Status(204)]).await;
    scene.something_happens().await;
    scene.deliver().await;
    scene.deliver().await;

    let told = scene.receiver.next();
    assert_eq!(told.headers["x-signature-256"], sign_body(&scene.secret, &told.body));
    assert_eq!(told.headers["user-agent"], "Loopctl-Webhook/1.0");
    assert!(told.headers["x-webhook-timestamp"].parse::<u64>().is_ok());
    let body = told.json();
    assert_eq!((body["id"].as_str(), body["event"].as_str()), (Some(told.id()), Some("agent.registered")));
    assert!(body["timestamp"].is_string() && body["data"]["agent_id"].is_string(), "{body}");
    assert!(!scene.receiver.has_more(), "once");
    let sent = scene.deliveries().await;
    assert_eq!((sent.len(), &sent[0]["status"], &sent[0]["attempts"]), (1, &json!("delivered"), &json!(1)));
    assert_eq!(sent[0]["response_status"], 204);
    let listed = scene.webhook().await.to_string();
    assert!(!listed.contains(&scene.secret) && !listed.contains("secret"), "{listed}");
}

#[tokio::test]
async fn after_trouble_it_is_tried_again_when_its_time_has_come() {
    let scene = listening(&[Said::Status(500), Said::Status(503), Said::Status(200)]).await;
    scene.something_happens().await;
    scene.deliver().await;
    let first = scene.receiver.next();
    assert_eq!(scene.deliveries().await[0]["status"], "failed");
    assert_eq!(scene.deliveries().await[0]["error"], "the answer was 500");

    scene.world.pass(59);
    scene.deliver().await;
    assert!(!scene.receiver.has_more(), "not before its time");
    scene.world.pass(1);
    scene.deliver().await;
    assert_eq!(scene.receiver.next().id(), first.id(), "the same delivery");
    scene.world.pass(300);
    // A server that was killed in between knows where it was.
    let world = scene.world.restarted().letting_webhooks(WebhookReach::Anywhere);
    let scene = Listening { world, ..scene };
    scene.deliver().await;
    assert_eq!(scene.receiver.next().id(), first.id());
    let sent = scene.deliveries().await;
    assert_eq!((&sent[0]["status"], &sent[0]["attempts"]), (&json!("delivered"), &json!(3)));
    assert_eq!(scene.webhook().await["consecutive_failures"], 0);
}

#[tokio::test]
async fn what_never_arrives_is_given_up_and_too_much_of_it_switches_the_webhook_off() {
    let scene = listening(&[Said::Status(500)]).await;
    let settings = json!({ "settings": { "webhook_max_consecutive_failures": 2 } });
    assert_eq!(scene.world.ask(&scene.team.user, Method::Patch, "/tenants/me", settings).await.status, 200);
    scene.something_happens().await;
    scene.something_happens().await;
    for wait in [0, 60, 300, 1500, 7200, 36_000] {
        scene.world.pass(wait);
        scene.deliver().await;
    }

    let sent = scene.deliveries().await;
    assert!(sent.iter().all(|one| one["status"] == "exhausted" && one["attempts"] == 6), "{sent:?}");
    let webhook = scene.webhook().await;
    assert_eq!((&webhook["active"], &webhook["consecutive_failures"]), (&json!(false), &json!(2)));
    scene.something_happens().await;
    assert_eq!(scene.deliveries().await.len(), 2, "nobody is told who does not listen");

    let days = |days: u64| days * 86_400;
    scene.world.pass(days(29));
    scene.world.service.look_after_costs().await.unwrap();
    assert_eq!(scene.deliveries().await.len(), 2, "kept for thirty days");
    scene.world.pass(days(2));
    scene.world.service.look_after_costs().await.unwrap();
    assert_eq!(scene.deliveries().await.len(), 0);
}

#[tokio::test]
async fn one_that_is_switched_on_again_gets_what_waited() {
    let scene = listening(&[Said::Status(200)]).await;
    let path = format!("/webhooks/{}", scene.webhook);
    scene.something_happens().await;
    let switch = async |active: bool| {
        let body = json!({ "active": active });
        assert_eq!(scene.world.ask(&scene.team.user, Method::Patch, &path, body).await.status, 200);
    };
    switch(false).await;
    scene.deliver().await;
    assert!(!scene.receiver.has_more());
    switch(true).await;
    scene.deliver().await;
    assert_eq!(scene.receiver.next().json()["event"], "agent.registered");
}

#[tokio::test]
async fn a_receiver_that_is_silent_fails_and_holds_up_nobody() {
    let scene = listening(&[Said::Silence]).await;
    let other = WebhookReceiver::that_answers(&[Said::Status(200)]);
    let ask = json!({ "url": other.url(), "events": ["agent.registered"] });
    scene.world.post(&scene.team.user, "/webhooks", ask).await;
    scene.something_happens().await;
    scene.something_happens().await;

    scene.world.service.deliver_due(Duration::from_secs(1)).await.unwrap();

    assert_eq!(other.next().json()["event"], "agent.registered");
    assert_eq!(other.next().json()["event"], "agent.registered");
    let silent = scene.deliveries().await;
    let failed: Vec<_> = silent.iter().filter(|one| one["status"] == "failed").collect();
    assert_eq!((failed.len(), &failed[0]["error"]), (1, &json!("no answer in 1 s")), "{silent:?}");
}

#[tokio::test]
async fn a_test_is_sent_to_the_webhook_that_is_tested() {
    let scene = listening(&[Said::Status(200)]).await;
    let answer =
        scene.world.post(&scene.team.user, &format!("/webhooks/{}/test", scene.webhook), json!({})).await;
    scene.deliver().await;
    let told = scene.receiver.next();
    assert_eq!(
        (told.json()["event"].as_str(), Some(told.id())),
        (Some("webhook.test"), answer["delivery_id"].as_str())
    );
}

#[tokio::test]
async fn what_was_sent_last_stands_first() {
    let scene = listening(&[Said::Status(200)]).await;
    let path = format!("/webhooks/{}/test", scene.webhook);
    let mut asked = Vec::new();
    for _ in 0..3 {
        scene.world.pass(60);
        asked.push(scene.world.post(&scene.team.user, &path, json!({})).await["delivery_id"].clone());
    }
    asked.reverse();
    let told: Vec<_> = scene.deliveries().await.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(told, asked);
}

#[tokio::test]
async fn the_loop_sends_by_itself_as_soon_as_something_happens() {
    let scene = listening(&[Said::Status(200)]).await;
    let told = async {
        scene.something_happens().await;
        tokio::task::yield_now().await;
        while scene.deliveries().await[0]["status"] != "delivered" {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = scene.world.service.keep_delivering() => panic!("{ended:?}"),
        () = told => {}
    }
    assert_eq!(scene.receiver.next().json()["event"], "agent.registered");
}

#[tokio::test]
async fn a_private_address_is_neither_taken_nor_called() {
    let world = World::new();
    let team = world.team("acme").await;
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    let ask = json!({ "url": receiver.url(), "events": ["agent.registered"] });
    let (status, error) = world.refused(&team.user, "/webhooks", ask).await;
    assert_eq!(
        (status, &error["details"]["url"][0]),
        (422, &json!("must not point to a private or loopback host"))
    );

    // One that was taken while that was allowed.
    let scene = listening(&[Said::Status(200)]).await;
    scene.something_happens().await;
    let world = scene.world.restarted().letting_webhooks(WebhookReach::PublicOnly);
    let scene = Listening { world, ..scene };
    scene.deliver().await;
    let error = scene.deliveries().await[0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("127.0.0.1 must not be called"), "{error}");
    assert!(!scene.receiver.has_more());
}
