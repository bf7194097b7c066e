//! Events leave the running server, survive its death, and leave the queue on this machine as well.

use super::server::{Server, founded};
use crate::world;
use serde_json::{Value, json};
use windlass_test_support::{Said, WebhookReceiver, wait_until};

#[test]
fn what_was_on_its_way_when_the_server_was_killed_is_sent_again_under_the_same_id() {
    let (world, key) = founded();
    let receiver = WebhookReceiver::that_answers(&[Said::Silence, Said::Status(200)]);
    let server = Server::start_with(&world, &["--private-webhooks"]).unwrap();
    let ask = json!({ "url": receiver.url(), "events": ["project.imported"] });
    let (status, made) = server.ask(&key, "POST", "/webhooks", "", &ask).unwrap();
    assert_eq!(status, 201, "{made}");
    let webhook = made["webhook"]["id"].as_str().unwrap().to_owned();
    let (status, _) =
        server.ask(&key, "POST", &format!("/webhooks/{webhook}/test"), "", &Value::Null).unwrap();
    assert_eq!(status, 202);
    let first = receiver.next();
    let (status, _) = server.ask(&key, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(status, 200, "a silent receiver holds up nobody");
    let _ = server.process.kill();

    let server = Server::start_with(&world, &["--private-webhooks"]).unwrap();
    let again = receiver.next();
    assert_eq!(again.id(), first.id());
    assert_eq!(again.json()["event"], "webhook.test");
    let sent = wait_until("the delivery to be settled", || {
        let path = format!("/webhooks/{webhook}/deliveries");
        let (_, sent) = server.ask(&key, "GET", &path, "", &Value::Null).unwrap();
        (sent["data"][0]["status"] == "delivered").then_some(sent)
    });
    assert_eq!(sent["data"][0]["attempts"], 1, "the try that nobody answered was never settled: {sent}");
    assert!(!receiver.has_more());
    server.stop();
}

#[test]
fn without_leave_a_server_calls_no_private_address() {
    let (world, key) = founded();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    let server = Server::start(&world).unwrap();
    let ask = json!({ "url": receiver.url(), "events": ["project.imported"] });
    let (status, refused) = server.ask(&key, "POST", "/webhooks", "", &ask).unwrap();
    assert_eq!(status, 422, "{refused}");
    server.stop();
}

#[test]
fn the_queue_on_this_machine_tells_at_the_end_of_a_command() {
    let world = world();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(204)]);
    let words =
        ["story", "webhook", "create", "--url", &receiver.url(), "--events", "story.verified", "--json"];
    let made = world.windlass(&words).exits_with(0).json();
    let id = made["webhook"]["id"].as_str().unwrap().to_owned();
    let _ = world.windlass(&["story", "webhook", "test", &id]).exits_with(0);
    assert_eq!(receiver.next().json()["event"], "webhook.test");
    let sent = world.windlass(&["story", "webhook", "deliveries", &id, "--json"]).exits_with(0).json();
    assert_eq!(sent["data"][0]["status"], "delivered", "{sent}");
}
