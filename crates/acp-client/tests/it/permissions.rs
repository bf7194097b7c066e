//! What the agent hears when it asks for something: a permission, or a method this client does not have.

use crate::scene::{Scene, ended, up_to_prompt};
use serde_json::{Value, json};
use windlass_agent_drivers::{Severity, Signal};

fn asking(id: &str, tool_call: Value) -> Value {
    let options = json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Once", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    json!({"ask": {"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
        "params": {"sessionId": "s1", "toolCall": tool_call, "options": options}}})
}

/// The agent is prompted, asks all this, and ends its turn.
fn steps_of(asked: &[(&str, Value)]) -> Vec<Value> {
    let asked = asked.iter().map(|(id, tool_call)| asking(id, tool_call.clone()));
    let prompted = up_to_prompt().into_iter().chain([json!({"hear": 1})]);
    prompted.chain(asked).chain([turn_ends()]).collect()
}

fn turn_ends() -> Value {
    json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}})
}

fn chosen(scene: &Scene, id: &str) -> String {
    let answer = scene.answer_to(&json!(id));
    assert_eq!(answer["result"]["outcome"]["outcome"], "selected", "{answer}");
    answer["result"]["outcome"]["optionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_writer_gets_leave_for_this_once_inside_and_none_outside() {
    let scene = Scene::new(&[]);
    let edit = |path: &str| {
        let diff = json!({"type": "diff", "path": scene.path(path), "newText": ""});
        json!({"toolCallId": path, "kind": "edit", "title": "edit", "content": [diff]})
    };
    let located =
        json!({"toolCallId": "l", "kind": "delete", "title": "rm", "locations": [{"path": scene.path("x")}]});
    let away = json!({"toolCallId": "x", "kind": "execute", "title": "make", "rawInput": {"command": "make", "cwd": "/"}});
    let here =
        json!({"toolCallId": "h", "kind": "execute", "title": "make", "rawInput": {"command": "make"}});
    let read =
        json!({"toolCallId": "r", "kind": "read", "title": "look", "locations": [{"path": "/etc/hosts"}]});
    let asked = [
        ("workspace", edit("work/a.txt")),
        ("outbox", edit("out/verdict.json")),
        ("outside", edit("elsewhere.txt")),
        ("located", located),
        ("away", away),
        ("here", here),
        ("read", read),
    ];
    scene.script(&steps_of(&asked));
    assert_eq!(scene.play().code, 0);
    let refused = ["outside", "located", "away"];
    for (id, _) in asked {
        assert_eq!(chosen(&scene, id), if refused.contains(&id) { "no" } else { "once" }, "{id}");
    }
}

#[test]
fn a_reader_gets_leave_to_read_and_for_nothing_else() {
    let call = |kind: &str| json!({"toolCallId": kind, "kind": kind, "title": kind});
    let kinds =
        ["read", "search", "think", "edit", "delete", "move", "execute", "fetch", "switch_mode", "other"];
    let asked: Vec<(&str, Value)> = kinds.iter().map(|kind| (*kind, call(kind))).collect();
    let scene = Scene::new(&steps_of(&asked)).with(&["--read-only"]);
    let turn = scene.play();
    assert_eq!(turn.code, 0);
    for kind in kinds {
        let expected = if ["read", "search", "think"].contains(&kind) { "once" } else { "no" };
        assert_eq!(chosen(&scene, kind), expected, "{kind}");
    }
    let refusals = turn.signals.iter().filter(|signal| {
        matches!(signal, Signal::Error { severity: Severity::Passing, message, .. } if message.starts_with("permission refused"))
    });
    assert_eq!(refusals.count(), 7);
}

#[test]
fn a_call_whose_kind_was_told_before_is_judged_by_it_and_an_untold_one_counts_as_other() {
    let told =
        json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "kind": "read", "title": "look"}});
    let steps = [
        json!({"hear": 1}),
        told,
        asking("known", json!({"toolCallId": "t"})),
        asking("unknown", json!({"toolCallId": "u"})),
        turn_ends(),
    ];
    let scene = Scene::after_prompt(&steps).with(&["--read-only"]);
    assert_eq!(scene.play().code, 0);
    assert_eq!((chosen(&scene, "known").as_str(), chosen(&scene, "unknown").as_str()), ("once", "no"));
}

#[test]
fn a_method_that_is_not_offered_is_refused_and_the_turn_goes_on() {
    let ask = |id: Value, method: &str| json!({"ask": {"jsonrpc": "2.0", "id": id, "method": method, "params": {"path": "/etc/hosts"}}});
    let steps = [
        json!({"hear": 1}),
        ask(json!(0), "fs/read_text_file"),
        ask(json!("x"), "terminal/create"),
        turn_ends(),
    ];
    let scene = Scene::after_prompt(&steps);
    assert_eq!(scene.play().code, 0);
    for (id, method) in [(json!(0), "fs/read_text_file"), (json!("x"), "terminal/create")] {
        let error = &scene.answer_to(&id)["error"];
        assert_eq!(error["code"], -32601);
        assert_eq!(error["message"], format!("{method} is not offered"));
    }
}

#[test]
fn an_agent_that_asks_before_the_prompt_is_served_too() {
    let ask = json!({"ask": {"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {}}});
    let hello = json!({"say": {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}});
    let scene = Scene::new(&[
        json!({"hear": 1}),
        ask,
        hello,
        json!({"answer": {"sessionId": "s1"}}),
        ended("end_turn"),
    ]);
    assert_eq!(scene.play().code, 0);
    assert_eq!(scene.answer_to(&json!(9))["error"]["code"], -32601);
}
