//! The story queue's server at work beside the test, and a client of it that speaks plain HTTP over one connection.
//! It knows the server from outside: its words on the command line and what it prints when it begins.

use crate::background::Background;
use crate::waiting::wait_until;
use crate::world::World;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

pub struct StoryServer {
    process: Background,
    address: SocketAddr,
    user_key: String,
}

impl StoryServer {
    /// With an empty data directory, so that it makes a tenant and says the first user's key.
    pub fn start(world: &World, data: &Path) -> Self {
        let data = data.to_str().expect("the data directory has a plain path");
        let (process, said) = started(world, data);
        let user_key = said_of(&said, "key", "key").to_owned();
        Self { process, address: address_in(&said), user_key }
    }

    /// Ends it, makes a key of the operator, for which nobody else may have the data directory, and starts it again.
    pub fn with_operator(self, world: &World, data: &Path) -> (Self, String) {
        self.process.signal(Signal::TERM);
        let _ = self.process.wait().exits_with(0);
        let data = data.to_str().expect("the data directory has a plain path");
        let words = ["serve", "new-key", "operator", "--superadmin", "--json", "--data", data];
        let made = world.windlass(&words).exits_with(0).json_lines();
        let operator = made.iter().find_map(|line| line["key"].as_str()).expect("a new key is shown once");
        let (process, said) = started(world, data);
        (Self { process, address: address_in(&said), user_key: self.user_key }, operator.to_owned())
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn user_key(&self) -> &str {
        &self.user_key
    }

    /// As many calls as a program can make; the limit is for those who share a server.
    pub fn lift_rate_limit(&self) {
        let settings = json!({ "settings": { "rate_limit_requests_per_minute": 10_000_000 } });
        self.user().succeed("PATCH", "/api/v1/tenants/me", &settings);
    }

    pub fn user(&self) -> StoryClient {
        self.client(&self.user_key)
    }

    pub fn client(&self, key: &str) -> StoryClient {
        StoryClient::at(self.address, key)
    }

    /// A key of an agent of its own.
    pub fn agent(&self, name: &str, role: &str) -> String {
        let mut user = self.user();
        let raw = |made: &Value| made["raw_key"].as_str().expect("a new key is shown once").to_owned();
        let kind = if role == "orchestrator" { "orchestrator" } else { "implementer" };
        let key = raw(&user.succeed("POST", "/api/v1/api_keys", &json!({ "name": name, "role": "agent" })));
        let me = json!({ "name": name, "agent_type": kind });
        let agent = self.client(&key).succeed("POST", "/api/v1/agents/register", &me);
        if role == "agent" {
            return key;
        }
        let bound =
            json!({ "name": format!("{name}-{role}"), "role": role, "agent_id": agent["agent"]["id"] });
        raw(&user.succeed("POST", "/api/v1/api_keys", &bound))
    }

    pub fn process(&self) -> &Background {
        &self.process
    }
}

fn started(world: &World, data: &str) -> (Background, Vec<Value>) {
    let process = world.start_windlass(&["serve", "--json", "--listen", "127.0.0.1:0", "--data", data]);
    let said = wait_until("the server says where it listens", || {
        let printed = process.stdout();
        let whole = printed.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let said: Vec<Value> = whole.filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(process.is_alive(), "the server ended: {printed}{}", process.stderr());
        said.iter().any(|line| line["event"] == "listening").then_some(said)
    });
    (process, said)
}

fn said_of<'a>(said: &'a [Value], event: &str, name: &str) -> &'a str {
    let line = said.iter().find(|line| line["event"] == event);
    let text = line.and_then(|line| line[name].as_str());
    text.unwrap_or_else(|| panic!("the server did not say its {name}: {said:?}"))
}

fn address_in(said: &[Value]) -> SocketAddr {
    let address = said_of(said, "listening", "url").trim_start_matches("http://").parse();
    address.unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

pub struct StoryClient {
    stream: BufReader<TcpStream>,
    key: String,
}

impl StoryClient {
    /// Of anything that speaks plain HTTP there.
    pub fn at(address: SocketAddr, key: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a fresh connection takes options");
        Self { stream: BufReader::new(stream), key: key.to_owned() }
    }

    /// The status, and the body as JSON.
    pub fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: windlass\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("the server takes requests");
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut length = 0;
        loop {
            let header = self.line().to_ascii_lowercase();
            match header.split_once(':') {
                Some(("content-length", value)) => {
                    length = value.trim().parse().expect("a length is a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("the server finishes its answers");
        let body = serde_json::from_slice(&body).unwrap_or_default();
        (status.expect("an answer begins with its status"), body)
    }

    /// The body of an answer that says yes.
    #[track_caller]
    pub fn succeed(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    #[track_caller]
    pub fn get(&mut self, path: &str) -> Value {
        self.succeed("GET", path, &Value::Null)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }
}
