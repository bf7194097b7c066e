//! From an approved closeout to new texts: every selector resolved, every expectation checked, nothing else touched.
//! It knows both generations' places for a status, a pointer and a history entry.

use std::ops::Range;

use serde_json::json;

use super::Applied;
use super::anchored::{AnchoredList, resolve};
use crate::fault::excerpt;
use crate::json_edit;
use crate::markdown::{headings, list_item};
use crate::roadmap_loop::closeout::{Closeout, CloseoutMode, HistoryEntry, StatusChange};
use crate::roadmap_loop::plane::bundle::BundleTexts;
use crate::roadmap_loop::plane::generation::Generation;
use crate::roadmap_loop::plane::problem::{Problem, Problems, Severity};
use crate::roadmap_loop::plane::roadmap::{
    Anchor, Block, DIRECTION_LABELS, MILESTONE_LABELS, RoadmapText, RoadmapView, is_none, label_line,
};
use crate::text_lines::without_mark;

pub(super) fn apply(bundle: &BundleTexts<'_>, closeout: &Closeout) -> Result<Applied, Problems> {
    if closeout.mode != CloseoutMode::StatusOnly {
        if !closeout.has_edits() {
            return Ok(Applied::default());
        }
        let message = format!("a closeout of mode \"{}\" may not edit the roadmap", closeout.mode);
        return Err(Problems::one(Problem::fatal("12", &bundle.roadmap_path(), message)));
    }
    // Only a sound bundle is edited; what is broken before cannot be told from what the edits broke.
    bundle.roadmap()?;
    let mut work = Work::new(bundle);
    for change in &closeout.status_changes {
        work.change_status(change)?;
    }
    for pointer in &closeout.completion_pointers {
        work.add_pointer(&pointer.anchor_or_milestone, &pointer.text)?;
    }
    for entry in &closeout.history_entries {
        work.add_history(entry)?;
    }
    work.texts().roadmap()?;
    Ok(work.applied())
}

/// The bundle's texts while they are edited.
pub(super) struct Work<'t> {
    before: BundleTexts<'t>,
    roadmap: String,
    view: Option<String>,
    history: Option<String>,
    summary: Vec<String>,
}

impl<'t> Work<'t> {
    pub(super) fn new(bundle: &BundleTexts<'t>) -> Self {
        Self {
            before: *bundle,
            roadmap: bundle.roadmap.to_owned(),
            view: bundle.view.map(str::to_owned),
            history: bundle.history.map(str::to_owned),
            summary: Vec::new(),
        }
    }

    fn texts(&self) -> BundleTexts<'_> {
        BundleTexts {
            roadmap: &self.roadmap,
            view: self.view.as_deref(),
            history: self.history.as_deref(),
            ..self.before
        }
    }

    fn applied(self) -> Applied {
        let after = [
            (self.before.roadmap_path(), Some(self.before.roadmap), Some(self.roadmap)),
            (self.before.view_path(), self.before.view, self.view),
            (self.before.history_path(), self.before.history, self.history),
        ];
        let changed = after.into_iter().filter_map(|(path, before, after)| {
            let after = after?;
            (before != Some(after.as_str())).then_some((path, after))
        });
        Applied { files: changed.collect(), summary: self.summary }
    }

    fn is_records(&self) -> bool {
        self.before.generation == Generation::Records
    }

    /// The rule a refusal names: where selectors come from differs between the generations.
    fn refused(&self, message: impl Into<String>) -> Problems {
        let rule = if self.is_records() { "12" } else { "25.2" };
        Problems::one(Problem::fatal(rule, &self.before.roadmap_path(), message))
    }

    /// An edit that no longer applies: the round goes back to its review, nothing is broken.
    fn stale(&self, message: String) -> Problems {
        let rule = if self.is_records() { "12" } else { "25.2" };
        let problem = Problem::fatal(rule, &self.before.roadmap_path(), format!("stale: {message}"));
        Problems::one(problem.weighing(Severity::Recoverable))
    }

    fn view(&self) -> Result<RoadmapView, Problems> {
        RoadmapView::parse(&self.before.view_path(), self.view.as_deref().unwrap_or_default())
    }

    /// Exactly one block has the id, or the edit has no place.
    fn block<'r>(&self, text: &'r RoadmapText, milestone: &'r str) -> Result<&'r Block, Problems> {
        let mut found = text.blocks_of(milestone);
        match (found.next(), found.next()) {
            (Some(block), None) => Ok(block),
            (None, _) => Err(self.refused(format!("there is no milestone {}", excerpt(milestone)))),
            _ => Err(self.refused(format!("the milestone {} is there more than once", excerpt(milestone)))),
        }
    }

    fn change_status(&mut self, change: &StatusChange) -> Result<(), Problems> {
        let id = &change.milestone_id;
        let text = self.texts().roadmap_text();
        let block = self.block(&text, id)?;
        let marker = block.marker.as_ref().and_then(|(_, place)| Some((block.status()?, place.clone())));
        let Some((current, place)) = marker else {
            return Err(self.refused(format!("the heading of {} has no status to change", excerpt(id))));
        };
        let target = change.target_status;
        if current == target {
            return Err(self.stale(format!("the milestone {} is {target} already", excerpt(id))));
        }
        if let Some(expected) = change.expected_current_status.filter(|expected| *expected != current) {
            return Err(self.stale(format!("the milestone {} is {current}, not {expected}", excerpt(id))));
        }
        if self.is_records() {
            self.change_view(change, &text, block)?;
        }
        self.roadmap.replace_range(place, target.as_str());
        let at = change.anchor.as_deref().map(|anchor| format!(" at {anchor}")).unwrap_or_default();
        self.summary.push(format!("milestone {id}: {current} -> {target}{at}"));
        Ok(())
    }

    /// The status in the view, and the selectors of the milestone's anchors that spell the old status.
    fn change_view(
        &mut self,
        change: &StatusChange,
        text: &RoadmapText,
        block: &Block,
    ) -> Result<(), Problems> {
        let id = &change.milestone_id;
        let view = self.view()?;
        let index = view.roadmap.milestones.iter().position(|milestone| milestone.id == *id);
        let index =
            index.ok_or_else(|| self.refused(format!("the view has no milestone {}", excerpt(id))))?;
        let milestone = &view.roadmap.milestones[index];
        if change.anchor.is_none() || change.anchor != milestone.status_anchor {
            let named = change.anchor.as_deref().map_or("no anchor".to_owned(), excerpt);
            let message =
                format!("the status of {} is changed through its status anchor, not {named}", excerpt(id));
            return Err(self.refused(message));
        }
        let anchors = [&milestone.status_anchor, &milestone.completion_anchor];
        let mut anchors: Vec<&Anchor> =
            anchors.into_iter().flatten().filter_map(|id| view.anchor(id)).collect();
        anchors.dedup_by_key(|anchor| &anchor.id);
        if let Some(anchor) = anchors.first() {
            resolved(anchor, text.text(), Some(block.span.clone()))?;
        }
        let source = self.view.clone().unwrap_or_default();
        let status = json!(change.target_status.as_str());
        let mut edited = json_edit::set(&source, &["milestones", &index.to_string(), "status"], &status);
        let heading = text.text()[block.heading.clone()].trim();
        let word = block.marker.as_ref().map(|(_, place)| &text.text()[place.clone()]).unwrap_or_default();
        for anchor in anchors {
            if let Some(selector) =
                moved_selector(&anchor.selector, heading, word, change.target_status.as_str())
            {
                let path = ["anchors", anchor.id.as_str(), "selector"];
                edited = edited.and_then(|text| json_edit::set(&text, &path, &json!(selector)));
            }
        }
        self.view = Some(edited.ok_or_else(|| self.refused("the view has no place for the status"))?);
        Ok(())
    }

    fn add_pointer(&mut self, anchor_or_milestone: &str, words: &str) -> Result<(), Problems> {
        let text = self.texts().roadmap_text();
        let words = self.one_line(words)?;
        let (place, limit) = if self.is_records() {
            let view = self.view()?;
            let (anchor, owner) = self.anchor(&view, anchor_or_milestone)?;
            if anchor.target_file != self.before.roadmap_path() {
                return self.add_at(&anchor.clone(), &words);
            }
            let block =
                owner.map(|owner| self.block(&text, owner)).transpose()?.map(|block| block.span.clone());
            let place = resolved(anchor, text.text(), block)?;
            (place, text.text().len())
        } else {
            let block = self.block(&text, anchor_or_milestone)?;
            let Some(label) = block.label("Completion pointers") else {
                return Err(
                    self.refused(format!("{} has no completion pointers", excerpt(anchor_or_milestone)))
                );
            };
            (label.span.start, block.span.end)
        };
        let list = AnchoredList::at(text.text(), place, limit);
        self.refuse_stale(&list, &words)?;
        self.roadmap = list.with_item(text.text(), &words);
        self.summary.push(format!("pointer at {anchor_or_milestone}: {words}"));
        Ok(())
    }

    fn add_history(&mut self, entry: &HistoryEntry) -> Result<(), Problems> {
        let words = self.one_line(&entry.text)?;
        if !self.is_records() {
            let text = self.history.clone().unwrap_or_default();
            let marked = without_mark(&text);
            let mut named = headings(&marked)
                .into_iter()
                .filter(|heading| heading.level == 2 && heading.is("Completed Rounds"));
            let (Some(heading), None) = (named.next(), named.next()) else {
                let message = "a history entry needs exactly one section \"## Completed Rounds\"";
                return Err(Problems::one(Problem::fatal("25.2", &self.before.history_path(), message)));
            };
            return self.lengthen_history(&text, heading.line_start, &words, "Completed Rounds");
        }
        let view = self.view()?;
        let Some(id) = entry.anchor.as_deref() else {
            return Err(self.refused("a history entry must name an anchor"));
        };
        let (anchor, _) = self.anchor(&view, id)?;
        self.add_at(&anchor.clone(), &words)
    }

    /// An entry at an anchor outside of the roadmap itself; the family's history is the only such file.
    fn add_at(&mut self, anchor: &Anchor, words: &str) -> Result<(), Problems> {
        let Some(text) = self.history.clone().filter(|_| anchor.target_file == self.before.history_path())
        else {
            let message =
                format!("the anchor {} does not point into the family's history", excerpt(&anchor.id));
            return Err(self.refused(message));
        };
        let place = resolved(anchor, &text, None)?;
        self.lengthen_history(&text, place, words, &anchor.id)
    }

    fn lengthen_history(&mut self, text: &str, place: usize, words: &str, at: &str) -> Result<(), Problems> {
        let list = AnchoredList::at(text, place, text.len());
        self.refuse_stale(&list, words)?;
        self.history = Some(list.with_item(text, words));
        self.summary.push(format!("history at {at}: {words}"));
        Ok(())
    }

    /// The anchor, and the milestone it belongs to.
    fn anchor<'v>(&self, view: &'v RoadmapView, id: &str) -> Result<(&'v Anchor, Option<&'v str>), Problems> {
        let Some(anchor) = view.anchor(id) else {
            let message =
                format!("the closeout names the anchor {}, which the view does not have", excerpt(id));
            return Err(Problems::one(Problem::fatal("4.3", &self.before.view_path(), message)));
        };
        let owner = view.roadmap.milestones.iter().find(|milestone| {
            [&milestone.completion_anchor, &milestone.status_anchor]
                .into_iter()
                .flatten()
                .any(|own| own == id)
        });
        Ok((anchor, owner.map(|milestone| milestone.id.as_str())))
    }

    fn refuse_stale(&self, list: &AnchoredList, words: &str) -> Result<(), Problems> {
        if list.holds(words) {
            return Err(self.stale(format!("the entry {} is there already", excerpt(words))));
        }
        Ok(())
    }

    /// An entry is one item on one line. One that a reader would take for a label, for nothing or for the start of a
    /// comment would change what the roadmap says.
    fn one_line(&self, words: &str) -> Result<String, Problems> {
        let trimmed = words.trim();
        let bare = list_item(trimmed).map_or(trimmed, |(_, words)| words).trim();
        if bare.is_empty() || bare.chars().any(char::is_control) {
            return Err(self.refused(format!("an entry must be one line of text; found {}", excerpt(words))));
        }
        let known = [&MILESTONE_LABELS[..], &DIRECTION_LABELS[..]].concat();
        let is_label = label_line(bare).is_some_and(|label| label.among(&known).is_some());
        if is_label || is_none(bare) || bare.contains("<!--") || list_item(bare).is_some() {
            let message = format!("the entry {} reads like a part of the roadmap itself", excerpt(words));
            return Err(self.refused(message));
        }
        Ok(bare.to_owned())
    }
}

/// Where an anchor's selector ends in its file.
fn resolved(anchor: &Anchor, text: &str, block: Option<Range<usize>>) -> Result<usize, Problems> {
    resolve(text, &anchor.selector, block).map_err(|why| {
        Problems::one(Problem::fatal("4.2", &anchor.target_file, format!("anchor {}: {why}", anchor.id)))
    })
}

/// The selector with the new status, where it is part of the heading and spells the old one.
fn moved_selector(selector: &str, heading: &str, word: &str, target: &str) -> Option<String> {
    let marker = format!("[{word}]");
    let is_of_heading = heading.contains(selector.trim()) || selector.contains(heading);
    (is_of_heading && selector.contains(&marker))
        .then(|| selector.replacen(&marker, &format!("[{target}]"), 1))
}
