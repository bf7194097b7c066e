//! Section 17.3: a legacy plane is turned into the files of generation B as a proposal, with everything that was left
//! behind told and no status guessed.

use serde_json::Value;
use windlass_artifact_formats::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, MilestoneStatus, StatusChange,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    BundleTexts, Generation, Migration, RoadmapView, StateFile, apply_closeout, migrate,
};

use super::samples::DRESSED;

const LEGACY: &str = r#"{
  "contract_version": "orchestrator-v1",
  "base_branch": "trunk",
  "roadmap_id": "fam",
  "roadmap_revision": "rev-001",
  "roadmap_dir": "orchestrator/roadmaps/fam/rev-001",
  "roadmap_style": "flat",
  "stage": "select-task",
  "active_round_id": null,
  "pending_merge_rounds": [],
  "last_completed_round": "round-228",
  "resume_error": null,
  "owner": "team",
  "max_parallel_rounds": 2
}"#;

const LIST: &str = "\
# Roadmap

1. [completed] **Measure the start**
   Details of it.
2. [in-progress] Load lazily
3. [pending] Ship
";

fn migrated(state: &str, roadmap: &str) -> Migration {
    let state = StateFile::parse(state).expect("a state of ours");
    migrate(&state, roadmap).expect("the roadmap is known")
}

fn told(migration: &Migration, words: &str) -> bool {
    migration.not_carried_over.iter().chain(&migration.open).any(|sentence| sentence.contains(words))
}

#[test]
fn the_state_becomes_the_eleven_keys() {
    let migration = migrated(LEGACY, LIST);
    let state = StateFile::parse(&migration.state).unwrap();
    assert_eq!(state.problems(), []);
    assert_eq!((state.base_branch.as_deref(), state.max_parallel_rounds), (Some("trunk"), Some(2)));
    assert_eq!(state.bundle(), Some(migration.bundle.clone()));
    for left in ["roadmap_style", "stage", "last_completed_round", "owner"] {
        assert!(told(&migration, &format!("\"{left}\" is not carried over")), "{left}");
    }
    assert!(!told(&migration, "active_round_id"), "what is empty needs no telling");
}

#[test]
fn a_numbered_list_becomes_a_view_with_anchors() {
    let migration = migrated(LEGACY, LIST);
    let view = RoadmapView::parse("v", migration.view.as_deref().unwrap()).unwrap();
    let seen: Vec<_> =
        view.roadmap.milestones.iter().map(|found| (found.id.as_str(), found.status)).collect();
    assert_eq!(
        seen,
        [
            ("milestone-01-measure-the-start", MilestoneStatus::Done),
            ("milestone-02-load-lazily", MilestoneStatus::InProgress),
            ("milestone-03-ship", MilestoneStatus::Pending),
        ]
    );
    assert_eq!(view.anchor("milestone-03-ship-status").unwrap().selector, "3. [pending] Ship");
    assert!(told(&migration, "\"milestone-03-ship\" is proposed"));
    assert_eq!(migration.open, [""; 0], "a proposal is nothing to be settled");
    let first = &migration.roadmap.milestones[0];
    assert_eq!(first.coordination_notes.as_deref(), Some("Details of it."));
}

#[test]
fn headings_with_labels_keep_their_ids_dependencies_and_directions() {
    let old = DRESSED.replace("[done] 1.", "[completed] 1.");
    let migration = migrated(LEGACY, &old);
    let view = RoadmapView::parse("v", migration.view.as_deref().unwrap()).unwrap();
    let milestone = view.roadmap.milestone("m-10").unwrap();
    assert_eq!(
        (milestone.depends_on.clone(), milestone.direction_ids.clone()),
        (vec!["m-1".to_owned()], vec!["d-1".to_owned()])
    );
    let texts = BundleTexts {
        generation: Generation::Records,
        bundle: &migration.bundle,
        roadmap: &old,
        view: migration.view.as_deref(),
        history: None,
    };
    assert!(!texts.roadmap().unwrap().is_terminal());
    let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
    closeout.status_changes.push(StatusChange {
        milestone_id: "m-10".to_owned(),
        expected_current_status: Some(MilestoneStatus::InProgress),
        target_status: MilestoneStatus::Done,
        anchor: Some("m-10-status".to_owned()),
    });
    closeout.completion_pointers.push(CompletionPointer {
        anchor_or_milestone: "m-10-completion".to_owned(),
        text: "round-229: merged".to_owned(),
    });
    let applied = apply_closeout(&texts, &closeout).unwrap();
    let view: Value = serde_json::from_str(&applied.files[1].1).unwrap();
    assert_eq!(view["anchors"]["m-10-completion"]["selector"], "### 2. [done] Load lazily");
}

#[test]
fn no_status_is_ever_guessed() {
    let migration = migrated(LEGACY, &LIST.replace("[pending] ", ""));
    assert_eq!(migration.view, None);
    assert!(
        told(&migration, "roadmap.md:6: \"Ship\" states no known status"),
        "{:?}",
        migration.not_carried_over
    );
    let migration = migrated(LEGACY, &DRESSED.replace("[in-progress] Load", "[almost] Load"));
    assert_eq!(migration.view, None);
    let migration = migrated(LEGACY, "Prose only.\n");
    assert!(migration.view.is_none() && told(&migration, "no milestones"));
}

#[test]
fn live_work_and_a_moved_bundle_are_told() {
    let state = LEGACY
        .replace("\"owner\": \"team\"", "\"active_rounds\": [{\"round_id\": \"round-9\"}]")
        .replace("orchestrator/roadmaps/fam/rev-001", "orchestrator/old");
    let migration = migrated(&state, LIST);
    assert!(told(&migration, "\"active_rounds\" is not empty") && told(&migration, "must be moved"));
    let state = LEGACY.replace("\"roadmap_id\": \"fam\",", "");
    let why = migrate(&StateFile::parse(&state).unwrap(), LIST).unwrap_err();
    assert!(why.to_string().contains("\"roadmap_id\" is missing"), "nothing is invented");
}
