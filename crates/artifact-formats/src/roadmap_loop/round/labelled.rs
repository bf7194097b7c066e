//! Labelled Markdown: sections under headings, `Label: value` lines as list items or bare, wrapped values, lists below a
//! label, and `none` for nothing. It knows how such text is laid out, not which sections a file has.

use std::cell::RefCell;

use crate::fault::excerpt;
use crate::faults::Faults;
use crate::fields::Choice;
use crate::markdown::{Heading, headings, without_comments};

/// One Markdown file being read. Faults are collected with the line they stand on.
pub(super) struct Labelled<'t> {
    file: &'static str,
    text: &'t str,
    headings: Vec<Heading<'t>>,
    faults: RefCell<Vec<String>>,
}

/// The lines under one heading.
pub(super) struct Section<'t, 'd> {
    document: &'d Labelled<'t>,
    pub(super) title: &'static str,
    lines: Vec<Line<'t>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) number: usize,
    pub(super) text: &'t str,
}

/// One label with what stands behind and below it.
#[derive(Debug, Clone)]
pub(super) struct Label<'t> {
    pub(super) name: &'static str,
    pub(super) line: usize,
    inline: &'t str,
    pub(super) below: Vec<Line<'t>>,
    indent: usize,
    is_item: bool,
}

/// The text without comments, for these may hold the template's own examples.
pub(super) fn readable(file: &str, text: &str) -> Result<String, Faults> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    without_comments(text)
        .map_err(|line| Faults::one(file, format!("line {line}: a comment is opened and not closed")))
}

impl<'t> Labelled<'t> {
    pub(super) fn read(file: &'static str, text: &'t str) -> Self {
        Self { file, text, headings: headings(text), faults: RefCell::new(Vec::new()) }
    }

    /// The section of that title, at whatever level. Two of them contradict each other, so that is a fault.
    pub(super) fn optional<'d>(&'d self, title: &'static str) -> Option<Section<'t, 'd>> {
        let mut positions = (0..self.headings.len()).filter(|at| self.headings[*at].is(title));
        let first = positions.next()?;
        if let Some(second) = positions.next() {
            let line = self.line_of(self.headings[second].line_start);
            self.report(format!("line {line}: there is a second \"### {title}\"; keep one"));
        }
        let heading = self.headings[first];
        let end = self.headings[first + 1..].iter().find(|next| next.level <= heading.level);
        let end = end.map_or(self.text.len(), |next| next.line_start);
        let first_line = self.line_of(heading.content_start);
        let lines = self.text[heading.content_start..end].lines().enumerate();
        let lines = lines.map(|(number, text)| Line { number: first_line + number, text }).collect();
        Some(Section { document: self, title, lines })
    }

    pub(super) fn required<'d>(&'d self, title: &'static str) -> Option<Section<'t, 'd>> {
        let found = self.optional(title);
        if found.is_none() {
            self.report(format!("the section \"### {title}\" is required and absent"));
        }
        found
    }

    pub(super) fn report(&self, sentence: String) {
        self.faults.borrow_mut().push(sentence);
    }

    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Faults> {
        Faults::unless_empty(self.file, self.faults.into_inner(), || value)
    }

    /// What was found so far, taken out, for a reader that gives it another meaning.
    pub(super) fn take_faults(&self) -> Vec<String> {
        self.faults.take()
    }

    fn line_of(&self, offset: usize) -> usize {
        self.text[..offset].matches('\n').count() + 1
    }
}

impl<'t> Section<'t, '_> {
    pub(super) fn lines(&self) -> &[Line<'t>] {
        &self.lines
    }

    /// The section's words without blank lines around them.
    pub(super) fn text(&self) -> String {
        let text: Vec<&str> = self.lines.iter().map(|line| line.text).collect();
        text.join("\n").trim().to_owned()
    }

    pub(super) fn has_words(&self) -> bool {
        self.lines.iter().any(|line| !line.text.trim().is_empty())
    }

    /// The section's labels; a label that stands there twice is a fault, for either could be meant.
    pub(super) fn labels(&self, known: &[&'static str]) -> Labels<'t, '_> {
        let found = labels(&self.lines, known);
        for (at, label) in found.iter().enumerate() {
            if found[..at].iter().any(|before| before.name == label.name) {
                self.report(label.line, &format!("\"{}:\" stands here a second time", label.name));
            }
        }
        Labels { section: self, found }
    }

    pub(super) fn report(&self, line: usize, message: &str) {
        self.document.report(format!("line {line} (### {}): {message}", self.title));
    }
}

/// The labels of a section, asked by name.
pub(super) struct Labels<'t, 's> {
    section: &'s Section<'t, 's>,
    found: Vec<Label<'t>>,
}

impl<'t> Labels<'t, '_> {
    pub(super) fn get(&self, name: &str) -> Option<&Label<'t>> {
        self.found.iter().find(|label| label.name == name)
    }

    pub(super) fn required(&self, name: &'static str) -> Option<&Label<'t>> {
        let found = self.get(name);
        if found.is_none() {
            let section = self.section.title;
            let sentence = format!("### {section}: the label \"{name}:\" is required and absent");
            self.section.document.report(sentence);
        }
        found
    }

    /// A value on one line, without backticks around it; empty is a fault.
    pub(super) fn filled(&self, name: &'static str) -> String {
        let Some(label) = self.required(name) else { return String::new() };
        let text = label.text().unwrap_or_default();
        if text.is_empty() {
            self.section.report(label.line, &format!("\"{name}:\" must not be empty"));
        }
        text
    }

    /// Ids behind a label that must be there; `none` is no id.
    pub(super) fn ids(&self, name: &'static str) -> Vec<String> {
        self.required(name).map(Label::ids).unwrap_or_default()
    }

    pub(super) fn choice<C: Choice>(&self, name: &'static str) -> Option<C> {
        let label = self.required(name)?;
        let found = label.word().and_then(|word| C::spelled(&word));
        if found.is_none() {
            let found = excerpt(&label.all_words());
            let message = format!("\"{name}:\" must be one of {}; found {found}", C::names().join(", "));
            self.section.report(label.line, &message);
        }
        found
    }
}

impl<'t> Label<'t> {
    /// A value that was found elsewhere, to be taken apart like one behind a label.
    pub(super) fn of_value(name: &'static str, line: usize, inline: &'t str) -> Self {
        Self { name, line, inline, below: Vec::new(), indent: 0, is_item: false }
    }

    /// All words on one line; nothing for `none`. Backticks go where they enclose the whole.
    pub(super) fn text(&self) -> Option<String> {
        let words = self.all_words();
        let bare = unquoted(&words).to_owned();
        (!bare.is_empty() && !is_none(&words)).then_some(bare)
    }

    /// The items of a list below the label, or the one value behind it.
    pub(super) fn entries(&self) -> Vec<String> {
        let items = items(&self.below);
        let entries =
            if self.inline.trim().is_empty() && !items.is_empty() { items } else { vec![self.all_words()] };
        let entries = entries.iter().filter(|entry| !is_none(entry));
        entries.map(|entry| unquoted(entry).to_owned()).filter(|entry| !entry.is_empty()).collect()
    }

    /// Ids or paths, separated by commas or as a list.
    pub(super) fn ids(&self) -> Vec<String> {
        let entries = self.entries();
        let parts = entries.iter().flat_map(|entry| entry.split(','));
        parts
            .map(|part| unquoted(part.trim_end_matches(['.', ' '])).to_owned())
            .filter(|id| !id.is_empty())
            .collect()
    }

    /// Commands: each span in backticks, or each item as it stands.
    pub(super) fn commands(&self) -> Vec<String> {
        let entries = match items(&self.below) {
            items if self.inline.trim().is_empty() && !items.is_empty() => items,
            _ => vec![self.all_words()],
        };
        let entries = entries.into_iter().filter(|entry| !entry.is_empty() && !is_none(entry));
        entries
            .flat_map(|entry| {
                let spans = code_spans(&entry);
                if spans.is_empty() { vec![entry] } else { spans }
            })
            .collect()
    }

    /// The value where it is one word, a remark behind a full stop or in brackets left out.
    pub(super) fn word(&self) -> Option<String> {
        single_word(&self.all_words())
    }

    pub(super) fn all_words(&self) -> String {
        let below = self.below.iter().map(|line| without_mark(line.text).1);
        let words = std::iter::once(self.inline).chain(below);
        words.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }
}

/// `none`, also with a remark behind it.
pub(super) fn is_none(words: &str) -> bool {
    matches!(single_word(words).as_deref(), Some("none" | "n/a"))
}

/// Labels in lines of a text. A value goes on until the next label, an unknown one included, or a blank line.
pub(super) fn labels<'t>(lines: &[Line<'t>], known: &[&'static str]) -> Vec<Label<'t>> {
    let mut found: Vec<Label<'t>> = Vec::new();
    let mut open = false;
    let mut after_blank = false;
    let mut in_code = false;
    for line in lines {
        let bare = line.text.trim_start();
        let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
        if is_fence || in_code {
            // What looks like a label in code is code; it belongs to the value before it.
            found.last_mut().filter(|_| open).into_iter().for_each(|label| label.below.push(*line));
            in_code ^= is_fence;
        } else if let Some(label) = label_of(*line, known) {
            found.push(label);
            open = true;
        } else if let Some(label) = found.last_mut().filter(|_| open) {
            if line.text.trim().is_empty() {
                // A blank line between a label and its list is common; one behind a value ends it.
                open = label.inline.trim().is_empty();
            } else if label.continues_with(line.text, after_blank) {
                label.below.push(*line);
            } else {
                open = false;
            }
        }
        after_blank = line.text.trim().is_empty();
    }
    found
}

impl Label<'_> {
    fn continues_with(&self, line: &str, after_blank: bool) -> bool {
        let (is_item, words) = without_mark(line);
        let indent = indent_of(line);
        if indent > self.indent {
            return true;
        }
        match (is_item, self.is_item) {
            (true, false) => true,
            (true, true) => self.inline.trim().is_empty() && !looks_like_a_label(words),
            (false, _) => !after_blank && !looks_like_a_label(words),
        }
    }
}

fn label_of<'t>(line: Line<'t>, known: &[&'static str]) -> Option<Label<'t>> {
    let (is_item, words) = without_mark(line.text);
    let bare = words.trim_start_matches(['*', '_', '`']);
    for name in known {
        let Some(start) = bare.get(..name.len()) else { continue };
        if !start.eq_ignore_ascii_case(name) {
            continue;
        }
        // `**Label:** value` and `**Label**: value` are both written.
        let rest = bare[name.len()..].trim_start_matches(['*', '_', '`']);
        if let Some(value) = rest.strip_prefix(':') {
            let inline = value.trim_start_matches(['*', '_']).trim();
            let indent = indent_of(line.text);
            return Some(Label { name, line: line.number, inline, below: Vec::new(), indent, is_item });
        }
    }
    None
}

/// The items of a list with the lines that continue them, each on one line.
fn items(lines: &[Line<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut outermost = None;
    for line in lines {
        let (is_item, words) = without_mark(line.text);
        let indent = indent_of(line.text);
        if is_item && indent <= *outermost.get_or_insert(indent) {
            found.push(words.trim().to_owned());
        } else if let Some(last) = found.last_mut() {
            last.push(' ');
            last.push_str(words.trim());
        }
    }
    found
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether the line is an item of a list, and its words without the mark.
fn without_mark(line: &str) -> (bool, &str) {
    let bare = line.trim();
    for mark in ["- ", "* ", "+ "] {
        if let Some(words) = bare.strip_prefix(mark) {
            return (true, words.trim_start());
        }
    }
    let digits = bare.len() - bare.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    match bare[digits..].strip_prefix(". ").or_else(|| bare[digits..].strip_prefix(") ")) {
        Some(words) if (1..=3).contains(&digits) => (true, words.trim_start()),
        _ => (false, bare),
    }
}

/// A capital, a few words, a colon: what somebody else's label looks like.
fn looks_like_a_label(words: &str) -> bool {
    let bare = words.trim_start_matches(['*', '_', '`']);
    let Some((name, rest)) = bare.split_once(':') else { return false };
    let name = name.trim_end_matches(['*', '_', '`']);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '-' | '/' | '_');
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.len() <= 40
        && name.split(' ').count() <= 4
        && name.chars().all(plain)
        && (rest.is_empty() || rest.starts_with([' ', '*']))
}

/// Text without the backticks or stars that enclose all of it.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for mark in ["`", "**"] {
        if let Some(inner) = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark))
            && !inner.contains(mark)
        {
            return inner.trim();
        }
    }
    text
}

pub(super) fn code_spans(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.map(|span| span.trim().to_owned()).filter(|span| !span.is_empty()).collect()
}

fn single_word(words: &str) -> Option<String> {
    let words = words.trim();
    let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let ended =
        rest.is_empty() || first.ends_with(['.', ',', ';', ':']) || rest.starts_with(['(', '-', '—', '–']);
    let bare = first.trim_matches(['`', '*', '_', '"', '\'', '.', ',', ';', ':', '[', ']', '<', '>']);
    (ended && !bare.is_empty()).then(|| bare.to_ascii_lowercase())
}
