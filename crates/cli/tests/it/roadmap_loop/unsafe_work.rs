//! Work that cannot be looked at safely: whoever left it is told once, a person may mend it, and what was made is neither
//! lost nor called reviewed before it is committed.

use super::plane::Style;
use super::play::{Closeout, Decision, NOTES, Play, Work, shell, write};
use super::scene::{Scene, assert_because, outcome};

const BLOCKED: u8 = 11;
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const LINK: &str = "orchestrator/worktrees/round-001/link";

/// An implementer that does its work and does this besides, the first so many times.
fn play(scene: &Scene, also: &str, times: u32) -> Play {
    let cut = scene.cut("round-001", "m-1");
    let made = |also: &str| {
        let notes = cut.file("implementation-notes.md");
        vec![write("src/round-001.txt", "m-1 works\n"), write(&notes, NOTES), shell(also)]
    };
    let play = (1..=times).fold(Play::default().plans(&cut), |play, attempt| {
        play.step(Work("implement", 1, Some(attempt)), &made(also))
    });
    play.step(Work("implement", 1, None), &made("rm -rf link sub")).reviews(&cut, None, &DONE)
}

#[test]
fn whoever_left_it_is_told_once_and_takes_it_away() {
    for (also, said) in [("ln -sf /etc/passwd link", "link"), ("git init -q sub && touch sub/a", "sub")] {
        let scene = Scene::small(Style::Markdown);
        scene.completes(&play(&scene, also, 1));
        assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "implement 1 2", "review 1 1"]);
        let told = scene.prompt("implement-1-2");
        assert!(told.contains("cannot be taken over safely") && told.contains(said), "{told}");
        assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
        assert!(!scene.is_merged("link") && !scene.is_merged("sub"));
    }
}

#[test]
fn what_a_person_mended_is_committed_as_its_makers_and_reviewed_once() {
    let scene = Scene::small(Style::Records);
    let play = play(&scene, "ln -sf /etc/passwd link", 9);
    let output = scene.run(&play, &[]).exits_with(BLOCKED);
    assert_because(&outcome(&output), "cannot be looked at safely");
    assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "implement 1 2"], "once, and then a person");
    let inspect = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let proves = scene.world.windlass(&inspect).exits_with(0).json()["rounds"][0]["proves"].clone();
    assert_ne!(proves, "finalize-round");
    assert!(!scene.log().contains("was edited"), "nobody edited anything: {}", scene.log());

    std::fs::remove_file(scene.repository.path().join(LINK)).unwrap();
    let retried = scene.about("retry", &[]);
    assert_eq!(retried.code, Some(0), "{}", scene.log());
    scene.assert_complete();
    assert_eq!(scene.works()[3..], ["review 1 1"], "nobody makes it again, one review is enough");
    assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
    let log = scene.log();
    assert!(!log.contains("put back"), "nothing was taken for the reviewer's: {log}");
}

#[test]
fn without_mending_nothing_is_called_implemented_and_no_reviewer_is_paid() {
    let scene = Scene::small(Style::Markdown);
    let play = play(&scene, "ln -sf /etc/passwd link", 9);
    let _ = scene.run(&play, &[]).exits_with(BLOCKED);
    let _ = scene.about("resume", &[]).exits_with(BLOCKED);
    assert!(!scene.works().iter().any(|work| work.starts_with("review")), "{:?}", scene.works());
    // Another run goes on where the files are mended.
    std::fs::remove_file(scene.repository.path().join(LINK)).unwrap();
    scene.completes(&self::play(&scene, "true", 1));
    assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
}
