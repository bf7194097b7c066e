//! Which entry and which turn a request gets, what stands for `${…}`, and what is recorded.

use super::client::{Client, Question, WIRES};
use serde_json::json;
use windlass_test_support::scripted_model::{
    ModelScript, RequestKind, ScriptEntry, ScriptedModel, Turn, Usage, Wire,
};

fn asks(model: &ScriptedModel, question: Question<'_>) -> String {
    Question { stream: false, ..question }.ask(model).body
}

#[test]
fn the_first_entry_whose_words_are_in_the_prompt_and_that_has_uses_left_is_taken() {
    for wire in WIRES {
        let script = ModelScript::new()
            .entry(ScriptEntry::when("Role: judge").and("Round: 1").uses(1).turn(Turn::say("reject")))
            .entry(ScriptEntry::when("Role: judge").turn(Turn::say("pass")))
            .entry(ScriptEntry::when("Role: doer").turn(Turn::say("done")));
        let model = ScriptedModel::start(script);
        let say = |session, prompt| asks(&model, Question { session, ..Question::new(wire, prompt) });
        assert!(say("a", "Role: judge, Round: 2").contains("pass"));
        assert!(say("b", "Role: judge, Round: 1").contains("reject"));
        assert!(say("b", "Role: judge, Round: 1").contains("reject"), "the same conversation stays");
        assert!(say("c", "Role: judge, Round: 1").contains("pass"), "the first entry is used up");
        assert!(say("d", "Role: doer").contains("done"));
        assert!(say("e", "Role: stranger").contains("no entry"));
        let entry = |kind| match kind {
            RequestKind::Turn { entry, .. } => entry,
            other => panic!("{other:?}"),
        };
        let entries: Vec<_> = model.requests().into_iter().map(|request| entry(request.kind)).collect();
        assert_eq!(entries, [Some(1), Some(0), Some(0), Some(1), Some(2), None]);
    }
}

#[test]
fn the_turn_is_as_far_as_the_history_goes() {
    for wire in WIRES {
        let first = Usage { input: 1, cached: 0, output: 2, reasoning: 0 };
        let entry = ScriptEntry::any().turn(Turn::shell("one").usage(first)).turn(Turn::say("two"));
        let model = ScriptedModel::start(ModelScript::new().entry(entry));
        let say = |replies| asks(&model, Question { replies, ..Question::new(wire, "hi") });
        assert!(say(0).contains("one") && say(0).contains("one"), "a retry repeats its turn");
        assert!(say(1).contains("two"));
        assert!(say(2).contains("The script is over."));
        assert_eq!(model.served_usage(), first + first + Usage::ORDINARY);
        assert_eq!(model.served_usage_of_entry(0), model.served_usage());
        assert_eq!(model.served_usage_of_entry(1), Usage::NONE);
        assert_eq!(model.requests()[2].tool_results, ["result"]);
    }
}

#[test]
fn a_model_that_goes_round_in_circles_says_its_last_turn_again_and_again() {
    let entry = ScriptEntry::any().turn(Turn::say("first")).turn(Turn::shell("again")).last_again();
    let model = ScriptedModel::start(ModelScript::new().entry(entry));
    for replies in [1, 2, 30] {
        let answer = asks(&model, Question { replies, ..Question::new(Wire::Messages, "hi") });
        assert!(answer.contains("again"), "{answer}");
    }
}

#[test]
fn conversations_without_a_name_are_told_apart_by_how_they_begin() {
    let script = ModelScript::new()
        .entry(ScriptEntry::any().uses(1).turn(Turn::say("alpha")).turn(Turn::say("beta")))
        .entry(ScriptEntry::any().turn(Turn::say("gamma")));
    let model = ScriptedModel::start(script);
    let ask = |prompt, replies| {
        let question = Question { replies, ..Question::new(Wire::Gemini, prompt) };
        let mut client = Client::connect(&model);
        client.post(question.path(), "", &question.body().to_string());
        client
            .answer()
            .data()
            .iter()
            .map(|event| {
                event["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap_or_default().to_owned()
            })
            .collect::<String>()
    };
    assert_eq!([ask("one", 0), ask("two", 0), ask("one", 1)], ["alpha", "gamma", "beta"]);
}

#[test]
fn the_working_directory_and_the_outbox_are_read_from_the_request() {
    let places = [
        "<cwd>/some/where</cwd>",
        "Primary working directory: /some/where\n",
        "Current working directory: `/some/where`",
        "- **Workspace Directories:**\n  - /some/where\n",
    ];
    for place in places {
        let prompt = format!(
            "{place}\n- Write the verdict to: `/out box/verdict.json` (that is `$WINDLASS_OUTBOX/verdict.json`)"
        );
        let model = ScriptedModel::start(ModelScript::of([Turn::shell("cp ${cwd}/a '${outbox}/b'")]));
        let answer = asks(&model, Question::new(Wire::ChatCompletions, &prompt));
        assert!(answer.contains("cp /some/where/a '/out box/b'"), "{answer}");
    }
}

#[test]
fn a_request_is_recorded_with_its_model_key_tools_and_what_could_not_be_done() {
    let turn = Turn::write("a", "b");
    let model = ScriptedModel::start(ModelScript::of([turn]));
    let mut body = Question::new(Wire::Messages, "hi").body();
    body["tools"] = json!([{ "name": "Read", "input_schema": {} }]);
    let mut client = Client::connect(&model);
    client.post("/v1/messages", "x-api-key: secret\r\n", &body.to_string());
    assert_eq!(client.answer().status, 200);
    model.wait_for_turns(1);
    let request = model.requests().remove(0);
    assert_eq!((request.model.as_str(), request.api_key.as_deref()), ("claude-x", Some("secret")));
    assert_eq!((request.prompt.as_str(), request.tools.as_slice()), ("hi", ["Read".to_owned()].as_slice()));
    assert_eq!(request.impossible.len(), 1);
}
