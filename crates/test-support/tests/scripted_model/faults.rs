//! Every fault in every wire format, and what the record says of it.

use super::client::{Answer, Question, WIRES};
use serde_json::{Value, json};
use windlass_test_support::scripted_model::{
    Fault, ModelScript, RequestEnd, ScriptedModel, Turn, Usage, Wire,
};

fn model_with(fault: Fault) -> ScriptedModel {
    ScriptedModel::start(ModelScript::of([Turn::say("Here it comes.").fault(fault)]))
}

fn ends(model: &ScriptedModel) -> Vec<RequestEnd> {
    model.requests().into_iter().map(|request| request.end).collect()
}

fn refused(wire: Wire, fault: Fault) -> Answer {
    let model = model_with(fault);
    let answer = Question::new(wire, "hi").ask(&model);
    assert_eq!(ends(&model), [RequestEnd::Refused(answer.status)]);
    assert_eq!(model.served_usage(), Usage::NONE);
    answer
}

#[test]
fn a_rate_limit_tells_the_time_to_wait_as_each_vendor_does() {
    for wire in [Wire::Responses, Wire::ChatCompletions] {
        let answer = refused(wire, Fault::rate_limit(7));
        assert_eq!((answer.status, answer.header("retry-after")), (429, Some("7")));
        assert_eq!(answer.json()["error"]["code"], "rate_limit_exceeded");
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains("try again in 7s"));
    }
    let answer = refused(Wire::Messages, Fault::rate_limit(7));
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("7")));
    assert_eq!(answer.json()["error"]["type"], "rate_limit_error");
    let answer = refused(Wire::Gemini, Fault::rate_limit(7));
    assert_eq!((answer.status, &answer.json()["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")));
    let details = &answer.json()["error"]["details"];
    let told = |detail: &&Value| detail["@type"].as_str().is_some_and(|kind| kind.ends_with("RetryInfo"));
    assert_eq!(details.as_array().unwrap().iter().find(told).unwrap()["retryDelay"], "7s");
}

#[test]
fn a_used_up_quota_tells_when_it_begins_again_where_the_vendor_does() {
    let answer = refused(Wire::Responses, Fault::quota_until(1_900_000_000));
    let error = &answer.json()["error"];
    assert_eq!((&error["type"], &error["resets_at"]), (&json!("usage_limit_reached"), &json!(1_900_000_000)));
    let answer = refused(Wire::Messages, Fault::quota_until(1_900_000_000));
    assert_eq!(answer.header("anthropic-ratelimit-unified-reset"), Some("1900000000"));
    let answer = refused(Wire::Gemini, Fault::quota_until(1_900_000_000));
    assert!(answer.body.contains("PerDay"), "{answer:?}");
}

#[test]
fn errors_of_the_request_and_of_the_server_have_each_vendor_s_shape() {
    for wire in WIRES {
        for (fault, status) in
            [(Fault::bad_request(), 400), (Fault::bad_key(), 401), (Fault::server_error(), 500)]
        {
            let answer = refused(wire, fault);
            assert_eq!(answer.status, status);
            assert!(answer.json()["error"]["message"].as_str().unwrap().ends_with("(scripted)."));
        }
    }
    assert_eq!(refused(Wire::Responses, Fault::bad_key()).json()["error"]["code"], "invalid_api_key");
    assert_eq!(refused(Wire::Messages, Fault::bad_key()).json()["error"]["type"], "authentication_error");
    assert_eq!(refused(Wire::Gemini, Fault::bad_key()).json()["error"]["status"], "UNAUTHENTICATED");
}

#[test]
fn a_fault_with_a_number_of_times_passes_whoever_asks() {
    for wire in WIRES {
        let model = model_with(Fault::server_error().times(2));
        let statuses = ["a", "a", "b"]
            .map(|session| Question { session, ..Question::new(wire, "hi") }.ask(&model).status);
        assert_eq!(statuses, [500, 500, 200]);
        assert_eq!(model.served_usage(), Usage::ORDINARY);
    }
}

#[test]
fn a_reply_at_the_token_limit_is_complete_and_says_so() {
    let marks = ["\"max_output_tokens\"", "\"length\"", "\"max_tokens\"", "\"MAX_TOKENS\""];
    for (wire, mark) in WIRES.into_iter().zip(marks) {
        for stream in [true, false] {
            let model = model_with(Fault::token_limit());
            let answer = Question { stream, ..Question::new(wire, "hi") }.ask(&model);
            assert!(answer.complete && answer.body.contains(mark), "{answer:?}");
            assert_eq!(model.served_usage(), Usage::ORDINARY);
        }
    }
}

/// Only Anthropic tells figures before the reply is over.
fn told(wire: Wire) -> Usage {
    match wire {
        Wire::Messages => Usage { output: 1, ..Usage::ORDINARY },
        _ => Usage::NONE,
    }
}

#[test]
fn a_cut_connection_ends_in_the_middle_and_counts_for_nothing() {
    for wire in WIRES {
        let model = model_with(Fault::cut());
        let answer = Question::new(wire, "hi").ask(&model);
        assert!(answer.status == 200 && !answer.complete && !answer.body.is_empty(), "{answer:?}");
        let whole = Question { stream: false, ..Question::new(wire, "hi") }.ask(&model);
        assert_eq!((whole.status, whole.complete), (0, false), "nothing at all comes");
        assert_eq!(ends(&model), [RequestEnd::Broken(told(wire)), RequestEnd::Broken(Usage::NONE)]);
        assert_eq!(model.served_usage(), Usage::NONE);
    }
}

#[test]
fn an_error_in_the_stream_comes_with_status_200_and_instead_of_the_end() {
    for wire in WIRES {
        let model = model_with(Fault::error_in_stream());
        let answer = Question::new(wire, "hi").ask(&model);
        assert!(answer.status == 200 && answer.complete, "{answer:?}");
        let last = answer.data().pop().unwrap();
        let error = if wire == Wire::Responses { &last["response"]["error"] } else { &last["error"] };
        assert!(error["message"].as_str().is_some_and(|message| message.contains("overloaded")), "{last}");
        assert!(!answer.body.contains("item.done") && !answer.body.contains("block_stop"), "{answer:?}");
        assert_eq!(ends(&model), [RequestEnd::Broken(told(wire))]);
        let whole = Question { stream: false, ..Question::new(wire, "hi") }.ask(&model);
        assert_eq!(whole.status, 500);
    }
}

#[test]
fn a_reply_hangs_until_it_is_released_and_then_comes_whole() {
    for fault in [Fault::hang_before_reply(), Fault::hang_in_reply()] {
        for wire in WIRES {
            let model = model_with(fault.clone());
            let mut client = Question::new(wire, "hi").send(&model);
            model.wait_for_hanging(1);
            assert_eq!(ends(&model), [RequestEnd::Underway]);
            model.release();
            let answer = client.answer();
            assert!(answer.complete, "{answer:?}");
            assert_eq!(ends(&model), [RequestEnd::Served(Usage::ORDINARY)]);
            model.wait_for_hanging(0);
        }
    }
}

#[test]
fn a_client_that_leaves_a_hanging_reply_is_noticed() {
    let model = model_with(Fault::hang_in_reply());
    let client = Question::new(Wire::Responses, "hi").send(&model);
    model.wait_for_hanging(1);
    drop(client);
    model.wait_for_hanging(0);
    assert_eq!(model.served_usage(), Usage::NONE);
}

#[test]
fn a_server_that_goes_takes_hanging_replies_and_idle_connections_with_it() {
    let model = model_with(Fault::hang_before_reply());
    let mut hanging = Question::new(Wire::Messages, "hi").send(&model);
    model.wait_for_hanging(1);
    let mut idle = super::client::Client::connect(&model);
    drop(model);
    assert_eq!((hanging.answer().status, idle.answer().status), (0, 0));
}
