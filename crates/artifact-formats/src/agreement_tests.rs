//! The published schemas and the typed readers must find the same faults at the same places.
//! It compares the two on documents that were damaged at random.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::artifact::{Format, Reading, read_typed};
use crate::document::{Limits, read};
use crate::fault::{ArtifactFault, FaultKind};
use crate::goal_loop::{DesignAnswer, Evaluation};
use crate::roadmap_loop::round::RecoveryReport;
use crate::task_loop::{
    AuditReport, AuditResults, EvalResults, Handoff, RunMetadata, Summary, VerdictReport,
};

fn found(faults: &[ArtifactFault]) -> BTreeSet<(FaultKind, String)> {
    faults.iter().map(|fault| (fault.kind, fault.path.clone())).collect()
}

fn opinions<A: Format>(document: &Value) -> Opinions {
    let text = document.to_string();
    let (document, faults) = read(text.as_bytes(), Limits::default());
    assert_eq!(faults, []);
    let document = document.unwrap();
    let (_, typed) = read_typed::<A>(&document, &Reading::legacy());
    [found(&typed), found(&A::schema().faults(&document.to_value()))]
}

/// What the typed reader and the schema find in a document.
type Opinions = [BTreeSet<(FaultKind, String)>; 2];

type Example = (Value, fn(&Value) -> Opinions);

/// One whole example of each file, with an opinion function for its type.
fn examples() -> Vec<Example> {
    let command =
        json!({"command": "make", "status": "fail", "exit_code": 2, "stdout_log": "o", "stderr_log": "e"});
    let sha = "0123456789abcdef".repeat(4);
    vec![
        (
            json!({"task_id": "T", "summary": "s", "requirements_touched": ["RQ-001", " ADR-1234 "],
                "files_touched": ["a"], "assumptions": ["x"],
                "smoke_checks": [{"command": "make", "status": "skip"}], "notes": ""}),
            opinions::<Handoff>,
        ),
        (
            json!({"task_id": "T", "verdict": "reject", "reasons": [{"check": "c", "details": "d"}],
                "required_changes": ["x"], "suggested_tests": ["y"], "requirements_checked": ["RQ-001"],
                "requirements_missing": ["NFR-002"], "notes": "n"}),
            opinions::<VerdictReport>,
        ),
        (
            json!({"task_id": "T", "gate": "pass", "risk": {"level": "low", "reasons": ["r"]},
                "findings": [{"category": "c", "details": "d"}],
                "policy": {"artifact_integrity": "pass", "eval_commands": "unknown"},
                "traceability": {"task_id_match": "pass", "requirements_coverage": "fail", "issues": ["i"]},
                "required_actions": ["a"], "notes": ""}),
            opinions::<AuditReport>,
        ),
        (
            json!({"repo": "/r", "results": [command], "summary": {"commands": 1, "passed": 0, "failed": 1}}),
            opinions::<EvalResults>,
        ),
        (
            json!({"repo": "/r", "handoff": "h", "verdict": "v",
                "checks": [{"name": "handoff_present", "status": "pass", "details": ""}], "commands": [command],
                "summary": {"checks": 1, "checks_failed": 0, "commands": 1, "commands_failed": 1}}),
            opinions::<AuditResults>,
        ),
        (
            json!({"task_id": "T", "final_verdict": "pass", "rounds_completed": 1, "run_dir": "/d",
                "judge_verdict": "pass", "audit_gate": "not-run", "audit_enabled": false}),
            opinions::<Summary>,
        ),
        (
            json!({"version": 1, "run_id": "r", "base_ref": "HEAD", "base_commit": &sha[..40], "base_tree": sha,
                "rounds": [{"round": 1, "tree": sha, "patch_sha256": sha,
                    "artifacts": [{"name": "handoff.json", "sha256": sha}]}],
                "outcome": {"final_verdict": "pass", "reason": "gate-passed"}}),
            opinions::<RunMetadata>,
        ),
        (
            json!({"item_id": "F001", "scores": {
                "completeness": {"score": 5, "reason": "r"}, "correctness": {"score": 1, "reason": "r"},
                "code_quality": {"score": 4, "reason": "r"}, "test_coverage": {"score": 3, "reason": "r"},
                "architecture_fit": {"score": 2, "reason": "r"}}, "verdict": "FAIL",
                "cause": {"category": "tests", "location": "a", "text": "t"},
                "issues": [{"file": "a", "line": 0, "text": "t"}], "fix": ""}),
            opinions::<Evaluation>,
        ),
        (
            json!({"item_id": "F001", "overview": "o", "research_findings": "r",
                "decisions": [{"question": "q", "options": ["a", "b"], "choice": "a"}], "technical_design": "t",
                "files": ["src/a.rs"], "implementation_plan": ["s"], "testing_strategy": "t", "rollout": "none",
                "dependencies": ["d"], "acceptance_criteria": ["c"], "open_questions": ["q"],
                "contract": {"deliverable": "d", "verification": "v"}}),
            opinions::<DesignAnswer>,
        ),
        (
            json!({"subject_id": "round-1", "failure_summary": "f", "diagnosis": "d",
                "salvageable_outputs": [{"path": "plan.md", "use_for": "u"}], "proven_stage": "plan",
                "recommended_action": "escalate", "action_details": "a", "controller_continuation": "c",
                "recovery_note": ""}),
            opinions::<RecoveryReport>,
        ),
    ]
}

/// Values that are right in one place and wrong in another.
fn replacements() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-1),
        json!(1.5),
        json!(1e20),
        json!(4_294_967_296_u64),
        json!(""),
        json!(" \t"),
        json!("pass"),
        json!("PASS"),
        json!("RQ-001"),
        json!("RQ-01"),
        json!("f".repeat(64)),
        json!("F".repeat(64)),
        json!([]),
        json!([""]),
        json!(["pass"]),
        json!([{"check": "c"}]),
        json!({}),
        json!({"level": "high", "reasons": [1]}),
    ]
}

fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                pointers(inner, format!("{here}/{key}"), all);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                pointers(inner, format!("{here}/{index}"), all);
            }
        }
        _ => {}
    }
    if !here.is_empty() {
        all.push(here);
    }
}

/// Replaces, or removes where `with` lies beyond the replacements, the value at a place chosen by number.
fn damage(document: &mut Value, place: usize, with: usize) {
    let mut all = Vec::new();
    pointers(document, String::new(), &mut all);
    let Some(pointer) = all.get(place % all.len().max(1)).cloned() else { return };
    let choices = replacements();
    if let Some(replacement) = choices.get(with % (choices.len() + 4)) {
        *document.pointer_mut(&pointer).unwrap() = replacement.clone();
        return;
    }
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(map)) = document.pointer_mut(parent) {
        map.shift_remove(key);
    }
}

#[test]
fn whole_examples_have_no_faults() {
    for (example, opinions) in examples() {
        assert_eq!(opinions(&example), [BTreeSet::new(), BTreeSet::new()], "{example}");
    }
}

#[test]
fn every_single_removal_and_replacement_is_seen_alike() {
    let mut with_faults = 0;
    for (example, opinions) in examples() {
        let mut places = Vec::new();
        pointers(&example, String::new(), &mut places);
        for place in 0..places.len() {
            for with in 0..=replacements().len() {
                let mut damaged = example.clone();
                damage(&mut damaged, place, with);
                let [typed, schema] = opinions(&damaged);
                assert_eq!(typed, schema, "{damaged}");
                with_faults += usize::from(!typed.is_empty());
            }
        }
    }
    assert!(with_faults > 1000, "the damage must show: {with_faults}");
}

proptest! {
    #[test]
    fn damage_upon_damage_is_seen_alike(
        kind in 0..9_usize,
        hits in proptest::collection::vec((any::<usize>(), any::<usize>()), 1..6),
    ) {
        let (mut document, opinions) = examples().swap_remove(kind);
        for (place, with) in hits {
            damage(&mut document, place, with);
        }
        let [typed, schema] = opinions(&document);
        prop_assert_eq!(typed, schema, "{}", document);
    }
}
