//! What a control loop has come to: branch, base branch, commits, the best iteration and what can be done with them. The
//! same words after a run, in `show` and in `control status`.

use crate::commands::outcome::short;
use crate::output::{Fields, printable};
use windlass_control_api::control_loop::{BestView, ControlReport};
use windlass_control_api::views::ExplanationView;

pub(in crate::commands) fn add(control: &ControlReport, fields: &mut Fields) {
    fields.add("branch", printable(&control.branch));
    fields.add("base branch", printable(&control.base_branch));
    fields.add("commits", control.commits.to_string());
    fields.add("actuations", actuations(control));
    if let Some(best) = &control.best {
        fields.add("best", best_words(best));
    }
    for reference in &control.kept {
        fields.add("kept", format!("{}: what an actuator left unfinished", printable(reference)));
    }
    if !control.setup_edited.is_empty() {
        let files = printable(&control.setup_edited.join(", "));
        fields.add("set-up", format!("{files} edited meanwhile; the run works with what it began with"));
    }
    for finding in &control.open_findings {
        fields.add("not waived", printable(finding));
    }
}

/// Of the outermost node; where inner ones acted, how often in all.
fn actuations(control: &ControlReport) -> String {
    if control.nodes.len() < 2 {
        return control.actuations.to_string();
    }
    let outermost = control.nodes.first().map_or("", |node| node.path.as_str());
    format!(
        "{} of {}; the actuator worked {} times",
        control.actuations,
        printable(outermost),
        control.worked
    )
}

/// The best iteration in one line.
pub(in crate::commands) fn best_words(best: &BestView) -> String {
    let commit = best.commit.as_deref().map_or("not committed", short);
    let failing = match best.failing.as_slice() {
        [] => "every sensor passes".to_owned(),
        [one] => format!("{} does not pass", printable(one)),
        more => format!("{} do not pass", printable(&more.join(", "))),
    };
    format!("iteration {}, {commit}: {failing}", printable(&best.iteration))
}

/// The explanation knows how to go on; what can be done with the branch stands in the report, in full.
pub(in crate::commands) fn with_next_steps(
    explanation: &ExplanationView,
    control: &ControlReport,
) -> ExplanationView {
    let mut whole = explanation.clone();
    whole.commands.retain(|command| !command.starts_with("git "));
    let known = whole.commands.clone();
    whole.commands.extend(control.next_steps.iter().filter(|step| !known.contains(step)).cloned());
    whole
}
