//! Section 2.6, W9 and W17: the evaluator's answer, the rule of low scores, cause keys and the kept report.

use serde_json::{Value, json};
use windlass_artifact_formats::goal_loop::{
    CauseCategory, CauseKey, Evaluation, EvaluationReport, PUBLISHED_SCHEMAS, kept_evaluation_path,
};
use windlass_artifact_formats::{FaultKind, Reading};

use crate::id;

fn answer(scores: [u8; 5], verdict: &str, category: &str) -> Value {
    let score = |index: usize| json!({"score": scores[index], "reason": "seen\n# in the diff"});
    let filled = category != "none";
    json!({
        "item_id": "F001",
        "scores": {"completeness": score(0), "correctness": score(1), "code_quality": score(2),
            "test_coverage": score(3), "architecture_fit": score(4)},
        "verdict": verdict,
        "cause": {"category": category, "location": if filled { "src/a.rs:total" } else { "" },
            "text": if filled { "rounds down" } else { "" }},
        "issues": [{"file": "src/a.rs", "line": 12, "text": "rounds down"}, {"file": "", "line": 0, "text": "no test"}],
        "fix": "round half up"
    })
}

fn read(answer: &Value) -> Result<Evaluation, windlass_artifact_formats::ArtifactFaults> {
    Evaluation::parse(answer.to_string().as_bytes(), &Reading::from_agent("F001"))
}

#[test]
fn a_pass_needs_no_cause_and_only_scores_of_three_and_more() {
    assert!(read(&answer([5, 4, 3, 3, 5], "PASS", "none")).unwrap().passed());
    assert!(!read(&answer([5, 5, 5, 5, 5], "FAIL", "quality")).unwrap().passed());
}

#[test]
fn waivers_name_findings_with_reasons_and_stand_in_the_report() {
    let mut waiving = answer([5; 5], "PASS", "none");
    waiving["waivers"] = json!([{"finding": "test-deleted", "reason": "the feature is\ngone"}]);
    let evaluation = read(&waiving).unwrap();
    let read_again = read(&serde_json::from_str(&evaluation.render()).unwrap()).unwrap();
    assert_eq!((read_again.waivers[0].finding.as_str(), read_again.waivers.len()), ("test-deleted", 1));
    let item = id("F001");
    let report = EvaluationReport {
        date: "2026-01-31",
        items: &[(&item, "it", &evaluation)],
        recommendations: &[],
        architecture_observations: &[],
    };
    assert!(
        report.render().contains("- **Waived**: test-deleted — the feature is gone\n"),
        "{}",
        report.render()
    );
    for (finding, reason) in [("test-deleted", " "), ("everything", "as asked")] {
        waiving["waivers"] = json!([{"finding": finding, "reason": reason}]);
        assert!(read(&waiving).is_err(), "{finding} {reason:?}");
    }
}

#[test]
fn any_score_of_one_or_two_fails_whatever_the_verdict_says() {
    for place in 0..5 {
        for low in [1, 2] {
            let mut scores = [5; 5];
            scores[place] = low;
            assert!(!read(&answer(scores, "PASS", "tests")).unwrap().passed());
            assert!(!read(&answer(scores, "PASS", "none")).unwrap().passed());
        }
    }
}

#[test]
fn a_pass_with_a_low_score_and_no_cause_fails_for_the_reason_of_its_lowest_score() {
    let categories = ["criterion", "correctness", "quality", "tests", "architecture"];
    for (place, category) in categories.iter().enumerate() {
        let mut scores = [2; 5];
        scores[place] = 1;
        let mut low = answer(scores, "PASS", "none");
        let names = ["completeness", "correctness", "code_quality", "test_coverage", "architecture_fit"];
        low["scores"][names[place]]["reason"] = json!("only one case");
        let evaluation = read(&low).unwrap();
        assert_eq!(evaluation.cause.sentence(), format!("{category} at F001: only one case"));
        assert_eq!(evaluation.cause.key().as_str(), format!("{category}@f001"));
    }
    let stated = read(&answer([5, 5, 1, 5, 5], "PASS", "tests")).unwrap();
    assert_eq!(stated.cause.text, "rounds down", "a cause that was given counts");
}

#[test]
fn a_fail_without_cause_place_or_words_is_sent_back() {
    let faults = read(&answer([3; 5], "FAIL", "none")).unwrap_err();
    let places: Vec<&str> = faults.faults().iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(places, ["/cause/category", "/cause/location", "/cause/text"]);
    let mut vague = answer([3; 5], "FAIL", "tests");
    vague["cause"]["location"] = json!(" :12 ");
    assert!(read(&vague).unwrap_err().has(FaultKind::ReasonMissing));
}

#[test]
fn other_items_other_words_and_missing_scores_are_faults() {
    for (pointer, value, kind) in [
        ("/item_id", json!("F002"), FaultKind::WrongTaskId),
        ("/verdict", json!("pass"), FaultKind::UnknownValue),
        ("/verdict", json!("PASS with remarks"), FaultKind::UnknownValue),
        ("/cause/category", json!("style"), FaultKind::UnknownValue),
        ("/scores/correctness", json!(4), FaultKind::WrongType),
        ("/scores/correctness/score", json!(6), FaultKind::NumberOutOfRange),
        ("/scores/correctness/reason", json!(""), FaultKind::EmptyText),
    ] {
        let mut broken = answer([4; 5], "PASS", "none");
        *broken.pointer_mut(pointer).unwrap() = value;
        assert!(read(&broken).unwrap_err().has(kind), "{pointer}");
    }
}

#[test]
fn w9_a_cause_is_the_same_in_other_words_case_and_lines() {
    let key = |location: &str| CauseKey::new(CauseCategory::Correctness, location);
    for same in [
        "src/Billing/total.rs:Sum",
        "./src/billing/total.rs:sum()",
        "`src/billing/total.rs`: sum",
        "src\\billing\\total.rs::sum",
        "src/billing/total.rs:42:sum",
        "src/billing/total.rs:sum:42:7",
        "src/billing//total.rs:sum (line 42)",
        "src/billing/total.rs:sum, lines 40-44",
        "src/billing/total.rs:sum#L42",
        "src/billing/total.rs:L40-L44:sum",
    ] {
        assert_eq!(key(same), key("src/billing/total.rs:sum"), "{same}");
    }
    for other in [
        "src/billing/total.rs",
        "src/billing/total.rs:tax",
        "src/billing/line_items.rs:sum",
        "src/v2/total.rs:sum",
    ] {
        assert_ne!(key(other), key("src/billing/total.rs:sum"), "{other}");
    }
    assert_ne!(CauseKey::new(CauseCategory::Tests, "a.rs"), CauseKey::new(CauseCategory::Quality, "a.rs"));
    let first = read(&answer([3; 5], "FAIL", "tests")).unwrap();
    let mut again = answer([2; 5], "FAIL", "tests");
    again["cause"]["text"] = json!("completely different words");
    assert_eq!(first.cause.key(), read(&again).unwrap().cause.key());
    assert_eq!(first.cause.key().as_str(), "tests@src/a.rs:total");
}

#[test]
fn the_report_has_the_parts_of_2_6_and_foreign_text_opens_none() {
    let (one, two) = (id("F001"), id("F002"));
    let failed = read(&answer([4, 2, 4, 4, 4], "PASS", "correctness")).unwrap();
    let passed = read(&answer([5, 5, 5, 4, 5], "PASS", "none")).unwrap();
    let report = EvaluationReport {
        date: "2026-11-16",
        items: &[(&one, "Totals", &failed), (&two, "Login", &passed)],
        recommendations: &[],
        architecture_observations: &["fine".to_owned()],
    };
    let text = report.render();
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "# Evaluation — 2026-11-16",
            "## Summary",
            "## Features",
            "### F001 — Totals",
            "### F002 — Login",
            "## Critical Issues",
            "## Recommendations",
            "## Architecture Observations"
        ]
    );
    for part in [
        "- **Passed**: 1\n- **Failed**: 1\n- **Overall grade**: D\n",
        "- **Correctness**: 2 — seen # in the diff\n",
        "- **Verdict**: FAIL\n- **Root Cause**: correctness at src/a.rs:total: rounds down\n",
        "  1. src/a.rs:12: rounds down\n  2. no test\n",
        "- **Recommended Fix**: round half up\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(EvaluationReport { items: &[(&two, "Login", &passed)], ..report }.grade(), 'A');
}

#[test]
fn w17_an_older_report_is_kept_under_a_name_of_its_own() {
    assert_eq!(
        kept_evaluation_path("2026-11-16T10:00:00Z", &id("F001"), 3),
        "docs/evaluations/2026-11-16-F001-iteration-3.md"
    );
    assert_eq!(kept_evaluation_path("../..", &id("F001"), 3), "docs/evaluations/undated-F001-iteration-3.md");
}

#[test]
fn the_published_schemas_describe_every_key() {
    for (name, text) in PUBLISHED_SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        for (key, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}: {key}");
        }
    }
}
