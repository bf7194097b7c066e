//! One process has the queue on this machine at a time: who waits is told for whom, and tools do not hold it.

use super::orchestrate::stage::{Stage, Turn, plan_of};
use super::server::Server;
use crate::world;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use windlass_test_support::{Signal, wait_until};

#[test]
fn whoever_waits_for_the_queue_is_told_for_whom_and_goes_on_when_it_is_free() {
    let world = world();
    let data = world.state_dir().join("stories");
    let server = Server::start_with(&world, &["--data", data.to_str().unwrap()]).unwrap();
    let waiting = world.start_windlass(&["story", "project", "create", "After all"]);
    wait_until("the waiting command to say for whom it waits", || {
        let said = waiting.stderr();
        assert!(waiting.is_alive(), "it did not wait: {said}");
        let holder = format!("windlass serve (process {})", server.process.pid());
        said.contains(&holder).then_some(())
    });
    server.stop();
    let _ = waiting.wait().exits_with(0);
}

#[test]
fn tools_for_agents_say_for_whom_a_call_waits_and_answer_when_the_queue_is_free() {
    let world = world();
    let _ = world.windlass(&["story", "project", "create", "Beside the tools"]).exits_with(0);
    let tools = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    let address = wait_until("the tools to be there", || {
        let line: Value = serde_json::from_str(tools.stdout().lines().next()?).ok()?;
        Some(line["mcp"].as_str()?.strip_prefix("http://")?.strip_suffix("/mcp")?.to_owned())
    });
    let keys = std::fs::read_to_string(world.state_dir().join("stories/keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let data = world.state_dir().join("stories");
    let server = Server::start_with(&world, &["--data", data.to_str().unwrap()]).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "list_projects", "arguments": {}}})
    .to_string();
    let mut call = TcpStream::connect(&address).unwrap();
    let key = keys["user"].as_str().unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    call.write_all(head.as_bytes()).unwrap();
    call.write_all(body.as_bytes()).unwrap();
    wait_until("the tools to say for whom the call waits", || {
        tools.stderr().contains(&format!("windlass serve (process {})", server.process.pid())).then_some(())
    });
    server.stop();
    let mut answer = String::new();
    call.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("beside-the-tools"), "{answer}");
    tools.signal(Signal::TERM);
    let _ = tools.wait().exits_with(0);
}

#[test]
fn an_orchestrator_says_for_whom_it_waits_and_goes_on_when_the_queue_is_free() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let data = stage.world.state_dir().join("stories");
    let server = Server::start_with(&stage.world, &["--data", data.to_str().unwrap()]).unwrap();
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the orchestrator to say for whom it waits", || {
        let holder = format!("windlass serve (process {})", server.process.pid());
        running.stderr().contains(&holder).then_some(())
    });
    server.stop();
    let _ = running.wait().exits_with(0);
    assert_eq!(stage.landed(), ["1.1"]);
}

#[test]
fn an_orchestrator_that_is_under_way_says_so_too() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let data = stage.world.state_dir().join("stories");
    let server = Server::start_with(&stage.world, &["--data", data.to_str().unwrap()]).unwrap();
    std::fs::write(stage.world.shared("go"), "").unwrap();
    wait_until("the orchestrator to say for whom it waits", || {
        let holder = format!("windlass serve (process {})", server.process.pid());
        running.stdout().contains(&holder).then_some(())
    });
    server.stop();
    let _ = running.wait().exits_with(0);
    assert_eq!(stage.landed(), ["1.1"]);
}

#[test]
fn tools_for_agents_leave_the_queue_to_others_between_calls() {
    let world = world();
    let tools = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    wait_until("the tools to be there", || tools.stdout().contains("mcp").then_some(()));
    let _ = world.windlass(&["story", "project", "create", "Beside the tools"]).exits_with(0);
    tools.signal(Signal::TERM);
    let _ = tools.wait().exits_with(0);
}
