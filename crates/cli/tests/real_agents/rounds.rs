//! One round of a roadmap, planned, implemented and reviewed by real programs in the round's own worktree, and merged as one
//! commit.

#[expect(dead_code, reason = "the loop's own tests use all of it")]
#[path = "../it/roadmap_loop/plane.rs"]
mod plane;
#[expect(dead_code, reason = "the loop's own tests use all of it")]
#[path = "../it/roadmap_loop/play.rs"]
mod play;

use crate::script::working;
use crate::stage::{Stage, word_for};
use plane::{STATE, Style, milestone};
use play::{Closeout, Cut, Decision, NOTES};
use std::fmt::Write as _;
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{ModelScript, ScriptEntry};

/// A command for the shell that writes these files.
fn writing(files: &[(String, String)]) -> String {
    let mut command = "true".to_owned();
    for (path, text) in files {
        let (folder, _) = path.rsplit_once('/').unwrap();
        let _ = write!(command, " && mkdir -p {folder} && printf '%s' '{text}' > {path}");
    }
    command
}

fn is_planned_made_reviewed_and_merged(program: AgentProgram) {
    let cut = Cut::of(Style::Records, "round-001", "m-1");
    let done = Decision::Approved(Closeout::Done { from: "pending" });
    let made = [
        ("src/word.txt".to_owned(), "right\n".to_owned()),
        (cut.file("implementation-notes.md"), NOTES.to_owned()),
    ];
    let role = |role: &str| ScriptEntry::when(&format!("You are the {role} of this repository."));
    let script = ModelScript::new()
        .entry(working(role("planner"), &writing(&cut.plan())))
        .entry(working(role("implementer"), &writing(&made)))
        .entry(working(role("reviewer"), &writing(&cut.review(&done))));
    let Some(stage) = Stage::with(&[program], script) else { return };
    for (path, text) in plane::files(Style::Records, &[milestone("m-1")]) {
        stage.repository.write(&path, &text);
    }
    stage.repository.write(STATE, &format!("{:#}\n", plane::state(Style::Records, 1))).commit("set up");
    let agent = word_for(program);
    let words = ["roadmap", "run", "--repo", stage.repository.text(), "--json", "--agent", &agent];
    let played = stage.played(stage.world.start_windlass(&words)).exits_with(0, &stage);
    assert_eq!(played.outcome["roadmap"]["outcome"], "complete", "{:#}", played.outcome);
    let text = |path: &str| stage.repository.git(&["show", &format!("main:{path}")]);
    assert_eq!(text("src/word.txt"), "right");
    assert!(
        text(&format!("{}/roadmap.md", Style::Records.dir("rev-001"))).contains("### [done] 1. Reach m-1")
    );
    let subjects = stage.repository.git(&["log", "--format=%s", "main"]);
    assert_eq!(
        subjects.lines().filter(|line| line.starts_with("Complete round-001")).count(),
        1,
        "{subjects}"
    );
    stage.assert_all_counted();
    let _ = stage.world.windlass(&["verify", &stage.id()]).exits_with(0);
}

#[test]
fn codex_works_a_round_off() {
    is_planned_made_reviewed_and_merged(AgentProgram::Codex);
}

#[test]
fn claude_works_a_round_off() {
    is_planned_made_reviewed_and_merged(AgentProgram::Claude);
}

/// The other programs write files in the same ways as these three, and start more slowly.
#[test]
fn copilot_works_a_round_off() {
    is_planned_made_reviewed_and_merged(AgentProgram::Copilot);
}
