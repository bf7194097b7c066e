//! The run that is killed: two rounds, the first turned down by a check, the second accepted, audited and landed. Every
//! kind of effect has its turn, and nothing in it takes time.

use crate::world;
use windlass_test_support::{Output, Repository, Script, Untouched, When, World};

const TASK: &str = "TASK-answer";

pub(super) struct Stage {
    pub(super) world: World,
    pub(super) repository: Repository,
    agent: String,
    before: Untouched,
}

impl Stage {
    pub(super) fn set_up() -> Self {
        let world = world();
        let repository = world.repository("r");
        let script = Script::new()
            .doer(When::Round(1), &["{ write = 'answer.txt', text = 'wrong' }", "{ handoff = 'guesses' }"])
            .doer(When::Round(2), &["{ write = 'answer.txt', text = 'right' }", "{ handoff = 'knows' }"])
            .judge(When::Always, &["{ verdict = 'pass' }"])
            .auditor(When::Always, &["{ audit = 'pass' }"]);
        let agent = world.agent("answer.toml", &script);
        let before = repository.record();
        Self { world, repository, agent, before }
    }

    pub(super) fn run(&self) -> Output {
        let words = [
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
        ];
        self.world.windlass(&words)
    }

    /// One variable for one start of the program.
    pub(super) fn with(&mut self, name: &str, value: &str, start: impl FnOnce(&Self) -> Output) -> Output {
        self.world.set(name, value);
        let output = start(self);
        self.world.unset(name);
        output
    }

    fn resume(&self) -> Output {
        self.world.windlass(&["resume", "--all"])
    }

    /// How the run stands by the journal.
    pub(super) fn standing(&self) -> Standing {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        let Some(line) = list.get(0) else { return Standing::NotBegun };
        assert!(list.get(1).is_none(), "one run was begun: {list}");
        let run = line["run"].as_str().expect("a run has an id").to_owned();
        if line["status"] == "interrupted" { Standing::Interrupted } else { Standing::Ended { run } }
    }

    pub(super) fn landed_tree(&self) -> String {
        self.repository.git(&["rev-parse", &format!("refs/heads/windlass/{TASK}^{{tree}}")])
    }

    pub(super) fn assert_user_s_things_untouched(&self) {
        self.before.assert_holds(&self.repository);
    }
}

/// The places that were reached, by name, as a crash log has them.
pub(crate) fn places(log: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("the program wrote down the places it reached");
    text.lines().map(|line| line.split_once(' ').expect("a number and a name").1.to_owned()).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    NotBegun,
    Interrupted,
    Ended { run: String },
}

impl Standing {
    /// What a user does after a crash: goes on with what there is, or starts anew where nothing had begun.
    pub(super) fn way_on(&self) -> fn(&Stage) -> Output {
        match self {
            Self::NotBegun => Stage::run,
            Self::Interrupted | Self::Ended { .. } => Stage::resume,
        }
    }
}
