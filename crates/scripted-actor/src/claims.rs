//! Artifacts as an honest agent writes them: the keys of the script over a complete and valid set.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use windlass_agent_drivers::script::ClaimKind;

use crate::ActorError;

/// The bytes of the artifact.
pub(crate) fn compose(
    kind: ClaimKind,
    keys: &Map<String, Value>,
    without: &[String],
    task_id: Option<&str>,
    touched: &BTreeSet<String>,
) -> Result<Vec<u8>, ActorError> {
    let mut claim = match kind {
        ClaimKind::Handoff => sensible_handoff(touched),
        ClaimKind::Verdict => sensible_verdict(keys),
        ClaimKind::Audit => sensible_audit(keys),
    };
    let leaves_task_out = keys.contains_key("task_id") || without.iter().any(|key| key == "task_id");
    match task_id {
        Some(task_id) => claim["task_id"] = Value::from(task_id),
        None if leaves_task_out => {}
        None => {
            return Err(ActorError::NoTaskId { artifact: kind.file_name() });
        }
    }
    lay_over(&mut claim, &Value::Object(keys.clone()));
    if let Value::Object(members) = &mut claim {
        members.retain(|key, _| !without.contains(key));
    }
    Ok(format!("{claim:#}\n").into_bytes())
}

fn sensible_handoff(touched: &BTreeSet<String>) -> Value {
    json!({
        "task_id": null,
        "summary": "did what the script says",
        "requirements_touched": [],
        "files_touched": touched,
        "assumptions": [],
        "smoke_checks": [],
        "notes": "",
    })
}

/// A verdict other than pass must have a reason, so it gets one.
fn sensible_verdict(keys: &Map<String, Value>) -> Value {
    let complaints = complaints(keys, "verdict");
    let reasons: Vec<Value> =
        complaints.iter().map(|text| json!({ "check": "scripted", "details": text })).collect();
    json!({
        "task_id": null,
        "verdict": "pass",
        "reasons": reasons,
        "required_changes": complaints,
        "suggested_tests": [],
        "requirements_checked": [],
        "requirements_missing": [],
        "notes": "",
    })
}

fn sensible_audit(keys: &Map<String, Value>) -> Value {
    let complaints = complaints(keys, "gate");
    let findings: Vec<Value> =
        complaints.iter().map(|text| json!({ "category": "scripted", "details": text })).collect();
    json!({
        "task_id": null,
        "gate": "pass",
        "risk": { "level": "low", "reasons": complaints },
        "findings": findings,
        "policy": { "artifact_integrity": "pass", "eval_commands": "pass" },
        "traceability": { "task_id_match": "pass", "requirements_coverage": "pass", "issues": [] },
        "required_actions": complaints,
        "notes": "",
    })
}

fn complaints(keys: &Map<String, Value>, decision: &str) -> Vec<String> {
    match keys.get(decision).and_then(Value::as_str) {
        None | Some("pass") => Vec::new(),
        Some(other) => vec![format!("the script says {other}")],
    }
}

/// Tables are merged member by member, everything else is replaced.
fn lay_over(base: &mut Value, top: &Value) {
    match (base, top) {
        (Value::Object(base), Value::Object(top)) => {
            for (key, value) in top {
                lay_over(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, top) => *base = top.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(kind: ClaimKind, keys: Value, without: &[&str]) -> Value {
        let Value::Object(keys) = keys else { panic!("keys are a table") };
        let without: Vec<String> = without.iter().map(|&key| key.to_owned()).collect();
        let touched = BTreeSet::from(["src/lib.rs".to_owned()]);
        let bytes = compose(kind, &keys, &without, Some("TASK-9"), &touched).unwrap();
        assert_eq!(bytes.last(), Some(&b'\n'));
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_bare_claim_has_every_key_in_the_order_of_the_format() {
        let orders: [(ClaimKind, &[&str]); 3] = [
            (
                ClaimKind::Handoff,
                &[
                    "task_id",
                    "summary",
                    "requirements_touched",
                    "files_touched",
                    "assumptions",
                    "smoke_checks",
                    "notes",
                ],
            ),
            (
                ClaimKind::Verdict,
                &[
                    "task_id",
                    "verdict",
                    "reasons",
                    "required_changes",
                    "suggested_tests",
                    "requirements_checked",
                    "requirements_missing",
                    "notes",
                ],
            ),
            (
                ClaimKind::Audit,
                &[
                    "task_id",
                    "gate",
                    "risk",
                    "findings",
                    "policy",
                    "traceability",
                    "required_actions",
                    "notes",
                ],
            ),
        ];
        for (kind, order) in orders {
            let claim = composed(kind, json!({}), &[]);
            let keys: Vec<_> = claim.as_object().unwrap().keys().collect();
            assert_eq!(keys, order);
            assert_eq!(claim["task_id"], "TASK-9");
        }
        assert_eq!(composed(ClaimKind::Handoff, json!({}), &[])["files_touched"], json!(["src/lib.rs"]));
    }

    #[test]
    fn a_bad_decision_comes_with_a_reason_and_a_good_one_without() {
        let verdict = composed(ClaimKind::Verdict, json!({ "verdict": "reject" }), &[]);
        assert_eq!(verdict["reasons"], json!([{ "check": "scripted", "details": "the script says reject" }]));
        assert_eq!(verdict["required_changes"], json!(["the script says reject"]));
        let audit = composed(ClaimKind::Audit, json!({ "gate": "needs-human" }), &[]);
        assert_eq!(audit["findings"][0]["details"], "the script says needs-human");
        assert_eq!(composed(ClaimKind::Verdict, json!({ "verdict": "pass" }), &[])["reasons"], json!([]));
        assert_eq!(composed(ClaimKind::Audit, json!({}), &[])["required_actions"], json!([]));
    }

    #[test]
    fn tables_are_merged_and_lists_replaced_and_keys_dropped() {
        let audit = composed(
            ClaimKind::Audit,
            json!({ "gate": "fail", "risk": { "level": "high" }, "findings": [], "extra": 1 }),
            &["notes", "policy"],
        );
        assert_eq!(audit["risk"], json!({ "level": "high", "reasons": ["the script says fail"] }));
        assert_eq!(audit["findings"], json!([]));
        assert_eq!(audit["extra"], 1);
        assert_eq!(audit.get("notes"), None);
        assert_eq!(audit.get("policy"), None);
    }

    #[test]
    fn a_task_id_is_never_invented() {
        let touched = BTreeSet::new();
        let refused = compose(ClaimKind::Verdict, &Map::new(), &[], None, &touched).unwrap_err();
        assert!(refused.to_string().starts_with("verdict.json needs a task id"), "{refused}");
        let given: Map<String, Value> = [("task_id".to_owned(), Value::from("TASK-x"))].into_iter().collect();
        let bytes = compose(ClaimKind::Verdict, &given, &[], None, &touched).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["task_id"], "TASK-x");
    }
}
