//! Sections 10.8, 10.9, 25.5 and 16: closeout records, merge notes, update requests and the investigator's report.

use serde_json::json;
use windlass_artifact_formats::roadmap_loop::closeout::CloseoutMode;
use windlass_artifact_formats::roadmap_loop::round::{
    BaseRefresh, CloseoutRecord, CloseoutStatus, CloseoutVerification, FoundMerge, MergeNotes,
    PUBLISHED_SCHEMAS, ProvenStage, RecoveryAction, RecoveryReport, UpdateRequest, sha256_hex,
};
use windlass_artifact_formats::{FaultKind, Reading};

use super::{NUMBERED, SLUGGED, sentences, with};

pub(crate) const REQUEST: &str = "### Roadmap Update Required
- Round id: `round-323`
- Roadmap id: `2026-05-18-00-parser`
- Roadmap revision: `rev-002`
- Roadmap dir: `orchestrator/roadmaps/2026-05-18-00-parser/rev-002`
- Reason: the milestone is one lump:
  no slice of it can be proved

### Current Evidence
- Docs inspected: all

### Requested Split
Two milestones.

### Non-Goals
No new grammar.
";

pub(crate) fn closeout_record(review: &[u8]) -> CloseoutRecord {
    CloseoutRecord {
        round_id: NUMBERED.to_owned(),
        review_record_path: "orchestrator/rounds/round-323/review-record.json".to_owned(),
        review_record_sha256: sha256_hex(review),
        base_revision: "3be93118".to_owned(),
        status: CloseoutStatus::Applied,
        applied_edit_summary: vec!["milestone-4: in-progress -> done".to_owned()],
        verification: CloseoutVerification {
            roadmap_view_revalidated: true,
            active_bundle_revalidated: true,
            diff_matches_review_record: true,
            revalidated_after_base_refresh: false,
        },
    }
}

#[test]
fn a_closeout_record_comes_back_as_it_was_written() {
    let record = closeout_record(b"{}\n");
    let text = record.render();
    assert!(text.starts_with("{\n  \"schema_version\": \"closeout-record-v3\",\n  \"round_id\""), "{text}");
    assert!(text.ends_with("}\n"));
    assert_eq!(CloseoutRecord::parse(NUMBERED, &text).unwrap(), record);
    assert_eq!(record.differs_from_review(b"{}\n"), None);
    assert!(record.differs_from_review(b"{}").unwrap().contains("/review_record_sha256"));
    assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn a_record_is_mergeable_by_its_status_and_flags() {
    let record = closeout_record(b"");
    assert!(record.mergeable(BaseRefresh::None) && !record.mergeable(BaseRefresh::Happened));
    assert_eq!(record.obstacles(BaseRefresh::Happened), ["revalidated_after_base_refresh is false"]);
    let mut moved = record.clone();
    moved.status = CloseoutStatus::Revalidated;
    moved.verification.revalidated_after_base_refresh = true;
    assert!(moved.mergeable(BaseRefresh::Happened));
    moved.status = CloseoutStatus::Stale;
    assert_eq!(moved.obstacles(BaseRefresh::None), ["the closeout is stale"]);
    for unset in [
        |seen: &mut CloseoutVerification| seen.roadmap_view_revalidated = false,
        |seen: &mut CloseoutVerification| seen.active_bundle_revalidated = false,
        |seen: &mut CloseoutVerification| seen.diff_matches_review_record = false,
    ] {
        let mut broken = record.clone();
        unset(&mut broken.verification);
        assert!(!broken.mergeable(BaseRefresh::None));
    }
}

#[test]
fn every_slip_of_a_closeout_record_has_its_place() {
    let whole = serde_json::from_str::<serde_json::Value>(&closeout_record(b"").render()).unwrap();
    for (pointer, value) in [
        ("/schema_version", json!("closeout-record-v2")),
        ("/round_id", json!("round-1")),
        ("/review_record_sha256", json!("ABC")),
        ("/status", json!("done")),
        ("/applied_edit_summary", json!("x")),
        ("/verification/diff_matches_review_record", json!("true")),
    ] {
        let found = sentences(CloseoutRecord::parse(NUMBERED, &with(whole.clone(), pointer, value)));
        assert!(found.starts_with("closeout-record.json") && found.contains(pointer), "{found}");
    }
}

#[test]
fn merge_notes_name_both_commits_and_read_back_in_all_layouts() {
    let notes = MergeNotes {
        round_id: SLUGGED,
        branch: "orchestrator/round-02-session-loader-boundary",
        branch_commit: "6fa370dc",
        base_branch: "main",
        squash_commit: Some("3be93118"),
        decision: "approved\n### Merge",
        closeout_mode: CloseoutMode::StatusOnly,
        verification: &["`make test`: pass\n- Squash commit: 0000000".to_owned()],
    };
    let text = notes.render();
    assert_eq!(text.lines().filter(|line| line.starts_with("###")).count(), 3, "{text}");
    let found = FoundMerge::parse(&text).unwrap();
    assert_eq!(found.round_id.as_deref(), Some(SLUGGED));
    assert_eq!(found.branch_commit.as_deref(), Some("6fa370dc"));
    assert_eq!(found.squash_commit.as_deref(), Some("3be93118"));
    assert_eq!(found.closeout_mode, Some(CloseoutMode::StatusOnly));
    let inside = MergeNotes { squash_commit: None, verification: &[], ..notes }.render();
    assert_eq!(FoundMerge::parse(&inside).unwrap().squash_commit, None);

    let one = "### Merge\n- Branch commit: `6fa370dc`\n- Master squash commit: `3be93118`\n\n### Verification\n\
        - all: pass\n\n### Roadmap Closeout\n- Mode: none.\n";
    let found = FoundMerge::parse(one).unwrap();
    assert_eq!(
        (found.branch_commit.as_deref(), found.squash_commit.as_deref()),
        (Some("6fa370dc"), Some("3be93118"))
    );
    assert_eq!(found.closeout_mode, Some(CloseoutMode::None));
    let other = "### Merge\n- Round id: round-333\n- Branch: orchestrator/round-333-next\n- Round commit: c22ade00\n\
        - Base branch: master\n- Merge mode: squash\n\n### Controller Finalization\n- Review decision: APPROVED\n\
        - Roadmap Closeout mode: none\n";
    let found = FoundMerge::parse(other).unwrap();
    assert_eq!(found.branch.as_deref(), Some("orchestrator/round-333-next"));
    assert_eq!((found.branch_commit.as_deref(), found.squash_commit), (Some("c22ade00"), None));
    let told = "### Merge\n- Branch commit: recorded by the commit that adds this\n";
    assert_eq!(FoundMerge::parse(told).unwrap().branch_commit, None);
    assert!(FoundMerge::parse("# Something\n").is_err());
}

#[test]
fn a_request_names_its_round_and_all_its_parts() {
    let request = UpdateRequest::parse(NUMBERED, REQUEST).unwrap();
    assert_eq!(request.reason, "the milestone is one lump: no slice of it can be proved");
    assert_eq!(request.requested_split, "Two milestones.");
    assert!(sentences(UpdateRequest::parse(SLUGGED, REQUEST)).contains("must be round-02"));
    for part in [
        "### Roadmap Update Required",
        "### Current Evidence",
        "### Requested Split",
        "### Non-Goals",
        "Reason",
    ] {
        let text = REQUEST.replacen(part, &part.replace(char::is_alphabetic, "x"), 1);
        let found = sentences(UpdateRequest::parse(NUMBERED, &text));
        assert!(found.starts_with("roadmap-update-request.md") && found.contains(part), "{found}");
    }
}

#[test]
fn the_investigators_report_advises_an_action_and_a_stage() {
    let answer = json!({
        "subject_id": NUMBERED, "failure_summary": "no review\n### Diagnosis", "diagnosis": "it crashed",
        "salvageable_outputs": [{"path": "plan.md", "use_for": "proves implement"}], "proven_stage": "implement",
        "recommended_action": "different-mechanism", "action_details": "a fresh agent",
        "controller_continuation": "yes, at implement", "recovery_note": ""
    });
    let read = |text: String| RecoveryReport::parse(text.as_bytes(), &Reading::from_agent(NUMBERED));
    let report = read(answer.to_string()).unwrap();
    assert_eq!(
        (report.recommended_action, report.proven_stage),
        (RecoveryAction::DifferentMechanism, ProvenStage::Implement)
    );
    let headings: Vec<String> =
        report.to_markdown().lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect();
    assert_eq!(
        headings,
        [
            "Failure Summary",
            "Diagnosis",
            "Salvageable Outputs",
            "Recommended Recovery Action",
            "Controller Continuation"
        ]
        .map(|title| format!("### {title}"))
    );
    for (pointer, value, kind) in [
        ("/subject_id", json!("round-1"), FaultKind::WrongTaskId),
        ("/proven_stage", json!("done"), FaultKind::UnknownValue),
        ("/recommended_action", json!("retry"), FaultKind::UnknownValue),
        ("/diagnosis", json!(" "), FaultKind::EmptyText),
        ("/salvageable_outputs", json!("none"), FaultKind::WrongType),
    ] {
        assert!(read(with(answer.clone(), pointer, value)).unwrap_err().has(kind), "{pointer}");
    }
    assert!(RecoveryReport::answer_schema().contains("\"different-mechanism\""));
    assert_eq!(PUBLISHED_SCHEMAS.len(), 1);
}
