//! Rounds that another controller left, taken up where their files prove that they stand. Row numbers are those of the
//! resume rules in the contract of roadmap loops.

use super::plane::{Style, milestone, round_record};
use super::play::{Closeout, Cut, Decision, NOTES, Play, request};
use super::scene::{Scene, assert_because};
use serde_json::{Value, json};

const BLOCKED: u8 = 11;
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
/// As a person names a round, not as the controller does.
const SLUGGED: &str = "round-02-session-loader";
const BRANCH: &str = "orchestrator/round-02-session-loader";

/// What lies in the round's worktree.
enum Left {
    Nothing,
    Plan,
    Notes,
    Review(Decision),
    Request,
}

struct Found {
    scene: Scene,
    cut: Cut,
}

/// A plane with one live round that somebody else brought so far.
fn found(style: Style, stage: &str, left: &Left) -> Found {
    let scene = Scene::small(style);
    let cut = scene.cut(SLUGGED, "m-1");
    let worktree = format!("orchestrator/worktrees/{SLUGGED}");
    scene.repository.git(&["worktree", "add", "-q", "-b", BRANCH, &worktree]);
    let notes = (cut.file("implementation-notes.md"), NOTES.to_owned());
    let code = (format!("src/{SLUGGED}.txt"), "m-1 works\n".to_owned());
    let files: Vec<(String, String)> = match left {
        Left::Nothing => Vec::new(),
        Left::Plan => cut.plan(),
        Left::Notes => [cut.plan(), vec![notes, code]].concat(),
        Left::Review(decision) => [cut.plan(), vec![notes, code], cut.review(decision)].concat(),
        Left::Request => vec![(cut.file("roadmap-update-request.md"), request(&cut))],
    };
    for (path, text) in files {
        scene.repository.write(&format!("{worktree}/{path}"), &text);
    }
    scene.repository.git(&["-C", &worktree, "add", "--all"]);
    scene.repository.git(&["-C", &worktree, "commit", "-q", "--allow-empty", "-m", "so far"]);
    scene.edit_state(|state| state["active_rounds"] = json!([round_record(SLUGGED, stage, BRANCH)]));
    Found { scene, cut }
}

impl Found {
    /// Runs to completion; comes back with who was asked.
    #[track_caller]
    fn completes(&self) -> Vec<String> {
        self.scene.completes(&Play::default().well(&self.cut));
        assert_eq!(self.scene.merged_rounds(), [SLUGGED]);
        self.scene.works()
    }

    fn remove_worktree(&self) {
        let worktree = format!("orchestrator/worktrees/{SLUGGED}");
        self.scene.repository.git(&["worktree", "remove", "--force", &worktree]);
    }
}

#[test]
fn rows_5_and_8_a_live_round_goes_on_at_its_stage() {
    assert_eq!(
        found(Style::Records, "plan", &Left::Nothing).completes(),
        ["plan 2 1", "implement 2 1", "review 2 1"]
    );
    assert_eq!(found(Style::Markdown, "implement", &Left::Plan).completes(), ["implement 2 1", "review 2 1"]);
    assert_eq!(found(Style::Records, "review", &Left::Notes).completes(), ["review 2 1"]);
}

#[test]
fn row_6_a_worktree_that_is_gone_is_made_again_from_its_branch() {
    let found = found(Style::Records, "review", &Left::Notes);
    found.remove_worktree();
    assert_eq!(found.completes(), ["review 2 1"]);
    assert_eq!(found.scene.merged(&format!("src/{SLUGGED}.txt")), "m-1 works");
}

#[test]
fn row_7_a_branch_that_is_gone_is_told_and_nothing_is_invented() {
    let found = found(Style::Markdown, "implement", &Left::Plan);
    found.remove_worktree();
    found.scene.repository.git(&["branch", "-q", "-D", BRANCH]);
    let outcome = found.scene.ends(&Play::default().well(&found.cut), BLOCKED);
    assert_because(&outcome, BRANCH);
    assert!(found.scene.works().is_empty());
    let state = found.scene.state();
    assert!(
        state["resume_errors"]["controller"].as_str().is_some_and(|text| text.contains(BRANCH)),
        "{state:#}"
    );
}

#[test]
fn row_9_a_request_alone_leads_to_the_roadmap_update() {
    let found = found(Style::Markdown, "plan", &Left::Request);
    let milestones = [milestone("m-1")];
    let play = Play::default()
        .revises(Style::Markdown, (SLUGGED, "planner-request"), (None, &milestones))
        .reviews_update(SLUGGED, None, "APPROVED")
        .well(&found.scene.cut("round-003", "m-1").in_revision("rev-002"));
    found.scene.completes(&play);
    assert_eq!(found.scene.merged_rounds(), ["round-003"], "the number of the asking round stays used");
    assert_eq!(found.scene.works()[..2], ["author-update 2 1", "review-update 2 1"]);
}

#[test]
fn rows_11_and_21_blockage_is_left_for_the_stage_that_the_files_prove() {
    for (left, asked) in [(Left::Plan, &["implement 2 1", "review 2 1"][..]), (Left::Notes, &["review 2 1"])]
    {
        let found = found(Style::Records, "blocked", &left);
        found.scene.edit_state(|state| {
            state["controller_stage"] = "blocked".into();
            state["resume_errors"] = json!({ "controller": "nobody answered" });
            state["active_rounds"][0]["resume_error"] = "nobody answered".into();
        });
        assert_eq!(found.completes(), asked);
    }
}

#[test]
fn row_14_a_round_to_finalize_without_its_review_goes_back_to_review() {
    assert_eq!(found(Style::Records, "finalize-round", &Left::Notes).completes(), ["review 2 1"]);
    let rejected = Left::Review(Decision::Rejected("implement"));
    let works = found(Style::Markdown, "finalize-round", &rejected).completes();
    assert!(works.contains(&"review 2 1".to_owned()), "never merged as it is: {works:?}");
}

#[test]
fn row_15_an_approved_round_is_closed_and_merged_without_asking_anybody() {
    for style in [Style::Records, Style::Markdown] {
        let found = found(style, "finalize-round", &Left::Review(DONE));
        assert_eq!(found.completes(), Vec::<String>::new());
        let roadmap = found.scene.merged(&format!("{}/roadmap.md", style.dir("rev-001")));
        assert!(roadmap.contains(&format!("{SLUGGED}: m-1 works")), "{roadmap}");
    }
}

#[test]
fn row_18_a_round_merged_without_its_closeout_is_an_error_and_is_not_patched() {
    let found = found(Style::Records, "finalize-round", &Left::Review(DONE));
    let repository = &found.scene.repository;
    repository.git(&["merge", "-q", "--squash", BRANCH]);
    repository.git(&["commit", "-qm", "merged by hand", "--", "src", "orchestrator/rounds"]);
    let base = repository.git(&["rev-parse", "main"]);
    let outcome = found.scene.ends(&Play::default().well(&found.cut), BLOCKED);
    assert_because(&outcome, "without the closeout");
    assert_eq!(repository.git(&["rev-parse", "main"]), base);
    assert!(found.scene.works().is_empty());
}

#[test]
fn row_12_an_update_that_another_controller_left_goes_on_where_it_stands() {
    let scene = Scene::small(Style::Markdown);
    let milestones = [milestone("m-1")];
    // Stopped in the middle by its own cap: the update is authored, and nobody reviewed it.
    let authored = Play::default().requests(&scene.cut("round-001", "m-1")).revises(
        Style::Markdown,
        ("round-001", "planner-request"),
        (None, &milestones),
    );
    let output = scene.run(&authored, &[]);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    let state = scene.state();
    assert_eq!(state["roadmap_update"]["trigger"], "planner-request", "{state:#}");
    assert_eq!(state["active_rounds"], json!([]), "the planning round is gone before the update begins");
    let play = Play::default()
        .reviews_update("round-001", None, "APPROVED")
        .well(&scene.cut("round-002", "m-1").in_revision("rev-002"));
    scene.completes(&play);
    let authors = scene.works().iter().filter(|work| work.starts_with("author-update")).count();
    assert_eq!(authors, 1, "{:?}", scene.works());
    assert_eq!(scene.state()["retry"], Value::Null);
}
