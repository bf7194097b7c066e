//! Killed at any place while the work changes hands: the command is given again, and nothing is lost or done twice.

use super::asking;
use super::take_over::InHand;
use crate::crash_points::{Kinds, places, visited};
use crate::invariants::Watched;
use crate::played_run::PlayedRun;

/// The places to be killed at, of those an undisturbed command comes through; a campaign visits them all.
fn chosen_places(mut played: PlayedRun, command: &str) -> Vec<usize> {
    let log = played.world.shared("places.txt");
    played.world.set("WINDLASS_CRASH_LOG", log.to_str().unwrap());
    let _ = played.about(command, &[]).exits_with(0);
    visited(&places(&log), Kinds::OfTheLoop, 1)
}

fn killed_at(played: &mut PlayedRun, place: usize, command: &str) {
    let id = played.id();
    played.world.set("WINDLASS_CRASH_AT", place.to_string());
    let killed = played.world.windlass(&[command, &id]);
    played.world.unset("WINDLASS_CRASH_AT");
    assert_eq!(killed.signal, Some(9), "place {place}: {killed:?}");
}

#[test]
fn while_taking_over_it_is_asked_again_and_stands() {
    let places = chosen_places(asking(), "take-over");
    assert!(places.len() >= 3, "{places:?}");
    for place in places {
        let mut played = asking();
        let mut watched = Watched::begin(&played.repository);
        killed_at(&mut played, place, "take-over");
        watched.look(&played.world, &format!("a kill at place {place}"));
        let hand = InHand::of(played);
        assert_eq!(
            std::fs::read_to_string(hand.worktree().join("done.txt")).unwrap(),
            "more",
            "place {place}"
        );
        assert_eq!(hand.git(&["status", "--porcelain"]), "", "place {place}");
        let _ = watched.end(&hand.played.world, &hand.played.repository, &[]);
    }
}

#[test]
fn while_handing_back_nothing_is_lost_or_done_twice() {
    let prepared = || {
        let hand = InHand::of(asking());
        hand.write("done.txt", "by hand");
        hand.played
    };
    for place in chosen_places(prepared(), "hand-back") {
        let mut played = prepared();
        let mut watched = Watched::begin(&played.repository);
        killed_at(&mut played, place, "hand-back");
        watched.look(&played.world, &format!("a kill at place {place}"));
        let status = played.line()["status"].as_str().unwrap().to_owned();
        let way_on = if status == "interrupted" { "resume" } else { "hand-back" };
        if status != "accepted" {
            let _ = played.about(way_on, &[]).exits_with(0);
        }
        assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "by hand", "place {place}");
        let asked: Vec<_> =
            played.world.steps().into_iter().filter(|step| step.starts_with("doer 2")).collect();
        assert!(asked.is_empty(), "a doer was asked: {asked:?}");
        let _ = watched.end(&played.world, &played.repository, &[]);
    }
}
