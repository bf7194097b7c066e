//! Data that does not hold is told of when it is loaded, and nothing is closed on it.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use windlass_test_support::World;

fn data(world: &World) -> PathBuf {
    world.state_dir().join("story-server")
}

/// A server that has answered, and has ended in good order.
fn used() -> (World, String) {
    let (world, user) = founded();
    let server = Server::start(&world).unwrap();
    for name in ["One", "Two"] {
        let (status, made) = server.ask(&user, "POST", "/projects", "", &json!({ "name": name })).unwrap();
        assert_eq!(status, 201, "{made}");
    }
    server.stop();
    (world, user)
}

fn health(server: &Server) -> (u16, String) {
    let address = server.url().split_once("://").unwrap().1.to_owned();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

#[test]
fn a_chain_that_was_changed_stops_custody_and_health_says_so() {
    let (world, user) = used();
    let server = Server::start(&world).unwrap();
    assert_eq!(health(&server).0, 200);
    server.stop();
    let file = rusqlite::Connection::open(data(&world).join("stories.db")).unwrap();
    let changed = file
        .execute("UPDATE facts SET payload = replace(payload, 'One', 'Uno') WHERE payload LIKE '%One%'", ())
        .unwrap();
    assert!(changed > 0);
    drop(file);

    let server = Server::start(&world).unwrap();
    let (status, told) = health(&server);
    assert_eq!(status, 503, "{told}");
    assert!(told.contains("degraded") && told.contains("does not hold"), "{told}");
    let (status, _) = server.ask(&user, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(status, 200, "reading goes on");
    let agent = json!({ "name": "a", "role": "agent" });
    let (_, made) = server.ask(&user, "POST", "/api_keys", "", &agent).unwrap();
    let key = made["raw_key"].as_str().unwrap();
    server.ask(&user, "POST", "/projects/one/epics", "", &json!({"number": 1, "title": "E"})).unwrap();
    let story = json!({"number": "1.1", "title": "S", "epic_number": 1});
    let (status, made) = server.ask(&user, "POST", "/projects/one/stories", "", &story).unwrap();
    assert_eq!(status, 201, "{made}");
    let echo = json!({"story_title": "S", "ac_count": 0});
    let (status, refused) = server.ask(key, "POST", "/stories/1.1/contract", "", &echo).unwrap();
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("tenant_halted")), "{refused}");
    server.stop();
}

#[test]
fn nobody_becomes_superadmin_by_changing_the_list_of_operators() {
    let (world, user) = used();
    let told = world.windlass(&["serve", "new-key", "ops", "--superadmin", "--json"]).exits_with(0);
    let told: Value = serde_json::from_str(told.stdout.trim()).unwrap();
    let operator = told["key"].as_str().unwrap().to_owned();
    let server = Server::start(&world).unwrap();
    let (status, all) = server.ask(&operator, "GET", "/admin/tenants", "", &Value::Null).unwrap();
    assert_eq!(status, 200, "{all}");
    server.stop();
    let file = rusqlite::Connection::open(data(&world).join("stories.db")).unwrap();
    let sql = "UPDATE facts SET payload = replace(payload, 'ops', 'Ops') WHERE run = 'stories:registry'";
    assert!(file.execute(sql, ()).unwrap() > 0);
    drop(file);

    let server = Server::start(&world).unwrap();
    let (status, told) = health(&server);
    assert_eq!(status, 503, "{told}");
    assert!(told.contains("the whole server") && told.contains("does not hold"), "{told}");
    let (status, refused) = server.ask(&operator, "GET", "/admin/tenants", "", &Value::Null).unwrap();
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("registry_damaged")), "{refused}");
    let (status, _) = server.ask(&user, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(status, 200, "tenants go on");
    server.stop();
}

#[test]
fn a_server_whose_signing_key_is_gone_does_not_start_with_another() {
    let (world, _) = used();
    let keys: Vec<PathBuf> =
        std::fs::read_dir(data(&world).join("keys")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!keys.is_empty());
    for file in &keys {
        std::fs::rename(file, world.path().join(file.file_name().unwrap())).unwrap();
    }

    let refused = world.windlass(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stdout.contains("WL-STORY-006"), "{}{}", refused.stdout, refused.stderr);
    assert_eq!(std::fs::read_dir(data(&world).join("keys")).unwrap().count(), 0, "none was made");

    for file in &keys {
        std::fs::rename(world.path().join(file.file_name().unwrap()), file).unwrap();
    }
    Server::start(&world).unwrap().stop();
}

#[test]
fn a_key_is_not_made_in_a_directory_that_holds_no_queue() {
    let (world, _) = used();
    let typo = world.path().join("typo");
    let refused =
        world.windlass(&["serve", "new-key", "x", "--tenant", "team-blue", "--data", typo.to_str().unwrap()]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("holds no queue"), "{}", refused.stderr);
    assert!(!typo.exists());
}
