//! Sections 0 and 17: which generation a plane follows, what it lacks, and when it is not ours at all.

use serde_json::json;
use windlass_artifact_formats::roadmap_loop::plane::{Generation, PlaneFiles, PlaneKind, StateFile};

use super::samples::{DIR, DRESSED, PLAIN};
use super::state::with;

const SHARED: [&str; 12] = [
    "state-schema.md",
    "artifact-manifest.md",
    "project-contract.md",
    "active-roadmap-bundle.md",
    "role-contract.md",
    "roadmap-update-schema.md",
    "roles/planner.md",
    "roles/implementer.md",
    "roles/reviewer.md",
    "roles/recovery-investigator.md",
    "roadmaps/fam/roadmap-history.md",
    "roadmaps/fam/rev-001/verification.md",
];
const SCHEMAS: [&str; 3] =
    ["selection-record-schema.md", "round-plan-record-schema.md", "round-finalization-schema.md"];

fn state(more: &[(&str, serde_json::Value)]) -> String {
    let mut changes = vec![
        ("roadmap_id", json!("fam")),
        ("roadmap_revision", json!("rev-001")),
        ("roadmap_dir", json!(DIR)),
    ];
    changes.extend(more.iter().cloned());
    with(&changes).to_string()
}

fn files(more: &[&str]) -> Vec<String> {
    let all = SHARED.iter().chain(&["roadmaps/fam/rev-001/roadmap.md"]).chain(more);
    all.map(|name| format!("orchestrator/{name}")).collect()
}

fn kind(state: &str, files: &[String], roadmap: &str) -> PlaneKind {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    PlaneKind::of(&StateFile::recognise(state), &files, Some(roadmap))
}

fn runs(kind: PlaneKind) -> PlaneFiles {
    match kind {
        PlaneKind::Runs(files) => files,
        other => panic!("{other:?}"),
    }
}

fn with_records() -> Vec<String> {
    let mut names = SCHEMAS.to_vec();
    names.push("roadmaps/fam/rev-001/roadmap-view.json");
    files(&names)
}

#[test]
fn a_view_makes_generation_b_and_labels_make_generation_c() {
    let found = runs(kind(&state(&[]), &with_records(), DRESSED));
    assert_eq!((found.generation, found.missing.len(), found.mixed.len()), (Generation::Records, 0, 0));
    let found = runs(kind(&state(&[]), &files(&[]), PLAIN));
    assert_eq!(
        (found.generation, found.missing.len(), found.mixed.len()),
        (Generation::StructuredMarkdown, 0, 0)
    );
}

#[test]
fn rule_17_2_every_missing_contract_file_is_named() {
    let all = with_records();
    for absent in &all {
        let rest: Vec<String> = all.iter().filter(|name| *name != absent).cloned().collect();
        match kind(&state(&[]), &rest, DRESSED) {
            PlaneKind::MigrationNeeded { why } => {
                assert!(absent.ends_with("active-roadmap-bundle.md") && why[0].contains(absent.as_str()));
            }
            PlaneKind::Runs(found) if absent.ends_with("roadmap-history.md") => {
                assert_eq!(found.missing, []);
                assert_eq!(found.mixed[0].file, *absent);
            }
            PlaneKind::Runs(found) => {
                let names: Vec<&str> = found.missing.iter().map(|problem| problem.file.as_str()).collect();
                assert_eq!(names, [absent]);
            }
            other => panic!("{absent}: {other:?}"),
        }
    }
}

#[test]
fn rule_17_3_legacy_signs_are_told_one_by_one() {
    let legacy = |state: &str, files: &[String]| match kind(state, files, PLAIN) {
        PlaneKind::Legacy { why } => why,
        other => panic!("{other:?}"),
    };
    let why =
        legacy(&state(&[("roadmap_style", json!("flat")), ("active_round_id", json!(null))]), &files(&[]));
    assert!(why[0].contains("/roadmap_style, /active_round_id"), "{why:?}");
    let why = legacy(&state(&[]), &files(&["roadmaps/fam/rev-001/retry-subloop.md"]));
    assert!(why[0].contains("retry-subloop.md"));
    let old: Vec<String> = files(&["roles/guider.md", "roles/merger.md"]);
    let old: Vec<String> = old.into_iter().filter(|name| !name.contains("active-roadmap-bundle")).collect();
    assert_eq!(legacy(&state(&[]), &old).len(), 2);
}

#[test]
fn rule_17_3_without_a_machine_source_a_migration_is_needed() {
    let prose = "## Milestones\n\n### Measure\nSoon.\n";
    let PlaneKind::MigrationNeeded { why } = kind(&state(&[]), &files(&[]), prose) else { panic!("prose") };
    assert!(why[0].contains("roadmap-view.json") && why[1].contains("Milestone id:"), "{why:?}");
    let hint = format!("{DIR}/roadmap.md:3: \"### Measure\" is a milestone of the older contract");
    assert!(why[2].starts_with(&hint) && why[2].ends_with("(1 milestone in all)"), "{why:?}");
    let PlaneKind::Legacy { why } = kind(&state(&[("stage", json!("idle"))]), &files(&[]), prose) else {
        panic!("legacy")
    };
    assert!(why[1].starts_with(&hint), "{why:?}");
    let found = runs(kind(&state(&[]), &files(&SCHEMAS), prose));
    assert_eq!(found.generation, Generation::Records);
    assert_eq!(
        (found.missing.len(), found.missing[0].rule),
        (1, "4.3"),
        "the schemas say that a view was meant"
    );
}

#[test]
fn a_mixed_plane_runs_and_is_told_precisely() {
    let odd = files(&["roles/guider.md", "verification.md", SCHEMAS[0], "rounds/round-001/selection.md"]);
    let found = runs(kind(&state(&[]), &odd, PLAIN));
    let told: Vec<&str> = found.mixed.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!(
        told,
        [
            "orchestrator/verification.md",
            "orchestrator/roles/guider.md",
            "orchestrator/selection-record-schema.md"
        ],
        "rounds of older days are history"
    );
}

#[test]
fn other_and_broken_states_are_not_run() {
    assert!(matches!(kind("{\"version\": 4}", &files(&[]), PLAIN), PlaneKind::NotAnOrchestrator(_)));
    assert!(matches!(kind("{", &files(&[]), PLAIN), PlaneKind::Unreadable(_)));
    let PlaneKind::Unreadable(faults) = kind(&state(&[("roadmap_id", json!(null))]), &files(&[]), PLAIN)
    else {
        panic!("nothing says which roadmap is active")
    };
    assert!(faults.to_string().contains("/roadmap_id"), "{faults}");
}
