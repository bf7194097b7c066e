//! Sections 10.6, 10.7, 23 and 25.4: decisions in records and in Markdown, closeouts, and contradictions.

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::closeout::{CloseoutMode, MilestoneStatus};
use windlass_artifact_formats::roadmap_loop::round::{RetryTarget, Review, ReviewDecision};

use super::{NUMBERED, SLUGGED, lineage, record, review_record, sentences, with};

pub(crate) const APPROVED: &str = "### Checks Run
- Command: `make test`
  Result: pass

### Plan Compliance
- Step 1: met

### Findings
- Blocking: no
  Problem: none
  Suggested fix: none
  Retry target: none

### Decision
**APPROVED**

### Retry
- Retry target: none
- Required changes: none

### Roadmap Closeout
- Mode: none
- Status changes: none
- Completion pointers: none
- History entries: none
- Semantic update reason: none

### Evidence
The diff stays in its scope.
";

pub(crate) fn rejected(target: &str) -> String {
    APPROVED
        .replace("**APPROVED**", "**REJECTED: a span is wrong\nin two rows**")
        .replace("- Retry target: none\n- Required changes: none", &format!(
            "- Retry target: {target}\n- Required changes:\n  - Span of row one: count from zero.\n  - Add the test\n    that shows it."
        ))
}

fn decided(text: &str) -> ReviewDecision {
    Review::from_markdown(text, "milestone-4").expect("a review").decision
}

fn unclassified(decision: ReviewDecision) -> String {
    match decision {
        ReviewDecision::Unclassified { why } => why,
        other => panic!("classified: {other:?}"),
    }
}

fn in_record(text: &str) -> Review {
    Review::from_record(NUMBERED, text, None).expect("a review")
}

fn rejected_record(own: Value) -> Value {
    let mut record = record(
        "review-record-v3",
        NUMBERED,
        json!({
            "decision": "rejected", "evidence_summary": "one span is wrong", "retry_target": "implement",
            "required_changes": ["count from zero"]
        }),
    );
    for (key, value) in own.as_object().expect("an object") {
        record[key] = value.clone();
    }
    record
}

#[test]
fn an_approved_record_carries_its_closeout() {
    for round in [NUMBERED, SLUGGED] {
        let review = Review::from_record(round, &review_record(round).to_string(), None).unwrap();
        assert_eq!((review.evidence_summary.as_str(), review.lineage), ("all green", Some(lineage())));
        let ReviewDecision::Approved { closeout } = review.decision else { panic!() };
        assert_eq!((closeout.mode, closeout.reason), (CloseoutMode::StatusOnly, None));
        let change = &closeout.status_changes[0];
        assert_eq!(change.expected_current_status, Some(MilestoneStatus::InProgress));
        assert_eq!(
            (change.target_status, change.anchor.as_deref()),
            (MilestoneStatus::Done, Some("milestone-4"))
        );
        assert_eq!(closeout.completion_pointers[0].anchor_or_milestone, "milestone-4-completion");
    }
}

#[test]
fn status_only_without_status_changes_is_normal() {
    let text = with(review_record(NUMBERED), "/roadmap_closeout/status_changes", json!([]));
    assert!(matches!(in_record(&text).decision, ReviewDecision::Approved { .. }));
}

#[test]
fn a_semantic_record_has_a_reason_and_no_edits() {
    let closeout = json!({"mode": "semantic-update-required", "status_changes": [], "completion_pointers": [],
        "history_entries": [], "semantic_update_required_reason": "lanes must change"});
    let text = with(review_record(NUMBERED), "/roadmap_closeout", closeout);
    let ReviewDecision::Approved { closeout } = in_record(&text).decision else { panic!() };
    assert_eq!(closeout.reason.as_deref(), Some("lanes must change"));
}

#[test]
fn an_approval_without_valid_classification_is_unclassified_and_says_why() {
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/roadmap_closeout", Value::Null, "an approval needs it"),
        ("/roadmap_closeout/mode", json!("none"), "status-only"),
        ("/roadmap_closeout/mode", json!("semantic-update-required"), "allows no status changes"),
        ("/roadmap_closeout/semantic_update_required_reason", json!("why"), "allows no reason"),
        ("/roadmap_closeout/history_entries", json!([{"anchor_id": "h", "text": "a\nb"}]), "one line"),
        ("/roadmap_closeout/completion_pointers", json!([{"text": "a"}]), "/anchor_id"),
        ("/roadmap_closeout/status_changes/0/target_status", json!("closed"), "/target_status"),
        ("/roadmap_closeout/status_changes/0/target_status", json!("in-progress"), "changes nothing"),
        ("/roadmap_closeout/status_changes/0/roadmap_view_anchor", json!(""), "/roadmap_view_anchor"),
        ("/required_changes", json!(["one"]), "a retry or changes"),
        ("/retry_target", json!("implement"), "a retry or changes"),
    ];
    for (pointer, value, expected) in cases {
        let why = unclassified(in_record(&with(review_record(NUMBERED), pointer, value)).decision);
        assert!(why.contains(expected), "{pointer}: {why}");
    }
    let mut twice = review_record(NUMBERED);
    let change = twice["roadmap_closeout"]["status_changes"][0].clone();
    twice["roadmap_closeout"]["status_changes"].as_array_mut().unwrap().push(change);
    assert!(unclassified(in_record(&twice.to_string()).decision).contains("changed twice"));
}

#[test]
fn a_rejection_needs_a_target_and_changes() {
    for (word, target) in [
        ("implement", RetryTarget::Implement),
        ("plan", RetryTarget::Plan),
        ("blocked", RetryTarget::Blocked),
    ] {
        let record = rejected_record(json!({"retry_target": word, "roadmap_closeout": null}));
        let ReviewDecision::Rejected { retry_target, required_changes } =
            in_record(&record.to_string()).decision
        else {
            panic!()
        };
        assert_eq!(
            (retry_target, required_changes.as_slice()),
            (target, &["count from zero".to_owned()][..])
        );
    }
    for (own, expected) in [
        (json!({"retry_target": null}), "without a retry target"),
        (json!({"retry_target": "review"}), "/retry_target"),
        (json!({"required_changes": []}), "without required changes"),
        (json!({"required_changes": [" "]}), "/required_changes/0"),
        (json!({"roadmap_closeout": review_record(NUMBERED)["roadmap_closeout"]}), "must leave it out"),
    ] {
        let why = unclassified(in_record(&rejected_record(own).to_string()).decision);
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_record_that_cannot_be_read_is_a_fault() {
    for (pointer, value, expected) in [
        ("/schema_version", json!("review-record-v2"), "/schema_version"),
        ("/round_id", json!("round-9"), "/round_id"),
        ("/decision", json!("APPROVED"), "/decision"),
        ("/evidence_summary", json!(" "), "/evidence_summary"),
        ("/extracted_item_id", json!(null), "/extracted_item_id"),
    ] {
        let text = with(review_record(NUMBERED), pointer, value);
        let found = sentences(Review::from_record(NUMBERED, &text, None));
        assert!(found.starts_with("review-record.json") && found.contains(expected), "{found}");
    }
}

#[test]
fn the_record_wins_over_the_prose_and_the_difference_is_told() {
    let record = review_record(NUMBERED).to_string();
    let review = Review::from_record(NUMBERED, &record, Some(&rejected("plan"))).unwrap();
    assert!(matches!(review.decision, ReviewDecision::Approved { .. }));
    assert!(review.contradictions[0].contains("review.md says rejected"), "{:?}", review.contradictions);
    for prose in [APPROVED, "no sections at all"] {
        assert_eq!(Review::from_record(NUMBERED, &record, Some(prose)).unwrap().contradictions, [""; 0]);
    }
}

#[test]
fn a_structured_approval_may_say_nothing_about_milestones() {
    let review = Review::from_markdown(APPROVED, "milestone-4").unwrap();
    assert_eq!(review.evidence_summary, "The diff stays in its scope.");
    let ReviewDecision::Approved { closeout } = review.decision else { panic!() };
    assert!(closeout.mode == CloseoutMode::None && !closeout.has_edits());
    let remark = APPROVED
        .replace("- Mode: none", "- Mode: none.")
        .replace("reason: none", "reason: none. This round completes\n  no milestone.");
    assert!(matches!(decided(&remark), ReviewDecision::Approved { .. }));
}

#[test]
fn structured_closeouts_are_read_in_the_words_of_several_authors() {
    let expected = "milestone-4";
    for changes in [
        "- Status changes: selector `milestone-4` to `[done]`",
        "- Status changes: `milestone-4`: in-progress -> done",
        "- Status changes:\n  - milestone-4 from in-progress to [completed].",
        "- Status changes:\n  - Milestone id: milestone-4\n    Expected current status: in-progress\n    Target status: done",
    ] {
        let text =
            APPROVED.replace("Mode: none", "Mode: `status-only`").replace("- Status changes: none", changes);
        let text = text.replace(
            "- Completion pointers: none",
            "- Completion pointers:\n  - `milestone-4`: round-323 closed it\n  - round-323: more of it",
        );
        let text =
            text.replace("- History entries: none", "- History entries: `round-323: closed milestone 4`");
        let ReviewDecision::Approved { closeout } = decided(&text) else { panic!("{:?}", decided(&text)) };
        assert_eq!(closeout.status_changes.len(), 1, "{changes}");
        let change = &closeout.status_changes[0];
        assert_eq!((change.milestone_id.as_str(), change.target_status), (expected, MilestoneStatus::Done));
        let pointers: Vec<&str> = closeout.completion_pointers.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(pointers, ["round-323 closed it", "round-323: more of it"]);
        assert!(closeout.completion_pointers.iter().all(|one| one.anchor_or_milestone == expected));
        assert_eq!(closeout.history_entries[0].text, "round-323: closed milestone 4");
    }
}

#[test]
fn a_structured_rejection_has_target_and_changes() {
    for (word, target) in [
        ("implement", RetryTarget::Implement),
        ("`plan`", RetryTarget::Plan),
        ("blocked.", RetryTarget::Blocked),
    ] {
        let ReviewDecision::Rejected { retry_target, required_changes } = decided(&rejected(word)) else {
            panic!("{:?}", decided(&rejected(word)))
        };
        assert_eq!(retry_target, target);
        assert_eq!(required_changes, ["Span of row one: count from zero.", "Add the test that shows it."]);
    }
}

#[test]
fn structured_reviews_without_classification_say_why() {
    let cut = |from: &str, to: &str| {
        let (start, end) = (APPROVED.find(from).unwrap(), APPROVED.find(to).unwrap());
        format!("{}{}", &APPROVED[..start], &APPROVED[end..])
    };
    for (text, expected) in [
        (cut("### Roadmap Closeout", "### Evidence"), "without a section"),
        (APPROVED.replace("- Mode: none\n", ""), "Mode:"),
        (APPROVED.replace("- Mode: none", "- Mode: maybe"), "must be one of"),
        (APPROVED.replace("- Mode: none", "- Mode: semantic-update-required"), "needs the reason"),
        (
            APPROVED.replace("Status changes: none", "Status changes: `milestone-4` to done"),
            "mode none allows no",
        ),
        (APPROVED.replace("Status changes: none", "Status changes: all"), "a status change is written"),
        (
            APPROVED.replace("- Retry target: none\n- Req", "- Retry target: plan\n- Req"),
            "the retry target is plan",
        ),
        (APPROVED.replace("Required changes: none", "Required changes: rename it"), "changes are required"),
        (APPROVED.replace("- Blocking: no", "- Blocking: yes"), "a finding is blocking"),
        (
            APPROVED
                .replace("Mode: none", "Mode: status-only")
                .replace("Status changes: none", "Status changes: `milestone-4` stays in-progress"),
            "a status change is written",
        ),
        (rejected("none"), "without a retry target"),
        (rejected("review"), "must be one of"),
        (
            cut("### Retry", "### Roadmap Closeout").replace("**APPROVED**", "**REJECTED: no**"),
            "without a retry target",
        ),
    ] {
        let why = unclassified(decided(&text));
        assert!(why.contains(expected), "{expected}: {why}");
    }
}

#[test]
fn a_decision_line_says_exactly_one_thing() {
    for (decision, expected) in [
        ("**APPROVED with remarks**", "exactly APPROVED"),
        ("Approved, I think.", "no line APPROVED"),
        ("**APPROVED**\n\n**REJECTED: no**", "more than one decision"),
        ("**REJECTED**", "exactly APPROVED"),
        ("**REJECTED:**", "needs its reason"),
        ("", "no line APPROVED"),
    ] {
        let found = sentences(Review::from_markdown(&APPROVED.replace("**APPROVED**", decision), "m"));
        assert!(found.starts_with("review.md") && found.contains(expected), "{decision}: {found}");
    }
    for (from, expected) in [
        ("### Evidence", "### Evidence"),
        ("### Checks Run", "### Checks Run"),
        ("### Decision", "### Decision"),
    ] {
        let found = sentences(Review::from_markdown(&APPROVED.replace(from, "### Other"), "m"));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_rejected_review_that_states_a_closeout_stays_rejected_and_is_told() {
    let text = rejected("implement")
        .replace("Mode: none", "Mode: status-only")
        .replace("Status changes: none", "Status changes: milestone-4 to done");
    let review = Review::from_markdown(&text, "milestone-4").unwrap();
    assert!(matches!(review.decision, ReviewDecision::Rejected { .. }));
    assert!(review.contradictions[0].contains("does not count"));
}

#[test]
fn labels_in_code_are_code() {
    let text = APPROVED.replace(
        "- Retry target: none\n- Required changes: none",
        "```\n- Retry target: plan\n```\n- Retry target: none\n- Required changes: none - nothing\n",
    );
    assert!(matches!(decided(&text), ReviewDecision::Approved { .. }), "{:?}", decided(&text));
}

#[test]
fn waivers_are_a_section_or_a_list_that_may_be_absent() {
    let names = |review: &Review| -> Vec<(String, String)> {
        let named = |waiver: &windlass_artifact_formats::gate::Waiver| {
            (waiver.finding.to_string(), waiver.reason.clone())
        };
        review.waivers.iter().map(named).collect()
    };
    let expected = [("test-deleted".to_owned(), "the feature is gone with it".to_owned())];
    let section = "\n### Waivers\n- `test-deleted`: the feature is\n  gone with it\n";
    let markdown = Review::from_markdown(&format!("{APPROVED}{section}"), "milestone-4").unwrap();
    assert_eq!(names(&markdown), expected);
    assert!(names(&Review::from_markdown(APPROVED, "milestone-4").unwrap()).is_empty());
    for wrong in ["- everything: as asked", "- test-deleted:"] {
        let text = format!("{APPROVED}\n### Waivers\n{wrong}\n");
        let found = sentences(Review::from_markdown(&text, "milestone-4"));
        assert!(found.contains("### Waivers"), "{wrong}: {found}");
    }
    let mut approval = review_record(NUMBERED);
    approval["waivers"] = json!([{ "finding": "test-deleted", "reason": "the feature is gone with it" }]);
    assert_eq!(names(&in_record(&approval.to_string())), expected);
    approval["waivers"] = json!([{ "finding": "test-deleted", "reason": " " }]);
    assert!(Review::from_record(NUMBERED, &approval.to_string(), None).is_err());
}

#[test]
fn what_is_marked_as_a_milestone_before_a_pointer_is_one_whether_it_is_known_or_not() {
    let text = APPROVED.replace("Mode: none", "Mode: `status-only`").replace(
        "- Completion pointers: none",
        "- Completion pointers:\n  - `nosuch`: made it\n  - `src/a.rs`: new\n  - `round-7`: more\n  - plainly: said",
    );
    let ReviewDecision::Approved { closeout } = decided(&text) else { panic!("{:?}", decided(&text)) };
    let named: Vec<_> =
        closeout.completion_pointers.iter().map(|one| one.anchor_or_milestone.as_str()).collect();
    let own = named[3];
    assert_eq!(named, ["nosuch", own, own, own]);
    assert_eq!(closeout.completion_pointers[0].text, "made it");
    assert_eq!(closeout.completion_pointers[1].text, "`src/a.rs`: new", "a file is what it points at");
}
