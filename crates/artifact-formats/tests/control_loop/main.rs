//! The control loop's files held against their specification, through the public interface only.

mod agent_files;
mod artifacts;
mod commits;
mod flows;
mod hostile_text;
mod metrics;
mod prompts;
mod result_files;

/// All faults as one text, for short comparisons.
fn faults_of<T: std::fmt::Debug>(result: windlass_artifact_formats::control_loop::Parsed<T>) -> String {
    let faults = result.expect_err("the file must not be accepted");
    assert!(!faults.sentences().is_empty());
    faults.to_string()
}
