//! `result-output.md`: what a parent learns of its child.

use proptest::prelude::*;
use windlass_artifact_formats::control_loop::{NodeStatus, ResultOutput, TerminationReason};

use crate::faults_of;

fn result() -> ResultOutput {
    ResultOutput {
        status: NodeStatus::MaxIterationsReached,
        target_met: false,
        termination_reason: TerminationReason::Stagnation,
        run_id: "run_20260225_001".to_owned(),
        node_id: "code".to_owned(),
        node_path: "feature/code".to_owned(),
        parent_node_path: "feature".to_owned(),
        iterations_executed: 4,
        summary: "Three of four tests pass.".to_owned(),
        metrics_delta: "- tests-failed: 4 → 1".to_owned(),
        observations: "The fourth needs a fixture.".to_owned(),
        attempted: None,
        failure: None,
    }
}

#[test]
fn a_result_has_the_originals_form() {
    let text = "---\nstatus: max-iterations-reached\ntarget-met: false\ntermination-reason: stagnation\nrun-id: run_20260225_001\n\
        node-id: code\nnode-path: feature/code\nparent-node-path: feature\niterations-executed: 4\n---\n\n# Result: code\n\n\
        ## Summary\n\nThree of four tests pass.\n\n## Metrics Delta\n\n- tests-failed: 4 → 1\n\n\
        ## Key Observations for Parent Controller\n\nThe fourth needs a fixture.\n";
    assert_eq!(result().render(), text);
    assert_eq!(ResultOutput::parse(text.as_bytes()).unwrap(), (result(), Vec::new()));
}

#[test]
fn a_parent_needs_status_target_and_summary() {
    let (read, _) = ResultOutput::parse(
        b"---\nstatus: error\ntarget-met: false\n---\n# Result: x\n## Summary\nIt broke.\n",
    )
    .unwrap();
    assert_eq!((read.status, read.termination_reason), (NodeStatus::Error, TerminationReason::Error));
    let faults = faults_of(ResultOutput::parse(b"---\nstatus: running\n---\n"));
    for words in ["`status` is `running`", "`target-met` is missing", "`## Summary` is missing"] {
        assert!(faults.contains(words), "{faults}");
    }
    assert!(faults_of(ResultOutput::parse(b"garbage")).contains("front matter"));
}

proptest! {
    #[test]
    fn sections_stay_apart_whatever_they_hold(
        summary in "a[-`~#a \n]{0,40}|a\n## (Summary|Metrics Delta)\n",
        observations in "[-`~#a \n]{0,40}",
        failure in proptest::option::of("\\PC{0,30}"),
    ) {
        let written = ResultOutput { summary, observations, failure, ..result() };
        let (once, _) = ResultOutput::parse(written.render().as_bytes()).unwrap();
        prop_assert_eq!(&once.metrics_delta, &written.metrics_delta);
        prop_assert_eq!(once.failure.is_some(), written.failure.is_some());
        let (twice, _) = ResultOutput::parse(once.render().as_bytes()).unwrap();
        prop_assert_eq!(twice, once);
    }
}
