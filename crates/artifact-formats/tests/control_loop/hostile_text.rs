//! Tasks with quotes, line breaks, colons, leading dashes and ten kilobytes go through every file unharmed, and no bytes
//! make a reader panic.

use proptest::prelude::*;
use windlass_artifact_formats::control_loop::{
    ActuatorOutput, AgentFile, ControllerOutput, MetricLabel, MetricRule, NodePlace, NodeState, NodeStatus,
    ResultOutput, RunState, SensorOutput, measurement_command, sensor_entries,
};

const TASKS: [&str; 9] = [
    "plain",
    "- leading dash: \"quotes\" and 'more' # no comment",
    "---\nstatus: complete\n---\n# Task\nother",
    "line one\nline two\r\nline three\n\n",
    "```\n# Task\n",
    "{braces} [brackets] & * ! | > % @ `",
    "yes",
    " leading and trailing \t",
    "\u{feff}\u{2028}\u{85}\u{7f}",
];

fn node_state(setpoint: &str) -> NodeState {
    let place = NodePlace::Flat { base_branch: setpoint.to_owned(), branch: "ai-loop/x".to_owned() };
    NodeState {
        iteration: 1,
        status: NodeStatus::Running,
        max_iterations: 2,
        place,
        setpoint: setpoint.to_owned(),
    }
}

fn run_state(task: &str) -> RunState {
    RunState {
        run_id: "run_20260225_001".to_owned(),
        status: NodeStatus::Running,
        active_node_path: task.to_owned(),
        execution_stack: vec![task.to_owned(), "a/b".to_owned()],
        branch: task.to_owned(),
        base_branch: "main".to_owned(),
        task: Some(task.to_owned()),
    }
}

#[test]
fn w14_every_odd_task_comes_back_as_it_was_given() {
    let long = "a \"task\": with\n- everything # in it\n".repeat(300);
    for task in TASKS.into_iter().chain([long.as_str()]) {
        let state = node_state(task);
        assert_eq!(NodeState::parse(state.render().as_bytes()).unwrap().0, state, "{task:?}");
        let run = run_state(task);
        assert_eq!(RunState::parse(run.render().as_bytes()).unwrap(), (run, Vec::new()), "{task:?}");
    }
}

proptest! {
    #[test]
    fn any_task_comes_back(task in "\\PC{1,60}|[-:#\"'`{}\\[\\]&*!|>%@\\\\ \n\r\ta]{1,60}") {
        let state = node_state(&task);
        prop_assert_eq!(NodeState::parse(state.render().as_bytes()).unwrap().0, state);
        let run = run_state(&task);
        prop_assert_eq!(RunState::parse(run.render().as_bytes()).unwrap().0, run);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        read_everything(&bytes);
    }

    #[test]
    fn no_nearly_right_file_makes_a_reader_panic(
        front in "((status|target-met|sensor|iteration|execution-stack|metric|run-id): [-\\[{'\"&*a1 ]{0,8}\n){0,5}",
        body in "(## (Output|Command|Summary|Measurement|Sensors|Action Plan)\n|[-`~#*(a \n]{0,12}\n){0,8}",
    ) {
        read_everything(format!("---\n{front}---\n{body}").as_bytes());
    }

    #[test]
    fn no_pattern_and_no_log_make_the_metrics_panic(pattern in "[a-z0-9(\\\\d+)*?.{}\\[\\]|^$]{0,20}", log in "\\PC{0,80}|[0-9a-z%: ,.\n-]{0,80}") {
        if let Ok(rule) = MetricRule::pattern(&pattern, MetricLabel::default()) {
            let _ = rule.read(&log);
        }
        let _ = MetricRule::Auto.read(&log);
    }
}

fn read_everything(bytes: &[u8]) {
    let _ = NodeState::parse(bytes);
    let _ = RunState::parse(bytes);
    let _ = SensorOutput::parse("x", bytes);
    let _ = ControllerOutput::parse(bytes);
    let _ = ActuatorOutput::parse(bytes);
    let _ = ResultOutput::parse(bytes);
    let text = String::from_utf8_lossy(bytes);
    let _ = AgentFile::parse("x", &text);
    let _ = (measurement_command(&text), sensor_entries(&text));
}
