//! One small run of each loop, for attacks that are played on all of them: who makes, who checks, where each of them answers,
//! and how to tell that nothing was let through. What is attacked, and how, is not known here.

mod casts;

use crate::control_loop::plant::{BRANCH, Plant, TASK as SETPOINT};
use crate::goal_loop::scene::{Scene as GoalScene, item, with};
use crate::invariants::{Left, Watched};
use crate::roadmap_loop::plane::Style;
use crate::roadmap_loop::scene::Scene as RoadmapScene;
use crate::scene::{Scene, TASK};
use crate::stories::orchestrate::stage::one_story;
pub(crate) use casts::{Given, Part, hex};
use serde_json::Value;
use std::path::PathBuf;
use windlass_artifact_formats::control_loop::read_loop_commit;
use windlass_test_support::{Output, Repository, World};

/// No program may need more than this, whatever lies before it.
const MOST_MEMORY: &str = "--data=268435456";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loop {
    Task,
    Control,
    Goal,
    Roadmap,
    Stories,
}

impl Loop {
    pub(crate) const ALL: [Self; 5] = [Self::Task, Self::Control, Self::Goal, Self::Roadmap, Self::Stories];

    /// What the role that makes something answers.
    pub(crate) const fn of_the_maker(self) -> Answer {
        match self {
            Self::Task => Answer::Handoff,
            Self::Control => Answer::ActionReport,
            Self::Goal => Answer::BuildReport,
            Self::Roadmap => Answer::Notes,
            Self::Stories => Answer::StoryHandoff,
        }
    }

    /// What the role answers that decides on what was made.
    pub(crate) const fn of_the_checker(self) -> Answer {
        match self {
            Self::Task => Answer::Verdict,
            Self::Control => Answer::Decision,
            Self::Goal => Answer::Evaluation,
            Self::Roadmap => Answer::ReviewRecord,
            Self::Stories => Answer::StoryVerdict,
        }
    }

    /// What of the user's it changes itself, by the words of [`windlass_test_support::Untouched::changes`].
    const fn changes(self) -> &'static [&'static str] {
        match self {
            Self::Task | Self::Stories => &[],
            Self::Control => &["refs/heads/ai-loop/"],
            Self::Goal => &["refs/heads/goal/"],
            Self::Roadmap => &["refs/heads/main", "refs/heads/orchestrator/", "files", "index"],
        }
    }
}

/// Everything that an agent of some loop answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Handoff,
    Verdict,
    Audit,
    Decision,
    ActionReport,
    Reading,
    Design,
    BuildReport,
    Evaluation,
    Plan,
    PlanRecord,
    Notes,
    Review,
    ReviewRecord,
    StoryHandoff,
    StoryVerdict,
}

impl Answer {
    pub(crate) const ALL: [Self; 16] = [
        Self::Handoff,
        Self::Verdict,
        Self::Audit,
        Self::Decision,
        Self::ActionReport,
        Self::Reading,
        Self::Design,
        Self::BuildReport,
        Self::Evaluation,
        Self::Plan,
        Self::PlanRecord,
        Self::Notes,
        Self::Review,
        Self::ReviewRecord,
        Self::StoryHandoff,
        Self::StoryVerdict,
    ];

    pub(crate) const fn of(self) -> Loop {
        match self {
            Self::Handoff | Self::Verdict | Self::Audit => Loop::Task,
            Self::Decision | Self::ActionReport | Self::Reading => Loop::Control,
            Self::Design | Self::BuildReport | Self::Evaluation => Loop::Goal,
            Self::Plan | Self::PlanRecord | Self::Notes | Self::Review | Self::ReviewRecord => Loop::Roadmap,
            Self::StoryHandoff | Self::StoryVerdict => Loop::Stories,
        }
    }

    /// Whether something can be let through without it. A report only tells: what was made is measured
    /// anyway, and the words of a review stand beside the record that decides.
    pub(crate) const fn only_tells(self) -> bool {
        matches!(self, Self::ActionReport | Self::BuildReport | Self::Review)
    }
}

/// A world in which one loop is about to run, and what its agents will do.
pub(crate) struct Attacked {
    pub(crate) world: World,
    pub(crate) repository: Repository,
    answer: Answer,
    parts: Vec<Part>,
    watched: Watched,
}

/// A run that came to an end, typed and told.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) outcome: Value,
    /// The logs of all runs, as `windlass log --json` has them.
    pub(crate) log: String,
}

impl Attacked {
    /// The smallest run in which this answer is asked for and counts.
    pub(crate) fn about(answer: Answer) -> Self {
        let (world, repository) = set_up(answer);
        let watched = Watched::begin(&repository);
        Self { world, repository, answer, parts: casts::of(answer), watched }
    }

    /// The user's repository is like this from the beginning.
    pub(crate) fn prepare(&mut self, make: impl FnOnce(&Repository)) {
        make(&self.repository);
        self.watched = Watched::begin(&self.repository);
    }

    /// The answer as it would be accepted.
    pub(crate) fn sound(&self) -> &Given {
        self.given(self.answer)
    }

    pub(crate) fn given(&self, answer: Answer) -> &Given {
        let mut given = self.parts.iter().flat_map(|part| &part.given);
        given.find(|given| given.answer == Some(answer)).expect("each answer is given by somebody")
    }

    /// Whoever answers this does that instead.
    pub(crate) fn instead(&mut self, answer: Answer, actions: &[String]) {
        for given in self.parts.iter_mut().flat_map(|part| &mut part.given) {
            if given.answer == Some(answer) {
                given.instead = Some(actions.to_vec());
            }
        }
    }

    /// Whoever answers this in the end does that before.
    pub(crate) fn before(&mut self, answer: Answer, actions: &[String]) {
        let answers = |part: &&mut Part| part.given.iter().any(|given| given.answer == Some(answer));
        let part = self.parts.iter_mut().rev().find(answers).expect("each answer is given by somebody");
        part.work.extend_from_slice(actions);
    }

    pub(crate) fn run(&self) -> Ended {
        self.run_under(&[])
    }

    /// With these words before the program's own.
    pub(crate) fn run_under(&self, means: &[&str]) -> Ended {
        let script: String = self.parts.iter().map(Part::text).collect();
        let agent = self.world.agent_from_text("agents.toml", &script);
        let words = self.words(&agent);
        let program = self.world.program().to_str().expect("a readable place");
        let bounded = ["prlimit", MOST_MEMORY, program];
        let all: Vec<&str> =
            means.iter().chain(&bounded).copied().chain(words.iter().map(String::as_str)).collect();
        let output = self.world.run(all[0].as_ref(), self.world.path(), &all[1..], "");
        self.ended(&output)
    }

    fn words(&self, agent: &str) -> Vec<String> {
        let repository = self.repository.text();
        let words: &[&str] = match self.answer.of() {
            Loop::Task => &["run", "Add done.txt", "--id", TASK, "--rounds", "1"],
            Loop::Control => &["control", "run", SETPOINT, "--yes", "--max-iterations", "2"],
            Loop::Goal => &["goal", "run", "--yes"],
            Loop::Roadmap => &["roadmap", "run"],
            Loop::Stories => &["orchestrate", "--project", "app", "--no-audit", "--once"],
        };
        let common = ["--repo", repository, "--json", "--agent", agent];
        words.iter().chain(&common).map(|word| (*word).to_owned()).collect()
    }

    /// There is an outcome, and it is one of those that are documented; a panic is neither.
    fn ended(&self, output: &Output) -> Ended {
        let said = format!("{}\n{}", output.stdout, output.stderr);
        assert!(!said.contains("panicked") && !said.contains("WL-BUG"), "{said}");
        let code = output.code.unwrap_or_else(|| panic!("ended by a signal: {said}"));
        assert!([0, 10, 11, 12].contains(&code), "ended with {code}: {said}");
        let outcome = output.json_lines().pop().unwrap_or_else(|| panic!("no answer: {said}"));
        let word = ["final_verdict", "status"].iter().find_map(|key| outcome[*key].as_str());
        assert!(word.is_some(), "no outcome: {said}");
        Ended { code, outcome, log: self.log() }
    }

    pub(crate) fn log(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        let runs = list.as_array().expect("a list").iter().filter_map(|line| line["run"].as_str());
        runs.map(|run| self.world.windlass(&["log", run, "--json"]).exits_with(0).stdout).collect()
    }

    /// Where the agents' own outboxes still hold what was left in them under this name.
    pub(crate) fn left_in_outboxes(&self, name: &str) -> Vec<PathBuf> {
        let below = |directory: PathBuf| -> Vec<PathBuf> {
            std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        let runs = below(self.world.state_dir().join("runs"));
        let effects = runs.iter().flat_map(|run| below(run.join("effects")));
        let places = effects.map(|effect| effect.join("outbox").join(name));
        places.filter(|place| place.symlink_metadata().is_ok()).collect()
    }

    /// What was accepted, by commit or by name.
    pub(crate) fn let_through(&self) -> Vec<String> {
        let lines = |text: String| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        let subjects = |beginning: &str| {
            let mut subjects = lines(self.repository.git(&["log", "--branches", "--format=%s"]));
            subjects.retain(|subject| subject.starts_with(beginning));
            subjects
        };
        match self.answer.of() {
            Loop::Task => {
                lines(self.repository.git(&["for-each-ref", "--format=%(refname)", "refs/heads/windlass"]))
            }
            Loop::Control => self.claimed(),
            Loop::Goal => subjects("feat("),
            Loop::Roadmap => subjects("Complete "),
            Loop::Stories => subjects("US-"),
        }
    }

    /// The commits of a control loop by which its target counts as met.
    fn claimed(&self) -> Vec<String> {
        if !self.repository.git_succeeds(&["rev-parse", "-q", "--verify", BRANCH]) {
            return Vec::new();
        }
        let ids = self.repository.git(&["rev-list", &format!("HEAD..{BRANCH}")]);
        let message = |id: &str| self.repository.git(&["show", "-s", "--format=%B", id]);
        let met = |message: &String| read_loop_commit(message).is_some_and(|one| one.target_met == "true");
        ids.lines().map(message).filter(met).collect()
    }

    /// The names of all files of what was let through.
    pub(crate) fn files(&self) -> String {
        self.repository.git(&["ls-tree", "-r", "--name-only", &self.result()])
    }

    /// The tip of what this loop makes, where it let something through.
    fn result(&self) -> String {
        let name = match self.answer.of() {
            Loop::Task => format!("windlass/{TASK}"),
            Loop::Control => BRANCH.to_owned(),
            Loop::Goal => {
                let names = ["for-each-ref", "--format=%(refname:short)", "refs/heads/goal"];
                self.repository.git(&names).lines().next().expect("a branch of the loop").to_owned()
            }
            Loop::Roadmap => "main".to_owned(),
            Loop::Stories => "windlass/app".to_owned(),
        };
        self.repository.git(&["rev-parse", &name])
    }

    /// All that must hold after every case, whatever was done. `own` is what of the user's the attack changed.
    pub(crate) fn end(&self, own: &[&str]) -> Left {
        let changes = [self.answer.of().changes(), own].concat();
        self.watched.end(&self.world, &self.repository, &changes)
    }
}

fn set_up(answer: Answer) -> (World, Repository) {
    match answer.of() {
        Loop::Task => {
            let Scene { world, repository } = Scene::new();
            (world, repository)
        }
        Loop::Control => {
            let plant = Plant::flat(u32::from(answer == Answer::ActionReport));
            if answer == Answer::Reading {
                plant.role("loop-sensor-taste", "# Sensor: taste\n\n## Measurement\n\nLook at it.\n");
                plant.repository.commit("a sensor of taste");
            }
            (plant.world, plant.repository)
        }
        Loop::Goal => {
            // One that nobody may build without a design, where designs are attacked.
            let risk = serde_json::json!({ "risk": "high" });
            let only = if answer == Answer::Design { with(item("F001"), risk) } else { item("F001") };
            let GoalScene { world, repository } = GoalScene::set_up(&[only], "L2");
            (world, repository)
        }
        Loop::Roadmap => {
            let RoadmapScene { world, repository, .. } = RoadmapScene::small(Style::Records);
            (world, repository)
        }
        Loop::Stories => one_story(),
    }
}

#[test]
fn each_loop_comes_to_its_end_where_nobody_attacks_it() {
    for answer in [
        Answer::Handoff,
        Answer::Decision,
        Answer::ActionReport,
        Answer::Reading,
        Answer::Design,
        Answer::BuildReport,
        Answer::Notes,
        Answer::StoryHandoff,
    ] {
        let attacked = Attacked::about(answer);
        let ended = attacked.run();
        assert_eq!(ended.code, 0, "{answer:?}: {:#}", ended.outcome);
        assert!(!attacked.let_through().is_empty(), "{answer:?}");
        assert!(!attacked.files().is_empty());
        let _ = attacked.end(&[]);
    }
}
