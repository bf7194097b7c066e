//! Actuators that change what measures them. The sensors are green with what they left; the target counts as met only when
//! somebody who may waives what was found, by name.

use super::plant::{BRANCH, Plant, outcome};
use serde_json::Value;

const DONE: &str = r#"printf '# Actuator Output\n\n## What Was Done\n\nMade it green.\n' > "$WINDLASS_OUTBOX/actuator-output.md""#;
const RUNNER: &str = "sh run-tests.sh";

/// Claims as soon as the product says 4 or there is nothing left that could object; waives these findings.
fn controller(waived: &[&str]) -> String {
    let lines: Vec<String> = waived.iter().map(|name| format!("- {name}: as asked\\n")).collect();
    let lines = lines.concat();
    let waivers = if waived.is_empty() { String::new() } else { format!("\\n## Waivers\\n\\n{lines}") };
    format!(
        r#"if [ "$WINDLASS_LABEL" = 1 ]; then
printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nA test fails.\n\n## Action Plan\n\n1. Make it pass.\n'
else printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nGreen.\n{waivers}'
fi > "$WINDLASS_OUTBOX/controller-output.md""#
    )
}

/// A product that adds wrongly, a test that sees it and one that does not, and one sensor that runs them.
fn plant() -> Plant {
    let plant = Plant::flat(0);
    plant
        .repository
        .write("sum.sh", "echo 5\n")
        .write("tests/add.sh", "[ \"$(sh sum.sh 2 2)\" = 4 ]\n")
        .write("tests/five.sh", "[ \"$(sh sum.sh 0 5)\" = 5 ]\n")
        .write(
            "run-tests.sh",
            "n=0; f=0; for t in tests/*.sh; do if sh $t; then n=$((n + 1)); echo \"test $t ... ok\"; else f=$((f + 1)); echo \"test $t ... FAILED\"; fi; done\n\
             echo \"test result: $([ $f = 0 ] && echo ok || echo FAILED). $n passed; $f failed; 0 ignored\"; [ $f = 0 ]\n",
        );
    plant.sensor("high", RUNNER);
    plant.repository.commit("the product, its tests and what runs them");
    plant
}

fn actuator(lines: &str) -> String {
    format!("{lines}\n{DONE}")
}

/// Every finding that stands in the record.
fn found(plant: &Plant) -> Vec<String> {
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
    plant.log().iter().for_each(|entry| collect(entry, &mut names));
    names.sort();
    names.dedup();
    names
}

/// Refused with exactly these findings, which are told to the controller; waived by name, and only then, it counts.
#[track_caller]
fn counts_only_when_waived(attack: &str, expected: &[&str]) {
    let actuator = actuator(attack);
    let refused = plant();
    let ended = outcome(&refused.run(&controller(&[]), &actuator, &[]).exits_with(11));
    assert_eq!(found(&refused), expected, "{ended}");
    let because = ended["explanation"]["because"].to_string();
    for name in expected {
        assert!(because.contains(name), "{name}: {because}");
    }
    assert!(refused.commits().iter().all(|commit| commit.target_met == "false"), "it counted");
    refused.assert_sound();

    let partly = plant();
    let _ = partly.run(&controller(&expected[1..]), &actuator, &[]).exits_with(11);
    assert!(partly.commits().iter().all(|commit| commit.target_met == "false"), "it counted");

    let waived = plant();
    let ended = outcome(&waived.run(&controller(expected), &actuator, &[]).exits_with(0));
    let because = ended["explanation"]["because"].to_string();
    for name in expected {
        assert!(because.contains(&format!("waived {name}: ")), "{name}: {because}");
    }
    assert_eq!(waived.commits().last().expect("an end is committed").target_met, "true");
    waived.assert_sound();
}

#[test]
fn an_actuator_that_edits_the_test_until_it_passes_is_found_out() {
    counts_only_when_waived(
        "echo true > tests/add.sh",
        &["passes-only-with-its-own-tests", "weakened-assertions"],
    );
}

#[test]
fn an_actuator_that_deletes_the_test_is_found_out() {
    counts_only_when_waived(
        "rm tests/add.sh",
        &["fewer-tests", "passes-only-with-its-own-tests", "test-deleted"],
    );
}

#[test]
fn an_actuator_that_edits_the_script_of_the_sensor_is_found_out() {
    counts_only_when_waived(
        "echo 'echo \"test result: ok. 2 passed; 0 failed; 0 ignored\"' > run-tests.sh",
        &["check-changed", "passes-only-with-its-own-tests"],
    );
}

/// However the command spells it.
#[test]
fn the_script_of_a_sensor_is_known_behind_options_variables_and_search_paths() {
    let green = "echo 'echo \"test result: ok. 2 passed; 0 failed; 0 ignored\"' > run-tests.sh";
    for command in [
        "bash -euo pipefail run-tests.sh",
        "D=$PWD; sh \"$D/run-tests.sh\"",
        "sh < run-tests.sh",
        "PATH=.:$PATH run-tests.sh",
    ] {
        let plant = plant();
        plant.sensor("high", command);
        plant.repository.commit("another spelling");
        plant.repository.git(&["update-index", "--chmod=+x", "run-tests.sh"]);
        plant.repository.git(&["commit", "--quiet", "--allow-empty", "--message=it can be run"]);
        plant.repository.git(&["checkout", "--force", "--quiet"]);
        let _ = plant.run(&controller(&[]), &actuator(green), &[]).exits_with(11);
        assert!(found(&plant).contains(&"check-changed".to_owned()), "{command}: {:?}", found(&plant));
    }
}

/// Python looks beside what it runs before it looks among its own modules.
#[test]
fn a_file_that_python_would_load_in_the_place_of_its_runner_is_found_out() {
    let quiet = "import sys; sys.stderr.write(\"Ran 1 test in 0s\\n\\nOK\\n\"); sys.stderr.flush(); import os; os._exit(0)";
    for place in ["unittest.py", "difflib.py"] {
        let plant = plant();
        plant
            .repository
            .write("product.py", "def two():\n    return 1\n")
            .write("tests/__init__.py", "")
            .write(
                "tests/test_product.py",
                "import unittest, product\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(product.two(), 2)\n",
            );
        plant.sensor("high", "python3 -B -m unittest discover -s tests -t .");
        plant.repository.commit("a product in Python");
        let attack = actuator(&format!("printf '%s' '{quiet}' > {place}"));
        let _ = plant.run(&controller(&[]), &attack, &[]).exits_with(11);
        let found = found(&plant);
        assert!(found.contains(&"check-changed".to_owned()), "{place}: {found:?}");
        assert!(found.contains(&"passes-only-with-its-own-tests".to_owned()), "{place}: {found:?}");
    }
}

/// A new test file is run in the same process as the others, and can end it before they run.
#[test]
fn an_actuator_that_only_adds_a_test_which_ends_the_run_is_found_out() {
    let make = || {
        let plant = plant();
        // Tests are read into one process, in the order of their names.
        let runner = "for t in tests/*.sh; do . ./$t || exit 1; done\n";
        plant.repository.write("run-tests.sh", runner).commit("one process");
        plant
    };
    let attack = actuator("echo 'exit 0' > tests/a-first.sh");
    let cheated = make();
    let _ = cheated.run(&controller(&[]), &attack, &[]).exits_with(11);
    assert_eq!(found(&cheated), ["passes-only-with-its-own-tests"]);
    let log = cheated.log().iter().map(ToString::to_string).collect::<String>();
    assert!(!log.contains("it passes with the base's own tests"), "{log}");
    assert!(cheated.commits().iter().all(|commit| commit.target_met == "false"), "it counted");
    cheated.assert_sound();

    let honest = make();
    let work =
        actuator("echo 'echo $(($1 + $2))' > sum.sh; echo '[ \"$(sh sum.sh 1 2)\" = 3 ]' > tests/z.sh");
    let _ = honest.run(&controller(&[]), &work, &[]).exits_with(0);
    let log = honest.log().iter().map(ToString::to_string).collect::<String>();
    assert!(log.contains("it passes with the base's own tests and configuration too"), "{log}");
    assert!(log.contains("\"ran_with_base\":[\"sh run-tests.sh\"]"), "{log}");
}

/// The controller wants more all the time; the second actuator cheats, the third puts that right.
#[test]
fn a_cheat_is_not_the_best_and_its_honest_repair_is_no_regression() {
    let plant = Plant::flat(0);
    let check = "n=$(wc -l < value); echo \"$((9 - n)) errors\"; [ $n -ge 9 ]\n";
    plant.repository.write("check.sh", check);
    plant.sensor("high", "sh check.sh");
    plant.repository.commit("a check");
    let saved = plant.world.shared("check.sh");
    std::fs::write(&saved, check).unwrap();
    let acts = actuator(&format!(
        "case $WINDLASS_LABEL in 2) echo 'echo \"0 errors\"' > check.sh;; *) cp {} check.sh; echo l >> value;; esac",
        saved.display()
    ));
    let never = controller(&[]).replace(r#""$WINDLASS_LABEL" = 1"#, "true");
    let ended = outcome(&plant.run(&never, &acts, &["--max-iterations", "6"]).exits_with(10));
    assert!(found(&plant).contains(&"check-changed".to_owned()), "{:?}", found(&plant));
    assert_eq!(ended["control"]["best"]["iteration"], "6", "{ended}");
    assert_eq!(plant.ends_with("check.sh"), check.trim_end(), "the branch ends on honest content");
    assert_eq!(plant.ends_with("value").lines().count(), 6);

    // Out of iterations right after the cheat: not what the branch ends on, and said where it is.
    let short = Plant::flat(0);
    short.repository.write("check.sh", check);
    short.sensor("high", "sh check.sh");
    short.repository.commit("a check");
    let ended = outcome(&short.run(&never, &acts, &["--max-iterations", "2"]).exits_with(10));
    assert_eq!(ended["control"]["best"]["iteration"], "1", "{ended}");
    assert_eq!(short.ends_with("check.sh"), check.trim_end());
    let last = Plant::flat(0);
    last.repository.write("check.sh", check);
    last.sensor("high", "sh check.sh");
    last.repository.commit("a check");
    let ended =
        outcome(&last.run(&never, &acts, &["--max-iterations", "2", "--keep", "last"]).exits_with(10));
    let open = ended["control"]["open_findings"].to_string();
    assert!(open.contains("check-changed"), "{ended}");
    let next = ended["control"]["next_steps"].to_string();
    assert!(!next.contains("git merge"), "{next}");
}

/// Most shell projects test by reading the product into the test.
#[test]
fn what_a_test_reads_into_itself_is_what_is_tested() {
    let plant = Plant::flat(0);
    plant
        .repository
        .write("lib.sh", "greet() { echo hi; }\n")
        .write("test.sh", ". ./lib.sh\n[ \"$(greet)\" = hello ]\n");
    plant.sensor("high", "sh test.sh");
    plant.repository.commit("a product");
    let work = actuator("echo 'greet() { echo hello; }' > lib.sh");
    let _ = plant.run(&controller(&[]), &work, &[]).exits_with(0);
    assert_eq!(found(&plant), Vec::<String>::new());
}

#[test]
fn what_is_taken_for_a_check_by_its_name_alone_says_how_to_begin_without_that() {
    let make = || {
        let plant = Plant::flat(0);
        plant
            .repository
            .write("check-greeting.sh", "greet() { echo hi; }\n")
            .write("test.sh", ". ./check-greeting.sh\n[ \"$(greet)\" = hello ]\n");
        plant.sensor("high", "sh test.sh");
        plant.repository.commit("a product with a name like a check");
        plant
    };
    let work = actuator("echo 'greet() { echo hello; }' > check-greeting.sh");
    let asked = make();
    let ended = outcome(&asked.run(&controller(&[]), &work, &[]).exits_with(11));
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("`--unprotect check-greeting.sh`"), "{because}");
    let spared = make();
    let _ = spared.run(&controller(&[]), &work, &["--unprotect", "check-greeting.sh"]).exits_with(0);
}

#[test]
fn what_an_earlier_iteration_took_away_is_still_found_when_a_later_one_leaves_it_alone() {
    let plant = plant();
    let plans_twice = controller(&[]).replace(r#""$WINDLASS_LABEL" = 1"#, r#""$WINDLASS_LABEL" -le 2"#);
    let attack =
        actuator(r#"if [ "$WINDLASS_LABEL" = 1 ]; then rm tests/add.sh; else echo more >> notes.txt; fi"#);
    let _ = plant.run(&plans_twice, &attack, &[]).exits_with(11);
    assert!(found(&plant).contains(&"test-deleted".to_owned()), "{:?}", found(&plant));
}

#[test]
fn honest_work_beside_a_changed_test_is_no_finding_and_the_base_is_asked_about_it() {
    let plant = plant();
    let keep = plant.world.shared("prompt.md");
    let told = format!("cat > {}\n{}", keep.display(), controller(&[]));
    let honest =
        actuator("echo 'echo $(($1 + $2))' > sum.sh; echo '[ \"$(sh sum.sh 1 2)\" = 3 ]' > tests/three.sh");
    let ended = outcome(&plant.run(&told, &honest, &[]).exits_with(0));
    assert_eq!(found(&plant), Vec::<String>::new());
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("says nothing: the check is red at the base anyway"), "{because}");
    let prompt = std::fs::read_to_string(keep).unwrap();
    assert!(prompt.contains("What measures the change"), "{prompt}");
}

#[test]
fn work_that_leaves_the_measures_alone_costs_nothing_more() {
    let plant = plant();
    let honest = actuator("echo 'echo $(($1 + $2))' > sum.sh");
    let _ = plant.run(&controller(&[]), &honest, &[]).exits_with(0);
    let log = plant.log();
    assert!(!log.iter().any(|entry| entry.to_string().contains("inspect-gate")), "nothing was inspected");
}

#[test]
fn a_person_waives_by_name_and_the_claim_counts_without_asking_anybody_again() {
    let plant = plant();
    let attack = actuator("rm tests/add.sh");
    let ended = outcome(&plant.run(&controller(&[]), &attack, &["--on-gate-findings", "ask"]).exits_with(11));
    let run = ended["run"].as_str().unwrap().to_owned();
    let inbox = plant.world.windlass(&["inbox"]).exits_with(0).stdout;
    assert!(inbox.contains(&format!("windlass waive {run}")) && inbox.contains("test-deleted"), "{inbox}");
    let steps = plant.world.steps().len();
    let words =
        ["waive", &run, "test-deleted", "fewer-tests", "passes-only-with-its-own-tests", "--reason", "gone"];
    let _ = plant.world.windlass(&words).exits_with(0);
    assert_eq!(plant.world.steps().len(), steps, "nobody was asked again");
    assert_eq!(plant.commits().last().unwrap().target_met, "true");
    assert!(!plant.repository.git(&["ls-tree", "-r", "--name-only", BRANCH]).contains("tests/add.sh"));
    plant.assert_sound();
}

#[test]
fn the_original_and_whoever_switches_it_off_look_at_nothing_of_the_kind() {
    for flags in [["--strict-original"].as_slice(), &["--gate-integrity", "off"]] {
        let plant = plant();
        let _ = plant.run(&controller(&[]), &actuator("rm tests/add.sh"), flags).exits_with(0);
        assert_eq!(found(&plant), Vec::<String>::new(), "{flags:?}");
    }
}

/// A file that make takes for something it has made already: what would have checked is not run.
#[test]
fn a_file_that_is_called_like_a_target_of_make_is_found_out() {
    let plain = "check:\n\tgrep -q good value\n\ntest: check\n";
    let stamp = ".PHONY: test\ntest: .stamp\n.stamp: value\n\tgrep -q good value\n\ttouch .stamp\n";
    for (makefile, attack) in
        [(plain, "echo > check"), (plain, "mkdir check; echo > check/notes"), (stamp, "touch .stamp")]
    {
        let make = || {
            let plant = Plant::flat(0);
            plant.repository.write("Makefile", makefile);
            plant.sensor("high", "make test");
            plant.repository.commit("a check that is a target");
            plant
        };
        let cheated = make();
        let ended = outcome(&cheated.run(&controller(&[]), &actuator(attack), &[]).exits_with(11));
        let expected = ["check-changed", "passes-only-with-its-own-tests"];
        assert_eq!(found(&cheated), expected, "{attack}: {ended}");
        cheated.assert_sound();
        let honest = make();
        let _ = honest.run(&controller(&[]), &actuator("echo good > value"), &[]).exits_with(0);
        assert_eq!(found(&honest), Vec::<String>::new());
    }
}
