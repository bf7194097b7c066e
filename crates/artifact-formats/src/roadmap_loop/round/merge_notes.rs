//! `merge.md` of a structured Markdown plane: which commits a round became. Optional bookkeeping of the controller that
//! repeats neither plan nor review; nothing is decided from it.

use std::fmt::Write;

use super::files;
use super::labelled::{Label, Labelled, labels, readable};
use crate::faults::Faults;
use crate::one_line::one_line;
use crate::roadmap_loop::closeout::CloseoutMode;

const MAX_LINE_CHARS: usize = 400;

/// What is told of one merge.
#[derive(Debug, Clone, Copy)]
pub struct MergeNotes<'a> {
    pub round_id: &'a str,
    pub branch: &'a str,
    pub branch_commit: &'a str,
    pub base_branch: &'a str,
    /// Unknown while the file is part of that very commit.
    pub squash_commit: Option<&'a str>,
    /// `approved` or `direct evidence`.
    pub decision: &'a str,
    pub closeout_mode: CloseoutMode,
    /// One line each: the command and how it ended.
    pub verification: &'a [String],
}

/// What an existing `merge.md` of either layout tells; a commit that is only described is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundMerge {
    pub round_id: Option<String>,
    pub branch: Option<String>,
    pub branch_commit: Option<String>,
    pub squash_commit: Option<String>,
    pub closeout_mode: Option<CloseoutMode>,
}

impl MergeNotes<'_> {
    pub fn render(&self) -> String {
        let line = |text: &str| one_line(text, MAX_LINE_CHARS);
        let squash = self.squash_commit.unwrap_or("the commit that adds this file");
        let semantic = match self.closeout_mode {
            CloseoutMode::SemanticUpdateRequired => "required",
            CloseoutMode::StatusOnly | CloseoutMode::None => "none",
        };
        let mut text = String::from("### Merge\n");
        for (label, value) in [
            ("Round id", self.round_id),
            ("Branch", self.branch),
            ("Branch commit", self.branch_commit),
            ("Base branch", self.base_branch),
            ("Squash commit", squash),
            ("Merge mode", "squash"),
        ] {
            let _ = writeln!(text, "- {label}: {}", line(value));
        }
        let _ = write!(
            text,
            "\n### Controller Finalization\n- Review decision: {}\n- Roadmap Closeout mode: {}\n- State update: \
             removed {} from active_rounds\n- Semantic roadmap update: {semantic}\n\n### Verification Summary\n",
            line(self.decision),
            self.closeout_mode,
            line(self.round_id),
        );
        for check in self.verification {
            let _ = writeln!(text, "- {}", line(check));
        }
        if self.verification.is_empty() {
            text.push_str("- none\n");
        }
        text
    }
}

impl FoundMerge {
    /// Both layouts that are seen, and ours. Unreadable only where the section is missing.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        let text = readable(files::MERGE, text)?;
        let document = Labelled::read(files::MERGE, &text);
        let mut found = Self::default();
        if let Some(section) = document.required("Merge") {
            let known = ["Round id", "Branch commit", "Branch", "Round commit"];
            let seen = labels(section.lines(), &known);
            let get = |name: &str| seen.iter().find(|label| label.name == name).and_then(Label::text);
            found.round_id = get("Round id");
            found.branch = get("Branch");
            found.branch_commit = get("Branch commit").or_else(|| get("Round commit")).and_then(commit);
            // The base's name stands before the words: `Master squash commit`.
            found.squash_commit = section.lines().iter().find_map(|line| {
                let (label, value) = line.text.split_once(':')?;
                label.to_ascii_lowercase().ends_with("squash commit").then(|| commit(value.to_owned()))?
            });
        }
        let modes = [("Controller Finalization", "Roadmap Closeout mode"), ("Roadmap Closeout", "Mode")];
        found.closeout_mode = modes.iter().find_map(|(title, name)| {
            let section = document.optional(title)?;
            let label = labels(section.lines(), &[*name]).into_iter().next()?;
            CloseoutMode::from_word(&label.word()?)
        });
        document.finish(Some(found))
    }
}

fn commit(text: String) -> Option<String> {
    let bare = text.trim().trim_matches(['`', '.']);
    let is_hash = (7..=64).contains(&bare.len()) && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| bare.to_owned())
}
