//! A review counts if a reviewer came to its end over it. What an implementer, a planner or a reviewer that was stopped left in
//! its place is kept in the branch's history, and the reviewer is asked.

use super::overtaking::kill_at;
use super::plane::{Style, milestone};
use super::play::{Closeout, Cut, Decision, NOTES, Play, Work, direct_notes, shell, write, writes};
use super::scene::Scene;
use super::taken_up::stays_at;
use windlass_test_support::wait_until;

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const STYLES: [Style; 2] = [Style::Records, Style::Markdown];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Stopped,
    Killed,
}

/// Plays this until somebody is at work who comes to no end, and ends it there.
fn ended(scene: &Scene, play: &Play, how: Ended) {
    if how == Ended::Killed {
        kill_at(scene, play, "at");
        return;
    }
    let words = scene.words(play);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let running = scene.world.start_windlass(&words);
    wait_until("the agent to be at work", || scene.world.shared("at").exists().then_some(()));
    let _ = scene.about("stop", &[]).exits_with(0);
    let _ = running.wait();
    let inspect = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let found = scene.world.windlass(&inspect).exits_with(0).json();
    let resume = format!("windlass resume {}", scene.run_id());
    assert_eq!(found["next_steps"], serde_json::json!([resume]), "who was at work is known there");
}

fn reviews(scene: &Scene) -> usize {
    scene.works().iter().filter(|work| work.starts_with("review 1")).count()
}

#[test]
fn an_implementer_that_was_ended_over_an_approval_of_its_own_approved_nothing() {
    for (style, how) in
        STYLES.into_iter().flat_map(|style| [Ended::Stopped, Ended::Killed].map(|how| (style, how)))
    {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let no = Decision::Rejected("implement");
        let forged = stays_at(writes(&cut.review(&DONE)));
        let play = Play::default()
            .plans(&cut)
            .step(Work("implement", 1, Some(2)), &forged)
            .implements(&cut)
            .reviews(&cut, None, &no);
        ended(&scene, &play, how);
        let before = reviews(&scene);
        scene.completes(&Play::default().well(&cut));
        assert_eq!(reviews(&scene), before + 1, "{style:?} {how:?}: {:?}", scene.works());
        let forged = cut.review(&DONE)[0].0.clone();
        let kept = scene.repository.git(&["log", "--format=%s", "--all", "--", &forged]);
        assert!(kept.contains("set an earlier review aside"), "{kept}");
    }
}

#[test]
fn what_a_planner_committed_with_a_review_is_reviewed() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let mut all = writes(&cut.plan());
    all.push(write("src/round-001.txt", "m-1 works\n"));
    all.push(write(&cut.file("implementation-notes.md"), NOTES));
    all.extend(writes(&cut.review(&DONE)));
    all.push(shell("git add -A && git -c user.name=z -c user.email=z@z commit -qm all"));
    ended(&scene, &Play::default().step(Work("plan", 1, None), &stays_at(all)), Ended::Stopped);
    scene.completes(&Play::default().well(&cut));
    assert_eq!(reviews(&scene), 1, "{:?}", scene.works());
}

#[test]
fn the_draft_of_a_reviewer_that_was_ended_is_no_decision() {
    for (style, how) in [(Style::Records, Ended::Stopped), (Style::Markdown, Ended::Killed)] {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let draft = stays_at(writes(&cut.review(&DONE)));
        let play = Play::default().plans(&cut).implements(&cut).step(Work("review", 1, None), &draft);
        ended(&scene, &play, how);
        scene.completes(&Play::default().well(&cut));
        let works = ["plan 1 1", "implement 1 1", "review 1 1", "review 1 1"];
        assert_eq!(scene.works(), works, "{style:?} {how:?}");
    }
}

#[test]
fn a_planner_that_was_ended_over_its_own_proof_is_asked_again() {
    let scene = Scene::small(Style::Markdown);
    let cut = Cut { complexity: "simple", ..scene.cut("round-001", "m-1") };
    let mut left = writes(&cut.plan());
    left.push(write("src/round-001.txt", "m-1 works\n"));
    let notes = direct_notes(&cut, Closeout::Done { from: "pending" });
    left.push(write(&cut.file("implementation-notes.md"), &notes));
    ended(&scene, &Play::default().step(Work("plan", 1, None), &stays_at(left.clone())), Ended::Killed);
    scene.completes(&Play::default().step(Work("plan", 1, None), &left));
    assert_eq!(scene.works(), ["plan 1 1", "plan 1 1"]);
}

#[test]
fn a_status_that_a_person_committed_meanwhile_is_shown_to_the_reviewer_that_is_asked_again() {
    for style in STYLES {
        let scene = Scene::of(style, &[milestone("m-1")]);
        let cut = scene.cut("round-001", "m-1");
        let dir = style.dir("rev-001");
        let edit = shell(&format!(
            "cd {} && sed -i -e 's/\\[pending\\]/[in-progress]/' -e 's/\"pending\"/\"in-progress\"/' {dir}/roadmap* && git \
             -c user.name=p -c user.email=p@p commit -qm begun -- {dir}",
            scene.repository.text()
        ));
        let mut first = writes(&cut.review(&DONE));
        first.push(edit);
        let begun = Decision::Approved(Closeout::Done { from: "in-progress" });
        let play = Play::default()
            .plans(&cut)
            .implements(&cut)
            .step(Work("review", 1, Some(1)), &first)
            .reviews(&cut, Some(2), &begun);
        let words = scene.words(&play);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--sandbox", "off"]).collect();
        let _ = scene.world.windlass(&words).exits_with(0);
        scene.assert_complete();
        assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1", "review 1 2"], "{style:?}");
        let asked = scene.prompt("review-1-2");
        assert!(asked.contains("Judge the work together with it"), "{asked}");
        assert!(!asked.contains("Make the work fit it again"), "{asked}");
    }
}
