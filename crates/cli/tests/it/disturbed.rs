//! A story of each loop that is disturbed, whose agents leave escaping children: told command by command as a person would,
//! to its end, and compared with an undisturbed one. What disturbs it is not known here.

mod books;
mod escaping;
mod landed;
mod remains;

use crate::invariants::{Left, Watched};
use crate::seeded::Cases;
pub(crate) use books::Books;
pub(crate) use escaping::count as count_agents;
pub(crate) use remains::Remains;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};
use windlass_test_support::{Background, Output, PowerDisk, Repository, Tails, World, wait_until};

/// A person who needs more commands than this goes round in circles.
const MOST_COMMANDS: usize = 12;

/// A story of one loop, as a person tells it to the program, command by command.
pub(crate) trait Disturbed {
    fn world(&self) -> &World;
    fn repository(&self) -> &Repository;
    /// The words of the command that a person gives now, seeing what the program shows; none at the end.
    fn next(&self, last: Option<&Output>) -> Option<Vec<String>>;
    /// What has to be the same whatever disturbed it. Fails where the record does not hold.
    fn ending(&self) -> String;
    /// What of the user's own the story itself changes, by the words of [`Untouched::changes`].
    fn changes(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a person does after a crash: goes on, or begins where nothing had begun.
pub(crate) fn go_on(world: &World, begin: impl FnOnce() -> Vec<String>) -> Option<Vec<String>> {
    let list = world.windlass(&["ls", "--json"]).exits_with(0).json();
    match list[0]["status"].as_str() {
        None => Some(begin()),
        Some("interrupted") => Some(vec!["resume".to_owned(), "--all".to_owned()]),
        Some(_) => None,
    }
}

/// How a command ended, with the end of what it said.
pub(crate) fn brief(output: &Output) -> String {
    let end =
        |text: &str| text.chars().rev().take(600).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    let Output { command, code, signal, stdout, stderr } = output;
    let command: String = command.chars().take(80).collect();
    format!("`{command}…` ended with {code:?} {signal:?}\n…{}\n…{}\n", end(stdout), end(stderr))
}

/// Whether something was killed that alone knew the end of a step, so that the step may be lost and asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    MayBeLost,
    AllKnown,
}

pub(crate) struct Loop {
    pub(crate) name: &'static str,
    set_up: fn() -> Box<dyn Disturbed>,
}

pub(crate) const LOOPS: [Loop; 5] = [
    Loop { name: "task-loop", set_up: || Box::new(crate::crash_points::Stage::set_up()) },
    Loop { name: "control-loop", set_up: || Box::new(crate::control_loop::crashes::Stage::flat()) },
    Loop { name: "goal-loop", set_up: || Box::new(crate::goal_loop::crashes::OnBranch::set_up()) },
    Loop { name: "roadmap-loop", set_up: || Box::new(crate::roadmap_loop::crashes::InParallel::set_up()) },
    Loop {
        name: "story-queue",
        set_up: || Box::new(crate::stories::orchestrate::crashes::SideBySide::set_up()),
    },
];

/// The first of them where its agents work in layers over one checkout.
const IN_LAYERS: Loop = Loop {
    name: "task-loop-in-layers",
    set_up: || Box::new(crate::crash_points::Stage::with_variable(crate::overlays::KIND, "overlay")),
};
/// Of so many cases of a task one is played in layers, where the machine has them.
const BETWEEN_LAYERS: usize = 3;

/// The loop of this number as one case of a campaign plays it: drawn apart from everything else, so that a machine without
/// layers draws the same kills and cuts.
pub(crate) fn drawn(number: usize, cases: Cases, case: usize) -> &'static Loop {
    let layered =
        number == 0 && cases.dice_apart(case).one_in(BETWEEN_LAYERS) && crate::overlays::are_there();
    if layered { &IN_LAYERS } else { &LOOPS[number] }
}

/// What undisturbed runs came to, by the name of the loop. Each is measured again after some cases: how busy the machine is
/// changes.
pub(crate) struct Measurements<T> {
    again_after: usize,
    known: BTreeMap<&'static str, (usize, T)>,
}

impl<T> Measurements<T> {
    pub(crate) const fn every(again_after: usize) -> Self {
        Self { again_after, known: BTreeMap::new() }
    }

    pub(crate) fn of(&mut self, one: &Loop, measure: impl Fn(&Loop) -> T) -> &T {
        let (used, _) = self.known.entry(one.name).or_insert_with(|| (0, measure(one)));
        *used += 1;
        if *used > self.again_after {
            self.known.insert(one.name, (1, measure(one)));
        }
        &self.known[one.name].1
    }
}

/// What an undisturbed run comes to.
pub(crate) struct Expected {
    end: End,
    pub(crate) length: Duration,
}

struct End {
    ending: String,
    left: Left,
}

/// A story under way.
pub(crate) struct Told {
    /// Before the world it lies under, which it must not outlive.
    disk: Option<PowerDisk>,
    story: Box<dyn Disturbed>,
    watched: Watched,
    commands: usize,
    last: Option<Output>,
}

impl Loop {
    pub(crate) fn begin(&self) -> Told {
        let story = (self.set_up)();
        escaping::plant(story.world());
        let watched = Watched::begin(story.repository());
        Told { disk: None, story, watched, commands: 0, last: None }
    }

    pub(crate) fn undisturbed(&self) -> Expected {
        self.begin().undisturbed(&[])
    }
}

impl Told {
    pub(crate) fn world(&self) -> &World {
        self.story.world()
    }

    pub(crate) fn repository(&self) -> &Repository {
        self.story.repository()
    }

    /// From now on the power can be cut: all that is the user's and the program's lies on one such disk.
    pub(crate) fn on_a_disk(mut self) -> Self {
        let world = self.story.world();
        let places = [&world.state_dir(), self.story.repository().path(), &world.home()];
        self.disk = Some(PowerDisk::under(&places));
        self
    }

    /// Ends every process and cuts the power; how many files lost something. Before this the program's end is to be waited
    /// for, or nobody would be left to wait for it.
    pub(crate) fn cut_power(&mut self, tails: Tails<'_>) -> usize {
        self.world().kill_everything();
        wait_until("the last process to be gone", || self.world().processes().is_empty().then_some(()));
        self.disk.as_mut().expect("it lies on a disk").cut(tails)
    }

    /// To its end, as nobody disturbs it. The variables are for its first command.
    #[expect(clippy::disallowed_methods, reason = "how long it takes is what moments are drawn from")]
    pub(crate) fn undisturbed(&mut self, variables: &[(&str, OsString)]) -> Expected {
        let begun = Instant::now();
        let mut first = variables;
        while let Some(running) = self.next_command_with(first) {
            first = &[];
            self.ended(running.wait().exits_with(0));
        }
        let length = begun.elapsed();
        Expected { end: self.end(), length }
    }

    /// Gives the command that a person gives now; none at the end of the story.
    pub(crate) fn next_command(&mut self) -> Option<Background> {
        self.next_command_with(&[])
    }

    pub(crate) fn next_command_with(&mut self, variables: &[(&str, OsString)]) -> Option<Background> {
        let words = self.next_words()?;
        self.commands += 1;
        assert!(
            self.commands <= MOST_COMMANDS,
            "it goes round in circles after {}",
            self.last.as_ref().map(brief).unwrap_or_default()
        );
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(self.world().start_windlass_with(&words, variables))
    }

    pub(crate) fn next_words(&self) -> Option<Vec<String>> {
        self.story.next(self.last.as_ref())
    }

    pub(crate) fn give(&self, words: &[String]) -> Background {
        self.world().start_windlass(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A command has ended, and nobody is at work.
    pub(crate) fn ended(&mut self, output: Output) {
        self.watched.look(self.story.world(), &output.command);
        self.last = Some(output);
    }

    /// Goes on undisturbed to the end of the story and compares it.
    pub(crate) fn ends_as(mut self, expected: &Expected, steps: Steps) {
        while let Some(running) = self.next_command() {
            let output = running.wait();
            assert_eq!(output.code, Some(0), "{}", brief(&output));
            self.ended(output);
        }
        let end = self.end();
        assert_eq!(end.ending, expected.end.ending);
        assert_eq!(end.left.beyond(&expected.end.left, steps), Vec::<String>::new());
    }

    /// All that is left when the story is over and its last process is gone.
    fn end(&self) -> End {
        let story = self.story.as_ref();
        let left = self.watched.end(story.world(), story.repository(), story.changes());
        End { ending: story.ending(), left }
    }
}
