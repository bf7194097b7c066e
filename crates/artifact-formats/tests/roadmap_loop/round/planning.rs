//! Sections 10.2, 10.4, 18 and 25.3: lineage, selections and plans in both forms, and what fan-out may not do.

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::lineage::LineageField;
use windlass_artifact_formats::roadmap_loop::round::{
    Complexity, RoundForm, RoundPlan, Scheduler, Selection, VerificationProfile, WorkerMode, is_retired,
};

use super::{
    NUMBERED, PLAN, PLAN_OF_ANOTHER, SLUGGED, fan_out_record, lineage, plan_record, selection_record,
    sentences, with, worker,
};

#[test]
fn lineages_differ_by_the_names_of_their_fields() {
    let mut other = lineage();
    assert_eq!(lineage().differs_from(&other), []);
    other.roadmap_revision = "rev-003".to_owned();
    other.extracted_item_id = "item-9".to_owned();
    assert_eq!(
        lineage().differs_from(&other),
        [LineageField::RoadmapRevision, LineageField::ExtractedItemId]
    );
    assert_eq!(LineageField::all().count(), 6);
}

#[test]
fn a_selection_record_is_read_with_keys_nobody_asked_for() {
    for round in [NUMBERED, SLUGGED] {
        let mut record = selection_record(round);
        record["execution_mode"] = json!("delegated");
        record["scheduler"]["parallel_group"] = json!("parsers");
        let selection = Selection::from_record(round, &record.to_string()).unwrap();
        assert_eq!((selection.round_id.as_str(), selection.lineage), (round, lineage()));
        assert_eq!(selection.scheduler.parallel_group.as_deref(), Some("parsers"));
    }
}

#[test]
fn every_slip_of_a_selection_record_has_its_place() {
    for (pointer, value, expected) in [
        ("/schema_version", json!("selection-record-v2"), "/schema_version"),
        ("/round_id", json!("round-1"), "/round_id"),
        ("/milestone_id", json!(" "), "/milestone_id"),
        ("/direction_id", json!(7), "/direction_id"),
        ("/summary", json!(""), "/summary"),
        ("/scheduler", json!([]), "/scheduler"),
        ("/scheduler/depends_on_round_ids", json!([1]), "/scheduler/depends_on_round_ids/0"),
        ("/scheduler/depends_on_round_ids", json!([NUMBERED]), "wait for itself"),
        ("/scheduler/merge_after_item_ids", json!(["item-323"]), "wait for itself"),
        ("/roadmap_dir", json!("orchestrator/roadmaps/other/rev-002"), "roadmap_dir must end with"),
    ] {
        let text = with(selection_record(NUMBERED), pointer, value);
        let found = sentences(Selection::from_record(NUMBERED, &text));
        assert!(found.starts_with("selection-record.json: ") && found.contains(expected), "{found}");
    }
    let mut without = selection_record(NUMBERED);
    without["scheduler"].as_object_mut().unwrap().remove("parallel_group");
    assert!(
        sentences(Selection::from_record(NUMBERED, &without.to_string()))
            .contains("/scheduler/parallel_group")
    );
    assert!(sentences(Selection::from_record(NUMBERED, "{")).contains("not valid JSON"));
}

#[test]
fn two_authors_plans_say_the_same() {
    let wanted = Selection {
        round_id: SLUGGED.to_owned(),
        lineage: lineage(),
        summary: "Parse spans of constructors, one slice of them.".to_owned(),
        scheduler: Scheduler {
            depends_on_round_ids: vec!["round-321".to_owned(), "round-322".to_owned()],
            ..Scheduler::default()
        },
    };
    for text in [PLAN, PLAN_OF_ANOTHER] {
        assert_eq!(Selection::from_plan(SLUGGED, text).unwrap(), wanted);
        let plan = RoundPlan::from_plan(SLUGGED, text).unwrap();
        assert_eq!((plan.worker_mode, plan.workers.len(), &plan.integration), (WorkerMode::None, 0, &None));
        let profile = plan.profile.unwrap();
        assert_eq!(
            (profile.complexity, profile.verification),
            (Complexity::Standard, VerificationProfile::Focused)
        );
        assert_eq!(plan.lineage, lineage());
    }
    assert_eq!(Selection::from_plan(SLUGGED, &PLAN.replace('\n', "\r\n")).unwrap(), wanted);
}

#[test]
fn every_slip_of_a_structured_plan_has_its_line_or_section() {
    for (from, to, expected) in [
        ("### Selected Extraction", "### Extraction", "### Selected Extraction"),
        ("- Direction id: `direction-4a`\n", "", "Direction id:"),
        ("- Milestone id: `milestone-4`", "- Milestone id:", "line 3 (### Selected Extraction)"),
        ("- Roadmap id: ", "- Milestone id: x\n- Roadmap id: ", "a second time"),
        ("### Goal", "### Goal\n\n### Goal", "a second"),
        (
            "Complexity: standard",
            "Complexity: standard or simple",
            "must be one of simple, standard, closeout",
        ),
        ("Verification profile: focused", "Verification profile: full", "focused, standard, closeout"),
        ("- Reason: stays inside the parser\n", "", "Reason:"),
        ("### Scheduler", "### Order", "### Scheduler"),
        ("- Parallel group: none\n", "", "Parallel group:"),
        ("round-321", "round-323", "wait for itself"),
        ("- Worker mode: none", "- Worker mode: serial", "none, fanout"),
        ("- Workers: none", "- Workers: `a`: `src/a`", "allows no workers"),
        ("- Integration: none", "- Integration: somebody", "allows no integration"),
        ("1. Write the test.", "", "### Steps"),
        ("### Goal", "<!-- open\n### Goal", "not closed"),
    ] {
        let text = PLAN.replacen(from, to, 1);
        assert_ne!(text, PLAN, "{from}");
        let (selection, plan) =
            (Selection::from_plan(NUMBERED, &text), RoundPlan::from_plan(NUMBERED, &text));
        let found: Vec<String> = [selection.map(|_| ()), plan.map(|_| ())]
            .into_iter()
            .filter_map(Result::err)
            .map(|faults| faults.to_string())
            .collect();
        assert!(
            found.iter().any(|found| found.contains("plan.md") && found.contains(expected)),
            "{from}: {found:?}"
        );
    }
}

#[test]
fn a_plan_record_is_read_and_a_late_profile_taken() {
    let plan = RoundPlan::from_record(NUMBERED, &plan_record(NUMBERED).to_string()).unwrap();
    assert_eq!((plan.worker_mode, plan.profile), (WorkerMode::None, None));
    let mut late = plan_record(NUMBERED);
    late["complexity"] = json!("standard");
    late["verification_profile"] = json!("closeout");
    late["profile_reason"] = json!("public contract");
    let plan = RoundPlan::from_record(NUMBERED, &late.to_string()).unwrap();
    assert_eq!(plan.profile.unwrap().verification, VerificationProfile::Closeout);
    late["complexity"] = json!("medium");
    assert_eq!(RoundPlan::from_record(NUMBERED, &late.to_string()).unwrap().profile, None);
}

#[test]
fn mode_none_means_no_workers_and_no_integration() {
    for (key, value) in [
        ("/workers", json!([worker(NUMBERED, "a", &["src"])])),
        ("/integration", fan_out_record(NUMBERED)["integration"].clone()),
    ] {
        let text = with(plan_record(NUMBERED), key, value);
        assert!(sentences(RoundPlan::from_record(NUMBERED, &text)).contains("mode none allows no"), "{key}");
    }
    let mut without = plan_record(NUMBERED);
    without.as_object_mut().unwrap().remove("integration");
    assert!(sentences(RoundPlan::from_record(NUMBERED, &without.to_string())).contains("/integration"));
}

#[test]
fn fan_out_is_read_in_records_with_relative_and_absolute_places() {
    for round in [NUMBERED, SLUGGED] {
        let mut record = fan_out_record(round);
        record["workers"][0]["worktree_path"] =
            json!(format!("/srv/repo/orchestrator/worktrees/{round}-lexer"));
        record["workers"][1]["handoff_path"] = json!("workers/parser/handoff.md");
        let plan = RoundPlan::from_record(round, &record.to_string()).unwrap();
        assert_eq!(plan.workers.len(), 2);
        assert_eq!(plan.integration.unwrap().depends_on_worker_ids, ["lexer", "parser"]);
    }
}

#[test]
fn fan_out_that_overlaps_circles_or_is_not_integrated_is_refused() {
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/workers/1/write_scope", json!(["src/lexer/tokens"]), "overlap"),
        ("/workers/1/write_scope", json!(["src"]), "overlap"),
        ("/workers/1/write_scope", json!(["src/lexer/**"]), "overlap"),
        ("/workers/1/write_scope", json!(["./src//lexer/"]), "overlap"),
        ("/workers/1/write_scope", json!([]), "write scope is empty"),
        ("/workers/1/write_scope", json!(["../other"]), "leaves the repository"),
        ("/workers/1/write_scope", json!(["src/*.rs"]), "is a pattern"),
        ("/workers/1/write_scope", json!(["orchestrator/state.json"]), "control plane"),
        ("/workers/1/worker_id", json!("lexer"), "is used twice"),
        ("/workers/1/worker_id", json!("../x"), "worker id"),
        ("/workers/1/branch", json!("main"), "branch must be"),
        ("/workers/1/worktree_path", json!("elsewhere"), "worktree_path must be"),
        ("/workers/1/assignment_path", json!("a.md"), "assignment_path must be"),
        ("/workers/1/depends_on_worker_ids", json!(["nobody"]), "no such worker"),
        ("/workers/1/depends_on_worker_ids", json!(["parser"]), "waits for itself"),
        ("/workers/1/blocks_integration", json!("yes"), "/workers/1/blocks_integration"),
        ("/integration", Value::Null, "named integration"),
        ("/integration/depends_on_worker_ids", json!(["nobody"]), "no such worker"),
        ("/integration/integration_notes_path", json!("notes.md"), "integration_notes_path"),
        ("/workers", json!([]), "needs workers"),
        ("/worker_mode", json!("many"), "/worker_mode"),
        ("/plan_path", json!("elsewhere/plan.txt"), "/plan_path"),
    ];
    for (pointer, value, expected) in cases {
        let text = with(fan_out_record(NUMBERED), pointer, value);
        let found = sentences(RoundPlan::from_record(NUMBERED, &text));
        assert!(found.contains(expected), "{pointer}: {found}");
    }
    let mut circle = fan_out_record(NUMBERED);
    circle["workers"][0]["depends_on_worker_ids"] = json!(["parser"]);
    circle["workers"][1]["depends_on_worker_ids"] = json!(["lexer"]);
    assert!(sentences(RoundPlan::from_record(NUMBERED, &circle.to_string())).contains("waits for itself"));
    let mut simple = fan_out_record(NUMBERED);
    simple["complexity"] = json!("simple");
    simple["verification_profile"] = json!("focused");
    assert!(
        sentences(RoundPlan::from_record(NUMBERED, &simple.to_string()))
            .contains("simple task has no workers")
    );
    // A name that only begins the same is another folder.
    let apart = with(fan_out_record(NUMBERED), "/workers/1/write_scope", json!(["src/lexer2"]));
    assert!(RoundPlan::from_record(NUMBERED, &apart).is_ok());
}

#[test]
fn fan_out_is_read_in_both_markdown_forms() {
    let long = "- Worker mode: fanout
- Workers:
  - Worker id: `lexer`
    Summary: tokens, and
      their spans
    Write scope: `src/lexer/`, `tests/lexer/`
    Depends on worker ids: none
    Blocks integration: yes
    Verification commands: `make lexer`, `make lint`
  - Worker id: `parser`
    Write scope: src/parser
    Depends on worker ids: lexer
    Blocks integration: no
- Integration:
  - Summary: the round's implementer joins both
    Depends on worker ids: lexer
    Verification commands: `make test`
";
    let short = "- Worker mode: fanout
- Workers:
  - `lexer`: `src/lexer/`, `tests/lexer/`
  - parser: src/parser
- Integration: the round's implementer joins both
";
    let none = "- Worker mode: none\n- Workers: none\n- Integration: none\n";
    let long = RoundPlan::from_plan(SLUGGED, &PLAN.replace(none, long)).unwrap();
    let short = RoundPlan::from_plan(SLUGGED, &PLAN.replace(none, short)).unwrap();
    for plan in [&long, &short] {
        assert_eq!(plan.worker_mode, WorkerMode::Fanout);
        assert_eq!(plan.workers[0].write_scope, ["src/lexer/", "tests/lexer/"]);
        assert_eq!(plan.workers[1].write_scope, ["src/parser"]);
        assert_eq!(plan.workers[1].branch, format!("orchestrator/{SLUGGED}-parser"));
        assert_eq!(plan.integration.as_ref().unwrap().summary, "the round's implementer joins both");
    }
    assert_eq!(long.workers[0].summary, "tokens, and their spans");
    assert_eq!(long.workers[0].verification_commands, ["make lexer", "make lint"]);
    assert_eq!(long.workers[1].depends_on_worker_ids, ["lexer"]);
    assert!(!long.workers[1].blocks_integration && short.workers[1].blocks_integration);
    assert_eq!(long.integration.unwrap().depends_on_worker_ids, ["lexer"]);
    assert_eq!(short.integration.unwrap().depends_on_worker_ids, ["lexer", "parser"]);
    let simple = PLAN.replace(none, "- Worker mode: fanout\n- Workers:\n  - a: src/a\n- Integration: b\n");
    let simple = simple.replace("Complexity: standard", "Complexity: simple");
    assert!(sentences(RoundPlan::from_plan(NUMBERED, &simple)).contains("simple task has no workers"));
}

#[test]
fn retired_files_are_known_by_name_and_merge_notes_come_back() {
    for name in
        ["selection.md", "worker-plan.json", "retry-subloop.md", "attempt-log.jsonl", "reviews/attempt-2.md"]
    {
        assert!(
            is_retired(name, RoundForm::Records) && is_retired(name, RoundForm::StructuredMarkdown),
            "{name}"
        );
    }
    assert!(
        is_retired("merge.md", RoundForm::Records) && !is_retired("merge.md", RoundForm::StructuredMarkdown)
    );
    assert!(!is_retired("plan.md", RoundForm::Records));
}
