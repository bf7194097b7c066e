//! Heads over the lives of a server, a client that remembers them, and the way there over TLS.

use super::server::{Server, founded};
use crate::notifications::over_tls::certificates;
use crate::world;
use serde_json::{Value, json};
use windlass_test_support::World;

fn tenant(world: &World) -> String {
    let me = world.windlass(&["story", "whoami", "--json"]).exits_with(0).json();
    me["tenant"]["id"].as_str().unwrap().to_owned()
}

fn remembered(world: &World, server: &Server) -> String {
    let text = std::fs::read_to_string(world.home().join(".loopctl/heads.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut all = all.as_object().unwrap().iter();
    all.find(|(name, _)| name.starts_with(&server.url())).unwrap().1.as_str().unwrap().to_owned()
}

#[test]
fn a_head_signed_at_the_end_is_the_same_after_a_restart_and_the_client_holds_the_server_to_it() {
    let (mut world, key) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", &key);
    let _ = world.windlass(&["story", "project", "create", "One"]).exits_with(0);
    let id = tenant(&world);
    server.stop();

    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url());
    let (_, head) = server.ask("", "GET", &format!("/audit/sth/{id}"), "", &Value::Null).unwrap();
    let position = head["tree_head"]["position"].as_u64().unwrap();
    assert!(position > 1, "what was done before the stop is signed: {head}");
    let verified = world.windlass(&["story", "audit", "verify", "--json"]).exits_with(0).json();
    assert_eq!(
        (&verified["holds"], verified["heads"].as_u64() > Some(0)),
        (&json!(true), true),
        "{verified}"
    );
    let (_, again) =
        server.ask("", "GET", &format!("/audit/sth/{id}?at={position}"), "", &Value::Null).unwrap();
    assert_eq!(again["tree_head"], head["tree_head"]);
    let _ = world.windlass(&["story", "project", "list"]).exits_with(0);
    let seen = remembered(&world, &server);
    assert!(!seen.starts_with("0:"), "{seen}");

    // The client was shown something else for the same place.
    let file = world.home().join(".loopctl/heads.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let place = seen.split(':').next().unwrap();
    std::fs::write(&file, text.replace(&seen, &format!("{place}:AAAAAAAAAAAAAAAAAAAAAA"))).unwrap();
    let said = world.windlass(&["story", "project", "create", "Two"]).exits_with(14);
    assert!(said.stderr.contains("witness_divergence"), "{}", said.stderr);
    assert!(
        said.stderr.contains("another audit chain") && said.stderr.contains("heads.json"),
        "{}",
        said.stderr
    );
    let _ = world.windlass(&["story", "project", "list"]).exits_with(14);
    std::fs::write(&file, text).unwrap();
    let projects = world.windlass(&["story", "project", "list", "--json"]).exits_with(0).json();
    assert_eq!(projects["meta"]["total_count"], 1, "what was refused was not done: {projects}");
    server.stop();
}

#[test]
fn the_server_speaks_tls_to_whoever_trusts_its_authority_and_to_nobody_else() {
    let mut world = world();
    let certificates = certificates(&world);
    let (chain, secret) = (certificates.join("server.pem"), certificates.join("server.key"));
    let words = ["--tls-cert", chain.to_str().unwrap(), "--tls-key", secret.to_str().unwrap()];
    let server = Server::start_with(&world, &words).unwrap();
    assert!(server.url().starts_with("https://"), "{}", server.url());
    let said = server.process.stdout();
    let key = said.lines().find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line["key"].as_str()?.to_owned())
    });
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", key.unwrap());
    let stranger = world.windlass(&["story", "project", "list"]);
    assert_ne!(stranger.code, Some(0), "{}", stranger.stderr);
    assert!(stranger.stderr.contains("SSL_CERT_FILE"), "{}", stranger.stderr);
    assert!(server.ask("", "GET", "/routes", "", &json!(null)).is_none(), "nothing is said in the clear");

    world.set("SSL_CERT_FILE", certificates.join("authority.pem"));
    let _ = world.windlass(&["story", "project", "create", "Over TLS"]).exits_with(0);
    let projects = world.windlass(&["story", "project", "list", "--json"]).exits_with(0).json();
    assert_eq!(projects["data"][0]["slug"], "over-tls", "{projects}");
    server.stop();
}
