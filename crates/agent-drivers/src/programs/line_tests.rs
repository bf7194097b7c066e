//! Lines that no recording holds: what a subscription says, what a newer version may say, and what is not a line at all.

use proptest::prelude::*;

use crate::{
    AgentChoice, AgentProgram, Conclusion, EndClaim, ErrorKind, HowItEnded, RateLimitWait, Signal, Stream,
    driver,
};

fn choice(program: &str) -> AgentChoice {
    AgentChoice::parse(program).unwrap()
}

fn read(program: &str, line: &str) -> Vec<Signal> {
    driver::read_line(&choice(program), Stream::Stdout, line)
}

fn concluded(program: &str, code: i32, lines: &[&str]) -> Conclusion {
    let signals: Vec<Signal> = lines.iter().flat_map(|line| read(program, line)).collect();
    driver::conclude(&choice(program), &HowItEnded::Exited { code }, &signals)
}

#[test]
fn a_line_nobody_knows_is_kept_as_it_came() {
    for program in AgentProgram::ALL {
        for line in [r#"{"type":"brand.new","data":{"a":1}}"#, "Loading…", "[1,2]", "{", "null"] {
            let kept = vec![Signal::Unknown { line: line.to_owned() }];
            assert_eq!(read(program.as_str(), line), kept, "{program} {line}");
        }
        assert_eq!(read(program.as_str(), "  "), [], "{program}");
    }
}

#[test]
fn noise_on_stderr_says_nothing() {
    for program in AgentProgram::ALL {
        for line in [
            "",
            "Reading prompt from stdin...",
            "WARNING: proceeding",
            "2026-11-15T20:54:09Z ERROR router: x",
        ] {
            let read = driver::read_line(&choice(program.as_str()), Stream::Stderr, line);
            assert_eq!(read, [], "{program} {line}");
        }
    }
}

#[test]
fn a_plan_that_is_used_up_is_a_wait_until_it_comes_back() {
    let event =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1735689600}}"#;
    let fine = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1735689600}}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your session limit · resets 3am"}"#;
    assert_eq!(read("claude", fine), []);
    assert_eq!(
        concluded("claude", 1, &[event, result]),
        Conclusion::RateLimited { wait: RateLimitWait::UntilMs(1_735_689_600_000) }
    );
    let codex = r#"{"type":"turn.failed","error":{"message":"You've hit your usage limit. Upgrade to Pro or try again in 3 days 2 hours."}}"#;
    assert_eq!(
        concluded("codex", 1, &[codex]),
        Conclusion::RateLimited { wait: RateLimitWait::ForMs(266_400_000) }
    );
}

#[test]
fn credit_that_is_gone_is_for_a_person() {
    let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Credit balance is too low"}"#;
    let conclusion = concluded("claude", 1, &[result]);
    assert!(
        matches!(&conclusion, Conclusion::Misconfigured { hint, .. } if hint.contains("credit")),
        "{conclusion:?}"
    );
}

#[test]
fn success_needs_the_exit_code_and_the_closing_word() {
    let closing = [
        ("codex", r#"{"type":"turn.completed","usage":{}}"#),
        ("claude", r#"{"type":"result","subtype":"success","is_error":false,"usage":{}}"#),
        ("gemini", r#"{"type":"result","status":"success","stats":{}}"#),
        ("opencode", r#"{"type":"step_finish","part":{"reason":"stop","tokens":{}}}"#),
        ("copilot", r#"{"type":"result","sessionId":"x","exitCode":0}"#),
    ];
    for (program, line) in closing {
        assert_eq!(concluded(program, 0, &[line]), Conclusion::Finished, "{program}");
        assert!(matches!(concluded(program, 0, &[]), Conclusion::CutOff { .. }), "{program}");
        assert!(matches!(concluded(program, 1, &[line]), Conclusion::Failed { .. }), "{program}");
        let killed =
            driver::conclude(&choice(program), &HowItEnded::Signaled { signal: 9 }, &read(program, line));
        assert!(matches!(killed, Conclusion::CutOff { .. }), "{program}");
    }
}

#[test]
fn a_step_of_opencode_that_calls_tools_is_not_its_last() {
    let calls = r#"{"type":"step_finish","part":{"reason":"tool-calls","tokens":{}}}"#;
    assert!(matches!(concluded("opencode", 0, &[calls]), Conclusion::CutOff { .. }));
    let refused = r#"{"type":"step_finish","part":{"reason":"content-filter","tokens":{}}}"#;
    let conclusion = concluded("opencode", 0, &[refused]);
    assert!(matches!(conclusion, Conclusion::Failed { kind: ErrorKind::Refused, .. }), "{conclusion:?}");
}

#[test]
fn gemini_is_understood_by_its_exit_code_alone() {
    for (code, kind) in
        [(41, "misconfigured"), (55, "misconfigured"), (173, "rate-limited"), (247, "unavailable")]
    {
        let told = serde_json::to_value(concluded("gemini", code, &[])).unwrap();
        assert_eq!(told["kind"], kind, "{code}");
    }
}

#[test]
fn an_error_line_of_codex_is_no_failure_by_itself() {
    let lines = [
        r#"{"type":"item.completed","item":{"type":"error","message":"Model metadata not found"}}"#,
        r#"{"type":"error","message":"Reconnecting... 2/5 (last status: 503 Service Unavailable)"}"#,
        r#"{"type":"turn.completed","usage":{}}"#,
    ];
    assert_eq!(concluded("codex", 0, &lines), Conclusion::Finished);
    assert_eq!(read("codex", lines[1]), [Signal::Retry { attempt: 2, status: Some(503), wait_ms: None }]);
}

#[test]
fn what_a_helper_of_claude_says_is_not_its_last_word_but_costs() {
    let line = r#"{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"id":"m","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":5,"output_tokens":1}}}"#;
    let told = read("claude", line);
    assert!(matches!(told.as_slice(), [Signal::Usage { input: 5, .. }]), "{told:?}");
}

#[test]
fn claude_tells_what_it_was_asked_with_the_first_block_and_what_it_said_with_the_last_piece() {
    let block = |words: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{words}"}}],"usage":{{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}}}}"#
        )
    };
    let piece = |event: &str| format!(r#"{{"type":"stream_event","event":{event}}}"#);
    let lines = [
        piece(
            r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":5,"output_tokens":1}}}"#,
        ),
        piece(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}"#),
        block("one"),
        block("two"),
        piece(
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":5,"output_tokens":40}}"#,
        ),
        piece(r#"{"type":"message_stop"}"#),
    ];
    let mut tally = crate::UsageTally::new(None);
    lines.iter().flat_map(|line| read("claude", line)).for_each(|signal| tally.hear(&signal));
    let totals = tally.totals();
    assert_eq!((totals.input, totals.cached, totals.output), (7, 2, 40));
}

#[test]
fn a_command_of_codex_is_one_call_however_often_it_is_told() {
    let line = |kind: &str| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"item_1","type":"command_execution","command":"make","status":"completed"}}}}"#
        )
    };
    let all = ["started", "updated", "updated", "completed"].map(line);
    let told: Vec<Signal> = all.iter().flat_map(|line| read("codex", line)).collect();
    assert!(
        matches!(told.as_slice(), [Signal::ToolCall { .. }, Signal::ToolResult { ok: true, .. }]),
        "{told:?}"
    );
}

#[test]
fn claude_speaks_of_success_when_its_service_failed() {
    let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 Overloaded","api_error_status":529,"usage":{}}"#;
    let told = read("claude", line);
    let expected =
        EndClaim::Failed { reason: "API Error: 529 Overloaded".to_owned(), kind: ErrorKind::Server };
    assert!(told.contains(&Signal::End { claim: expected, answer: None }), "{told:?}");
}

proptest! {
    #[test]
    fn no_line_makes_a_driver_panic(
        program in prop::sample::select(AgentProgram::ALL.to_vec()),
        kind in "(result|assistant|system|message|tool_use|step_finish|error|item.completed|session.error|[a-z._]{0,12})",
        rest in any::<String>(),
    ) {
        let choice = choice(program.as_str());
        let shaped = format!(r#"{{"type":"{kind}","part":{rest:?},"item":[],"data":null,"message":{{"content":7}}}}"#);
        for line in [rest, shaped] {
            for stream in [Stream::Stdout, Stream::Stderr] {
                let _ = driver::read_line(&choice, stream, &line);
            }
            let _ = driver::read_usage_file(&choice, &line);
        }
    }
}
