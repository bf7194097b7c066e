//! Looking at control loops: status, plot, and the words of `ls`, `show`, `log` and `explain`.

use crate::world;
use serde_json::Value;
use std::path::Path;
use windlass_test_support::{Output, Repository, World};

const TASK: &str = "Raise the value to three";
/// Plans until the value is three, one step at a time. One that is not asked to judge edits.
const AGENT: &str = r#"
value=$(cat value)
case $WINDLASS_ROLE in
controller)
  if [ "$value" -ge 3 ]; then
    printf -- '---\ntarget-met: true\n---\n## Gap Analysis\nnone\n'
  else
    printf -- '---\ntarget-met: false\n---\n## Gap Analysis\nit is %s\n## Action Plan\n1. raise it\n' "$value"
  fi > "$WINDLASS_OUTBOX/controller-output.md";;
actuator)
  echo $((value + 1)) > value
  printf '# Actuator Output\n\n## What Was Done\nraised it from %s\n' "$value" > "$WINDLASS_OUTBOX/actuator-output.md";;
esac
"#;

struct Loop {
    world: World,
    repository: Repository,
    run: String,
    outcome: Value,
}

impl Loop {
    fn played(levels: &str, more: &[&str]) -> Self {
        let world = world();
        let repository = world.repository("repo");
        let count = r#"v=$(cat value); echo "test result: $v passed; $((3 - v)) failed"; test "$v" -ge 3"#;
        repository.write("value", "0\n").write("count.sh", count).commit("a value");
        let init = ["control", "init", "--repo", repository.text(), "--levels", levels];
        let sensors = ["--sensor", "test=sh count.sh", "--sensor", "lint=test -s value"];
        let _ = world.windlass(&[&init[..], &sensors].concat()).exits_with(0);
        repository.commit("set up");
        let script = world.shared("agent.sh");
        std::fs::write(&script, AGENT).unwrap();
        let agent = format!("shell:sh {}", script.display());
        let words =
            ["control", "run", TASK, "--repo", repository.text(), "--agent", &agent, "--yes", "--json"];
        let output = world.windlass(&[&words, more].concat());
        let outcome = output.json_lines().pop().expect("an outcome");
        let run = outcome["run"].as_str().expect("an outcome names its run").to_owned();
        Self { world, repository, run, outcome }
    }

    fn plot(&self, more: &[&str]) -> Output {
        self.world.windlass(&[&["control", "plot", &self.run], more].concat())
    }
}

#[test]
fn the_status_shows_nodes_readings_reports_and_commits() {
    let played = Loop::played("1", &[]);
    let shown = played.world.windlass(&["control", "status", &played.run]).exits_with(0).stdout;
    for words in [
        "branch       ai-loop/raise-the-value-to-three",
        "main: complete, iteration 4, 3 of 10 actuations",
        "test pass; tests-passed 3 tests; tests-failed 0 tests",
        "main/controller-output.md",
        "raised it from 2",
        "commits, the newest first",
        "ai-loop[main]: iteration 0",
    ] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    let newest = ["control", "status", "--repo", played.repository.text(), "--json"];
    let json = played.world.windlass(&newest).exits_with(0).json();
    assert_eq!(json["run"], played.run.as_str(), "without a name it is the newest of the repository");
    assert_eq!(json["recent"].as_array().map(Vec::len), Some(5));
    assert_eq!(json["report"]["commits"], 5);
}

#[test]
fn a_long_report_is_cut_unless_all_of_it_is_wanted() {
    let played = Loop::played("1", &[]);
    let short = played.world.windlass(&["control", "status", &played.run]).exits_with(0).stdout;
    assert!(short.contains("more lines; `--full` shows them"), "{short}");
    let full = played.world.windlass(&["control", "status", &played.run, "--full"]).exits_with(0).stdout;
    assert!(!full.contains("--full") && full.len() > short.len(), "{full}");
}

#[test]
fn a_status_without_a_control_loop_says_how_to_begin() {
    let world = world();
    let repository = world.repository("repo");
    let none = world.windlass(&["control", "status", "--repo", repository.text()]).exits_with(2);
    assert!(none.stderr.contains("windlass control run"), "{}", none.stderr);
}

#[test]
fn the_inner_loop_has_its_own_place_in_status_and_plot() {
    let played = Loop::played("2", &[]);
    assert_eq!(played.outcome["status"], "accepted", "{:#}", played.outcome);
    let shown = played.world.windlass(&["control", "status", &played.run]).exits_with(0).stdout;
    assert!(shown.contains("  outer: complete, iteration "), "{shown}");
    let inner = shown.split_once("    outer/inner: ").map(|(_, after)| after).unwrap_or_default();
    assert!(inner.starts_with("complete, iteration 1.4, 3 of 10 actuations"), "{shown}");
    assert!(inner.contains("lint pass"), "what it measured last: {shown}");
    let table = played.plot(&[]).exits_with(0).stdout;
    assert!(table.lines().any(|line| line.starts_with("outer/inner  1.1 ")), "{table}");
}

#[test]
fn in_a_pipe_the_plot_is_a_plain_table_with_the_best_marked() {
    let played = Loop::played("1", &[]);
    let table = played.plot(&[]).exits_with(0).stdout;
    let expected = "\
NODE  ITERATION  test  lint  test tests-passed  test tests-failed  BEST
main  0          fail  pass  0                  3
main  1          fail  pass  1                  2
main  2          fail  pass  2                  1
main  3          pass  pass  3                  0                  best
";
    assert_eq!(table, expected);
    let json = played.plot(&["--json"]).exits_with(0).json();
    let series = json["series"].as_array().unwrap();
    assert_eq!(series.len(), 4);
    assert!(series.iter().all(|one| one["points"].as_array().map(Vec::len) == Some(4)), "{json:#}");
    assert_eq!(json["best"], "3");
}

#[test]
fn pictures_are_valid_and_say_where_they_are() {
    let played = Loop::played("1", &[]);
    let (svg, png) = (played.world.path().join("a.svg"), played.world.path().join("a.png"));
    let files = ["--svg", svg.to_str().unwrap(), "--png", png.to_str().unwrap()];
    let output = played.plot(&files).exits_with(0);
    assert_eq!(output.stdout, "", "the pictures are the answer");
    assert!(output.stderr.contains("a.svg is written") && output.stderr.contains("a.png is written"));
    let text = std::fs::read_to_string(svg).unwrap();
    assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{text}");
    assert!(text.contains(&format!("<title>{}: {TASK}</title>", played.run)), "{text}");
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    let nowhere = played.plot(&["--svg", "/nowhere/a.svg"]).exits_with(1);
    assert!(nowhere.stderr.contains("error[WL-FILES-001]"), "{}", nowhere.stderr);
}

#[test]
fn the_other_commands_speak_of_iterations_and_nodes() {
    let played = Loop::played("1", &["--max-iterations", "1"]);
    assert_eq!(played.outcome["status"], "rejected");
    let say = |words: &[&str]| played.world.windlass(words).exits_with(0).stdout;
    let list = say(&["ls"]);
    assert!(list.contains("iteration 2") && !list.contains("2/1"), "{list}");
    let shown = say(&["show", &played.run]);
    for words in
        ["base branch  main", "sensors      sh count.sh", "iteration 1 plan.md", "test does not pass"]
    {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    assert!(!shown.contains("judge") && !shown.contains("round "), "{shown}");
    let log = say(&["log", &played.run]);
    for words in ["• iteration 1 of main", "• 1 file changed", "main ends: its iterations are used up"] {
        assert!(log.contains(words) || log.contains(&words.replace('•', "*")), "{words} in {log}");
    }
    assert!(!log.contains("rounds"), "{log}");
    let why = say(&["explain", &played.run]);
    assert!(why.contains("out of iterations after 1 actuation\n"), "{why}");
    assert!(why.contains("main: iteration 2, 1 actuation so far; test fail, lint pass"), "{why}");
}

/// Red before: only the last actuation was shown.
#[test]
fn the_diff_is_of_the_whole_run_or_of_one_iteration() {
    let played = Loop::played("1", &[]);
    let patch =
        |more: &[&str]| played.world.windlass(&[&["diff", &played.run], more].concat()).exits_with(0).stdout;
    let whole = patch(&[]);
    assert!(whole.contains("\n-0\n+3\n") && !whole.contains(".ai-loop"), "{whole}");
    assert!(patch(&["--iteration", "2"]).contains("\n-1\n+2\n"));
    let quiet = played.world.windlass(&["diff", &played.run, "--iteration", "0"]).exits_with(0);
    assert!(quiet.stderr.contains("iteration 0 changed nothing"), "{}", quiet.stderr);
    for (flags, words) in [
        (["--iteration", "9"], "there was no iteration 9"),
        (["--round", "1"], "a control loop has iterations, not rounds"),
    ] {
        let refused = played.world.windlass(&[&["diff", &played.run], &flags[..]].concat()).exits_with(2);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

#[test]
fn an_outer_iteration_holds_what_its_inner_loop_changed() {
    let played = Loop::played("2", &[]);
    let patch = |label: &str| {
        let words = ["diff", &played.run, "--iteration", label];
        played.world.windlass(&words).exits_with(0).stdout
    };
    assert!(patch("1.2").contains("\n-1\n+2\n"));
    assert!(patch("1").contains("\n-0\n+3\n"));
}

#[test]
fn the_files_of_the_whole_run_or_of_one_iteration_are_shown() {
    let played = Loop::played("1", &[]);
    let show =
        |more: &[&str]| played.world.windlass(&[&["show", &played.run], more].concat()).exits_with(0).stdout;
    let whole = show(&[]);
    assert!(whole.contains("1 file in the whole run") && whole.contains("iteration 1 plan.md"), "{whole}");
    let one = show(&["--iteration", "2"]);
    assert!(one.contains("1 file in iteration 2") && !one.contains("iteration 1 plan.md"), "{one}");
    let refused = played.world.windlass(&["show", &played.run, "--iteration", "9"]).exits_with(2);
    assert!(refused.stderr.contains("there was no iteration 9"), "{}", refused.stderr);
}

#[test]
fn a_task_loop_is_no_control_loop() {
    let world = world();
    let repository = world.repository("repo");
    let agent = world.agent("script.toml", &windlass_test_support::Script::that_passes());
    let words = ["run", "Add done.txt", "--repo", repository.text(), "--agent", &agent, "--json"];
    let outcome = world.windlass(&words).exits_with(0).json_lines().pop().unwrap();
    let run = outcome["run"].as_str().unwrap();
    for command in ["diff", "show"] {
        let refused = world.windlass(&[command, run, "--iteration", "1"]).exits_with(2);
        assert!(refused.stderr.contains("it has rounds, not iterations"), "{}", refused.stderr);
    }
    for command in ["status", "plot"] {
        let refused = world.windlass(&["control", command, run]).exits_with(2);
        assert!(refused.stderr.contains("this run is no control loop"), "{}", refused.stderr);
    }
}

#[test]
fn a_reader_of_the_plot_that_goes_away_is_no_trouble() {
    let played = Loop::played("1", &[]);
    let line = format!("{} control plot {} | head -n 1", played.world.program().display(), played.run);
    let answer = played.world.run(Path::new("/bin/sh"), played.world.path(), &["-c", &line], "");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    assert!(answer.stdout.starts_with("NODE"), "{}", answer.stdout);
}
