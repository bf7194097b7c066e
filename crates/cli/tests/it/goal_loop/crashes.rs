//! Kills the program with SIGKILL at the places where a crash could hurt, in every command of three stories, and goes on as
//! a person would: the same files, the same counters, no commit twice.

use super::stage::{Stage, Turn};
use crate::crash_points::{Kinds, places, visited};
use crate::disturbed::{Disturbed, Steps, count_agents, go_on};
use crate::invariants::{Left, Watched};
use crate::machine_faults::Stricken;
use serde_json::Value;
use std::fmt::Write as _;
use windlass_test_support::{Output, Repository, World};

/// The places of a story are shared out among so many tests, which run side by side.
const SHARES: usize = 2;
/// So many places of each kind are visited in each story; `cargo xtask chaos` visits all.
const OF_EACH_KIND: usize = 1;
/// By so many the number of places of one command differs from run to run.
const UNSTEADY: usize = 12;
/// A walk that needs more commands than this goes round in circles.
const MOST_COMMANDS: usize = 60;

#[derive(Clone, Copy)]
enum Story {
    /// At L1: a rework, then two items that a person approves, to the end.
    Approved,
    /// At L1: a no, work taken over, handed back and approved, and an item that is skipped.
    ByHand,
    /// At L2, on the branch that is checked out, which follows commit by commit.
    InPlace,
}

impl Story {
    fn stage(self) -> Stage {
        let first = match self {
            Self::Approved | Self::InPlace => Turn::failing(1, "part-1.txt"),
            Self::ByHand => Turn::passing(1).saying("too quiet"),
        };
        let level = if matches!(self, Self::InPlace) { "L2" } else { "L1" };
        Stage::of(2, level, &[first, Turn::passing(1), Turn::passing(2)])
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
    story: Story,
    stage: Stage,
    kill: Kill,
    given: Vec<String>,
    kills: usize,
    watched: Option<Watched>,
}

/// Everything that has to be the same whatever was killed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    subjects: Vec<String>,
    /// Every file of the last commit, moments and ids of commits aside.
    files: String,
    counters: Value,
    /// Which agents were asked; one whose end nobody saw is asked again.
    steps: Vec<String>,
    checkout: String,
}

impl Walk {
    fn new(story: Story, kill: Kill) -> Self {
        Self { story, stage: story.stage(), kill, given: Vec::new(), kills: 0, watched: None }
    }

    /// Looked after from its beginning, with agents that count themselves.
    fn watched(mut self) -> Self {
        count_agents(&self.stage.world);
        self.watched = Some(Watched::begin(&self.stage.repository));
        self
    }

    fn left(&self) -> Left {
        // In place, the branch that is checked out follows the loop's.
        let own: &[&str] = match self.story {
            Story::InPlace => &["refs/heads/", "files", "index"],
            Story::Approved | Story::ByHand => &["refs/heads/goal/"],
        };
        let watched = self.watched.as_ref().expect("this walk is looked after");
        watched.end(&self.stage.world, &self.stage.repository, own)
    }

    /// Gives one command, which may be killed or write down its places.
    fn give(&mut self, command: &str, start: impl FnOnce(&Stage) -> Output) -> Option<Output> {
        let number = self.given.len();
        self.given.push(command.to_owned());
        assert!(number < MOST_COMMANDS, "it goes round in circles: {:?}", self.given);
        let log = self.stage.world.shared(&format!("places-{number}.txt"));
        match self.kill.place_in(number) {
            Some(place) => self.stage.world.set("WINDLASS_CRASH_AT", place.to_string()),
            None => self.stage.world.set("WINDLASS_CRASH_LOG", log),
        };
        let output = start(&self.stage);
        self.stage.world.unset("WINDLASS_CRASH_AT").unset("WINDLASS_CRASH_LOG");
        if let Some(watched) = &mut self.watched {
            watched.look(&self.stage.world, command);
        }
        if output.signal == Some(9) {
            self.kills += 1;
            return None;
        }
        let done = matches!(output.code, Some(0 | 11));
        assert!(done, "{command} after {:?} ended with {:?}\n{}", self.given, output.code, output.stderr);
        Some(output)
    }

    /// What a person does next, from nothing but what the program shows; false at the end.
    fn step(&mut self) -> bool {
        let Some(status) = self.stage.status() else {
            let flags: &[&str] = if matches!(self.story, Story::InPlace) { &["--in-place"] } else { &[] };
            self.give("run", |stage| stage.run(flags));
            return true;
        };
        let report = &status["report"];
        if report["outcome"].is_string() {
            return false;
        }
        let proposed = report["proposed"]["tree"].as_str().map(str::to_owned);
        match (proposed, self.story) {
            (None, _) => {
                self.give("resume", |stage| stage.about("resume", &[]));
            }
            (Some(tree), Story::Approved | Story::InPlace) => self.approve(&tree),
            (Some(tree), Story::ByHand) => {
                let item = report["proposed"]["item"].as_str().unwrap();
                let rework = report["items"][0]["rework"].as_u64().unwrap();
                self.answer_by_hand(&tree, item, rework);
            }
        }
        true
    }

    fn approve(&mut self, tree: &str) {
        self.give("approve", |stage| stage.about("approve", &["--tree", tree]));
    }

    fn answer_by_hand(&mut self, tree: &str, item: &str, rework: u64) {
        if item == "F002" {
            self.give("skip", |stage| stage.about("skip", &["--reason", "not now"]));
        } else if rework == 0 {
            self.give("reject", |stage| stage.about("reject", &["--reason", "say it louder"]));
        } else if self.stage.built(1) == "by hand" {
            self.approve(tree);
        } else if let Some(taken) = self.give("take-over", |stage| stage.about("take-over", &["--json"])) {
            let worktree = taken.json_lines().pop().expect("it says where")["worktree"].clone();
            let file = std::path::Path::new(worktree.as_str().unwrap()).join("part-1.txt");
            std::fs::write(file, "by hand").unwrap();
            self.give("hand-back", |stage| stage.about("hand-back", &[]));
        }
    }

    fn walked(mut self) -> Self {
        while self.step() {}
        self
    }

    /// The places each command came through.
    fn places(&self) -> Vec<Vec<String>> {
        let log = |number| self.stage.world.shared(&format!("places-{number}.txt"));
        (0..self.given.len()).map(|number| places(&log(number))).collect()
    }

    fn ending(&self) -> Ending {
        let stage = &self.stage;
        stage.assert_sound();
        let mut report = stage.report();
        for iteration in report["iterations_done"].as_array_mut().unwrap() {
            iteration["commit"] = iteration["commit"].is_string().into();
        }
        report["commits"] = report["commits"].as_array().unwrap().len().into();
        let mut steps = stage.steps();
        for step in &mut steps {
            step.truncate(step.rfind(' ').unwrap());
        }
        steps.dedup();
        Ending {
            subjects: stage.subjects(),
            files: files(stage),
            counters: report,
            steps,
            checkout: stage.repository.git(&["status", "--porcelain"]),
        }
    }
}

fn files(stage: &Stage) -> String {
    let branch = stage.branch();
    let names = stage.repository.git(&["ls-tree", "-r", "--name-only", &branch]);
    let mut text = String::new();
    for name in names.lines() {
        let content = stage.file(name);
        let _ = write!(text, "== {}\n{}\n", timeless(name), timeless(&content));
    }
    text
}

/// The text with moments and ids of commits taken out: they differ from run to run.
fn timeless(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_moment =
        |word: &str| word.len() >= 10 && word.starts_with("20") && word.as_bytes().get(4) == Some(&b'-');
    let plain = |word: &str| if is_id(word) || is_moment(word) { "*".to_owned() } else { word.to_owned() };
    let separates = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | ':');
    let parts = text.split_inclusive(separates).map(|piece| {
        let word = piece.trim_end_matches(separates);
        // The thousandths of a moment stand behind a point.
        let thousandths =
            word.len() == 4 && word.ends_with('Z') && word[..3].bytes().all(|b| b.is_ascii_digit());
        if thousandths { "*".to_owned() + &piece[word.len()..] } else { plain(word) + &piece[word.len()..] }
    });
    parts.collect()
}

fn undisturbed(story: Story) -> (Ending, Vec<Vec<String>>, Vec<String>) {
    let (ending, _, places, given) = undisturbed_and_left(story);
    (ending, places, given)
}

fn undisturbed_and_left(story: Story) -> (Ending, Left, Vec<Vec<String>>, Vec<String>) {
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
                let (walked, why) = (&walk.given, walk.stage.about("explain", &[]).stdout);
                format!("{command} killed at {place}, {walked:?}: {why}\n{ending:#?}\nnot {expected:#?}")
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_stories_come_through_every_command_and_end_as_they_should() {
    let (ending, places, given) = undisturbed(Story::Approved);
    assert_eq!(given, ["run", "resume", "approve", "resume", "approve"]);
    assert_eq!(ending.subjects, ["feat(F001): Part 1", "feat(F002): Part 2", "chore(loop): run summary"]);
    assert_eq!(ending.counters["outcome"], "SUCCESS");
    assert_eq!(ending.counters["iterations"]["used"], 3);
    assert_eq!(ending.counters["items"][0]["rework"], 1);
    assert!(places.iter().all(|places| places.len() > UNSTEADY), "{places:?}");

    let (ending, _, given) = undisturbed(Story::ByHand);
    let walked = ["run", "reject", "resume", "take-over", "hand-back", "approve", "resume", "skip", "resume"];
    assert_eq!(given, walked);
    assert_eq!(ending.subjects, ["feat(F001): Part 1", "chore(loop): run summary"]);
    assert_eq!(ending.counters["outcome"], "ESCALATED");
    assert!(ending.files.contains("== part-1.txt\nby hand\n"), "{}", ending.files);

    let (ending, _, given) = undisturbed(Story::InPlace);
    assert_eq!(given, ["run"]);
    assert_eq!(ending.subjects, ["feat(F001): Part 1", "feat(F002): Part 2", "chore(loop): run summary"]);
    assert_eq!(ending.checkout, "", "the checkout follows");
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
    survives_being_killed_again(Story::Approved, 37);
    survives_being_killed_again(Story::ByHand, 41);
    survives_being_killed_again(Story::InPlace, 23);
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

shares! { killed_while_approved = Approved, killed_by_hand = ByHand, killed_in_place = InPlace }

impl Stricken for Walk {
    type Ending = Ending;

    fn set_up() -> Self {
        Self::new(Story::InPlace, Kill::None).watched()
    }

    fn world(&self) -> &World {
        &self.stage.world
    }

    fn start(&self) -> Output {
        self.stage.run(&["--in-place"])
    }

    fn to_the_end(self) -> Ending {
        let walk = self.walked();
        let _ = walk.left();
        walk.ending()
    }
}

/// A goal loop at L2 on a branch of its own, for disturbances at any moment.
pub(crate) struct OnBranch(Walk);

impl OnBranch {
    pub(crate) fn set_up() -> Self {
        Self(Walk::new(Story::InPlace, Kill::None))
    }
}

impl Disturbed for OnBranch {
    fn world(&self) -> &World {
        &self.0.stage.world
    }

    fn repository(&self) -> &Repository {
        &self.0.stage.repository
    }

    fn next(&self, _: Option<&Output>) -> Option<Vec<String>> {
        let stage = &self.0.stage;
        go_on(&stage.world, || stage.run_words(&[]).into_iter().map(str::to_owned).collect())
    }

    fn ending(&self) -> String {
        format!("{:#?}", self.0.ending())
    }

    fn changes(&self) -> &'static [&'static str] {
        &["refs/heads/goal/"]
    }
}
