//! How the roles of a control loop are started: the actuator without commands where its program can be told, which the
//! record says, and claude with the model that an agent file asks for. The claude here is a few lines of shell.

use crate::world;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::{Output, Repository, World};

const COULD_HAVE: &str = "its program could have run commands";

/// Notes how it was started, then plays its role: it plans until the file is there, or makes the file. A report of what
/// it made it leaves only where it is told to.
const CLAUDE: &str = r#"[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit 0; }
cat > /dev/null
echo "$*" >> "@NOTES@/$WINDLASS_ROLE"
say() { printf '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}\n' "$1"; }
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-played"}'
case $WINDLASS_ROLE in
actuator) echo made > made.txt; @REPORT@ ;;
sensor) say '---\nstatus: pass\n---\n\n## Command\n\nLooked.\n\n## Output\n\nFine.\n' ;;
*)
  if test -e made.txt; then say '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nIt is there.\n'
  else say '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nMissing.\n\n## Action Plan\n\n1. Make it.\n'
  fi ;;
esac
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","terminal_reason":"completed"}'
"#;

const REPORT: &str = r#"printf '# Actuator Output\n\n## What Was Done\n\nMade it.\n\n## Files Changed\n\n- `made.txt` (created)\n' > "$WINDLASS_OUTBOX/actuator-output.md""#;

struct Stage {
    world: World,
    repository: Repository,
}

impl Stage {
    /// A repository whose one sensor wants a file, with a claude whose actuator leaves this report.
    fn new(report: &str) -> Self {
        let mut world = world();
        let bin = world.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let claude = bin.join("claude");
        let notes = world.shared("").to_str().unwrap().to_owned();
        let text = CLAUDE.replace("@NOTES@", &notes).replace("@REPORT@", report);
        std::fs::write(&claude, format!("#!/bin/sh\n{text}")).unwrap();
        std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = world.environment().get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
        world.set("PATH", path);
        let repository = world.repository("repo");
        let files = [
            ("loop-sensor-made", "haiku", "## Measurement\n\n    test -e made.txt\n"),
            ("loop-controller", "opus", "Compare and plan.\n"),
            ("loop-actuator", "sonnet", "Edit files.\n"),
        ];
        let stage = Self { world, repository };
        for (name, model, body) in files {
            stage.agent_file(name, model, body);
        }
        stage
    }

    fn agent_file(&self, name: &str, model: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: plays\nmodel: {model}\n---\n\n{body}");
        self.repository.write(&format!(".claude/agents/{name}.md"), &text).commit(name);
    }

    fn run(&self, agents: &[&str]) -> Output {
        let words = ["control", "run", "Make it", "--repo", self.repository.text(), "--yes", "--json"];
        self.world.windlass(&[&words[..], agents].concat())
    }

    /// With which words claude was started for this role, a line for each time.
    fn started(&self, role: &str) -> String {
        std::fs::read_to_string(self.world.shared(role)).unwrap()
    }

    fn log(&self) -> String {
        self.world.windlass(&["log", &self.id(), "--all"]).exits_with(0).stdout
    }

    fn id(&self) -> String {
        let list = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        list[0]["run"].as_str().unwrap().to_owned()
    }

    /// What is recorded of the only action.
    #[track_caller]
    fn action(&self) -> Value {
        let log = self.world.windlass(&["log", &self.id(), "--json"]).exits_with(0).json();
        let entries = log["entries"].as_array().unwrap().iter();
        let mut actions = entries.filter(|entry| entry["kind"] == "action-taken");
        let action = actions.next().unwrap_or_else(|| panic!("no action in {log:#}"));
        assert!(actions.next().is_none(), "more than one action in {log:#}");
        find(action, "action").unwrap_or_else(|| panic!("{action:#}"))
    }
}

fn find(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let here = fields.get(name).filter(|found| found.is_object()).cloned();
            here.or_else(|| fields.values().find_map(|field| find(field, name)))
        }
        Value::Array(items) => items.iter().find_map(|item| find(item, name)),
        _ => None,
    }
}

#[test]
fn an_actuator_whose_program_can_be_told_runs_no_commands_and_the_record_says_so() {
    let stage = Stage::new(REPORT);
    let _ = stage.run(&["--agent", "claude"]).exits_with(0);
    assert!(stage.started("actuator").contains("--tools Read,Grep,Glob,Edit,Write "));
    assert!(!stage.started("actuator").contains("Bash"));
    assert_eq!(stage.action()["commands_off"], true);
    let log = stage.log();
    assert!(log.contains("the actuator reports: Made it.") && !log.contains(COULD_HAVE), "{log}");
}

#[test]
fn an_actuator_that_leaves_no_report_is_recorded_with_what_its_program_was_told() {
    let stage = Stage::new("");
    let _ = stage.run(&["--agent", "claude"]).exits_with(0);
    assert_eq!(stage.started("actuator").lines().count(), 2, "it is asked for its report once");
    let action = stage.action();
    assert_eq!((&action["summary"], &action["commands_off"]), (&"".into(), &true.into()));
    let log = stage.log();
    assert!(log.contains("the actuator leaves no report") && !log.contains(COULD_HAVE), "{log}");
}

#[test]
fn an_actuator_that_cannot_be_told_is_recorded_as_one_that_could_have_run_commands() {
    let stage = Stage::new("");
    let actuator = format!("shell:cat > /dev/null; echo made > made.txt; {REPORT}");
    let _ = stage.run(&["--agent", "claude", "--actuator", &actuator]).exits_with(0);
    assert_eq!(stage.action()["commands_off"], false);
    let told = stage.world.windlass(&["log", &stage.id()]).exits_with(0).stdout;
    assert!(told.contains(COULD_HAVE), "{told}");
}

#[test]
fn claude_takes_the_model_of_the_agent_file_where_the_user_named_none() {
    let stage = Stage::new(REPORT);
    stage.agent_file("loop-sensor-look", "haiku", "Look at it.\n");
    let _ = stage.run(&["--agent", "claude"]).exits_with(0);
    assert!(stage.started("sensor").lines().all(|words| words.contains(" --model haiku ")));
    assert!(stage.started("controller").lines().all(|words| words.contains(" --model opus ")));
    assert!(stage.started("actuator").contains(" --model sonnet "));
    let log = stage.log();
    assert!(log.contains("the actuator is done, with claude-played"), "{log}");
}

#[test]
fn a_word_that_names_no_model_is_left_alone() {
    let stage = Stage::new(REPORT);
    stage.agent_file("loop-actuator", "inherit", "Edit files.\n");
    let _ = stage.run(&["--agent", "claude"]).exits_with(0);
    assert!(!stage.started("actuator").contains("--model"), "{}", stage.started("actuator"));
}

#[test]
fn a_model_that_the_user_named_counts_more_than_that_of_the_agent_file() {
    let stage = Stage::new(REPORT);
    let _ = stage.run(&["--agent", "claude", "--actuator", "claude:haiku@low"]).exits_with(0);
    assert!(stage.started("controller").contains(" --model opus "));
    assert!(stage.started("actuator").contains(" --model haiku --effort low "));
}
