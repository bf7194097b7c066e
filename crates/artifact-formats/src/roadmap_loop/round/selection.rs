//! What a round was cut from and what must merge before it: `selection-record.json`, or the first sections of a structured
//! `plan.md`. It knows no roadmap; whether the milestone exists and is ready is checked elsewhere.

use super::files;
use super::labelled::{Labelled, Section, readable};
use super::record::{self, Wanted};
use crate::faults::Faults;
use crate::fields::{Field, Fields};
use crate::roadmap_loop::lineage::Lineage;

const VERSION: &str = "selection-record-v1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub round_id: String,
    pub lineage: Lineage,
    pub summary: String,
    pub scheduler: Scheduler,
}

/// What must merge before the round, and with what it may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scheduler {
    pub depends_on_round_ids: Vec<String>,
    pub merge_after_item_ids: Vec<String>,
    pub parallel_group: Option<String>,
}

impl Selection {
    /// Reads `selection-record.json` of the round with that id.
    pub fn from_record(round_id: &str, text: &str) -> Result<Self, Faults> {
        let wanted = Wanted { file: files::SELECTION_RECORD, schema_version: VERSION, round_id };
        let selection = record::read(wanted, text, |fields| {
            let lineage = record::lineage(fields);
            let summary = fields.filled_text("summary");
            let scheduler = fields.object("scheduler").map(|mut inner| scheduler_of(&mut inner));
            Some(Self { round_id: round_id.to_owned(), lineage, summary, scheduler: scheduler? })
        })?;
        Faults::unless_empty(files::SELECTION_RECORD, selection.own_faults(), || Some(selection))
    }

    /// Reads the sections Selected Extraction, Goal and Scheduler of a structured `plan.md`.
    pub fn from_plan(round_id: &str, text: &str) -> Result<Self, Faults> {
        let text = readable(files::PLAN, text)?;
        let document = Labelled::read(files::PLAN, &text);
        let lineage = document.required("Selected Extraction").map(|section| lineage_of(&section));
        let goal = document.required("Goal");
        if goal.as_ref().is_some_and(|section| !section.has_words()) {
            document.report("### Goal: must not be empty".to_owned());
        }
        let scheduler = document.required("Scheduler").map(|section| {
            let known = ["Depends on round ids", "Merge after item ids", "Parallel group"];
            let labels = section.labels(&known);
            Scheduler {
                depends_on_round_ids: labels.ids(known[0]),
                merge_after_item_ids: labels.ids(known[1]),
                parallel_group: labels.required(known[2]).and_then(super::labelled::Label::text),
            }
        });
        let selection = lineage.zip(scheduler).map(|(lineage, scheduler)| {
            let summary = goal.map(|section| first_paragraph(&section)).unwrap_or_default();
            Self { round_id: round_id.to_owned(), lineage, summary, scheduler }
        });
        for sentence in selection.iter().flat_map(Self::own_faults) {
            document.report(sentence);
        }
        document.finish(selection)
    }

    fn own_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.scheduler.depends_on_round_ids.contains(&self.round_id) {
            faults.push(format!("the scheduler lets round {} wait for itself", self.round_id));
        }
        if self.scheduler.merge_after_item_ids.contains(&self.lineage.extracted_item_id) {
            let item = &self.lineage.extracted_item_id;
            faults.push(format!("the scheduler lets the item {item} wait for itself"));
        }
        let ends = format!("{}/{}", self.lineage.roadmap_id, self.lineage.roadmap_revision);
        if !self.lineage.roadmap_dir.trim_end_matches('/').ends_with(&ends) {
            faults.push(format!(
                "roadmap_dir must end with \"{ends}\", found \"{}\"",
                self.lineage.roadmap_dir
            ));
        }
        faults
    }
}

fn scheduler_of(fields: &mut Fields<'_, '_>) -> Scheduler {
    let read = |field: Field<'_, '_>| field.filled_text();
    Scheduler {
        depends_on_round_ids: fields.list("depends_on_round_ids", read),
        merge_after_item_ids: fields.list("merge_after_item_ids", read),
        parallel_group: record::nullable(fields, "parallel_group").and_then(|field| field.filled_text()),
    }
}

pub(super) fn lineage_of(section: &Section<'_, '_>) -> Lineage {
    let labels = section.labels(&[
        "Milestone",
        "Milestone id",
        "Direction id",
        "Extracted item id",
        "Roadmap id",
        "Roadmap revision",
        "Roadmap dir",
    ]);
    Lineage {
        roadmap_id: labels.filled("Roadmap id"),
        roadmap_revision: labels.filled("Roadmap revision"),
        roadmap_dir: labels.filled("Roadmap dir"),
        milestone_id: labels.filled("Milestone id"),
        direction_id: labels.filled("Direction id"),
        extracted_item_id: labels.filled("Extracted item id"),
    }
}

fn first_paragraph(section: &Section<'_, '_>) -> String {
    let lines = section.lines().iter().map(|line| line.text.trim());
    let words: Vec<&str> =
        lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    words.join(" ")
}
