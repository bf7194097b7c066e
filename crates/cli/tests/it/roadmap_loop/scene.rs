//! A repository with a control plane somebody else set up, and scripted agents that work as they are told. A test says only
//! what differs from rounds that are well made.

use super::plane::{self, Milestone, STATE, Style, milestone};
use super::play::{Cut, Play};
use crate::world;
use serde_json::Value;
use windlass_test_support::{Output, Repository, World};

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) repository: Repository,
    pub(crate) style: Style,
}

impl Scene {
    /// A plane at rest with these milestones, committed.
    pub(crate) fn of(style: Style, milestones: &[Milestone]) -> Self {
        Self::with_parallel(style, 1, milestones)
    }

    pub(crate) fn with_parallel(style: Style, parallel: u32, milestones: &[Milestone]) -> Self {
        let world = world();
        let repository = world.repository("repo");
        for (path, text) in plane::files(style, milestones) {
            repository.write(&path, &text);
        }
        repository.write(STATE, &format!("{:#}\n", plane::state(style, parallel)));
        repository.write("src/main.txt", "one\ntwo\nthree\n").commit("set up");
        Self { world, repository, style }
    }

    /// One milestone, `m-1`.
    pub(crate) fn small(style: Style) -> Self {
        Self::of(style, &[milestone("m-1")])
    }

    pub(crate) fn cut(&self, round: &str, milestone: &'static str) -> Cut {
        Cut::of(self.style, round, milestone)
    }

    pub(crate) fn agent(&self, play: &Play) -> String {
        self.world.agent_from_text("play.toml", &play.0)
    }

    /// The words of `roadmap run` with these agents.
    pub(crate) fn words(&self, play: &Play) -> Vec<String> {
        let agent = self.agent(play);
        let words = ["roadmap", "run", "--repo", self.repository.text(), "--json", "--agent", &agent];
        words.map(str::to_owned).to_vec()
    }

    pub(crate) fn run(&self, play: &Play, more: &[&str]) -> Output {
        let words = self.words(play);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.world.windlass(&words)
    }

    /// Runs to an end with this exit code; comes back with the outcome.
    #[track_caller]
    pub(crate) fn ends(&self, play: &Play, code: u8) -> Value {
        outcome(&self.run(play, &[]).exits_with(code))
    }

    /// Runs until every milestone is done.
    #[track_caller]
    pub(crate) fn completes(&self, play: &Play) -> Value {
        let outcome = self.ends(play, 0);
        self.assert_complete();
        outcome
    }

    /// A command about the newest run, such as `resume` or `log`.
    pub(crate) fn about(&self, command: &str, more: &[&str]) -> Output {
        let run = self.run_id();
        self.world.windlass(&[&[command, run.as_str()], more].concat())
    }

    #[track_caller]
    pub(crate) fn run_id(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        list[0]["run"].as_str().expect("a run was begun").to_owned()
    }

    #[track_caller]
    pub(crate) fn log(&self) -> String {
        self.about("log", &[]).exits_with(0).stdout
    }

    /// The state file as it is in the user's checkout.
    #[track_caller]
    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.repository.read(STATE)).expect("the state is always whole")
    }

    /// Changes the state file as a person with an editor does.
    pub(crate) fn edit_state(&self, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        change(&mut state);
        self.repository.write(STATE, &format!("{state:#}\n"));
    }

    /// A file as it is on the base branch.
    #[track_caller]
    pub(crate) fn merged(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("main:{path}")])
    }

    pub(crate) fn is_merged(&self, path: &str) -> bool {
        self.repository.git_succeeds(&["cat-file", "-e", &format!("main:{path}")])
    }

    /// Subjects on the base branch since the plane was set up, the first one first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        let text = self.repository.git(&["log", "--reverse", "--first-parent", "--format=%s", "main"]);
        text.lines().skip(2).map(str::to_owned).collect()
    }

    /// The rounds that were merged, in their order.
    pub(crate) fn merged_rounds(&self) -> Vec<String> {
        let subjects = self.subjects();
        let completed = subjects.iter().filter_map(|subject| subject.strip_prefix("Complete "));
        completed.map(|rest| rest.split([':', ' ']).next().unwrap_or_default().to_owned()).collect()
    }

    /// What agents were asked, as `plan 1 1`: the work, the round, the attempt.
    pub(crate) fn works(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.world.shared("works.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What an agent was told, such as `plan-1-1`: work, round, attempt.
    #[track_caller]
    pub(crate) fn prompt(&self, step: &str) -> String {
        let path = self.world.shared(&format!("{step}.md"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The state says done, every heading does, and the record holds.
    #[track_caller]
    pub(crate) fn assert_complete(&self) {
        let state = self.state();
        assert_eq!(state["controller_stage"], "done", "{state:#}\n{}", self.log());
        assert_eq!(state["active_rounds"], serde_json::json!([]));
        assert_eq!(state["roadmap_update"], Value::Null);
        assert_eq!(state["resume_errors"], serde_json::json!({}));
        let dir = state["roadmap_dir"].as_str().unwrap().to_owned();
        let roadmap = self.merged(&format!("{dir}/roadmap.md"));
        assert!(!roadmap.contains("[pending]") && !roadmap.contains("[in-progress]"), "{roadmap}");
        assert_eq!(roadmap, self.repository.read(&format!("{dir}/roadmap.md")).trim_end_matches('\n'));
        self.assert_sound();
    }

    /// The record holds, nobody is left, and nothing but the state differs in the user's checkout.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let _ = self.about("verify", &[]).exits_with(0);
        self.world.assert_no_processes();
        let status = self.repository.git(&["status", "--porcelain"]);
        assert!(status.lines().all(|line| line.ends_with(STATE)), "{status}");
        assert!(self.repository.git(&["diff", "--cached", "--name-only"]).is_empty());
    }
}

/// The last line of what `roadmap run --json` prints.
#[track_caller]
pub(crate) fn outcome(output: &Output) -> Value {
    output.json_lines().pop().expect("a run prints its outcome")
}

/// The outcome gives this reason, in these words.
#[track_caller]
pub(crate) fn assert_because(outcome: &Value, words: &str) {
    let because = outcome.to_string();
    assert!(because.contains(words), "{words} in {outcome:#}");
}
