//! Control that deserves the name: what the measured history says ends a loop early, and the best commit is kept.

use super::plant::{ADDING_ACTUATOR, Plant, counting_controller, outcome};

const NEVER: &str = r#"printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nx\n\n## Action Plan\n\n1. Try.\n' > "$WINDLASS_OUTBOX/controller-output.md""#;

/// A sensor that prints the same figure whatever is done.
const STANDING: &str = "echo '1 error'; test \"$(cat value)\" -ge";

#[test]
fn the_same_failing_sensors_without_a_better_figure_end_the_loop() {
    let plant = Plant::flat(100);
    plant.sensor("high", &format!("{STANDING} 100"));
    plant.repository.commit("a figure");
    let ended = outcome(&plant.count_to(100, &["--patience", "2"]).exits_with(11));
    assert_eq!(ended["final_verdict"], "stalled");
    assert!(ended["explanation"]["now"].as_str().unwrap().contains("plateau"), "{ended}");
    assert_eq!(ended["control"]["actuations"], 2);
    let status = plant.world.windlass(&["control", "status", &plant.run_id()]).exits_with(0).stdout;
    assert!(status.contains("plateau") && !status.contains("max-iterations-reached"), "{status}");
}

#[test]
fn the_same_change_made_again_and_again_ends_the_loop() {
    let plant = Plant::flat(100);
    plant.repository.write("log", &"x\n".repeat(9)).commit("a log");
    let again = "echo x >> log";
    let ended = outcome(&plant.run(&counting_controller(100), again, &["--patience", "3"]).exits_with(11));
    assert!(ended["explanation"]["now"].as_str().unwrap().contains("stagnation"), "{ended}");
    assert_eq!(ended["control"]["actuations"], 3);
}

/// Nobody can see how far it is, but every iteration does something else.
#[test]
fn useful_changes_under_a_sensor_without_a_figure_are_no_stagnation() {
    let plant = Plant::flat(6);
    let ended = outcome(&plant.count_to(6, &[]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 6);
}

/// The same failing sensor, but a figure that gets better each time, is progress.
#[test]
fn a_figure_that_gets_better_is_progress() {
    let plant = Plant::flat(5);
    plant.sensor(
        "high",
        "echo \"test result: ok. $(cat value) passed; 0 failed\"; test \"$(cat value)\" -ge 5",
    );
    plant.repository.commit("a figure");
    let ended = outcome(&plant.count_to(5, &["--patience", "2"]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 5);
}

/// A plant that swings between two states, the first of which is better.
#[test]
fn s12_8_an_oscillating_plant_is_stopped_with_the_best_commit_named_and_kept() {
    let plant = Plant::bare();
    plant.repository.write("value", "2\n");
    plant.sensor("high", "test \"$(cat value)\" -ge 5");
    plant.sensor("even", "test $(( $(cat value) % 2 )) -eq 0");
    plant.role("loop-controller", "# Controller\n");
    plant.role("loop-actuator", "# Actuator\n");
    plant.repository.commit("set up");
    let swing = r#"v=$(cat value); if [ "$v" = 4 ]; then echo 3 > value; else echo 4 > value; fi"#;
    let ended = outcome(&plant.run(NEVER, swing, &["--patience", "3"]).exits_with(11));
    assert!(ended["explanation"]["now"].as_str().unwrap().contains("oscillation"), "{ended}");
    let best = &ended["control"]["best"];
    let commit = best["commit"].as_str().unwrap();
    assert_eq!(plant.repository.git(&["show", &format!("{commit}:value")]), "4", "{ended}");
    assert_eq!(plant.ends_with("value"), "4", "the branch ends on the best");
    plant.assert_sound();
}

#[test]
fn the_branch_ends_on_the_last_content_where_the_user_wants_that() {
    let best_of_the_original = ["--strict-original", "--keep", "best"];
    let wishes: [(&[&str], &str); 3] =
        [(&["--keep", "best"], "0"), (&["--keep", "last"], "3"), (&best_of_the_original, "0")];
    for (wish, value) in wishes {
        let plant = Plant::bare();
        plant.sensor("low", "test \"$(cat value)\" -le 0");
        plant.sensor("other", "false");
        plant.role("loop-controller", "# Controller\n");
        plant.role("loop-actuator", "# Actuator\n");
        plant.repository.commit("set up");
        let flags = [wish, &["--patience", "3"]].concat();
        let ended = outcome(&plant.run(NEVER, ADDING_ACTUATOR, &flags).exits_with(11));
        assert!(ended["explanation"]["now"].as_str().unwrap().contains("regression"), "{ended}");
        assert_eq!(plant.ends_with("value"), value, "{wish:?}");
    }
}

#[test]
fn s12_6_an_actuator_that_changes_nothing_twice_ends_the_loop_and_each_iteration_is_committed() {
    let plant = Plant::flat(3);
    let ended = outcome(&plant.run(&counting_controller(3), "true", &["--patience", "5"]).exits_with(11));
    assert!(ended["explanation"]["now"].as_str().unwrap().contains("no-change"), "{ended}");
    assert_eq!(ended["control"]["actuations"], 2);
    assert_eq!(plant.labels(), ["0", "1", "2", "3"], "there was nothing to commit but the loop's own files");
}

#[test]
fn a_stalled_loop_goes_on_with_a_person_s_word() {
    let plant = Plant::flat(4);
    plant.sensor("high", &format!("{STANDING} 4"));
    plant.repository.commit("a figure");
    let keep = plant.world.shared("prompts");
    std::fs::create_dir_all(&keep).unwrap();
    let controller = format!("cat > {}/$WINDLASS_LABEL.md\n{}", keep.display(), counting_controller(4));
    let _ = plant.run(&controller, ADDING_ACTUATOR, &["--patience", "2"]).exits_with(11);
    let run = plant.run_id();
    let _ = plant.world.windlass(&["resume", &run, "--note", "You are nearly there"]).exits_with(0);
    assert_eq!(plant.ends_with("value"), "4");
    let told = std::fs::read_to_string(keep.join("4.md")).unwrap();
    assert!(told.contains("You are nearly there"), "{told}");
    plant.assert_sound();
}

#[test]
fn a_loop_out_of_iterations_goes_on_with_more() {
    let plant = Plant::flat(3);
    let _ = plant.count_to(3, &["--max-iterations", "1"]).exits_with(10);
    let run = plant.run_id();
    assert_eq!(plant.world.windlass(&["resume", &run]).code, Some(14));
    let _ = plant.world.windlass(&["resume", &run, "--rounds", "+2"]).exits_with(0);
    assert_eq!(plant.ends_with("value"), "3");
}

/// One figure that goes the other way does not undo what the others gained.
#[test]
fn figures_that_disagree_are_weighed_and_not_called_stagnation() {
    let plant = Plant::flat(4);
    plant.sensor(
        "high",
        "v=$(cat value); echo \"test result: FAILED. $v passed; $((9 - v)) failed\"; test $v -ge 4",
    );
    plant.repository.write(
        ".claude/agents/loop-sensor-slow.md",
        "---\nname: loop-sensor-slow\nmetric:\n  pattern: 'takes (\\d+)'\n  name: time\n  better: lower\n---\n\n# Sensor: slow\n\n## Measurement\n\n    echo takes $(cat value)\n",
    );
    plant.repository.commit("figures");
    let ended = outcome(&plant.count_to(4, &["--patience", "2"]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 4, "{ended}");
}
