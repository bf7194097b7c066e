//! `docs/LOOP.md`, the contract of a goal loop: what may be worked on, how freely, and what hands the work back.
//! It reads what a machine can hold to, and says which sentences it cannot.

mod commands;
mod inbox;
mod read;
mod scope;

use std::ops::Range;

use crate::faults::Faults;
use crate::fields::choice;
use crate::one_line::one_line;
use crate::recognised::Recognised;
use crate::template::fill;

pub use commands::PinnedCommands;
pub use inbox::InboxLine;
pub use scope::{Scope, ScopePart};

pub const CONTRACT_FILE: &str = "docs/LOOP.md";

/// The list item under Escalation that lets the loop work on after one item is blocked.
pub const PARK_AND_GO_ON: &str = "Park blocked items and go on";

#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    source: String,
    /// The text with comments blanked out, place for place.
    visible: String,
    inbox_section: Option<Range<usize>>,
    /// Free words; the mechanical goal is the rule of success.
    pub goal: String,
    pub scope: Scope,
    pub autonomy: Autonomy,
    pub verification: Vec<String>,
    /// Commands that stand under Verification.
    pub pinned: PinnedCommands,
    pub escalation: Vec<String>,
    pub on_blocked: OnBlocked,
    pub inbox: Vec<InboxLine>,
    /// What was assumed because the contract does not say it.
    pub notes: Vec<String>,
}

choice! {
    /// How much the loop may do without a person.
    Autonomy {
        /// One iteration, and nothing is committed before a person approved it.
        L1 = "L1",
        /// Goes on and commits within the scope.
        L2 = "L2",
        /// As L2, without pauses.
        L3 = "L3",
    }
}

/// What happens after an item was handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnBlocked {
    Stop,
    GoOn,
}

/// Sentences under Verification that the engine holds to, in the words of the templates.
const ENFORCED_VERIFICATION: [&str; 8] = [
    "independent evaluator subagent verdict (pass/fail per feature)",
    "independent evaluator verdict (pass/fail per feature)",
    "a separate evaluator grades each item (pass/fail)",
    "full test suite green",
    "the full test suite is green, run by the engine",
    "/pre-commit passes before any commit",
    "pre-commit passes before any commit",
    "the pre-commit checks pass before any commit",
];

const ENFORCED_ESCALATION: [&str; 9] = [
    "a dependency is blocked or unmet",
    "acceptance criteria are ambiguous/untestable",
    "acceptance criteria are unclear or cannot be tested",
    "progress would require out-of-scope edits (scope creep)",
    "going on would need edits outside the active item's files",
    "a feature fails evaluation twice with the same root cause",
    "an item fails twice for the same root cause",
    "the loop is uncertain",
    "the loop is in doubt",
];

/// Exclusions in words that the rules of scope, queue and files hold to anyway.
const ENFORCED_EXCLUSIONS: [&str; 5] = [
    "anything not listed",
    "no new features",
    "no new items",
    "no edits outside the active feature's files",
    "no edits outside the active item's files",
];

impl Contract {
    pub fn recognise(text: &str) -> Recognised<Self> {
        read::recognise(text)
    }

    pub fn parse(text: &str) -> Result<Self, Faults> {
        Self::recognise(text).or_faults(CONTRACT_FILE)
    }

    /// The file's text, byte for byte.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// A contract to be confirmed by a person before anything is built: report-only, with this set in scope.
    pub fn template(scope: &[ScopePart]) -> String {
        Self::template_pinning(scope, &PinnedCommands::default())
    }

    /// The same with commands pinned in it; those that cannot stand in a contract are left out.
    pub fn template_pinning(scope: &[ScopePart], pinned: &PinnedCommands) -> String {
        let scope: Vec<String> = scope.iter().map(ToString::to_string).collect();
        let values = [("scope", scope.join(", ")), ("pinned", pinned.bullets().unwrap_or_default())];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        fill(include_str!("../../../prompts/goal-loop/contract.md"), &values)
            .expect("the contract's template is filled in by a test with this name")
    }

    /// What a person confirms: everything but the section that the loop itself writes.
    pub fn confirmed_text(&self) -> String {
        let Some(inbox) = &self.inbox_section else { return self.source.trim_end().to_owned() };
        let heading = self.source[..inbox.start].trim_end().rfind('\n').map_or(0, |at| at + 1);
        let before = self.source[..heading].trim_end();
        let after = self.source[inbox.end..].trim();
        if after.is_empty() { before.to_owned() } else { format!("{before}\n\n{after}") }
    }

    /// Sentences of the contract that no machine holds to, for the report before the run.
    pub fn not_enforced(&self) -> Vec<String> {
        let unknown = |known: &'static [&'static str]| move |sentence: &&String| !is_among(sentence, known);
        let verification = self.verification.iter().filter(unknown(&ENFORCED_VERIFICATION));
        let verification = verification.filter(|sentence| !commands::pins(sentence));
        let escalation = self.escalation.iter().filter(unknown(&ENFORCED_ESCALATION));
        let escalation = escalation.filter(|sentence| !is_among(sentence, &[PARK_AND_GO_ON]));
        let exclusions = self.scope.exclude_prose.iter().filter(unknown(&ENFORCED_EXCLUSIONS));
        verification.chain(escalation).chain(exclusions).map(|sentence| one_line(sentence, 200)).collect()
    }
}

/// Compared without case, emphasis and the full stop: a sentence with one word more says something else.
fn is_among(sentence: &str, known: &[&str]) -> bool {
    let plain = |text: &str| {
        let words = text.replace(['*', '`'], "").to_lowercase();
        words.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
    };
    let sentence = plain(sentence);
    known.iter().any(|known| plain(known) == sentence)
}
