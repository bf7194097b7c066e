//! The milestones of a roadmap of the older contract, under headings or as a numbered list, with every word that stands below
//! each: labels where they are known, everything else as its notes. Nothing is guessed, and nothing is passed over in silence.

use super::roadmap::{Block, Direction, Milestone, Place, RoadmapText, is_none, label_line};
use crate::control_loop::slug;
use crate::markdown::{Line, lines, list_item};
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::text_lines::without_mark;

/// A milestone as an old roadmap spells it.
pub(super) struct Old {
    /// Nothing where its status is not stated.
    pub(super) milestone: Option<Milestone>,
    pub(super) directions: Vec<Direction>,
    /// Whether it had an id; else one is proposed.
    pub(super) is_named: bool,
    pub(super) title: String,
    pub(super) line: usize,
    number: Option<u32>,
    /// The line itself, which becomes the selector of the milestone's anchors.
    pub(super) selector: String,
}

/// What was read, and what of it needs a person.
pub(super) struct OldRoadmap {
    pub(super) milestones: Vec<Old>,
    pub(super) open: Vec<String>,
    pub(super) notes: Vec<String>,
}

pub(super) fn read(roadmap: &str) -> OldRoadmap {
    let text = RoadmapText::read("roadmap.md", roadmap);
    let (milestones, outside) = if text.blocks.is_empty() { numbered(roadmap) } else { headed(&text) };
    let mut found = OldRoadmap { milestones, open: Vec::new(), notes: Vec::new() };
    if found.milestones.is_empty() {
        found.open.push("roadmap.md has no milestones that could be recognised".to_owned());
        return found;
    }
    if outside > 0 {
        let lines = if outside == 1 { "line" } else { "lines" };
        found.notes.push(format!(
            "roadmap.md: {outside} {lines} outside of its milestones are not carried over; they stay in the old file"
        ));
    }
    settle_dependencies(&mut found);
    found
}

/// Names of others by number, title or id become ids; what names nobody is for a person.
fn settle_dependencies(found: &mut OldRoadmap) {
    let known: Vec<(Option<u32>, String, String)> = found
        .milestones
        .iter()
        .filter_map(|old| Some((old.number, old.title.to_lowercase(), old.milestone.as_ref()?.id.clone())))
        .collect();
    let named = |word: &str| {
        let bare = word.to_lowercase();
        let digits = bare
            .trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, ' ' | '#'))
            .parse::<u32>()
            .ok();
        let found = known.iter().find(|(number, title, id)| {
            *id == word || *title == bare || (digits.is_some() && *number == digits)
        });
        found.map(|(_, _, id)| id.clone())
    };
    for old in &mut found.milestones {
        let Some(milestone) = &mut old.milestone else { continue };
        let mut settled: Vec<String> = Vec::new();
        for word in std::mem::take(&mut milestone.depends_on) {
            match named(&word) {
                Some(id) if !settled.contains(&id) => settled.push(id),
                Some(_) => {}
                None => found.open.push(format!(
                    "roadmap.md:{}: \"{}\" depends on \"{word}\", which names no milestone",
                    old.line, old.title
                )),
            }
        }
        milestone.depends_on = settled;
    }
}

fn proposed(index: usize, title: &str) -> String {
    format!("milestone-{:02}-{}", index + 1, slug(title))
}

/// Comes back with how many lines stand outside of every milestone, headings aside.
fn headed(text: &RoadmapText) -> (Vec<Old>, usize) {
    let clean = without_mark(text.text());
    let spans: Vec<_> = text.blocks.iter().map(|block| block.span.clone()).collect();
    let outside = lines(&clean)
        .iter()
        .filter(|line| !line.is_blank() && !line.is_heading())
        .filter(|line| !spans.iter().any(|span| span.contains(&line.start)))
        .count();
    let known = text.roadmap();
    let one = |(index, block): (usize, &Block)| {
        let selector = text.text()[block.heading.clone()].trim().to_owned();
        let id = block.id().unwrap_or_else(|| proposed(index, &block.title));
        let milestone = block.milestone(&id).map(|milestone| with_every_word(milestone, block, &clean));
        let directions = match block.id() {
            Some(id) => known.directions_of(&id).cloned().collect(),
            None => block.directions(&id),
        };
        Old {
            directions: directions.into_iter().map(with_extra).collect(),
            milestone,
            is_named: block.id().is_some(),
            title: block.title.clone(),
            line: block.line,
            number: number_in(&selector),
            selector,
        }
    };
    (text.blocks.iter().enumerate().map(one).collect(), outside)
}

/// Labels nobody knows, pointers and prose that stands below no label become notes.
fn with_every_word(milestone: Milestone, block: &Block, text: &str) -> Milestone {
    let labels = block.labels.iter().chain(block.directions.iter().flatten());
    let spans: Vec<_> = labels.map(|label| label.span.clone()).chain([block.heading.clone()]).collect();
    let start = block.span.start;
    let prose = lines(&text[block.span.clone()]).into_iter().filter(|line| {
        let at = start + line.start;
        !line.is_blank() && !spans.iter().any(|span| span.contains(&at))
    });
    let mut words: Vec<String> = milestone.coordination_notes.iter().cloned().collect();
    words.extend(milestone.completion_pointers.iter().map(|text| format!("Completion pointers: {text}")));
    words.extend(milestone.extra.iter().map(|(name, value)| format!("{name}: {value}")));
    words.extend(prose.map(|line| line.text.trim().trim_start_matches('#').trim().to_owned()));
    Milestone { coordination_notes: notes(&words), extra: Vec::new(), ..milestone }
}

fn with_extra(direction: Direction) -> Direction {
    let extra = direction.extra.iter().map(|(name, value)| format!("{name}: {value}"));
    let words: Vec<String> = direction.extraction_notes.iter().cloned().chain(extra).collect();
    Direction { extraction_notes: notes(&words), extra: Vec::new(), ..direction }
}

fn notes(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join("; "))
}

/// `### [done] 1. Title` or `### 1. [done] Title`.
fn number_in(heading: &str) -> Option<u32> {
    let words = heading.trim_start_matches('#').trim_start();
    let words = match words.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.trim_start(),
        None => words,
    };
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    words[digits..].starts_with(['.', ')']).then(|| words[..digits].parse().ok()).flatten()
}

/// `1. [completed] Title` with what stands below it, the list that the first planes kept instead of headings.
fn numbered(text: &str) -> (Vec<Old>, usize) {
    let clean = without_mark(text);
    let mut items: Vec<(Item<'_>, Vec<&str>)> = Vec::new();
    let mut outside = 0;
    let mut after_blank = false;
    let all = lines(&clean);
    for (index, line) in all.iter().enumerate() {
        if let Some(item) = item(index + 1, line) {
            items.push((item, Vec::new()));
            after_blank = false;
            continue;
        }
        if line.is_blank() {
            after_blank = true;
            continue;
        }
        let is_inside = !line.is_heading() && (line.text.starts_with([' ', '\t']) || !after_blank);
        match items.last_mut().filter(|_| is_inside) {
            Some((_, below)) => below.push(line.text.trim()),
            None if line.is_heading() => after_blank = true,
            None => outside += 1,
        }
    }
    let old = items.iter().enumerate().map(|(index, (item, below))| of_item(index, item, below));
    (old.collect(), outside)
}

struct Item<'a> {
    number: u32,
    status: Option<MilestoneStatus>,
    title: &'a str,
    line: usize,
    selector: &'a str,
}

fn item<'a>(number_of_line: usize, line: &Line<'a>) -> Option<Item<'a>> {
    let words = line.text.trim_end();
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let item = words[digits..].strip_prefix(". ").or_else(|| words[digits..].strip_prefix(") "));
    let item = item.filter(|_| digits > 0 && !line.is_code)?.trim_start();
    let (word, title) = match item.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((word, title)) => (word.trim().to_ascii_lowercase(), title.trim()),
        None => (String::new(), item),
    };
    let status = match word.as_str() {
        "completed" | "complete" => Some(MilestoneStatus::Done),
        word => MilestoneStatus::from_word(word),
    };
    let title = title.trim_matches('*').trim();
    Some(Item { number: words[..digits].parse().ok()?, status, title, line: number_of_line, selector: words })
}

fn of_item(index: usize, item: &Item<'_>, below: &[&str]) -> Old {
    let mut milestone = Milestone {
        id: proposed(index, item.title),
        title: item.title.to_owned(),
        status: item.status.unwrap_or(MilestoneStatus::Pending),
        depends_on: dependencies_in_title(item.title),
        lane: None,
        intent: None,
        completion_signal: None,
        completion_pointers: None,
        coordination_notes: None,
        status_anchor: None,
        completion_anchor: None,
        direction_ids: Vec::new(),
        extra: Vec::new(),
        place: Place { pointer: String::new(), line: item.line },
    };
    let mut is_named = false;
    let mut words: Vec<String> = Vec::new();
    for line in below {
        let label = label_line(line);
        let value = label.map(|label| bare(label.value)).unwrap_or_default();
        let name = label.map(|label| label.name.to_ascii_lowercase()).unwrap_or_default();
        match name.as_str() {
            "depends on" => milestone.depends_on.extend(names(&value)),
            "milestone id" if !value.is_empty() => {
                milestone.id = value;
                is_named = true;
            }
            "intent" => milestone.intent = Some(value),
            "completion signal" => milestone.completion_signal = Some(value),
            "parallel lane" => milestone.lane = Some(value),
            _ => words.push(list_item(line).map_or(*line, |(_, words)| words).to_owned()),
        }
    }
    milestone.coordination_notes = notes(&words);
    Old {
        milestone: item.status.map(|_| milestone),
        directions: Vec::new(),
        is_named,
        title: item.title.to_owned(),
        line: item.line,
        number: Some(item.number),
        selector: item.selector.to_owned(),
    }
}

fn bare(value: &str) -> String {
    value.trim().trim_matches('`').to_owned()
}

/// `Load lazily (depends on 1, 2)`: the title keeps its words.
fn dependencies_in_title(title: &str) -> Vec<String> {
    let lower = title.to_ascii_lowercase();
    let Some(at) = lower.find("(depends on ") else { return Vec::new() };
    let rest = &title[at + "(depends on ".len()..];
    names(rest.split(')').next().unwrap_or_default())
}

fn names(text: &str) -> Vec<String> {
    let parts = text.split([',', ';']).flat_map(|part| part.split(" and "));
    let parts = parts.map(|part| part.trim().trim_end_matches('.').trim_matches('`').trim());
    parts.filter(|part| !part.is_empty() && !is_none(part)).map(str::to_owned).collect()
}
