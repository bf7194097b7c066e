//! The run that is killed: two rounds, the first turned down by a check, the second accepted, audited and landed. Every
//! kind of effect has its turn, and nothing in it takes time.

use crate::disturbed::{Disturbed, go_on};
use crate::invariants::{Left, Watched};
use crate::world;
use windlass_test_support::{Output, Repository, Script, When, World};

const TASK: &str = "TASK-answer";

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) repository: Repository,
    agent: String,
    watched: Watched,
}

/// The agents of the run that can be asked for a last act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    FirstDoer,
    Judge,
    Auditor,
}

impl Stage {
    pub(crate) fn set_up() -> Self {
        Self::of(world(), &[])
    }

    /// For what an agent inside could not do.
    pub(crate) fn without_sandbox(reason: &str) -> Self {
        let mut world = world();
        world.without_sandbox(reason);
        Self::of(world, &[])
    }

    /// The same with a variable for all programs.
    pub(crate) fn with_variable(name: &str, value: &str) -> Self {
        let mut world = world();
        world.set(name, value);
        Self::of(world, &[])
    }

    /// The first doer does something more, when its work is done and its answer given.
    pub(crate) fn with_action(action: impl FnOnce(&World) -> String) -> Self {
        let world = world();
        let action = action(&world);
        Self::of(world, &[(Actor::FirstDoer, &action)])
    }

    /// One of the agents does something more, when its work is done and its answer given. No fence is around it: it plays a
    /// fault of the machine.
    pub(crate) fn with_last_act(actor: Actor, action: impl FnOnce(&World) -> String) -> Self {
        let mut world = world();
        world.without_sandbox("the agent plays a fault of the machine");
        let action = action(&world);
        Self::of(world, &[(actor, &action)])
    }

    fn of(world: World, last_acts: &[(Actor, &str)]) -> Self {
        let repository = world.repository("r");
        let last = |actor| last_acts.iter().filter(move |(who, _)| *who == actor).map(|(_, act)| *act);
        let guess = ["{ write = 'answer.txt', text = 'wrong' }", "{ handoff = 'guesses' }"];
        let first: Vec<&str> = guess.into_iter().chain(last(Actor::FirstDoer)).collect();
        let judge: Vec<&str> = ["{ verdict = 'pass' }"].into_iter().chain(last(Actor::Judge)).collect();
        let auditor: Vec<&str> = ["{ audit = 'pass' }"].into_iter().chain(last(Actor::Auditor)).collect();
        let script = Script::new()
            .doer(When::Round(1), &first)
            .doer(When::Round(2), &["{ write = 'answer.txt', text = 'right' }", "{ handoff = 'knows' }"])
            .judge(When::Always, &judge)
            .auditor(When::Always, &auditor);
        let agent = world.agent("answer.toml", &script);
        let watched = Watched::begin(&repository);
        Self { world, repository, agent, watched }
    }

    pub(crate) fn run(&self) -> Output {
        self.world.windlass(&self.words())
    }

    /// The command that runs the task.
    pub(crate) fn words(&self) -> [&str; 12] {
        [
            "run",
            "Give the right answer",
            "--id",
            TASK,
            "--repo",
            self.repository.text(),
            "--agent",
            self.agent.as_str(),
            "--check",
            "grep -q right answer.txt",
            "--audit-check",
            "test -s answer.txt",
        ]
    }

    /// One variable for one start of the program.
    pub(crate) fn with(&mut self, name: &str, value: &str, start: impl FnOnce(&Self) -> Output) -> Output {
        self.world.set(name, value);
        let output = start(self);
        self.world.unset(name);
        output
    }

    pub(crate) fn resume(&self) -> Output {
        self.world.windlass(&["resume", "--all"])
    }

    /// How the run stands by the journal.
    pub(crate) fn standing(&self) -> Standing {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        let Some(line) = list.get(0) else { return Standing::NotBegun };
        assert!(list.get(1).is_none(), "one run was begun: {list}");
        let run = line["run"].as_str().expect("a run has an id").to_owned();
        if line["status"] == "interrupted" { Standing::Interrupted } else { Standing::Ended { run } }
    }

    pub(crate) fn landed_tree(&self) -> String {
        self.repository.git(&["rev-parse", &format!("refs/heads/windlass/{TASK}^{{tree}}")])
    }

    pub(crate) fn assert_user_s_things_untouched(&self) {
        self.watched.assert_untouched(&self.repository);
    }

    /// The story is over: all that must hold whatever was done to it.
    pub(crate) fn end(&self) -> Left {
        self.watched.end(&self.world, &self.repository, &[])
    }
}

impl Disturbed for Stage {
    fn world(&self) -> &World {
        &self.world
    }

    fn repository(&self) -> &Repository {
        &self.repository
    }

    fn next(&self, _: Option<&Output>) -> Option<Vec<String>> {
        go_on(&self.world, || self.words().map(str::to_owned).to_vec())
    }

    fn ending(&self) -> String {
        format!("{:?} {}", matches!(self.standing(), Standing::Ended { .. }), self.landed_tree())
    }
}

/// The places that were reached, by name, as a crash log has them.
pub(crate) fn places(log: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("the program wrote down the places it reached");
    text.lines().map(|line| line.split_once(' ').expect("a number and a name").1.to_owned()).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    NotBegun,
    Interrupted,
    Ended { run: String },
}

impl Standing {
    /// What a user does after a crash: goes on with what there is, or starts anew where nothing had begun.
    pub(crate) fn way_on(&self) -> fn(&Stage) -> Output {
        match self {
            Self::NotBegun => Stage::run,
            Self::Interrupted | Self::Ended { .. } => Stage::resume,
        }
    }
}
