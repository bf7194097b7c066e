//! Why a control plane cannot be run, as problems like all others: whoever reads those alone misses nothing.

use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::plane::{STATE_FILE, Severity};
use windlass_control_api::roadmap_setup::{PlaneProblem, RoadmapInspection};

pub(super) fn add_to_problems(view: &mut RoadmapInspection) {
    let reasons = view.why.iter().flat_map(|why| why.lines()).map(problem);
    view.problems.extend(reasons.collect::<Vec<_>>());
}

/// A sentence that begins with its file, as they do; any other is about the folder.
fn problem(sentence: &str) -> PlaneProblem {
    let (file, message) = match sentence.split_once(' ') {
        Some((file, message)) if file.ends_with(':') => (file.trim_end_matches(':'), message),
        Some((STATE_FILE, message)) => (STATE_FILE, message),
        _ => (PLANE_DIR, sentence),
    };
    PlaneProblem {
        file: file.to_owned(),
        line: None,
        pointer: String::new(),
        rule: String::new(),
        severity: Severity::Fatal.to_string(),
        message: message.to_owned(),
    }
}
