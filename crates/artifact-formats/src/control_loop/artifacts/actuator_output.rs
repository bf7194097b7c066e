//! `actuator-output.md`: what the actuator says it did. The change itself is taken from the tree, never from here.

use std::fmt::Write;

use crate::control_loop::front_matter;
use crate::data_block::inline_code;
use crate::faults::{Parsed, readable_text};
use crate::markdown::{contained, section, without_blank_lines};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActuatorOutput {
    pub what_was_done: String,
    pub files_changed: Vec<ChangedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    pub change: FileChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileChange {
    Modified,
    Created,
    Deleted,
}

impl FileChange {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::Created => "created",
            Self::Deleted => "deleted",
        }
    }
}

impl ActuatorOutput {
    pub const FILE_NAME: &'static str = "actuator-output.md";

    pub fn render(&self) -> String {
        let mut file = format!(
            "# Actuator Output\n\n## What Was Done\n\n{}\n\n## Files Changed\n\n",
            contained(&self.what_was_done)
        );
        for changed in &self.files_changed {
            let _ = writeln!(file, "- {} ({})", inline_code(&changed.path), changed.change.word());
        }
        if self.files_changed.is_empty() {
            file.push_str("None.\n");
        }
        file
    }

    /// Whatever an agent wrote as its report is taken; what is missing from it is a note, for nothing depends on it.
    pub fn parse(bytes: &[u8]) -> Parsed<Self> {
        let text = readable_text(Self::FILE_NAME, bytes)?;
        let body = front_matter::split(text).body;
        let mut notes = Vec::new();
        let done = section(
            body,
            |heading| heading.level == 2 && heading.is("What Was Done"),
            |heading| heading.level <= 2,
        );
        let what_was_done = done.unwrap_or_else(|| {
            notes.push("there is no section `## What Was Done`; the whole text was taken".to_owned());
            without_blank_lines(body)
        });
        let files = section(
            body,
            |heading| heading.level == 2 && heading.is("Files Changed"),
            |heading| heading.level <= 2,
        );
        if files.is_none() {
            notes.push("there is no section `## Files Changed`".to_owned());
        }
        let files_changed = files.unwrap_or_default().lines().filter_map(changed_file).collect();
        Ok((Self { what_was_done: what_was_done.to_owned(), files_changed }, notes))
    }
}

/// `` - `path` (modified) ``
fn changed_file(line: &str) -> Option<ChangedFile> {
    let item = line.trim().strip_prefix(['-', '*'])?.trim_start();
    let (path, rest) = item.strip_prefix('`')?.split_once('`')?;
    let rest = rest.trim_start().strip_prefix('(')?;
    let change = [FileChange::Modified, FileChange::Created, FileChange::Deleted]
        .into_iter()
        .find(|change| rest.starts_with(change.word()))?;
    // A path that cannot stand between backticks was written as a JSON text.
    let path = match serde_json::from_str::<String>(path) {
        Ok(decoded) if path.starts_with('"') => decoded,
        _ => path.to_owned(),
    };
    (!path.is_empty()).then_some(ChangedFile { path, change })
}
