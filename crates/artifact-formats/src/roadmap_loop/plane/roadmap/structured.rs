//! A structured `roadmap.md` as the machine source (section 25.2): every required section, field and status must be there
//! and say one thing only. It knows what is required; taking the text apart is done elsewhere.

use super::labels::{DIRECTION_LABELS, Label, MILESTONE_LABELS};
use super::markdown::{Block, RoadmapText};
use super::{Roadmap, graph_faults};
use crate::fault::{excerpt, quoted};
use crate::fields::Choice;
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::roadmap_loop::plane::problem::{Problem, Problems};

const SECTIONS: [&str; 6] = [
    "Goal",
    "Alignment Summary",
    "Outcome Boundaries",
    "Global Sequencing Rules",
    "Parallel Lanes",
    "Milestones",
];
const RULE: &str = "25.2";

/// The roadmap, or everything that keeps a program from reading it.
pub(crate) fn read(text: &RoadmapText) -> Result<Roadmap, Problems> {
    let fault = |message: String| Problem::fatal(RULE, &text.file, message);
    let mut found = missing_sections(RULE, text);
    if let Some(line) = text.open_comment {
        found.push(fault("a comment begins here and never ends".to_owned()).at_line(line));
    }
    for line in &text.stray_directions {
        found.push(fault("this direction stands outside of every milestone".to_owned()).at_line(*line));
    }
    for block in &text.blocks {
        found.extend(block_faults(text, block));
    }
    let roadmap = text.roadmap();
    // A milestone that could not be read is reported already; the graph without it would only repeat that.
    if found.is_empty() {
        found = graph_faults(RULE, &text.file, &roadmap);
    }
    Problems::check(found)?;
    Ok(roadmap)
}

/// Sections of section 4.1 that are not there, or there twice.
pub(crate) fn missing_sections(rule: &'static str, text: &RoadmapText) -> Vec<Problem> {
    let mut found = Vec::new();
    for title in SECTIONS {
        let mut named = text.sections.iter().filter(|(name, _)| name.eq_ignore_ascii_case(title));
        match (named.next(), named.next()) {
            (None, _) => {
                found.push(Problem::fatal(
                    rule,
                    &text.file,
                    format!("the section \"## {title}\" is missing"),
                ));
            }
            (Some(_), Some((_, line))) => {
                let message = format!("the section \"## {title}\" is there twice");
                found.push(Problem::fatal(rule, &text.file, message).at_line(*line));
            }
            _ => {}
        }
    }
    found
}

fn block_faults(text: &RoadmapText, block: &Block) -> Vec<Problem> {
    let fault = |line: usize, message: String| Problem::fatal(RULE, &text.file, message).at_line(line);
    let mut found = Vec::new();
    let statuses = quoted(&MilestoneStatus::names());
    match &block.marker {
        None => {
            let message = format!(
                "this milestone has no status; its heading must begin with [status], one of {statuses}"
            );
            found.push(fault(block.line, message));
        }
        Some((word, _)) if MilestoneStatus::from_word(word).is_none() => {
            let message = format!("the status must be one of {statuses}; found {}", excerpt(word));
            found.push(fault(block.line, message));
        }
        Some(_) => {}
    }
    for name in MILESTONE_LABELS {
        found.extend(count_fault(&text.file, &block.labels, name, block.line));
    }
    for name in ["Milestone id", "Intent", "Completion signal", "Completion pointers"] {
        if let Some(label) = block.label(name).filter(|label| label.lines.is_empty()) {
            found.push(fault(label.line, format!("\"{name}:\" has no value")));
        }
    }
    for (name, line) in &block.stray {
        found.push(fault(*line, format!("\"{name}:\" stands before any \"Direction id:\"")));
    }
    for labels in &block.directions {
        let line = labels.first().map_or(block.line, |label| label.line);
        for name in DIRECTION_LABELS {
            let wanted = ["Direction id", "Summary"].contains(&name);
            let counted = count_fault(&text.file, labels, name, line);
            // Hints beside the summary are for the planner; a direction without them can still be taken.
            found.extend(counted.filter(|_| wanted || labels.iter().any(|label| label.name == name)));
        }
        for label in labels.iter().filter(|label| ["Direction id", "Summary"].contains(&label.name.as_str()))
        {
            if label.lines.is_empty() {
                found.push(fault(label.line, format!("\"{}:\" has no value", label.name)));
            }
        }
    }
    found
}

/// A label that is missing, or there twice so that nobody knows which counts.
fn count_fault(file: &str, labels: &[Label], name: &str, line: usize) -> Option<Problem> {
    let mut named = labels.iter().filter(|label| label.name == name);
    match (named.next(), named.next()) {
        (None, _) => {
            Some(Problem::fatal(RULE, file, format!("the label \"{name}:\" is missing")).at_line(line))
        }
        (Some(_), Some(second)) => {
            let message = format!("the label \"{name}:\" is ambiguous: it is there twice");
            Some(Problem::fatal(RULE, file, message).at_line(second.line))
        }
        _ => None,
    }
}
