//! The parts prompts are made of: foreign text fenced and labelled, and a plain sentence where there is none.

use std::fmt::Write;

use super::examples::CloseoutTargets;
use super::{Again, OtherRound, ReadyDirection, UpdateSource};
use crate::data_block::{data_block, inline_code};
use crate::output_text::bounded_output;
use crate::roadmap_loop::round::{Faults, Integration, Worker, WorkerState};

/// Longest part of a document that is shown.
const SHOWN_BYTES: usize = 48 * 1024;

pub(super) fn ready(directions: &[ReadyDirection<'_>]) -> String {
    if directions.is_empty() {
        return "No direction is ready: each comes after milestones that are not done, and a plan for it would be sent back."
            .to_owned();
    }
    let mut text = String::new();
    for direction in directions {
        let _ = writeln!(
            text,
            "milestone {} [{}] {}\n  direction {}: {}",
            direction.milestone_id,
            direction.milestone_status,
            direction.milestone_title,
            direction.direction_id,
            direction.summary
        );
        if !direction.parallel_hints.trim().is_empty() {
            let _ = writeln!(text, "  parallel hints: {}", direction.parallel_hints);
        }
    }
    format!(
        "Candidate directions that are ready now:\n\n{}",
        data_block("ready directions, from the roadmap", &text)
    )
}

pub(super) fn others(rounds: &[OtherRound<'_>]) -> String {
    if rounds.is_empty() {
        return "No other round is live.".to_owned();
    }
    let mut text = String::new();
    for round in rounds {
        let _ = writeln!(
            text,
            "{} ({}): milestone {}, item {}, parallel group {}\n  {}",
            round.round_id,
            round.stage,
            round.milestone_id,
            round.extracted_item_id,
            round.parallel_group.unwrap_or("none"),
            round.scope
        );
    }
    format!(
        "Other rounds are live. Do not touch what they work on, and do not choose their items:\n\n{}",
        data_block("other live rounds", &text)
    )
}

pub(super) fn again(again: Again<'_>) -> String {
    let (sentence, label, text) = match again {
        Again::First => return "This is the first time you are asked.".to_owned(),
        Again::Rejected(text) => (
            "What was there was rejected. Meet every required change, and keep the lineage unless the review demands \
             another item.",
            "the rejected review",
            text,
        ),
        Again::SentBack(text) => {
            ("The controller could not go on with what was there.", "why it was sent back", text)
        }
        Again::BaseMoved(text) => {
            ("The base moved since. Make the work fit it again, and nothing more.", "what moved", text)
        }
        Again::BaseMergedIn(text) => (
            "The base moved since and is merged into what you see. Judge the work together with it, as it is now; an \
             earlier review does not count.",
            "what moved",
            text,
        ),
    };
    format!("{sentence}\n\n{}", data_block(label, &bounded_output(text, SHOWN_BYTES)))
}

pub(super) fn source(source: UpdateSource<'_>) -> String {
    let (sentence, label, text) = match source {
        UpdateSource::MergedRound { reason } => {
            ("A merged round showed that the roadmap must change.", "the reason its review gave", reason)
        }
        UpdateSource::PlannerRequest { request } => {
            ("A planner could not cut a bounded round and asked for this.", "the planner's request", request)
        }
    };
    format!("{sentence}\n\n{}", data_block(label, &bounded_output(text, SHOWN_BYTES)))
}

pub(super) fn worker_part(worker: &Worker) -> String {
    let mut text = format!("{}\n", worker.summary);
    for scope in &worker.write_scope {
        let _ = writeln!(text, "write scope: {scope}");
    }
    for command in &worker.verification_commands {
        let _ = writeln!(text, "verify with: {command}");
    }
    data_block("your part, from the plan", &text)
}

pub(super) fn other_workers(own: &Worker, workers: &[Worker]) -> String {
    let others = workers.iter().filter(|worker| worker.worker_id != own.worker_id);
    let lines: Vec<String> = others
        .map(|worker| format!("{}: {} ({})", worker.worker_id, worker.summary, worker.write_scope.join(", ")))
        .collect();
    if lines.is_empty() {
        return "There is no other worker.".to_owned();
    }
    data_block("other workers and their scopes", &lines.join("\n"))
}

pub(super) fn integration(integration: &Integration) -> String {
    let mut text = format!("{}\n", integration.summary);
    for command in &integration.verification_commands {
        let _ = writeln!(text, "verify with: {command}");
    }
    data_block("the integration, from the plan", &text)
}

pub(super) fn worker_states(workers: &[(&Worker, &WorkerState)]) -> String {
    let mut text = String::new();
    for (worker, state) in workers {
        let state = match state {
            WorkerState::Pending => "pending",
            WorkerState::Running => "running",
            WorkerState::Complete => "complete",
            WorkerState::Integrated => "integrated",
            WorkerState::Blocked(_) => "blocked",
        };
        let _ = writeln!(
            text,
            "{} ({state}): branch {}, handoff {}",
            worker.worker_id, worker.branch, worker.handoff_path
        );
    }
    data_block("the workers and their branches", &text)
}

pub(super) fn targets(targets: &CloseoutTargets<'_>) -> String {
    let mut text = format!("milestone {} is {}\n", targets.milestone_id, targets.current_status);
    for (what, anchor) in [
        ("status changes (roadmap_view_anchor)", targets.status_anchor),
        ("completion pointers (anchor_id)", targets.completion_anchor),
        ("history entries (anchor_id)", targets.history_anchor),
    ] {
        if let Some(anchor) = anchor {
            let _ = writeln!(text, "{what}: {anchor}");
        }
    }
    data_block("where a closeout may note something", &text)
}

pub(super) fn failure(text: &str) -> String {
    data_block("the failure, as the controller saw it", &bounded_output(text, SHOWN_BYTES))
}

pub(super) fn observations(observations: &[String]) -> String {
    if observations.is_empty() {
        return "Nothing else was observed.".to_owned();
    }
    data_block("observations", &bounded_output(&observations.join("\n"), SHOWN_BYTES))
}

pub(super) fn faults(faults: &[Faults]) -> String {
    if faults.is_empty() {
        return "No file of the round is malformed.".to_owned();
    }
    let names: Vec<String> = faults.iter().map(|faults| inline_code(faults.file())).collect();
    let text: Vec<String> = faults.iter().map(ToString::to_string).collect();
    format!(
        "Malformed: {}.\n\n{}",
        names.join(", "),
        data_block("faults, found by the controller", &bounded_output(&text.join("\n\n"), SHOWN_BYTES))
    )
}
