//! Turns that go well: what the agent is told, what it says, and in which form that is reported.

use crate::scene::{Scene, ended, initialized, piece, up_to_prompt};
use serde_json::{Value, json};
use windlass_agent_drivers::{Conclusion, EndClaim, ErrorKind, Severity, Signal, UsageScope};

fn said(text: &str) -> Signal {
    Signal::Message { text: text.to_owned(), partial: false }
}

fn finished() -> Signal {
    Signal::End { claim: EndClaim::Finished, answer: None }
}

fn session() -> Signal {
    Signal::Session { id: "s1".to_owned() }
}

#[test]
fn a_turn_is_reported_from_its_session_to_its_end() {
    let write = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "edit", "title": "Write a.txt",
        "rawInput": {"path": "a.txt"}, "status": "in_progress", "locations": [{"path": "/w/a.txt"}]});
    let done = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "ok"});
    let usage = json!({"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 50, "totalTokens": 120});
    let scene = Scene::after_prompt(&[
        json!({"hear": 1}),
        json!({"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}}),
        piece("I wri"),
        piece("te."),
        json!({"update": write}),
        json!({"update": done}),
        piece("Done."),
        json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn", "usage": usage}}}),
    ]);
    let turn = scene.play();
    let id = Some("t1".to_owned());
    let expected = [
        session(),
        said("I write."),
        Signal::ToolCall { name: "edit".to_owned(), detail: "a.txt".to_owned(), id: id.clone() },
        Signal::ToolResult { id, ok: true, detail: "ok".to_owned() },
        Signal::FileChange { path: "/w/a.txt".to_owned() },
        said("Done."),
        Signal::Usage {
            scope: UsageScope::Process,
            reply: None,
            input: 100,
            cached: 50,
            output: 20,
            reasoning: 0,
            cost_micros: None,
        },
        finished(),
    ];
    assert_eq!(turn.signals, expected);
    assert_eq!((turn.code, turn.conclusion()), (0, Conclusion::Finished));
    let blank = turn.stdout.lines().filter(|line| line.is_empty()).count();
    assert_eq!(blank, 4, "a thought and each piece of a message are a sign of life:\n{}", turn.stdout);
}

#[test]
fn the_agent_is_told_who_speaks_where_it_works_and_what_to_do() {
    let scene = Scene::after_prompt(&[ended("end_turn")]);
    let _ = scene.play();
    let heard = scene.heard();
    let request = |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    assert_eq!(heard[0]["method"], "initialize");
    assert_eq!(heard[0]["params"]["protocolVersion"], 1);
    let offered = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    assert_eq!(heard[0]["params"]["clientCapabilities"], offered);
    assert_eq!(heard[1], request(2, "session/new", json!({"cwd": scene.path("work"), "mcpServers": []})));
    let prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Do it.\n"}]});
    assert_eq!(heard[2], request(3, "session/prompt", prompt));
    assert_eq!(heard.len(), 3);
}

#[test]
fn the_agent_has_the_environment_and_its_stderr_passes_through() {
    let steps = [json!({"environment": "WINDLASS_OUTBOX"}), json!({"warn": "careful\n"}), ended("end_turn")];
    let scene = Scene::after_prompt(&steps);
    let turn = scene.play();
    assert_eq!(scene.heard()[2], json!(scene.path("out")));
    assert_eq!(turn.stderr, "careful\n");
}

#[test]
fn a_session_is_loaded_where_the_agent_can_and_its_past_is_not_told_again() {
    let past = json!({"say": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "old",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "long ago"}}}}});
    let now = json!({"say": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "old",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "now"}}}}});
    let scene = Scene::new(&[
        initialized(json!({"loadSession": true})),
        json!({"hear": 1}),
        past.clone(),
        json!({"say": {"jsonrpc": "2.0", "id": 2, "result": null}}),
        // Some agents are late with it.
        past,
        json!({"hear": 1}),
        now,
        json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}}),
    ])
    .with(&["--read-write", "--resume", "old"]);
    let turn = scene.play();
    assert_eq!(turn.signals, [Signal::Session { id: "old".to_owned() }, said("now"), finished()]);
    let load = json!({"cwd": scene.path("work"), "mcpServers": [], "sessionId": "old"});
    assert_eq!((&scene.heard()[1]["method"], &scene.heard()[1]["params"]), (&json!("session/load"), &load));
    assert_eq!(scene.heard()[2]["params"]["sessionId"], "old");
}

#[test]
fn an_agent_that_cannot_load_begins_anew_and_that_is_said() {
    let scene = Scene::after_prompt(&[ended("end_turn")]).with(&["--read-write", "--resume", "old"]);
    let turn = scene.play();
    let message = "the agent cannot go on with an earlier session: a new one is begun".to_owned();
    let told = Signal::Error { severity: Severity::Passing, kind: ErrorKind::Setup, message };
    assert_eq!(turn.signals, [told, session(), finished()]);
    assert_eq!(scene.methods(), ["initialize", "session/new", "session/prompt"]);
    assert_eq!(turn.code, 0);
}

#[test]
fn updates_of_another_session_are_not_the_agent_s_words() {
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hidden"}});
    let other = json!({"say": {"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s2", "update": update}}});
    let turn = Scene::after_prompt(&[other, ended("end_turn")]).play();
    assert_eq!(turn.signals, [session(), finished()]);
}

#[test]
fn a_reader_is_switched_to_the_mode_in_which_nothing_is_changed() {
    let modes = json!({"availableModes": [{"id": "default", "name": "D"}, {"id": "plan", "name": "Plan"}]});
    let opened = json!({"answer": {"sessionId": "s1", "modes": modes, "models": {"currentModelId": "m-1"}}});
    let steps = [initialized(json!({})), opened, json!({"answer": {}}), ended("end_turn")];
    let scene = Scene::new(&steps).with(&["--read-only"]);
    let turn = scene.play();
    assert_eq!(turn.signals, [session(), Signal::Model { name: "m-1".to_owned() }, finished()]);
    assert_eq!(scene.methods(), ["initialize", "session/new", "session/set_mode", "session/prompt"]);
    assert_eq!(scene.heard()[2]["params"], json!({"sessionId": "s1", "modeId": "plan"}));

    let writer = Scene::new(&[steps[0].clone(), steps[1].clone(), ended("end_turn")]);
    assert_eq!(writer.play().code, 0);
    assert_eq!(writer.methods(), ["initialize", "session/new", "session/prompt"]);
}

#[test]
fn an_agent_that_keeps_its_mode_is_told_of_and_goes_on() {
    let option = json!({"id": "mode", "category": "mode", "options": [{"value": "plan", "name": "plan"}]});
    let scene = Scene::new(&[
        initialized(json!({})),
        json!({"answer": {"sessionId": "s1", "configOptions": [option]}}),
        json!({"refuse": {"code": -32602, "message": "no"}}),
        ended("end_turn"),
    ])
    .with(&["--read-only"]);
    let turn = scene.play();
    assert_eq!(scene.methods()[2], "session/set_config_option");
    let [_, Signal::Error { severity: Severity::Passing, message, .. }, _] = &turn.signals[..] else {
        panic!("{:?}", turn.signals);
    };
    assert!(message.contains("read-only mode") && message.contains("-32602"), "{message}");
    assert_eq!(turn.code, 0);
}

#[test]
fn every_reason_to_stop_short_is_a_failure_of_its_kind() {
    let table = [
        ("max_tokens", ErrorKind::TokenLimit),
        ("refusal", ErrorKind::Refused),
        ("max_turn_requests", ErrorKind::Other),
        ("cancelled", ErrorKind::Interrupted),
        ("moon phase", ErrorKind::Other),
    ];
    for (reason, expected) in table {
        let turn = Scene::after_prompt(&[ended(reason)]).play();
        let Some(Signal::End { claim: EndClaim::Failed { kind, .. }, .. }) = turn.signals.last() else {
            panic!("{reason}: {:?}", turn.signals);
        };
        assert_eq!((*kind, turn.code), (expected, 1), "{reason}");
    }
}

#[test]
fn figures_and_prices_are_told_as_the_agent_tells_them() {
    let price = json!({"sessionUpdate": "usage_update", "used": 9, "size": 10, "cost": {"amount": 0.25, "currency": "USD"}});
    let quota = json!({"quota": {"token_count": {"input_tokens": 30, "output_tokens": 4}}});
    let scene = Scene::new(
        &[
            up_to_prompt(),
            vec![json!({"hear": 1}), json!({"update": price})],
            vec![json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn", "_meta": quota}}})],
        ]
        .concat(),
    );
    let turn = scene.play();
    let figures: Vec<_> = turn
        .signals
        .iter()
        .filter_map(|signal| match signal {
            Signal::Usage { scope, input, output, cost_micros, .. } => {
                Some((*scope, *input, *output, *cost_micros))
            }
            _ => None,
        })
        .collect();
    let expected = [(UsageScope::Session, 0, 0, Some(250_000)), (UsageScope::Process, 30, 4, None)];
    assert_eq!(figures, expected);
}
