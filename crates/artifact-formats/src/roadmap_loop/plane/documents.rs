//! The prose files of the plane as far as a program reads them: `verification.md` with its limits, the family's history,
//! and `project-contract.md`. It knows sections and labels; the rest is prose for the roles.

use super::problem::{Problem, Problems, Severity};
use super::roadmap::{is_none, label_line};
use crate::fault::excerpt;
use crate::markdown::{Heading, headings, list_item};
use crate::text_lines::{line_of, without_mark};

const VERIFICATION_SECTIONS: [&str; 5] =
    ["Baseline Checks", "Alignment Checks", "Task-Specific Checks", "Manual Checks", "Roadmap Overrides"];
const CONTRACT_SECTIONS: [&str; 4] =
    ["Stable Interfaces", "Alignment Invariants", "Verification Anchors", "Update Rule"];

/// `verification.md` of the active bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Titles of the second level with their texts, unknown ones included.
    pub sections: Vec<(String, String)>,
    pub overrides: LimitOverrides,
}

/// What a roadmap changes about the limits of section 15.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitOverrides {
    pub same_mechanism_retries: Option<u32>,
    pub review_cycles: Option<u32>,
    pub update_rejections: Option<u32>,
    /// Everything else that stands there, line by line.
    pub prose: Vec<String>,
}

/// The family's `roadmap-history.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Items under `## Completed Rounds`; nothing where there is no such section, so that no entry may be asked for.
    pub completed_rounds: Option<Vec<String>>,
    /// Titles of all sections, which real files often name after revisions.
    pub sections: Vec<String>,
}

impl Verification {
    /// Rule 4.4: every section is there, and limits are numbers.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let clean = without_mark(text);
        let sections = sections(&clean);
        let mut found = absent("4.4", file, &sections, &VERIFICATION_SECTIONS);
        let overrides = sections.iter().find(|(heading, _)| heading.is("Roadmap Overrides"));
        let overrides = overrides.map(|(heading, body)| {
            let first = line_of(&clean, heading.content_start);
            LimitOverrides::read(file, body, first, &mut found)
        });
        Problems::check(found)?;
        let owned =
            |(heading, body): &(Heading<'_>, &str)| (heading.title.to_owned(), body.trim().to_owned());
        Ok(Self { sections: sections.iter().map(owned).collect(), overrides: overrides.unwrap_or_default() })
    }
}

impl LimitOverrides {
    fn read(file: &str, body: &str, first_line: usize, found: &mut Vec<Problem>) -> Self {
        let mut limits = Self::default();
        for (offset, line) in body.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let label = label_line(line);
            let place = label.and_then(|label| limits.limit(label.name).map(|limit| (label.value, limit)));
            let Some((value, limit)) = place else {
                let words = list_item(line).map_or(line, |(_, words)| words).trim();
                if !is_none(words) {
                    limits.prose.push(line.trim_end().to_owned());
                }
                continue;
            };
            let number = value.trim_matches(['`', '.', ' ']).parse::<u32>().ok().filter(|number| *number > 0);
            let why = match (number, &limit) {
                (None, _) => {
                    Some(format!("a limit must be a whole number from 1 on; found {}", excerpt(value)))
                }
                (Some(_), Some(_)) => Some("this limit is there twice".to_owned()),
                (Some(_), None) => None,
            };
            match why {
                Some(why) => found.push(Problem::fatal("15", file, why).at_line(first_line + offset)),
                None => *limit = number,
            }
        }
        limits
    }

    /// The limit that words name, in the spellings a person would try.
    fn limit(&mut self, name: &str) -> Option<&mut Option<u32>> {
        let name = name.to_ascii_lowercase().replace('-', " ");
        match name.as_str() {
            "same mechanism retries" | "same mechanism retry limit" | "max same mechanism retries" => {
                Some(&mut self.same_mechanism_retries)
            }
            "review cycles" | "review retry cycles" | "review driven retry cycles" | "max review cycles" => {
                Some(&mut self.review_cycles)
            }
            "update rejections"
            | "roadmap update rejections"
            | "semantic update rejections"
            | "rejected semantic updates"
            | "max update rejections" => Some(&mut self.update_rejections),
            _ => None,
        }
    }
}

impl History {
    pub fn read(text: &str) -> Self {
        let clean = without_mark(text);
        let sections = sections(&clean);
        let completed = sections.iter().find(|(heading, _)| heading.is("Completed Rounds"));
        Self {
            completed_rounds: completed.map(|(_, body)| {
                let items = crate::markdown::bullets(body, 0).into_iter().map(|bullet| bullet.text);
                items.filter(|item| !is_none(item)).collect()
            }),
            sections: sections.iter().map(|(heading, _)| heading.title.to_owned()).collect(),
        }
    }
}

/// Section 2: sections of `project-contract.md` that are missing or left blank, which must say `none discovered yet`.
pub fn blank_contract_sections(file: &str, text: &str) -> Vec<Problem> {
    let clean = without_mark(text);
    let sections = sections(&clean);
    let mut found = absent("2", file, &sections, &CONTRACT_SECTIONS);
    for (heading, _) in sections.iter().filter(|(_, body)| body.trim().is_empty()) {
        let message = format!("the section \"{}\" is blank; write \"none discovered yet\"", heading.title);
        found.push(Problem::fatal("2", file, message).at_line(line_of(&clean, heading.line_start)));
    }
    // What the contract of a repository leaves open is the scaffold's slip and stops no round.
    found.into_iter().map(|problem| problem.weighing(Severity::Warning)).collect()
}

fn sections(text: &str) -> Vec<(Heading<'_>, &str)> {
    let all: Vec<Heading<'_>> = headings(text).into_iter().filter(|heading| heading.level <= 2).collect();
    let ends = all.iter().skip(1).map(|next| next.line_start).chain([text.len()]);
    let bodies = all.iter().zip(ends).map(|(heading, end)| (*heading, &text[heading.content_start..end]));
    bodies.filter(|(heading, _)| heading.level == 2).collect()
}

fn absent(
    rule: &'static str,
    file: &str,
    sections: &[(Heading<'_>, &str)],
    required: &[&str],
) -> Vec<Problem> {
    let missing = required.iter().filter(|title| !sections.iter().any(|(heading, _)| heading.is(title)));
    missing
        .map(|title| Problem::fatal(rule, file, format!("the section \"## {title}\" is missing")))
        .collect()
}
