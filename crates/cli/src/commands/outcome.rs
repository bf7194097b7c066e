//! How a run that was driven came to its end: shown the same way after `run`, `resume` and `land`.

use super::control::report;
use super::goal::report as goal_report;
use super::roadmap::report as roadmap_report;
use crate::output::{Fields, Output, Paint, cost, printable};
use windlass_control_api::views::{ExplanationView, RunOutcome, Speaker, Status};

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
    } else if let Some(goal) = &outcome.goal {
        goal_report::add(goal, &mut fields);
    } else if let Some(roadmap) = &outcome.roadmap {
        roadmap_report::add(roadmap, &mut fields);
    } else if outcome.status != Status::DryRun || !outcome.run_dir.is_empty() {
        fields.add("rounds", outcome.rounds_completed.to_string());
        fields.add("judge", word(&outcome.judge_verdict, outcome.said_by.judge));
        fields.add("audit", word(&outcome.audit_gate, outcome.said_by.audit));
    }
    if let Some(landed) = &outcome.landed {
        fields.add("landed", format!("{} on {}", short(&landed.commit), landed.reference));
    }
    fields.add("cost", cost(&outcome.spent));
    fields.add("files", outcome.run_dir.clone());
    for line in fields.lines() {
        output.line(line);
    }
    match (&outcome.control, &outcome.goal) {
        (Some(control), _) => explanation(&report::with_next_steps(&outcome.explanation, control), output),
        (None, Some(goal)) => explanation(&goal_report::with_next_steps(&outcome.explanation, goal), output),
        (None, None) => explanation(&outcome.explanation, output),
    }
    outcome.status.exit_code()
}

/// The word of a checker; where the engine said it, the checker was overruled or never asked.
pub(super) fn word(word: &str, by: Option<Speaker>) -> String {
    match by {
        Some(Speaker::Engine) => format!("{} (by the engine)", printable(word)),
        Some(Speaker::Agent) | None => printable(word),
    }
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
