//! `windlass control init` and `check`: what a repository is found to need, what is written, what is left alone.

use crate::world;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_artifact_formats::control_loop::{Flow, FlowSensor, is_known_rendering};
use windlass_test_support::{Output, Repository, World};

const FLOW: &str = ".ai-loop/flow.yaml";
const TEST_SENSOR: &str = ".claude/agents/loop-sensor-test.md";

struct Place {
    world: World,
    repository: Repository,
}

impl Place {
    fn new() -> Self {
        let world = world();
        let repository = world.repository("repo");
        Self { world, repository }
    }

    fn control(&self, command: &str, more: &[&str]) -> Output {
        let words = ["control", command, "--repo", self.repository.text()];
        self.world.windlass(&[&words, more].concat())
    }

    fn init(&self, more: &[&str]) -> Value {
        self.control("init", &[&["--json"], more].concat()).exits_with(0).json()
    }

    fn flow(&self) -> Flow {
        Flow::parse(&self.repository.read(FLOW)).expect("what is written can be read").0
    }

    fn has(&self, path: &str) -> bool {
        self.repository.path().join(path).symlink_metadata().is_ok()
    }
}

fn texts(value: &Value) -> Vec<String> {
    let text = |one: &Value| match one {
        Value::String(text) => text.clone(),
        other => other[0].as_str().expect("a list of names").to_owned(),
    };
    value.as_array().expect("a list").iter().map(text).collect()
}

#[test]
fn a_fresh_repository_is_set_up_checked_and_run_as_the_commands_say() {
    let place = Place::new();
    let bare = place.control("check", &[]).exits_with(2);
    assert!(
        bare.stdout.contains("is not set up") && bare.stdout.contains("next: windlass control init"),
        "{}",
        bare.stdout
    );

    place.repository.write("Makefile", "test:\n\ttest -f done.txt\n").commit("a makefile");
    let done = place.control("init", &[]).exits_with(0).stdout;
    for words in [
        "make test",
        "the target `test` in Makefile",
        "wrote .ai-loop/flow.yaml",
        "next: git add",
        "next: windlass trust",
    ] {
        assert!(done.contains(words), "{words} in {done}");
    }
    let loose = place.control("check", &[]).exits_with(2).stdout;
    assert!(loose.contains("commit it"), "{loose}");
    place.repository.commit("set up");
    let untrusted = place.control("check", &[]).exits_with(14).stdout;
    assert!(untrusted.contains("not trusted yet"), "{untrusted}");
    let _ = place.world.windlass(&["trust", "--repo", place.repository.text()]).exits_with(0);
    let ready = place.control("check", &[]).exits_with(0).stdout;
    assert!(ready.contains("main: up to 10 iterations") && ready.contains("test: make test"), "{ready}");

    let agent = place.world.agent_from_text("play.toml", PLAY);
    let words = ["control", "run", "Add done.txt", "--repo", place.repository.text(), "--agent", &agent];
    let ran = place.world.windlass(&words).exits_with(0).stdout;
    let branch = "ai-loop/add-done-txt";
    for words in [
        format!("branch       {branch}"),
        "base branch  main".to_owned(),
        "commits      3".to_owned(),
        "actuations   1".to_owned(),
        "the target is met after 1 actuation\n".to_owned(),
        format!("next: git log --oneline main..{branch}"),
        format!("next: git merge {branch}"),
        format!("next: git branch -D {branch}"),
    ] {
        assert!(ran.contains(&words), "{words} in {ran}");
    }
    assert_eq!(place.repository.git(&["fsck", "--no-dangling", "--no-reflogs", branch]), "");
    let tree = place.repository.git(&["ls-tree", "-r", "--name-only", branch]);
    let mut once: Vec<&str> = tree.lines().collect();
    once.dedup();
    assert_eq!(once, tree.lines().collect::<Vec<_>>(), "no path stands in the tree twice");
}

const PLAY: &str = r##"
[[step]]
role = "actuator"
do = [
  { write = "done.txt", text = "done" },
  { artifact = "actuator-output.md", text = "# Actuator Output\n\n## What Was Done\nAdded it\n" },
]

[[step]]
role = "controller"
label = "1"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: false
---
## Gap Analysis
done.txt is missing
## Action Plan
1. Add done.txt
''' }]

[[step]]
role = "controller"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: true
---
## Gap Analysis
nothing is missing
''' }]
"##;

#[test]
fn running_it_again_changes_nothing() {
    for levels in [&[][..], &["--levels", "1"], &["--levels", "2"], &["--flat"]] {
        let place = Place::new();
        let sensors = ["--sensor", "vet=go vet", "--sensor", "test=go test", "--sensor", "build=go build"];
        let first = place.init(&[levels, &sensors].concat());
        place.repository.commit("set up");
        let again = place.init(&[]);
        assert_eq!(texts(&again["written"]), [""; 0], "{levels:?}");
        assert_eq!(texts(&again["kept"]), [""; 0], "{levels:?}");
        let sorted = |value: &Value| texts(value).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(sorted(&again["unchanged"]), sorted(&first["written"]), "{levels:?}");
        assert_eq!(again["dialect"], first["dialect"], "{levels:?}");
        assert_eq!(place.repository.git(&["status", "--porcelain"]), "", "{levels:?}");
        assert_eq!(
            place.control("check", &["--json"]).json()["problems"],
            Value::Array(vec![]),
            "{levels:?}"
        );
    }
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_it_would() {
    let place = Place::new();
    place.repository.write("go.mod", "module x\n").commit("go");
    let told = place.control("init", &["--dry-run"]).exits_with(0).stdout;
    assert!(told.contains("would write .ai-loop/flow.yaml") && !told.contains("next:"), "{told}");
    assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn two_levels_put_the_tests_outside_and_the_quick_sensors_inside() {
    let place = Place::new();
    place.init(&["--levels", "2", "--sensor", "test=make test", "--sensor", "lint=make lint"]);
    let flow = place.flow();
    let nodes: Vec<(String, Vec<String>, u32)> = flow
        .nodes()
        .into_iter()
        .map(|(path, node)| (path, node.sensors.iter().map(FlowSensor::name).collect(), node.max_iterations))
        .collect();
    let expected = [("outer", "test", 5), ("outer/inner", "lint", 10)];
    let expected = expected.map(|(path, sensor, most)| (path.to_owned(), vec![sensor.to_owned()], most));
    assert_eq!(nodes, expected);
}

#[test]
fn the_flat_form_has_agent_files_only() {
    let place = Place::new();
    place.init(&["--flat", "--sensor", "test=make test"]);
    assert!(!place.has(FLOW) && place.has(".ai-loop/.gitkeep"));
    assert!(place.repository.read(".claude/agents/loop-controller.md").contains("1. test (priority: high)"));
    place.repository.commit("flat");
    let report = place.control("check", &["--json"]).json();
    assert_eq!(
        (report["dialect"].as_str(), report["problems"].as_array().map(Vec::len)),
        (Some("flat"), Some(0))
    );
}

#[test]
fn w26_what_a_person_edited_stays_and_ours_goes_beside_it() {
    let place = Place::new();
    place.init(&["--sensor", "test=make test"]);
    let controller = ".claude/agents/loop-controller-main.md";
    let edited = place.repository.read(controller) + "\nBe kind.\n";
    let flow = place.repository.read(FLOW).replace("max_iterations: 10", "max_iterations: 4");
    let sensor = place.repository.read(TEST_SENSOR).replace("# Sensor: test", "# Sensor: test\n\nMine.");
    place.repository.write(controller, &edited).write(FLOW, &flow).write(TEST_SENSOR, &sensor);

    let report = place.init(&["--sensor", "test=make all-tests", "--sensor", "lint=make lint"]);
    assert_eq!(texts(&report["kept"]), [TEST_SENSOR, controller, FLOW]);
    assert_eq!(place.repository.read(controller), edited);
    assert_eq!(place.repository.read(FLOW), flow);
    assert_eq!(place.repository.read(TEST_SENSOR), sensor);
    assert!(is_known_rendering(&place.repository.read(&format!("{controller}.new"))));
    assert!(place.repository.read(&format!("{TEST_SENSOR}.new")).contains("    make all-tests\n"));
    let (new, _) = Flow::parse(&place.repository.read(&format!("{FLOW}.new"))).unwrap();
    assert_eq!(
        (new.root.max_iterations, new.root.sensors.len()),
        (4, 2),
        "the person's number is kept in ours"
    );
    assert!(texts(&report["written"]).contains(&".claude/agents/loop-sensor-lint.md".to_owned()));
    let told = place.control("init", &[]).exits_with(0).stdout;
    assert!(told.contains("was edited by hand and stays") && told.contains("next: diff "), "{told}");
}

#[test]
fn another_sensor_joins_a_set_up_that_nobody_edited() {
    let place = Place::new();
    place.init(&["--sensor", "test=make test"]);
    let report = place.init(&["--sensor", "lint=make lint"]);
    assert_eq!(texts(&report["written"]), [".claude/agents/loop-sensor-lint.md", FLOW]);
    assert_eq!(texts(&report["kept"]), [""; 0]);
    assert_eq!(place.flow().root.sensors.len(), 2);
    assert!(!place.has(&format!("{FLOW}.new")));
}

#[test]
fn w02_targets_of_a_flat_set_up_move_with_it_into_a_flow() {
    let place = Place::new();
    place.init(&["--flat", "--sensor", "test=make test"]);
    let controller = ".claude/agents/loop-controller.md";
    let text = place.repository.read(controller).replace("exits 0", "at least 90 percent");
    place.repository.write(controller, &text);
    place.init(&["--levels", "1"]);
    place.repository.commit("moved");
    let report = place.control("check", &["--json"]).json();
    assert_eq!(report["nodes"][0]["sensors"][0][2], "at least 90 percent");
}

#[test]
fn a_flat_set_up_does_not_write_over_the_files_of_a_flow() {
    let place = Place::new();
    place.init(&["--levels", "1", "--sensor", "test=make test"]);
    place.repository.commit("set up");
    let refused = place.control("init", &["--flat"]).exits_with(2);
    assert!(refused.stderr.contains("flow.yaml is there"), "{}", refused.stderr);
    assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_cannot_be_a_set_up_is_refused_before_anything_is_written() {
    let place = Place::new();
    let nothing = place.control("init", &[]).exits_with(2);
    assert!(nothing.stderr.contains("--sensor test="), "{}", nothing.stderr);
    for bad in ["=x", "no-equals-sign", "a/b=x", "..=x", "test=  "] {
        let refused = place.control("init", &["--sensor", bad]).exits_with(2);
        assert!(refused.stderr.contains("error[WL-USAGE-001]"), "{bad}: {}", refused.stderr);
    }
    let both = place.control("init", &["--flat", "--levels", "2", "--sensor", "t=x"]).exits_with(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    assert!(!place.has(".claude") && !place.has(".ai-loop"));
}

#[test]
fn nothing_is_written_through_a_link_out_of_the_repository() {
    let place = Place::new();
    let outside = place.world.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, place.repository.path().join(".claude")).unwrap();
    let refused = place.control("init", &["--sensor", "test=make test"]).exits_with(1);
    assert!(refused.stderr.contains("is no plain directory"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
}

#[test]
fn overlapping_commands_and_an_ignored_loop_directory_are_warned_of() {
    let place = Place::new();
    place.repository.write(".gitignore", "/target\n.ai-loop/\n");
    let report = place.init(&["--sensor", "all=mvn verify", "--sensor", "unit=mvn test"]);
    let warnings = texts(&report["warnings"]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`all` (mvn verify) already does what `unit` (mvn test) measures"));
    assert!(warnings[1].contains(".gitignore leaves .ai-loop out"));
}

#[test]
fn every_fault_of_a_set_up_is_named_at_once() {
    let place = Place::new();
    place.init(&["--sensor", "test=make test", "--sensor", "lint=make lint"]);
    for gone in ["loop-sensor-lint.md", "loop-actuator.md"] {
        std::fs::remove_file(place.repository.path().join(".claude/agents").join(gone)).unwrap();
    }
    place.repository.commit("half of it");
    let report = place.control("check", &[]).exits_with(2).stdout;
    assert!(report.contains("loop-sensor-lint.md is not there"), "{report}");
    assert!(report.contains("loop-actuator.md is not there"), "{report}");
}

/// A sensor's file of any other name, which says in its front matter what it is called.
fn called(name: &str) -> String {
    format!("---\nname: {name:?}\n---\n\n# Sensor\n\n## Measurement\n\n    true\n")
}

/// Names a second sensor whose file is `extra.md`.
fn with_extra_sensor(name: &str) -> Place {
    let place = Place::new();
    place.init(&["--levels", "1", "--sensor", "test=make test"]);
    let flow = place.repository.read(FLOW);
    let line = format!("- \"{TEST_SENSOR}\"\n");
    let more = flow.replacen(&line, &format!("{line}    - .claude/agents/extra.md\n"), 1);
    assert_ne!(more, flow);
    place
        .repository
        .write(FLOW, &more)
        .write(".claude/agents/extra.md", &called(name))
        .commit("an extra one");
    place
}

/// It stands in names of files and in the list of sensors of every commit.
#[test]
fn w22_a_sensor_that_calls_itself_by_no_name_is_refused() {
    for name in ["x/../y", "a: pass, b", "..", "a\nb"] {
        let place = with_extra_sensor(name);
        let report = place.control("check", &[]).exits_with(2).stdout;
        assert!(report.contains("extra.md: the sensor's name"), "{name:?}: {report}");
    }
    let report = with_extra_sensor("unit tests").control("check", &["--json"]).json();
    assert_eq!(report["nodes"][0]["sensors"][1][0], "unit tests", "{report}");
}

/// What a run would refuse is no set-up that is ready.
#[test]
fn two_sensors_of_one_name_and_a_budget_of_nothing_are_no_set_up() {
    let report = with_extra_sensor("loop-sensor-test").control("check", &[]).exits_with(2).stdout;
    assert!(report.contains("are both called test"), "{report}");
    for nothing in ["actuations: 0", "minutes: 0", "tokens: 0", "cost: 0"] {
        let place = Place::new();
        place.init(&["--levels", "1", "--sensor", "test=make test"]);
        let flow = place.repository.read(FLOW);
        let poor = flow.replacen("  type: loop\n", &format!("  type: loop\n  budget: {{ {nothing} }}\n"), 1);
        assert_ne!(poor, flow);
        place.repository.write(FLOW, &poor).commit("poor");
        let report = place.control("check", &[]).exits_with(2).stdout;
        let key = nothing.split(':').next().unwrap();
        assert!(report.contains(&format!("`budget.{key}` must be")), "{report}");
    }
}
