//! Kills at random moments of runs whose agents leave escaping children: all five loops, and the engine alone, a keeper alone,
//! the engine's process group or everything at once. Then a person goes on, and all must be as if nothing had been.

mod aim;

use crate::disturbed::{Expected, LOOPS, Loop, Measurements, Steps, brief, drawn};
use crate::seeded::{self, Cases};
use aim::Kill;

const CAMPAIGN: &str = "random-kills";
/// Kills of all loops outside of campaigns.
const EVERYDAY: usize = 25;
/// After so many cases an undisturbed run is measured again: how busy the machine is changes.
const MEASURED_AGAIN: usize = 10;

/// Plays one case; tells of each kill that was tried whether it hit.
fn play(one: &Loop, kills: &[Kill], expected: &Expected, tried: &mut Vec<bool>) {
    let mut told = one.begin();
    let mut left = expected.length;
    let mut steps = Steps::AllKnown;
    for kill in kills {
        let Some(running) = told.next_command() else { break };
        let (hit, output) = kill.strike(told.world(), running, left);
        left = kill.left_of(left);
        tried.push(hit);
        if hit && kill.loses_steps() {
            steps = Steps::MayBeLost;
        }
        assert!(output.signal == Some(9) || output.code == Some(0), "{}", brief(&output));
        told.ended(output);
    }
    told.ends_as(expected, steps);
}

/// The share of one loop: so many kills as are its own, or one case alone.
fn survives(number: usize) {
    let cases = Cases::asked(EVERYDAY);
    let wanted = cases.wanted.div_ceil(LOOPS.len());
    let mut expected = Measurements::every(MEASURED_AGAIN);
    let (mut made, mut failures) = (0, Vec::new());
    for case in cases.of_share(number, LOOPS.len()) {
        if made >= wanted && cases.only.is_none() {
            break;
        }
        let one = drawn(number, cases, case);
        let expected = expected.of(one, Loop::undisturbed);
        let kills = Kill::draw_some(&mut cases.dice(case));
        let mut tried = Vec::new();
        let survived = seeded::survived(|| play(one, &kills, expected, &mut tried));
        made += tried.len().max(1);
        for (kill, hit) in kills.iter().zip(&tried) {
            seeded::note(one.name, kill.what.word(), *hit, survived.is_ok());
        }
        if let Err(why) = survived {
            let again = cases.again(CAMPAIGN, case);
            let failure = format!("case {case}, {kills:?}, {tried:?}; again with {again}: {why}");
            seeded::tell(&failure);
            failures.push(failure);
        }
    }
    assert!(failures.is_empty(), "{} failures in {made} kills:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn task_loop() {
    survives(0);
}

#[test]
fn control_loop() {
    survives(1);
}

#[test]
fn goal_loop() {
    survives(2);
}

#[test]
fn roadmap_loop() {
    survives(3);
}

#[test]
fn story_queue() {
    survives(4);
}
