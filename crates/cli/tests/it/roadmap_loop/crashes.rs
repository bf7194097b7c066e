//! Kills the program with SIGKILL at the places where a crash could hurt, in three stories, and goes on as a person would:
//! the same merged tree, never a round merged twice, and a state that is whole at every moment.

use super::plane::{STATE, Style, milestone};
use super::play::{Closeout, Cut, Decision, Play};
use super::scene::Scene;
use crate::crash_points::{Kinds, is_campaign, places, visited};
use crate::disturbed::{Disturbed, Steps, go_on};
use crate::invariants::{Left, Watched};
use crate::machine_faults::Stricken;
use serde_json::Value;
use std::fmt::Write as _;
use windlass_test_support::{Output, Repository, World};

/// The places of a story are shared out among so many tests, which run side by side.
const SHARES: usize = 2;
/// So many places of each kind are visited in each story; `cargo xtask chaos` visits all.
const OF_EACH_KIND: usize = 1;
/// Of the places that are visited, each so-manieth is one where another run is begun after the kill.
const RUN_ANEW_BETWEEN: usize = 2;
/// By so many the number of places of one command differs from run to run.
const UNSTEADY: usize = 12;
/// A walk that needs more commands than this goes round in circles.
const MOST_COMMANDS: usize = 60;
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });

#[derive(Clone, Copy)]
enum Story {
    /// A rejected review, a merged round that asks for another roadmap, and a round of the new revision.
    Serial,
    /// Two workers and an integration.
    FanOut,
    /// Two rounds in two lanes; the first waits for the second.
    Parallel,
}

impl Story {
    fn scene(self) -> (Scene, Play) {
        match self {
            Self::Serial => {
                let scene = Scene::small(Style::Records);
                let first = scene.cut("round-001", "m-1");
                let asks = Decision::Approved(Closeout::Semantic("it is two things"));
                let play = Play::default()
                    .plans(&first)
                    .implements(&first)
                    .reviews(&first, Some(1), &Decision::Rejected("implement"))
                    .reviews(&first, None, &asks)
                    .revises(Style::Records, ("round-001", "merged-round"), (None, &[milestone("m-1")]))
                    .reviews_update("round-001", None, "APPROVED")
                    .well(&scene.cut("round-002", "m-1").in_revision("rev-002"));
                (scene, play)
            }
            Self::FanOut => {
                let scene = Scene::small(Style::Markdown);
                let workers = [("lexer", "src/lexer"), ("printer", "src/printer")];
                let cut = scene.cut("round-001", "m-1").with_workers(&workers);
                let play = Play::default().plans(&cut).integrates(&cut).reviews(&cut, None, &DONE);
                (scene, workers.into_iter().fold(play, |play, share| play.shares(&cut, share)))
            }
            Self::Parallel => {
                let lanes = [milestone("m-1").in_lane("left"), milestone("m-2").in_lane("right")];
                let scene = Scene::with_parallel(Style::Records, 2, &lanes);
                let first = scene.cut("round-001", "m-1");
                let second = Cut { after_rounds: vec!["round-001"], ..scene.cut("round-002", "m-2") };
                let play = super::parallel::second_first(&first, &second);
                (scene, play)
            }
        }
    }
}

/// Which commands are killed, by their number, and at which place of theirs.
#[derive(Clone, Copy)]
enum Kill {
    None,
    Once {
        command: usize,
        place: usize,
    },
    /// Each command so many places later than the one before it, until one comes to its end.
    Again {
        later: usize,
    },
}

impl Kill {
    const fn place_in(self, number: usize) -> Option<usize> {
        match self {
            Self::Once { command, place } if command == number => Some(place),
            Self::Again { later } => Some(1 + number * later),
            Self::None | Self::Once { .. } => None,
        }
    }
}

pub(crate) struct Walk {
    scene: Scene,
    play: Play,
    kill: Kill,
    given: Vec<&'static str>,
    kills: usize,
    /// A person begins another run instead of going on with the one that was killed.
    anew: bool,
    watched: Option<Watched>,
}

/// What of the user's it changes itself: rounds are merged into the branch that is checked out, and the checkout follows.
const OWN: &[&str] = &["refs/heads/main", "refs/heads/orchestrator/", "files", "index"];

/// Everything that has to be the same whatever was killed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    rounds: Vec<String>,
    commits: usize,
    /// Every file of the base branch, moments and ids of commits aside.
    files: String,
    state: Value,
    /// Which agents were asked; one whose end nobody saw is asked again.
    works: Vec<String>,
}

impl Walk {
    fn new(story: Story, kill: Kill) -> Self {
        let (scene, play) = story.scene();
        Self { scene, play, kill, given: Vec::new(), kills: 0, anew: false, watched: None }
    }

    /// Looked after from its beginning. Its agents write down themselves what they were asked.
    fn watched(mut self) -> Self {
        self.watched = Some(Watched::begin(&self.scene.repository));
        self
    }

    fn left(&self) -> Left {
        let watched = self.watched.as_ref().expect("this walk is looked after");
        watched.end(&self.scene.world, &self.scene.repository, OWN)
    }

    /// Gives one command, which may be killed or write down its places.
    fn give(&mut self, command: &'static str, start: impl FnOnce(&Self) -> Output) {
        let number = self.given.len();
        self.given.push(command);
        assert!(number < MOST_COMMANDS, "it goes round in circles: {:?}", self.given);
        let log = self.scene.world.shared(&format!("places-{number}.txt"));
        match self.kill.place_in(number) {
            Some(place) => self.scene.world.set("WINDLASS_CRASH_AT", place.to_string()),
            None => self.scene.world.set("WINDLASS_CRASH_LOG", log),
        };
        let output = start(self);
        self.scene.world.unset("WINDLASS_CRASH_AT").unset("WINDLASS_CRASH_LOG");
        if let Some(watched) = &mut self.watched {
            watched.look(&self.scene.world, command);
        }
        // Whole at every moment, and no round twice.
        let _ = self.scene.state();
        let mut rounds = self.scene.merged_rounds();
        rounds.sort();
        rounds.dedup();
        assert_eq!(rounds.len(), self.scene.merged_rounds().len(), "{:?}", self.scene.subjects());
        if output.signal == Some(9) {
            self.kills += 1;
            return;
        }
        let (code, stderr) = (output.code, &output.stderr);
        assert_eq!(code, Some(0), "{command} after {:?}\n{}\n{stderr}", self.given, output.stdout);
    }

    /// What a person does next, from nothing but what the program shows; false at the end.
    fn step(&mut self) -> bool {
        let list = self.scene.world.windlass(&["ls", "--json"]).exits_with(0).json();
        match list[0]["status"].as_str() {
            None => self.give("run", |walk| walk.scene.run(&walk.play, &[])),
            Some("accepted") => return false,
            Some(_) if self.anew && !self.is_half_merged() => {
                self.give("run", |walk| walk.scene.run(&walk.play, &[]));
            }
            Some(_) => self.give("resume", |walk| walk.scene.about("resume", &[])),
        }
        true
    }

    /// Files of a merge lie in the checkout and its branch has not moved: a new run is refused, and told what finishes it.
    fn is_half_merged(&self) -> bool {
        let words = ["roadmap", "inspect", self.scene.repository.text(), "--json"];
        let found = self.scene.world.windlass(&words).json();
        let half = found["not_now"] == true;
        let next = found["next_steps"][0].as_str().unwrap_or_default();
        assert!(!half || next.starts_with("windlass resume "), "{found:#}");
        half
    }

    fn walked(mut self) -> Self {
        while self.step() {}
        self
    }

    /// The places each command came through.
    fn places(&self) -> Vec<Vec<String>> {
        let log = |number| self.scene.world.shared(&format!("places-{number}.txt"));
        (0..self.given.len()).map(|number| places(&log(number))).collect()
    }

    fn ending(&self) -> Ending {
        self.scene.assert_complete();
        let mut works = self.scene.works();
        for work in &mut works {
            work.truncate(work.rfind(' ').unwrap());
        }
        // Agents of two rounds begin in any order; what is the same is who was asked.
        works.sort();
        works.dedup();
        let mut rounds = self.scene.merged_rounds();
        rounds.sort();
        let (commits, files, state) = (self.scene.subjects().len(), files(&self.scene), self.scene.state());
        Ending { rounds, commits, files, state, works }
    }
}

fn files(scene: &Scene) -> String {
    let names = scene.repository.git(&["ls-tree", "-r", "--name-only", "main"]);
    let mut text = String::new();
    for name in names.lines().filter(|name| *name != STATE) {
        // How often somebody was asked depends on where it was killed.
        let merged = scene.merged(name);
        let said: Vec<&str> = merged.lines().filter(|line| !line.starts_with("<!-- attempt")).collect();
        let _ = write!(text, "== {name}\n{}\n", timeless(&said.join("\n")));
    }
    text
}

/// The text with moments, ids of commits and digests taken out: they differ from run to run.
fn timeless(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let separates = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
    let parts = text.split_inclusive(separates).map(|piece| {
        let word = piece.trim_end_matches(separates);
        if is_id(word) { format!("*{}", &piece[word.len()..]) } else { piece.to_owned() }
    });
    parts.collect()
}

fn undisturbed(story: Story) -> (Ending, Vec<Vec<String>>, Vec<&'static str>) {
    let (ending, _, places, given) = undisturbed_and_left(story);
    (ending, places, given)
}

fn undisturbed_and_left(story: Story) -> (Ending, Left, Vec<Vec<String>>, Vec<&'static str>) {
    let walk = Walk::new(story, Kill::None).watched().walked();
    (walk.ending(), walk.left(), walk.places(), walk.given)
}

fn survives(story: Story, share: usize) {
    let (expected, undisturbed, places, given) = undisturbed_and_left(story);
    let of_all = |(command, places): (usize, &Vec<String>)| {
        (1..=places.len()).map(|place| (command, place)).collect::<Vec<_>>()
    };
    let all: Vec<(usize, usize)> = places.iter().enumerate().flat_map(of_all).collect();
    let chosen =
        visited(&places.concat(), Kinds::OfTheLoop, OF_EACH_KIND).into_iter().map(|number| all[number - 1]);
    let mine = chosen.skip(share).step_by(SHARES);
    let failures: Vec<String> = mine
        .filter_map(|(number, place)| {
            let walk = Walk::new(story, Kill::Once { command: number, place }).watched().walked();
            let command = &given[number];
            // How often a lock is looked at differs by a few; the last places of a command may not be reached.
            let reached = walk.kills == 1 || place + UNSTEADY > places[number].len();
            assert!(reached, "{command} came through {place} unharmed");
            let ending = walk.ending();
            let wrong = walk.left().beyond(&undisturbed, Steps::AllKnown);
            if !wrong.is_empty() {
                return Some(format!("{command} killed at {place}, {:?}: {wrong:#?}", walk.given));
            }
            (ending != expected).then(|| {
                let (walked, why) = (&walk.given, walk.scene.log());
                format!("{command} killed at {place}, {walked:?}: {why}\n{ending:#?}\nnot {expected:#?}")
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_stories_come_through_every_step_and_end_as_they_should() {
    let (ending, places, given) = undisturbed(Story::Serial);
    assert_eq!((ending.rounds, ending.commits), (vec!["round-001".to_owned(), "round-002".to_owned()], 3));
    assert!(ending.works.contains(&"author-update 1".to_owned()), "{:?}", ending.works);
    assert_eq!(given, ["run"]);
    assert!(places.iter().all(|places| places.len() > UNSTEADY), "{places:?}");
    let (ending, _, _) = undisturbed(Story::FanOut);
    assert_eq!(ending.works, ["integrate 1", "lexer 1", "plan 1", "printer 1", "review 1"]);
    let (ending, _, _) = undisturbed(Story::Parallel);
    assert_eq!((ending.rounds.len(), ending.commits), (2, 2));
}

/// Killed in one command after the other, each time a little later.
fn survives_being_killed_again(story: Story, later: usize) {
    let (expected, _, given) = undisturbed(story);
    let walk = Walk::new(story, Kill::Again { later }).watched().walked();
    assert!(walk.kills >= 4, "{} kills in {:?}", walk.kills, walk.given);
    assert!(walk.given.len() > given.len());
    assert_eq!(walk.ending(), expected, "{:?}", walk.given);
    let _ = walk.left();
}

#[test]
fn killed_again_and_again_it_comes_to_the_same_end() {
    survives_being_killed_again(Story::Serial, 61);
    survives_being_killed_again(Story::FanOut, 47);
    survives_being_killed_again(Story::Parallel, 59);
}

/// Killed, and another run is begun: whatever the first one's agents left uncommitted is in what is merged.
fn survives_run_anew(story: Story) {
    let (expected, places, _) = undisturbed(story);
    let chosen = visited(&places[0], Kinds::OfTheLoop, OF_EACH_KIND);
    let between = if is_campaign() { 1 } else { RUN_ANEW_BETWEEN };
    let failures: Vec<String> = chosen
        .into_iter()
        .skip(between / 2)
        .step_by(between)
        .filter_map(|place| {
            let kill = Kill::Once { command: 0, place };
            let walk = Walk { anew: true, ..Walk::new(story, kill) }.watched().walked();
            let _ = walk.left();
            let ending = walk.ending();
            (ending != expected).then(|| {
                let why = walk.scene.log();
                format!("killed at {place} and run anew: {why}\n{ending:#?}\nnot {expected:#?}")
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

mod killed_and_run_anew {
    use super::{Story, survives_run_anew};
    #[test]
    fn serial() {
        survives_run_anew(Story::Serial);
    }
    #[test]
    fn fan_out() {
        survives_run_anew(Story::FanOut);
    }
    #[test]
    fn parallel() {
        survives_run_anew(Story::Parallel);
    }
}

macro_rules! shares {
    ($($module:ident = $story:ident),+ $(,)?) => {
        $(mod $module {
            use super::{Story, survives};
            #[test] fn share_0() { survives(Story::$story, 0); }
            #[test] fn share_1() { survives(Story::$story, 1); }
        })+

        #[test]
        fn there_are_as_many_tests_as_shares() {
            assert_eq!(SHARES, 2);
        }
    };
}

shares! { killed_serial = Serial, killed_fan_out = FanOut, killed_parallel = Parallel }

impl Stricken for Walk {
    type Ending = Ending;

    fn set_up() -> Self {
        Self::new(Story::FanOut, Kill::None).watched()
    }

    fn world(&self) -> &World {
        &self.scene.world
    }

    fn start(&self) -> Output {
        self.scene.run(&self.play, &[])
    }

    fn to_the_end(self) -> Ending {
        let walk = self.walked();
        let _ = walk.left();
        walk.ending()
    }
}

/// Two rounds at once, for disturbances at any moment.
pub(crate) struct InParallel {
    walk: Walk,
    words: Vec<String>,
}

impl InParallel {
    pub(crate) fn set_up() -> Self {
        let walk = Walk::new(Story::Parallel, Kill::None);
        let words = walk.scene.words(&walk.play);
        Self { walk, words }
    }
}

impl Disturbed for InParallel {
    fn world(&self) -> &World {
        &self.walk.scene.world
    }

    fn repository(&self) -> &Repository {
        &self.walk.scene.repository
    }

    fn next(&self, _: Option<&Output>) -> Option<Vec<String>> {
        go_on(&self.walk.scene.world, || self.words.clone())
    }

    fn ending(&self) -> String {
        format!("{:#?}", self.walk.ending())
    }

    fn changes(&self) -> &'static [&'static str] {
        OWN
    }
}
