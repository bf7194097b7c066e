//! Section 18: what a reviewer answers, and what is not believed of it.

use serde_json::{Value, json};
use windlass_artifact_formats::story_queue::{ReviewResult, parse_review_answer};

fn answer() -> Value {
    json!({
        "story_id": "US-3.1", "result": "pass", "summary": "Read it all.", "iteration": 1,
        "findings": [{"severity": "LOW", "ac_id": "AC-1", "description": "a long name"}],
        "acs_verified": ["AC-1", "AC-2"], "acs_failed": [],
    })
}

fn why(answer: &Value) -> Vec<String> {
    match parse_review_answer(&answer.to_string(), "US-3.1", &["AC-1", "AC-2"]) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.sentences().to_vec(),
    }
}

#[test]
fn a_whole_answer_is_taken() {
    let parsed = parse_review_answer(&answer().to_string(), "US-3.1", &["AC-1", "AC-2"]).unwrap();
    assert_eq!((parsed.result, parsed.findings.len()), (ReviewResult::Pass, 1));
    let mut failed = answer();
    failed["result"] = json!("fail");
    failed["acs_verified"] = json!(["AC-1"]);
    failed["acs_failed"] = json!(["AC-2"]);
    failed["findings"][0]["severity"] = json!("CRITICAL");
    assert_eq!(why(&failed), Vec::<String>::new());
}

#[test]
fn a_pass_that_contradicts_itself_is_no_pass() {
    let cases = [
        ("acs_verified", json!(["AC-1"]), "criterion AC-2 is neither verified nor failed"),
        ("acs_failed", json!(["AC-2"]), "criterion AC-2 is both verified and failed"),
        (
            "findings",
            json!([{"severity": "high", "description": "a hole"}]),
            "it passes although it found: a hole",
        ),
        ("findings", json!([{"severity": "odd", "description": "x"}]), "no severity is called odd"),
        ("story_id", json!("US-3.2"), "it is about US-3.2, and US-3.1 was to be reviewed"),
        ("summary", json!(" "), "its summary is empty"),
    ];
    for (key, value, sentence) in cases {
        let mut wrong = answer();
        wrong[key] = value;
        let why = why(&wrong);
        assert!(why.iter().any(|said| said == sentence), "{key}: {why:?}");
    }
    let mut failed = answer();
    failed["acs_verified"] = json!(["AC-1"]);
    failed["acs_failed"] = json!(["AC-2"]);
    assert_eq!(why(&failed), ["it passes although criterion AC-2 failed"]);
}

#[test]
fn another_result_or_shape_is_refused() {
    for (key, value) in [("result", json!("ok")), ("findings", json!("none"))] {
        let mut wrong = answer();
        wrong[key] = value;
        assert!(why(&wrong)[0].starts_with("it cannot be read"), "{key}");
    }
}
