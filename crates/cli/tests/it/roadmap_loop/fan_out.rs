//! Work that is shared out: workers in worktrees of their own, each in its scope, brought together by an integrator.

use super::plane::Style;
use super::play::{Closeout, Decision, HANDOFF, NOTES, Play, Work, write};
use super::scene::{Scene, assert_because};

const BLOCKED: u8 = 11;
const WORKERS: [(&str, &str); 2] = [("lexer", "src/lexer"), ("parser", "src/parser")];
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

#[test]
fn shares_are_made_side_by_side_and_integrated() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
        let mut play = Play::default().plans(&cut).integrates(&cut).reviews(&cut, None, &DONE);
        for share in WORKERS {
            play = play.shares(&cut, share);
        }
        scene.completes(&play);
        let mut works = scene.works();
        works[1..3].sort();
        assert_eq!(
            works,
            ["plan 1 1", "lexer 1 1", "parser 1 1", "integrate 1 1", "review 1 1"],
            "{style:?}"
        );
        assert_eq!(scene.merged("src/lexer/lexer.txt"), "lexer was here");
        assert_eq!(scene.merged("src/parser/parser.txt"), "parser was here");
        assert_eq!(scene.merged_rounds(), ["round-001"]);
        assert!(scene.prompt("lexer-1-1").contains("src/lexer"), "{}", scene.prompt("lexer-1-1"));
    }
}

#[test]
fn what_a_worker_writes_outside_of_its_scope_is_put_back_and_told() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let own = |name: &str| cut.file(&format!("workers/lexer/{name}"));
    let trespass = [
        write("src/parser/stolen.txt", "mine\n"),
        write("src/main.txt", "mine\n"),
        write(&cut.file("plan.md"), "mine\n"),
        write("src/lexer/lexer.txt", "lexer was here\n"),
        write(&own("implementation-notes.md"), NOTES),
        write(&own("handoff.md"), HANDOFF),
    ];
    let play = Play::default()
        .plans(&cut)
        .step(Work("lexer", 1, None), &trespass)
        .shares(&cut, WORKERS[1])
        .integrates(&cut)
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    assert_eq!(scene.merged("src/main.txt"), "one\ntwo\nthree");
    assert!(!scene.is_merged("src/parser/stolen.txt"));
    assert!(scene.merged(&cut.file("plan.md")).contains("### Selected Extraction"));
    let log = scene.log();
    assert!(log.contains("src/main.txt") && log.contains("src/parser/stolen.txt"), "{log}");
}

#[test]
fn a_worker_that_is_blocked_blocks_its_round_with_its_words() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let own = |name: &str| cut.file(&format!("workers/lexer/{name}"));
    let stuck =
        HANDOFF.replace("Status: ready", "Status: blocked").replace("Blocker: none", "Blocker: no grammar");
    let stuck = [write(&own("implementation-notes.md"), NOTES), write(&own("handoff.md"), &stuck)];
    let play = Play::default()
        .plans(&cut)
        .step(Work("lexer", 1, None), &stuck)
        .shares(&cut, WORKERS[1])
        .investigates("round-001", "same-mechanism");
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "no grammar");
    assert!(!scene.works().iter().any(|work| work.starts_with("integrate")), "{:?}", scene.works());
    let state = scene.state();
    assert!(
        state["resume_errors"]["controller"].as_str().is_some_and(|text| text.contains("no grammar")),
        "{state:#}"
    );
    scene.assert_sound();

    // The share is made after all, and only it is asked for again.
    let rest = Play::default().shares(&cut, WORKERS[0]).integrates(&cut).reviews(&cut, None, &DONE);
    scene.completes(&rest);
    assert_eq!(
        scene.works().iter().filter(|work| work.starts_with("parser")).count(),
        1,
        "{:?}",
        scene.works()
    );
}
