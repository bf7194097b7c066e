//! Each file's keys and constraints, its layout on disk, and the keys we do not know.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_artifact_formats::task_loop::{
    AuditReport, AuditResults, CheckStatus, EvalResults, FinalVerdict, Gate, Handoff, RiskLevel, RunMetadata,
    SmokeStatus, Summary, Verdict, VerdictReport,
};
use windlass_artifact_formats::{ArtifactFaults, ExtraKeys, FaultKind, Limits, Reading, Strictness};

use crate::faults_of;

const HANDOFF: &str = r#"{
  "task_id": "TASK-1",
  "summary": "adds a flag",
  "requirements_touched": [
    "RQ-001"
  ],
  "files_touched": [
    "src/main.rs"
  ],
  "assumptions": [],
  "smoke_checks": [
    {
      "command": "cargo test",
      "status": "pass"
    }
  ],
  "notes": ""
}
"#;

const SUMMARY: &str = r#"{
  "task_id": "TASK-1",
  "final_verdict": "pass",
  "rounds_completed": 2,
  "run_dir": "/repo/.orchestrator/runs/TASK-1-20260101-120000",
  "judge_verdict": "pass",
  "audit_gate": "not-run",
  "audit_enabled": false
}
"#;

fn verdict(verdict: &str, reasons: &Value) -> Value {
    json!({"task_id": "TASK-1", "verdict": verdict, "reasons": reasons, "required_changes": [],
        "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": ""})
}

fn audit_from_prompt_keys() -> Value {
    json!({"task_id": "TASK-1", "gate": "pass", "findings": [],
        "traceability": {"task_id_match": "pass", "requirements_coverage": "unknown", "issues": []},
        "required_actions": [], "notes": ""})
}

fn without(mut document: Value, key: &str) -> Value {
    let removed = document.as_object_mut().and_then(|keys| keys.shift_remove(key));
    assert!(removed.is_some(), "{key} was not there to be removed");
    document
}

fn read_verdict(document: &Value, strictness: Strictness) -> Result<VerdictReport, ArtifactFaults> {
    let reading = Reading { strictness, expected_task_id: Some("TASK-1"), limits: Limits::default() };
    VerdictReport::parse(document.to_string().as_bytes(), &reading)
}

fn read_audit(document: &Value) -> Result<AuditReport, ArtifactFaults> {
    AuditReport::parse(document.to_string().as_bytes(), &Reading::from_agent("TASK-1"))
}

#[test]
fn a_hand_off_is_read_and_written_byte_for_byte() {
    let handoff = Handoff::parse(HANDOFF.as_bytes(), &Reading::from_agent("TASK-1")).unwrap();
    assert_eq!(handoff.smoke_checks[0].status, SmokeStatus::Pass);
    assert_eq!(handoff.render(), HANDOFF);
}

#[test]
fn all_seven_hand_off_keys_are_required() {
    let document: Value = serde_json::from_str(HANDOFF).unwrap();
    let keys: Vec<String> = document.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 7);
    for key in keys {
        let text = without(document.clone(), &key).to_string();
        let found = faults_of(Handoff::parse(text.as_bytes(), &Reading::from_agent("TASK-1")));
        assert_eq!(found, [("missing-key", format!("/{key}"))]);
    }
}

#[test]
fn all_eight_verdict_keys_are_required() {
    let document = verdict("pass", &json!([]));
    for key in document.as_object().unwrap().keys() {
        let found = faults_of(read_verdict(&without(document.clone(), key), Strictness::Legacy));
        assert_eq!(found, [("missing-key", format!("/{key}"))]);
    }
}

#[test]
fn requirement_ids_are_trimmed_and_held_to_their_pattern() {
    let text = HANDOFF.replace("\"RQ-001\"", "\" RQ-001\\n\"");
    let handoff = Handoff::parse(text.as_bytes(), &Reading::default()).unwrap();
    assert_eq!(handoff.requirements_touched[0].as_str(), "RQ-001");
    let text = HANDOFF.replace("RQ-001", "REQ-1");
    let found = faults_of(Handoff::parse(text.as_bytes(), &Reading::default()));
    assert_eq!(found, [("malformed-id", "/requirements_touched/0".to_owned())]);
}

#[test]
fn smoke_checks_need_a_command_and_one_of_four_states() {
    let text =
        HANDOFF.replace("\"cargo test\"", "\" \"").replace("\"status\": \"pass\"", "\"status\": \"ok\"");
    let found = faults_of(Handoff::parse(text.as_bytes(), &Reading::default()));
    let expected = [
        ("empty-text", "/smoke_checks/0/command".to_owned()),
        ("unknown-value", "/smoke_checks/0/status".to_owned()),
    ];
    assert_eq!(found, expected);
    for state in ["pass", "fail", "skip", "unknown"] {
        let text = HANDOFF.replace("\"status\": \"pass\"", &format!("\"status\": \"{state}\""));
        assert!(Handoff::parse(text.as_bytes(), &Reading::default()).is_ok(), "{state}");
    }
}

#[test]
fn an_artifact_of_another_task_is_refused() {
    let found = faults_of(Handoff::parse(HANDOFF.as_bytes(), &Reading::from_agent("TASK-2")));
    assert_eq!(found, [("wrong-task-id", "/task_id".to_owned())]);
    assert!(Handoff::parse(HANDOFF.as_bytes(), &Reading::legacy()).is_ok());
}

#[test]
fn a_refusal_without_reason_is_a_fault_from_an_agent_and_tolerated_in_a_stored_file() {
    for word in ["reject", "needs-human"] {
        let silent = verdict(word, &json!([]));
        let found = faults_of(read_verdict(&silent, Strictness::Agent));
        assert_eq!(found, [("reason-missing", "/reasons".to_owned())]);
        assert!(read_verdict(&silent, Strictness::Legacy).is_ok());
        let spoken = verdict(word, &json!([{"check": "c", "details": "d"}]));
        assert!(read_verdict(&spoken, Strictness::Agent).is_ok());
    }
    assert!(read_verdict(&verdict("pass", &json!([])), Strictness::Agent).is_ok());
}

#[test]
fn reasons_need_check_and_details() {
    let document = verdict("reject", &json!([{"check": "", "details": "d"}, {"check": "c"}]));
    let expected =
        [("empty-text", "/reasons/0/check".to_owned()), ("missing-key", "/reasons/1/details".to_owned())];
    assert_eq!(faults_of(read_verdict(&document, Strictness::Agent)), expected);
}

#[test]
fn an_audit_with_only_the_keys_of_the_prompt_is_accepted_and_completed() {
    let audit = read_audit(&audit_from_prompt_keys()).unwrap();
    assert_eq!(audit.gate, Gate::Pass);
    assert_eq!(audit.risk.level, RiskLevel::High);
    assert_eq!(audit.policy.artifact_integrity, CheckStatus::Unknown);
    assert_eq!(audit.policy.eval_commands, CheckStatus::Unknown);
    let written: Value = serde_json::from_str(&audit.render()).unwrap();
    let keys: Vec<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
    let in_order =
        ["task_id", "gate", "risk", "findings", "policy", "traceability", "required_actions", "notes"];
    assert_eq!(keys, in_order);
    assert_eq!(written["risk"], json!({"level": "high", "reasons": []}));
}

#[test]
fn one_missing_policy_member_is_unknown_and_the_other_stays() {
    let mut document = audit_from_prompt_keys();
    document["policy"] = json!({"eval_commands": "fail"});
    let audit = read_audit(&document).unwrap();
    assert_eq!(audit.policy.artifact_integrity, CheckStatus::Unknown);
    assert_eq!(audit.policy.eval_commands, CheckStatus::Fail);
}

#[test]
fn gate_words_and_members_must_match_exactly() {
    for (pointer, value, code) in [
        ("/gate", json!("PASS"), "unknown-value"),
        ("/gate", json!(["pass"]), "wrong-type"),
        ("/gate", json!("reject"), "unknown-value"),
        ("/traceability/task_id_match", json!("yes"), "unknown-value"),
        ("/traceability", json!([]), "wrong-type"),
        ("/required_actions", json!([""]), "empty-text"),
    ] {
        let mut document = audit_from_prompt_keys();
        *document.pointer_mut(pointer).unwrap() = value;
        assert_eq!(faults_of(read_audit(&document))[0].0, code, "{pointer}");
    }
    for key in ["gate", "findings", "traceability", "required_actions", "notes", "task_id"] {
        let found = faults_of(read_audit(&without(audit_from_prompt_keys(), key)));
        assert_eq!(found, [("missing-key", format!("/{key}"))]);
    }
}

#[test]
fn a_summary_has_its_key_order_two_space_indent_and_newline() {
    let summary = Summary {
        task_id: "TASK-1".to_owned(),
        final_verdict: FinalVerdict::Pass,
        rounds_completed: 2,
        run_dir: "/repo/.orchestrator/runs/TASK-1-20260101-120000".to_owned(),
        judge_verdict: Verdict::Pass.to_string(),
        audit_gate: Summary::NOT_RUN.to_owned(),
        audit_enabled: false,
        extra: ExtraKeys::default(),
    };
    assert_eq!(summary.render(), SUMMARY);
    assert_eq!(Summary::parse(SUMMARY.as_bytes(), &Reading::legacy()).unwrap(), summary);
    assert_eq!(
        summary.closing_lines(),
        "run_dir=/repo/.orchestrator/runs/TASK-1-20260101-120000\nfinal_verdict=pass\njudge_verdict=pass\n\
        audit_gate=not-run\n"
    );
}

#[test]
fn a_summary_of_an_old_run_may_hold_a_stray_verdict() {
    let text = SUMMARY.replace("\"final_verdict\": \"pass\"", "\"final_verdict\": \"PASS\"");
    let summary = Summary::parse(text.as_bytes(), &Reading::legacy()).unwrap();
    assert_eq!(summary.final_verdict, FinalVerdict::Other("PASS".to_owned()));
    assert_eq!(summary.render(), text);
}

#[test]
fn evidence_files_keep_their_shape() {
    let command =
        json!({"command": "make", "status": "fail", "exit_code": -1, "stdout_log": "o", "stderr_log": "e"});
    let eval =
        json!({"repo": "/r", "results": [command], "summary": {"commands": 1, "passed": 0, "failed": 1}});
    let text = format!("{}\n", serde_json::to_string_pretty(&eval).unwrap());
    assert_eq!(EvalResults::parse(text.as_bytes(), &Reading::legacy()).unwrap().render(), text);
    let audit = json!({"repo": "/r", "handoff": "/h", "verdict": "/v",
        "checks": [{"name": "handoff_present", "status": "pass", "details": "there"}], "commands": [command],
        "summary": {"checks": 1, "checks_failed": 0, "commands": 1, "commands_failed": 1}});
    let text = format!("{}\n", serde_json::to_string_pretty(&audit).unwrap());
    assert_eq!(AuditResults::parse(text.as_bytes(), &Reading::legacy()).unwrap().render(), text);
}

#[test]
fn exit_codes_and_counts_are_whole_numbers_in_range() {
    for (value, code) in
        [("1.5", "wrong-type"), ("\"1\"", "wrong-type"), ("4294967296", "number-out-of-range")]
    {
        let text = SUMMARY.replace("\"rounds_completed\": 2", &format!("\"rounds_completed\": {value}"));
        let found = faults_of(Summary::parse(text.as_bytes(), &Reading::legacy()));
        assert_eq!(found, [(code, "/rounds_completed".to_owned())]);
    }
}

#[test]
fn run_metadata_holds_full_ids_and_refuses_other_versions() {
    let sha = "0123456789abcdef".repeat(4);
    let document = json!({"version": 1, "run_id": "r1", "base_ref": "HEAD~1", "base_commit": &sha[..40],
        "base_tree": &sha[..40], "rounds": [{"round": 1, "tree": &sha[..40], "patch_sha256": sha,
        "artifacts": [{"name": "handoff.json", "sha256": sha}], "later": 1.50}], "outcome": null, "added": [1]});
    let read = |document: &Value| RunMetadata::parse(document.to_string().as_bytes(), &Reading::legacy());
    let metadata = read(&document).unwrap();
    assert_eq!(metadata.outcome, None);
    assert_eq!(serde_json::from_str::<Value>(&metadata.render()).unwrap(), document);
    for (pointer, value, code) in [
        ("/version", json!(2), "unsupported-version"),
        ("/base_commit", json!("HEAD"), "malformed-hash"),
        ("/rounds/0/patch_sha256", json!(&sha[..40]), "malformed-hash"),
        ("/rounds/0/round", json!(0), "number-out-of-range"),
        ("/outcome", json!({"final_verdict": "pass"}), "missing-key"),
    ] {
        let mut changed = document.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert_eq!(faults_of(read(&changed))[0].0, code, "{pointer}");
    }
}

#[test]
fn unknown_keys_stay_in_order_with_the_spelling_of_their_values() {
    let text = HANDOFF
        .replace(
            "\"notes\": \"\"\n",
            "\"notes\": \"\",\n  \"z\": 1.10e+2,\n  \"a\": {\"k\":  [ 1,2 ], \"u\": \"\\u00e9\"}\n",
        )
        .replace(
            "\"status\": \"pass\"\n",
            "\"status\": \"pass\",\n      \"seconds\": 12345678901234567890123\n",
        );
    let handoff = Handoff::parse(text.as_bytes(), &Reading::default()).unwrap();
    assert_eq!(handoff.render(), text);
    let kept: Vec<_> = handoff.extra.iter().collect();
    assert_eq!(kept, [("z", "1.10e+2"), ("a", "{\"k\":  [ 1,2 ], \"u\": \"\\u00e9\"}")]);
}

#[test]
fn a_report_that_breaks_its_own_rules_is_not_written() {
    let mut report = read_verdict(&verdict("pass", &json!([])), Strictness::Agent).unwrap();
    report.verdict = Verdict::Reject;
    assert!(report.checked().unwrap_err().has(FaultKind::ReasonMissing));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[^\0]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z~/\"é]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn rendering_what_was_parsed_keeps_unknown_keys(
        added in proptest::collection::btree_map("x[a-z\"é ]{0,5}", any_json(), 0..5),
    ) {
        let mut document: Value = serde_json::from_str(HANDOFF).unwrap();
        for (key, value) in &added {
            document[key] = value.clone();
            document["smoke_checks"][0][key] = value.clone();
        }
        let parsed = Handoff::parse(document.to_string().as_bytes(), &Reading::default()).unwrap();
        let rendered = parsed.render();
        prop_assert_eq!(serde_json::from_str::<Value>(&rendered).unwrap(), document);
        let again = Handoff::parse(rendered.as_bytes(), &Reading::default()).unwrap();
        prop_assert_eq!(again.render(), rendered);
    }
}
