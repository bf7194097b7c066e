//! The tools as others see them: the official client library lists and calls them, over pipes and over HTTP; a process with
//! two roles of one agent does not start.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::Path;
use windlass_test_support::{McpLibrary, Signal, World, wait_until};

/// Connects, lists, calls two tools, and says what came back as one JSON object.
const CLIENT: &str = r"
const [sdk, way, target] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
let transport;
if (way === 'stdio') {
  const { StdioClientTransport } = await import(`${sdk}/dist/esm/client/stdio.js`);
  transport = new StdioClientTransport({ command: target, args: ['mcp'], env: { ...process.env } });
} else {
  const { StreamableHTTPClientTransport } = await import(`${sdk}/dist/esm/client/streamableHttp.js`);
  const headers = { Authorization: `Bearer ${process.env.LOOPCTL_API_KEY}` };
  transport = new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
}
const client = new Client({ name: 'windlass-test', version: '1.0.0' });
await client.connect(transport);
await client.ping();
const { tools } = await client.listTools();
const made = await client.callTool({ name: 'create_project', arguments: { name: 'By tool', slug: 'by-tool' } });
const refused = await client.callTool({ name: 'claim_story', arguments: { story_id: 'US-9.9' } });
console.log(JSON.stringify({ server: client.getServerVersion(), tools: tools.map((tool) => tool.name), made, refused }));
await client.close();
";

fn played(world: &World, way: &str, target: &str) -> Value {
    let script = world.path().join("client.mjs");
    std::fs::write(&script, CLIENT).unwrap();
    let library = McpLibrary::path();
    let words = [script.to_str().unwrap(), library.to_str().unwrap(), way, target];
    let output = world.run(Path::new("node"), world.path(), &words, "");
    output.exits_with(0).json()
}

#[track_caller]
fn is_right(said: &Value) {
    assert_eq!(said["server"]["name"], "windlass", "{said}");
    let tools = said["tools"].as_array().unwrap();
    for name in ["claim_story", "state_save", "list_changes", "unclaim_story", "list_blocked_stories"] {
        assert!(tools.contains(&json!(name)), "{name}");
    }
    assert!(!said["made"]["isError"].as_bool().unwrap_or(false), "{said}");
    assert_eq!(said["refused"]["isError"], true, "{said}");
    let text = said["refused"]["content"][0]["text"].as_str().unwrap();
    let refusal: Value = serde_json::from_str(text).unwrap();
    assert!(refusal["status"].as_u64().is_some_and(|status| status >= 400), "{refusal}");
}

#[test]
fn the_official_client_lists_and_calls_tools_over_pipes() {
    if !McpLibrary::can_run() {
        return;
    }
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", user);
    is_right(&played(&world, "stdio", world.program().to_str().unwrap()));
    server.stop();
}

#[test]
fn the_official_client_lists_and_calls_tools_over_http() {
    if !McpLibrary::can_run() {
        return;
    }
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", user);
    let tools = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    let address = wait_until("the tools to be there", || {
        let line: Value = serde_json::from_str(tools.stdout().lines().next()?).ok()?;
        Some(line["mcp"].as_str()?.to_owned())
    });
    is_right(&played(&world, "http", &address));
    tools.signal(Signal::TERM);
    let _ = tools.wait().exits_with(0);
    server.stop();
}

#[test]
fn one_process_does_not_hold_two_roles_of_one_agent() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    let ask = |key: &str, path: &str, body: Value| server.ask(key, "POST", path, "", &body).unwrap().1;
    let raw = |made: &Value| made["raw_key"].as_str().unwrap().to_owned();
    let agent = raw(&ask(&user, "/api_keys", json!({"name": "a", "role": "agent"})));
    let ann = ask(&agent, "/agents/register", json!({"name": "ann"}));
    let body = json!({"name": "o", "role": "orchestrator", "agent_id": ann["agent"]["id"]});
    let orchestrator = raw(&ask(&user, "/api_keys", body));
    world.set("LOOPCTL_SERVER", server.url());
    world.set("LOOPCTL_AGENT_KEY", agent).set("LOOPCTL_ORCH_KEY", orchestrator);
    let refused = world.windlass_in(world.path(), &["mcp"], "").exits_with(14);
    assert!(refused.stderr.contains("one process for each role"), "{}", refused.stderr);
    world.unset("LOOPCTL_ORCH_KEY");
    let _ = world.windlass_in(world.path(), &["mcp"], "").exits_with(0);
    server.stop();
}

#[test]
fn no_file_of_this_machine_is_read_for_a_client_over_http() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url());
    let tools = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    let address = wait_until("the tools to be there", || {
        let line: Value = serde_json::from_str(tools.stdout().lines().next()?).ok()?;
        Some(line["mcp"].as_str()?.strip_prefix("http://")?.strip_suffix("/mcp")?.to_owned())
    });
    let file = world.path().join("plan.json");
    std::fs::write(&file, r#"{"epics": []}"#).unwrap();
    let arguments = json!({"project_id": "p", "payload_path": file});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"name": "import_stories", "arguments": arguments}})
    .to_string();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nauthorization: Bearer {user}\r\n\
         content-type: application/json\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("send the payload itself"), "{answer}");
    tools.signal(Signal::TERM);
    let _ = tools.wait().exits_with(0);
    server.stop();
}
