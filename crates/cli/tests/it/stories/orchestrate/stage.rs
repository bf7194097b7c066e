//! A project of small stories, a repository, and agents whose every attempt is written down. What is expected of them is not
//! known here.

use crate::world;
use serde_json::{Value, json};
use windlass_test_support::{Output, Repository, World};

/// What the implementer does in one attempt, and what the reviewer says of it.
pub(in crate::stories) struct Turn {
    pub(in crate::stories) number: &'static str,
    pub(in crate::stories) attempt: u32,
    /// Further actions of the implementer.
    pub(in crate::stories) more: &'static str,
    pub(in crate::stories) verdict: &'static str,
    pub(in crate::stories) reasons: &'static str,
}

impl Turn {
    pub(in crate::stories) const fn good(number: &'static str, attempt: u32) -> Self {
        let reasons = "{ check = 'AC-1 verified', details = 'it is there' }";
        Self { number, attempt, more: "", verdict: "pass", reasons }
    }

    pub(in crate::stories) const fn sent_back(number: &'static str, attempt: u32) -> Self {
        let reasons = "{ check = 'AC-1 failed HIGH', details = 'not like this' }";
        Self { verdict: "reject", reasons, ..Self::good(number, attempt) }
    }

    pub(in crate::stories) fn script(&self) -> String {
        let Self { number, attempt, more, verdict, reasons } = self;
        let task = format!("US-{number}-{attempt}");
        let more = more.replace("{task_id}", &task);
        format!(
            "[[step]]\nrole = 'doer'\nlabel = '{task}'\ndo = [\n  {{ count = 'steps.txt' }},\n  \
             {{ write = 'part-{number}.txt', text = '{number} attempt {attempt}' }},\n  {more}\n  \
             {{ handoff = 'part {number}' }},\n]\n\n[[step]]\nrole = 'judge'\nlabel = '{task}'\ndo = [{{ verdict = \
             {{ verdict = '{verdict}', reasons = [{reasons}] }} }}]\n\n"
        )
    }
}

/// Stories of one epic with one criterion each; pairs of who waits for whom.
pub(in crate::stories) fn plan_of(numbers: &[&str], needs: &[(&str, &str)]) -> Value {
    let story = |number: &&str| {
        json!({ "number": number, "title": format!("Part {number}"),
                "acceptance_criteria": [{ "id": "AC-1", "description": format!("part-{number}.txt is there") }] })
    };
    let need = |(story, on): &(&str, &str)| json!({ "story": story, "depends_on": on });
    json!({
        "epics": [{ "number": 1, "title": "All of it", "stories": numbers.iter().map(story).collect::<Vec<_>>() }],
        "story_dependencies": needs.iter().map(need).collect::<Vec<_>>(),
    })
}

pub(in crate::stories) struct Stage {
    pub(in crate::stories) world: World,
    pub(in crate::stories) repository: Repository,
    agent: String,
}

/// A project with one story, for agents of somebody else's.
pub(crate) fn one_story() -> (World, Repository) {
    let Stage { world, repository, .. } = Stage::of(&plan_of(&["1.1"], &[]), &[]);
    (world, repository)
}

impl Stage {
    pub(in crate::stories) fn of(plan: &Value, turns: &[Turn]) -> Self {
        let world = world();
        let repository = world.repository("repo");
        repository.write(
            "test.sh",
            "for file in part-*.txt; do [ ! -f \"$file\" ] || grep -q attempt \"$file\" || exit 1; done\n",
        );
        let _ = repository.commit("A check");
        let script: String = turns.iter().map(Turn::script).collect();
        let agent = world.agent_from_text("agents.toml", &script);
        let stage = Self { world, repository, agent };
        let _ = stage.story(&["project", "create", "App"]).exits_with(0);
        let file = stage.world.path().join("plan.json");
        std::fs::write(&file, plan.to_string()).unwrap();
        let _ = stage.story(&["import", file.to_str().unwrap(), "--project", "app"]).exits_with(0);
        stage
    }

    pub(in crate::stories) fn story(&self, words: &[&str]) -> Output {
        self.world.windlass(&[&["story"], words].concat())
    }

    pub(in crate::stories) fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let repository = self.repository.text();
        let words = [
            "orchestrate",
            "--project",
            "app",
            "--repo",
            repository,
            "--agent",
            &self.agent,
            "--no-audit",
            "--json",
        ];
        [&words, more].concat()
    }

    pub(in crate::stories) fn agent(&self) -> &str {
        &self.agent
    }

    /// With agents that the test names itself.
    pub(in crate::stories) fn orchestrate_by(&self, more: &[&str]) -> Output {
        let words = ["orchestrate", "--project", "app", "--repo", self.repository.text(), "--json"];
        self.world.windlass(&[&words, more].concat())
    }

    pub(in crate::stories) fn orchestrate(&self, more: &[&str]) -> Output {
        self.world.windlass(&self.words(more))
    }

    /// The numbers of the stories that landed, as often as they did, sorted.
    pub(in crate::stories) fn landed(&self) -> Vec<String> {
        if !self.repository.git_succeeds(&["rev-parse", "-q", "--verify", "windlass/app"]) {
            return Vec::new();
        }
        let subjects = self.repository.git(&["log", "--format=%s", "windlass/app", "--not", "HEAD"]);
        let number =
            |line: &str| line.strip_prefix("US-").and_then(|rest| Some(rest.split_once(':')?.0.to_owned()));
        let mut numbers: Vec<String> = subjects.lines().filter_map(number).collect();
        numbers.sort();
        numbers
    }

    pub(in crate::stories) fn branch_file(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("windlass/app:{path}")])
    }

    pub(in crate::stories) fn landed_tree(&self) -> String {
        self.repository.git(&["rev-parse", "windlass/app^{tree}"])
    }

    /// How many implementers were started.
    pub(in crate::stories) fn attempts(&self) -> usize {
        self.world.steps().len()
    }

    /// What this role of a task was told.
    pub(in crate::stories) fn prompt(&self, task: &str, role: &str) -> String {
        let lines = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        let line = lines.as_array().unwrap().iter().find(|line| line["task"] == task);
        let directory =
            line.unwrap_or_else(|| panic!("{task} in {lines}"))["run_dir"].as_str().unwrap().to_owned();
        std::fs::read_to_string(format!("{directory}/rounds/round-1/{role}.prompt.md")).unwrap()
    }

    /// The same words of the orchestration for a person, without `--json`.
    pub(super) fn told(&self, more: &[&str]) -> Output {
        let words: Vec<&str> = self.words(more).into_iter().filter(|word| *word != "--json").collect();
        self.world.windlass(&words)
    }

    /// What the last verdict on a story says.
    pub(super) fn summary(&self, story: &str) -> String {
        let shown = self.story(&["show", story, "--json"]).exits_with(0).json();
        let summary = shown["story"]["latest_verification"]["summary"].as_str();
        summary.unwrap_or_else(|| panic!("{shown}")).to_owned()
    }
}
