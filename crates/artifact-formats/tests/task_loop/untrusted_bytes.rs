//! Hostile and broken bytes: each gets its own fault, and none gets through.

use proptest::prelude::*;
use windlass_artifact_formats::task_loop::{AuditReport, Handoff, Verdict, VerdictReport};
use windlass_artifact_formats::{FaultKind, Limits, Reading, parse_untrusted};

use crate::faults_of;

const PASS: &str = r#"{"task_id": "TASK-1", "verdict": "pass", "reasons": [], "required_changes": [],
    "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": ""}"#;

fn kinds(bytes: &[u8]) -> Vec<FaultKind> {
    let faults = parse_untrusted(bytes, Limits::default()).expect_err("these bytes must be refused");
    faults.iter().map(|fault| fault.kind).collect()
}

fn verdict_faults(text: &str) -> Vec<(&'static str, String)> {
    faults_of(VerdictReport::parse(text.as_bytes(), &Reading::from_agent("TASK-1")))
}

fn at(code: &'static str, path: &str) -> (&'static str, String) {
    (code, path.to_owned())
}

#[test]
fn bytes_that_are_no_text_are_refused_by_kind() {
    assert_eq!(kinds(b""), [FaultKind::Empty]);
    assert_eq!(kinds(b" \n"), [FaultKind::Empty]);
    assert_eq!(kinds(b"{\"a\": \"\xff\"}"), [FaultKind::NotUtf8]);
    assert_eq!(kinds(b"\xef\xbb\xbf{}"), [FaultKind::ByteOrderMark]);
    assert_eq!(kinds(b"{}\0"), [FaultKind::RawNul]);
    assert_eq!(kinds(b"{\"a\": \"x\0y\"}"), [FaultKind::RawNul]);
    assert_eq!(kinds(b"\xff\xfe{\0}\0"), [FaultKind::RawNul]);
}

#[test]
fn text_that_is_no_json_object_is_refused_by_kind() {
    for text in
        ["{", "{}{}", "{\"a\": 1,}", "{'a': 1}", "pass", "{\"a\": NaN}", "{\"a\": \"\n\"}", "// x\n{}"]
    {
        assert_eq!(kinds(text.as_bytes()), [FaultKind::NotJson], "{text}");
    }
    for text in ["[]", "\"pass\"", "null", "1", "[{\"verdict\": \"pass\"}]"] {
        assert_eq!(kinds(text.as_bytes()), [FaultKind::NotAnObject], "{text}");
    }
}

#[test]
fn an_answer_in_a_markdown_fence_is_told_what_to_do() {
    let faults = parse_untrusted(b"```json\n{}\n```\n", Limits::default()).unwrap_err();
    assert!(faults[0].message.contains("without a Markdown fence"), "{}", faults[0]);
}

#[test]
fn a_file_over_the_size_limit_is_not_even_read() {
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1024 * 1024));
    assert_eq!(kinds(large.as_bytes()), [FaultKind::TooLarge]);
    let limits = Limits { max_bytes: 2, ..Limits::default() };
    assert!(parse_untrusted(b"{}", limits).is_ok());
    assert!(parse_untrusted(b"{ }", limits).is_err());
}

#[test]
fn depth_is_bounded_without_exhausting_the_stack() {
    let nested = |levels: usize| format!("{{\"a\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse_untrusted(nested(63).as_bytes(), Limits::default()).is_ok());
    assert_eq!(kinds(nested(64).as_bytes()), [FaultKind::TooDeep]);
    assert_eq!(kinds(nested(200_000).as_bytes()), [FaultKind::TooDeep]);
    assert_eq!(kinds("[".repeat(200_000).as_bytes()), [FaultKind::NotJson]);
}

#[test]
fn a_doubled_verdict_is_no_pass() {
    let text = PASS.replacen("\"verdict\": \"pass\"", "\"verdict\": \"reject\", \"verdict\": \"pass\"", 1);
    assert!(verdict_faults(&text).contains(&at("duplicate-key", "/verdict")));
    let text =
        PASS.replacen("\"verdict\": \"pass\"", "\"verdict\": \"pass\", \"verd\\u0069ct\": \"pass\"", 1);
    assert_eq!(verdict_faults(&text), [at("duplicate-key", "/verdict")]);
}

#[test]
fn doubled_keys_are_found_at_any_depth_also_in_keys_we_do_not_know() {
    let faults = parse_untrusted(
        br#"{"x": [{"y": {"a/b": 1, "a/b": 2}}], "x~": {"k": 0, "k": 0}}"#,
        Limits::default(),
    );
    let places: Vec<_> = faults.unwrap_err().into_iter().map(|fault| (fault.kind, fault.path)).collect();
    let doubled = |path: &str| (FaultKind::DuplicateKey, path.to_owned());
    assert_eq!(places, [doubled("/x/0/y/a~1b"), doubled("/x~0/k")]);
}

#[test]
fn an_escaped_nul_is_refused_in_values_and_keys() {
    let text = PASS.replace("\"pass\"", r#""pass\u0000""#);
    assert_eq!(verdict_faults(&text), [at("nul-in-text", "/verdict"), at("unknown-value", "/verdict")]);
    assert_eq!(kinds(br#"{"a\u0000": 1}"#), [FaultKind::NulInText]);
    assert_eq!(kinds(br#"{"unknown": {"deep": ["\u0000"]}}"#), [FaultKind::NulInText]);
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    assert_eq!(kinds(br#"{"a": "\ud800"}"#), [FaultKind::InvalidText]);
    assert_eq!(kinds(br#"{"\ud800": 1}"#), [FaultKind::InvalidText]);
}

#[test]
fn verdict_words_must_match_exactly() {
    for word in ["\"PASS\"", "\"Pass\"", "\"pass \"", "\"passed\"", "\"needs_human\"", "\"\""] {
        let text = PASS.replace("\"pass\"", word);
        assert_eq!(verdict_faults(&text), [at("unknown-value", "/verdict")], "{word}");
    }
    for value in ["[\"pass\"]", "true", "null", "{\"value\": \"pass\"}", "1"] {
        let text = PASS.replace("\"pass\"", value);
        assert_eq!(verdict_faults(&text), [at("wrong-type", "/verdict")], "{value}");
    }
}

#[test]
fn a_verdict_cut_off_anywhere_is_refused() {
    for end in 0..PASS.len() {
        let cut = &PASS[..end];
        assert!(VerdictReport::parse(cut.as_bytes(), &Reading::default()).is_err(), "{cut}");
    }
    let whole = VerdictReport::parse(PASS.as_bytes(), &Reading::from_agent("TASK-1")).unwrap();
    assert_eq!(whole.verdict, Verdict::Pass);
}

#[test]
fn faults_of_form_and_content_come_in_one_answer() {
    let text = r#"{"task_id": "TASK-2", "verdict": "ok", "verdict": "ok", "reasons": ["plain text"], "notes": 1,
        "required_changes": [" "], "requirements_checked": ["REQ-1"], "requirements_missing": []}"#;
    let mut found = verdict_faults(text);
    found.sort();
    assert_eq!(
        found,
        [
            at("duplicate-key", "/verdict"),
            at("empty-text", "/required_changes/0"),
            at("malformed-id", "/requirements_checked/0"),
            at("missing-key", "/suggested_tests"),
            at("unknown-value", "/verdict"),
            at("wrong-task-id", "/task_id"),
            at("wrong-type", "/notes"),
            at("wrong-type", "/reasons/0"),
        ]
    );
}

#[test]
fn the_list_of_faults_is_bounded_and_quotes_little_of_the_file() {
    let changes = vec!["\"\""; 500].join(",");
    let word = "\\n`".repeat(5000);
    let text = PASS.replacen("\"required_changes\": []", &format!("\"required_changes\": [{changes}]"), 1);
    let text = text.replacen("\"pass\"", &format!("\"{word}\""), 1);
    let faults = VerdictReport::parse(text.as_bytes(), &Reading::default()).unwrap_err();
    assert_eq!(faults.faults().len(), Limits::default().max_faults);
    for fault in faults.faults() {
        let shown = fault.to_string();
        assert!(shown.len() < 500 && !shown.contains('\n'), "{shown}");
    }
}

#[test]
fn a_fault_reads_well_on_its_own() {
    let faults = VerdictReport::parse(PASS.replace("\"pass\"", "\"PASS\"").as_bytes(), &Reading::default());
    assert_eq!(
        faults.unwrap_err().to_string(),
        "verdict.json is not usable:\n- /verdict: must be exactly one of \"pass\", \"reject\", \"needs-human\"; \
        found \"PASS\" (unknown-value)"
    );
}

/// Whoever has to mend the file learns the words also where there was none to hold against them.
#[test]
fn a_word_that_is_absent_or_no_text_is_told_with_the_words_there_are() {
    let cases = [
        (PASS.replace("\"verdict\"", "\"vredict\""), "this key is required and absent; it must be one of"),
        (PASS.replace("\"pass\"", "true"), "expected one of"),
    ];
    for (text, beginning) in cases {
        let faults = VerdictReport::parse(text.as_bytes(), &Reading::default()).unwrap_err().to_string();
        let told = format!("/verdict: {beginning} \"pass\", \"reject\", \"needs-human\"");
        assert!(faults.contains(&told), "{faults}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_untrusted(&bytes, Limits::default());
        let _ = Handoff::parse(&bytes, &Reading::default());
    }

    #[test]
    fn arbitrary_json_like_text_never_panics(text in r#"[\[\]{}:,"\\u0-9a-fE+\-. ntrue]{0,200}"#) {
        let _ = AuditReport::parse(text.as_bytes(), &Reading::default());
    }

    #[test]
    fn a_changed_byte_never_panics_and_never_yields_another_verdict(place in 0..PASS.len(), byte in any::<u8>()) {
        let mut bytes = PASS.as_bytes().to_vec();
        bytes[place] = byte;
        if let Ok(report) = VerdictReport::parse(&bytes, &Reading::default()) {
            prop_assert_eq!(report.verdict, Verdict::Pass);
        }
    }

    #[test]
    fn what_serde_json_refuses_we_refuse(text in r#"\{"a": [\[\]{}:,"\\u0-9a-fE+\-. ntrue]{0,12}\}"#) {
        if serde_json::from_str::<serde_json::Value>(&text).is_err() {
            prop_assert!(parse_untrusted(text.as_bytes(), Limits::default()).is_err(), "{}", text);
        }
    }
}
