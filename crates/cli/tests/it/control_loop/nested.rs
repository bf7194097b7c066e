//! Loops in loops: setpoints, results, budgets, errors, at any depth.

use super::plant::{ADDING_ACTUATOR, Plant, outcome};
use windlass_artifact_formats::control_loop::ResultOutput;

/// Each level wants another value: what the plan of the one above it says, or the task.
pub(super) const CASCADE: &str = r#"v=$(cat value)
case "$WINDLASS_LABEL" in *.*.*) want=$((v < 3 ? (v + 1) : 3)) ;; *) want=3 ;; esac
if [ "$v" -ge 3 ]; then printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nThere.\n'
else printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nThe value is %s.\n\n## Action Plan (setpoint for inner loop)\n\n### Reach it\n\nBring the value to 3.\n' "$v"
fi > "$WINDLASS_OUTBOX/controller-output.md""#;

#[test]
fn three_levels_hand_the_plan_down_and_the_result_up() {
    let plant = Plant::levels(2, 3);
    let ended = outcome(&plant.run(CASCADE, ADDING_ACTUATOR, &[]).exits_with(0));
    assert_eq!(ended["final_verdict"], "complete");
    let labels = plant.labels();
    assert_eq!(labels[..4], ["0", "1.0", "1.1.0", "1.1.1"], "{labels:?}");
    assert_eq!(labels.last().unwrap(), "2");
    let mut unique = labels.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), labels.len(), "one commit for each iteration: {labels:?}");
    let runs = plant.repository.git(&["ls-tree", "--name-only", "ai-loop/raise-the-value:.ai-loop/runs/"]);
    let node = format!(".ai-loop/runs/{runs}/nodes/outer/middle/inner");
    let setpoint = plant.ends_with(&format!("{node}/orchestrator-output.md"));
    assert!(setpoint.contains("# Task (setpoint)") && setpoint.contains("### Reach it"), "{setpoint}");
    let result = plant.ends_with(&format!("{node}/result-output.md"));
    assert!(result.contains("termination-reason: target-met"), "{result}");
    let attempted = result.split("## What Was Attempted").nth(1).expect("a parent learns what was tried");
    for iteration in ["1.1.1", "1.1.2", "1.1.3"] {
        assert!(attempted.contains(&format!("- iteration {iteration}: Added one.")), "{result}");
    }
    assert_eq!((&ended["control"]["actuations"], &ended["control"]["worked"]), (&1.into(), &3.into()));
    let now = ended["explanation"]["now"].as_str().unwrap();
    assert!(now.contains("1 actuation of outer, in which the actuator worked 3 times"), "{now}");
    let state = plant.ends_with(&format!(".ai-loop/runs/{runs}/run-state.md"));
    assert!(state.contains("status: complete"), "{state}");
    plant.assert_sound();
}

#[test]
fn every_commit_of_a_nested_loop_is_one_the_original_viewer_reads() {
    let plant = Plant::levels(1, 2);
    let _ = plant.count_to(2, &[]).exits_with(0);
    let ids = plant.repository.git(&["rev-list", "HEAD..ai-loop/raise-the-value"]);
    for id in ids.lines() {
        let message = plant.repository.git(&["show", "-s", "--format=%B", id]);
        let seen = windlass_artifact_formats::control_loop::seen_by_viewer(&message);
        assert!(seen.is_some(), "{message}");
    }
}

/// An exhausted child is no error: its parent measures, and plans again.
#[test]
fn s12_4_a_child_without_iterations_returns_and_its_parent_measures_and_goes_on() {
    let plant = Plant::levels(1, 4);
    let flags = ["--max-iterations", "middle=1", "--max-iterations", "outer=6", "--patience", "0"];
    let ended = outcome(&plant.count_to(4, &flags).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 4, "one for each entry of the child");
    let log = plant.log();
    let of = |kind: &str| log.iter().filter(|entry| entry["kind"] == kind).count();
    assert_eq!(of("child-returned"), 4);
    // Of the outermost node: iteration 0, and once after each return of the child.
    let outer = log.iter().filter(|entry| {
        entry["kind"] == "readings-taken" && entry["fact"]["data"]["readings-taken"]["depth"] == 0
    });
    assert_eq!(outer.count(), 5);
}

#[test]
fn s12_4_a_child_that_fails_ends_the_run_or_is_reported_to_its_parent_who_measures() {
    let unreadable_inside = r#"case "$WINDLASS_LABEL" in
*.*) echo nonsense > "$WINDLASS_OUTBOX/controller-output.md" ;;
*) if [ "$WINDLASS_LABEL" = 2 ] && grep -rq 'status: error' .ai-loop && cat | grep -q 'no readable answer'; then
   printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nx\n' > "$WINDLASS_OUTBOX/controller-output.md"
   else printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nx\n\n## Action Plan\n\nDo it.\n' > "$WINDLASS_OUTBOX/controller-output.md"; fi ;;
esac"#;
    let fast = Plant::levels(1, 0);
    let ended = outcome(&fast.run(unreadable_inside, ADDING_ACTUATOR, &[]).exits_with(11));
    assert!(ended["explanation"]["because"].to_string().contains("no readable answer"), "{ended}");
    assert_eq!(fast.commits().last().unwrap().status, "error");

    let told = Plant::levels(1, 0);
    let path = ".ai-loop/flow.yaml";
    let flow = told.repository.read(path);
    let inner = "      id: middle\n";
    assert!(flow.contains(inner));
    // The key stands in the child's own termination.
    let patched = flow.replacen(
        "      termination:\n        max_iterations: 5\n",
        "      termination:\n        max_iterations: 5\n        on_error: report-to-parent\n",
        1,
    );
    assert_ne!(patched, flow);
    told.repository.write(path, &patched).commit("report errors");
    // The parent says that it is met only where its files and its prompt tell it of the error.
    let ended = outcome(&told.run(unreadable_inside, ADDING_ACTUATOR, &[]).exits_with(0));
    assert_eq!(ended["final_verdict"], "complete", "{ended}");
    let log = told.log();
    let position = |kind: &str| log.iter().rposition(|entry| entry["kind"] == kind).unwrap();
    assert!(position("child-returned") < position("readings-taken"), "the parent measures again");
}

/// What its parent is told of a child is the engine's own, whatever an actuator leaves in its place.
#[test]
fn s12_4_a_corrupt_result_of_a_child_is_nothing_its_parent_sees_and_the_parent_measures() {
    let plant = Plant::levels(1, 2);
    let keep = plant.world.shared("prompts");
    std::fs::create_dir_all(&keep).unwrap();
    let controller =
        format!("cat > {}/$WINDLASS_LABEL.md\n{}", keep.display(), super::plant::counting_controller(2));
    let spoiling = format!(
        "{ADDING_ACTUATOR}\nfor node in .ai-loop/runs/*/nodes/outer/middle; do printf -- '---\nstatus: [spoilt\n' > $node/result-output.md; rm -f $node/../orchestrator-output.md; done"
    );
    let flags = ["--max-iterations", "middle=1", "--patience", "0"];
    let _ = plant.run(&controller, &spoiling, &flags).exits_with(0);
    for (label, reason) in [("2", "max-iterations"), ("3", "target-met")] {
        let told = std::fs::read_to_string(keep.join(format!("{label}.md"))).unwrap();
        let reason = format!("termination-reason: {reason}");
        assert!(told.contains("# Result: middle") && told.contains(&reason), "{told}");
        assert!(!told.contains("spoilt"), "{told}");
    }
    let runs = plant.repository.git(&["ls-tree", "--name-only", "ai-loop/raise-the-value:.ai-loop/runs/"]);
    let result = plant.ends_with(&format!(".ai-loop/runs/{runs}/nodes/outer/middle/result-output.md"));
    assert!(ResultOutput::parse(result.as_bytes()).is_ok(), "{result}");
    let outer = plant.log().into_iter().filter(|entry| {
        entry["kind"] == "readings-taken" && entry["fact"]["data"]["readings-taken"]["depth"] == 0
    });
    assert_eq!(outer.count(), 3, "at the start, and after each return of the child");
}

/// The first plan of a child is not made blind.
#[test]
fn a_child_begins_with_pending_files_and_its_parent_s_readings() {
    let plant = Plant::levels(1, 1);
    let keep = plant.world.shared("prompts");
    std::fs::create_dir_all(&keep).unwrap();
    let controller =
        format!("cat > {}/$WINDLASS_LABEL.md\n{}", keep.display(), super::plant::counting_controller(1));
    let _ = plant.run(&controller, ADDING_ACTUATOR, &[]).exits_with(0);
    let prompt = std::fs::read_to_string(keep.join("1.1.md")).unwrap();
    assert!(prompt.contains("high") && prompt.contains("fail"), "{prompt}");
    let entry = plant.commits().into_iter().find(|commit| commit.iteration == "1.0").unwrap();
    assert_eq!(entry.sensors[0].status, "pending");
    assert!(entry.action.contains("sensors skipped"), "{entry:?}");
}

#[test]
fn an_inner_controller_is_first_shown_its_own_sensors_as_pending_and_the_outer_ones_as_information() {
    let plant = Plant::levels(1, 1);
    let keep = plant.world.shared("prompt.md");
    let told = format!(
        "[ \"$WINDLASS_LABEL\" = 1.1 ] && cat > {}\n{}",
        keep.display(),
        super::plant::counting_controller(1)
    );
    let _ = plant.run(&told, ADDING_ACTUATOR, &[]).exits_with(0);
    let prompt = std::fs::read_to_string(keep).unwrap();
    let (own, around) = prompt.split_once("### What the loop around this one measured").expect("information");
    assert!(own.contains("status: pending") && !own.contains("status: fail"), "{own}");
    assert!(around.contains("status: fail"), "{around}");
}

#[test]
fn the_report_of_an_actuator_names_the_files_of_the_snapshot() {
    let plant = Plant::flat(1);
    let silent = "echo 1 > value; echo x > new; printf '## What Was Done\\n\\n' > \"$WINDLASS_OUTBOX/actuator-output.md\"";
    let _ = plant.run(&super::plant::counting_controller(1), silent, &[]).exits_with(0);
    let report = plant.ends_with(".ai-loop/actuator-output.md");
    assert!(report.contains("- `new` (created)\n- `value` (modified)"), "{report}");
    let log = plant.world.windlass(&["log", &plant.run_id()]).exits_with(0).stdout;
    assert!(!log.contains("leaves no report"), "{log}");
}

/// W3: the outer controller is shown what its child came to, and not the path of a file that is not there.
#[test]
fn w03_the_outer_controller_is_told_the_result_of_its_child() {
    let plant = Plant::levels(1, 1);
    let keep = plant.world.shared("prompts");
    std::fs::create_dir_all(&keep).unwrap();
    let controller =
        format!("cat > {}/$WINDLASS_LABEL.md\n{}", keep.display(), super::plant::counting_controller(1));
    let _ = plant.run(&controller, ADDING_ACTUATOR, &[]).exits_with(0);
    let told = std::fs::read_to_string(keep.join("2.md")).unwrap();
    assert!(told.contains("# Result: middle") && told.contains("termination-reason: target-met"), "{told}");
    assert!(told.contains("- iteration 1.1: Added one."), "what was attempted: {told}");
    let first = std::fs::read_to_string(keep.join("1.md")).unwrap();
    assert!(!first.contains("# Result: middle"), "{first}");
}
