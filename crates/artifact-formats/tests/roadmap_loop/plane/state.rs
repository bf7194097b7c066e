//! Section 3: what `state.json` holds, and every invariant of 3.3 as a problem with its rule, place and weight.

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::plane::{
    ControllerStage, LEGACY_KEYS, Recognised, Retry, RetryMechanism, RetryScope, RoundStage, Severity,
    StateFile, UpdateStatus, UpdateTrigger,
};

use super::rules;

pub(super) fn idle() -> Value {
    json!({
        "contract_version": "orchestrator-v2",
        "base_branch": "main",
        "roadmap_id": "2026-03-01-00-fast-start",
        "roadmap_revision": "rev-002",
        "roadmap_dir": "orchestrator/roadmaps/2026-03-01-00-fast-start/rev-002",
        "controller_stage": "dispatch-rounds",
        "max_parallel_rounds": 2,
        "active_rounds": [],
        "roadmap_update": null,
        "resume_errors": {},
        "retry": null,
    })
}

pub(super) fn round(id: &str, stage: &str) -> Value {
    json!({
        "round_id": id,
        "stage": stage,
        "branch": format!("orchestrator/{id}"),
        "worktree_path": format!("orchestrator/worktrees/{id}"),
        "resume_error": null,
    })
}

pub(super) fn update() -> Value {
    json!({
        "schema_version": "roadmap-update-v1",
        "trigger": "planner-request",
        "source_round_id": "round-302",
        "branch": "orchestrator/roadmap-update-round-302-split",
        "worktree_path": "orchestrator/worktrees/roadmap-update-round-302",
        "update_artifact": "orchestrator/roadmap-updates/round-302-roadmap-update.md",
        "review_artifact": "orchestrator/roadmap-updates/round-302-roadmap-update-review.md",
        "prior_roadmap_revision": "rev-002",
        "proposed_roadmap_revision": "rev-003",
        "status": "review",
        "attempt": 2,
        "last_rejection_artifact": "orchestrator/roadmap-updates/round-302-roadmap-update-review.md",
        "last_rejection_summary": "too coarse",
        "resume_error": null,
    })
}

pub(super) fn with(changes: &[(&str, Value)]) -> Value {
    let mut state = idle();
    for (key, value) in changes {
        state[*key] = value.clone();
    }
    state
}

pub(super) fn read(value: &Value) -> StateFile {
    StateFile::parse(&format!("{value:#}")).expect("a state of ours")
}

fn fatal(value: &Value) -> Vec<(&'static str, String)> {
    let state = read(value);
    let fatal = state.problems().iter().filter(|problem| problem.severity == Severity::Fatal);
    let found: Vec<_> = fatal.map(|problem| (problem.rule, problem.pointer.clone())).collect();
    assert_eq!(state.sound().is_ok(), found.is_empty());
    found
}

#[test]
fn rule_3_1_all_eleven_keys_are_typed() {
    let state = read(&with(&[
        ("active_rounds", json!([round("round-323", "review"), round("round-02-session-loader", "done")])),
        ("resume_errors", json!({"controller": "no agent", "round-323": {"why": 1}, "over": null})),
    ]));
    assert_eq!(state.problems(), []);
    assert_eq!(state.base_branch.as_deref(), Some("main"));
    assert_eq!(state.bundle().unwrap().revision, "rev-002");
    assert_eq!(state.controller_stage, Some(ControllerStage::DispatchRounds));
    assert_eq!(state.max_parallel_rounds, Some(2));
    let live: Vec<_> = state.live_rounds().map(|round| (round.round_id.as_str(), round.stage)).collect();
    assert_eq!(live, [("round-323", RoundStage::Review)], "a record at done is accepted and not live");
    assert_eq!(state.controller_error(), Some("no agent"));
    assert_eq!(state.resume_errors.len(), 2);
    assert_eq!(state.retry, Retry::Idle);
}

#[test]
fn rule_3_1_every_missing_or_misshapen_key_is_named() {
    for key in idle().as_object().unwrap().keys() {
        let mut state = idle();
        state.as_object_mut().unwrap().remove(key);
        let rule = if key.starts_with("roadmap_") && key != "roadmap_update" { "3.3.1" } else { "" };
        let found = fatal(&state);
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        assert_eq!(found[0].1, format!("/{key}"));
        assert!(rule.is_empty() || found[0].0 == rule, "{found:?}");
        assert_eq!(fatal(&with(&[(key.as_str(), json!(false))])).len(), usize::from(key != "retry"), "{key}");
    }
    assert_eq!(
        fatal(&with(&[("max_parallel_rounds", json!(0))])),
        [("3.1", "/max_parallel_rounds".to_owned())]
    );
    assert_eq!(fatal(&with(&[("contract_version", json!("orchestrator-v9"))]))[0].0, "3.1");
    assert_eq!(fatal(&with(&[("controller_stage", json!("paused"))]))[0].1, "/controller_stage");
}

#[test]
fn rule_3_1_a_problem_says_the_line() {
    let state = read(&with(&[("controller_stage", json!("paused"))]));
    assert_eq!(state.problems()[0].line, Some(7));
    assert!(state.problems()[0].to_string().starts_with("orchestrator/state.json:7: /controller_stage: "));
}

#[test]
fn rule_3_2_round_records_have_their_five_keys() {
    for key in round("r", "plan").as_object().unwrap().keys() {
        let mut record = round("round-1", "plan");
        record.as_object_mut().unwrap().remove(key);
        let found = fatal(&with(&[("active_rounds", json!([record]))]));
        assert_eq!(found, [("3.2", format!("/active_rounds/0/{key}"))]);
    }
    let found = fatal(&with(&[("active_rounds", json!([round("round-1", "merging")]))]));
    assert_eq!(found, [("3.2", "/active_rounds/0/stage".to_owned())]);
}

#[test]
fn rule_3_2_worktrees_are_relative_or_absolute_and_never_leave() {
    let mut absolute = round("round-1", "plan");
    absolute["worktree_path"] = json!("/srv/repo/orchestrator/worktrees/round-1");
    assert_eq!(fatal(&with(&[("active_rounds", json!([absolute.clone(), round("round-2", "plan")]))])), []);
    let mut outside = round("round-2", "plan");
    outside["worktree_path"] = json!("orchestrator/../../elsewhere");
    let found = fatal(&with(&[("active_rounds", json!([outside]))]));
    assert_eq!(found, [("3.2", "/active_rounds/0/worktree_path".to_owned())]);
    let mut same = round("round-2", "plan");
    same["worktree_path"] = json!("./orchestrator/worktrees/round-1/");
    let found = fatal(&with(&[("active_rounds", json!([absolute, same]))]));
    assert_eq!(
        found,
        [("3.3.2", "/active_rounds/1/worktree_path".to_owned())],
        "one folder in two spellings"
    );
}

#[test]
fn rule_3_3_1_the_three_fields_agree() {
    for dir in
        ["orchestrator/roadmaps/2026-03-01-00-fast-start/rev-001", "orchestrator/roadmaps/other/rev-002"]
    {
        assert_eq!(fatal(&with(&[("roadmap_dir", json!(dir))])), [("3.3.1", "/roadmap_dir".to_owned())]);
    }
    assert_eq!(fatal(&with(&[("roadmap_dir", json!("/x/2026-03-01-00-fast-start/rev-002"))]))[0].0, "3.3.1");
    assert_eq!(fatal(&with(&[("roadmap_revision", json!("2"))])).len(), 2);
    let slash = "orchestrator/roadmaps/2026-03-01-00-fast-start/rev-002/";
    assert_eq!(fatal(&with(&[("roadmap_dir", json!(slash))])), []);
}

#[test]
fn rule_3_3_2_the_cap_holds_and_rounds_are_unique() {
    let rounds = json!([round("round-1", "plan"), round("round-2", "plan"), round("round-3", "done")]);
    assert_eq!(read(&with(&[("active_rounds", rounds.clone())])).problems(), [], "done rounds do not count");
    let state = read(&with(&[("active_rounds", rounds), ("max_parallel_rounds", json!(1))]));
    assert_eq!(rules(state.problems(), Severity::Recoverable), ["3.3.2"]);
    let found =
        fatal(&with(&[("active_rounds", json!([round("round-1", "plan"), round("round-1", "review")]))]));
    let places: Vec<_> = found.iter().map(|(rule, place)| (*rule, place.as_str())).collect();
    assert_eq!(
        places,
        [
            ("3.3.2", "/active_rounds/1/round_id"),
            ("3.3.2", "/active_rounds/1/branch"),
            ("3.3.2", "/active_rounds/1/worktree_path"),
        ]
    );
}

#[test]
fn rule_3_2_a_round_has_a_branch_and_a_folder_of_its_own() {
    let mut on_base = round("round-1", "plan");
    on_base["branch"] = json!("main");
    let found = fatal(&with(&[("active_rounds", json!([on_base]))]));
    assert_eq!(found, [("3.2", "/active_rounds/0/branch".to_owned())]);
    let mut elsewhere = round("round-1", "plan");
    elsewhere["round_id"] = json!("../../escaped");
    let found = fatal(&with(&[("active_rounds", json!([elsewhere]))]));
    assert_eq!(found, [("3.2", "/active_rounds/0/round_id".to_owned())]);
}

#[test]
fn rule_3_3_3_there_is_room_for_one_update_only() {
    let found = fatal(&with(&[("roadmap_update", json!([update(), update()]))]));
    assert_eq!(found, [("13.2", "/roadmap_update".to_owned())]);
}

#[test]
fn rule_13_2_the_update_record_needs_every_key() {
    let state = read(&with(&[("roadmap_update", update()), ("controller_stage", json!("update-roadmap"))]));
    assert_eq!(state.problems(), []);
    let record = state.roadmap_update.unwrap();
    assert_eq!((record.trigger, record.status), (UpdateTrigger::PlannerRequest, UpdateStatus::Review));
    assert_eq!((record.attempt, record.last_rejection_summary.as_deref()), (2, Some("too coarse")));
    for key in update().as_object().unwrap().keys() {
        let mut record = update();
        record.as_object_mut().unwrap().remove(key);
        let changes = [("roadmap_update", record), ("controller_stage", json!("update-roadmap"))];
        assert_eq!(fatal(&with(&changes)), [("13.2", format!("/roadmap_update/{key}"))]);
        assert_eq!(rules(read(&with(&changes)).problems(), Severity::Recoverable), [""; 0], "{key}");
    }
    let mut zero = update();
    zero["attempt"] = json!(0);
    assert_eq!(fatal(&with(&[("roadmap_update", zero)]))[0].1, "/roadmap_update/attempt");
}

#[test]
fn rule_3_3_4_stage_and_record_say_the_same() {
    for (stage, record, rules_broken) in [
        ("update-roadmap", json!(null), &["3.3.4"][..]),
        ("dispatch-rounds", update(), &["3.3.4"]),
        ("update-roadmap", update(), &[]),
        ("blocked", update(), &[]),
        ("blocked", json!(null), &[]),
    ] {
        let state = read(&with(&[("controller_stage", json!(stage)), ("roadmap_update", record)]));
        assert_eq!(rules(state.problems(), Severity::Recoverable), rules_broken, "{stage}");
        assert!(state.sound().is_ok());
    }
}

#[test]
fn rule_3_3_5_done_is_stale_while_anything_is_left() {
    let done = read(&with(&[("controller_stage", json!("done"))]));
    assert_eq!(done.problems(), []);
    assert!(done.is_complete(true) && !done.is_complete(false));
    assert_eq!(done.stale_done(true), None);
    assert_eq!(done.stale_done(false).map(|problem| problem.rule), Some("3.3.5"));
    for (key, value) in [
        ("active_rounds", json!([round("round-9", "review")])),
        ("resume_errors", json!({"controller": "x"})),
    ] {
        let state = read(&with(&[("controller_stage", json!("done")), (key, value)]));
        assert_eq!(rules(state.problems(), Severity::Recoverable), ["3.3.5"], "{key}");
        assert!(!state.is_complete(true));
    }
    assert_eq!(read(&idle()).stale_done(false), None);
}

#[test]
fn rule_3_3_6_legacy_keys_are_listed_by_name() {
    for key in LEGACY_KEYS {
        let state = read(&with(&[(key, json!(null))]));
        assert_eq!(state.legacy_keys, [format!("/{key}")]);
        assert_eq!(rules(state.problems(), Severity::Fatal), ["3.3.6"]);
    }
    let mut record = round("round-1", "plan");
    record["milestone_id"] = json!("m-1");
    let state = read(&with(&[("active_rounds", json!([record]))]));
    assert_eq!(state.legacy_keys, ["/active_rounds/0/milestone_id"]);
}

#[test]
fn rule_3_3_7_unknown_keys_are_kept_and_told() {
    let mut record = round("round-1", "plan");
    record["x/note"] = json!([1]);
    let state = read(&with(&[("active_rounds", json!([record])), ("owner", json!("team"))]));
    assert_eq!(state.unknown_keys, ["/owner", "/active_rounds/0/x~1note"]);
    assert_eq!(rules(state.problems(), Severity::Warning), ["3.3.7", "3.3.7"]);
    assert!(state.sound().is_ok());
    let after = state.set_stage(ControllerStage::Blocked).unwrap();
    assert!(after.text().contains("\"owner\": \"team\"") && after.text().contains("x/note"));
}

#[test]
fn retry_is_read_in_our_form_and_kept_in_any_other() {
    let ours = json!({"scope": "round", "id": "round-1", "stage": "implement", "mechanism": "fresh agent",
        "attempt": 2, "review_retry_cycles": 1});
    let Retry::Attempt(record) = read(&with(&[("retry", ours.clone())])).retry else { panic!("ours") };
    assert_eq!((record.scope, record.mechanism), (RetryScope::Round, RetryMechanism::FreshAgent));
    assert_eq!((record.attempt, record.review_retry_cycles), (2, 1));
    let mut more = ours;
    more["deadline"] = json!(1);
    for other in [more, json!({"attempt": 2}), json!("again"), json!([1])] {
        let state = read(&with(&[("retry", other)]));
        assert!(matches!(state.retry, Retry::Other(_)));
        assert_eq!(rules(state.problems(), Severity::Warning), ["3.3.7"]);
    }
}

#[test]
fn another_tools_state_is_foreign_and_a_broken_one_invalid() {
    for text in
        ["[]", "{}", r#"{"version": 4, "resources": []}"#, r#"{"stage": "prod", "branch": "main"}"#, "3"]
    {
        assert!(matches!(StateFile::recognise(text), Recognised::Foreign(_)), "{text}");
        assert!(StateFile::parse(text).unwrap_err().to_string().contains("another tool"));
    }
    for text in ["", "{", r#"{"roadmap_id": "a", "roadmap_id": "b", "active_rounds": []}"#, "{\"a\": 1} x"] {
        assert!(matches!(StateFile::recognise(text), Recognised::Invalid(_)), "{text}");
    }
    let legacy =
        r#"{"contract_version": "orchestrator-v2", "roadmap_style": "flat", "active_round_id": null}"#;
    assert_eq!(StateFile::parse(legacy).unwrap().legacy_keys, ["/roadmap_style", "/active_round_id"]);
}
