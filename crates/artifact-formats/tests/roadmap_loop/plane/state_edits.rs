//! Section 3, the controller's writes: each changes its keys and no other byte, in whatever layout the file came.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, ControllerStage, RetryMechanism, RetryRecord, RetryScope, RoundRecord, RoundStage,
    StateFile, UpdateRecord, UpdateStatus, UpdateTrigger,
};

use super::state::{read, round, update, with};

/// Escapes, a number of its own spelling and keys of nobody we know, all of which must survive.
const HAND_MADE: &str = r#"{
  "note": "caf\u00e9", "weight": 1e2,
  "contract_version": "orchestrator-v2",
  "base_branch": "main",
  "roadmap_id": "f", "roadmap_revision": "rev-001",
  "roadmap_dir": "orchestrator/roadmaps/f/rev-001",
  "controller_stage": "dispatch-rounds",
  "max_parallel_rounds": 4,
  "active_rounds": [
    {
      "round_id": "round-02-session-loader",
      "stage": "plan",
      "branch": "orchestrator/round-02-session-loader",
      "worktree_path": "/srv/repo/orchestrator/worktrees/round-02-session-loader",
      "resume_error": null,
      "mood": [ 1,2 ]
    }
  ],
  "roadmap_update": null,
  "resume_errors": {},
  "retry": null
}
"#;

fn record(id: &str) -> RoundRecord {
    let state = read(&with(&[("active_rounds", json!([round(id, "plan")]))]));
    state.rounds[0].clone()
}

fn update_record() -> UpdateRecord {
    UpdateRecord {
        trigger: UpdateTrigger::MergedRound,
        source_round_id: "round-1".to_owned(),
        branch: "b".to_owned(),
        worktree_path: "w".to_owned(),
        update_artifact: "u.md".to_owned(),
        review_artifact: "r.md".to_owned(),
        prior_roadmap_revision: "rev-001".to_owned(),
        proposed_roadmap_revision: "rev-002".to_owned(),
        status: UpdateStatus::Authoring,
        attempt: 1,
        last_rejection_artifact: None,
        last_rejection_summary: None,
        resume_error: None,
    }
}

#[test]
fn a_round_is_added_in_the_layout_of_the_file_and_goes_without_a_trace() {
    let state = StateFile::parse(HAND_MADE).unwrap();
    let longer = state.add_round(&record("round-323")).unwrap();
    let added = "    },\n    {\n      \"round_id\": \"round-323\",\n      \"stage\": \"plan\",\n";
    assert!(longer.text().contains(added), "{}", longer.text());
    assert_eq!(longer.remove_round("round-323").unwrap().text(), HAND_MADE);
    assert_eq!(longer.live_rounds().count(), 2);
    let twice = longer.add_round(&record("round-323")).unwrap_err();
    assert!(twice.to_string().contains("live already"));
    let empty = state.remove_round("round-02-session-loader").unwrap();
    assert!(empty.text().contains("\"active_rounds\": [],\n"));
}

#[test]
fn a_stage_changes_only_its_own_bytes() {
    let state = StateFile::parse(HAND_MADE).unwrap();
    let next = state.set_round_stage("round-02-session-loader", RoundStage::Review).unwrap();
    assert_eq!(next.text(), HAND_MADE.replace("\"plan\"", "\"review\""));
    let next = state.set_stage(ControllerStage::Blocked).unwrap();
    assert_eq!(next.text(), HAND_MADE.replace("\"dispatch-rounds\"", "\"blocked\""));
    let missing = state.set_round_stage("round-9", RoundStage::Plan).unwrap_err();
    assert!(missing.to_string().contains("no live round round-9"));
    assert!(state.remove_round("round-9").is_err());
}

#[test]
fn records_at_done_go_with_the_next_write() {
    let rounds = json!([round("round-1", "done"), round("round-2", "plan"), round("round-3", "done")]);
    let state = read(&with(&[("active_rounds", rounds)]));
    let next = state.set_stage(ControllerStage::DispatchRounds).unwrap();
    let ids: Vec<_> = next.rounds.iter().map(|round| round.round_id.as_str()).collect();
    assert_eq!(ids, ["round-2"]);
    assert!(
        state.set_round_stage("round-1", RoundStage::Plan).is_err(),
        "what is merged is not taken up again"
    );
}

#[test]
fn an_update_is_opened_changed_and_ended() {
    let state = StateFile::parse(HAND_MADE).unwrap();
    let open = state.set_update(Some(&update_record())).unwrap();
    assert_eq!(open.roadmap_update, Some(update_record()));
    let mut record = update();
    record["reviewer"] = json!("r2");
    let state = read(&with(&[("roadmap_update", record), ("controller_stage", json!("update-roadmap"))]));
    let mut changed = state.roadmap_update.clone().unwrap();
    changed.status = UpdateStatus::Rejected;
    changed.attempt = 3;
    let next = state.set_update(Some(&changed)).unwrap();
    let expected = state.text().replace("\"status\": \"review\"", "\"status\": \"rejected\"");
    assert_eq!(next.text(), expected.replace("\"attempt\": 2", "\"attempt\": 3"), "unknown keys stay");
    let dir = "orchestrator/roadmaps/2026-03-01-00-fast-start/rev-003";
    let active = next.activate("rev-003", dir).unwrap();
    assert_eq!((active.bundle().unwrap().dir.as_str(), &active.roadmap_update), (dir, &None));
    assert!(active.set_stage(ControllerStage::DispatchRounds).unwrap().sound().is_ok());
}

#[test]
fn families_are_scaffolded_begun_and_changed() {
    let bundle = ActiveBundle {
        roadmap_id: "f".to_owned(),
        revision: "rev-001".to_owned(),
        dir: "orchestrator/roadmaps/f/rev-001".to_owned(),
    };
    let first = StateFile::scaffold("trunk", &bundle, 3).unwrap();
    assert_eq!(first.problems(), []);
    assert_eq!((first.base_branch.as_deref(), first.max_parallel_rounds), (Some("trunk"), Some(3)));
    assert!(first.text().ends_with("\"retry\": null\n}\n"));
    let next = ActiveBundle {
        roadmap_id: "g".to_owned(),
        dir: "orchestrator/roadmaps/g/rev-001".to_owned(),
        ..bundle
    };
    let done = StateFile::parse(HAND_MADE).unwrap().set_stage(ControllerStage::Done).unwrap();
    let begun = done.begin_family(&next).unwrap();
    assert_eq!(begun.bundle().as_ref(), Some(&next));
    assert_eq!(begun.live_rounds().count(), 0);
    assert_eq!(begun.controller_stage, Some(ControllerStage::DispatchRounds));
    assert!(begun.text().contains("caf\\u00e9"));
    assert_eq!(done.activate_family(&next).unwrap().bundle(), Some(next));
}

#[test]
fn row_14_1_an_error_can_be_recorded_in_a_broken_state() {
    let mut state = with(&[("active_rounds", json!([]))]);
    state.as_object_mut().unwrap().remove("roadmap_id");
    state.as_object_mut().unwrap().remove("resume_errors");
    let blocked = read(&state).set_controller_error(Some("roadmap_id is missing")).unwrap();
    assert_eq!(blocked.controller_error(), Some("roadmap_id is missing"));
    assert_eq!(blocked.roadmap_id, None, "nothing is filled in");
    let odd = read(&with(&[("resume_errors", json!("none"))])).set_controller_error(Some("x")).unwrap();
    assert_eq!(odd.controller_error(), Some("x"));
}

#[test]
fn all_errors_are_cleared_at_once() {
    let mut record = round("round-1", "blocked");
    record["resume_error"] = json!("agent lost");
    let mut update = update();
    update["resume_error"] = json!("third rejection");
    let state = read(&with(&[
        ("active_rounds", json!([record, round("round-2", "plan")])),
        ("roadmap_update", update),
        ("resume_errors", json!({"controller": "x", "round-1": "y"})),
    ]));
    let clear = state.clear_errors().unwrap();
    assert!(clear.resume_errors.is_empty());
    assert!(clear.rounds.iter().all(|round| round.resume_error.is_none()));
    assert_eq!(clear.roadmap_update.unwrap().resume_error, None);
}

#[derive(Debug, Clone)]
enum Edit {
    Stage(ControllerStage),
    RoundStage(RoundStage),
    RoundError(String),
    ControllerError(String),
    Round(u16),
    Update,
    Retry(u32),
}

fn edit() -> impl Strategy<Value = Edit> {
    let stages = [ControllerStage::UpdateRoadmap, ControllerStage::Done, ControllerStage::Blocked];
    let round_stages =
        [RoundStage::Implement, RoundStage::Review, RoundStage::FinalizeRound, RoundStage::Blocked];
    prop_oneof![
        prop::sample::select(stages.to_vec()).prop_map(Edit::Stage),
        prop::sample::select(round_stages.to_vec()).prop_map(Edit::RoundStage),
        "[a-z\"\\\\{}\n\u{e4}]{0,8}".prop_map(Edit::RoundError),
        "[a-z\"\\\\{}\n\u{e4}]{0,8}".prop_map(Edit::ControllerError),
        any::<u16>().prop_map(Edit::Round),
        Just(Edit::Update),
        any::<u32>().prop_map(Edit::Retry),
    ]
}

const LIVE: &str = "round-02-session-loader";

/// The state after the edit, what the JSON must be then, and the state after the edit was taken back.
fn done_and_undone(before: &StateFile, edit: &Edit) -> (StateFile, Value, StateFile) {
    let mut expected = value(before);
    let (next, back) = match edit {
        Edit::Stage(stage) => {
            expected["controller_stage"] = json!(stage.as_str());
            let next = before.set_stage(*stage).expect("the edit has its place");
            (next.clone(), next.set_stage(ControllerStage::DispatchRounds))
        }
        Edit::RoundStage(stage) => {
            expected["active_rounds"][0]["stage"] = json!(stage.as_str());
            let next = before.set_round_stage(LIVE, *stage).expect("the edit has its place");
            (next.clone(), next.set_round_stage(LIVE, RoundStage::Plan))
        }
        Edit::RoundError(text) => {
            expected["active_rounds"][0]["resume_error"] = json!(text);
            let next = before.set_round_error(LIVE, Some(text)).expect("the edit has its place");
            (next.clone(), next.set_round_error(LIVE, None))
        }
        Edit::ControllerError(text) => {
            expected["resume_errors"] = json!({"controller": text});
            let next = before.set_controller_error(Some(text)).expect("the edit has its place");
            (next.clone(), next.set_controller_error(None))
        }
        Edit::Round(number) => {
            let id = format!("round-{number:03}");
            expected["active_rounds"]
                .as_array_mut()
                .expect("the edit has its place")
                .push(round(&id, "plan"));
            let next = before.add_round(&record(&id)).expect("the edit has its place");
            (next.clone(), next.remove_round(&id))
        }
        Edit::Update => {
            let next = before.set_update(Some(&update_record())).expect("the edit has its place");
            expected["roadmap_update"] = value(&next)["roadmap_update"].clone();
            assert_eq!(next.roadmap_update, Some(update_record()));
            (next.clone(), next.set_update(None))
        }
        Edit::Retry(attempt) => {
            let retry = RetryRecord {
                scope: RetryScope::RoadmapUpdate,
                id: "round-1".to_owned(),
                stage: "review".to_owned(),
                mechanism: RetryMechanism::OtherAdapter,
                attempt: *attempt,
                review_retry_cycles: 0,
            };
            let next = before.set_retry(Some(&retry)).expect("the edit has its place");
            expected["retry"] = value(&next)["retry"].clone();
            (next.clone(), next.set_retry(None))
        }
    };
    (next, expected, back.expect("the edit has its place"))
}

fn value(state: &StateFile) -> Value {
    serde_json::from_str(state.text().trim_start_matches('\u{feff}')).expect("the edit has its place")
}

/// The file in another dress: line ends, byte order mark, end of file, indentation, or all on one line.
fn dressed(crlf: bool, mark: bool, final_newline: bool, layout: usize) -> String {
    let mut text = match layout {
        0 => HAND_MADE.trim_end().to_owned(),
        1 => HAND_MADE.trim_end().replace("  ", "\t"),
        _ => HAND_MADE.trim_end().replace('\n', "").replace("  ", ""),
    };
    if final_newline {
        text.push('\n');
    }
    if crlf {
        text = text.replace('\n', "\r\n");
    }
    if mark { format!("\u{feff}{text}") } else { text }
}

proptest! {
    #[test]
    fn an_edit_changes_its_keys_and_can_be_taken_back_to_the_byte(
        crlf: bool, mark: bool, final_newline: bool, layout in 0..3_usize, edit in edit(),
    ) {
        let text = dressed(crlf, mark, final_newline, layout);
        let state = StateFile::parse(&text).unwrap();
        let (next, expected, back) = done_and_undone(&state, &edit);
        prop_assert_eq!(value(&next), expected);
        prop_assert_eq!(back.text(), text.as_str());
        if crlf {
            prop_assert!(!next.text().replace("\r\n", "").contains('\n'), "{:?}", next.text());
        }
        // What differs is one stretch without any of the keys that were left alone.
        for kept in ["caf\\u00e9", "1e2", "[ 1,2 ]"] {
            prop_assert!(next.text().contains(kept));
        }
    }
}
