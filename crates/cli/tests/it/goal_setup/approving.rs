//! A person's yes at L1: to exactly one tree, committed and nothing more.

use super::*;

impl Place {
    fn approve(&self, run: &str, more: &[&str]) -> Output {
        self.world.windlass(&[&["approve", run], more].concat())
    }

    /// Subjects of the loop's branch, the newest first.
    fn subjects(&self, branch: &str) -> Vec<String> {
        let text = self.repository.git(&["log", "--format=%s", &format!("main..{branch}")]);
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn an_approval_commits_the_tree_and_rests_and_go_on_begins_the_next_item() {
    let place = Place::set_up("F001, F002", "L1");
    let _ = place.build(&[]).exits_with(11);
    let (run, tree) = place.proposed();
    let rested = place.approve(&run, &["--tree", &tree]).exits_with(11).stdout;
    assert!(
        rested.contains("iteration 1 is done") && rested.contains(&format!("next: windlass resume {run}")),
        "{rested}"
    );
    assert_eq!(place.subjects("goal/f001-f002-1").len(), 1, "one item, one commit");
    assert_eq!(place.repository.git(&["show", "goal/f001-f002-1:hello.txt"]).trim(), "hello");
    assert!(place.check(&[])["open_run"].is_string(), "a paused run is open");

    let _ = place.world.windlass(&["resume", &run]).exits_with(11);
    let (_, second) = place.proposed();
    assert_ne!(second, tree);
    let done = place.approve(&run, &["--tree", &second[..10], "--go-on"]).exits_with(0).stdout;
    assert!(done.contains("SUCCESS") && done.contains("read these"), "{done}");
    assert_eq!(place.subjects("goal/f001-f002-1").len(), 3, "two items and the summary");
    assert!(place.check(&[])["open_run"].is_null());
}

#[test]
fn a_yes_with_go_on_builds_the_next_item_at_once() {
    let place = Place::set_up("F001, F002", "L1");
    let _ = place.build(&[]).exits_with(11);
    let (run, tree) = place.proposed();
    let next = place.approve(&run, &["--tree", &tree, "--go-on"]).exits_with(11).stdout;
    assert!(next.contains("F002 — Bye waits for your word on its change"), "{next}");
}

#[test]
fn a_worktree_that_changed_since_voids_the_approval_and_nothing_is_recorded() {
    let place = Place::set_up("F001", "L1");
    let _ = place.build(&[]).exits_with(11);
    let (run, tree) = place.proposed();
    let facts = place.world.windlass(&["log", &run, "--json"]).exits_with(0).stdout;
    let worktree = place.repository.path().join(format!(".orchestrator/goal/{run}/worktrees/builder"));
    std::fs::write(worktree.join("hello.txt"), "something else").unwrap();
    let refused = place.approve(&run, &["--tree", &tree]);
    assert_refused(
        &refused,
        "WL-RUN-004",
        &[&format!("tree {tree} was verified, and the builder's worktree holds tree")],
    );
    let other = place.approve(&run, &["--tree", "0123456789"]);
    assert_refused(&other, "WL-RUN-004", &["not with tree 0123456789"]);
    assert_eq!(place.world.windlass(&["log", &run, "--json"]).exits_with(0).stdout, facts);
    std::fs::write(worktree.join("hello.txt"), "hello\n").unwrap();
    let _ = place.approve(&run, &["--tree", &tree]).exits_with(0);
    assert_eq!(place.repository.git(&["show", "goal/f001-1:hello.txt"]).trim(), "hello");
}

#[test]
fn a_no_is_told_to_the_next_builder_and_counts_as_rework() {
    let place = Place::set_up("F001", "L1");
    let _ = place.build(&[]).exits_with(11);
    let (run, _) = place.proposed();
    let _ = place.world.windlass(&["reject", &run, "--reason", "say it louder"]).exits_with(11);
    let status = place.goal("status", &["--json"]).exits_with(0).json();
    assert_eq!(status["report"]["items"][0]["rework"], 1);
    assert_eq!(status["report"]["items"][0]["causes"], serde_json::json!(["say it louder"]));
    assert_eq!(
        place.repository.git(&["rev-parse", "goal/f001-1"]),
        place.repository.git(&["rev-parse", "main"])
    );
}

#[test]
fn work_taken_over_is_handed_back_verified_and_proposed_again() {
    let place = Place::set_up("F001", "L1");
    let _ = place.build(&[]).exits_with(11);
    let (run, first) = place.proposed();
    let taken = place.world.windlass(&["take-over", &run, "--json"]).exits_with(0).json();
    let worktree = std::path::PathBuf::from(taken["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(worktree.join("hello.txt")).unwrap(), "hello\n");
    std::fs::write(worktree.join("hello.txt"), "hello by hand\n").unwrap();
    let again = place.world.windlass(&["hand-back", &run]).exits_with(11).stdout;
    assert!(again.contains("waits for your word on its change"), "{again}");
    let (_, second) = place.proposed();
    assert_ne!(second, first);
    let _ = place.approve(&run, &["--tree", &second]).exits_with(0);
    assert_eq!(place.repository.git(&["show", "goal/f001-1:hello.txt"]).trim(), "hello by hand");
}
