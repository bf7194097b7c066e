//! One round after the other: planned, made, reviewed, merged, and what rejections and malformed files come to.

use super::plane::{STATE, Style, milestone};
use super::play::{Closeout, Cut, Decision, NOTES, Play, Work, direct_notes, write, writes};
use super::scene::{Scene, assert_because};

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const BLOCKED: u8 = 11;

#[test]
fn two_milestones_of_records_are_reached_one_after_the_other() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2").after("m-1")]);
    scene.edit_state(|state| state["kept_by_nobody"] = "as it is".into());
    let (first, second) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
    scene.completes(&Play::default().well(&first).well(&second));

    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
    assert_eq!(scene.subjects().len(), 2, "one squash commit for each round: {:?}", scene.subjects());
    let works = ["plan 1 1", "implement 1 1", "review 1 1", "plan 2 1", "implement 2 1", "review 2 1"];
    assert_eq!(scene.works(), works);
    assert_eq!(scene.merged("src/round-002.txt"), "m-2 works");
    let roadmap = scene.merged(&format!("{}/roadmap.md", scene.style.dir("rev-001")));
    assert!(roadmap.contains("### [done] 2. Reach m-2"), "{roadmap}");
    assert!(roadmap.contains("#### Completion Pointers: m-2\n\n- round-002: m-2 works"), "{roadmap}");
    let view = scene.merged(&format!("{}/roadmap-view.json", scene.style.dir("rev-001")));
    assert!(view.contains("### [done] 2. Reach m-2"), "the selector moves with the heading: {view}");
    let history = scene.merged("orchestrator/roadmaps/2026-05-18-00-session-loader/roadmap-history.md");
    assert!(history.contains("- round-001 reached m-1\n- round-002 reached m-2"), "{history}");
    let closeout: serde_json::Value =
        serde_json::from_str(&scene.merged("orchestrator/rounds/round-002/closeout-record.json")).unwrap();
    assert_eq!((&closeout["status"], &closeout["round_id"]), (&"applied".into(), &"round-002".into()));
    assert_eq!(closeout["base_revision"], scene.repository.git(&["rev-parse", "main~1"]));
    assert_eq!(scene.state()["kept_by_nobody"], "as it is");
    assert!(!scene.merged(STATE).contains("\"done\""), "the state is in no commit of a round");
    let message = scene.repository.git(&["log", "-1", "--format=%B", "main"]);
    assert!(message.contains("round-002") && message.contains("m-2-a"), "{message}");
    assert!(scene.prompt("plan-2-1").contains("You are the planner of this repository."));
}

#[test]
fn structured_markdown_is_run_and_written_back_as_it_is() {
    let scene =
        Scene::of(Style::Markdown, &[milestone("lexer").with_status("in-progress"), milestone("parser")]);
    let (first, second) = (scene.cut("round-001", "lexer"), scene.cut("round-002", "parser"));
    let bounded = scene.cut("round-003", "parser");
    let done = Decision::Approved(Closeout::Done { from: "in-progress" });
    let play = Play::default().plans(&first).implements(&first).reviews(&first, None, &done);
    let nothing = Decision::Approved(Closeout::Nothing);
    let play = play.plans(&second).implements(&second).reviews(&second, None, &nothing).well(&bounded);
    scene.completes(&play);

    assert_eq!(scene.merged_rounds(), ["round-001", "round-002", "round-003"]);
    let roadmap = scene.merged(&format!("{}/roadmap.md", scene.style.dir("rev-001")));
    assert!(roadmap.contains("- Risk owner: the lexer team"), "unknown labels are kept: {roadmap}");
    assert!(roadmap.contains("round-001: lexer works"), "{roadmap}");
    let rounds = scene.repository.git(&["ls-tree", "-r", "--name-only", "main", "orchestrator/rounds/"]);
    assert!(rounds.contains("round-001/merge.md") && !rounds.contains(".json"), "no records: {rounds}");
    assert!(!scene.is_merged(&format!("{}/roadmap-view.json", scene.style.dir("rev-001"))));
}

#[test]
fn a_simple_round_is_its_planners_alone() {
    let scene = Scene::small(Style::Markdown);
    let cut = Cut { complexity: "simple", ..scene.cut("round-001", "m-1") };
    let mut made = writes(&cut.plan());
    made.push(write("src/round-001.txt", "m-1 works\n"));
    let unproven = [made.clone(), vec![write(&cut.file("implementation-notes.md"), NOTES)]].concat();
    made.push(write(
        &cut.file("implementation-notes.md"),
        &direct_notes(&cut, Closeout::Done { from: "pending" }),
    ));
    let play =
        Play::default().step(Work("plan", 1, Some(1)), &unproven).step(Work("plan", 1, Some(2)), &made);
    scene.completes(&play);
    assert_eq!(
        scene.works(),
        ["plan 1 1", "plan 1 2"],
        "evidence that does not prove is sent back, nobody else is asked"
    );
    assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
    assert!(scene.prompt("plan-1-2").contains("Direct Verification"), "{}", scene.prompt("plan-1-2"));
}

#[test]
fn rejections_go_where_the_reviewer_sends_them() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let play = Play::default()
            .plans(&cut)
            .implements(&cut)
            .reviews(&cut, Some(1), &Decision::Rejected("implement"))
            .reviews(&cut, Some(2), &Decision::Rejected("plan"))
            .reviews(&cut, Some(3), &DONE);
        scene.completes(&play);
        let works = [
            "plan 1 1",
            "implement 1 1",
            "review 1 1",
            "implement 1 2",
            "review 1 2",
            "plan 1 2",
            "implement 1 3",
            "review 1 3",
        ];
        assert_eq!(scene.works(), works, "{style:?}");
        assert_eq!(scene.merged_rounds(), ["round-001"], "one round, one branch, one commit");
        for told in ["implement-1-2", "plan-1-2"] {
            assert!(scene.prompt(told).contains("Say the right thing."), "{told}: {}", scene.prompt(told));
        }
    }
}

#[test]
fn a_review_that_blocks_is_told_in_the_state_and_resume_leaves_the_blockage() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let play = Play::default()
        .plans(&cut)
        .implements(&cut)
        .reviews(&cut, Some(1), &Decision::Rejected("blocked"))
        .reviews(&cut, Some(2), &DONE);
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "Say the right thing.");
    let state = scene.state();
    assert_eq!(
        (&state["controller_stage"], &state["active_rounds"][0]["stage"]),
        (&"blocked".into(), &"blocked".into())
    );
    let told = state["resume_errors"]["controller"].as_str().unwrap_or_default();
    assert!(told.contains("round-001") && told.contains("Say the right thing."), "{state:#}");
    assert!(scene.subjects().is_empty(), "nothing was merged");
    scene.assert_sound();

    let _ = scene.about("resume", &[]).exits_with(0);
    assert_eq!(scene.works().last().map(String::as_str), Some("review 1 2"));
    scene.assert_complete();
}

#[test]
fn an_approval_that_classifies_nothing_is_reviewed_again() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let mut files = cut.review(&DONE);
    let (start, rest) = files[0].1.split_once("### Roadmap Closeout").unwrap();
    files[0].1 = format!("{start}### Evidence{}", rest.split_once("### Evidence").unwrap().1);
    let play = Play::default()
        .plans(&cut)
        .implements(&cut)
        .step(Work("review", 1, Some(1)), &writes(&files))
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1", "review 1 2"]);
    assert!(scene.log().contains("round-001"), "{}", scene.log());
}

#[test]
fn malformed_artifacts_are_sent_back_once_with_their_faults() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let mut planned = cut.plan();
    planned[1].1 = planned[1].1.replace("\"m-1-a\"", "\"m-9-z\"");
    let mut review = cut.review(&DONE);
    review[1].1 = review[1].1.replace("review-record-v3", "review-record-v9");
    let play = Play::default()
        .step(Work("plan", 1, Some(1)), &writes(&planned))
        .step(Work("plan", 1, None), &writes(&cut.plan()))
        .step(Work("implement", 1, Some(1)), &[write("src/round-001.txt", "m-1 works\n")])
        .step(Work("implement", 1, None), &[write(&cut.file("implementation-notes.md"), NOTES)])
        .step(Work("review", 1, Some(1)), &writes(&review))
        .step(Work("review", 1, None), &writes(&cut.review(&DONE)));
    scene.completes(&play);
    let works = ["plan 1 1", "plan 1 2", "implement 1 1", "implement 1 2", "review 1 1", "review 1 2"];
    assert_eq!(scene.works(), works);
    assert!(scene.prompt("plan-1-2").contains("m-9-z"), "{}", scene.prompt("plan-1-2"));
    assert!(scene.prompt("implement-1-2").contains("implementation-notes.md"));
    assert!(scene.prompt("review-1-2").contains("review-record-v9"), "{}", scene.prompt("review-1-2"));
    assert_eq!(scene.merged("src/round-001.txt"), "m-1 works", "what was made before the repair is kept");
}
