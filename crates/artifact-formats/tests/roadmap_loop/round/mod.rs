//! The artifacts of a round, in records and in structured Markdown, as two authors write them.

mod evidence;
mod hostile_text;
mod notes;
mod planning;
mod prompts;
mod records;
mod reviews;
mod updates;

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::lineage::Lineage;
use windlass_artifact_formats::roadmap_loop::round::Faults;

pub(crate) const NUMBERED: &str = "round-323";
pub(crate) const SLUGGED: &str = "round-02-session-loader-boundary";

pub(crate) fn lineage() -> Lineage {
    Lineage {
        roadmap_id: "2026-05-18-00-parser".to_owned(),
        roadmap_revision: "rev-002".to_owned(),
        roadmap_dir: "orchestrator/roadmaps/2026-05-18-00-parser/rev-002".to_owned(),
        milestone_id: "milestone-4".to_owned(),
        direction_id: "direction-4a".to_owned(),
        extracted_item_id: "item-323".to_owned(),
    }
}

/// A record with the fields all of them share.
pub(crate) fn record(version: &str, round_id: &str, own: Value) -> Value {
    let lineage = lineage();
    let mut record = json!({
        "schema_version": version, "round_id": round_id, "roadmap_id": lineage.roadmap_id,
        "roadmap_revision": lineage.roadmap_revision, "roadmap_dir": lineage.roadmap_dir,
        "milestone_id": lineage.milestone_id, "direction_id": lineage.direction_id,
        "extracted_item_id": lineage.extracted_item_id
    });
    for (key, value) in own.as_object().expect("an object") {
        record[key] = value.clone();
    }
    record
}

pub(crate) fn selection_record(round_id: &str) -> Value {
    record(
        "selection-record-v1",
        round_id,
        json!({
            "summary": "Parse spans",
            "scheduler": {"depends_on_round_ids": [], "merge_after_item_ids": [], "parallel_group": null}
        }),
    )
}

pub(crate) fn plan_record(round_id: &str) -> Value {
    record(
        "round-plan-record-v1",
        round_id,
        json!({
            "plan_path": format!("orchestrator/rounds/{round_id}/plan.md"),
            "worker_mode": "none", "workers": [], "integration": null
        }),
    )
}

pub(crate) fn worker(round_id: &str, id: &str, scope: &[&str]) -> Value {
    let own = |name: &str| format!("orchestrator/rounds/{round_id}/workers/{id}/{name}");
    json!({
        "worker_id": id, "summary": format!("part {id}"), "assignment_path": own("assignment.md"),
        "implementation_notes_path": own("implementation-notes.md"), "handoff_path": own("handoff.md"),
        "branch": format!("orchestrator/{round_id}-{id}"),
        "worktree_path": format!("orchestrator/worktrees/{round_id}-{id}"), "write_scope": scope,
        "depends_on_worker_ids": [], "blocks_integration": true, "verification_commands": ["make test"]
    })
}

pub(crate) fn fan_out_record(round_id: &str) -> Value {
    let mut record = plan_record(round_id);
    record["worker_mode"] = json!("fanout");
    record["workers"] =
        json!([worker(round_id, "lexer", &["src/lexer"]), worker(round_id, "parser", &["src/parser/"])]);
    record["integration"] = json!({
        "summary": "join both", "depends_on_worker_ids": ["lexer", "parser"], "verification_commands": ["make test"],
        "integration_notes_path": format!("orchestrator/rounds/{round_id}/implementation-notes.md")
    });
    record
}

pub(crate) fn review_record(round_id: &str) -> Value {
    record(
        "review-record-v3",
        round_id,
        json!({
            "decision": "approved", "evidence_summary": "all green",
            "roadmap_closeout": {
                "mode": "status-only",
                "status_changes": [{"milestone_id": "milestone-4", "expected_current_status": "in-progress",
                    "target_status": "done", "roadmap_view_anchor": "milestone-4"}],
                "completion_pointers": [{"anchor_id": "milestone-4-completion", "text": "closed by the round"}],
                "history_entries": [],
                "semantic_update_required_reason": null
            }
        }),
    )
}

/// One author's plan: list items, backticks, everything on its line.
pub(crate) const PLAN: &str = "### Selected Extraction
- Milestone: Full Parser
- Milestone id: `milestone-4`
- Direction id: `direction-4a`
- Extracted item id: `item-323`
- Roadmap id: `2026-05-18-00-parser`
- Roadmap revision: `rev-002`
- Roadmap dir: `orchestrator/roadmaps/2026-05-18-00-parser/rev-002`

### Goal
Parse spans of constructors,
one slice of them.

### Approach
As the other rows.

### Execution Profile
- Complexity: standard
- Verification profile: focused
- Reason: stays inside the parser

### Steps
1. Write the test.

### Verification
`make test`

### Scheduler
- Depends on round ids: round-321, `round-322`
- Merge after item ids: none
- Parallel group: none

### Worker Fan-Out
- Worker mode: none
- Workers: none
- Integration: none
";

/// Another author's: bare and bold labels, wrapped values, remarks behind `none`, a comment, a label nobody knows.
pub(crate) const PLAN_OF_ANOTHER: &str = "# Plan of the round

## Selected Extraction

<!-- Milestone id: the template's own example -->
**Milestone**: Full Parser
**Milestone id:** milestone-4
Direction id: direction-4a
Extracted item id: item-323
Extracted item summary: kept, though
  nobody asks for it
Roadmap id: 2026-05-18-00-parser
Roadmap revision: rev-002
Roadmap dir:
  orchestrator/roadmaps/2026-05-18-00-parser/rev-002

## Goal

Parse spans of constructors,
one slice of them.

## Approach
As the other rows.

## Execution Profile
* Complexity: **standard**.
* Verification profile: `focused` (no closeout)
* Reason: stays inside the parser
  and its tests

## Steps
1. Write the test.

## Verification
make test

## Scheduler
* Depends on round ids:
  - round-321
  - round-322
* Merge after item ids: None.
* Parallel group: none

## Worker Fan-Out
* Worker mode: none
* Workers: none. One slice.
* Integration: none
";

/// Every sentence that was found, for a look at one of them.
pub(crate) fn sentences<T: std::fmt::Debug>(result: Result<T, Faults>) -> String {
    let faults = result.expect_err("a fault");
    format!("{}: {}", faults.file(), faults.sentences().join("\n"))
}

/// A record with one value put in or replaced.
pub(crate) fn with(mut record: Value, pointer: &str, value: Value) -> String {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = record.pointer_mut(parent).expect("a place");
    match parent {
        Value::Object(object) => {
            object.insert(key.to_owned(), value);
        }
        Value::Array(list) => list[key.parse::<usize>().expect("an index")] = value,
        _ => panic!("no place {pointer}"),
    }
    record.to_string()
}
