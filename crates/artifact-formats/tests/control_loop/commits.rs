//! Commit messages, and what the original's viewer makes of them.

use proptest::prelude::*;
use windlass_artifact_formats::control_loop::{
    INITIAL_MEASUREMENT, IterationMessage, Layout, NodeStatus, SensorStatus, read_loop_commit, seen_by_viewer,
};

fn message<'a>(sensors: &'a [(&'a str, SensorStatus)]) -> IterationMessage<'a> {
    IterationMessage {
        layout: Layout::Nested,
        node_ids: &["feature", "code"],
        label: "2.1",
        summary: "make the parser total",
        status: NodeStatus::Running,
        target_met: false,
        sensors,
        action: "edited two files",
        run_id: Some("run_20260225_001"),
    }
}

#[test]
fn a_nested_message_has_the_exact_form() {
    let sensors =
        [("lint", SensorStatus::Pass), ("unit-tests", SensorStatus::Fail), ("size", SensorStatus::Pending)];
    let expected = "ai-loop[feature > code]: iteration 2.1 — make the parser total\n\n\
        [node-path] feature/code\n[level] 1\n[iteration] 2.1\n[status] running\n[target-met] false\n\
        [sensors] unit-tests: fail, lint: pass, size: pending\n[action] edited two files\n[run-id] run_20260225_001\n";
    assert_eq!(message(&sensors).render(), expected);
}

#[test]
fn a_flat_message_has_the_exact_form_and_is_invisible_to_the_viewer() {
    let flat = IterationMessage {
        layout: Layout::Flat,
        node_ids: &[],
        label: "0",
        summary: INITIAL_MEASUREMENT,
        action: INITIAL_MEASUREMENT,
        run_id: None,
        ..message(&[("lint", SensorStatus::Pass)])
    };
    let text = flat.render();
    let expected = "ai-loop: iteration 0 — initial measurement\n\n[iteration] 0\n[status] running\n[target-met] false\n\
        [sensors] lint: pass\n[action] initial measurement\n";
    assert_eq!(text, expected);
    assert_eq!(seen_by_viewer(&text), None);
    assert_eq!(read_loop_commit(&text).unwrap().iteration, "0");
}

#[test]
fn the_viewer_sees_what_was_written() {
    let sensors =
        [("lint", SensorStatus::Pass), ("unit-tests", SensorStatus::Fail), ("size", SensorStatus::Pending)];
    let seen = seen_by_viewer(&message(&sensors).render()).unwrap();
    assert_eq!(
        (seen.node_path.as_deref(), seen.level, seen.iteration.as_str()),
        (Some("feature/code"), 1, "2.1")
    );
    assert_eq!((seen.status.as_str(), seen.target_met.as_str()), ("running", "false"));
    let statuses: Vec<_> =
        seen.sensors.iter().map(|sensor| (sensor.name.as_str(), sensor.status.as_str())).collect();
    assert_eq!(statuses, [("unit-tests", "fail"), ("lint", "pass"), ("size", "pending")]);
    assert_eq!(seen.run_id.as_deref(), Some("run_20260225_001"));
}

#[test]
fn the_viewer_has_the_originals_limits() {
    let body = "[node-path] a\n[iteration] 1\n[sensors] lint: pass (clean, all: good), unit-tests: fail\n[action]\n[action] x\n[cost] 3\n";
    for dash in ["—", "--", "-"] {
        let seen = seen_by_viewer(&format!("ai-loop[a]: iteration 1 {dash} words\n\n{body}")).unwrap();
        assert_eq!(
            (seen.title.as_str(), seen.action.as_str(), seen.status.as_str()),
            ("words", "x", "unknown")
        );
        // The hyphenated name merges with its neighbour, and the words in parentheses are taken for another sensor.
        assert!(seen.sensors.iter().all(|sensor| sensor.status == "unknown"), "{:?}", seen.sensors);
    }
    let partial = seen_by_viewer(
        "ai-loop[a]: iteration 1—x\n\n[node-path] a\n[iteration] 1\n[sensors] a: partial (3 of 4)\n",
    )
    .unwrap();
    assert_eq!(partial.sensors[0].details.as_deref(), Some("3 of 4"));
    for message in [
        "ai-loop[a]: iteration 1 — \n\n[node-path] a\n[iteration] 1\n",
        "ai-loop[a]: iteration 1 — x\n\n[iteration] 1\n",
        "ai-loop[a]: iteration 1 — x\n\n[node-path] a\n",
        "ai-loop[]: iteration 1 — x\n\n[node-path] a\n[iteration] 1\n",
        "fix: iteration 1 — x\n\n[node-path] a\n[iteration] 1\n",
        "ai-loop[a]: iteration1 — x\n\n[node-path] a\n[iteration] 1\n",
    ] {
        assert_eq!(seen_by_viewer(message), None, "{message}");
    }
}

#[test]
fn empty_values_are_left_out_and_an_empty_summary_is_not() {
    let text = IterationMessage { summary: " \n", action: "", run_id: None, ..message(&[]) }.render();
    assert!(text.starts_with("ai-loop[feature > code]: iteration 2.1 — running\n"));
    assert!(
        !text.contains("[action]") && !text.contains("[sensors]") && !text.contains("[run-id]"),
        "{text}"
    );
    assert!(seen_by_viewer(&text).is_some());
}

#[test]
fn ten_kilobytes_of_task_stay_one_short_line() {
    let task = "a \"long\": task\n- with lines\n".repeat(400);
    let text = IterationMessage { summary: &task, action: &task, ..message(&[]) }.render();
    assert!(text.lines().all(|line| line.chars().count() < 400), "{text}");
    assert_eq!(text.lines().count(), 9);
}

proptest! {
    #[test]
    fn no_words_break_the_message(summary in "\\PC{0,30}|[\n\r\u{2028}\u{85}\\[\\] a:-]{0,40}", action in "\\PC{0,30}|[\n\r\\[\\]a-z ]{0,40}") {
        let text = IterationMessage { summary: &summary, action: &action, ..message(&[("lint", SensorStatus::Pass)]) }.render();
        let seen = seen_by_viewer(&text).expect("the viewer must see every commit");
        prop_assert_eq!(seen.status, "running");
        prop_assert_eq!(seen.iteration, "2.1");
        prop_assert_eq!(seen.run_id.as_deref(), Some("run_20260225_001"));
        prop_assert_eq!(seen.sensors.len(), 1);
    }

    #[test]
    fn no_message_makes_the_reader_panic(text in "(ai-loop(\\[.{0,5}\\])?: iteration )?[-—\\[\\]a1:, (\n)]{0,60}") {
        let _ = read_loop_commit(&text);
    }
}
