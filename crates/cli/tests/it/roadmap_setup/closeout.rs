//! The plumbing command: exactly the approved edits, or none.

use super::*;
use serde_json::json;

const ROUND: &str = "orchestrator/rounds/round-001";

impl Place {
    fn lineage(&self) -> Value {
        let state = self.state();
        json!({
            "roadmap_id": state["roadmap_id"], "roadmap_revision": "rev-001", "roadmap_dir": state["roadmap_dir"],
            "milestone_id": "measure", "direction_id": "direction-01-01-time-the-start", "extracted_item_id": "item",
        })
    }

    fn write_record(&self, changes: &[(&str, Value)]) -> String {
        let mut record = self.lineage();
        let closeout = json!({
            "mode": "status-only",
            "status_changes": [{"milestone_id": "measure", "expected_current_status": "pending", "target_status": "done", "roadmap_view_anchor": "measure-status"}],
            "completion_pointers": [{"anchor_id": "measure-completion", "text": "round-001 measured"}],
            "history_entries": [{"anchor_id": "roadmap-history-completed-rounds", "text": "round-001: measured"}],
            "semantic_update_required_reason": null,
        });
        let usual = [
            ("schema_version", json!("review-record-v3")),
            ("round_id", json!("round-001")),
            ("decision", json!("approved")),
            ("evidence_summary", json!("seen")),
            ("roadmap_closeout", closeout),
        ];
        for (key, value) in usual.iter().chain(changes) {
            record[*key] = value.clone();
        }
        let path = format!("{ROUND}/review-record.json");
        self.repository.write(&path, &record.to_string());
        self.repository.path().join(path).to_str().unwrap().to_owned()
    }

    fn closeout(&self, review: &str, more: &[&str]) -> Output {
        self.world.windlass(&[&["roadmap", "closeout", "--review-record", review], more].concat())
    }
}

#[test]
fn section_12_an_approved_record_is_applied_exactly_and_only_once() {
    let place = Place::set_up(&["--records"]);
    let review = place.write_record(&[]);
    let roadmap = place.roadmap_file("roadmap.md");
    let before = place.repository.read(&roadmap);
    let dry = place.closeout(&review, &["--dry-run", "--json"]).exits_with(0).json();
    assert_eq!(place.repository.read(&roadmap), before);
    let done = place.closeout(&review, &["--json"]).exits_with(0).json();
    assert_eq!(done["files"], dry["files"]);
    assert_eq!(done["files"].as_array().unwrap().len(), 3, "{done:#}");
    assert_eq!(done["applied_edit_summary"].as_array().unwrap().len(), 3);
    let after = place.repository.read(&roadmap);
    assert!(
        after.contains("### [done] Know where the time goes") && after.contains("- round-001 measured"),
        "{after}"
    );
    assert!(place.repository.read(&place.roadmap_file("roadmap-view.json")).contains("### [done] Know"));
    assert_eq!(place.commits(), 2, "nothing is committed");
    assert_refused(&place.closeout(&review, &[]).exits_with(14), "WL-RUN-002", &["stale", "is done already"]);
    assert_eq!(place.repository.read(&roadmap), after);
}

#[test]
fn section_12_what_was_not_approved_as_status_only_edits_nothing() {
    let place = Place::set_up(&["--records"]);
    let rejected = [
        ("decision", json!("rejected")),
        ("roadmap_closeout", json!(null)),
        ("retry_target", json!("plan")),
        ("required_changes", json!(["x"])),
    ];
    let refused = place.closeout(&place.write_record(&rejected), &[]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &["the review rejected the round (plan)"]);
    let bare = place.closeout(&place.write_record(&[("roadmap_closeout", json!(null))]), &[]).exits_with(2);
    assert_refused(&bare, "WL-USAGE-001", &["an approval needs it"]);
    let other = place.closeout(&place.write_record(&[("round_id", json!("round-002"))]), &[]).exits_with(2);
    assert_refused(&other, "WL-USAGE-001", &["round_id"]);
    let missing = place.closeout("nowhere.json", &["--repo", place.repository.text()]).exits_with(2);
    assert_refused(&missing, "WL-USAGE-001", &["nowhere.json cannot be read"]);
    assert_eq!(place.repository.git(&["status", "--porcelain", "orchestrator/roadmaps"]), "");
}

#[test]
fn section_25_4_a_review_in_markdown_is_applied_with_the_plan_beside_it() {
    let place = Place::set_up(&[]);
    let state = place.state();
    let text = |key: &str| state[key].as_str().unwrap().to_owned();
    place.repository.write(
        &format!("{ROUND}/plan.md"),
        &format!(
            "### Selected Extraction\n- Milestone: Know\n- Milestone id: measure\n- Direction id: direction-01-01-time-the-start\n\
             - Extracted item id: item\n- Roadmap id: {}\n- Roadmap revision: rev-001\n- Roadmap dir: {}\n\n### Goal\nx\n\n\
             ### Approach\nx\n\n### Steps\n1. x\n\n### Verification\nx\n\n### Execution Profile\n- Complexity: standard\n\
             - Verification profile: focused\n- Reason: x\n\n### Scheduler\n- Depends on round ids: none\n\
             - Merge after item ids: none\n- Parallel group: none\n\n### Worker Fan-Out\n- Worker mode: none\n- Workers: none\n\
             - Integration: none\n",
            text("roadmap_id"),
            text("roadmap_dir")
        ),
    );
    let review = format!("{ROUND}/review.md");
    place.repository.write(
        &review,
        "### Checks Run\n- Command: `true`\n- Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n### Findings\n- Blocking: no\n\n\
         ### Decision\n**APPROVED**\n\n### Evidence\nseen\n\n### Retry\n- Retry target: none\n- Required changes: none\n\n\
         ### Roadmap Closeout\n- Mode: status-only\n- Status changes:\n  - `measure`: pending -> in-progress\n\
         - Completion pointers:\n  - `measure`: round-001 began\n- History entries: none\n- Semantic update reason: none\n",
    );
    let review = place.repository.path().join(review);
    let done = place.closeout(review.to_str().unwrap(), &["--json"]).exits_with(0).json();
    assert_eq!(done["files"], json!([place.roadmap_file("roadmap.md")]), "{done:#}");
    let after = place.repository.read(&place.roadmap_file("roadmap.md"));
    assert!(after.contains("### [in-progress] Know") && after.contains("- round-001 began"), "{after}");
}

#[test]
fn what_was_changed_is_json_on_stdout_and_prose_beside_it() {
    let place = Place::set_up(&["--records"]);
    let review = place.write_record(&[]);
    let told = place.closeout(&review, &[]).exits_with(0);
    assert_eq!(told.json()["applied_edit_summary"].as_array().unwrap().len(), 3, "{}", told.stdout);
    assert!(told.stderr.contains("edited") && told.stderr.contains("roadmap.md"), "{}", told.stderr);
    let quiet = Place::set_up(&["--records"]);
    let told = quiet.closeout(&quiet.write_record(&[]), &["--quiet"]).exits_with(0);
    assert_eq!((told.json()["mode"].as_str(), told.stderr.as_str()), (Some("status-only"), ""));
}

#[test]
fn a_review_that_lies_elsewhere_is_refused_with_the_place_it_belongs_in() {
    let place = Place::set_up(&[]);
    place.repository.write("review.md", "### Decision\n**APPROVED**\n");
    let review = place.repository.path().join("review.md");
    let refused = place.closeout(review.to_str().unwrap(), &[]).exits_with(2);
    let hint = "put it, with the plan.md of its round, into orchestrator/rounds/ROUND/";
    assert_refused(&refused, "WL-USAGE-001", &["does not tell its round", hint]);
    place.repository.write("review-record.json", "{\"decision\": \"approved\"}");
    let record = place.repository.path().join("review-record.json");
    let refused = place.closeout(record.to_str().unwrap(), &[]).exits_with(2);
    assert_refused(&refused, "WL-USAGE-001", &["does not tell its round", "round_id"]);
}

#[test]
fn rule_12_a_review_of_another_roadmap_edits_nothing() {
    let place = Place::set_up(&["--records"]);
    let active = place.state()["roadmap_id"].as_str().unwrap().to_owned();
    let before = place.repository.git(&["status", "--porcelain"]);
    for (key, value) in [
        ("roadmap_id", "2020-01-01-00-another"),
        ("roadmap_revision", "rev-007"),
        ("roadmap_dir", "orchestrator/roadmaps/2020-01-01-00-another/rev-001"),
    ] {
        let review = place.write_record(&[(key, json!(value))]);
        let refused = place.closeout(&review, &[]).exits_with(14);
        let words =
            ["review-record.json: ", &format!("/{key} it names \"{value}\""), "is active in", "(rule 12)"];
        assert_refused(&refused, "WL-RUN-002", &words);
        std::fs::remove_dir_all(place.repository.path().join("orchestrator/rounds")).unwrap();
    }
    assert_eq!(place.repository.git(&["status", "--porcelain"]), before);

    // A family that is over is history, with all its files in place.
    place.finish();
    let old = place.write_record(&[]);
    let _ = place.init(ANSWERS, &[]).exits_with(0);
    assert_ne!(place.state()["roadmap_id"], active.as_str());
    let refused = place.closeout(&old, &[]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &["/roadmap_id", &active, "earlier ones are history"]);
}

#[test]
fn rule_12_a_milestone_that_is_not_ready_is_not_closed_by_a_round_about_another() {
    let place = Place::set_up(&["--records"]);
    let closeout = json!({
        "mode": "status-only", "completion_pointers": [], "history_entries": [],
        "semantic_update_required_reason": null,
        "status_changes": [{"milestone_id": "lazy", "expected_current_status": "pending", "target_status": "done",
            "roadmap_view_anchor": "lazy-status"}],
    });
    let review = place.write_record(&[("roadmap_closeout", closeout)]);
    let refused = place.closeout(&review, &[]).exits_with(14);
    let words = ["review-record.json: ", "lazy depends on measure, which is not done", "(rule 12)"];
    assert_refused(&refused, "WL-RUN-002", &words);
    assert_eq!(place.repository.git(&["status", "--porcelain", "orchestrator/roadmaps"]), "");
}

#[test]
fn without_a_state_nobody_can_tell_which_roadmap_may_be_edited() {
    let place = Place::set_up(&["--records"]);
    let review = place.write_record(&[]);
    std::fs::remove_file(place.repository.path().join(STATE)).unwrap();
    let refused = place.closeout(&review, &[]).exits_with(2);
    assert_refused(&refused, "WL-ROADMAP-001", &[STATE, "(rule 3.3.1)", "nothing was written"]);
}
