//! One run in a world of its own, played by a script, for tests that look at what is left of it.

use crate::world;
use std::path::{Path, PathBuf};
use windlass_test_support::{Background, Output, Repository, Script, When, World, wait_until};

pub(crate) const TASK: &str = "TASK-1";

pub(crate) struct PlayedRun {
    pub(crate) world: World,
    pub(crate) repository: Repository,
    pub(crate) agent: String,
}

impl PlayedRun {
    pub(crate) fn of(script: &Script) -> Self {
        let world = world();
        let repository = world.repository("repo");
        let agent = world.agent("agent.toml", script);
        Self { world, repository, agent }
    }

    /// A doer that does better in each round, and a judge that says these words, round by round.
    pub(crate) fn judged(words: &[&str]) -> Self {
        let mut script = Script::new()
            .doer(When::Always, &["{ append = 'done.txt', text = 'more' }", "{ handoff = 'did more' }"])
            .auditor(When::Always, &["{ audit = 'pass' }"]);
        for (round, word) in (1..).zip(words) {
            script = script.judge(When::Round(round), &[&format!("{{ verdict = '{word}' }}")]);
        }
        Self::of(&script)
    }

    pub(crate) fn accepted() -> Self {
        let played = Self::of(&Script::that_passes());
        let _ = played.run(&[]).exits_with(0);
        played
    }

    /// Killed while its doer was at work; the doer goes on once `go` is there.
    pub(crate) fn interrupted() -> Self {
        let played = Self::of(&waiting_doer());
        let _ = played.start_until_the_doer_works().kill();
        played
    }

    pub(crate) fn run(&self, more: &[&str]) -> Output {
        self.world.windlass(&self.words(more))
    }

    pub(crate) fn start_until_the_doer_works(&self) -> Background {
        let before = self.world.steps().len();
        let running = self.world.start_windlass(&self.words(&[]));
        wait_until("the doer", || (self.world.steps().len() > before).then_some(()));
        running
    }

    /// Lets a doer that waits go on.
    pub(crate) fn go(&self) {
        std::fs::write(self.world.shared("go"), "").unwrap();
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let repository = self.repository.text();
        let mut words = vec!["run", "Add a file", "--id", TASK, "--repo", repository, "--agent", &self.agent];
        words.extend(more);
        words
    }

    /// The newest run's line of `windlass ls`.
    pub(crate) fn line(&self) -> serde_json::Value {
        self.world.windlass(&["ls", "--json"]).exits_with(0).json()[0].clone()
    }

    pub(crate) fn id(&self) -> String {
        self.line()["run"].as_str().expect("a run has an id").to_owned()
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.line()["run_dir"].as_str().expect("a run has a directory").into()
    }

    /// A command about this run.
    pub(crate) fn about(&self, command: &str, more: &[&str]) -> Output {
        let id = self.id();
        let words: Vec<&str> = [command, &id].into_iter().chain(more.iter().copied()).collect();
        self.world.windlass(&words)
    }

    /// What the agents of this role were last told.
    pub(crate) fn prompt(&self, round: u32, role: &str) -> String {
        let path = self.run_dir().join(format!("rounds/round-{round}/{role}.prompt.md"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Passes in the end, but its doer waits for the file `go` first.
pub(crate) fn waiting_doer() -> Script {
    let done =
        ["{ wait_for = 'go' }", "{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"];
    Script::new()
        .doer(When::Always, &done)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

/// Every plain file under a directory, in a fixed order.
pub(crate) fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
