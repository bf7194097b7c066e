//! What each wire format looks like on the wire.

use super::client::{Answer, Client, Question, WIRES};
use serde_json::{Value, json};
use windlass_test_support::scripted_model::{
    Action, ModelScript, RequestKind, ScriptedModel, Turn, Usage, Wire,
};

const USAGE: Usage = Usage { input: 900, cached: 600, output: 50, reasoning: 20 };

/// One reply with words and a command.
fn ask(wire: Wire, stream: bool) -> Answer {
    let turn = Turn::say("Hé, hello.").then(Action::Shell("ls".into())).usage(USAGE);
    let model = ScriptedModel::start(ModelScript::of([turn]));
    let answer = Question { stream, ..Question::new(wire, "hi") }.ask(&model);
    assert_eq!((answer.status, answer.complete), (200, true), "{answer:?}");
    assert_eq!(model.served_usage(), USAGE);
    let kind = if stream { "text/event-stream" } else { "application/json" };
    assert_eq!(answer.header("content-type"), Some(kind));
    answer
}

/// The pieces of a text or of arguments, joined.
fn joined(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn responses_are_numbered_items_with_deltas_between_their_announcement_and_their_end() {
    let answer = ask(Wire::Responses, true);
    let names: Vec<String> = answer.events().into_iter().filter_map(|(name, _)| name).collect();
    let events = answer.data();
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(names, types, "every event is named by its type");
    assert_eq!((types[0], types[types.len() - 1]), ("response.created", "response.completed"));
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let deltas: Vec<Value> = of_type(&events, "response.output_text.delta").into_iter().cloned().collect();
    assert_eq!((joined(&deltas, "/delta").as_str(), deltas.len()), ("Hé, hello.", 2));
    let items = of_type(&events, "response.output_item.done");
    assert_eq!(items[0]["item"]["content"][0]["text"], "Hé, hello.");
    assert_eq!(items[1]["item"]["type"], "function_call");
    assert_eq!(items[1]["item"]["arguments"], r#"{"command":"ls"}"#);
    let response = &events[events.len() - 1]["response"];
    assert_eq!(response["output"][1], items[1]["item"]);
    let usage = json!({ "input_tokens": 900, "input_tokens_details": { "cached_tokens": 600 },
        "output_tokens": 50, "output_tokens_details": { "reasoning_tokens": 20 }, "total_tokens": 950 });
    assert_eq!(response["usage"], usage);
    assert_eq!(ask(Wire::Responses, false).json()["usage"], usage);
}

#[test]
fn chat_completions_are_chunks_with_the_usage_last_and_a_mark_of_the_end() {
    let answer = ask(Wire::ChatCompletions, true);
    assert_eq!(answer.events().last(), Some(&(None, "[DONE]".to_owned())));
    let events = answer.data();
    assert_eq!(joined(&events, "/choices/0/delta/content"), "Hé, hello.");
    assert_eq!(joined(&events, "/choices/0/delta/tool_calls/0/function/name"), "bash");
    assert_eq!(joined(&events, "/choices/0/delta/tool_calls/0/function/arguments"), r#"{"command":"ls"}"#);
    assert_eq!(joined(&events, "/choices/0/finish_reason"), "tool_calls");
    let usage = json!({ "prompt_tokens": 900, "prompt_tokens_details": { "cached_tokens": 600 },
        "completion_tokens": 50, "completion_tokens_details": { "reasoning_tokens": 20 }, "total_tokens": 950 });
    assert_eq!(events[events.len() - 1]["usage"], usage);
    let whole = ask(Wire::ChatCompletions, false).json();
    assert_eq!(whole["choices"][0]["message"]["content"], "Hé, hello.");
    assert_eq!(whole["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "bash");
    assert_eq!(whole["usage"], usage);
}

#[test]
fn messages_are_blocks_and_their_input_leaves_cached_tokens_out() {
    let events = ask(Wire::Messages, true).data();
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let delta = "content_block_delta";
    let block = ["content_block_start", delta, delta, "content_block_stop"];
    let expected = [&["message_start", "ping"], block.as_slice(), &block, &["message_delta", "message_stop"]];
    assert_eq!(types, expected.concat());
    let usage = &events[0]["message"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(300), &json!(600)));
    assert_eq!(joined(&events, "/delta/text"), "Hé, hello.");
    assert_eq!(joined(&events, "/delta/partial_json"), r#"{"command":"ls"}"#);
    let end = &events[events.len() - 2];
    assert_eq!(
        (&end["delta"]["stop_reason"], &end["usage"]["output_tokens"]),
        (&json!("tool_use"), &json!(50))
    );
    let whole = ask(Wire::Messages, false).json();
    assert_eq!(whole["content"][0], json!({ "type": "text", "text": "Hé, hello." }));
    assert_eq!(whole["content"][1]["input"], json!({ "command": "ls" }));
    assert_eq!((&whole["stop_reason"], &whole["usage"]["output_tokens"]), (&json!("tool_use"), &json!(50)));
}

#[test]
fn gemini_sends_small_replies_and_its_output_leaves_reasoning_out() {
    let events = ask(Wire::Gemini, true).data();
    let part = "/candidates/0/content/parts/0";
    assert_eq!(joined(&events, &format!("{part}/text")), "Hé, hello.");
    assert_eq!(events[2].pointer(&format!("{part}/functionCall/args")), Some(&json!({ "command": "ls" })));
    let usage = json!({ "promptTokenCount": 900, "cachedContentTokenCount": 600, "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20, "totalTokenCount": 950 });
    assert_eq!(events[3]["usageMetadata"], usage);
    assert_eq!(events[3]["candidates"][0]["finishReason"], "STOP");
    let whole = ask(Wire::Gemini, false).json();
    assert_eq!(whole["candidates"][0]["content"]["parts"][0], json!({ "text": "Hé, hello." }));
    assert_eq!(whole["candidates"][0]["content"]["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(whole["usageMetadata"], usage);
}

#[test]
fn tokens_are_counted_models_are_listed_and_anything_else_is_not_found() {
    let model = ScriptedModel::start(ModelScript::new());
    // All over one connection, the last with a body in chunks.
    let mut client = Client::connect(&model);
    client.post("/v1/messages/count_tokens", "", "{}");
    assert!(client.answer().json()["input_tokens"].is_u64());
    client.post("/v1beta/models/gemini-x:countTokens", "", "{}");
    assert!(client.answer().json()["totalTokens"].is_u64());
    client.raw("GET /v1/models HTTP/1.1\r\nhost: model\r\n\r\n");
    assert_eq!(client.answer().json()["data"][0]["object"], "model");
    client.raw("POST /v1/elsewhere HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x=y\r\n\":1}\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    let kinds: Vec<RequestKind> = model.requests().into_iter().map(|request| request.kind).collect();
    let (count, unknown) = (RequestKind::TokenCount, RequestKind::Unknown);
    assert_eq!(kinds, [count.clone(), count, RequestKind::ModelList, unknown]);
}

#[test]
fn a_body_in_chunks_is_the_same_as_one_with_a_length() {
    let model = ScriptedModel::start(ModelScript::of([Turn::say("yes")]));
    let question = Question::new(Wire::Messages, "chunks");
    let body = question.body().to_string();
    let (first, second) = body.split_at(10);
    let mut client = Client::connect(&model);
    client.raw("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
    for chunk in [first, second, ""] {
        client.raw(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    }
    assert_eq!(joined(&client.answer().data(), "/delta/text"), "yes");
    assert_eq!(model.requests()[0].prompt, "chunks");
}

#[test]
fn a_request_without_tools_is_an_aside_that_costs_nothing_and_fits_the_schema() {
    for wire in WIRES {
        let model = ScriptedModel::start(ModelScript::of([Turn::say("never")]));
        let question = Question { stream: false, ..Question::new(wire, "a title, please") };
        let mut body = question.body();
        body["tools"] = json!([]);
        body["generationConfig"] = json!({ "responseJsonSchema": { "type": "object", "properties": {
            "score": { "type": "integer" } } } });
        let mut client = Client::connect(&model);
        client.post(question.path(), "", &body.to_string());
        let answer = client.answer();
        let said = if wire == Wire::Gemini { r#"{\"score\":10}"# } else { "\"ok\"" };
        assert!(answer.body.contains(said), "{answer:?}");
        assert_eq!(model.served_usage(), Usage::NONE);
        assert_eq!(model.requests()[0].kind, RequestKind::Aside { wire });
    }
}
