//! Campaigns whose cases are drawn: how many there are, from which seed, or one of them alone. What is drawn and tried is not
//! known here. `cargo xtask chaos` asks through the environment; without it a few cases of always the same seed are played.

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

const EVERYDAY_SEED: u64 = 1;
/// Makes another seed of one.
const APART: u64 = 0x5EED_0000_0000_0000;

/// What was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Cases {
    pub(crate) seed: u64,
    pub(crate) wanted: usize,
    pub(crate) only: Option<usize>,
}

impl Cases {
    pub(crate) fn asked(everyday: usize) -> Self {
        Self {
            seed: variable("WINDLASS_CHAOS_SEED").unwrap_or(EVERYDAY_SEED),
            wanted: variable("WINDLASS_CHAOS_CASES").unwrap_or(everyday),
            only: variable("WINDLASS_CHAOS_CASE"),
        }
    }

    /// The numbers of the cases that one of several tests plays, without an end unless one is wanted alone.
    pub(crate) fn of_share(self, share: usize, shares: usize) -> impl Iterator<Item = usize> {
        let mine = (share..).step_by(shares);
        let last = self.only;
        mine.take_while(move |case| last.is_none_or(|only| *case <= only))
            .filter(move |case| last.is_none_or(|only| *case == only))
    }

    pub(crate) fn dice(self, case: usize) -> Dice {
        Dice::of(self.seed, case)
    }

    /// For what of a case is drawn apart from everything else.
    pub(crate) fn dice_apart(self, case: usize) -> Dice {
        Dice::of(self.seed ^ APART, case)
    }

    /// How a failed case is played again.
    pub(crate) fn again(self, campaign: &str, case: usize) -> String {
        format!("`cargo xtask chaos --campaign {campaign} --seed {} --case {case}`", self.seed)
    }
}

/// What one case is made of, drawn from its seed and number: `SplitMix64`, the same on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(seed: u64, case: usize) -> Self {
        let mut dice = Self(seed);
        let mixed = dice.roll() ^ case as u64;
        Self(mixed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end.max(1) as u64).expect("smaller than a usize")
    }

    /// In thousandths, from 0 to 999.
    pub(crate) fn part(&mut self) -> u32 {
        u32::try_from(self.below(1000)).expect("below 1000")
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// Plays one case; what it panicked with, if it did.
pub(crate) fn survived<T>(case: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(case)).map_err(|panic| words(panic.as_ref()))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

/// A line for the table of the campaign, if this is one.
pub(crate) fn note(place: &str, what: &str, hit: bool, survived: bool) {
    let (hit, survived) = (if hit { "hit" } else { "missed" }, if survived { "survived" } else { "failed" });
    report(&format!("{place} {what} {hit} {survived}\n"));
}

/// Why a case failed, for whoever looks while the campaign goes on.
pub(crate) fn tell(why: &str) {
    let lines: Vec<String> = why.lines().map(|line| format!("# {line}\n")).collect();
    report(&lines.concat());
}

fn report(lines: &str) {
    if let Some(file) = variable::<std::path::PathBuf>("WINDLASS_CHAOS_REPORT") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        // One write: tests that run side by side must not tear each other's lines.
        file.write_all(lines.as_bytes()).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test is not the program; a campaign asks for more")]
fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}

#[test]
fn the_same_seed_and_case_draw_the_same_and_others_do_not() {
    let rolls = |seed, case| {
        let mut dice = Dice::of(seed, case);
        [dice.roll(), dice.roll()]
    };
    assert_eq!(rolls(1, 2), rolls(1, 2));
    assert_ne!(rolls(1, 2), rolls(1, 3));
    assert_ne!(rolls(1, 2), rolls(2, 2));
    let mut dice = Dice::of(1, 0);
    let parts: Vec<u32> = (0..200).map(|_| dice.part()).collect();
    assert!(parts.iter().any(|part| *part < 50) && parts.iter().any(|part| *part > 950), "{parts:?}");
}

#[test]
fn cases_are_shared_out_and_one_can_be_played_alone() {
    let all = Cases { seed: 1, wanted: 9, only: None };
    assert_eq!(all.of_share(1, 3).take(3).collect::<Vec<_>>(), [1, 4, 7]);
    let alone = Cases { only: Some(4), ..all };
    assert_eq!(alone.of_share(1, 3).collect::<Vec<_>>(), [4]);
    assert_eq!(alone.of_share(0, 3).count(), 0);
    assert_eq!(survived(|| panic!("case {}", 4)), Err::<(), _>("case 4".to_owned()));
}
