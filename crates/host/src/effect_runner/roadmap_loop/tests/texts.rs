//! A small roadmap in both generations, and what the roles of one round write about it.

use serde_json::json;
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, StateFile, names};
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;

use super::world::{ROUND, STATE};

pub(super) const FAMILY: &str = "2026-01-01-00-x";

/// What a reviewer approves to be noted.
pub(super) enum Closeout {
    /// The milestone is done, with a pointer.
    Done,
    Semantic,
}

pub(super) fn dir(revision: &str) -> String {
    names::roadmap_dir(FAMILY, revision)
}

pub(super) fn roadmap(status: &str) -> String {
    let head: String =
        ["Goal", "Alignment Summary", "Outcome Boundaries", "Global Sequencing Rules", "Parallel Lanes"]
            .map(|title| format!("## {title}\nSome words.\n\n"))
            .concat();
    format!(
        "# Roadmap\n\n{head}## Milestones\n\n### [{status}] Work\nMilestone id: m-1\nDepends on:\nIntent: work\n\
         Completion signal: it works\nCompletion pointers: none\nParallel lane: main\nCoordination notes: none\n\
         Candidate directions:\n- Direction id: d-1\n  Summary: do it\n"
    )
}

fn view() -> String {
    let file = format!("{}/roadmap.md", dir("rev-001"));
    let view = json!({
        "schema_version": "roadmap-view-v1", "roadmap_id": FAMILY, "roadmap_revision": "rev-001",
        "roadmap_dir": dir("rev-001"), "roadmap_file": file,
        "milestones": [{"milestone_id": "m-1", "title": "Work", "status": "pending", "depends_on": [],
            "parallel_lane": "main", "status_anchor": "m-1-status", "completion_anchor": "m-1-done",
            "direction_ids": ["d-1"]}],
        "directions": [{"direction_id": "d-1", "milestone_id": "m-1", "summary": "do it", "preconditions": [],
            "parallel_hints": "serial-by-default"}],
        "anchors": {
            "m-1-status": {"target_file": file, "selector": "### [pending] Work"},
            "m-1-done": {"target_file": file, "selector": "#### Completion Pointers: m-1"},
        },
    });
    format!("{view:#}\n")
}

/// At rest, on this revision.
pub(super) fn state(revision: &str) -> String {
    let bundle =
        ActiveBundle { roadmap_id: FAMILY.to_owned(), revision: revision.to_owned(), dir: dir(revision) };
    StateFile::scaffold("main", &bundle, 1).unwrap().text().to_owned()
}

pub(super) fn plane(generation: Generation) -> Vec<(String, String)> {
    let history = "# History\n\n## Completed Rounds\n\n- none yet\n";
    let mut all = vec![
        (STATE.to_owned(), state("rev-001")),
        ("orchestrator/project-contract.md".to_owned(), "none discovered yet\n".to_owned()),
        (names::history_file(FAMILY), history.to_owned()),
        (format!("{}/verification.md", dir("rev-001")), "## Baseline Checks\nnone\n".to_owned()),
    ];
    let roadmap = roadmap("pending");
    match generation {
        Generation::StructuredMarkdown => all.push((format!("{}/roadmap.md", dir("rev-001")), roadmap)),
        Generation::Records => {
            let text = roadmap.replace("Completion pointers: none\n", "")
                + "\n#### Completion Pointers: m-1\n\n- none yet\n";
            all.push((format!("{}/roadmap.md", dir("rev-001")), text));
            all.push((format!("{}/roadmap-view.json", dir("rev-001")), view()));
        }
    }
    all
}

fn in_round(name: &str) -> String {
    files::in_round(ROUND, name)
}

fn record(version: &str, own: serde_json::Value) -> String {
    let mut record = json!({
        "schema_version": version, "round_id": ROUND, "roadmap_id": FAMILY, "roadmap_revision": "rev-001",
        "roadmap_dir": dir("rev-001"), "milestone_id": "m-1", "direction_id": "d-1", "extracted_item_id": "item-1",
    });
    record.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    format!("{record:#}\n")
}

const STEPS: &str =
    "### Goal\nMake it work.\n\n### Approach\nDo it.\n\n### Steps\n1. Work.\n\n### Verification\nRun it.\n\n";

pub(super) fn plan(complexity: &str) -> String {
    format!(
        "### Selected Extraction\n- Milestone: Work\n- Milestone id: m-1\n- Direction id: d-1\n- Extracted item id: item-1\n\
         - Roadmap id: {FAMILY}\n- Roadmap revision: rev-001\n- Roadmap dir: {}\n\n{STEPS}### Execution Profile\n\
         - Complexity: {complexity}\n- Verification profile: focused\n- Reason: small\n\n### Scheduler\n\
         - Depends on round ids: none\n- Merge after item ids: none\n- Parallel group: none\n\n### Worker Fan-Out\n\
         - Worker mode: none\n- Workers: none\n- Integration: none\n",
        dir("rev-001")
    )
}

pub(super) fn planned(generation: Generation) -> Vec<(String, String)> {
    if generation == Generation::StructuredMarkdown {
        return vec![(in_round(files::PLAN), plan("standard"))];
    }
    let scheduler = json!({"depends_on_round_ids": [], "merge_after_item_ids": [], "parallel_group": null});
    let selection = json!({"summary": "Make it work.", "scheduler": scheduler});
    let plan = json!({"plan_path": in_round(files::PLAN), "worker_mode": "none", "workers": [], "integration": null});
    vec![
        (in_round(files::PLAN), format!("{STEPS}### Round Plan Record\nSee there.\n")),
        (in_round(files::SELECTION_RECORD), record("selection-record-v1", selection)),
        (in_round(files::PLAN_RECORD), record("round-plan-record-v1", plan)),
    ]
}

pub(super) const NOTES: &str = "### Changes Made\n- src/main.rs: works\n\n### Tests\n- runs: it works\n";

pub(super) fn notes_path() -> String {
    in_round(files::NOTES)
}

const POINTER: &str = "round-004: it works";

fn closeout_lines(closeout: &Closeout) -> String {
    let (mode, change, pointer, reason) = match closeout {
        Closeout::Done => ("status-only", "\n  - `m-1`: pending -> done", format!("\n  - {POINTER}"), "none"),
        Closeout::Semantic => ("semantic-update-required", " none", " none".to_owned(), "the goal moved"),
    };
    format!(
        "- Mode: {mode}\n- Status changes:{change}\n- Completion pointers:{pointer}\n- History entries: none\n\
         - Semantic update reason: {reason}\n"
    )
}

pub(super) fn direct_notes() -> String {
    format!(
        "### Changes Made\n- src/main.rs: works\n\n### Direct Verification\n- Command: `true`\n  Result: pass\n\n\
         ### Direct Closeout\n{}",
        closeout_lines(&Closeout::Done)
    )
}

pub(super) fn reviewed(generation: Generation, closeout: &Closeout) -> Vec<(String, String)> {
    let prose = "### Checks Run\n- Command: `true`\n  Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n### Findings\n\
        - Blocking: no\n  Problem: none\n  Evidence: the diff\n  Suggested fix: none\n  Retry target: none\n\n\
        ### Decision\n**APPROVED**\n\n";
    let evidence = "### Evidence\nIt works.\n";
    if generation == Generation::StructuredMarkdown {
        let text = format!(
            "{prose}### Retry\n- Retry target: none\n- Required changes: none\n\n### Roadmap Closeout\n{}\n{evidence}",
            closeout_lines(closeout)
        );
        return vec![(in_round(files::REVIEW), text)];
    }
    let closeout = match closeout {
        Closeout::Done => json!({
            "mode": "status-only",
            "status_changes": [{"milestone_id": "m-1", "expected_current_status": "pending",
                "target_status": "done", "roadmap_view_anchor": "m-1-status"}],
            "completion_pointers": [{"anchor_id": "m-1-done", "text": POINTER}],
            "history_entries": [], "semantic_update_required_reason": null,
        }),
        Closeout::Semantic => json!({
            "mode": "semantic-update-required", "status_changes": [], "completion_pointers": [],
            "history_entries": [], "semantic_update_required_reason": "the goal moved",
        }),
    };
    let own = json!({"decision": "approved", "evidence_summary": "It works.", "roadmap_closeout": closeout});
    vec![
        (in_round(files::REVIEW), format!("{prose}{evidence}")),
        (in_round(files::REVIEW_RECORD), record("review-record-v3", own)),
    ]
}

pub(super) fn approving(generation: Generation) -> String {
    in_round(match generation {
        Generation::Records => files::REVIEW_RECORD,
        Generation::StructuredMarkdown => files::REVIEW,
    })
}

pub(super) fn request_path() -> String {
    in_round(files::UPDATE_REQUEST)
}

pub(super) fn update_path() -> String {
    names::update_artifact(ROUND)
}

pub(super) fn update_review_path() -> String {
    names::update_review_artifact(ROUND)
}

/// A planner's request, answered by the next revision.
pub(super) fn update() -> String {
    let dir = dir("rev-002");
    format!(
        "### Source Round\n- Round id: {ROUND}\n- Trigger: planner-request\n- Merged commit: none\n- Evidence: the request\n\n\
         ### Roadmap Change\n- Roadmap id: {FAMILY}\n- Prior revision: rev-001\n- Proposed revision: rev-002\n\
         - Files changed:\n  - {dir}/roadmap.md\n  - {dir}/verification.md\n\n### Rationale\nThe milestone was too coarse.\n\n\
         ### State Activation\n- Requires state.json roadmap metadata update: yes\n\
         - New roadmap_dir when applicable: {dir}\n"
    )
}

pub(super) const UPDATE_REVIEW: &str = "### Checks Run\n- Command: `true`\n  Result: pass\n\n### Roadmap Compliance\n\
    - Compared.\n\n### Decision\nAPPROVED\n";
