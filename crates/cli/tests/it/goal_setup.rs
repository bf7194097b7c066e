//! Setting a goal loop up and starting it: what is written, what is shown, what is refused before anything begins.

mod beginning;
mod consent;
mod files;
mod refusals;
mod tightening;

use crate::world;
use serde_json::Value;
use windlass_test_support::{Output, Repository, World};

const FEATURES: &str = "docs/FEATURES.json";
const CONTRACT: &str = "docs/LOOP.md";
const BUDGET: &str = "docs/loop-budget.md";
const RUN_LOG: &str = "docs/loop-run-log.md";

/// Three items: one to build, one that waits for it, one that is called complete.
const QUEUE: &str = r#"{
  "features": [
    {"id": "F001", "name": "Hello", "priority": 2, "status": "not-started", "description": "Says hello", "acceptance_criteria": ["hello.txt says hello"], "contract": {"deliverable": "hello.txt", "verification": "the test"}, "dependencies": []},
    {"id": "F002", "name": "Bye", "priority": 1, "status": "not-started", "description": "Says bye", "acceptance_criteria": ["bye.txt says bye"], "dependencies": ["F001"]},
    {"id": "F003", "name": "Old", "priority": 3, "status": "complete", "description": "Was there", "acceptance_criteria": ["it works"], "dependencies": []}
  ]
}
"#;

/// A contract over this set at this level, with a test command that is always green.
fn contract(scope: &str, level: &str) -> String {
    format!(
        "# Loop Contract\n\n## Goal (verifiable end state)\nEvery file is there.\n\n## Scope (in-scope feature IDs)\n\
         - Include: [{scope}]\n\n## Autonomy Level\n{level}\n\n## Verification (what can say \"no\")\n\
         - Full test suite green\n- Test command: `sh test.sh`\n- It feels fast\n\n## Triage Inbox\n(empty)\n"
    )
}

struct Place {
    world: World,
    repository: Repository,
}

impl Place {
    /// A repository without any file of a loop.
    fn bare() -> Self {
        let world = world();
        let repository = world.repository("repo");
        repository.write("test.sh", "exit 0\n").commit("tests");
        Self { world, repository }
    }

    /// Set up and committed.
    fn set_up(scope: &str, level: &str) -> Self {
        let place = Self::bare();
        place.repository.write(FEATURES, QUEUE).write(CONTRACT, &contract(scope, level)).commit("set up");
        place
    }

    fn goal(&self, command: &str, more: &[&str]) -> Output {
        let words = ["goal", command, "--repo", self.repository.text()];
        self.world.windlass(&[&words, more].concat())
    }

    /// A run with an agent for every role that leaves nothing behind.
    fn run(&self, more: &[&str]) -> Output {
        self.goal("run", &[&["--agent", "shell:true"], more].concat())
    }

    fn check(&self, more: &[&str]) -> Value {
        self.goal("check", &[&["--json"], more].concat()).json()
    }

    fn has(&self, path: &str) -> bool {
        self.repository.path().join(path).symlink_metadata().is_ok()
    }

    /// Nothing was begun: no run is on record, no branch was made.
    #[track_caller]
    fn assert_nothing_begun(&self) {
        let runs = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        assert_eq!(runs, serde_json::json!([]));
        assert_eq!(self.repository.git(&["for-each-ref", "--format=%(refname)", "refs/heads/goal"]), "");
    }
}

/// The error must have this code and say all of this, somewhere.
#[track_caller]
fn assert_refused(output: &Output, code: &str, words: &[&str]) {
    assert!(output.stderr.contains(&format!("error[{code}]")), "{code} in {}", output.stderr);
    for words in words {
        assert!(output.stderr.contains(words), "{words} in {}", output.stderr);
    }
}
