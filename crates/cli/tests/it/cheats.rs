//! Agents that try to decide for themselves: readers that write, and makers that forge, hide, plant or run on.

mod doer_forges;
mod doer_plants;
mod doer_uses_git;
mod escapes;
mod every_loop;
mod fenced;
mod readers;

use crate::scene::{Played, Scene};
use windlass_test_support::{Script, When};

/// What a fence keeps from happening must come to nothing where there is none.
fn unfenced() -> Scene {
    Scene::without_sandbox("the attack must be carried out to come to nothing")
}

fn both_ways() -> [Scene; 2] {
    [unfenced(), Scene::new()]
}

/// A doer that does its work and then this.
fn doer_also(actions: &[&str]) -> Script {
    let work = ["{ write = 'done.txt', text = 'done' }"];
    let actions = [&work[..], actions, &["{ handoff = 'adds done.txt' }"]].concat();
    Script::new().doer(When::Always, &actions)
}

/// The same, with readers that say yes.
fn passing_doer_also(actions: &[&str]) -> Script {
    doer_also(actions)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

/// Judged as if it had done its work and nothing else: the same change, looked at by the same people, landed.
#[track_caller]
fn judged_as_if_it_had_not(scene: &Scene, played: Played) -> Played {
    let played = played.exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
    assert_eq!(scene.landed_file("done.txt"), "done");
    played.assert_strict_layout();
    played
}
