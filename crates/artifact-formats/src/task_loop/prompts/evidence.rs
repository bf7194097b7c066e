//! Foreign text for prompts: feedback, command output and artifacts, each in a labelled data block.
//! It knows how to show evidence, not which role gets it.

use super::{CheckReport, FeedbackSource, PastFeedback};
use crate::data_block::data_block;
use crate::task_loop::audit_results::AuditCheck;
use crate::task_loop::engine_written::CommandEnding;

const NONE: &str = "none";

pub(super) fn latest_feedback(feedback: Option<PastFeedback<'_>>) -> String {
    match feedback {
        Some(feedback) if !feedback.text.trim().is_empty() => feedback_block(feedback),
        _ => NONE.to_owned(),
    }
}

pub(super) fn feedback_history(history: &[PastFeedback<'_>]) -> String {
    let spoken = history.iter().filter(|feedback| !feedback.text.trim().is_empty());
    all_or_none(spoken.map(|feedback| feedback_block(*feedback)))
}

pub(super) fn check_reports(reports: &[CheckReport<'_>]) -> String {
    let shown = reports.iter().enumerate().map(|(index, report)| {
        let label = format!("check {}, run by the engine, {}", index + 1, ending(report.ending));
        let output = if report.output_tail.trim().is_empty() { "(no output)" } else { report.output_tail };
        data_block(&label, &format!("$ {}\n{output}", report.command))
    });
    all_or_none(shown)
}

pub(super) fn audit_checks(checks: &[AuditCheck]) -> String {
    if checks.is_empty() {
        return NONE.to_owned();
    }
    let lines = checks.iter().map(|check| format!("{}: {} ({})", check.name, check.status, check.details));
    data_block("artifact checks, made by the engine", &lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn artifact(label: &str, text: Option<&str>) -> String {
    text.map_or_else(|| "not available".to_owned(), |text| data_block(label, text))
}

/// The commands of a role, or the plain statement that there are none.
pub(super) fn commands(commands: &[&str], purpose: &str) -> String {
    let given: Vec<&str> = commands.iter().copied().filter(|command| !command.trim().is_empty()).collect();
    if given.is_empty() {
        return format!(
            "No {purpose} commands were supplied. Say in your notes where that limits the evidence, and do not \
            present as checked what nobody checked."
        );
    }
    format!(
        "The engine runs these {purpose} commands itself on this tree; their results stand in the context below.\n\n{}",
        data_block(&format!("{purpose} commands"), &given.join("\n"))
    )
}

fn feedback_block(feedback: PastFeedback<'_>) -> String {
    let origin = match feedback.from {
        FeedbackSource::Judge => "the judge",
        FeedbackSource::Auditor => "the auditor",
        FeedbackSource::Engine => "the engine",
    };
    data_block(&format!("feedback of round {}, from {origin}", feedback.round), feedback.text)
}

fn ending(ending: CommandEnding) -> String {
    match ending {
        CommandEnding::ExitCode(0) => "passed".to_owned(),
        CommandEnding::ExitCode(code) => format!("failed with exit code {code}"),
        CommandEnding::Signal(number) => format!("ended by signal {number}"),
        CommandEnding::TimedOut => "failed by its time limit".to_owned(),
        CommandEnding::NotStarted => "could not be started".to_owned(),
    }
}

fn all_or_none(blocks: impl Iterator<Item = String>) -> String {
    let text = blocks.collect::<Vec<_>>().join("\n\n");
    if text.is_empty() { NONE.to_owned() } else { text }
}
