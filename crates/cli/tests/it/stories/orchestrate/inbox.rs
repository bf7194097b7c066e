//! Stories that wait for a person without anybody having worked on them: `windlass inbox` says why, and what it says to type
//! goes on from there.

use super::stage::{Stage, Turn, plan_of};
use crate::stories::server::{Server, founded};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass_test_support::World;

/// The stories in the inbox.
fn waiting(world: &World) -> Vec<Value> {
    let inbox = world.windlass(&["inbox", "--json"]).exits_with(0).json();
    inbox.as_array().unwrap().iter().filter(|one| one["kind"] == "stories").cloned().collect()
}

/// Types what the inbox says, word for word.
fn type_it(world: &World, command: &Value) -> windlass_test_support::Output {
    let line = command.as_str().unwrap().replace("\"…\"", "looked-at-it");
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "windlass", "{line}");
    world.windlass(&words[1..])
}

/// Ann reports what she implements, and is refused.
fn quarantine(stage: &Stage, story: &str) {
    for step in ["contract", "claim", "start"] {
        let _ = stage.story(&[step, story, "--as", "agent:ann"]).exits_with(0);
    }
    let refused = stage.story(&["report", story, "--as", "agent:ann", "--json"]).exits_with(14).json();
    assert_eq!(refused["error"]["case"], "self_report_blocked", "{refused}");
}

#[test]
fn a_quarantined_story_waits_in_the_inbox_until_somebody_released_it() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    quarantine(&stage, "US-1.1");

    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();

    assert_eq!(stage.attempts(), 0, "nobody works on it");
    let told = &ended.last().unwrap()["waiting"][0];
    let found = waiting(&stage.world);
    let [story] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((story["task"].as_str(), story["title"].as_str()), (Some("app US-1.1"), Some("Part 1.1")));
    assert_eq!(story["cause"], "it is quarantined: somebody tried what custody forbids", "{story}");
    assert_eq!(told["commands"], story["commands"], "orchestrate and the inbox say the same");
    assert_eq!(story["run"], "", "{story}");
    let shown = stage.world.windlass(&["inbox"]).exits_with(0).stdout;
    assert!(shown.contains("windlass story release US-1.1 --project app"), "{shown}");

    let history = type_it(&stage.world, &story["commands"][0]).exits_with(0).stdout;
    assert!(history.contains("violation"), "who tried what: {history}");
    let _ = type_it(&stage.world, &story["commands"][1]).exits_with(0);
    let _ = stage.story(&["force-unclaim", "US-1.1", "--as", "orchestrator:olga"]).exits_with(0);
    let _ = stage.orchestrate(&[]).exits_with(0);
    assert_eq!((stage.landed(), waiting(&stage.world).len()), (vec!["1.1".to_owned()], 0));
}

#[test]
fn a_quarantined_story_is_found_behind_more_than_a_page_of_others() {
    let numbers: Vec<String> = (1..=501).map(|minor| format!("1.{minor}")).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let (last, others) = numbers.split_last().unwrap();
    let needs: Vec<(&str, &str)> = others.iter().map(|number| (*number, *last)).collect();
    let stage = Stage::of(&plan_of(&numbers, &needs), &[]);
    quarantine(&stage, last);

    let _ = stage.orchestrate(&[]).exits_with(11);

    let found = waiting(&stage.world);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["task"], "app US-1.501");
}

/// Stands before the server and lets somebody change the story at the very moment in which it is to be contracted.
struct Meddler {
    address: String,
    meddled: Arc<AtomicBool>,
}

impl Meddler {
    fn before(server: &Server, user: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let meddled = Arc::new(AtomicBool::new(false));
        let (target, user, done) = (server.url(), user.to_owned(), Arc::clone(&meddled));
        let target = target.split_once("://").unwrap().1.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (target, user, done) = (target.clone(), user.clone(), Arc::clone(&done));
                std::thread::spawn(move || relay(client, &target, &user, &done));
            }
        });
        Self { address, meddled }
    }
}

/// One connection, message for message, until either side has enough.
fn relay(client: TcpStream, target: &str, user: &str, meddled: &AtomicBool) -> Option<()> {
    let mut from_client = BufReader::new(client.try_clone().ok()?);
    let mut to_client = client;
    let mut to_server = TcpStream::connect(target).ok()?;
    let mut from_server = BufReader::new(to_server.try_clone().ok()?);
    loop {
        let request = message(&mut from_client)?;
        let line = String::from_utf8_lossy(&request).lines().next()?.to_owned();
        if line.contains("/contract") && !meddled.swap(true, Ordering::SeqCst) {
            let body = json!({ "title": "Other words" }).to_string();
            let edit = format!(
                "PATCH /api/v1/stories/US-1.1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {user}\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            to_server.write_all(edit.as_bytes()).ok()?;
            message(&mut from_server)?;
        }
        to_server.write_all(&request).ok()?;
        to_client.write_all(&message(&mut from_server)?).ok()?;
    }
}

/// Head and body of one message of HTTP/1.1.
fn message(from: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let (mut whole, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        whole.extend(line.as_bytes());
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    whole.extend(body);
    Some(whole)
}

#[test]
fn a_story_whose_contract_failed_waits_in_the_inbox_and_is_tried_again_when_a_person_says_so() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    let repository = world.repository("repo");
    // The first attempt was at other words, and ended with its contract.
    let script: String = [Turn::good("1.1", 2)].iter().map(Turn::script).collect();
    let agent = world.agent_from_text("agents.toml", &script);
    let (status, made) = server.ask(&user, "POST", "/projects", "", &json!({ "name": "App" })).unwrap();
    assert_eq!(status, 201, "{made}");
    let plan = plan_of(&["1.1"], &[]);
    let (status, came) = server.ask(&user, "POST", "/projects/app/import", "", &plan).unwrap();
    assert_eq!(status, 201, "{came}");
    let meddler = Meddler::before(&server, &user);
    world.set("LOOPCTL_SERVER", &meddler.address).set("LOOPCTL_API_KEY", user);
    let words =
        ["orchestrate", "--project", "app", "--repo", repository.text(), "--agent", &agent, "--no-audit"];

    let ended = world.windlass(&[&words[..], &["--json"]].concat()).exits_with(11).json_lines();

    assert!(meddler.meddled.load(Ordering::SeqCst), "nobody contracted anything");
    assert_eq!(world.steps().len(), 0, "nobody works on a story that could not be said back: {ended:?}");
    let found = waiting(&world);
    let [story] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(story["task"], "app US-1.1", "{story}");
    let cause = story["cause"].as_str().unwrap();
    assert!(cause.starts_with("the contract failed: "), "{story}");
    assert!(story["suggestion"].as_str().unwrap().starts_with("nobody has worked on it yet"), "{story}");
    let [look, again] = story["commands"].as_array().unwrap().as_slice() else { panic!("{story}") };
    assert_eq!(look, "windlass story show US-1.1 --project app");
    assert_eq!(again, &json!(format!("windlass {} --retry US-1.1", words.join(" "))));
    let shown = type_it(&world, look).exits_with(0).stdout;
    assert!(shown.contains("Other words"), "{shown}");

    let again = type_it(&world, again).exits_with(0);
    assert!(again.stdout.contains("1 story landed on windlass/app"), "{}", again.stdout);
    assert_eq!(waiting(&world).len(), 0);
    server.stop();
}
