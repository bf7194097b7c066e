//! The task loop's files held against their specification, through the public interface only.

mod artifacts;
mod engine_words;
mod prompts;
mod run_directories;
mod schemas;
mod untrusted_bytes;

/// The codes and places of all faults, for short comparisons.
fn faults_of<T: std::fmt::Debug>(
    result: Result<T, windlass_artifact_formats::ArtifactFaults>,
) -> Vec<(&'static str, String)> {
    let faults = result.expect_err("the file must not be accepted");
    faults.faults().iter().map(|fault| (fault.kind.code(), fault.path.clone())).collect()
}
