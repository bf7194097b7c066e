//! Killed while a round is merged: the checkout holds half of it. Whoever looks is told whose files these are and how the merge
//! is finished, for committing or undoing them by hand would lose it.

use super::plane::{STATE, Style};
use super::play::Play;
use super::scene::Scene;
use crate::crash_points::places;

/// A merge is among the last things of a run with one round.
const LAST_PLACES: usize = 60;

fn well(scene: &Scene) -> Play {
    Play::default().well(&scene.cut("round-001", "m-1"))
}

/// Whether files of the checkout are not what is committed, the state aside.
fn holds_half(scene: &Scene) -> bool {
    let status = scene.repository.git(&["status", "--porcelain"]);
    status.lines().any(|line| !line.ends_with(STATE)) && scene.merged_rounds().is_empty()
}

/// Killed after the files of the merge are there, and before the branch has them.
fn cut_off() -> Scene {
    let mut whole = Scene::small(Style::Markdown);
    let log = whole.world.shared("places.txt");
    whole.world.set("WINDLASS_CRASH_LOG", log.clone());
    whole.completes(&well(&whole));
    let names = places(&log);
    let last = names.len().saturating_sub(LAST_PLACES);
    let after_git = (last..names.len()).rev().filter(|index| names[*index] == "git.after");
    for index in after_git {
        let mut scene = Scene::small(Style::Markdown);
        scene.world.set("WINDLASS_CRASH_AT", (index + 1).to_string());
        let _ = scene.run(&well(&scene), &[]);
        scene.world.unset("WINDLASS_CRASH_AT");
        if holds_half(&scene) {
            return scene;
        }
    }
    panic!("nowhere near the end is half of a merge: {names:?}");
}

#[test]
fn a_merge_that_was_cut_off_is_not_taken_for_edits_and_resume_finishes_it() {
    let scene = cut_off();
    let run = scene.run_id();
    let resume = format!("windlass resume {run}");
    let before = scene.repository.git(&["status", "--porcelain"]);
    let inspect = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let found = scene.world.windlass(&inspect).exits_with(14).json();
    let said = format!("{run} was cut off while it merged round-001");
    assert!(found["why"].to_string().contains(&said), "{found:#}");
    assert!(!found["why"].to_string().contains("commit or undo these edits"), "{found:#}");
    assert_eq!(found["next_steps"], serde_json::json!([resume]), "{found:#}");
    let refused = scene.run(&well(&scene), &[]).exits_with(14);
    let words = format!("{}{}", refused.stdout, refused.stderr);
    assert!(words.contains(&said) && words.contains(&resume), "{words}");
    assert!(!words.contains("commit or undo these edits"), "{words}");
    assert_eq!(scene.repository.git(&["status", "--porcelain"]), before, "nobody touched it");

    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    assert_eq!(scene.merged_rounds(), ["round-001"]);
}
