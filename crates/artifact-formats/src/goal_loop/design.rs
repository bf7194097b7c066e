//! The planner's answer about one item, and the design document made of it under `docs/designs/`.
//! The file list of a design is what an item may touch; whether a design is needed is decided elsewhere.

use std::fmt::Write;
use std::ops::Range;

use serde::Serialize;

use super::item_id::ItemId;
use crate::answer_schema::narrowed;
use crate::artifact::{Format, Reading, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fields::{Field, Fields};
use crate::markdown::{Heading, bullets, contained, headings};
use crate::one_line::one_line;
use crate::repo_path::RepoPath;
use crate::schema::Schema;

const SECTIONS: [&str; 10] = [
    "Overview",
    "Research Findings",
    "Design Decisions",
    "Technical Design",
    "Implementation Plan",
    "Testing Strategy",
    "Migration/Rollout",
    "Dependencies",
    "Acceptance Criteria (Refined)",
    "Open Questions",
];
const FILES: &str = "Files";
const MAX_LINE_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DesignAnswer {
    pub item_id: String,
    pub overview: String,
    pub research_findings: String,
    pub decisions: Vec<DesignDecision>,
    pub technical_design: String,
    pub files: Vec<String>,
    pub implementation_plan: Vec<String>,
    pub testing_strategy: String,
    pub rollout: String,
    pub dependencies: Vec<String>,
    pub acceptance_criteria: Vec<String>,
    pub open_questions: Vec<String>,
    pub contract: RefinedContract,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DesignDecision {
    pub question: String,
    pub options: Vec<String>,
    pub choice: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RefinedContract {
    pub deliverable: String,
    pub verification: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DesignStatus {
    Draft,
    Revision(u32),
    Approved,
}

/// A design document as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignDocument {
    source: String,
    pub status: Option<DesignStatus>,
    status_span: Option<Range<usize>>,
    /// Numbers of the ten sections that are there.
    pub sections: Vec<u32>,
    /// What the implementation may touch, as the document lists it.
    pub files: Vec<String>,
}

impl DesignAnswer {
    /// For agents that can be held to the form of their answer.
    pub fn answer_schema() -> String {
        narrowed(super::schemas::DESIGN.text)
    }

    /// The document, with foreign text kept from opening sections of its own.
    pub fn document(&self, id: &ItemId, name: &str, date: &str, author: &str) -> String {
        let mut text = format!("# Design: {id} — {}\n\n", one_line(name, MAX_LINE_CHARS));
        let _ = writeln!(text, "- **Status**: {}", DesignStatus::Draft.words());
        let _ = writeln!(text, "- **Date**: {}", one_line(date, 60));
        let _ = writeln!(text, "- **Author**: {}\n", one_line(author, 120));
        let decisions = self.decisions.iter().fold(String::new(), |mut all, decision| {
            let _ = writeln!(all, "### {}", one_line(&decision.question, MAX_LINE_CHARS));
            for (number, option) in decision.options.iter().enumerate() {
                let _ = writeln!(all, "- Option {}: {}", number + 1, one_line(option, MAX_LINE_CHARS));
            }
            let _ = writeln!(all, "- **Choice**: {}\n", one_line(&decision.choice, MAX_LINE_CHARS));
            all
        });
        let files = list(self.files.iter().map(|file| format!("`{}`", file.replace('`', ""))));
        let technical = format!("{}\n\n### {FILES}\n{files}", without_file_lists(&self.technical_design));
        let plan =
            self.implementation_plan.iter().enumerate().fold(String::new(), |mut all, (number, step)| {
                let _ = writeln!(all, "{}. {}", number + 1, one_line(step, MAX_LINE_CHARS));
                all
            });
        let criteria = format!(
            "{}\n- **Deliverable**: {}\n- **Verification**: {}",
            list(self.acceptance_criteria.iter().cloned()),
            one_line(&self.contract.deliverable, MAX_LINE_CHARS),
            one_line(&self.contract.verification, MAX_LINE_CHARS)
        );
        let bodies = [
            contained(&self.overview),
            contained(&self.research_findings),
            decisions,
            technical,
            plan,
            contained(&self.testing_strategy),
            contained(&self.rollout),
            list(self.dependencies.iter().cloned()),
            criteria,
            list(self.open_questions.iter().cloned()),
        ];
        for (number, (title, body)) in SECTIONS.iter().zip(bodies).enumerate() {
            let body = body.trim_end();
            let _ = writeln!(
                text,
                "## {}. {title}\n{}\n",
                number + 1,
                if body.is_empty() { "None." } else { body }
            );
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

artifact!(DesignAnswer);

impl DesignStatus {
    pub fn words(self) -> String {
        match self {
            Self::Draft => "Draft".to_owned(),
            Self::Revision(number) => format!("Draft (Revision {number})"),
            Self::Approved => "Approved".to_owned(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['*', '`']);
        if text.eq_ignore_ascii_case("approved") {
            return Some(Self::Approved);
        }
        if text.eq_ignore_ascii_case("draft") {
            return Some(Self::Draft);
        }
        let lower = text.to_ascii_lowercase();
        let number = lower.strip_prefix("draft (revision ")?.strip_suffix(')')?;
        number.trim().parse().ok().map(Self::Revision)
    }
}

/// Where an item's design stands.
pub fn design_path(id: &ItemId) -> String {
    format!("docs/designs/{id}-design.md")
}

impl DesignDocument {
    /// Reads what is there; a document of any form is one.
    pub fn parse(text: &str) -> Self {
        let all = headings(text);
        let sections = (1_u32..).zip(SECTIONS).filter(|(_, title)| section(text, &all, title).is_some());
        let sections = sections.map(|(number, _)| number).collect();
        let (status, status_span) = match status_line(text) {
            Some((status, span)) => (Some(status), Some(span)),
            None => (None, None),
        };
        let files = listed_files(text, &all);
        Self { source: text.to_owned(), status, status_span, sections, files }
    }

    pub fn text(&self) -> &str {
        &self.source
    }

    /// The same document with another status; nothing where it states none.
    pub fn with_status(&self, status: DesignStatus) -> Option<Self> {
        let span = self.status_span.clone()?;
        let mut text = self.source.clone();
        text.replace_range(span, &status.words());
        Some(Self::parse(&text))
    }
}

/// `- **Status**: Draft`, with or without mark and emphasis, before the first section.
fn status_line(text: &str) -> Option<(DesignStatus, Range<usize>)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if line.starts_with("## ") {
            return None;
        }
        let Some(colon) = line.find(':') else { continue };
        let label = line[..colon].trim_matches(['-', '*', '>', ' ', '_']);
        if !label.eq_ignore_ascii_case("status") {
            continue;
        }
        let value = &line[colon + 1..];
        let words = value.trim().trim_start_matches("**").trim_start();
        let status = DesignStatus::parse(words)?;
        let from = start + line.find(words)?;
        return Some((status, from..from + words.len()));
    }
    None
}

fn section<'t>(text: &'t str, all: &[Heading<'t>], title: &str) -> Option<Range<usize>> {
    let is_it = |heading: &Heading<'_>| {
        let bare = heading
            .title
            .trim_start_matches(|letter: char| letter.is_ascii_digit() || ". )".contains(letter));
        // `Acceptance Criteria` and `Migration / Rollout` are meant as well.
        let plain =
            |text: &str| text.replace(" / ", "/").split(" (").next().unwrap_or_default().to_ascii_lowercase();
        heading.level == 2 && plain(bare) == plain(title)
    };
    let position = all.iter().position(is_it)?;
    let end = all[position + 1..].iter().find(|heading| heading.level <= 2);
    Some(all[position].content_start..end.map_or(text.len(), |heading| heading.line_start))
}

/// The list under a heading Files; without one, everything in the two technical sections that can only be a path.
fn listed_files(text: &str, all: &[Heading<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut put = |path: &str| {
        let folder = if path.ends_with('/') { "/" } else { "" };
        if let Ok(path) = RepoPath::parse(path) {
            let path = format!("{path}{folder}");
            if !found.contains(&path) {
                found.push(path);
            }
        }
    };
    let spans: Vec<Range<usize>> = ["Technical Design", "Implementation Plan"]
        .iter()
        .filter_map(|title| section(text, all, title))
        .collect();
    let lists = spans.iter().flat_map(|span| {
        let inside = |heading: &&Heading<'_>| span.contains(&heading.line_start) && heading.level > 2;
        let files = all
            .iter()
            .filter(inside)
            .filter(|heading| heading.title.to_ascii_lowercase().starts_with("files"));
        files.map(|heading| {
            let end = all.iter().map(|next| next.line_start).find(|start| *start > heading.line_start);
            heading.content_start..end.unwrap_or(span.end).min(span.end)
        })
    });
    let lists: Vec<Range<usize>> = lists.collect();
    for span in &lists {
        for bullet in bullets(&text[span.clone()], span.start) {
            put(bullet.text.trim_start_matches('`').split(['`', ' ', ',']).next().unwrap_or_default());
        }
    }
    if lists.is_empty() {
        for span in spans {
            let words =
                text[span].split(|letter: char| letter.is_whitespace() || "`,;()\"'[]".contains(letter));
            words
                .map(|word| word.trim_end_matches(['.', ':']))
                .filter(|word| can_only_be_a_path(word))
                .for_each(&mut put);
        }
    }
    found
}

/// A slash inside, and an extension or a slash at the end; no address and no fraction.
fn can_only_be_a_path(word: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-./*@+".contains(letter);
    if !word.chars().all(allowed) || !word.contains('/') || word.starts_with('/') {
        return false;
    }
    let last = word.rsplit('/').next().unwrap_or_default();
    let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
    last.is_empty() || extension.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Foreign text whose headings cannot pass for the list of files, which decides what may be touched.
fn without_file_lists(text: &str) -> String {
    let escaped = contained(text);
    let lines = escaped.split_inclusive('\n').map(|line| {
        let bare = line.trim_start();
        let title = bare.trim_start_matches('#').trim_start().to_ascii_lowercase();
        let lists_files = bare.starts_with('#') && title.starts_with("files");
        if lists_files { format!("\\{bare}") } else { line.to_owned() }
    });
    lines.collect()
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.fold(String::new(), |mut all, item| {
        let _ = writeln!(all, "- {}", one_line(&item, MAX_LINE_CHARS));
        all
    })
}

impl Format for DesignAnswer {
    const NAME: &'static str = "design.json";

    fn schema() -> &'static Schema {
        &super::schemas::DESIGN
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        let filled = |field: Field<'_, '_>| field.filled_text();
        Some(Self {
            item_id: belonging_id(fields, "item_id", reading),
            overview: fields.filled_text("overview"),
            research_findings: fields.filled_text("research_findings"),
            decisions: fields.list("decisions", decision),
            technical_design: fields.filled_text("technical_design"),
            files: fields.list("files", filled),
            implementation_plan: fields.list("implementation_plan", filled),
            testing_strategy: fields.filled_text("testing_strategy"),
            rollout: fields.filled_text("rollout"),
            dependencies: fields.list("dependencies", filled),
            acceptance_criteria: fields.list("acceptance_criteria", filled),
            open_questions: fields.list("open_questions", filled),
            contract: fields.object("contract").map(|mut inner| contract(&mut inner)).unwrap_or_default(),
            extra: fields.extra(),
        })
    }
}

fn decision(field: Field<'_, '_>) -> Option<DesignDecision> {
    let mut fields = field.object()?;
    Some(DesignDecision {
        question: fields.filled_text("question"),
        options: fields.list("options", |field| field.filled_text()),
        choice: fields.filled_text("choice"),
    })
}

fn contract(fields: &mut Fields<'_, '_>) -> RefinedContract {
    let deliverable = fields.filled_text("deliverable");
    RefinedContract { deliverable, verification: fields.filled_text("verification") }
}
