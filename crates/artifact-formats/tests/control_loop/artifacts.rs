//! The reports of a node: read in every dialect, written in the original's form.

use proptest::prelude::*;
use windlass_artifact_formats::control_loop::{
    ActuatorOutput, AgentFile, ChangedFile, ControllerOutput, FileChange, NodePlace, NodeState, NodeStatus,
    OUTPUT_BYTES, PlanFor, RunState, SensorOutput, SensorStatus,
};

use crate::faults_of;

fn decision(text: &str) -> ControllerOutput {
    ControllerOutput::parse(text.as_bytes()).expect("a usable decision").0
}

#[test]
fn waivers_are_a_list_of_names_with_reasons_and_no_part_of_the_plan() {
    let head = "---\ntarget-met: false\n---\n\n## Gap Analysis\n\nNone.\n\n## Action Plan\n\n1. Go on.\n\n## Waivers\n\n";
    let said = decision(&format!(
        "{head}- test-deleted: the command is gone,\n  and its test with it\n* `ci-changed`: as asked\n- none\n"
    ));
    let waived: Vec<(&str, &str)> =
        said.waivers.iter().map(|waiver| (waiver.finding.as_str(), waiver.reason.as_str())).collect();
    assert_eq!(
        waived,
        [("test-deleted", "the command is gone, and its test with it"), ("ci-changed", "as asked")]
    );
    assert_eq!(said.plan.as_deref(), Some("1. Go on."));
    assert_eq!(decision(&said.render(PlanFor::Actuator)), said);
    let refused = |line: &str| faults_of(ControllerOutput::parse(format!("{head}{line}\n").as_bytes()));
    assert!(refused("- nonsense: x").contains("no finding about the gate"));
    assert!(refused("- test-deleted").contains("needs a reason"));
}

#[test]
fn a_flat_node_state_has_the_originals_form() {
    let place = NodePlace::Flat { base_branch: "main".to_owned(), branch: "ai-loop/fix-it".to_owned() };
    let state = NodeState {
        iteration: 3,
        status: NodeStatus::Running,
        max_iterations: 10,
        place,
        setpoint: "Fix it".to_owned(),
    };
    let text = "---\niteration: 3\nstatus: running\nmax-iterations: 10\nbase-branch: main\nbranch: ai-loop/fix-it\n---\n\n# Task\n\nFix it\n";
    assert_eq!(state.render(), text);
    assert_eq!(NodeState::parse(text.as_bytes()).unwrap().0, state);
}

#[test]
fn a_nested_node_state_has_the_originals_form() {
    let place =
        NodePlace::Nested { node_path: "feature/code".to_owned(), parent_node_path: "feature".to_owned() };
    let state = NodeState {
        iteration: 0,
        status: NodeStatus::MaxIterationsReached,
        max_iterations: 5,
        place,
        setpoint: "## What\n\nAll".to_owned(),
    };
    let text = "---\niteration: 0\nstatus: max-iterations-reached\nmax-iterations: 5\nnode-path: feature/code\nparent-node-path: feature\n---\n\n\
        # Task (setpoint)\n\n## What\n\nAll\n";
    assert_eq!(state.render(), text);
    assert_eq!(NodeState::parse(text.as_bytes()).unwrap().0, state);
}

#[test]
fn a_node_state_names_all_its_faults_and_knows_the_flat_default() {
    let faults = faults_of(NodeState::parse(b"---\niteration: -1\nstatus: done\n---\nno heading\n"));
    for words in ["`iteration` must be", "`status` must be one of", "`# Task`"] {
        assert!(faults.contains(words), "{faults}");
    }
    let (state, _) = NodeState::parse(b"---\niteration: 1\nstatus: error\n---\n# Task\nx\n").unwrap();
    assert_eq!((state.max_iterations, state.status, state.setpoint.as_str()), (10, NodeStatus::Error, "x"));
}

#[test]
fn a_run_state_has_the_originals_form() {
    let state = RunState {
        run_id: "run_20260225_001".to_owned(),
        status: NodeStatus::Running,
        active_node_path: "feature/code".to_owned(),
        execution_stack: vec!["feature".to_owned(), "feature/code".to_owned()],
        branch: "ai-loop/x".to_owned(),
        base_branch: "main".to_owned(),
        task: Some("do: \"it\"\n- now".to_owned()),
    };
    let text = state.render();
    assert!(text.contains("execution-stack: [\"feature\", \"feature/code\"]\n"), "{text}");
    assert!(text.contains("task: \"do: \\\"it\\\"\\n- now\"\n"), "{text}");
    assert_eq!(RunState::parse(text.as_bytes()).unwrap(), (state, Vec::new()));
}

#[test]
fn a_run_state_of_the_original_is_read_though_its_task_is_no_yaml() {
    let text = "---\nrun-id: run_20260225_001\nstatus: running\nactive-node-path: a/b\nexecution-stack: [a, a/b]\n\
        branch: ai-loop/x\nbase-branch: main\ntask: fix: the \"thing\"\n---\n";
    let (state, notes) = RunState::parse(text.as_bytes()).unwrap();
    assert_eq!(state.task.as_deref(), Some("fix: the \"thing\""));
    assert_eq!(state.execution_stack, ["a", "a/b"]);
    assert_eq!(notes.len(), 1);
    let block = "---\nrun-id: r\nstatus: complete\nexecution-stack:\n  - a\n  - a/b\nbranch: b\n---\n";
    assert_eq!(RunState::parse(block.as_bytes()).unwrap().0.execution_stack, ["a", "a/b"]);
}

#[test]
fn a_sensor_report_has_the_originals_form() {
    let report = SensorOutput {
        sensor: "lint".to_owned(),
        status: Some(SensorStatus::Fail),
        command: Some("npm run lint".to_owned()),
        exit_code: Some(1),
        cause: None,
        output: "2 problems".to_owned(),
    };
    let text = "---\nsensor: lint\nstatus: fail\nexit-code: 1\n---\n\n# Sensor Output: lint\n\n## Command\n\n```\nnpm run lint\n```\n\n## Output\n\n```\n2 problems\n```\n";
    assert_eq!(report.render(), text);
    assert_eq!(SensorOutput::parse("lint", text.as_bytes()).unwrap(), (report, Vec::new()));
}

#[test]
fn sensor_reports_of_agents_are_read_in_all_dialects() {
    let old = b"---\nsensor: lint\n---\n\n# Sensor Output: lint\n\n## Command\nnpm run lint\n\n## Output\nfine\n\n## Output\nof a tool\n";
    let (report, _) = SensorOutput::parse("lint", old).unwrap();
    assert_eq!((report.status, report.command.as_deref()), (None, Some("npm run lint")));
    assert_eq!(report.output, "fine\n\n## Output\nof a tool");
    let pending = SensorOutput::pending("lint").render();
    assert_eq!(
        SensorOutput::parse("lint", pending.as_bytes()).unwrap().0.status,
        Some(SensorStatus::Pending)
    );
    assert!(
        faults_of(SensorOutput::parse("lint", b"---\nsensor: test\nstatus: good\n---\n"))
            .contains("`status` must be one of")
    );
    assert!(
        faults_of(SensorOutput::parse("lint", b"---\nsensor: test\n---\n")).contains("`sensor` must be lint")
    );
    assert!(faults_of(SensorOutput::parse("lint", b"all fine")).contains("front matter"));
}

#[test]
fn a_report_stays_bounded_whatever_a_command_prints() {
    let output = "\u{1b}[31m```\n## Output\n---\n".repeat(200_000);
    let text =
        SensorOutput { output, status: Some(SensorStatus::Fail), ..SensorOutput::pending("x") }.render();
    assert!(text.len() < OUTPUT_BYTES + 500, "{}", text.len());
    let (report, _) = SensorOutput::parse("x", text.as_bytes()).unwrap();
    assert!(report.output.starts_with("```\n## Output\n---\n") && report.output.ends_with("## Output\n---"));
    assert!(report.output.contains("bytes left out"));
}

#[test]
fn a_decision_is_read_with_its_sections() {
    let read = decision(
        "---\ntarget-met: false\n---\n\n# Controller Output\n\n## Gap Analysis\n\nTwo tests fail.\n\n## Action Plan\n\n1. Fix a\n\n## Hints\n\nsrc/a\n\n## Stagnation Notes\n\nnone\n",
    );
    assert!(!read.target_met);
    assert_eq!(read.gap_analysis, "Two tests fail.");
    assert_eq!(read.plan.as_deref(), Some("1. Fix a"));
    assert_eq!((read.hints.as_deref(), read.stagnation_notes.as_deref()), (Some("src/a"), Some("none")));
}

#[test]
fn w15_headings_inside_a_plan_belong_to_it() {
    let plan =
        "### What\n\nAll of it.\n\n## Success Criteria\n\n```\n## Hints\n```\n\n## Constraints\n\nNone.";
    let text = format!(
        "---\ntarget-met: false\n---\n## Gap Analysis\nx\n## Action Plan (setpoint for inner loop)\n\n{plan}\n\n## Hints\n\nh\n"
    );
    let read = decision(&text);
    assert_eq!(read.plan.as_deref(), Some(plan));
    assert_eq!(read.hints.as_deref(), Some("h"));
}

#[test]
fn the_oldest_form_is_read_too() {
    let read = decision(
        "---\ntarget-met: false\n---\n## Instructions for Actuator\nDo a.\n## Context\nBecause b.\n",
    );
    assert_eq!((read.plan.as_deref(), read.context.as_deref()), (Some("Do a."), Some("Because b.")));
}

#[test]
fn target_met_is_true_or_false_and_nothing_else() {
    for (value, met) in [("true", true), ("false", false), ("\"true\"", true), ("'false'", false)] {
        let text = format!("---\ntarget-met: {value}\n---\n## Action Plan\nx\n");
        let (read, notes) = ControllerOutput::parse(text.as_bytes()).unwrap();
        assert_eq!(
            (read.target_met, notes.len()),
            (met, usize::from(value.len() > 5 && value != "false")),
            "{value}"
        );
    }
    for value in ["yes", "1", "maybe", "\"True\"", "[true]", "", "true|false"] {
        let text = format!("---\ntarget-met: {value}\n---\n## Action Plan\nx\n");
        assert!(
            faults_of(ControllerOutput::parse(text.as_bytes()))
                .contains("`target-met` must be true or false"),
            "{value}"
        );
    }
    assert!(faults_of(ControllerOutput::parse(b"---\nother: 1\n---\n")).contains("`target-met` is missing"));
}

#[test]
fn contradictions_and_unreadable_decisions_are_faults() {
    assert!(
        faults_of(ControllerOutput::parse(b"---\ntarget-met: false\n---\n## Action Plan\n\n## Hints\nx\n"))
            .contains("there is no plan")
    );
    assert!(
        decision("---\ntarget-met: true\n---\n## Action Plan\nrest\n").target_met,
        "a plan besides is no contradiction"
    );
    for text in [
        "",
        "target-met: true",
        "---\ntarget-met: [\n---\n",
        "---\ntarget-met: true",
        "---\n- a\n---\n",
        "---\ntarget-met: true\ntarget-met: false\n---\n",
    ] {
        faults_of(ControllerOutput::parse(text.as_bytes()));
    }
    assert!(faults_of(ControllerOutput::parse(b"---\ntarget-met: true\xff\n---\n")).contains("not UTF-8"));
    assert!(faults_of(ControllerOutput::parse(&vec![b' '; 2 << 20])).contains("longer than"));
}

#[test]
fn a_decision_shown_in_a_fence_is_read() {
    let read = decision("```markdown\n---\ntarget-met: false\n---\n## Action Plan\n1. x\n```\n");
    assert_eq!(read.plan.as_deref(), Some("1. x"));
}

#[test]
fn an_action_report_has_the_originals_form() {
    let changed = |path: &str, change| ChangedFile { path: path.to_owned(), change };
    let files = vec![
        changed("src/a b.rs", FileChange::Modified),
        changed("x`\n.md", FileChange::Created),
        changed("old", FileChange::Deleted),
    ];
    let report = ActuatorOutput { what_was_done: "Renamed it.".to_owned(), files_changed: files };
    let text = report.render();
    assert!(text.starts_with("# Actuator Output\n\n## What Was Done\n\nRenamed it.\n\n## Files Changed\n\n- `src/a b.rs` (modified)\n"), "{text}");
    assert_eq!(ActuatorOutput::parse(text.as_bytes()).unwrap(), (report, Vec::new()));
    let (loose, notes) = ActuatorOutput::parse(b"I did it.").unwrap();
    assert_eq!((loose.what_was_done.as_str(), notes.len()), ("I did it.", 2));
}

proptest! {
    #[test]
    fn a_decision_that_was_read_is_written_so_that_it_reads_the_same(
        met in any::<bool>(),
        body in "(## (Gap Analysis|Action Plan|Hints|Context|Stagnation Notes|Other)\n|[-`~#a \n]{0,12}\n|```\n){0,12}",
    ) {
        let text = format!("---\ntarget-met: {met}\n---\n{body}");
        if let Ok((read, _)) = ControllerOutput::parse(text.as_bytes()) {
            for actuator in [PlanFor::Actuator, PlanFor::ChildLoop] {
                let again = ControllerOutput::parse(read.render(actuator).as_bytes()).unwrap().0;
                prop_assert_eq!(&again, &read, "{}", read.render(actuator));
            }
        }
    }

    #[test]
    fn sensor_reports_come_back(output in "[-`~#a \n]{0,80}|\\PC{0,80}", command in "[`~#a\n \"']{0,20}", code in any::<i32>()) {
        let report = SensorOutput {
            sensor: "x".to_owned(),
            status: Some(SensorStatus::Pass),
            command: Some(command.clone()),
            exit_code: Some(code),
            cause: Some("timed-out: 5".to_owned()),
            output: output.clone(),
        };
        let (read, _) = SensorOutput::parse("x", report.render().as_bytes()).unwrap();
        prop_assert_eq!(read.output, output.strip_suffix('\n').unwrap_or(&output));
        let command = command.strip_suffix('\n').unwrap_or(&command).to_owned();
        prop_assert_eq!(read.command, (!command.is_empty()).then_some(command));
        prop_assert_eq!((read.exit_code, read.cause), (Some(code), Some("timed-out: 5".to_owned())));
    }
}

/// The examples that people copy are ones that are taken.
#[test]
fn the_examples_of_the_documentation_are_read() {
    let page = include_str!("../../../../docs/loops/control-loop.md");
    let examples: Vec<&str> = page
        .split("```markdown\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```\n").map(|(example, _)| example))
        .collect();
    assert_eq!(examples.len(), 3);
    let (decision, notes) = ControllerOutput::parse(examples[0].as_bytes()).unwrap();
    assert!(!decision.target_met && decision.plan.is_some_and(|plan| plan.contains("slug.sh")));
    assert_eq!(notes, Vec::<String>::new());
    let claim = format!("---\ntarget-met: true\n---\n\n## Gap Analysis\n\nNone.\n\n{}", examples[1]);
    let (claim, notes) = ControllerOutput::parse(claim.as_bytes()).unwrap();
    assert_eq!((claim.waivers.len(), notes), (1, Vec::new()));
    let (action, notes) = ActuatorOutput::parse(examples[2].as_bytes()).unwrap();
    assert_eq!((action.files_changed.len(), notes), (1, Vec::new()));
    let sensor = page.split_once("```yaml\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let body = "# Sensor: speed\n\n## Measurement\n\n    make bench\n";
    let (sensor, notes) = AgentFile::parse("loop-sensor-speed.md", &format!("{sensor}\n{body}")).unwrap();
    let figures = sensor.metric.unwrap().read("mean: 180.5 ms\n");
    assert_eq!(figures[0].to_string(), "mean: 180.5 ms");
    assert_eq!(notes, Vec::<String>::new());
}
