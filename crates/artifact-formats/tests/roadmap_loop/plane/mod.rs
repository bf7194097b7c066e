//! The control plane's own files: sections 2 to 5, 12, 15, 17 and 25.2.

mod closeout;
mod documents;
mod generation;
mod hostile_text;
mod migrate;
mod names;
mod roadmap;
mod samples;
mod state;
mod state_edits;

use windlass_artifact_formats::roadmap_loop::plane::{Problem, Severity};

/// The rules broken with a weight, in the order they were found.
fn rules(problems: &[Problem], severity: Severity) -> Vec<&'static str> {
    problems.iter().filter(|problem| problem.severity == severity).map(|problem| problem.rule).collect()
}
