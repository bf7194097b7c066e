//! The list behind an anchor: found by a fragment of text, read item by item, and lengthened by exactly one item.
//! It knows Markdown lists and labels, not what the items mean.

use std::ops::Range;

use crate::fault::excerpt;
use crate::markdown::{Line, lines, list_item};
use crate::roadmap_loop::plane::roadmap::{DIRECTION_LABELS, MILESTONE_LABELS, is_none, label_line};
use crate::text_lines::newline_of;

/// Where the selector's words end: inside the milestone's own block if they are there, else in the whole file.
pub(crate) fn resolve(text: &str, selector: &str, block: Option<Range<usize>>) -> Result<usize, String> {
    let selector = selector.trim_end();
    let hits = |part: &str, offset: usize| -> Vec<usize> {
        part.match_indices(selector).map(|(at, _)| offset + at + selector.len()).collect()
    };
    let own = block.map(|block| hits(&text[block.clone()], block.start)).unwrap_or_default();
    let (found, scope) = match own.as_slice() {
        [] => (hits(text, 0), "the file"),
        _ => (own, "the milestone"),
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(format!("the selector {} is not found", excerpt(selector))),
        many => Err(format!("the selector {} is found {} times in {scope}", excerpt(selector), many.len())),
    }
}

/// The list that belongs to the line a place is on.
pub(super) struct AnchoredList {
    /// Words of each item on one line, placeholders left out.
    items: Vec<String>,
    /// `none yet` in place of a first item.
    placeholder: Option<Placeholder>,
    /// Where the next item goes.
    end: usize,
    /// What stands before an item's words.
    mark: String,
}

enum Placeholder {
    /// An item or a line of its own, without its line break.
    Line(Range<usize>),
    /// The value on the label's own line.
    Value(Range<usize>),
}

impl AnchoredList {
    /// `place` is on the anchor's line; the list ends before `limit` whatever stands there.
    pub(super) fn at(text: &str, place: usize, limit: usize) -> Self {
        let all = lines(text);
        let position = all.iter().position(|line| place <= line.end() && place >= line.start);
        let position = all.iter().position(|line| place < line.end()).or(position).unwrap_or_default();
        let Some(anchor) = all.get(position) else { return Self::empty(text.len()) };
        let kind = Kind::of(anchor);
        let mut list = Self { mark: kind.first_mark(), ..Self::empty(anchor.end()) };
        list.placeholder = value_placeholder(text, anchor, kind);
        let following = all[position + 1..].iter().take_while(|line| line.start < limit);
        list.read(following, kind);
        list
    }

    fn empty(end: usize) -> Self {
        Self { items: Vec::new(), placeholder: None, end, mark: "- ".to_owned() }
    }

    fn read<'l>(&mut self, following: impl Iterator<Item = &'l Line<'l>>, kind: Kind) {
        let mut after_blank = false;
        for line in following {
            if line.is_heading() || is_known_label(line) {
                break;
            }
            if line.is_blank() {
                after_blank = true;
                continue;
            }
            let in_list = !self.items.is_empty() || matches!(self.placeholder, Some(Placeholder::Line(_)));
            let item = list_item(line.text);
            if item.is_none() && after_blank && (in_list || kind != Kind::Heading) {
                break;
            }
            let words_end = line.start + line.text.trim_end().len();
            match item {
                Some((mark, words)) if is_none(words) && self.items.is_empty() => {
                    self.mark = format!("{} ", mark.trim_end());
                    self.placeholder = Some(Placeholder::Line(line.start..words_end));
                }
                Some((mark, words)) if !self.is_nested(mark) => {
                    self.mark = format!("{} ", mark.trim_end());
                    self.items.push(words.to_owned());
                }
                None if is_none(line.text) && !in_list => {
                    self.placeholder = Some(Placeholder::Line(line.start..words_end));
                }
                _ => {
                    if let Some(last) = self.items.last_mut() {
                        *last = format!("{last} {}", line.text.trim());
                    }
                }
            }
            self.end = line.end();
            after_blank = false;
        }
    }

    /// Deeper than the items before it, so part of the last one.
    fn is_nested(&self, mark: &str) -> bool {
        let indent = |mark: &str| mark.len() - mark.trim_start().len();
        !self.items.is_empty() && indent(mark) > indent(&self.mark)
    }

    pub(super) fn holds(&self, words: &str) -> bool {
        self.items.iter().any(|item| plain_words(item) == plain_words(words))
    }

    /// The text with one more item; the rest stays to the byte.
    pub(super) fn with_item(&self, text: &str, words: &str) -> String {
        let newline = newline_of(text);
        let mut edited = text.to_owned();
        match &self.placeholder {
            Some(Placeholder::Line(span)) if self.items.is_empty() => {
                edited.replace_range(span.clone(), &format!("{}{words}", self.mark));
            }
            Some(Placeholder::Value(span)) if self.items.is_empty() => {
                edited.replace_range(span.clone(), &format!("{newline}{}{words}", self.mark));
            }
            _ => {
                let before = if text[..self.end].ends_with('\n') { "" } else { newline };
                let after = if before.is_empty() || self.end < text.len() { newline } else { "" };
                edited.insert_str(self.end, &format!("{before}{}{words}{after}", self.mark));
            }
        }
        edited
    }
}

/// What the anchor's line is; it decides where its list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heading,
    /// Its list stands below it at this indentation.
    Label {
        indent: usize,
    },
}

impl Kind {
    fn of(line: &Line<'_>) -> Self {
        if line.is_heading() {
            return Self::Heading;
        }
        let indent = line.text.len() - line.text.trim_start().len();
        let is_item = list_item(line.text).is_some();
        Self::Label { indent: if is_item { indent + 2 } else { indent } }
    }

    fn first_mark(self) -> String {
        match self {
            Self::Heading => "- ".to_owned(),
            Self::Label { indent } => format!("{}- ", " ".repeat(indent)),
        }
    }
}

fn value_placeholder(text: &str, line: &Line<'_>, kind: Kind) -> Option<Placeholder> {
    let label = label_line(line.text).filter(|_| kind != Kind::Heading)?;
    let end = line.start + line.text.trim_end().len();
    let colon = line.start + line.text.find(':')? + 1;
    let bold = if text[colon..end].starts_with("**") { 2 } else { 0 };
    is_none(label.value).then_some(Placeholder::Value(colon + bold..end))
}

fn is_known_label(line: &Line<'_>) -> bool {
    let Some(label) = label_line(line.text).filter(|_| !line.is_code) else { return false };
    label.among(&DIRECTION_LABELS).is_some()
        || (label.indent <= 1 && label.among(&MILESTONE_LABELS).is_some())
}

/// Words only: no backticks, and any white space counts as one blank.
pub(super) fn plain_words(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}
