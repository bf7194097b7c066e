//! A real agent program uses the story queue's tools: it is told of them, the model calls one, the queue has what it did.

use crate::stage::Stage;
use serde_json::json;
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{ModelScript, Turn};

#[test]
fn claude_lists_and_calls_a_tool_of_the_story_queue() {
    let call = Turn::tool("create_project", json!({ "name": "By an agent", "slug": "by-an-agent" }));
    let script = ModelScript::of([call, Turn::say("The project is there.")]);
    let Some(stage) = Stage::with(&[AgentProgram::Claude], script) else { return };
    let mut world = stage.world;
    // All tools are in the request, none behind a search.
    world.set("ENABLE_TOOL_SEARCH", "false");
    let server = json!({
        "command": world.program(), "args": ["mcp", "--local", "--as", "user"],
        "env": { "WINDLASS_STATE_DIR": world.state_dir() },
    });
    let config = world.path().join("mcp.json");
    std::fs::write(&config, json!({ "mcpServers": { "stories": server } }).to_string()).unwrap();
    let words = [
        "-p",
        "Make the project",
        "--strict-mcp-config",
        "--mcp-config",
        config.to_str().unwrap(),
        "--allowedTools",
        "mcp__stories__create_project",
    ];
    let claude = world.agent_launchers().join("claude");
    let output = world.run(&claude, world.path(), &words, "").exits_with(0);
    let projects = world.windlass(&["story", "project", "list", "--json"]).exits_with(0).json();
    assert_eq!(
        projects["data"][0]["slug"], "by-an-agent",
        "{projects}\n{}\n{}",
        output.stdout, output.stderr
    );
}
