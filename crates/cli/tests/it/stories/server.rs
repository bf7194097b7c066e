//! A server of the story queue beside the test, and the plainest client there is.

use crate::world;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use windlass_test_support::{Background, Signal, World, wait_until};

pub(super) struct Server {
    pub(super) process: Background,
    url: String,
    address: String,
}

/// What came back: a status and a body, or nothing because the server was gone.
pub(super) type Came = Option<(u16, Value)>;

impl Server {
    /// Absent when it was killed before it listened.
    pub(super) fn start(world: &World) -> Option<Self> {
        Self::start_with(world, &[])
    }

    pub(super) fn start_with(world: &World, more: &[&str]) -> Option<Self> {
        let words = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let process = world.start_windlass(&words);
        let url = wait_until("the server to listen, or to be killed", || {
            let lines = process.stdout();
            let found = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let url = found
                .filter(|line| line["event"] == "listening")
                .find_map(|line| Some(line["url"].as_str()?.to_owned()));
            if url.is_some() || !process.is_alive() { Some(url) } else { None }
        });
        let url = url?;
        let address = url.split_once("://")?.1.to_owned();
        Some(Self { process, url, address })
    }

    pub(super) fn ask(&self, key: &str, method: &str, path: &str, idempotency: &str, body: &Value) -> Came {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let length = body.len();
        let request = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\
             idempotency-key: {idempotency}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).ok()?))
    }

    /// What came, where it must be done.
    #[track_caller]
    pub(super) fn done(&self, key: &str, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(key, method, path, "", body).expect("the server answers");
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// A key of an agent of its own, made by the user.
    #[track_caller]
    pub(super) fn agent(&self, user: &str, name: &str, role: &str) -> String {
        let raw = |made: &Value| made["raw_key"].as_str().expect("a new key is shown once").to_owned();
        let key = raw(&self.done(user, "POST", "/api_keys", &json!({ "name": name, "role": "agent" })));
        let kind = if role == "orchestrator" { "orchestrator" } else { "implementer" };
        let me = json!({ "name": name, "agent_type": kind });
        let made = self.done(&key, "POST", "/agents/register", &me);
        if role == "agent" {
            return key;
        }
        let bound =
            json!({ "name": format!("{name} as {role}"), "role": role, "agent_id": made["agent"]["id"] });
        raw(&self.done(user, "POST", "/api_keys", &bound))
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn stop(self) {
        assert!(self.stop_or_be_killed(), "the server was killed");
    }

    /// Whether it came to its end in good order; else it was killed on the way there.
    pub(super) fn stop_or_be_killed(self) -> bool {
        self.process.signal(Signal::TERM);
        let ended = self.process.wait();
        if ended.signal == Some(9) {
            return false;
        }
        let _ = ended.exits_with(0);
        true
    }
}

/// A tenant of its own, and the key of its first user.
pub(super) fn founded() -> (World, String) {
    let world = world();
    let told = world.windlass(&["serve", "new-tenant", "Team Blue", "--json"]).exits_with(0);
    let line: Value = serde_json::from_str(told.stdout.trim()).unwrap();
    (world, line["key"].as_str().unwrap().to_owned())
}

#[test]
fn the_first_start_prints_a_key_once_and_a_signal_ends_it_in_good_order() {
    let world = world();
    let server = Server::start(&world).unwrap();
    let first = server.process.stdout();
    let key = first.lines().find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line["key"].as_str()?.to_owned())
    });
    let key = key.unwrap();
    let (status, made) = server.ask(&key, "POST", "/projects", "", &json!({ "name": "One" })).unwrap();
    assert_eq!(status, 201, "{made}");
    server.stop();

    let again = Server::start(&world).unwrap();
    assert!(!again.process.stdout().contains("lc_"), "{}", again.process.stdout());
    let (_, projects) = again.ask(&key, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(projects["data"][0]["slug"], "one");
    again.stop();
    let files = std::fs::read_dir(world.state_dir().join("story-server")).unwrap();
    for file in files.filter_map(|file| std::fs::read(file.unwrap().path()).ok()) {
        assert!(!String::from_utf8_lossy(&file).contains(&key), "the raw key is kept somewhere");
    }
}
