//! Labels of a roadmap's Markdown (`Milestone id: …`), in every dress that real roadmaps give them: as list items, bold,
//! with values in backticks or wrapped over lines. It knows how a label is spelled, not which are required.

use std::ops::Range;

use crate::markdown::list_item;

pub(crate) const MILESTONE_LABELS: [&str; 8] = [
    "Milestone id",
    "Depends on",
    "Intent",
    "Completion signal",
    "Completion pointers",
    "Parallel lane",
    "Coordination notes",
    "Candidate directions",
];
pub(crate) const DIRECTION_LABELS: [&str; 7] = [
    "Direction id",
    "Summary",
    "Why it matters now",
    "Preconditions",
    "Parallel hints",
    "Boundary notes",
    "Extraction notes",
];

/// A label with its value and the lines it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// As in the lists above where it is one of those, else as it was found.
    pub(crate) name: String,
    /// The value line by line, without blanks around each.
    pub(crate) lines: Vec<String>,
    /// From the start of its first line to the end of its last.
    pub(crate) span: Range<usize>,
    pub(crate) line: usize,
    pub(crate) is_item: bool,
}

/// The first line of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelLine<'a> {
    pub(crate) indent: usize,
    pub(crate) is_item: bool,
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl LabelLine<'_> {
    pub(crate) fn among(&self, known: &[&'static str]) -> Option<&'static str> {
        known.iter().find(|name| name.eq_ignore_ascii_case(self.name)).copied()
    }

    /// Words that look like a label of a kind nobody knows, and not like the beginning of a sentence.
    pub(crate) fn looks_deliberate(&self) -> bool {
        self.name.starts_with(|letter: char| letter.is_ascii_uppercase()) && self.name.split(' ').count() <= 4
    }
}

/// A line that begins with words and a colon.
pub(crate) fn label_line(line: &str) -> Option<LabelLine<'_>> {
    let indent = line.len() - line.trim_start().len();
    let (is_item, words) = match list_item(line) {
        Some((_, words)) => (true, words),
        None => (false, line.trim()),
    };
    let (name, value) = words.split_once(':')?;
    let name = name.trim_start_matches("**").trim_end_matches("**").trim();
    let value = value.strip_prefix("**").unwrap_or(value);
    let is_name = !name.is_empty()
        && name.len() <= 40
        && name.chars().all(|letter| letter.is_ascii_alphabetic() || matches!(letter, ' ' | '-'));
    let stands_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_name && stands_apart).then(|| LabelLine { indent, is_item, name, value: value.trim() })
}

impl Label {
    /// The value on one line.
    pub(crate) fn value(&self) -> String {
        self.lines.join(" ")
    }

    /// The value without backticks around it.
    pub(crate) fn id(&self) -> String {
        bare_id(&self.value()).to_owned()
    }

    /// Ids with commas between them or as list items; `none` and nothing are no ids.
    pub(crate) fn ids(&self) -> Vec<String> {
        let parts = self.lines.iter().flat_map(|line| {
            let words = list_item(line).map_or(line.as_str(), |(_, words)| words);
            words.split(',').map(bare_id)
        });
        parts.filter(|id| !id.is_empty() && !is_none(id)).map(str::to_owned).collect()
    }

    /// Nothing where the value is empty or says so.
    pub(crate) fn prose(&self) -> Option<String> {
        Some(self.value()).filter(|value| !value.is_empty() && !is_none(value))
    }
}

fn bare_id(text: &str) -> &str {
    let text = text.trim().trim_end_matches('.').trim_end();
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text).trim()
}

/// The words that stand where a list or a value is still empty.
pub(crate) fn is_none(text: &str) -> bool {
    let words = text.trim().trim_matches(['`', '*', '_', '(', ')']).trim_end_matches('.');
    words.eq_ignore_ascii_case("none") || words.eq_ignore_ascii_case("none yet")
}
