//! The control plane of the rounds that are measured, and what the agent that takes no time writes in each of them. Texts
//! only.

use std::path::PathBuf;

pub(crate) const STATE: &str = "orchestrator/state.json";
const FAMILY: &str = "2026-06-02-00-bench";
const DIR: &str = "orchestrator/roadmaps/2026-06-02-00-bench/rev-001";

/// Every file of the plane: one milestone that no round ever finishes.
pub(crate) fn files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for name in [
        "state-schema.md",
        "artifact-manifest.md",
        "active-roadmap-bundle.md",
        "role-contract.md",
        "roadmap-update-schema.md",
        "roles/planner.md",
        "roles/implementer.md",
        "roles/reviewer.md",
        "roles/recovery-investigator.md",
    ] {
        files.push((format!("orchestrator/{name}"), format!("# {name}\n\nAs agreed.\n")));
    }
    let sections = |titles: &[&str], text: &str| -> String {
        titles.iter().map(|title| format!("## {title}\n\n{text}\n\n")).collect::<Vec<_>>().concat()
    };
    let contract = ["Stable Interfaces", "Alignment Invariants", "Verification Anchors", "Update Rule"];
    files.push(("orchestrator/project-contract.md".to_owned(), sections(&contract, "none discovered yet")));
    let checks =
        ["Baseline Checks", "Alignment Checks", "Task-Specific Checks", "Manual Checks", "Roadmap Overrides"];
    files.push((format!("{DIR}/verification.md"), sections(&checks, "none")));
    let narrative =
        ["Goal", "Alignment Summary", "Outcome Boundaries", "Global Sequencing Rules", "Parallel Lanes"];
    let milestone = "## Milestones\n\n### [in-progress] Go on\nMilestone id: m-1\nDepends on: none\nIntent: go on\n\
        Completion signal: never\nCompletion pointers: none\nParallel lane: main\nCoordination notes: none\n\
        Candidate directions:\n- Direction id: m-1-a\n  Summary: one more round\n  Preconditions: none\n  \
        Parallel hints: serial-by-default\n";
    files.push((format!("{DIR}/roadmap.md"), format!("{}{milestone}", sections(&narrative, "As agreed."))));
    let history = "## Completed Rounds\n\n- none yet\n\n## Superseded Revisions\n\n- none yet\n";
    files.push((format!("orchestrator/roadmaps/{FAMILY}/roadmap-history.md"), history.to_owned()));
    files.push((".gitignore".to_owned(), "/orchestrator/worktrees/\n".to_owned()));
    let state = format!(
        "{{\n  \"contract_version\": \"orchestrator-v2\",\n  \"base_branch\": \"main\",\n  \"roadmap_id\": \"{FAMILY}\",\n  \
         \"roadmap_revision\": \"rev-001\",\n  \"roadmap_dir\": \"{DIR}\",\n  \"controller_stage\": \"dispatch-rounds\",\n  \
         \"max_parallel_rounds\": 1,\n  \"active_rounds\": [],\n  \"roadmap_update\": null,\n  \"resume_errors\": {{}},\n  \
         \"retry\": null\n}}\n"
    );
    files.push((STATE.to_owned(), state));
    files
}

/// What a role writes in a round, where it stands.
pub(crate) fn artifact(role: &str, round: u32) -> Option<(PathBuf, String)> {
    let (name, text) = match role {
        "planner" => ("plan.md", plan(round)),
        "implementer" => (
            "implementation-notes.md",
            "### Changes Made\n- changed.txt: a change\n\n### Tests\n- none needed: nothing to prove\n"
                .to_owned(),
        ),
        "reviewer" => ("review.md", REVIEW.to_owned()),
        _ => return None,
    };
    Some((PathBuf::from(format!("orchestrator/rounds/round-{round:03}/{name}")), text))
}

fn plan(round: u32) -> String {
    format!(
        "### Selected Extraction\n- Milestone: Go on\n- Milestone id: m-1\n- Direction id: m-1-a\n\
         - Extracted item id: item-{round}\n- Roadmap id: {FAMILY}\n- Roadmap revision: rev-001\n- Roadmap dir: {DIR}\n\n\
         ### Goal\nOne more round.\n\n### Approach\nA change.\n\n### Execution Profile\n- Complexity: standard\n\
         - Verification profile: focused\n- Reason: small\n\n### Steps\n1. Change the file.\n\n### Verification\nnone\n\n\
         ### Scheduler\n- Depends on round ids: none\n- Merge after item ids: none\n- Parallel group: none\n\n\
         ### Worker Fan-Out\n- Worker mode: none\n- Workers: none\n- Integration: none\n"
    )
}

const REVIEW: &str = "### Checks Run\n- Command: `true`\n  Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n\
    ### Findings\n- Blocking: no\n  Problem: none\n  Evidence: the diff\n  Suggested fix: none\n\n### Decision\n\
    **APPROVED**\n\n### Retry\n- Retry target: none\n- Required changes: none\n\n### Roadmap Closeout\n- Mode: none\n\
    - Status changes: none\n- Completion pointers: none\n- History entries: none\n- Semantic update reason: none\n\n\
    ### Evidence\nThe diff.\n";
