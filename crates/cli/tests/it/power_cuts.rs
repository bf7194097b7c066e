//! The power goes while a loop is at work, at a drawn place of the program or at a drawn moment: every process ends, and what
//! was not flushed is lost. Then a person goes on, and all must be as if nothing had been.

use crate::crash_points::places;
use crate::disturbed::{Expected, LOOPS, Loop, Measurements, Steps, Told, brief, drawn};
use crate::machine_faults::with_own_disks;
use crate::seeded::{self, Cases, Dice};
use windlass_test_support::{Output, Tails, let_pass};

const CAMPAIGN: &str = "power-cuts";
/// Cases of all loops outside of campaigns.
const EVERYDAY: usize = 20;
/// After so many cases an undisturbed run is measured again: how busy the machine is changes.
const MEASURED_AGAIN: usize = 20;
/// Of so many cuts at least one takes something: else it is no power that is cut.
const MANY: usize = 50;
/// At most so many commands of one case lose their power.
const MOST_CUTS: usize = 3;

/// When the power goes, in thousandths of the way.
#[derive(Clone, Copy, Debug)]
enum When {
    /// Of the places the program comes through.
    Place(u32),
    /// Of the time it takes.
    Moment(u32),
}

impl When {
    const fn as_a_place(self) -> Self {
        match self {
            Self::Place(part) | Self::Moment(part) => Self::Place(part),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    when: When,
    torn: bool,
}

impl Cut {
    /// The cuts of one case: one, or more of which each hits the command after the one before it.
    fn draw_some(dice: &mut Dice) -> Vec<Self> {
        let mut cuts = vec![Self::draw(dice)];
        while cuts.len() < MOST_CUTS && dice.one_in(4) {
            cuts.push(Self::draw(dice));
        }
        cuts
    }

    fn draw(dice: &mut Dice) -> Self {
        let part = dice.part();
        let when = if dice.one_in(2) { When::Place(part) } else { When::Moment(part) };
        Self { when, torn: dice.one_in(3) }
    }

    const fn word(self) -> &'static str {
        match (self.when, self.torn) {
            (When::Place(_), false) => "at-a-place",
            (When::Place(_), true) => "at-a-place-torn",
            (When::Moment(_), false) => "at-a-moment",
            (When::Moment(_), true) => "at-a-moment-torn",
        }
    }
}

/// A loop undisturbed on such a disk.
struct Measured {
    expected: Expected,
    /// How many its first command comes through.
    places: usize,
}

impl Measured {
    fn of(one: &Loop) -> Self {
        let mut told = one.begin().on_a_disk();
        let log = told.world().shared("places.txt");
        let expected = told.undisturbed(&[("WINDLASS_CRASH_LOG", log.clone().into())]);
        Self { expected, places: places(&log).len() }
    }
}

/// Gives the next command and ends it when its power goes; none where the story is over.
fn struck(told: &mut Told, cut: Cut, measured: &Measured, left: u32) -> Option<Output> {
    match cut.when {
        When::Place(part) => {
            let place = 1 + measured.places * part as usize * left as usize / 1_000_000;
            let running = told.next_command_with(&[("WINDLASS_CRASH_AT", place.to_string().into())])?;
            Some(running.wait())
        }
        When::Moment(part) => {
            let running = told.next_command()?;
            let_pass(measured.expected.length * part / 1000 * left / 1000);
            Some(running.kill())
        }
    }
}

/// Plays one case; tells of each cut that was tried whether it hit, and how many files lost something.
fn play(one: &Loop, cuts: &[Cut], measured: &Measured, dice: &mut Dice, tried: &mut Vec<(bool, usize)>) {
    let mut told = one.begin().on_a_disk();
    let mut left = 1000;
    for cut in cuts {
        let Some(output) = struck(&mut told, *cut, measured, left) else { break };
        let (When::Place(part) | When::Moment(part)) = cut.when;
        left = left * (1000 - part) / 1000;
        let hit = output.signal == Some(9);
        assert!(hit || output.code == Some(0), "{}", brief(&output));
        // A command that had come to its end has said so: what it said must be on the disk as well.
        let mut part = |length: usize| dice.below(length + 1);
        let lost = told.cut_power(if cut.torn { Tails::Torn(&mut part) } else { Tails::Lost });
        tried.push((hit, lost));
        told.ended(output);
    }
    told.ends_as(&measured.expected, Steps::MayBeLost);
}

/// The share of one loop: so many cuts as are its own, or one case alone.
fn survives(number: usize) {
    let cases = Cases::asked(EVERYDAY);
    let wanted = cases.wanted.div_ceil(LOOPS.len());
    let mut measured = Measurements::every(MEASURED_AGAIN);
    let (mut made, mut lost, mut failures) = (0, 0, Vec::new());
    for case in cases.of_share(number, LOOPS.len()) {
        if made >= wanted && cases.only.is_none() {
            break;
        }
        let one = drawn(number, cases, case);
        let measured = measured.of(one, Measured::of);
        let mut dice = cases.dice(case);
        let mut cuts = Cut::draw_some(&mut dice);
        if cases.wanted == EVERYDAY && cases.only.is_none() {
            // What every change is held to must be the same every time.
            for cut in &mut cuts {
                cut.when = cut.when.as_a_place();
            }
        }
        let mut tried = Vec::new();
        let survived = seeded::survived(|| play(one, &cuts, measured, &mut dice, &mut tried));
        made += tried.len().max(1);
        for (cut, (hit, files)) in cuts.iter().zip(&tried) {
            seeded::note(one.name, cut.word(), *hit, survived.is_ok());
            lost += files;
        }
        if let Err(why) = survived {
            let again = cases.again(CAMPAIGN, case);
            let failure = format!("case {case}, {cuts:?}, {tried:?}; again with {again}: {why}");
            seeded::tell(&failure);
            failures.push(failure);
        }
    }
    assert!(failures.is_empty(), "{} failures in {made} cuts:\n{}", failures.len(), failures.join("\n"));
    assert!(lost > 0 || made < MANY, "in {made} cuts no file ever lost anything");
}

with_own_disks! {
    task_loop = || survives(0);
    control_loop = || survives(1);
    goal_loop = || survives(2);
    roadmap_loop = || survives(3);
    story_queue = || survives(4);
}
