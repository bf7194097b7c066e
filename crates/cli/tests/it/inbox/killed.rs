//! Killed at any place while the work changes hands: the command is given again, and nothing is lost or done twice.

use super::asking;
use super::take_over::InHand;
use crate::crash_points::places;
use crate::played_run::PlayedRun;

/// So many places lie between two that are visited; a campaign visits them all.
#[expect(clippy::disallowed_methods, reason = "a test is not the program; a campaign asks for more")]
fn every(usual: usize) -> usize {
    std::env::var("WINDLASS_CRASH_EVERY").map_or(usual, |every| every.parse().expect("a number"))
}

/// Every place a command comes through, by an undisturbed one.
fn count_places(mut played: PlayedRun, command: &str) -> usize {
    let log = played.world.shared("places.txt");
    played.world.set("WINDLASS_CRASH_LOG", log.to_str().unwrap());
    let _ = played.about(command, &[]).exits_with(0);
    places(&log).len()
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
    let places = count_places(asking(), "take-over");
    assert!(places > 3, "{places}");
    for place in (1..=places).step_by(every(11)) {
        let mut played = asking();
        killed_at(&mut played, place, "take-over");
        let hand = InHand::of(played);
        assert_eq!(
            std::fs::read_to_string(hand.worktree().join("done.txt")).unwrap(),
            "more",
            "place {place}"
        );
        assert_eq!(hand.git(&["status", "--porcelain"]), "", "place {place}");
        let _ = hand.played.about("verify", &[]).exits_with(0);
    }
}

#[test]
fn while_handing_back_nothing_is_lost_or_done_twice() {
    let prepared = || {
        let hand = InHand::of(asking());
        hand.write("done.txt", "by hand");
        hand.played
    };
    let places = count_places(prepared(), "hand-back");
    for place in (1..=places).step_by(every(23)) {
        let mut played = prepared();
        killed_at(&mut played, place, "hand-back");
        let status = played.line()["status"].as_str().unwrap().to_owned();
        let way_on = if status == "interrupted" { "resume" } else { "hand-back" };
        if status != "accepted" {
            let _ = played.about(way_on, &[]).exits_with(0);
        }
        assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "by hand", "place {place}");
        let asked: Vec<_> =
            played.world.steps().into_iter().filter(|step| step.starts_with("doer 2")).collect();
        assert!(asked.is_empty(), "a doer was asked: {asked:?}");
        let _ = played.about("verify", &[]).exits_with(0);
        played.world.assert_no_processes();
    }
}
