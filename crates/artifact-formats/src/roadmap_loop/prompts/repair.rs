//! The one repair request a role gets for files that cannot be used: what is wrong, and what was expected. How often to ask
//! is decided elsewhere.

use super::expectations::{Expected, filled};
use super::{blocks, rules};
use crate::data_block::{DATA_NOTICE, inline_code};
use crate::roadmap_loop::round::Faults;

#[derive(Debug, Clone, Copy)]
pub struct RepairPrompt<'a> {
    pub expected: Expected<'a>,
    /// Absolute path of the worktree, or of the outbox for the investigator's answer.
    pub place: &'a str,
    /// Empty: there was nothing at all.
    pub faults: &'a [Faults],
    /// Sentences beside the faults, such as why a decision could not be classified.
    pub remarks: &'a [String],
}

impl RepairPrompt<'_> {
    pub fn render(&self) -> String {
        let place = inline_code(self.place);
        let place = match self.expected {
            Expected::Recovery { .. } => {
                format!("Write `recovery.json` again to {place} (`$WINDLASS_OUTBOX`), as a whole file.")
            }
            _ => format!("Write the files named below again in {place}, each as a whole."),
        };
        let mut faults = Vec::new();
        if !self.faults.is_empty() {
            faults.push(blocks::faults(self.faults));
        }
        if !self.remarks.is_empty() {
            faults.push(blocks::observations(self.remarks));
        }
        if faults.is_empty() {
            faults.push("Nothing of what is expected is there.".to_owned());
        }
        filled(
            include_str!("../../../prompts/roadmap-loop/repair.md"),
            &[
                ("role", self.expected.role()),
                ("subject", &inline_code(self.expected.subject())),
                ("where", &place),
                ("data_notice", DATA_NOTICE),
                ("faults", &faults.join("\n\n")),
                ("expectations", &self.expected.text()),
                ("rules", &rules()),
            ],
        )
    }
}
