//! Section 17.3: a plane of the older contract is shown what it would become, and becomes it only when asked.

use super::*;
use serde_json::json;

const DIR: &str = "orchestrator/roadmaps/2026-01-01-00-old/rev-001";

/// A plane as it was before records: a flat state, a numbered list, a retry policy in the bundle.
fn legacy(roadmap: &str) -> Place {
    let place = Place::bare();
    let state = json!({
        "contract_version": "orchestrator-v2", "base_branch": "main", "roadmap_style": "flat",
        "roadmap_id": "2026-01-01-00-old", "roadmap_revision": "rev-001", "roadmap_dir": DIR,
        "stage": "idle", "active_round_id": null, "pending_merge_rounds": [], "last_completed_round": "round-003",
    });
    place.repository.write(STATE, &state.to_string());
    place.repository.write(&format!("{DIR}/roadmap.md"), roadmap);
    place
        .repository
        .write(&format!("{DIR}/verification.md"), "# Checks\n\n## Baseline Checks\n\n- `make test`\n");
    place.repository.write(&format!("{DIR}/retry-subloop.md"), "retry\n");
    place.repository.write("orchestrator/roles/guider.md", "guide\n");
    place.repository.write("orchestrator/rounds/round-003/selection.md", "chosen\n").commit("an old plane");
    place
}

const LISTED: &str = "# Roadmap\n\n1. [completed] Measure the start\n2. [pending] Load lazily\n";

#[test]
fn section_17_3_a_dry_run_prints_state_and_view_and_writes_nothing() {
    let place = legacy(LISTED);
    let before = place.repository.record();
    let _ = place.inspect().exits_with(14);
    let dry = place.migrate(&["--dry-run", "--json"]).exits_with(0).json();
    let state: Value = serde_json::from_str(dry["state"].as_str().unwrap()).unwrap();
    assert_eq!(state.as_object().unwrap().len(), 11);
    assert_eq!(state["roadmap_revision"], "rev-002");
    let view: Value = serde_json::from_str(dry["view"].as_str().unwrap()).unwrap();
    assert_eq!(view["milestones"][0]["status"], "done");
    assert_eq!(view["milestones"][1]["status"], "pending");
    assert!(dry["not_carried_over"].to_string().contains("last_completed_round"), "{dry:#}");
    let shown = place.migrate(&["--dry-run"]).exits_with(0).stdout;
    assert!(
        shown.contains("\"controller_stage\": \"dispatch-rounds\"") && shown.contains("roadmap-view-v1"),
        "{shown}"
    );
    before.assert_holds(&place.repository);
}

#[test]
fn section_17_3_applied_it_is_one_commit_and_the_old_files_stay_as_history() {
    let place = legacy(LISTED);
    let report = place.migrate(&["--json"]).exits_with(0).json();
    assert!(report["commit"].is_string());
    assert_eq!(place.commits(), 3);
    let touched = place.repository.git(&["diff", "--name-status", "HEAD~1", "HEAD"]);
    assert!(
        touched.lines().all(|line| line.starts_with("A\t") || line == format!("M\t{STATE}")),
        "{touched}"
    );
    assert_eq!(place.repository.read(&format!("{DIR}/roadmap.md")), LISTED);
    let found = place.inspect().exits_with(0).json();
    assert_eq!((&found["generation"], &found["valid"]), (&"records".into(), &true.into()), "{found:#}");
    assert_eq!(found["unfinished"].as_array().unwrap().len(), 1);
    assert!(place.repository.read(&place.roadmap_file("verification.md")).contains("make test"));
    assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
    assert_refused(&place.migrate(&[]).exits_with(14), "WL-RUN-002", &["needs no migration"]);
}

#[test]
fn section_17_3_live_legacy_rounds_are_refused_with_what_to_do() {
    let place = legacy(LISTED);
    place.edit_state(&[("active_round_id", json!("round-004"))]);
    let refused = place.migrate(&[]).exits_with(14);
    let words = ["`active_round_id` is \"round-004\"", "with the tool that began them", "empty these keys"];
    assert_refused(&refused, "WL-RUN-002", &words);
    assert_eq!(place.commits(), 2);
}

#[test]
fn section_17_3_no_status_is_guessed() {
    let place = legacy("# Roadmap\n\n1. [completed] Measure\n2. [soon] Load lazily\n");
    let dry = place.migrate(&["--dry-run", "--json"]).exits_with(2).json();
    assert!(dry["view"].is_null() && dry["open"].to_string().contains("states no known status"), "{dry:#}");
    let refused = place.migrate(&[]).exits_with(2);
    assert_refused(&refused, "WL-ROADMAP-001", &["Load lazily", "state what is missing"]);
    assert_eq!(place.commits(), 2);
}

#[test]
fn section_17_3_dependencies_and_notes_of_a_numbered_list_are_carried_over() {
    let listed = "# Roadmap\n\nWhy we do this.\n\n1. [completed] Measure the start\n   Took a week.\n\
                  2. [pending] Load lazily\n   Depends on: 1\n   - Mind the plugins.\n\
                  3. [pending] Ship (depends on 2)\n   Completion signal: it is out\n";
    let place = legacy(listed);
    let dry = place.migrate(&["--dry-run", "--json"]).exits_with(0).json();
    assert_eq!(dry["open"], json!([]), "notes are nothing to be settled: {dry:#}");
    assert!(dry["not_carried_over"].to_string().contains("1 line outside of its milestones"), "{dry:#}");
    let _ = place.migrate(&[]).exits_with(0);
    let roadmap = place.repository.read(&place.roadmap_file("roadmap.md"));
    for words in ["Took a week.", "Mind the plugins.", "it is out"] {
        assert!(roadmap.contains(words), "{words} in {roadmap}");
    }
    let view: Value =
        serde_json::from_str(&place.repository.read(&place.roadmap_file("roadmap-view.json"))).unwrap();
    assert_eq!(view["milestones"][1]["depends_on"], json!(["milestone-01-measure-the-start"]));
    let second = view["milestones"][1]["milestone_id"].clone();
    assert_eq!(view["milestones"][2]["depends_on"], json!([second]));

    let unknown = legacy("1. [pending] Ship\n   Depends on: the weather\n");
    let dry = unknown.migrate(&["--dry-run", "--json"]).exits_with(2).json();
    assert_eq!(strings(&dry["open"]).len(), 1, "{dry:#}");
    assert!(dry["open"][0].as_str().unwrap().contains("the weather"), "{dry:#}");
}

#[test]
fn section_17_3_every_word_below_a_heading_is_carried_over() {
    let headed = "# Roadmap\n\n## Milestones\n\n### [completed] 1. Measure\n\nMilestone id: measure\n\n\
        ### [pending] 2. Load lazily\n\nMilestone id: lazy\nDepends on: 1\nIntent: load what is used\n\
        Completion signal: 50 ms\nCoordination notes: ask the shell team\nRisk owner: Ada\n\
        Candidate directions:\n- Direction id: lazy-a\n  Summary: plugins first\n  Why it matters now: they grow\n  \
        Boundary notes: no formats\n  Extraction notes: one at a time\n\nA word nobody labelled.\n";
    let place = legacy(headed);
    let _ = place.migrate(&[]).exits_with(0);
    let roadmap = place.repository.read(&place.roadmap_file("roadmap.md"));
    for words in [
        "load what is used",
        "50 ms",
        "ask the shell team",
        "Risk owner: Ada",
        "they grow",
        "no formats",
        "one at a time",
        "A word nobody labelled.",
        "Depends on: measure",
    ] {
        assert!(roadmap.contains(words), "{words} in {roadmap}");
    }
}

#[test]
fn section_17_3_edits_that_are_not_committed_are_refused_by_name() {
    let place = legacy(LISTED);
    let roadmap = format!("{DIR}/roadmap.md");
    place.repository.write(&roadmap, &LISTED.replace("pending", "completed"));
    let refused = place.migrate(&[]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &[&roadmap, "not what is committed", "commit or undo"]);
    let dry = place.migrate(&["--dry-run", "--json"]).exits_with(14).json();
    assert!(dry["edits"].to_string().contains(&roadmap), "{dry:#}");
    assert_eq!((&dry["open"], &dry["next_steps"]), (&json!([]), &json!([])), "{dry:#}");
    assert_eq!(place.commits(), 2);
    place.repository.commit("meant");
    let _ = place.migrate(&[]).exits_with(0);
}

#[test]
fn section_17_3_a_flat_plane_is_read_where_it_lies() {
    let place = legacy(LISTED);
    let folder = place.repository.path().join("orchestrator");
    for name in ["roadmap.md", "verification.md"] {
        std::fs::rename(place.repository.path().join(DIR).join(name), folder.join(name)).unwrap();
    }
    place.edit_state(&[("roadmap_dir", json!(null))]);
    place.repository.commit("flat");
    let report = place.migrate(&["--json"]).exits_with(0).json();
    assert!(report["commit"].is_string(), "{report:#}");
    let found = place.inspect().exits_with(0).json();
    assert_eq!(found["unfinished"].as_array().unwrap().len(), 1, "{found:#}");
    assert!(place.repository.read(&place.roadmap_file("verification.md")).contains("make test"));
}

#[test]
fn section_17_2_a_structured_plane_without_its_bundle_contract_gets_only_what_is_missing() {
    let place = Place::set_up(&[]);
    std::fs::remove_file(place.repository.path().join("orchestrator/active-roadmap-bundle.md")).unwrap();
    place.repository.commit("lost");
    assert_eq!(place.inspect().exits_with(14).json()["kind"], "migration-needed");
    let report = place.migrate(&["--json"]).exits_with(0).json();
    assert_eq!(report["written"], json!(["orchestrator/active-roadmap-bundle.md"]), "{report:#}");
    let found = place.inspect().exits_with(0).json();
    assert_eq!(
        (&found["generation"], &found["roadmap"]["revision"]),
        (&"structured-markdown".into(), &"rev-001".into())
    );
}

#[test]
fn a_foreign_folder_is_not_migrated() {
    let place = Place::bare();
    assert_refused(
        &place.migrate(&[]).exits_with(2),
        "WL-ROADMAP-001",
        &["there is no orchestrator/state.json"],
    );
    place.repository.write(STATE, "[]\n");
    assert_refused(&place.migrate(&[]).exits_with(2), "WL-ROADMAP-001", &["is not of an orchestrator loop"]);
}
