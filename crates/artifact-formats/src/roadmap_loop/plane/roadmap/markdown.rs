//! `roadmap.md` taken apart: sections, milestone blocks, labels and directions with their places. Tolerant of every
//! variant seen in real planes; what is required of which generation is checked elsewhere.

use std::ops::Range;

use super::labels::{DIRECTION_LABELS, Label, LabelLine, MILESTONE_LABELS, label_line};
use super::{Direction, Milestone, Place, Roadmap};
use crate::markdown::{Heading, Line, headings, lines, list_item, without_comments};
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::text_lines::{line_of, span, without_mark};

/// A `roadmap.md` with the exact text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoadmapText {
    pub(super) file: String,
    pub(super) source: String,
    /// Titles of the second level with their lines.
    pub(super) sections: Vec<(String, usize)>,
    pub(crate) blocks: Vec<Block>,
    /// Lines of `Direction id:` outside of every milestone.
    pub(super) stray_directions: Vec<usize>,
    /// Line of a comment that is never closed and hides what follows.
    pub(super) open_comment: Option<usize>,
}

/// One milestone: a heading of the third level under `## Milestones`, and everything up to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) span: Range<usize>,
    /// The heading's line without its line break.
    pub(crate) heading: Range<usize>,
    pub(crate) line: usize,
    pub(crate) title: String,
    /// The word between the brackets and its place.
    pub(crate) marker: Option<(String, Range<usize>)>,
    pub(crate) labels: Vec<Label>,
    pub(crate) directions: Vec<Vec<Label>>,
    /// Labels of a direction before any direction, with their lines.
    pub(super) stray: Vec<(String, usize)>,
}

impl RoadmapText {
    pub fn read(file: &str, text: &str) -> Self {
        let marked = without_mark(text);
        let (clean, open_comment) = match without_comments(&marked) {
            Ok(clean) => (clean, None),
            Err(line) => (marked.into_owned(), Some(line)),
        };
        let all = headings(&clean);
        let sections = all.iter().filter(|heading| heading.level == 2);
        let blocks: Vec<Block> = milestone_spans(&clean, &all)
            .into_iter()
            .map(|(heading, end)| block(&clean, heading, end))
            .collect();
        let is_direction = |line: &Line<'_>| {
            let label = label_line(line.text).filter(|_| !line.is_code);
            label.is_some_and(|label| label.name.eq_ignore_ascii_case("Direction id"))
        };
        let inside = |start: usize| blocks.iter().any(|block| block.span.contains(&start));
        let stray = lines(&clean).into_iter().filter(|line| is_direction(line) && !inside(line.start));
        let stray_directions = stray.map(|line| line_of(&clean, line.start)).collect();
        let sections =
            sections.map(|heading| (heading.title.to_owned(), line_of(&clean, heading.line_start)));
        let sections = sections.collect();
        Self {
            file: file.to_owned(),
            source: text.to_owned(),
            sections,
            blocks,
            stray_directions,
            open_comment,
        }
    }

    pub fn text(&self) -> &str {
        &self.source
    }

    /// Whether milestones have a status and an id of their own, so that a program can read them.
    pub fn is_structured(&self) -> bool {
        !self.blocks.is_empty()
            && self.blocks.iter().all(|block| block.marker.is_some() && block.label("Milestone id").is_some())
    }

    /// Whether every milestone has its pointers under a label of their own, as only structured Markdown asks for.
    pub(crate) fn has_pointer_labels(&self) -> bool {
        self.is_structured() && self.blocks.iter().all(|block| block.label("Completion pointers").is_some())
    }

    /// What the tolerant reader makes of it: milestones without an id or a known status are left out.
    pub fn roadmap(&self) -> Roadmap {
        let mut roadmap = Roadmap::default();
        for block in &self.blocks {
            let Some(id) = block.id() else { continue };
            let (milestone, directions) = (block.milestone(&id), block.directions(&id));
            roadmap.milestones.extend(milestone);
            roadmap.directions.extend(directions);
        }
        settle_preconditions(&mut roadmap);
        roadmap
    }

    pub(crate) fn blocks_of<'t>(&'t self, id: &'t str) -> impl Iterator<Item = &'t Block> {
        self.blocks.iter().filter(move |block| block.id().as_deref() == Some(id))
    }
}

impl Block {
    pub(crate) fn label(&self, name: &str) -> Option<&Label> {
        self.labels.iter().find(|label| label.name == name)
    }

    pub(crate) fn id(&self) -> Option<String> {
        self.label("Milestone id").map(Label::id).filter(|id| !id.is_empty())
    }

    /// Synonyms of older planes count as what they mean; other words are no status.
    pub(crate) fn status(&self) -> Option<MilestoneStatus> {
        let (word, _) = self.marker.as_ref()?;
        match word.as_str() {
            "completed" | "complete" => Some(MilestoneStatus::Done),
            word => MilestoneStatus::from_word(word),
        }
    }

    fn prose(&self, name: &str) -> Option<String> {
        self.label(name).and_then(Label::prose)
    }

    pub(crate) fn milestone(&self, id: &str) -> Option<Milestone> {
        let unknown = self.labels.iter().filter(|label| !MILESTONE_LABELS.contains(&label.name.as_str()));
        Some(Milestone {
            id: id.to_owned(),
            title: self.title.clone(),
            status: self.status()?,
            depends_on: self.label("Depends on").map(Label::ids).unwrap_or_default(),
            lane: self.label("Parallel lane").map(Label::id).filter(|lane| !lane.is_empty()),
            intent: self.prose("Intent"),
            completion_signal: self.prose("Completion signal"),
            completion_pointers: self.prose("Completion pointers"),
            coordination_notes: self.prose("Coordination notes"),
            status_anchor: None,
            completion_anchor: None,
            direction_ids: Vec::new(),
            extra: unknown.map(|label| (label.name.clone(), label.value())).collect(),
            place: Place { pointer: String::new(), line: self.line },
        })
    }

    pub(crate) fn directions(&self, milestone: &str) -> Vec<Direction> {
        self.directions.iter().map(|labels| direction(labels, milestone)).collect()
    }
}

fn direction(labels: &[Label], milestone: &str) -> Direction {
    let of = |name: &str| labels.iter().find(|label| label.name == name);
    let prose = |name: &str| of(name).and_then(Label::prose);
    let unknown = labels.iter().filter(|label| !DIRECTION_LABELS.contains(&label.name.as_str()));
    Direction {
        id: of("Direction id").map(Label::id).unwrap_or_default(),
        milestone: milestone.to_owned(),
        summary: prose("Summary").unwrap_or_default(),
        preconditions: prose("Preconditions").into_iter().collect(),
        parallel_hints: prose("Parallel hints"),
        why_now: prose("Why it matters now"),
        boundary_notes: prose("Boundary notes"),
        extraction_notes: prose("Extraction notes"),
        extra: unknown.map(|label| (label.name.clone(), label.value())).collect(),
        place: Place { pointer: String::new(), line: labels.first().map_or(0, |label| label.line) },
    }
}

/// Preconditions are one sentence until all milestones are known; then a plain list of ids becomes one.
fn settle_preconditions(roadmap: &mut Roadmap) {
    let ids: Vec<String> = roadmap.milestones.iter().map(|milestone| milestone.id.clone()).collect();
    for direction in &mut roadmap.directions {
        let Some(text) = direction.preconditions.first() else { continue };
        let words = text.split(',').map(|part| {
            let part = list_item(part).map_or(part, |(_, words)| words);
            part.trim().trim_end_matches('.').trim_matches('`').to_owned()
        });
        let words: Vec<String> = words.collect();
        if words.iter().all(|word| ids.contains(word)) {
            direction.preconditions = words;
        }
    }
}

/// Headings of milestones with where their blocks end.
fn milestone_spans<'t>(text: &str, all: &[Heading<'t>]) -> Vec<(Heading<'t>, usize)> {
    let Some(start) = all.iter().position(|heading| heading.level == 2 && heading.is("Milestones")) else {
        return Vec::new();
    };
    let under = &all[start + 1..];
    let last = under.iter().position(|heading| heading.level <= 2).unwrap_or(under.len());
    let end_of_section = under.get(last).map_or(text.len(), |heading| heading.line_start);
    let milestones: Vec<&Heading<'t>> = under[..last].iter().filter(|heading| heading.level == 3).collect();
    let ends = milestones.iter().skip(1).map(|next| next.line_start).chain([end_of_section]);
    milestones.iter().map(|heading| **heading).zip(ends).collect()
}

fn block(text: &str, heading: Heading<'_>, end: usize) -> Block {
    let (marker, title) = marker_and_title(text, heading.title);
    let line_end = text[..heading.content_start].trim_end_matches(['\n', '\r']).len();
    let mut block = Block {
        span: heading.line_start..end,
        heading: heading.line_start..line_end,
        line: line_of(text, heading.line_start),
        title,
        marker,
        labels: Vec::new(),
        directions: Vec::new(),
        stray: Vec::new(),
    };
    let mut reader = Reader { block: &mut block, open: Open::Nothing, after_blank: false, nested_at: None };
    let first = line_of(text, heading.content_start);
    for (number, line) in (first..).zip(lines(&text[heading.content_start..end])) {
        let line = Line { start: line.start + heading.content_start, ..line };
        reader.take(line, number);
    }
    block
}

/// `[done] 1. Title`, `3. [in-progress] Title` or a bare title.
fn marker_and_title(text: &str, heading: &str) -> (Option<(String, Range<usize>)>, String) {
    let unnumbered = without_number(heading);
    let marked = unnumbered.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match marked {
        Some((word, title)) => {
            let place = span(text, word);
            let word = word.trim().to_ascii_lowercase();
            (Some((word, place)), without_number(title.trim()).to_owned())
        }
        None => (None, unnumbered.to_owned()),
    }
}

fn without_number(title: &str) -> &str {
    let rest = title.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let ended = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < title.len());
    ended.map_or(title, str::trim_start)
}

/// What a line that is no label would continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Milestone,
    Direction,
}

struct Reader<'b> {
    block: &'b mut Block,
    open: Open,
    after_blank: bool,
    /// Indentation of the labels inside the current direction.
    nested_at: Option<usize>,
}

impl Reader<'_> {
    fn take(&mut self, line: Line<'_>, number: usize) {
        if line.is_blank() {
            self.after_blank = true;
            return;
        }
        if line.is_heading() || line.is_code {
            self.open = Open::Nothing;
            self.after_blank = false;
            return;
        }
        let found = label_line(line.text);
        let taken = found.is_some_and(|found| self.takes_label(found, line, number));
        if !taken {
            self.continue_value(line);
        }
        self.after_blank = false;
    }

    fn takes_label(&mut self, found: LabelLine<'_>, line: Line<'_>, number: usize) -> bool {
        let label = |name: &str| Label {
            name: name.to_owned(),
            lines: Some(found.value.to_owned()).filter(|value| !value.is_empty()).into_iter().collect(),
            span: line.start..line.end(),
            line: number,
            is_item: found.is_item,
        };
        if let Some(name) = found.among(&MILESTONE_LABELS).filter(|_| found.indent <= 1) {
            self.block.labels.push(label(name));
            self.open = Open::Milestone;
            return true;
        }
        if let Some(name) = found.among(&DIRECTION_LABELS) {
            if name == DIRECTION_LABELS[0] {
                self.block.directions.push(vec![label(name)]);
                self.nested_at = None;
            } else if let Some(direction) = self.block.directions.last_mut() {
                direction.push(label(name));
                self.nested_at = Some(found.indent);
            } else {
                self.block.stray.push((name.to_owned(), number));
            }
            self.open = Open::Direction;
            return true;
        }
        if !found.looks_deliberate() {
            return false;
        }
        if found.indent > 1 && self.open == Open::Direction && self.nested_at == Some(found.indent) {
            if let Some(direction) = self.block.directions.last_mut() {
                direction.push(label(found.name));
            }
            return true;
        }
        if found.indent <= 1 && self.is_own_style(found) {
            self.block.labels.push(label(found.name));
            self.open = Open::Milestone;
            return true;
        }
        false
    }

    /// An unknown label as a list item counts only where the known ones are list items too: an entry of a list of
    /// pointers, such as `- Round 3: …`, would otherwise end the list.
    fn is_own_style(&self, found: LabelLine<'_>) -> bool {
        let in_pointers = self.open == Open::Milestone
            && self.block.labels.last().is_some_and(|label| label.name == "Completion pointers");
        let uses_items = self.block.labels.first().is_some_and(|label| label.is_item);
        !found.is_item || (!in_pointers && self.open != Open::Nothing && uses_items)
    }

    fn continue_value(&mut self, line: Line<'_>) {
        let label = match self.open {
            Open::Nothing => None,
            Open::Milestone => self.block.labels.last_mut(),
            Open::Direction => self.block.directions.last_mut().and_then(|labels| labels.last_mut()),
        };
        let Some(label) = label else { return };
        let is_item = list_item(line.text).is_some();
        let may_follow_blank = is_item && label.lines.last().is_none_or(|last| list_item(last).is_some());
        if self.after_blank && !may_follow_blank {
            self.open = Open::Nothing;
            return;
        }
        label.lines.push(line.text.trim().to_owned());
        label.span.end = line.end();
    }
}
