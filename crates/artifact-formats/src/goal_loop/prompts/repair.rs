//! The one repair request a role gets for an unusable answer: what was expected, what is wrong, what it left.
//! How often to ask is decided elsewhere.

use crate::data_block::{DATA_NOTICE, data_block, inline_code};
use crate::goal_loop::item_id::ItemId;
use crate::output_text::bounded_output;
use crate::template::fill;

/// Longest part of the rejected answer that is shown again.
const SHOWN_BYTES: usize = 16 * 1024;

/// The answers that agents of this loop give in a fixed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RepairedAnswer {
    Evaluation,
    Design,
}

#[derive(Debug, Clone, Copy)]
pub struct RepairPrompt<'a> {
    pub answer: RepairedAnswer,
    pub id: &'a ItemId,
    /// Absolute path of the outbox.
    pub outbox: &'a str,
    /// `None`: there was no answer at all.
    pub faults: Option<&'a str>,
    /// The rejected text, where it can be shown.
    pub previous: Option<&'a str>,
}

impl RepairPrompt<'_> {
    pub fn render(&self) -> String {
        let name = self.answer.file_name();
        let path = format!("{}/{name}", self.outbox.trim_end_matches('/'));
        let faults = match self.faults {
            Some(faults) => data_block("faults, found by the engine", faults),
            None => format!("There is no file {} in the outbox.", inline_code(name)),
        };
        let previous = match self.previous {
            Some(text) => data_block(&format!("{name} as you left it"), &bounded_output(text, SHOWN_BYTES)),
            None => "not available".to_owned(),
        };
        let values = [
            ("role", self.answer.role()),
            ("id", &inline_code(self.id.as_str())),
            ("answer", &inline_code(name)),
            ("answer_path", &inline_code(&path)),
            ("data_notice", DATA_NOTICE),
            ("faults", &faults),
            ("expectations", &self.answer.expectations(self.id)),
            ("previous", &previous),
        ];
        fill(include_str!("../../../prompts/goal-loop/repair.md"), &values)
            .expect("the repair template is filled in by a test with these names")
    }
}

impl RepairedAnswer {
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation.json",
            Self::Design => "design.json",
        }
    }

    const fn role(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluator",
            Self::Design => "planner",
        }
    }

    /// What the answer must hold, the same words in the prompt and in the repair request.
    pub(super) fn expectations(self, id: &ItemId) -> String {
        let template = match self {
            Self::Evaluation => include_str!("../../../prompts/goal-loop/expect-evaluation.md"),
            Self::Design => include_str!("../../../prompts/goal-loop/expect-design.md"),
        };
        let filled = fill(template, &[("id", &inline_code(id.as_str()))])
            .expect("the expectation templates are filled in by a test with this name");
        filled.trim_end().to_owned()
    }
}
