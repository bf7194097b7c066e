//! A repository with a queue, a contract and tests that have names, and agents whose every turn is written down. What is
//! expected of a run is not known here.

use crate::world;
use serde_json::{Value, json};
use std::path::PathBuf;
use windlass_test_support::{Background, Output, Repository, World, wait_until};

pub(super) const BUDGET: &str = "docs/loop-budget.md";
/// Which agents were started, in which iteration and attempt.
const STEPS: &str = "steps.txt";

const SUITE: &str = r#"failed=0; number=0
for file in tests/*.sh; do
  number=$((number + 1))
  if sh "$file"; then echo "ok $number - $file"; else echo "not ok $number - $file"; failed=1; fi
done
echo "1..$number"
exit $failed
"#;

/// What a builder does in one iteration, and what the evaluator says of it.
pub(super) struct Turn {
    pub(super) item: u32,
    /// What the item's file says afterwards.
    pub(super) says: &'static str,
    /// Actions before the work is done.
    pub(super) first: String,
    /// The place a failure is about, or a pass.
    pub(super) fails_at: Option<&'static str>,
}

impl Turn {
    pub(super) fn passing(item: u32) -> Self {
        Self { item, says: "done", first: String::new(), fails_at: None }
    }

    pub(super) fn failing(item: u32, at: &'static str) -> Self {
        Self { item, says: at, first: String::new(), fails_at: Some(at) }
    }

    pub(super) fn saying(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    pub(super) fn first(self, action: &str) -> Self {
        Self { first: format!("{}  {action},\n", self.first), ..self }
    }

    fn script(&self, round: usize) -> String {
        let Self { item, says, first, .. } = self;
        let (verdict, score) = if self.fails_at.is_some() { ("FAIL", 2) } else { ("PASS", 5) };
        let (category, location) = self.fails_at.map_or(("none", ""), |at| ("correctness", at));
        let grade = json!({ "score": score, "reason": "as the criteria say" });
        let answer = json!({
            "item_id": format!("F00{item}"),
            "scores": {
                "completeness": grade, "correctness": grade, "code_quality": grade,
                "test_coverage": grade, "architecture_fit": grade,
            },
            "verdict": verdict,
            "cause": { "category": category, "location": location, "text": format!("wrong at {location}") },
            "issues": [],
            "fix": "",
        });
        format!(
            "[[step]]\nrole = 'builder'\nround = {round}\ndo = [\n  {{ count = '{STEPS}' }},\n{first}  \
             {{ write = 'part-{item}.txt', text = '{says}' }},\n  {{ write = 'tests/part-{item}.sh', text = 'test -f part-{item}.txt' }},\n  \
             {{ artifact = 'report.md', text = \"## Built\\n\\nPart {item}\\n\\n## Files\\n\\n- one\\n\\n## Tests\\n\\none\\n\\n## Issues\\n\\nnone\\n\" }},\n]\n\n\
             [[step]]\nrole = 'evaluator'\nround = {round}\ndo = [{{ count = '{STEPS}' }}, {{ artifact = 'evaluation.json', text = '{answer}' }}]\n\n"
        )
    }
}

/// An action that reports this use, as an agent of any kind may.
pub(super) fn uses(report: &str) -> String {
    format!("{{ say = '{{\"windlass_signal\":{{\"kind\":\"usage\",{report}}}}}' }}")
}

pub(super) struct Stage {
    pub(super) world: World,
    pub(super) repository: Repository,
    agent: String,
    /// The commit the loop begins on.
    base: String,
}

impl Stage {
    /// So many items at this level, and one turn for each iteration.
    pub(super) fn of(items: u32, level: &str, turns: &[Turn]) -> Self {
        let world = world();
        let repository = world.repository("repo");
        let item = |number| {
            json!({
                "id": format!("F00{number}"), "name": format!("Part {number}"), "priority": number,
                "status": "not-started", "description": "one part",
                "acceptance_criteria": ["its file is there"], "dependencies": [],
                "affected_files": [format!("part-{number}.txt")],
            })
        };
        let queue = json!({ "features": (1..=items).map(item).collect::<Vec<Value>>() });
        let queue = serde_json::to_string_pretty(&queue).unwrap();
        let base = repository
            .write("test.sh", SUITE)
            .write("tests/base.sh", "test -f test.sh\n")
            .write("docs/FEATURES.json", &format!("{queue}\n"))
            .write("docs/LOOP.md", &contract(items, level))
            .commit("set up");
        let script: String = (1..).zip(turns).map(|(round, turn)| turn.script(round)).collect();
        let agent = world.agent_from_text("agents.toml", &script);
        Self { world, repository, agent, base }
    }

    /// Rows of the contract's budget, committed.
    pub(super) fn capped(self, rows: &[(&str, &str)]) -> Self {
        let rows: Vec<String> =
            rows.iter().map(|(control, cap)| format!("| {control} | {cap} | 0 |\n")).collect();
        let text = format!("# Loop Budget\n\n| Control | Cap | Used |\n|---|---|---|\n{}", rows.concat());
        let base = self.repository.write(BUDGET, &text).commit("caps");
        Self { base, ..self }
    }

    pub(super) fn run_words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let words =
            ["goal", "run", "--repo", self.repository.text(), "--agent", &self.agent, "--yes", "--json"];
        [&words, more].concat()
    }

    pub(super) fn run(&self, more: &[&str]) -> Output {
        self.world.windlass(&self.run_words(more))
    }

    /// Returns when so many agents have been started in all.
    pub(super) fn start_until(&self, steps: usize, more: &[&str]) -> Background {
        let running = self.world.start_windlass(&self.run_words(more));
        self.wait_for_steps(steps);
        running
    }

    pub(super) fn wait_for_steps(&self, steps: usize) {
        wait_until("an agent at work", || (self.steps().len() >= steps).then_some(()));
    }

    pub(super) fn steps(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.world.shared(STEPS)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Lets an agent that waits for `go` go on.
    pub(super) fn go(&self) {
        std::fs::write(self.world.shared("go"), "").unwrap();
    }

    /// Nothing where no run is on record.
    pub(super) fn status(&self) -> Option<Value> {
        let output = self.world.windlass(&["goal", "status", "--repo", self.repository.text(), "--json"]);
        (output.code == Some(0)).then(|| output.json())
    }

    pub(super) fn report(&self) -> Value {
        self.status().expect("a run is on record")["report"].clone()
    }

    pub(super) fn id(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        list[0]["run"].as_str().expect("a run is on record").to_owned()
    }

    /// A command about the newest run.
    pub(super) fn about(&self, command: &str, more: &[&str]) -> Output {
        let id = self.id();
        self.world.windlass(&[&[command, &id], more].concat())
    }

    /// The tree a person is asked about.
    pub(super) fn proposed(&self) -> String {
        self.report()["proposed"]["tree"].as_str().expect("something is proposed").to_owned()
    }

    pub(super) fn builder_worktree(&self) -> PathBuf {
        self.repository.path().join(format!(".orchestrator/goal/{}/worktrees/builder", self.id()))
    }

    /// What an item's file says in the builder's worktree.
    pub(super) fn built(&self, item: u32) -> String {
        std::fs::read_to_string(self.builder_worktree().join(format!("part-{item}.txt"))).unwrap_or_default()
    }

    pub(super) fn branch(&self) -> String {
        self.report()["branch"].as_str().unwrap().to_owned()
    }

    /// Subjects of the loop's commits, the oldest first.
    pub(super) fn subjects(&self) -> Vec<String> {
        let range = format!("{}..{}", self.base, self.branch());
        let text = self.repository.git(&["log", "--reverse", "--format=%s", &range]);
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn file(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("{}:{path}", self.branch())])
    }

    /// The record holds, and nobody is left.
    #[track_caller]
    pub(super) fn assert_sound(&self) {
        wait_until("the last process to end", || self.world.processes().is_empty().then_some(()));
        let _ = self.about("verify", &[]).exits_with(0);
        self.repository.git(&["fsck", "--strict"]);
    }
}

fn contract(items: u32, level: &str) -> String {
    format!(
        "# Loop Contract\n\n## Goal (verifiable end state)\nEvery part is there.\n\n## Scope (in-scope feature IDs)\n\
         - Include: [F001-F00{items}]\n\n## Autonomy Level\n{level}\n\n## Verification (what can say \"no\")\n\
         - Test command: `sh test.sh`\n\n## Triage Inbox\n(empty)\n"
    )
}
