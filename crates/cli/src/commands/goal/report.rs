//! What a goal loop came to, for `run`, `show`, `resume` and `status`: counters, items, and the commits to read.

use crate::commands::outcome::short;
use crate::output::{Fields, printable};
use windlass_control_api::goal_loop::{GoalReport, ItemView, IterationView};
use windlass_control_api::views::ExplanationView;

pub(in crate::commands) fn add(goal: &GoalReport, fields: &mut Fields) {
    fields.add("result", goal.outcome.clone().unwrap_or_default());
    fields.add("branch", printable(&goal.branch));
    fields.add("base branch", printable(&goal.base_branch));
    fields.add("autonomy", goal.autonomy.clone().unwrap_or_default());
    fields.add("iterations", format!("{} of {}", goal.iterations.used, goal.iterations.cap));
    fields.add("commits", format!("{} of {}", goal.commits_used.used, goal.commits_used.cap));
    fields.add_all("items", goal.items.iter().filter(|item| item.in_scope).map(item_line));
    fields.add_all("done", goal.iterations_done.iter().map(iteration_line));
    fields.add_all("flaky tests", goal.flaky.iter().map(|test| printable(test)));
    if let Some(proposed) = &goal.proposed {
        fields.add("proposed", format!("{} of {}, {}", proposed.kind, proposed.item, short(&proposed.tree)));
    }
    let read = goal.commits.iter().map(|one| format!("git show {}   ({})", short(&one.commit), one.item));
    fields.add_all("read these", read);
}

fn item_line(item: &ItemView) -> String {
    let mut line = format!("{} {}: {}", item.id, printable(&item.name), item.status);
    if item.rework > 0 {
        line.push_str(&format!(", failed {}", times(item.rework)));
    }
    if let Some(cause) = item.parked.as_ref().or(item.causes.last()).filter(|_| item.status != "complete") {
        line.push_str(&format!(" ({})", printable(cause)));
    }
    line
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

fn iteration_line(iteration: &IterationView) -> String {
    let mut line = format!(
        "iteration {}: {} of {}, {}",
        iteration.number, iteration.work, iteration.item, iteration.result
    );
    if let Some(tests) = iteration.tests {
        line.push_str(&format!(", tests {}/{}", tests.passed, tests.total));
    }
    if let Some(commit) = &iteration.commit {
        line.push_str(&format!(", commit {}", short(commit)));
    }
    if !iteration.why.is_empty() {
        line.push_str(&format!(": {}", printable(&iteration.why)));
    }
    line
}

/// The explanation knows how to go on; what can be done with the branch stands in the report.
pub(in crate::commands) fn with_next_steps(
    explanation: &ExplanationView,
    goal: &GoalReport,
) -> ExplanationView {
    let mut whole = explanation.clone();
    // The commits stand above, as commands.
    whole.because.retain(|reason| !reason.starts_with("read "));
    if goal.outcome.is_some() {
        whole.commands.extend(goal.next_steps.iter().cloned());
    }
    whole
}
