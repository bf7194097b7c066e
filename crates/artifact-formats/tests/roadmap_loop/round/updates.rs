//! Section 13.5: the update document and the review of it.

use windlass_artifact_formats::roadmap_loop::round::{
    ExpectedUpdate, RoadmapUpdate, StatedDecision, UpdateReview, UpdateTrigger, update_artifact,
    update_review_artifact,
};

use super::{NUMBERED, SLUGGED, sentences};

pub(crate) const UPDATE: &str = "### Source Round
- Round id: `round-323`
- Trigger: planner-request
- Merged commit: none
- Evidence: the request of the round

### Roadmap Change
- Roadmap id: 2026-05-18-00-parser
- Prior revision: rev-002
- Proposed revision: rev-003
- Files changed:
  - `orchestrator/roadmaps/2026-05-18-00-parser/rev-003/roadmap.md`
  - `orchestrator/roadmaps/2026-05-18-00-parser/rev-003/verification.md`

### Rationale
The milestone is split in two.

### State Activation
- Requires state.json roadmap metadata update: yes
- New roadmap_dir when applicable: orchestrator/roadmaps/2026-05-18-00-parser/rev-003
";

const REVIEW: &str = "### Checks Run
- Command: `git diff --check`
  Result: pass

### Roadmap Compliance
- All milestones are kept.

### Decision
APPROVED
";

const EXPECTED: ExpectedUpdate<'static> = ExpectedUpdate {
    source_round_id: NUMBERED,
    trigger: UpdateTrigger::PlannerRequest,
    roadmap_id: "2026-05-18-00-parser",
    prior_revision: "rev-002",
    proposed_revision: "rev-003",
};

#[test]
fn an_update_says_what_the_controller_recorded() {
    let update = RoadmapUpdate::parse(UPDATE, &EXPECTED).unwrap();
    assert_eq!((update.trigger, update.merged_commit.as_deref()), (UpdateTrigger::PlannerRequest, None));
    assert_eq!(update.files_changed.len(), 2);
    assert!(!update.migrates_family(&EXPECTED));
    let merged =
        UPDATE.replace("planner-request", "merged-round").replace("commit: none", "commit: `3be93118`");
    let expected = ExpectedUpdate { trigger: UpdateTrigger::MergedRound, ..EXPECTED };
    assert_eq!(RoadmapUpdate::parse(&merged, &expected).unwrap().merged_commit.as_deref(), Some("3be93118"));
}

#[test]
fn every_slip_of_an_update_is_told() {
    for (from, to, expected) in [
        ("`round-323`", "round-1", "\"Round id:\" must be round-323"),
        ("planner-request", "merged-round", "\"Merged commit:\" is needed"),
        ("commit: none", "commit: 3be93118", "has no merged commit"),
        ("planner-request", "someone", "merged-round, planner-request"),
        ("Prior revision: rev-002", "Prior revision: rev-001", "Prior revision"),
        ("Proposed revision: rev-003", "Proposed revision: rev-004", "Proposed revision"),
        ("update: yes", "update: no", "must say that the state changes"),
        ("parser/rev-003\n", "parser/rev-002\n", "must end with"),
        ("The milestone is split in two.", "", "### Rationale"),
        ("### Source Round", "### Source", "### Source Round"),
    ] {
        let text = if from.ends_with("rev-003\n") {
            UPDATE.strip_suffix(from).map(|rest| format!("{rest}{to}")).unwrap()
        } else {
            UPDATE.replacen(from, to, 1)
        };
        let found = sentences(RoadmapUpdate::parse(&text, &EXPECTED));
        assert!(found.starts_with("roadmap-update.md") && found.contains(expected), "{from}: {found}");
    }
    assert!(
        sentences(RoadmapUpdate::parse(UPDATE, &ExpectedUpdate { source_round_id: SLUGGED, ..EXPECTED }))
            .contains(SLUGGED)
    );
}

#[test]
fn the_review_of_an_update_decides_in_one_line() {
    let review = UpdateReview::parse(REVIEW).unwrap();
    assert_eq!((review.decision, review.family_migration), (StatedDecision::Approved, None));
    let rejected = REVIEW.replace("APPROVED", "REJECTED: lane two vanished; bring it back");
    assert_eq!(
        UpdateReview::parse(&rejected).unwrap().decision,
        StatedDecision::Rejected("lane two vanished; bring it back".to_owned())
    );
    let moved = REVIEW.replace("are kept.\n", "are kept.\n- Family migration: `2026-06-01-00-next`\n");
    assert_eq!(UpdateReview::parse(&moved).unwrap().family_migration.as_deref(), Some("2026-06-01-00-next"));
    for decision in ["approved", "APPROVED, mostly", "REJECTED", "REJECTED:", "APPROVED\n\nREJECTED: no"] {
        let found = sentences(UpdateReview::parse(&REVIEW.replace("APPROVED", decision)));
        assert!(found.starts_with("roadmap-update-review.md") && found.contains("### Decision"), "{found}");
    }
}

#[test]
fn the_documents_have_their_names() {
    assert_eq!(update_artifact(SLUGGED), format!("orchestrator/roadmap-updates/{SLUGGED}-roadmap-update.md"));
    assert_eq!(
        update_review_artifact(NUMBERED),
        "orchestrator/roadmap-updates/round-323-roadmap-update-review.md"
    );
}
