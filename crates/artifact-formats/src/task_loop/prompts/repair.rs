//! The one repair request a role gets for an unusable artifact: what was expected, what is wrong, what it left.
//! It knows wording only; how often to ask is decided by the protocol.

use super::path_in;
use crate::data_block::{DATA_NOTICE, data_block, inline_code};
use crate::story_queue::rule_of_criteria;
use crate::task_loop::{AuditReport, Handoff, VerdictReport};
use crate::template::fill;

/// Longest part of the rejected file that is shown again; the faults name their places anyway.
const SHOWN_CHARS: usize = 16_000;

/// The artifacts that agents write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairedArtifact {
    Handoff,
    Verdict,
    Audit,
}

#[derive(Debug, Clone, Copy)]
pub struct RepairPrompt<'a> {
    pub artifact: RepairedArtifact,
    pub task_id: &'a str,
    /// Absolute path of the outbox.
    pub outbox: &'a str,
    /// `None`: the file was not there at all.
    pub faults: Option<&'a str>,
    /// The rejected text, where it can be shown.
    pub previous: Option<&'a str>,
    /// Acceptance criteria that a verdict must speak of one by one, by their ids.
    pub criteria: &'a [&'a str],
}

impl RepairPrompt<'_> {
    pub fn render(&self) -> String {
        let name = self.artifact.file_name();
        let faults = match self.faults {
            Some(faults) => data_block("faults, found by the engine", faults),
            None => format!("There is no file {name} in the outbox."),
        };
        let previous = match self.previous {
            Some(text) => data_block(&format!("{name} as you left it"), &shortened(text)),
            None => "not available".to_owned(),
        };
        let mut expectations = self.artifact.expectations(self.task_id);
        if self.artifact == RepairedArtifact::Verdict && !self.criteria.is_empty() {
            expectations = format!("{expectations}\n\n{}", rule_of_criteria(self.criteria));
        }
        let values = [
            ("role", self.artifact.role()),
            ("task_id", &inline_code(self.task_id)),
            ("artifact", &inline_code(name)),
            ("artifact_path", &path_in(self.outbox, name)),
            ("outbox_path", &format!("`$WINDLASS_OUTBOX/{name}`")),
            ("data_notice", DATA_NOTICE),
            ("faults", &faults),
            ("expectations", &expectations),
            ("previous", &previous),
        ];
        fill(include_str!("../../../prompts/repair.md"), &values)
            .expect("the repair template is filled in by a test with these names")
    }
}

impl RepairedArtifact {
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Handoff => Handoff::FILE_NAME,
            Self::Verdict => VerdictReport::FILE_NAME,
            Self::Audit => AuditReport::FILE_NAME,
        }
    }

    const fn role(self) -> &'static str {
        match self {
            Self::Handoff => "doer",
            Self::Verdict => "judge",
            Self::Audit => "auditor",
        }
    }

    /// What the file must hold, the same words in the prompt and in the repair request.
    pub(crate) fn expectations(self, task_id: &str) -> String {
        let template = match self {
            Self::Handoff => include_str!("../../../prompts/expect-handoff.md"),
            Self::Verdict => include_str!("../../../prompts/expect-verdict.md"),
            Self::Audit => include_str!("../../../prompts/expect-audit.md"),
        };
        let filled = fill(template, &[("task_id", &inline_code(task_id))])
            .expect("the expectation templates are filled in by a test with this name");
        filled.trim_end().to_owned()
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}\n(cut here)", &text[..end]),
        None => text.to_owned(),
    }
}
