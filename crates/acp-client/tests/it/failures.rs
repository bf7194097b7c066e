//! Turns that come to no good end: each has its own word on stdout, a failing exit code, and leaves no process behind.

use std::process::Stdio;

use crate::scene::{
    Scene, Turn, ended, eventually, example, finish, initialized, pid_of, piece, up_to_prompt,
};
use rustix::process::{Signal as Sent, kill_process};
use serde_json::json;
use windlass_agent_drivers::{Conclusion, EndClaim, ErrorKind, Severity, Signal};

/// The reason and the kind, which the error and the closing word both tell.
fn failure(turn: &Turn) -> (String, ErrorKind) {
    let [.., error, end] = &turn.signals[..] else { panic!("{}{}", turn.stdout, turn.stderr) };
    let (
        Signal::Error { severity: Severity::Fatal, kind, message },
        Signal::End { claim: EndClaim::Failed { reason, kind: claimed }, .. },
    ) = (error, end)
    else {
        panic!("{:?}", turn.signals);
    };
    assert_eq!((message, kind, turn.code), (reason, claimed, 1));
    (reason.clone(), *kind)
}

fn told(reason: &str, kind: ErrorKind) -> (String, ErrorKind) {
    (reason.to_owned(), kind)
}

#[test]
fn a_refusal_is_told_by_its_kind_at_every_step_of_the_handshake() {
    let login = json!({"refuse": {"code": -32000, "message": "Authentication required"}});
    let hello = initialized(json!({}));
    let opened = json!({"answer": {"sessionId": "s1"}});
    for steps in [vec![login.clone()], vec![hello.clone(), login.clone()], vec![hello, opened, login]] {
        let turn = Scene::new(&steps).play();
        assert_eq!(failure(&turn), told("Authentication required", ErrorKind::Authentication));
        assert!(matches!(turn.conclusion(), Conclusion::Misconfigured { .. }), "{:?}", turn.conclusion());
    }
}

#[test]
fn a_session_that_cannot_be_loaded_is_not_quietly_replaced() {
    let gone = json!({"refuse": {"code": -32002, "message": "Resource not found: old"}});
    let scene = Scene::new(&[initialized(json!({"loadSession": true})), gone]).with(&[
        "--read-write",
        "--resume",
        "old",
    ]);
    assert_eq!(failure(&scene.play()), told("Resource not found: old", ErrorKind::Setup));
    assert_eq!(scene.methods(), ["initialize", "session/load"]);
}

#[test]
fn a_rate_limit_is_a_wait() {
    let limit = json!({"refuse": {"code": 429, "message": "Rate limit. Try again in 7s."}});
    let turn = Scene::after_prompt(&[limit]).play();
    assert_eq!(failure(&turn).1, ErrorKind::RateLimit);
    assert!(matches!(turn.conclusion(), Conclusion::RateLimited { .. }), "{:?}", turn.conclusion());
}

#[test]
fn another_version_of_the_protocol_is_not_guessed_at() {
    let turn = Scene::new(&[json!({"answer": {"protocolVersion": 2}})]).play();
    let reason = "the agent speaks version 2 of the protocol; this client speaks version 1";
    assert_eq!(failure(&turn), told(reason, ErrorKind::Setup));
}

#[test]
fn a_session_needs_an_id() {
    let turn = Scene::new(&[initialized(json!({})), json!({"answer": {}})]).play();
    assert_eq!(failure(&turn), told("the agent opened a session without an id", ErrorKind::Other));
}

#[test]
fn an_agent_that_leaves_before_its_answer_has_not_finished() {
    let leaving = |code: u8| [json!({"hear": 1}), piece("half a wo"), json!({"exit": code})];
    let turn = Scene::after_prompt(&leaving(3)).play();
    let reason = "the agent exited with 3 before it answered session/prompt";
    assert_eq!(failure(&turn), told(reason, ErrorKind::Other));
    let half = Signal::Message { text: "half a wo".to_owned(), partial: false };
    assert!(turn.signals.contains(&half), "what was said is kept: {:?}", turn.signals);

    let turn = Scene::after_prompt(&leaving(0)).play();
    let reason = "the agent exited with 0 before it answered session/prompt";
    assert_eq!(failure(&turn), told(reason, ErrorKind::Interrupted));
    assert!(matches!(turn.conclusion(), Conclusion::CutOff { .. }), "{:?}", turn.conclusion());
}

#[test]
fn an_agent_that_is_killed_is_cut_off_even_while_its_child_holds_the_output_open() {
    let scene = Scene::new(&[]);
    let script = "sleep 600 2>/dev/null & echo $! >../sleeper; echo $$ >../pid; exec sleep 601";
    let client = scene.start_program(&["sh", "-c", script], Stdio::piped());
    eventually("the agent has started", || {
        std::fs::read_to_string(scene.path("pid")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let pid = |name: &str| std::fs::read_to_string(scene.path(name)).unwrap().trim().parse().unwrap();
    kill_process(pid_of(pid("pid")), Sent::KILL).unwrap();
    let turn = finish(client);
    let reason = "the agent was ended by signal 9 before it answered initialize";
    assert_eq!(failure(&turn), told(reason, ErrorKind::Interrupted));
    kill_process(pid_of(pid("sleeper")), Sent::KILL).unwrap();
}

#[test]
fn a_program_that_is_not_there_is_a_matter_of_settings() {
    let turn = Scene::new(&[]).play_program(&["no-such-agent", "--acp"]);
    assert_eq!(failure(&turn), told("program no-such-agent was not found", ErrorKind::Setup));
    assert!(matches!(turn.conclusion(), Conclusion::Misconfigured { .. }), "{:?}", turn.conclusion());
}

#[test]
fn lines_that_are_no_messages_are_kept_and_never_fatal() {
    let noise = ["npm warn deprecated", "{\"jsonrpc\":", "[]", "null", "{\"id\":77,\"result\":1}"];
    let mut steps = up_to_prompt();
    steps.extend(noise.iter().map(|line| json!({"raw": line})));
    steps.extend([json!({"raw": ""}), ended("end_turn")]);
    let turn = Scene::new(&steps).play();
    let unknown: Vec<&str> = turn
        .signals
        .iter()
        .filter_map(|signal| match signal {
            Signal::Unknown { line } => Some(line.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(unknown, noise);
    assert_eq!((turn.code, turn.conclusion()), (0, Conclusion::Finished));
}

#[test]
fn a_line_without_end_is_not_read_to_its_end() {
    let turn = Scene::after_prompt(&[json!({"long_line": (16 << 20) + 1})]).play();
    assert_eq!(failure(&turn), told("the agent wrote a line of more than 16777216 bytes", ErrorKind::Other));
}

#[test]
fn a_client_that_is_told_to_end_cancels_the_turn() {
    let answer = |reason: &str| {
        let usage = json!({"inputTokens": 5, "outputTokens": 1, "totalTokens": 6});
        json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": reason, "usage": usage}}})
    };
    // One agent does as it is told, the other claims that all is well.
    for reason in ["cancelled", "end_turn"] {
        let scene = Scene::after_prompt(&[json!({"hear": 1}), json!({"hear": 1}), answer(reason)]);
        let client = scene.start();
        eventually("the agent is prompted", || scene.methods().len() == 3);
        kill_process(pid_of(client.id()), Sent::TERM).unwrap();
        let turn = finish(client);
        let reason = "the turn was cancelled because this program was told to end";
        assert_eq!(failure(&turn), told(reason, ErrorKind::Interrupted));
        assert!(matches!(turn.conclusion(), Conclusion::CutOff { .. }), "{:?}", turn.conclusion());
        assert!(turn.signals.iter().any(|signal| matches!(signal, Signal::Usage { input: 5, .. })));
        assert_eq!(scene.heard()[3]["params"], json!({"sessionId": "s1"}));
        assert_eq!((scene.methods()[3].as_str(), scene.alive()), ("session/cancel", 0));
    }
}

#[test]
fn a_question_that_comes_after_the_cancellation_is_answered_as_cancelled() {
    let options = json!([{"optionId": "once", "name": "Once", "kind": "allow_once"}]);
    let ask = json!({"ask": {"jsonrpc": "2.0", "id": "late", "method": "session/request_permission",
        "params": {"sessionId": "s1", "toolCall": {"toolCallId": "t", "kind": "read"}, "options": options}}});
    let end = json!({"say": {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}});
    let scene = Scene::after_prompt(&[json!({"hear": 1}), json!({"hear": 1}), ask, end]);
    let client = scene.start();
    eventually("the agent is prompted", || scene.methods().len() == 3);
    kill_process(pid_of(client.id()), Sent::TERM).unwrap();
    assert_eq!(finish(client).code, 1);
    assert_eq!(scene.answer_to(&json!("late"))["result"], json!({"outcome": {"outcome": "cancelled"}}));
}

#[test]
fn a_deaf_agent_ends_with_the_client_all_the_same() {
    let before_the_prompt = [json!({"hear": 1}), json!({"hang": true})];
    let in_the_turn = [up_to_prompt(), vec![json!({"hear": 1}), json!({"hang": true})]].concat();
    for (steps, requests) in [(&before_the_prompt[..], 1), (&in_the_turn[..], 3)] {
        let scene = Scene::new(steps);
        let client = scene.start();
        eventually("the agent hangs", || scene.methods().len() == requests);
        kill_process(pid_of(client.id()), Sent::TERM).unwrap();
        let turn = finish(client);
        assert_eq!(failure(&turn).1, ErrorKind::Interrupted);
        assert_eq!(scene.alive(), 0);
    }
}

#[test]
fn an_agent_that_does_not_leave_is_ended_after_its_turn() {
    let turn = Scene::after_prompt(&[ended("end_turn"), json!({"hang": true})]).play();
    assert_eq!((turn.code, turn.conclusion()), (0, Conclusion::Finished));
}

#[test]
fn when_nobody_listens_the_agent_is_not_left_alone() {
    let scene = Scene::after_prompt(&[json!({"hear": 1}), piece("hello?"), json!({"hang": true})]);
    let words = [example("acp_agent"), scene.path("script"), scene.path("heard")];
    let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let turn = finish(scene.start_program(&words, Stdio::from(full)));
    assert_eq!(turn.code, 1);
    assert_eq!(scene.alive(), 0);
}

#[test]
fn an_order_that_makes_no_sense_is_refused_before_anything_is_started() {
    let turn = Scene::new(&[]).with(&["--read-everything"]).play();
    assert_eq!((turn.code, turn.stdout.as_str()), (2, ""));
    assert!(turn.stderr.contains("usage: windlass __acp"), "{}", turn.stderr);
}
