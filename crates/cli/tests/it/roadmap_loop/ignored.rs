//! Files that the repository's rules tell git to ignore: no merge takes them along, and everybody who judges or ends a round
//! is told so.

use super::plane::Style;
use super::play::{Closeout, Decision, NOTES, Play, Work, write};
use super::scene::Scene;

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

#[test]
fn what_git_ignores_is_named_to_the_reviewer_and_to_the_user() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let made = [
        write(".gitignore", "/orchestrator/worktrees/\nbuild/\n*.tmp\n"),
        write("build/one.txt", "all of the work\n"),
        write("src/notes.tmp", "more of it\n"),
        write(&cut.file("implementation-notes.md"), NOTES),
    ];
    let play = Play::default().plans(&cut).step(Work("implement", 1, None), &made).reviews(&cut, None, &DONE);
    scene.completes(&play);
    assert!(!scene.is_merged("build/one.txt"));
    let named = "2 new files or directories are ignored by the repository's rules and will not be merged: \
                 build/, src/notes.tmp";
    assert!(scene.prompt("review-1-1").contains(named), "{}", scene.prompt("review-1-1"));
    let log = scene.log();
    assert!(log.contains(named), "{log}");
    let done = log.lines().find(|line| line.contains("every milestone of the roadmap is done"));
    let done = done.unwrap_or_else(|| panic!("{log}"));
    assert!(done.contains("not merged") && done.contains("build/, src/notes.tmp (round-001)"), "{done}");
    let explained = scene.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains("build/"), "{explained}");
}

#[test]
fn nothing_is_said_where_nothing_is_ignored() {
    let scene = Scene::small(Style::Markdown);
    scene.completes(&Play::default().well(&scene.cut("round-001", "m-1")));
    assert!(!scene.log().contains("ignore"), "{}", scene.log());
}

#[test]
fn the_rounds_own_files_are_merged_whatever_a_rule_hides() {
    let rules = |more: &str| format!("/orchestrator/worktrees/\n{more}\n");
    for (style, rule) in [(Style::Records, "*.md"), (Style::Markdown, "orchestrator/rounds/\n*.md")] {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let made = [
            write(".gitignore", &rules(rule)),
            write("src/one.txt", "works\n"),
            write(&cut.file("implementation-notes.md"), NOTES),
        ];
        let play =
            Play::default().plans(&cut).step(Work("implement", 1, None), &made).reviews(&cut, None, &DONE);
        scene.completes(&play);
        assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1"], "{style:?}");
        for name in ["plan.md", "implementation-notes.md", "review.md"] {
            assert!(scene.is_merged(&cut.file(name)), "{style:?}: {name}");
        }
        let log = scene.log();
        assert!(!log.contains("will not be merged") && !log.contains("not committed"), "{log}");
    }
}

/// A planner that does it all itself may hide its own plan, which says that it may.
#[test]
fn a_plan_that_a_rule_hides_is_taken_with_all_it_allows() {
    let scene = Scene::small(Style::Markdown);
    let mut cut = scene.cut("round-001", "m-1");
    cut.complexity = "simple";
    let mut made: Vec<String> = cut.plan().iter().map(|(path, text)| write(path, text)).collect();
    made.push(write(".gitignore", "/orchestrator/worktrees/\norchestrator/rounds/\n"));
    made.push(write("src/round-001.txt", "works\n"));
    let notes = super::play::direct_notes(&cut, Closeout::Done { from: "pending" });
    made.push(write(&cut.file("implementation-notes.md"), &notes));
    scene.completes(&Play::default().step(Work("plan", 1, None), &made));
    for path in [cut.file("plan.md"), cut.file("implementation-notes.md"), "src/round-001.txt".to_owned()] {
        assert!(scene.is_merged(&path), "{path}");
    }
}
