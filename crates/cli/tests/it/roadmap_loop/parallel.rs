//! Two rounds at once: which may live beside each other, in which order they are merged, and what a base that moved asks of
//! the later one.

use super::plane::{Milestone, Style, milestone};
use super::play::{Closeout, Cut, Decision, NOTES, Play, Work, shell, write, writes};
use super::scene::Scene;

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

const fn lanes() -> [Milestone; 2] {
    [milestone("m-1").in_lane("left"), milestone("m-2").in_lane("right")]
}

/// Waits until a file is there; gives up after a while, as the test would.
fn wait_for(name: &str) -> String {
    format!("{{ wait_for = \"{name}\" }}")
}

#[test]
fn two_lanes_are_worked_on_side_by_side() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::with_parallel(style, 2, &lanes());
        let (left, right) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
        // The first implementer does not come back before the second began: side by side or never.
        let notes = |cut: &Cut| write(&cut.file("implementation-notes.md"), NOTES);
        let first = [wait_for("began.txt"), write("src/left.txt", "left\n"), notes(&left)];
        let second =
            [shell("touch {script_dir}/began.txt"), write("src/right.txt", "right\n"), notes(&right)];
        let play = Play::default()
            .plans(&left)
            .plans(&right)
            .step(Work("implement", 1, None), &first)
            .step(Work("implement", 2, None), &second)
            .reviews(&left, None, &DONE)
            .reviews(&right, None, &DONE);
        scene.completes(&play);
        assert_eq!(scene.subjects().len(), 2, "{style:?}: {:?}", scene.subjects());
        assert_eq!(
            (scene.merged("src/left.txt"), scene.merged("src/right.txt")),
            ("left".into(), "right".into())
        );
        let works = scene.works();
        let twice = works.iter().filter(|work| work.starts_with("review")).count();
        assert!(twice >= 2, "{works:?}");
    }
}

/// The second round is approved before the first is even built.
pub(crate) fn second_first(first: &Cut, second: &Cut) -> Play {
    let notes = write(&first.file("implementation-notes.md"), NOTES);
    let built = [wait_for("approved.txt"), write("src/round-001.txt", "m-1 works\n"), notes];
    let mut approved = writes(&second.review(&DONE));
    approved.push(shell("touch {script_dir}/approved.txt"));
    Play::default()
        .plans(first)
        .step(Work("implement", 1, None), &built)
        .reviews(first, None, &DONE)
        .plans(second)
        .implements(second)
        .step(Work("review", 2, None), &approved)
}

#[test]
fn a_round_waits_for_the_rounds_and_items_it_names() {
    let scene = Scene::with_parallel(Style::Records, 2, &lanes());
    let first = scene.cut("round-001", "m-1");
    let second = Cut { after_rounds: vec!["round-001"], ..scene.cut("round-002", "m-2") };
    scene.completes(&second_first(&first, &second));
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);

    let scene = Scene::with_parallel(Style::Markdown, 2, &lanes());
    let first = scene.cut("round-001", "m-1").named("the-other");
    let second = Cut { after_items: vec!["the-other"], ..scene.cut("round-002", "m-2") };
    scene.completes(&second_first(&first, &second));
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
    let again = scene.works().iter().filter(|work| work.starts_with("review 2")).count();
    assert_eq!(
        again,
        2,
        "the base moved in code, so the later round is looked at again: {:?}",
        scene.works()
    );
}

#[test]
fn a_merge_order_that_nothing_can_keep_is_sent_back_before_anything_is_built() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let wrong = Cut { after_rounds: vec!["round-999"], after_items: vec!["nobodys"], ..cut.clone() };
    let play = Play::default()
        .step(Work("plan", 1, Some(1)), &writes(&wrong.plan()))
        .plans(&cut)
        .implements(&cut)
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    let prompt = scene.prompt("plan-1-2");
    assert!(prompt.contains("round-999, which is neither merged nor live"), "{prompt}");
    assert!(prompt.contains("nobodys, which is neither merged nor worked on"), "{prompt}");
    assert_eq!(scene.works()[..3], ["plan 1 1", "plan 1 2", "implement 1 1"]);
}

#[test]
fn conflicts_with_the_base_are_the_implementers() {
    let scene = Scene::with_parallel(Style::Records, 2, &lanes());
    let first = scene.cut("round-001", "m-1");
    let second = Cut { after_rounds: vec!["round-001"], ..scene.cut("round-002", "m-2") };
    let notes = |cut: &Cut| write(&cut.file("implementation-notes.md"), NOTES);
    let mut approved = writes(&second.review(&DONE));
    approved.push(shell("touch {script_dir}/approved.txt"));
    let built = [wait_for("approved.txt"), write("src/main.txt", "one\nleft\nthree\n"), notes(&first)];
    let play = Play::default()
        .plans(&first)
        .plans(&second)
        .step(Work("implement", 1, None), &built)
        .step(Work("implement", 2, Some(1)), &[write("src/main.txt", "one\nright\nthree\n"), notes(&second)])
        .step(
            Work("implement", 2, None),
            &[
                shell("grep -q '<<<<<<<' src/main.txt"),
                write("src/main.txt", "one\nboth\nthree\n"),
                notes(&second),
            ],
        )
        .reviews(&first, None, &DONE)
        .step(Work("review", 2, None), &approved);
    scene.completes(&play);
    assert_eq!(scene.merged("src/main.txt"), "one\nboth\nthree");
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
    assert!(scene.works().contains(&"implement 2 2".to_owned()), "{:?}", scene.works());
    assert!(scene.prompt("implement-2-2").contains("src/main.txt"), "{}", scene.prompt("implement-2-2"));
}

#[test]
fn an_item_that_is_worked_on_already_is_refused_and_serial_stays_serial() {
    let scene = Scene::with_parallel(Style::Markdown, 3, &lanes());
    let (left, right) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
    let same = scene.cut("round-002", "m-1").named("item-of-round-001");
    let play = Play::default()
        .plans(&left)
        .implements(&left)
        .reviews(&left, None, &DONE)
        .step(Work("plan", 2, Some(1)), &writes(&same.plan()))
        .step(Work("plan", 2, None), &writes(&right.plan()))
        .implements(&right)
        .reviews(&right, None, &DONE);
    scene.completes(&play);
    assert!(scene.prompt("plan-2-2").contains("item-of-round-001"), "{}", scene.prompt("plan-2-2"));

    // Directions that say serial keep every second round away, whatever the cap; so does --parallel 1.
    for (milestones, more) in
        [([milestone("m-1"), milestone("m-2")], &[][..]), (lanes(), &["--parallel", "1"])]
    {
        let scene = Scene::with_parallel(Style::Records, 2, &milestones);
        let play = Play::default().well(&scene.cut("round-001", "m-1")).well(&scene.cut("round-002", "m-2"));
        let _ = scene.run(&play, more).exits_with(0);
        scene.assert_complete();
        let serial = ["plan 1 1", "implement 1 1", "review 1 1", "plan 2 1", "implement 2 1", "review 2 1"];
        assert_eq!(scene.works(), serial);
    }
}
