//! What a user sees of agent programs and of money: programs that are there or not, what they cost, and when they stop.
//! The programs are small shell scripts under the real names that print what the real ones were recorded to print.

mod caps;
mod cost;
mod policy;
mod programs;
mod secrets;
mod trial;
mod waits;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use windlass_test_support::{Output, Repository, Script, When, World};

const KNOWN: [&str; 5] = ["codex", "claude", "gemini", "opencode", "copilot"];
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agent-drivers/fixtures");

/// A world with a repository, in which no agent program is installed but those a test puts there.
struct Stage {
    world: World,
    repository: Repository,
}

impl Stage {
    fn new() -> Self {
        let mut world = crate::world();
        let bin = world.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let path = world.environment().get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let without_agents =
            std::env::split_paths(&path).filter(|place| KNOWN.iter().all(|name| !place.join(name).exists()));
        let path = std::env::join_paths(std::iter::once(bin).chain(without_agents)).unwrap();
        world.set("PATH", path);
        // What a trial keeps must not outlive the test.
        let temporary = world.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        world.set("TMPDIR", temporary);
        let repository = world.repository("repo");
        Self { world, repository }
    }

    /// Puts a shell script on PATH; it answers the question for its version and then does the rest.
    fn install(&self, name: &str, version: &str, body: &str) -> PathBuf {
        let path = self.world.path().join("bin").join(name);
        let version = format!("[ \"$1\" = --version ] && {{ echo '{version}'; exit 0; }}");
        std::fs::write(&path, format!("#!/bin/sh\n{version}\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A Codex that makes the change every task here asks for, and passes what it is shown.
    fn install_codex(&self) -> PathBuf {
        let hello = recorded("codex/0.166.0/hello.jsonl");
        let said = self.world.path().join("codex-says.jsonl");
        let mut lines: Vec<&str> = hello.lines().collect();
        let end = lines.pop().unwrap();
        let answer = r#"{"type":"item.completed","item":{"id":"item_9","type":"agent_message","text":"{\"task_id\":\"@TASK@\",\"verdict\":\"pass\",\"reasons\":[],\"required_changes\":[],\"suggested_tests\":[],\"requirements_checked\":[],\"requirements_missing\":[],\"notes\":\"\"}"}}"#;
        lines.extend([answer, end]);
        std::fs::write(&said, lines.join("\n") + "\n").unwrap();
        self.install("codex", "codex-cli 0.166.0", &player(&said))
    }

    /// A Claude Code that makes the change and tells what it cost: 3,750 tokens for 0.01368.
    fn install_claude(&self) -> PathBuf {
        let said = self.world.path().join("claude-says.jsonl");
        std::fs::write(&said, recorded("claude/2.1.325/hello.jsonl")).unwrap();
        self.install("claude", "2.1.325 (Claude Code)", &player(&said))
    }

    fn run(&self, more: &[&str]) -> Output {
        self.run_in(&self.repository, more)
    }

    fn run_in(&self, repository: &Repository, more: &[&str]) -> Output {
        let words = ["run", "Add a file", "--id", "TASK-1", "--repo", repository.text(), "--no-audit"];
        self.world.windlass(&[&words[..], more].concat())
    }

    /// The outcome of a run with `--json`: the last line.
    #[track_caller]
    fn outcome(&self, code: u8, more: &[&str]) -> serde_json::Value {
        self.run(&[more, &["--json"]].concat()).exits_with(code).json_lines().pop().unwrap()
    }

    /// A program of the user's own, for `command:`.
    fn command(&self, name: &str, body: &str) -> String {
        format!("command:{}", self.install(name, "0", body).display())
    }
}

fn recorded(name: &str) -> String {
    std::fs::read_to_string(Path::new(FIXTURES).join(name)).unwrap()
}

/// Reads its prompt, makes the change if that is its role, and says these lines.
fn player(said: &Path) -> String {
    let said = said.display();
    format!(
        "cat > /dev/null\n\
         if [ \"$WINDLASS_ROLE\" = doer ]; then\n{DO_IT}\nfi\n\
         sed \"s/@TASK@/$WINDLASS_TASK/\" '{said}'"
    )
}

/// The work of a doer in shell.
const DO_IT: &str = r#"echo 'hello from windlass' > greeting.txt
printf '{"task_id":"%s","summary":"adds a file","requirements_touched":[],"files_touched":["greeting.txt"],"assumptions":[],"smoke_checks":[],"notes":""}' "$WINDLASS_TASK" > "$WINDLASS_OUTBOX/handoff.json""#;

/// The word of a judge in shell.
const PASS_IT: &str = r#"printf '{"task_id":"%s","verdict":"pass","reasons":[],"required_changes":[],"suggested_tests":[],"requirements_checked":[],"requirements_missing":[],"notes":""}' "$WINDLASS_TASK" > "$WINDLASS_OUTBOX/verdict.json""#;

/// An action of a script: a report, as an agent of any kind may make it.
fn reports(report: &str) -> String {
    format!("{{ say = '{{\"windlass_signal\":{{{report}}}}}' }}")
}

pub(crate) fn uses(usage: &str) -> String {
    reports(&format!("\"kind\":\"usage\",{usage}"))
}

/// A doer that does this and then its work, and a judge that passes it.
pub(crate) fn doer_that(actions: &[String]) -> Script {
    let work = ["{ append = 'done.txt', text = 'more' }", "{ handoff = 'did more' }"];
    let doer: Vec<&str> = actions.iter().map(String::as_str).chain(work).collect();
    Script::new().doer(When::Always, &doer).judge(When::Always, &["{ verdict = 'pass' }"])
}
