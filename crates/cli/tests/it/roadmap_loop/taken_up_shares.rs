//! Shares of workers that lay uncommitted in their worktrees when a run took their round up: a share counts once it is
//! committed, and a round is reviewed only with every share in it.

use super::overtaking::kill_at;
use super::plane::{Style, round_record};
use super::play::{Closeout, Cut, Decision, HANDOFF, NOTES, Play, Work, write};
use super::scene::Scene;
use super::taken_up::stays_at;
use serde_json::json;

const WORKERS: [(&str, &str); 2] = [("lexer", "src/lexer"), ("printer", "src/printer")];
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

fn assert_both_merged(scene: &Scene) {
    for worker in ["lexer", "printer"] {
        assert_eq!(scene.merged(&format!("src/{worker}/{worker}.txt")), format!("{worker} was here"));
    }
}

#[test]
fn a_share_that_nobody_committed_is_committed_before_it_is_integrated() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
        let own = |name: &str| cut.file(&format!("workers/lexer/{name}"));
        let left = stays_at(vec![
            write("src/lexer/lexer.txt", "lexer was here\n"),
            write(&own("implementation-notes.md"), NOTES),
            write(&own("handoff.md"), HANDOFF),
        ]);
        let play = Play::default().plans(&cut).step(Work("lexer", 1, None), &left).shares(&cut, WORKERS[1]);
        kill_at(&scene, &play, "at");
        let rest = Play::default().shares(&cut, WORKERS[1]).integrates(&cut).reviews(&cut, None, &DONE);
        scene.completes(&rest);
        assert_both_merged(&scene);
        let works = scene.works();
        assert_eq!(works.iter().filter(|work| work.starts_with("lexer")).count(), 1, "{works:?}");
    }
}

/// Another controller's round: one share is on its branch and in the round, the other lies in its worktree only.
fn half_integrated(stage: &str) -> (Scene, Cut) {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1").with_workers(&WORKERS);
    let repository = &scene.repository;
    let (branch, place) = ("orchestrator/round-001-theirs", "orchestrator/worktrees/round-001");
    repository.git(&["worktree", "add", "-q", "-b", branch, place]);
    let put = |place: &str, files: &[(String, String)]| {
        for (path, text) in files {
            repository.write(&format!("{place}/{path}"), text);
        }
    };
    let commit = |place: &str| {
        repository.git(&["-C", place, "add", "--all"]);
        repository.git(&["-C", place, "commit", "-q", "-m", "so far"]);
    };
    put(place, &cut.plan());
    commit(place);
    for (worker, scope) in WORKERS {
        let (theirs, at) = (
            format!("orchestrator/round-001-{worker}"),
            format!("orchestrator/worktrees/round-001-{worker}"),
        );
        repository.git(&["worktree", "add", "-q", "-b", &theirs, &at, branch]);
        let own = |name: &str| cut.file(&format!("workers/{worker}/{name}"));
        let share = [
            (format!("{scope}/{worker}.txt"), format!("{worker} was here\n")),
            (own("implementation-notes.md"), NOTES.to_owned()),
            (own("handoff.md"), HANDOFF.to_owned()),
        ];
        put(&at, &share);
        if worker == "printer" {
            commit(&at);
            repository.git(&["-C", place, "merge", "-q", "--no-edit", &theirs]);
        }
    }
    let notes = format!("{NOTES}\n### Integrated Workers\n- lexer: consumed\n- printer: consumed\n");
    put(place, &[(cut.file("implementation-notes.md"), notes)]);
    commit(place);
    scene.edit_state(|state| state["active_rounds"] = json!([round_record("round-001", stage, branch)]));
    (scene, cut)
}

#[test]
fn a_round_is_integrated_again_where_a_share_it_claims_is_not_in_it() {
    for stage in ["implement", "review"] {
        let (scene, cut) = half_integrated(stage);
        scene.completes(&Play::default().integrates(&cut).reviews(&cut, None, &DONE));
        assert_both_merged(&scene);
        assert_eq!(scene.works(), ["integrate 1 1", "review 1 1"], "{stage}");
        let told = scene.prompt("integrate-1-1");
        assert!(told.contains("lexer") && told.contains("not in the round"), "{told}");
    }
}
