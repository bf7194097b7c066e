//! Builders that change what measures them. The suite is green with what they left; the item is committed only when somebody
//! who may waives what was found, by name. What the loop forbids anyway is not for anybody to waive.

use super::scene::{Play, Scene, assert_because, contract, item, makes, outcome, queue, with, write};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const GREETING: &str = "tests/greet.sh";
const PYTHON: &str = "tests/test_greet.py";

/// An item that may touch the greeting and the runner, a test of the greeting, and one in a language with marks.
fn scene(level: &str) -> Scene {
    let about = json!({ "affected_files": ["f001.txt", "greet.txt", "test.sh"] });
    let scene = Scene::set_up(&[with(item("F001"), about)], level);
    let python = "def test_greet():\n    assert open('greet.txt').read() == 'hello'\n";
    scene.repository.write("greet.txt", "hello\n").write(GREETING, "[ \"$(cat greet.txt)\" = hello ]\n");
    scene.repository.write(PYTHON, python).commit("a greeting and its tests");
    scene
}

/// A builder that makes the item well and does this beside it.
fn builder(round: u32, actions: &[&str]) -> Play {
    let made = makes("F001");
    let actions: Vec<&str> = made.iter().map(String::as_str).chain(actions.iter().copied()).collect();
    Play::default().builder(round, &actions)
}

/// Every finding about the gate that stands in the record.
fn found(scene: &Scene) -> Vec<String> {
    fn collect(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if let (Some(Value::String(name)), Some(Value::Array(_))) =
                    (fields.get("kind"), fields.get("about"))
                {
                    names.push(name.clone());
                }
                fields.values().for_each(|field| collect(field, names));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            _ => {}
        }
    }
    let mut names = Vec::new();
    collect(&scene.about("log", &["--json"]).exits_with(0).json(), &mut names);
    names.sort();
    names.dedup();
    names
}

/// Sent back with exactly these findings as its cause, which the next builder is told; waived by name, all of them, and only
/// then, it is committed.
#[track_caller]
fn counts_only_when_waived(attack: &[&str], expected: &[&str]) {
    let twice = |names: &[&str]| {
        let first = builder(1, attack).waives(1, "F001", names);
        let again = write("f001.txt", "done, and done again\n");
        first.builder(2, &[&again]).waives(2, "F001", names)
    };
    let refused = scene("L2");
    let ended = refused.ends(&twice(&[]), 11);
    assert_eq!(found(&refused), expected, "{ended}");
    assert_because(&ended, "nobody waived what was found about the gate");
    let told = refused.prompt("builder-2-1");
    let shown = refused.prompt("evaluator-1-1");
    for name in expected {
        assert!(told.contains(name) && shown.contains(name), "{name}: {told}\n{shown}");
    }
    assert_eq!(refused.subjects(), ["chore(loop): run summary"], "nothing of it is committed");
    refused.assert_sound();

    let partly = scene("L2");
    let _ = partly.ends(&twice(&expected[1..]), 11);
    assert_eq!(partly.subjects(), ["chore(loop): run summary"], "one was left open");

    let waived = scene("L2");
    let _ = waived.ends(&builder(1, attack).waives(1, "F001", expected), 0);
    assert_eq!(waived.subjects(), ["feat(F001): what the item asks for", "chore(loop): run summary"]);
    let message = waived.repository.git(&["log", "--format=%B", &format!("main..{}", waived.branch())]);
    let report = waived.at_end("docs/EVALUATION.md");
    for name in expected {
        assert!(message.contains("Windlass-Waived: ") && message.contains(name), "{message}");
        assert!(report.contains(&format!("- **Waived**: {name} — as asked")), "{report}");
    }
    waived.assert_sound();
}

#[test]
fn a_builder_that_edits_the_test_until_it_passes_is_found_out() {
    counts_only_when_waived(
        &[&write("greet.txt", "goodbye\n"), &write(GREETING, "true\n")],
        &["passes-only-with-its-own-tests", "weakened-assertions"],
    );
}

#[test]
fn a_builder_that_marks_a_test_to_be_skipped_is_found_out() {
    let skipped = "import pytest\n\n@pytest.mark.skip\ndef test_greet():\n    assert open('greet.txt').read() == 'hello'\n";
    counts_only_when_waived(&[&write(PYTHON, skipped)], &["test-skipped"]);
}

#[test]
fn a_builder_that_rewrites_the_runner_its_item_names_is_found_out() {
    let names = "n=0\nfor t in base f001 greet; do n=$((n + 1)); echo \"ok $n - $t\"; done\necho 1..$n\n";
    counts_only_when_waived(
        &[&write("greet.txt", "goodbye\n"), &write("test.sh", names)],
        &["check-changed", "passes-only-with-its-own-tests"],
    );
}

#[test]
fn a_deleted_test_is_sent_back_whatever_the_evaluator_would_waive() {
    let scene = scene("L2");
    let gone = format!("{{ delete = '{GREETING}' }}");
    let play = builder(1, &[&gone]).waives(1, "F001", &["test-deleted"]);
    let play = play.builder(2, &[&write("f001.txt", "done again\n")]).waives(2, "F001", &["test-deleted"]);
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "deleted tests: tests/greet.sh");
    assert!(!scene.world.steps().iter().any(|step| step.starts_with("evaluator")), "nobody is asked");
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
}

/// The test command is a program of the user's, first on the search path.
fn with_program(entries: &str) -> (Scene, PathBuf) {
    let about = with(item("F001"), json!({ "affected_files": ["f001.txt", "tools/verify-all"] }));
    let contract = contract("F001", "L2").replace("sh test.sh", "verify-all");
    let mut scene = Scene::with_contract(&queue(&[about]), &contract);
    let folder = scene.world.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("verify-all");
    std::fs::write(&program, "#!/bin/sh\ntest -f README.md\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.world.set("PATH", format!("{entries}{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    (scene, program)
}

#[test]
fn a_program_that_the_builder_puts_before_the_real_one_is_found_out() {
    let replaced = |names: &[&str]| {
        let (mut scene, program) = with_program("");
        scene.world.without_sandbox("the fence would keep the builder from it");
        let attack = format!("{{ run = ['cp', '/bin/true', '{}'] }}", program.display());
        let play = builder(1, &[&attack]).waives(1, "F001", names);
        let again = write("f001.txt", "done again\n");
        (scene, play.builder(2, &[&again]).waives(2, "F001", names))
    };
    let (scene, play) = replaced(&[]);
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "check-replaced-on-path");
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    let (scene, play) = replaced(&["check-replaced-on-path"]);
    let _ = scene.ends(&play, 0);

    let wrapper = "{ write = 'tools/verify-all', text = \"#!/bin/sh\\nexit 0\\n\", mode = 0o755 }";
    let (scene, _) = with_program("tools::");
    let play = builder(1, &[wrapper]).passes(1, "F001");
    let play = play.builder(2, &[&write("f001.txt", "done again\n")]).passes(2, "F001");
    let _ = scene.ends(&play, 11);
    assert_eq!(found(&scene), ["check-replaced-on-path"], "for a relative entry of the search path");
}

#[test]
fn a_new_test_is_run_on_the_base_and_the_evaluator_is_told_what_that_says() {
    let scene = scene("L2");
    let _ = scene.ends(&builder(1, &[]).passes(1, "F001"), 0);
    assert_eq!(found(&scene), Vec::<String>::new());
    let prompt = scene.prompt("evaluator-1-1");
    assert!(prompt.contains("`sh test.sh`: would have failed before"), "{prompt}");
    let idle = Scene::of(1, "L2");
    let both = [write("f001.txt", "F001 is done\n"), write("tests/idle.sh", "true\n")];
    let _ = idle.ends(&Play::default().builder(1, &[&both[0], &both[1]]).passes(1, "F001"), 0);
    let prompt = idle.prompt("evaluator-1-1");
    assert!(prompt.contains("`sh test.sh`: passes without the change"), "{prompt}");
}

#[test]
fn work_that_leaves_the_measures_alone_costs_nothing_more() {
    let scene = scene("L2");
    let only = write("f001.txt", "F001 is done\n");
    let _ = scene.ends(&Play::default().builder(1, &[&only]).passes(1, "F001"), 0);
    let log = scene.about("log", &["--json"]).exits_with(0).stdout;
    assert!(!log.contains("inspect-gate"), "nothing was inspected");
}

#[test]
fn a_person_waives_by_name_and_the_item_is_committed_without_asking_anybody_again() {
    let scene = scene("L2");
    let attack = builder(1, &[&write("greet.txt", "goodbye\n"), &write(GREETING, "true\n")]);
    let ended = outcome(&scene.run(&attack.passes(1, "F001"), &["--on-gate-findings", "ask"]).exits_with(11));
    let run = ended["run"].as_str().unwrap().to_owned();
    let inbox = scene.world.windlass(&["inbox"]).exits_with(0).stdout;
    assert!(
        inbox.contains(&format!("windlass waive {run}")) && inbox.contains("weakened-assertions"),
        "{inbox}"
    );
    let steps = scene.world.steps().len();
    let names = ["passes-only-with-its-own-tests", "weakened-assertions", "--reason", "another greeting"];
    let _ = scene.about("waive", &names).exits_with(0);
    assert_eq!(scene.world.steps().len(), steps, "nobody was asked again");
    assert_eq!(scene.item_status("F001"), "complete");
    assert_eq!(scene.at_end("greet.txt"), "goodbye");
    scene.assert_sound();
}

#[test]
fn an_approval_at_l1_shows_what_was_found_and_who_let_it_be() {
    let scene = scene("L1");
    let attack = builder(1, &[&write("greet.txt", "goodbye\n"), &write(GREETING, "true\n")]);
    let names = ["passes-only-with-its-own-tests", "weakened-assertions"];
    let ended = scene.ends(&attack.waives(1, "F001", &names), 11);
    let inbox = scene.world.windlass(&["inbox"]).exits_with(0).stdout;
    for name in names {
        assert!(inbox.contains(&format!("waived {name}: ")), "{inbox}");
        assert_because(&ended, &format!("waived {name}: "));
    }
    let tree = ended["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let _ = scene.about("approve", &["--tree", &tree]).exits_with(0);
    assert_eq!(scene.item_status("F001"), "complete");
}

#[test]
fn whoever_switches_it_off_is_not_looked_at() {
    let scene = scene("L2");
    let attack = builder(1, &[&write("greet.txt", "goodbye\n"), &write(GREETING, "true\n")]);
    let _ = scene.run(&attack.passes(1, "F001"), &["--gate-integrity", "off"]).exits_with(0);
    assert_eq!(found(&scene), Vec::<String>::new());
}
