//! Examples of what a role must write, filled with the round's own ids so that they can be followed to the letter. Each is
//! read back by a test: an example that does not parse would teach every agent the same mistake.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::markdown::fenced;
use crate::one_line::one_line;
use crate::roadmap_loop::lineage::{Lineage, LineageField};
use crate::roadmap_loop::round::{UpdateTrigger, files};

const MAX_ID_CHARS: usize = 200;

/// A fenced block with its language; what is inside cannot close it.
fn block(language: &str, text: &str) -> String {
    let fence = fenced(text);
    let marks = fence.len() - fence.trim_start_matches('`').len();
    format!("{}{language}{}", &fence[..marks], fence[marks..].trim_end())
}

fn id(text: &str) -> String {
    one_line(text, MAX_ID_CHARS).replace('`', "")
}

fn record(version: &str, round_id: &str, lineage: &Lineage) -> Value {
    let mut record = json!({ "schema_version": version, "round_id": id(round_id) });
    for field in LineageField::all() {
        record[field.as_str()] = json!(id(lineage.get(field)));
    }
    record
}

fn with(mut record: Value, own: Value) -> String {
    if let (Some(all), Value::Object(own)) = (record.as_object_mut(), own) {
        all.extend(own);
    }
    block("json", &format!("{record:#}"))
}

pub(super) fn selection_record(round_id: &str, lineage: &Lineage) -> String {
    let own = json!({
        "summary": "what the round delivers, in one sentence",
        "scheduler": { "depends_on_round_ids": [], "merge_after_item_ids": [], "parallel_group": null }
    });
    with(record("selection-record-v1", round_id, lineage), own)
}

pub(super) fn plan_record(round_id: &str, lineage: &Lineage) -> String {
    let own = json!({
        "plan_path": files::in_round(&id(round_id), files::PLAN),
        "worker_mode": "none", "workers": [], "integration": null
    });
    with(record("round-plan-record-v1", round_id, lineage), own)
}

fn selected(lineage: &Lineage) -> String {
    format!(
        "### Selected Extraction\n- Milestone: its title\n- Milestone id: {}\n- Direction id: {}\n- Extracted item id: {}\n\
         - Roadmap id: {}\n- Roadmap revision: {}\n- Roadmap dir: {}\n\n### Goal\nWhat the round delivers.\n\n### Approach\n\
         How, and why so.\n\n",
        id(&lineage.milestone_id),
        id(&lineage.direction_id),
        id(&lineage.extracted_item_id),
        id(&lineage.roadmap_id),
        id(&lineage.roadmap_revision),
        id(&lineage.roadmap_dir)
    )
}

pub(super) fn plan_prose(lineage: &Lineage) -> String {
    let rest = "### Steps\n1. A concrete step.\n\n### Verification\nWhich commands prove it.\n\n### Round Plan Record\n\
        See round-plan-record.json.\n";
    block("markdown", &format!("{}{rest}", selected(lineage)))
}

pub(super) fn plan_markdown(lineage: &Lineage) -> String {
    let rest = "### Execution Profile\n- Complexity: standard\n- Verification profile: focused\n- Reason: why that is enough\n\n\
        ### Steps\n1. A concrete step.\n\n### Verification\nWhich commands prove it.\n\n### Scheduler\n\
        - Depends on round ids: none\n- Merge after item ids: none\n- Parallel group: none\n\n### Worker Fan-Out\n\
        - Worker mode: none\n- Workers: none\n- Integration: none\n";
    block("markdown", &format!("{}{rest}", selected(lineage)))
}

const NO_CLOSEOUT: &str = "- Mode: none\n- Status changes: none\n- Completion pointers: none\n- History entries: none\n\
    - Semantic update reason: none\n";

pub(super) fn direct_notes() -> String {
    let text = format!(
        "### Changes Made\n- src/file: what changed and why\n\n### Direct Verification\n- Command: `the exact command`\n  \
         Result: pass, with the figures\n\n### Direct Closeout\n{NO_CLOSEOUT}"
    );
    block("markdown", &text)
}

/// Notes of an implementer; with workers, also which of them were taken.
pub(super) fn notes(workers: &[String]) -> String {
    let mut text = "### Changes Made\n- src/file: what changed and why\n\n### Tests\n- name of the test: what it proves\n\n\
        ### Notes\n- deviations from the plan, or none\n"
        .to_owned();
    if !workers.is_empty() {
        text.push_str("\n### Integrated Workers\n");
        for worker in workers {
            let _ = writeln!(text, "- {}", id(worker));
        }
    }
    block("markdown", &text)
}

pub(super) fn handoff() -> String {
    let text = "### Handoff\n- Status: ready\n- Blocker: none\n\n### What To Integrate\n- src/file: what it does\n\n\
        ### Verification\n- Command: `the exact command`\n  Result: pass\n";
    block("markdown", text)
}

/// Where the closeout of a round may note something.
#[derive(Debug, Clone, Copy)]
pub struct CloseoutTargets<'a> {
    pub milestone_id: &'a str,
    pub current_status: &'a str,
    /// Keys of the view's anchors; records only.
    pub status_anchor: Option<&'a str>,
    pub completion_anchor: Option<&'a str>,
    pub history_anchor: Option<&'a str>,
}

pub(super) fn approved_record(round_id: &str, lineage: &Lineage, targets: &CloseoutTargets<'_>) -> String {
    let pointers: Vec<Value> = targets
        .completion_anchor
        .iter()
        .map(|anchor| json!({ "anchor_id": id(anchor), "text": format!("{}: evidence in one line", id(round_id)) }))
        .collect();
    let own = json!({
        "decision": "approved", "evidence_summary": "which checks passed and what the diff shows",
        "roadmap_closeout": {
            "mode": "status-only", "status_changes": [], "completion_pointers": pointers, "history_entries": [],
            "semantic_update_required_reason": null
        }
    });
    with(record("review-record-v3", round_id, lineage), own)
}

pub(super) fn rejected_record(round_id: &str, lineage: &Lineage) -> String {
    let own = json!({
        "decision": "rejected", "evidence_summary": "what was found", "retry_target": "implement",
        "required_changes": ["one problem and its smallest fix"], "roadmap_closeout": null
    });
    with(record("review-record-v3", round_id, lineage), own)
}

fn review(finding: &str, decision: &str, retry: &str) -> String {
    let text = format!(
        "### Checks Run\n- Command: `the exact command`\n  Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n### Findings\n\
         {finding}\n### Decision\n{decision}\n\n### Retry\n{retry}\n### Roadmap Closeout\n{NO_CLOSEOUT}\n### Evidence\n\
         What proves the decision.\n"
    );
    block("markdown", &text)
}

pub(super) fn approved_markdown() -> String {
    let finding = "- Blocking: no\n  Problem: none\n  Evidence: what was looked at\n  Suggested fix: none\n";
    review(finding, "**APPROVED**", "- Retry target: none\n- Required changes: none\n")
}

pub(super) fn rejected_markdown() -> String {
    let finding = "- Blocking: yes\n  Problem: what is wrong\n  Evidence: where it shows\n  Suggested fix: the smallest one\n  \
        Retry target: implement\n";
    let retry = "- Retry target: implement\n- Required changes:\n  - one problem and its smallest fix\n";
    review(finding, "**REJECTED: the reason in one line**", retry)
}

pub(super) fn request(round_id: &str, lineage: &Lineage) -> String {
    let text = format!(
        "### Roadmap Update Required\n- Round id: {}\n- Roadmap id: {}\n- Roadmap revision: {}\n- Roadmap dir: {}\n\
         - Reason: why no bounded round can be cut\n\n### Current Evidence\n- Docs/ADRs/context/code inspected: which\n\
         - Codebase or test boundaries inspected: which\n- Why current milestone/direction is too coarse: why\n\n\
         ### Requested Split\nWhich coordination should change.\n\n### Non-Goals\nWhat the update must not widen into.\n",
        id(round_id),
        id(&lineage.roadmap_id),
        id(&lineage.roadmap_revision),
        id(&lineage.roadmap_dir)
    );
    block("markdown", &text)
}

/// What an update is called everywhere: its source, its family and both revisions.
#[derive(Debug, Clone, Copy)]
pub struct UpdateNames<'a> {
    pub source_round_id: &'a str,
    pub trigger: UpdateTrigger,
    /// Nothing for a planner's request.
    pub merged_commit: Option<&'a str>,
    pub roadmap_id: &'a str,
    pub prior_revision: &'a str,
    pub proposed_revision: &'a str,
    /// `orchestrator/roadmaps/<roadmap_id>/<proposed_revision>`
    pub new_dir: &'a str,
}

pub(super) fn update(names: &UpdateNames<'_>) -> String {
    let dir = id(names.new_dir);
    let text = format!(
        "### Source Round\n- Round id: {}\n- Trigger: {}\n- Merged commit: {}\n- Evidence: which evidence asks for it\n\n\
         ### Roadmap Change\n- Roadmap id: {}\n- Prior revision: {}\n- Proposed revision: {}\n- Files changed:\n  \
         - {dir}/roadmap.md\n  - {dir}/verification.md\n\n### Rationale\nWhy this change, and no other.\n\n\
         ### State Activation\n- Requires state.json roadmap metadata update: yes\n- New roadmap_dir when applicable: {dir}\n",
        id(names.source_round_id),
        names.trigger,
        names.merged_commit.map_or_else(|| "none".to_owned(), id),
        id(names.roadmap_id),
        id(names.prior_revision),
        id(names.proposed_revision),
    );
    block("markdown", &text)
}

pub(super) fn update_review() -> String {
    let text = "### Checks Run\n- Command: `the exact command`\n  Result: pass\n\n### Roadmap Compliance\n\
        - What was compared, and how it stands.\n\n### Decision\nAPPROVED\n";
    block("markdown", text)
}
