//! How a run that was driven came to its end: shown the same way after `run`, `resume` and `land`.

use super::control::report;
use crate::output::{Fields, Output, Paint, cost, printable};
use windlass_control_api::views::{ExplanationView, RunOutcome};

/// Prints the outcome and returns the exit code it stands for.
pub(super) fn show(outcome: &RunOutcome, output: &mut Output) -> u8 {
    if output.is_json() {
        output.json_line(outcome);
        return outcome.status.exit_code();
    }
    let look = output.look();
    for command in &outcome.would_run {
        output.line(format!("[DRY-RUN] {}", printable(command)));
    }
    let mut fields = Fields::new(look);
    fields.add("outcome", look.status(outcome.status));
    fields.add("run", look.paint(Paint::Name, &outcome.run));
    if let Some(control) = &outcome.control {
        report::add(control, &mut fields);
    } else {
        fields.add("rounds", outcome.rounds_completed.to_string());
        fields.add("judge", printable(&outcome.judge_verdict));
        fields.add("audit", printable(&outcome.audit_gate));
    }
    if let Some(landed) = &outcome.landed {
        fields.add("landed", format!("{} on {}", short(&landed.commit), landed.reference));
    }
    fields.add("cost", cost(&outcome.spent));
    fields.add("files", outcome.run_dir.clone());
    for line in fields.lines() {
        output.line(line);
    }
    match &outcome.control {
        Some(control) => explanation(&report::with_next_steps(&outcome.explanation, control), output),
        None => explanation(&outcome.explanation, output),
    }
    outcome.status.exit_code()
}

/// What stands, why, and what to type next.
pub(super) fn explanation(explanation: &ExplanationView, output: &mut Output) {
    let look = output.look();
    if !explanation.now.is_empty() {
        output.line(printable(&explanation.now));
    }
    for reason in &explanation.because {
        // Feedback is quoted as the doer gets it, which is a list of its own.
        for (number, line) in reason.lines().enumerate() {
            let mark = if number == 0 { look.bullet() } else { " " };
            output.line(format!("  {mark} {}", printable(line.strip_prefix("- ").unwrap_or(line))));
        }
    }
    for command in &explanation.commands {
        output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, command)));
    }
}

/// Enough of an id to recognise it.
pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
