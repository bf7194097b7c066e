//! Section 21, next family: only on a finished plane, with nothing of the old one overwritten.

use super::*;
use serde_json::json;

#[test]
fn section_21_each_precondition_of_the_next_family_is_named_when_it_fails() {
    let place = Place::set_up(&[]);
    let early = place.init(ANSWERS, &[]).exits_with(14);
    let words = ["`controller_stage` is dispatch-rounds, not done", "milestones are not done: measure, lazy"];
    assert_refused(&early, "WL-RUN-002", &words);
    place.finish();
    let round = json!({"round_id": "round-001", "stage": "plan", "branch": "b", "worktree_path": "w", "resume_error": null});
    for (key, value, words) in [
        ("active_rounds", json!([round]), "`active_rounds` lists round-001"),
        ("resume_errors", json!({"controller": "stuck"}), "`resume_errors` holds controller"),
        ("retry", json!({"anything": 1}), "`retry` is not null"),
        ("controller_stage", json!("blocked"), "`controller_stage` is blocked, not done"),
    ] {
        let before = place.repository.read(STATE);
        place.edit_state(&[(key, value)]);
        assert_refused(&place.init(ANSWERS, &[]).exits_with(14), "WL-RUN-002", &[words]);
        place.repository.write(STATE, &before);
    }
    assert_eq!(place.commits(), 3);
}

#[test]
fn section_21_the_next_family_resets_the_state_and_keeps_everything_else() {
    for more in [&[][..], &["--records"][..]] {
        let place = Place::set_up(more);
        place.repository.write("orchestrator/roles/planner.md", "# Our own planner\n").commit("customised");
        std::fs::remove_file(place.repository.path().join("orchestrator/roles/reviewer.md")).unwrap();
        place.repository.commit("one is missing");
        place.finish();
        let first = place.state();
        let old = place.repository.read(&place.roadmap_file("roadmap.md"));
        let report = place.init(ANSWERS, &["--json"]).exits_with(0).json();
        assert_eq!(report["mode"], "next-family");
        assert!(strings(&report["written"]).contains(&"orchestrator/roles/reviewer.md"), "{report:#}");
        assert!(strings(&report["unchanged"]).contains(&"orchestrator/roles/planner.md"), "{report:#}");
        let state = place.state();
        let ids = (first["roadmap_id"].as_str().unwrap(), state["roadmap_id"].as_str().unwrap());
        assert!(ids.0.contains("-00-") && ids.1.contains("-01-"), "{ids:?}");
        assert_eq!(state["controller_stage"], "dispatch-rounds");
        assert_eq!(place.repository.read("orchestrator/roles/planner.md"), "# Our own planner\n");
        let old_file = format!("{}/roadmap.md", first["roadmap_dir"].as_str().unwrap());
        assert_eq!(place.repository.read(&old_file), old, "an old family is never touched");
        assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
        assert_eq!(place.inspect().exits_with(0).json()["valid"], true);
    }
}

#[test]
fn section_21_a_plane_keeps_its_form_and_its_base_branch() {
    let place = Place::set_up(&[]);
    place.finish();
    let refused = place.init(ANSWERS, &["--records"]).exits_with(2);
    assert_refused(&refused, "WL-USAGE-001", &["keeps its form"]);
    place.repository.git(&["switch", "-q", "-c", "other"]);
    let elsewhere = place.init(ANSWERS, &[]).exits_with(14);
    assert_refused(&elsewhere, "WL-RUN-002", &["the base branch is main, and other is checked out"]);
}

#[test]
fn section_21_a_missing_bundle_contract_is_a_migration_and_not_written_by_init() {
    let place = Place::set_up(&[]);
    place.finish();
    std::fs::remove_file(place.repository.path().join("orchestrator/active-roadmap-bundle.md")).unwrap();
    let refused = place.init(ANSWERS, &[]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &["needs a migration", "windlass roadmap migrate --dry-run"]);
}

#[test]
fn a_finished_roadmap_that_the_state_does_not_call_done_names_the_command_that_notes_it() {
    let place = Place::set_up(&[]);
    place.finish();
    place.edit_state(&[("controller_stage", json!("dispatch-rounds"))]);
    let words = ["`controller_stage` does not say so yet", "windlass roadmap run --agent"];
    assert_refused(&place.init(ANSWERS, &[]).exits_with(14), "WL-RUN-002", &words);
    let shown = place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(0).stdout;
    assert!(shown.contains("which its state does not say yet"), "{shown}");
    assert!(!shown.contains("a finished roadmap"), "{shown}");
}
