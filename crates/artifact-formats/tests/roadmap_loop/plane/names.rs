//! Section 2.1: names are read in both styles and made in one.

use windlass_artifact_formats::roadmap_loop::plane::names::{
    RoadmapIdParts, new_roadmap_id, next_revision, next_round_number, revision_number, roadmap_dir,
    roadmap_id_parts, round_branch, round_id, round_number, round_worktree, update_artifact, update_branch,
    update_review_artifact, update_worktree, worker_branch, worker_worktree,
};

#[test]
fn a_family_gets_the_days_next_ordinal() {
    let taken = ["2026-03-01-00-first", "2026-03-01-04-later", "2026-02-28-09-old", "hand-made"];
    assert_eq!(new_roadmap_id("2026-03-01", "Fast Start!", taken), "2026-03-01-05-fast-start");
    assert_eq!(new_roadmap_id("2026-03-02", "Fast start", taken), "2026-03-02-00-fast-start");
    assert_eq!(
        roadmap_id_parts(taken[1]),
        Some(RoadmapIdParts { date: "2026-03-01", ordinal: 4, slug: "later" })
    );
    for opaque in
        ["hand-made", "2026-03-01-x-y", "2026-03-01-1-y", "2026/03/01-01-y", "2026-03-01-01-", "äöü"]
    {
        assert_eq!(roadmap_id_parts(opaque), None, "{opaque}");
    }
}

#[test]
fn a_revision_follows_every_one_in_use() {
    assert_eq!(next_revision(["rev-001", "rev-010", "notes"]), "rev-011");
    assert_eq!(next_revision([]), "rev-001");
    assert_eq!(next_revision(["rev-999"]), "rev-1000");
    assert_eq!(revision_number("rev-002"), Some(2));
    for other in ["rev-2", "rev-000", "rev-", "rev-0x1", "REV-001", "001"] {
        assert_eq!(revision_number(other), None, "{other}");
    }
    assert_eq!(roadmap_dir("f", "rev-001"), "orchestrator/roadmaps/f/rev-001");
}

#[test]
fn slugged_and_numbered_rounds_are_read() {
    for (name, number) in [
        ("round-323", Some(323)),
        ("round-02-session-loader-boundary", Some(2)),
        ("orchestrator/round-7-x", Some(7)),
        ("orchestrator/worktrees/round-008", Some(8)),
        ("round-12-roadmap-update-review.md", Some(12)),
        ("orchestrator/roadmap-update-round-9-split", Some(9)),
        ("round-", None),
        ("round-x1", None),
        ("round-1x", None),
        ("my-round-1", None),
        ("round-99999999999999999999", None),
    ] {
        assert_eq!(round_number(name), number, "{name}");
    }
}

#[test]
fn the_next_round_is_above_rounds_live_ones_updates_and_branches() {
    let names = ["round-03-done", "round-004", "round-006-roadmap-update.md", "orchestrator/round-5-live"];
    assert_eq!(next_round_number(names), 7, "a cancelled planning round keeps its number");
    assert_eq!(next_round_number([]), 1);
}

#[test]
fn names_follow_the_patterns() {
    assert_eq!(round_id(7, None), "round-007");
    assert_eq!(round_id(1234, Some("Load the session")), "round-1234-load-the-session");
    assert_eq!(round_branch("round-007-x"), "orchestrator/round-007-x");
    assert_eq!(round_worktree("round-007"), "orchestrator/worktrees/round-007");
    assert_eq!(worker_branch("round-001-example", "worker-001"), "orchestrator/round-001-example-worker-001");
    assert_eq!(worker_worktree("round-001", "w"), "orchestrator/worktrees/round-001-w");
    assert_eq!(update_branch("round-9", "Split it"), "orchestrator/roadmap-update-round-9-split-it");
    assert_eq!(update_worktree("round-9"), "orchestrator/worktrees/roadmap-update-round-9");
    assert_eq!(update_artifact("round-9"), "orchestrator/roadmap-updates/round-9-roadmap-update.md");
    assert_eq!(
        update_review_artifact("round-9"),
        "orchestrator/roadmap-updates/round-9-roadmap-update-review.md"
    );
}
