//! The parts prompts are made of: foreign text fenced and labelled, and a plain sentence where there is none.

use std::fmt::Write;

use super::{EarlierAttempt, GoesOn, TestEvidence};
use crate::data_block::{data_block, inline_code};
use crate::goal_loop::allowed_paths::Allowed;
use crate::goal_loop::features::Feature;
use crate::goal_loop::item_id::ItemId;
use crate::output_text::bounded_output;

/// Longest part of a document or an output that is shown.
const SHOWN_BYTES: usize = 48 * 1024;
const SHOWN_DIFF_BYTES: usize = 256 * 1024;

pub(super) fn item(item: &Feature) -> String {
    let mut text = format!("id: {}\nname: {}\n", item.id, item.name);
    if let Some(kind) = &item.kind {
        let _ = writeln!(text, "type: {kind}");
    }
    let _ = writeln!(text, "description: {}\n\nacceptance criteria:", item.description);
    for (number, criterion) in item.acceptance_criteria.iter().enumerate() {
        let _ = writeln!(text, "{}. {criterion}", number + 1);
    }
    let _ = writeln!(text, "\ndeliverable: {}", item.contract.deliverable);
    let _ = writeln!(text, "verification: {}", item.contract.verification);
    if let Some(plan) = &item.rollback_plan {
        let _ = writeln!(text, "rollback plan: {plan}");
    }
    data_block("the item, from docs/FEATURES.json", &text)
}

pub(super) fn dependencies(dependencies: &[(ItemId, String, String)]) -> String {
    if dependencies.is_empty() {
        return "It depends on no other item.".to_owned();
    }
    let lines: Vec<String> =
        dependencies.iter().map(|(id, name, status)| format!("{id}: {name} ({status})")).collect();
    data_block("items it depends on, with their status", &lines.join("\n"))
}

pub(super) fn design(item: &Feature) -> String {
    match &item.design_doc {
        Some(path) => format!("Its design is in {}; read it first and follow it.", inline_code(path)),
        None => "It has no design document.".to_owned(),
    }
}

pub(super) fn allowed(allowed: &Allowed) -> String {
    match allowed {
        Allowed::Paths(paths) => format!(
            "{}\n\nTests may be added and extended anywhere. A change to any other file stops the loop.",
            data_block("files and folders you may touch", &paths.join("\n"))
        ),
        Allowed::Unstated => {
            "Nothing names the files of this item. Touch as few as it needs, and none that belong to other items."
                .to_owned()
        }
    }
}

pub(super) fn test_command(command: Option<&str>) -> String {
    match command {
        Some(command) => format!("The whole test suite runs with {}.", inline_code(command)),
        None => "No test command is known.".to_owned(),
    }
}

pub(super) fn start(goes_on: GoesOn) -> String {
    match goes_on {
        GoesOn::Fresh => "The worktree holds the last accepted state.",
        GoesOn::FromEarlierAttempt => {
            "The worktree holds the change of the attempt before. Go on from it, and take back what was wrong."
        }
    }
    .to_owned()
}

/// All of them: a builder that knows only the last cause brings an earlier one back.
pub(super) fn earlier(attempts: &[EarlierAttempt<'_>]) -> String {
    if attempts.is_empty() {
        return "This is the first attempt at the item.".to_owned();
    }
    let blocks = attempts.iter().map(|attempt| {
        let mut text = format!("root cause: {}\n", attempt.root_cause);
        for issue in attempt.issues {
            let _ = writeln!(text, "issue: {issue}");
        }
        if !attempt.fix.trim().is_empty() {
            let _ = writeln!(text, "suggested fix: {}", attempt.fix);
        }
        data_block(&format!("why the attempt of iteration {} was not accepted", attempt.iteration), &text)
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

pub(super) fn regressions(names: &[String]) -> String {
    if names.is_empty() {
        return "None is known.".to_owned();
    }
    data_block("tests that were green before this item and are red or gone now", &names.join("\n"))
}

/// A change too long to be shown whole is cut in the middle; the checkout holds all of it.
pub(super) fn change(diff: &str) -> String {
    data_block("the change, as the engine took it", &bounded_output(diff, SHOWN_DIFF_BYTES))
}

pub(super) fn tests(tests: Option<TestEvidence<'_>>) -> String {
    let Some(tests) = tests else {
        return "No test command is known, so no tests were run.".to_owned();
    };
    let mut facts = format!("command: {}\nresult: {}\n", tests.command, tests.summary);
    if let Some(comparison) = tests.comparison {
        for (label, names) in [
            ("was green, is red or gone", &comparison.regressions),
            ("new and red", &comparison.new_failures),
            ("removed", &comparison.removed),
        ] {
            for name in names {
                let _ = writeln!(facts, "{label}: {name}");
            }
        }
    }
    format!(
        "{}\n\n{}",
        data_block("test results, run by the engine", &bounded_output(&facts, SHOWN_BYTES)),
        data_block("end of the test output", tests.output_tail)
    )
}

pub(super) fn document(name: &str, text: Option<&str>) -> String {
    match text {
        Some(text) => data_block(name, &bounded_output(text, SHOWN_BYTES)),
        None => format!("There is no {}.", inline_code(name)),
    }
}

pub(super) fn pointers(pointers: &[String]) -> String {
    if pointers.is_empty() {
        return "No part of the code is named; look for yourself.".to_owned();
    }
    data_block("where to begin reading", &pointers.join("\n"))
}

pub(super) fn refused(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => data_block("why a person refused the design before this one", reason),
        None => "This is the first design of the item.".to_owned(),
    }
}
