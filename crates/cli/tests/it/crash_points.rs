//! Kills the engine with SIGKILL at the places where a crash could hurt, and resumes. The places are not chosen by hand: an
//! undisturbed run writes down the ones it comes through. A few of each kind are visited, in a campaign every single one.

mod choice;
mod ending;
mod keepers;
mod landing;
mod locks;
mod stage;

pub(crate) use choice::{Kinds, is_campaign, visited};
pub(crate) use ending::{Ending, files, without_ids};
pub(crate) use stage::{Actor, Stage, Standing, places};

use crate::disturbed::{Steps, count_agents};
use crate::invariants::{Left, Watched};
use windlass_test_support::Output;

/// The places are shared out among so many tests, which run side by side.
const SHARES: usize = 4;
/// So many places of each kind are visited outside of campaigns.
const OF_EACH_KIND: usize = 4;
/// How many chains a campaign follows; otherwise each share follows one.
const CHAINS: usize = 16;
/// So many places lie between two from which a run is killed again and again while it resumes.
const BETWEEN_CHAINS: usize = 29;

/// Of so many kills in a row, after one all that is on record is looked at.
const BETWEEN_LOOKS: usize = 4;

/// A run whose agents count themselves, looked after from its beginning.
struct Case {
    stage: Stage,
    watched: Watched,
}

/// All that is left of one.
struct End {
    ending: Ending,
    left: Left,
}

impl Case {
    fn begin() -> Self {
        let stage = Stage::set_up();
        count_agents(&stage.world);
        let watched = Watched::begin(&stage.repository);
        Self { stage, watched }
    }

    /// One command, killed at this place if it comes so far.
    fn killed_at(&mut self, place: usize, start: impl FnOnce(&Stage) -> Output) -> Output {
        let output = self.stage.with("WINDLASS_CRASH_AT", &place.to_string(), start);
        // Looking takes longer than some commands of a chain, and what is gone stays gone till the next look.
        if place.is_multiple_of(BETWEEN_LOOKS) {
            self.watched.look(&self.stage.world, &output.command);
        }
        output
    }

    fn end(&self) -> End {
        let left = self.watched.end(&self.stage.world, &self.stage.repository, &[]);
        End { ending: Ending::found(&self.stage), left }
    }

    fn differences(&self, expected: &End) -> Vec<String> {
        let end = self.end();
        let left = end.left.beyond(&expected.left, Steps::AllKnown);
        [end.ending.differences(&expected.ending), left].concat()
    }
}

/// What an undisturbed run leaves, and the places it comes through.
fn undisturbed() -> (End, Vec<String>) {
    let mut case = Case::begin();
    let log = case.stage.world.shared("places.txt");
    let output = case.stage.with("WINDLASS_CRASH_LOG", log.to_str().unwrap(), Stage::run);
    let _ = output.exits_with(0);
    (case.end(), places(&log))
}

#[test]
fn a_run_comes_through_every_kind_of_place_and_one_that_is_never_reached_kills_nothing() {
    let (expected, places) = undisturbed();
    for kind in ["append", "git", "rename", "spawn", "keeper"] {
        for side in ["before", "after"] {
            let name = format!("{kind}.{side}");
            assert!(places.contains(&name), "no place called {name} in {places:?}");
        }
    }
    let mut case = Case::begin();
    let _ = case.killed_at(places.len() + 1, Stage::run).exits_with(0);
    assert_eq!(case.differences(&expected), Vec::<String>::new());
}

/// One share of the places: a run is killed there, gone on with, and compared with the undisturbed one.
fn survives_the_places_of_share(share: usize) {
    let (expected, places) = undisturbed();
    let mine = visited(&places, Kinds::All, OF_EACH_KIND).into_iter().skip(share).step_by(SHARES);
    let failures: Vec<String> = mine
        .filter_map(|place| {
            let wrong = crash_at(place, &expected);
            let name = &places[place - 1];
            (!wrong.is_empty()).then(|| format!("after a crash at place {place} ({name}): {wrong:#?}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn crash_at(place: usize, expected: &End) -> Vec<String> {
    let mut case = Case::begin();
    let killed = case.killed_at(place, Stage::run);
    if killed.signal != Some(9) {
        return vec![format!("it was not reached: {killed:?}")];
    }
    let standing = case.stage.standing();
    let resumed = standing.way_on()(&case.stage);
    if resumed.code != Some(0) {
        return vec![format!("going on ended with {:?}\n{}", resumed.code, resumed.stderr)];
    }
    let mut wrong = case.differences(expected);
    if standing == Standing::Interrupted && !resumed.stderr.contains("is gone; taken over") {
        wrong.push(format!("nobody was told of the dead process\n{}", resumed.stderr));
    }
    wrong
}

/// Killed at this place, then at the first place of the resume, then at the second of the next one, and so on until
/// there is nothing left to be killed in.
fn survives_a_chain_from(place: usize, expected: &End) {
    let mut case = Case::begin();
    let killed = case.killed_at(place, Stage::run);
    assert_eq!(killed.signal, Some(9), "place {place} was not reached");
    for next in 1.. {
        let way_on = case.stage.standing().way_on();
        let resumed = case.killed_at(next, way_on);
        if resumed.signal == Some(9) {
            continue;
        }
        assert_eq!(resumed.code, Some(0), "the resume after {next} crashes\n{}", resumed.stderr);
        break;
    }
    let differences = case.differences(expected);
    assert!(differences.is_empty(), "after a chain of crashes from place {place}: {differences:#?}");
}

/// Chains begun at places spread over the whole run.
fn survives_the_chains_of_share(share: usize) {
    let (expected, places) = undisturbed();
    // The shares begin far from each other, so that one chain of each still sees the whole run.
    let first = share * CHAINS / SHARES;
    let chains = if is_campaign() { CHAINS / SHARES } else { 1 };
    for chain in first..first + chains {
        survives_a_chain_from((chain * BETWEEN_CHAINS) % places.len() + 1, &expected);
    }
}

macro_rules! shares {
    ($($name:ident = $share:literal),+ $(,)?) => {
        mod killed_once_at_each_place {
            $(#[test] fn $name() { super::survives_the_places_of_share($share); })+
        }

        mod killed_again_at_each_place_of_the_resume {
            $(#[test] fn $name() { super::survives_the_chains_of_share($share); })+
        }

        #[test]
        fn the_shares_are_all_there() {
            assert_eq!([$($share),+], std::array::from_fn::<usize, SHARES, _>(|share| share));
        }
    };
}

shares! { share_0 = 0, share_1 = 1, share_2 = 2, share_3 = 3 }
