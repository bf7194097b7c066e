//! A repository with a queue, a contract and named tests, and scripted agents that build and grade as they are told,
//! iteration by iteration. A test says only what differs from an item that is well made.

use crate::world;
use serde_json::{Value, json};
use std::fmt::Write as _;
use windlass_test_support::{Output, Repository, Script, World};

pub(crate) const FEATURES: &str = "docs/FEATURES.json";
pub(crate) const CONTRACT: &str = "docs/LOOP.md";
pub(crate) const BUDGET: &str = "docs/loop-budget.md";
pub(crate) const RUN_LOG: &str = "docs/loop-run-log.md";
pub(crate) const PROGRESS: &str = "docs/PROGRESS.md";
pub(crate) const EVALUATION: &str = "docs/EVALUATION.md";

/// Runs every file under tests/ and prints one line of TAP for each.
pub(crate) const TEST_COMMAND: &str = r#"failed=0
number=0
for file in tests/*.sh; do
  number=$((number + 1))
  name=$(basename "$file" .sh)
  if sh "$file"; then echo "ok $number - $name"; else echo "not ok $number - $name"; failed=1; fi
done
echo "1..$number"
exit $failed
"#;

/// An item whose file is its id in small letters.
pub(crate) fn item(id: &str) -> Value {
    let file = format!("{}.txt", id.to_lowercase());
    json!({
        "id": id,
        "name": format!("Item {id}"),
        "priority": id[1..].parse::<u32>().unwrap(),
        "status": "not-started",
        "description": format!("{file} says that {id} is done"),
        "acceptance_criteria": [format!("{file} says done"), "a test reads it"],
        "contract": { "deliverable": file, "verification": "sh test.sh" },
        "dependencies": [],
        "affected_files": [file],
    })
}

/// The same item with other fields.
pub(crate) fn with(mut item: Value, fields: Value) -> Value {
    let (Value::Object(item_fields), Value::Object(fields)) = (&mut item, fields) else {
        panic!("fields of an item are an object");
    };
    item_fields.extend(fields);
    item
}

pub(crate) fn queue(items: &[Value]) -> String {
    format!("{:#}\n", json!({ "features": items }))
}

/// A contract over this set at this level.
pub(crate) fn contract(scope: &str, level: &str) -> String {
    format!(
        "# Loop Contract\n\n## Goal (verifiable end state)\nEvery item is complete and green.\n\n\
         ## Scope (in-scope feature IDs)\n- Include: [{scope}]\n\n## Autonomy Level\n{level}\n\n\
         ## Verification (what can say \"no\")\n- A separate evaluator grades each item\n\
         - Test command: `sh test.sh`\n\n## Escalation (stop and hand back when…)\n- The loop is in doubt\n\n\
         ## Triage Inbox\n(empty)\n"
    )
}

/// The budget file with these caps: iterations, commits, rework, minutes.
pub(crate) fn budget(caps: [u32; 4]) -> String {
    let [iterations, commits, rework, minutes] = caps;
    format!(
        "# Loop Budget — run started 2026-01-02T03:04:05Z\n\n| Control | Cap | Used |\n|---------|-----|------|\n\
         | Iterations | {iterations} | 0 |\n| Commits | {commits} | 0 |\n| Rework per feature | {rework} | — |\n\
         | Wall-clock (min) | {minutes} | 0 |\n"
    )
}

/// What agents do, step by step. Each step is counted and its prompt is kept.
#[derive(Clone, Default)]
pub(crate) struct Play(String);

impl Play {
    /// Builds and passes these items, one in each iteration.
    pub(crate) fn well(ids: &[&str]) -> Self {
        let mut play = Self::default();
        for (round, id) in (1..).zip(ids) {
            play = play.builds(round, id).passes(round, id);
        }
        play
    }

    /// A step of a role in an iteration, made of actions in TOML.
    pub(crate) fn step(self, role: &str, round: u32, actions: &[&str]) -> Self {
        self.push(role, &format!("round = {round}\n"), actions)
    }

    /// A step of one attempt within an iteration: a repair or a fresh agent is another one.
    pub(crate) fn attempt(self, role: &str, (round, attempt): (u32, u32), actions: &[&str]) -> Self {
        self.push(role, &format!("round = {round}\nattempt = {attempt}\n"), actions)
    }

    fn push(mut self, role: &str, when: &str, actions: &[&str]) -> Self {
        let steps = Script::STEPS;
        let _ = write!(
            self.0,
            "[[step]]\nrole = \"{role}\"\n{when}do = [\n  {{ count = \"{steps}\" }},\n  \
             {{ save_prompt = \"{{role}}-{{round}}-{{attempt}}.md\" }},\n"
        );
        for action in actions {
            let _ = writeln!(self.0, "  {action},");
        }
        self.0.push_str("]\n\n");
        self
    }

    /// A builder that does this and reports.
    pub(crate) fn builder(self, round: u32, actions: &[&str]) -> Self {
        let reported = report("what the item asks for");
        self.step("builder", round, &[actions, &[&reported]].concat())
    }

    /// A builder that makes the item's file and a test that reads it.
    pub(crate) fn builds(self, round: u32, id: &str) -> Self {
        let made = makes(id);
        let actions: Vec<&str> = made.iter().map(String::as_str).collect();
        self.builder(round, &actions)
    }

    pub(crate) fn passes(self, round: u32, id: &str) -> Self {
        self.step("evaluator", round, &[&grade(id, "PASS", [5, 5, 5, 5, 5], ["none", "", ""])])
    }

    /// An evaluator that is content and waives these findings about the gate.
    pub(crate) fn waives(self, round: u32, id: &str, findings: &[&str]) -> Self {
        let waiver = |finding: &&str| json!({ "finding": finding, "reason": "as asked" });
        let waivers = Value::Array(findings.iter().map(waiver).collect());
        let graded = grade(id, "PASS", [5, 5, 5, 5, 5], ["none", "", ""]);
        let answer = graded.replace("\"fix\":\"\"", &format!("\"fix\":\"\",\"waivers\":{waivers}"));
        assert_ne!(answer, graded, "the answer has a place for waivers");
        self.step("evaluator", round, &[&answer])
    }

    /// An evaluator that fails the item: category, location and sentence of the cause.
    pub(crate) fn fails(self, round: u32, id: &str, cause: [&str; 3]) -> Self {
        self.step("evaluator", round, &[&grade(id, "FAIL", [2, 4, 4, 4, 4], cause)])
    }
}

/// The actions of a builder that makes an item well.
pub(crate) fn makes(id: &str) -> [String; 2] {
    let name = id.to_lowercase();
    [
        write(&format!("{name}.txt"), &format!("{id} is done\n")),
        write(&format!("tests/{name}.sh"), &format!("grep -q done {name}.txt\n")),
    ]
}

pub(crate) fn write(path: &str, text: &str) -> String {
    format!("{{ write = \"{path}\", text = '''\n{text}''' }}")
}

pub(crate) fn report(built: &str) -> String {
    let text = format!(
        "## Built\n\n{built}\n\n## Files\n\n- see the diff\n\n## Tests\n\nnone\n\n## Issues\n\nnone\n"
    );
    format!("{{ artifact = \"report.md\", text = '''\n{text}''' }}")
}

/// A report that asks a person something.
pub(crate) fn question(text: &str) -> String {
    let text = format!("## Built\n\nnothing yet\n\n## Blocked\n\n{text}\n");
    format!("{{ artifact = \"report.md\", text = '''\n{text}''' }}")
}

/// The scores are those of completeness, correctness, code quality, test coverage and architecture fit.
pub(crate) fn grade(
    id: &str,
    verdict: &str,
    scores: [u32; 5],
    [category, location, text]: [&str; 3],
) -> String {
    let score = |score: u32| json!({ "score": score, "reason": "as the criteria say" });
    let answer = json!({
        "item_id": id,
        "scores": {
            "completeness": score(scores[0]),
            "correctness": score(scores[1]),
            "code_quality": score(scores[2]),
            "test_coverage": score(scores[3]),
            "architecture_fit": score(scores[4]),
        },
        "verdict": verdict,
        "cause": { "category": category, "location": location, "text": text },
        "issues": [],
        "fix": "",
    });
    format!("{{ artifact = \"evaluation.json\", text = '''\n{answer}\n''' }}")
}

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) repository: Repository,
}

impl Scene {
    /// These items, all in scope, at this level; committed. There is one test, and it is green.
    pub(crate) fn set_up(items: &[Value], level: &str) -> Self {
        let ids: Vec<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        Self::with_contract(&queue(items), &contract(&ids.join(", "), level))
    }

    pub(crate) fn with_contract(queue: &str, contract: &str) -> Self {
        let world = world();
        let repository = world.repository("repo");
        repository.write("test.sh", TEST_COMMAND).write("tests/base.sh", "test -f README.md\n");
        repository.write(FEATURES, queue).write(CONTRACT, contract).commit("set up");
        Self { world, repository }
    }

    /// Items F001 to F00n.
    pub(crate) fn of(count: u32, level: &str) -> Self {
        let items: Vec<Value> = (1..=count).map(|number| item(&format!("F{number:03}"))).collect();
        Self::set_up(&items, level)
    }

    pub(crate) fn agent(&self, play: &Play) -> String {
        self.world.agent_from_text("play.toml", &play.0)
    }

    /// The words of `goal run` with these agents; the contract and its commands are agreed to.
    pub(crate) fn words(&self, play: &Play) -> Vec<String> {
        let agent = self.agent(play);
        let words = ["goal", "run", "--repo", self.repository.text(), "--yes", "--json", "--agent", &agent];
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

    /// A command about the newest run, such as `resume` or `approve`.
    pub(crate) fn about(&self, command: &str, more: &[&str]) -> Output {
        let run = self.run_id();
        self.world.windlass(&[&[command, run.as_str()], more].concat())
    }

    #[track_caller]
    pub(crate) fn run_id(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        list[0]["run"].as_str().expect("a run was begun").to_owned()
    }

    /// What `goal status` says of the newest run.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        let words = ["goal", "status", "--repo", self.repository.text(), "--json"];
        self.world.windlass(&words).exits_with(0).json()
    }

    /// The loop's branch.
    pub(crate) fn branch(&self) -> String {
        self.status()["report"]["branch"].as_str().unwrap().to_owned()
    }

    /// A file as the loop's branch ends on it.
    #[track_caller]
    pub(crate) fn at_end(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("{}:{path}", self.branch())])
    }

    /// Subjects of the loop's commits, the first one first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        let range = format!("main..{}", self.branch());
        let text = self.repository.git(&["log", "--reverse", "--format=%s", &range]);
        text.lines().map(str::to_owned).collect()
    }

    /// The status of an item as the loop's branch ends on it.
    #[track_caller]
    pub(crate) fn item_status(&self, id: &str) -> String {
        let queue: Value = serde_json::from_str(&self.at_end(FEATURES)).unwrap();
        let item = queue["features"].as_array().unwrap().iter().find(|item| item["id"] == id).unwrap();
        item["status"].as_str().unwrap().to_owned()
    }

    /// What an agent was told, such as `builder-2-1`: role, iteration, attempt.
    #[track_caller]
    pub(crate) fn prompt(&self, step: &str) -> String {
        let path = self.world.shared(&format!("{step}.md"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The record holds, nobody is left, and the user's checkout is as it was.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let _ = self.about("verify", &[]).exits_with(0);
        self.world.assert_no_processes();
        assert_eq!(self.repository.git(&["status", "--porcelain"]), "", "the user's checkout stays theirs");
    }
}

/// The last line of what `goal run --json` prints.
#[track_caller]
pub(crate) fn outcome(output: &Output) -> Value {
    output.json_lines().pop().expect("a run prints its outcome")
}

/// The outcome gives this reason, in these words.
#[track_caller]
pub(crate) fn assert_because(outcome: &Value, words: &str) {
    let because = &outcome["explanation"]["because"];
    assert!(because.to_string().contains(words), "{words} in {because:#}");
}
