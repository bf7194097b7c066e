//! Work that is shared out: workers in worktrees of their own, each in its scope, brought together by an integrator.

use super::plane::Style;
use super::play::{Closeout, Decision, HANDOFF, NOTES, Play, Work, shell, write, writes};
use super::scene::{Scene, assert_because};

const BLOCKED: u8 = 11;
const WORKERS: [(&str, &str); 2] = [("lexer", "src/lexer"), ("printer", "src/printer")];
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
            ["plan 1 1", "lexer 1 1", "printer 1 1", "integrate 1 1", "review 1 1"],
            "{style:?}"
        );
        assert_eq!(scene.merged("src/lexer/lexer.txt"), "lexer was here");
        assert_eq!(scene.merged("src/printer/printer.txt"), "printer was here");
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
        write("src/printer/stolen.txt", "mine\n"),
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
    assert!(!scene.is_merged("src/printer/stolen.txt"));
    assert!(scene.merged(&cut.file("plan.md")).contains("### Selected Extraction"));
    let log = scene.log();
    assert!(log.contains("src/main.txt") && log.contains("src/printer/stolen.txt"), "{log}");
}

#[test]
fn a_worker_that_is_blocked_blocks_its_round_with_its_words() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let own = |name: &str| cut.file(&format!("workers/lexer/{name}"));
    let stuck =
        HANDOFF.replace("Status: ready", "Status: blocked").replace("Blocker: none", "Blocker: no grammar");
    let stuck = [write(&own("implementation-notes.md"), NOTES), write(&own("handoff.md"), &stuck)];
    // Its branch would be the round's own, `orchestrator/round-001-parser`: that plan is sent back first.
    let clashing = scene.cut("round-001", "m-1").with_workers(&[WORKERS[0], ("parser", "src/parser")]);
    let play = Play::default()
        .step(Work("plan", 1, Some(1)), &writes(&clashing.plan()))
        .plans(&cut)
        .step(Work("lexer", 1, None), &stuck)
        .shares(&cut, WORKERS[1])
        .investigates("round-001", "same-mechanism");
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "no grammar");
    assert!(scene.prompt("plan-1-2").contains("orchestrator/round-001-parser, which is taken"));
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
        scene.works().iter().filter(|work| work.starts_with("printer")).count(),
        1,
        "{:?}",
        scene.works()
    );
}

#[test]
fn a_handoff_without_its_form_is_sent_back_with_file_line_and_what_is_wanted() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let own = |name: &str| cut.file(&format!("workers/lexer/{name}"));
    let vague = HANDOFF.replace("Status: ready", "Status: almost");
    let left = |handoff: &str| {
        [
            write("src/lexer/lexer.txt", "lexer was here\n"),
            write(&own("implementation-notes.md"), NOTES),
            write(&own("handoff.md"), handoff),
        ]
    };
    let play = Play::default()
        .plans(&cut)
        .step(Work("lexer", 1, Some(1)), &left(&vague))
        .step(Work("lexer", 1, None), &left(HANDOFF))
        .shares(&cut, WORKERS[1])
        .integrates(&cut)
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    let told = scene.prompt("lexer-1-2");
    let said = "workers/lexer/handoff.md: line 2: Status: must be ready or blocked; found \"almost\"";
    assert!(told.contains(said), "{told}");
    assert_eq!(scene.works().iter().filter(|work| work.starts_with("integrate")).count(), 1);
}

#[test]
fn what_an_integrator_drops_of_a_share_is_named_to_the_reviewer_the_user_and_at_the_end() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let (old, new) = ("src/printer/old.txt", "src/printer/printer.txt");
        scene.repository.write(old, "old\n").write("src/printer/gone.txt", "gone\n").commit("a printer");
        let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
        let own = |name: &str| cut.file(&format!("workers/printer/{name}"));
        let printer = [
            write(new, "printer was here\n"),
            write(old, "better\n"),
            write("src/printer/gone.txt", "better\n"),
            write("src/printer/kept.txt", "printer was here\n"),
            write(&own("implementation-notes.md"), NOTES),
            write(&own("handoff.md"), HANDOFF),
        ];
        let mut play = Play::default()
            .plans(&cut)
            .shares(&cut, WORKERS[0])
            .step(Work("printer", 1, None), &printer)
            .integrates(&cut)
            .reviews(&cut, None, &DONE);
        let place = "label = \"integrate\"\nround = 1\ndo = [";
        let drops = [
            shell(&format!("rm {new} src/printer/gone.txt && echo old > {old}")),
            shell("echo more >> src/printer/kept.txt"),
        ];
        play.0 = play.0.replacen(place, &format!("{place}\n  {},", drops.join(",\n  ")), 1);
        let outcome = scene.completes(&play);
        assert!(!scene.is_merged(new), "it may be dropped, by a review that knows");
        let named = "src/printer/gone.txt, src/printer/old.txt, src/printer/printer.txt (printer)";
        assert!(scene.prompt("review-1-1").contains(named), "{style:?}: {}", scene.prompt("review-1-1"));
        let log = scene.log();
        let told = log.lines().filter(|line| line.contains(named)).count();
        assert_eq!(told, 3, "when it was found, at the merge and at the end, each once: {log}");
        assert_because(&outcome, named);
    }
}

#[test]
fn nothing_is_said_of_shares_that_are_there_or_were_worked_on() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let rejected = Decision::Rejected("implement");
    let mut play = Play::default()
        .plans(&cut)
        .integrates(&cut)
        .reviews(&cut, Some(1), &rejected)
        .reviews(&cut, None, &DONE);
    for share in WORKERS {
        play = play.shares(&cut, share);
    }
    let place = "label = \"integrate\"\nround = 1\ndo = [";
    let more = shell("echo more >> src/lexer/lexer.txt && rm -f src/printer/none.txt");
    play.0 = play.0.replacen(place, &format!("{place}\n  {more},"), 1);
    scene.completes(&play);
    let log = scene.log();
    assert!(!log.contains("not in the round") && !log.contains("without what"), "{log}");
}
