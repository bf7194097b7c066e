//! The files of a new roadmap family: `roadmap.md` in the form of its generation, the machine view where there is one,
//! `verification.md` and the history. What is written here parses without a warning.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::ScaffoldFile;
use super::outline::{Family, FamilyDirection, FamilyMilestone};
use crate::roadmap_loop::plane::names::history_file;
use crate::roadmap_loop::plane::{ActiveBundle, Generation};

const HISTORY_ANCHOR: &str = "roadmap-history-completed-rounds";
const HISTORY_HEADING: &str = "## Completed Rounds";

/// Everything under `orchestrator/roadmaps/<roadmap_id>/`.
pub fn family_files(generation: Generation, bundle: &ActiveBundle, family: &Family) -> Vec<ScaffoldFile> {
    let at = |name: &str| format!("{}/{name}", bundle.dir);
    let mut files = vec![
        ScaffoldFile::new(at("roadmap.md"), roadmap(generation, family)),
        ScaffoldFile::new(at("verification.md"), verification(family)),
        ScaffoldFile::new(history_file(&bundle.roadmap_id), history()),
    ];
    if generation == Generation::Records {
        files.push(ScaffoldFile::new(at("roadmap-view.json"), crate::render::pretty(&view(bundle, family))));
    }
    files
}

/// A list with a word before each entry, or the words that stand for an empty one.
pub(super) fn list_or(empty: &str, word: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return empty.to_owned();
    }
    let lines: Vec<String> = entries.iter().map(|entry| format!("- {word}: {entry}")).collect();
    lines.join("\n")
}

fn roadmap(generation: Generation, family: &Family) -> String {
    let mut text = format!("# {}\n\n## Goal\n\n- Outcome: {}\n\n", family.title, family.ledger.outcome);
    text.push_str("## Alignment Summary\n\n");
    for (name, words) in family.ledger.entries() {
        line(&mut text, &format!("- {name}: {words}"));
    }
    let _ = write!(
        text,
        "\n## Outcome Boundaries\n\n{}\n{}\n\n## Global Sequencing Rules\n\n- Strategy: {}\n- Order: a milestone is worked \
         on when everything it depends on is done.\n\n## Parallel Lanes\n\n",
        list_or("- Non-goals: none", "Non-goal", &family.ledger.non_goals),
        list_or("- Promises: none", "Promise", &family.ledger.compatibility_promises),
        family.ledger.sequencing_strategy,
    );
    for lane in lanes(family) {
        let members = family.milestones.iter().filter(|milestone| milestone.lane == lane);
        let members: Vec<&str> = members.map(|milestone| milestone.id.as_str()).collect();
        line(&mut text, &format!("- Lane {lane}: {}", members.join(", ")));
    }
    let _ = write!(text, "- Rounds at once: {}\n\n## Milestones\n", family.max_parallel_rounds);
    for milestone in &family.milestones {
        text.push('\n');
        match generation {
            Generation::StructuredMarkdown => structured(&mut text, milestone),
            Generation::Records => narrated(&mut text, milestone),
        }
    }
    text
}

fn lanes(family: &Family) -> Vec<&str> {
    let mut lanes: Vec<&str> = Vec::new();
    for milestone in &family.milestones {
        if !lanes.contains(&milestone.lane.as_str()) {
            lanes.push(&milestone.lane);
        }
    }
    lanes
}

fn structured(text: &mut String, milestone: &FamilyMilestone) {
    line(text, &heading(milestone));
    text.push('\n');
    for (label, value) in labels(milestone) {
        line(text, &format!("{label}: {value}"));
        if label == "Completion signal" {
            line(text, "Completion pointers: none");
        }
    }
    line(text, "Candidate directions:");
    for direction in &milestone.directions {
        line(text, &format!("- Direction id: {}", direction.id));
        for (label, value) in direction_labels(direction) {
            line(text, &format!("  {label}: {value}"));
        }
    }
}

fn narrated(text: &mut String, milestone: &FamilyMilestone) {
    line(text, &heading(milestone));
    text.push('\n');
    for (label, value) in labels(milestone) {
        line(text, &format!("- {label}: {value}"));
    }
    line(text, "- Candidate directions:");
    for direction in &milestone.directions {
        line(text, &format!("  - Direction id: {}", direction.id));
        for (label, value) in direction_labels(direction) {
            line(text, &format!("    {label}: {value}"));
        }
    }
    let _ = write!(text, "\n{}\n\n- none yet\n", pointers_heading(milestone));
}

fn heading(milestone: &FamilyMilestone) -> String {
    format!("### [{}] {}", milestone.status, milestone.title)
}

fn pointers_heading(milestone: &FamilyMilestone) -> String {
    format!("#### Completion Pointers: {}", milestone.id)
}

fn labels(milestone: &FamilyMilestone) -> [(&'static str, String); 6] {
    [
        ("Milestone id", milestone.id.clone()),
        ("Depends on", none_or(&milestone.depends_on)),
        ("Intent", milestone.intent.clone()),
        ("Completion signal", milestone.completion_signal.clone()),
        ("Parallel lane", milestone.lane.clone()),
        ("Coordination notes", milestone.notes.clone()),
    ]
}

fn direction_labels(direction: &FamilyDirection) -> [(&'static str, String); 6] {
    [
        ("Summary", direction.summary.clone()),
        ("Why it matters now", direction.why_now.clone()),
        ("Preconditions", none_or(&direction.preconditions)),
        ("Parallel hints", direction.parallel_hints.clone()),
        ("Boundary notes", direction.boundary_notes.clone()),
        ("Extraction notes", direction.extraction_notes.clone()),
    ]
}

fn none_or(ids: &[String]) -> String {
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}

fn view(bundle: &ActiveBundle, family: &Family) -> Value {
    let file = format!("{}/roadmap.md", bundle.dir);
    let mut anchors = Map::new();
    let mut anchor = |id: String, target: &str, selector: String| {
        anchors.insert(id, json!({"target_file": target, "selector": selector}));
    };
    for milestone in &family.milestones {
        anchor(format!("{}-status", milestone.id), &file, heading(milestone));
        anchor(format!("{}-completion", milestone.id), &file, pointers_heading(milestone));
    }
    anchor(HISTORY_ANCHOR.to_owned(), &history_file(&bundle.roadmap_id), HISTORY_HEADING.to_owned());
    let milestones: Vec<Value> = family.milestones.iter().map(milestone_value).collect();
    let directions: Vec<Value> = family
        .milestones
        .iter()
        .flat_map(|milestone| {
            milestone.directions.iter().map(|direction| direction_value(&milestone.id, direction))
        })
        .collect();
    json!({
        "schema_version": "roadmap-view-v1",
        "roadmap_id": bundle.roadmap_id,
        "roadmap_revision": bundle.revision,
        "roadmap_dir": bundle.dir,
        "roadmap_file": file,
        "milestones": milestones,
        "directions": directions,
        "anchors": anchors,
    })
}

fn milestone_value(milestone: &FamilyMilestone) -> Value {
    let directions: Vec<&str> = milestone.directions.iter().map(|direction| direction.id.as_str()).collect();
    json!({
        "milestone_id": milestone.id,
        "title": milestone.title,
        "status": milestone.status.as_str(),
        "depends_on": milestone.depends_on,
        "parallel_lane": milestone.lane,
        "status_anchor": format!("{}-status", milestone.id),
        "completion_anchor": format!("{}-completion", milestone.id),
        "direction_ids": directions,
    })
}

fn direction_value(milestone: &str, direction: &FamilyDirection) -> Value {
    json!({
        "direction_id": direction.id,
        "milestone_id": milestone,
        "summary": direction.summary,
        "preconditions": direction.preconditions,
        "parallel_hints": direction.parallel_hints,
    })
}

fn verification(family: &Family) -> String {
    const NONE: &str = "none discovered yet";
    let ledger = &family.ledger;
    format!(
        "# Verification\n\n## Baseline Checks\n\n{}\n\n## Alignment Checks\n\n- Standard: {}\n- Posture: {}\n{}\n\n\
         ## Task-Specific Checks\n\n- Rule: the plan of each round names its own commands and what they must show.\n\n\
         ## Manual Checks\n\n{}\n\n## Roadmap Overrides\n\nnone\n",
        list_or(NONE, "Command", &family.baseline_checks),
        ledger.verification_standard,
        ledger.architecture_posture,
        list_or("- Promises: none", "Promise", &ledger.compatibility_promises),
        list_or("none", "Look", &family.manual_checks),
    )
}

fn history() -> String {
    format!("# Roadmap history\n\n{HISTORY_HEADING}\n\n- none yet\n\n## Superseded Revisions\n\n- none yet\n")
}

fn line(text: &mut String, words: &str) {
    text.push_str(words);
    text.push('\n');
}
