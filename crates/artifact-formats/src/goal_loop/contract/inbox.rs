//! The section of the contract that the loop itself edits: what it hands back to a person, one line per item.
//! Every other byte of the file stays.

use std::fmt;

use super::Contract;
use crate::faults::Faults;
use crate::goal_loop::item_id::ItemId;
use crate::markdown::{Bullet, bullets};
use crate::one_line::one_line;
use crate::text_lines::{appended, newline_of};

const INBOX_TITLE: &str = "Triage Inbox";
const EMPTY: &str = "(empty)";
/// Longest cause and suggestion; the whole story is in the report.
const MAX_FIELD_CHARS: usize = 240;

/// `- F003 — name · cause: … · next: … · run 2026-11-16T10:00:00Z`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxLine {
    pub id: ItemId,
    pub name: String,
    pub cause: String,
    pub next: String,
    /// When the run started that left the line.
    pub run: String,
}

impl InboxLine {
    /// Reads the words of a list item; fields that are not there come out empty.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(" · ");
        let head = parts.next()?;
        let (id, name) = head.split_once(" — ").unwrap_or((head, ""));
        let mut line = Self {
            id: ItemId::parse(id.trim().trim_matches('*'))?,
            name: name.trim().to_owned(),
            cause: String::new(),
            next: String::new(),
            run: String::new(),
        };
        for part in parts {
            let part = part.trim();
            if let Some(cause) = part.strip_prefix("cause:") {
                cause.trim().clone_into(&mut line.cause);
            } else if let Some(next) = part.strip_prefix("next:") {
                next.trim().clone_into(&mut line.next);
            } else if let Some(run) = part.strip_prefix("run ") {
                run.trim().clone_into(&mut line.run);
            }
        }
        Some(line)
    }
}

impl fmt::Display for InboxLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |text: &str| {
            // Foreign words must neither end their field nor hide the rest of the file in a comment.
            one_line(text, MAX_FIELD_CHARS).replace(" · ", ", ").replace("<!--", "<! --")
        };
        write!(f, "- {} — {} · cause: {}", self.id, field(&self.name), field(&self.cause))?;
        write!(f, " · next: {} · run {}", field(&self.next), field(&self.run))
    }
}

impl Contract {
    /// Puts a line into the inbox; an older one of the same item gives way to it.
    pub fn with_inbox_line(&self, line: &InboxLine) -> Result<Self, Faults> {
        let newline = newline_of(&self.source);
        let Some(section) = &self.inbox_section else {
            let block = format!("## {INBOX_TITLE}\n{line}\n");
            return Self::parse(&appended(&self.source, &block));
        };
        let mut text = self.source.clone();
        let (start, end) = (section.start, section.end);
        let own: Vec<Bullet> = self.lines_of(&line.id);
        if let Some((first, rest)) = own.split_first() {
            for bullet in rest.iter().rev() {
                text.replace_range(bullet.span.clone(), "");
            }
            let ending = if self.source[first.span.clone()].ends_with('\n') { newline } else { "" };
            text.replace_range(first.span.clone(), &format!("{line}{ending}"));
            return Self::parse(&text);
        }
        if let Some(at) = self.visible[start..end].find(EMPTY) {
            text.replace_range(start + at..start + at + EMPTY.len(), &line.to_string());
            return Self::parse(&text);
        }
        let filled = start + self.source[start..end].trim_end().len();
        let lead = if filled > start { newline } else { "" };
        let ending =
            if self.source[filled..].starts_with(['\n', '\r']) || lead == newline { "" } else { newline };
        text.insert_str(filled, &format!("{lead}{line}{ending}"));
        Self::parse(&text)
    }

    /// Takes an item's line out; an inbox without lines says `(empty)` again.
    pub fn without_inbox_line(&self, id: &ItemId) -> Result<Self, Faults> {
        let Some(section) = &self.inbox_section else { return Ok(self.clone()) };
        let own = self.lines_of(id);
        if own.is_empty() {
            return Ok(self.clone());
        }
        let others = bullets(&self.visible[section.clone()], section.start).len() - own.len();
        let mut text = self.source.clone();
        for (number, bullet) in own.iter().enumerate().rev() {
            let ending =
                if self.source[bullet.span.clone()].ends_with('\n') { newline_of(&self.source) } else { "" };
            let instead = if number == 0 && others == 0 { format!("{EMPTY}{ending}") } else { String::new() };
            text.replace_range(bullet.span.clone(), &instead);
        }
        Self::parse(&text)
    }

    fn lines_of(&self, id: &ItemId) -> Vec<Bullet> {
        let Some(section) = &self.inbox_section else { return Vec::new() };
        let all = bullets(&self.visible[section.clone()], section.start);
        all.into_iter()
            .filter(|bullet| InboxLine::parse(&bullet.text).is_some_and(|line| line.id == *id))
            .collect()
    }
}
