//! Agents that do not get on: what is tried, in which order, and what stands in the state when nothing lawful is left.

use super::plane::{Style, verification};
use super::play::{Decision, NOTES, Play, Work, shell, write};
use super::scene::{Scene, assert_because};

const BLOCKED: u8 = 11;

#[test]
fn a_planner_that_leaves_nothing_is_looked_into_replaced_and_told_of_in_the_state() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let silent = Play::default().step(Work("plan", 1, None), &[]).investigates("round-001", "same-mechanism");
    let outcome = scene.ends(&silent, BLOCKED);
    assert_because(&outcome, "round-001");
    let works = scene.works();
    let asked: Vec<&str> = works.iter().map(String::as_str).collect();
    // Sent back once, tried again, looked into, tried again, by a fresh one; then a person.
    assert_eq!(
        asked,
        ["plan 1 1", "plan 1 2", "plan 1 3", "investigate 1 1", "plan 1 4", "plan 1 5"],
        "{}",
        scene.log()
    );
    assert!(
        scene.prompt("plan-1-4").contains("tell the next one to write every file"),
        "{}",
        scene.prompt("plan-1-4")
    );
    assert!(scene.prompt("investigate-1-1").contains("neither a plan nor a request"));
    let state = scene.state();
    assert_eq!(state["controller_stage"], "blocked");
    let told = state["resume_errors"]["controller"].as_str().unwrap_or_default();
    assert!(told.contains("round-001") && told.contains("planning"), "{state:#}");
    scene.assert_sound();

    // Blockage is a position to leave: the next run goes on with the same round, branch and worktree.
    scene.completes(&Play::default().well(&cut));
    assert_eq!(scene.merged_rounds(), ["round-001"]);
}

#[test]
fn an_investigator_that_sees_nothing_left_ends_it() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let play = Play::default()
        .plans(&cut)
        .step(Work("implement", 1, None), &["{ exit = 3 }".to_owned()])
        .investigates("round-001", "escalate");
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "it was forgotten");
    assert!(scene.works().contains(&"investigate 1 1".to_owned()), "{:?}", scene.works());
    assert_eq!(scene.state()["active_rounds"][0]["stage"], "blocked");

    // A person mended it in the worktree; what lies there counts as soon as it is asked for again.
    let mended = Play::default().well(&cut);
    let agent = scene.agent(&mended);
    let _ = scene
        .world
        .windlass(&["roadmap", "run", "--repo", scene.repository.text(), "--agent", &agent])
        .exits_with(0);
    scene.assert_complete();
}

#[test]
fn rejected_again_and_again_a_pattern_is_looked_into_and_then_a_person_is_asked() {
    let scene = Scene::small(Style::Markdown);
    let dir = scene.style.dir("rev-001");
    scene.repository.write(&format!("{dir}/verification.md"), &verification("- Review cycles: 1"));
    scene.repository.commit("fewer cycles");
    let cut = scene.cut("round-001", "m-1");
    let play = Play::default()
        .plans(&cut)
        .implements(&cut)
        .reviews(&cut, None, &Decision::Rejected("implement"))
        .investigates("round-001", "same-mechanism");
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "rejected");
    let works = scene.works();
    assert_eq!(works.iter().filter(|work| work.starts_with("investigate")).count(), 1, "{works:?}");
    assert_eq!(works.iter().filter(|work| work.starts_with("review")).count(), 3, "{works:?}");
    assert!(scene.merged_rounds().is_empty());
    scene.assert_sound();
}

#[test]
fn work_that_was_left_before_an_agent_died_is_kept_for_the_next() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let half = [write("src/round-001.txt", "m-1 works\n"), "{ crash = \"KILL\" }".to_owned()];
    let rest = [shell("test -f src/round-001.txt"), write(&cut.file("implementation-notes.md"), NOTES)];
    let done = Decision::Approved(super::play::Closeout::Done { from: "pending" });
    let play = Play::default()
        .plans(&cut)
        .step(Work("implement", 1, Some(1)), &half)
        .step(Work("implement", 1, None), &rest)
        .reviews(&cut, None, &done);
    scene.completes(&play);
    assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
}
