//! What the evaluator says about one item, the key by which two causes are the same, and `docs/EVALUATION.md`.
//! A low score outweighs the verdict beside it; what follows from a FAIL is decided elsewhere.

use std::fmt::{self, Write};

use serde::Serialize;

use super::item_id::ItemId;
use crate::answer_schema::narrowed;
use crate::artifact::{Format, Reading, Strictness, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fault::{ArtifactFault, FaultKind};
use crate::fields::{Field, Fields, choice, has_content};
use crate::gate::{Waiver, waivers};
use crate::one_line::one_line;
use crate::schema::Schema;

pub const EVALUATION_FILE: &str = "docs/EVALUATION.md";

const LOWEST_PASSING_SCORE: u8 = 3;
const MAX_LINE_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evaluation {
    pub item_id: String,
    pub scores: Scores,
    /// As the evaluator stated it; [`Evaluation::passed`] is what counts.
    pub verdict: StatedVerdict,
    pub cause: StatedCause,
    pub issues: Vec<Issue>,
    pub fix: String,
    /// Findings about the gate that the evaluator lets be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    /// The word the evaluator chose.
    StatedVerdict {
        Pass = "PASS",
        Fail = "FAIL",
    }
}

choice! {
    /// What kind of cause a FAIL has.
    CauseCategory {
        /// Only beside a PASS.
        None = "none",
        Criterion = "criterion",
        Correctness = "correctness",
        Tests = "tests",
        Quality = "quality",
        Architecture = "architecture",
        Scope = "scope",
        Security = "security",
        Other = "other",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scores {
    pub completeness: Score,
    pub correctness: Score,
    pub code_quality: Score,
    pub test_coverage: Score,
    pub architecture_fit: Score,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Score {
    /// One to five.
    pub score: u8,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatedCause {
    pub category: CauseCategory,
    pub location: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
}

/// Category and place of a cause. The words are left out: the same cause is told in other words the second time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CauseKey(String);

impl CauseKey {
    pub fn new(category: CauseCategory, location: &str) -> Self {
        Self(format!("{category}@{}", normalised(location)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CauseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StatedCause {
    pub fn key(&self) -> CauseKey {
        CauseKey::new(self.category, &self.location)
    }

    /// Category, place and words on one line.
    pub fn sentence(&self) -> String {
        let place = one_line(&self.location, 200);
        format!("{} at {place}: {}", self.category, one_line(&self.text, MAX_LINE_CHARS))
    }
}

impl Scores {
    pub fn all(&self) -> [(&'static str, &Score); 5] {
        [
            ("Completeness", &self.completeness),
            ("Correctness", &self.correctness),
            ("Code Quality", &self.code_quality),
            ("Test Coverage", &self.test_coverage),
            ("Architecture Fit", &self.architecture_fit),
        ]
    }

    /// Scores of one or two.
    pub fn failing(&self) -> impl Iterator<Item = &'static str> {
        self.all().into_iter().filter(|(_, score)| score.score < LOWEST_PASSING_SCORE).map(|(name, _)| name)
    }
}

impl Evaluation {
    /// For agents that can be held to the form of their answer.
    pub fn answer_schema() -> String {
        narrowed(super::schemas::EVALUATION.text)
    }

    /// The lowest score's own reason: whoever said PASS beside it has told why, and need not be asked again. The place is the
    /// item, so that the same weakness is the same cause the next time, whatever is named beside it.
    fn cause_of_lowest_score(&self) -> StatedCause {
        let Scores { completeness, correctness, code_quality, test_coverage, architecture_fit } =
            &self.scores;
        let mut lowest = (CauseCategory::Criterion, completeness);
        for (category, score) in [
            (CauseCategory::Correctness, correctness),
            (CauseCategory::Quality, code_quality),
            (CauseCategory::Tests, test_coverage),
            (CauseCategory::Architecture, architecture_fit),
        ] {
            if score.score < lowest.1.score {
                lowest = (category, score);
            }
        }
        StatedCause { category: lowest.0, location: self.item_id.clone(), text: lowest.1.reason.clone() }
    }

    /// PASS was said and no score contradicts it.
    pub fn passed(&self) -> bool {
        self.verdict == StatedVerdict::Pass && self.scores.failing().next().is_none()
    }
}

artifact!(Evaluation);

impl Format for Evaluation {
    const NAME: &'static str = "evaluation.json";

    fn schema() -> &'static Schema {
        &super::schemas::EVALUATION
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        let item_id = belonging_id(fields, "item_id", reading);
        let scores = fields.object("scores").and_then(|mut scores| read_scores(&mut scores));
        let verdict = fields.choice::<StatedVerdict>("verdict");
        let cause = fields.object("cause").and_then(|mut cause| read_cause(&mut cause));
        let issues = fields.list("issues", issue);
        let fix = fields.text("fix");
        let waivers = waivers(fields);
        let mut evaluation = Self {
            item_id,
            scores: scores?,
            verdict: verdict?,
            cause: cause?,
            issues,
            fix,
            waivers,
            extra: fields.extra(),
        };
        if reading.strictness == Strictness::Agent && !evaluation.passed() {
            let faults = cause_faults(&evaluation, fields);
            if evaluation.verdict == StatedVerdict::Pass && !faults.is_empty() {
                evaluation.cause = evaluation.cause_of_lowest_score();
            } else {
                for fault in faults {
                    fields.report(fault);
                }
            }
        }
        Some(evaluation)
    }
}

fn read_scores(fields: &mut Fields<'_, '_>) -> Option<Scores> {
    let mut read = |key: &'static str| {
        let mut inner = fields.object(key)?;
        let score = inner.integer("score", 1, 5);
        Some(Score { score: u8::try_from(score).unwrap_or(1), reason: inner.filled_text("reason") })
    };
    // All five are asked before the first missing one ends the reading, so that one repair request names them all.
    let [completeness, correctness, code_quality, test_coverage, architecture_fit] =
        ["completeness", "correctness", "code_quality", "test_coverage", "architecture_fit"].map(&mut read);
    Some(Scores {
        completeness: completeness?,
        correctness: correctness?,
        code_quality: code_quality?,
        test_coverage: test_coverage?,
        architecture_fit: architecture_fit?,
    })
}

fn read_cause(fields: &mut Fields<'_, '_>) -> Option<StatedCause> {
    let category = fields.choice("category");
    let location = fields.text("location");
    let text = fields.text("text");
    Some(StatedCause { category: category?, location, text })
}

fn issue(field: Field<'_, '_>) -> Option<Issue> {
    let mut fields = field.object()?;
    let file = fields.text("file");
    let line = fields.optional("line").and_then(|field| field.integer(0, i64::from(u32::MAX)));
    let line = line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    Some(Issue { file, line, text: fields.filled_text("text") })
}

fn cause_faults(evaluation: &Evaluation, fields: &Fields<'_, '_>) -> Vec<ArtifactFault> {
    let cause = &evaluation.cause;
    let place = fields.place_of("cause");
    let missing = |key: &str, wanted: &str| {
        let message = format!("a FAIL needs {wanted}");
        ArtifactFault::new(FaultKind::ReasonMissing, format!("{place}/{key}"), message)
    };
    let mut faults = Vec::new();
    if cause.category == CauseCategory::None {
        faults.push(missing("category", "a category other than \"none\""));
    }
    if normalised(&cause.location).is_empty() {
        faults.push(missing("location", "a path, or path:symbol"));
    }
    if !has_content(&cause.text) {
        faults.push(missing("text", "its root cause in one line"));
    }
    faults
}

/// A place without what changes between two tellings: case, quotes, `./`, slashes of another system, line numbers,
/// and the brackets behind a function's name.
fn normalised(location: &str) -> String {
    let location = location.to_lowercase().replace('\\', "/");
    // `file, line 12`, `file (line 12)`, `file#L12` and `file lines 3-9` name the same place as `file`.
    let cut = [", line", " (line", " line ", " lines ", "#l", " at line"];
    let location = cut.iter().fold(location.as_str(), |text, mark| match text.split_once(mark) {
        Some((before, after))
            if after.trim_start_matches(['s', ' ']).starts_with(|c: char| c.is_ascii_digit()) =>
        {
            before
        }
        _ => text,
    });
    let is_number = |part: &str| {
        let part = part.trim_start_matches('l');
        !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '-' | ',' | '–' | 'l'))
    };
    let parts = location.split(':').map(|part| part.trim().trim_matches(['`', '"', '\'', '*', ' ']));
    let parts = parts.filter(|part| !part.is_empty() && !is_number(part));
    let parts = parts.map(|part| {
        let part = part.trim_end_matches("()");
        part.split('/').filter(|step| !matches!(*step, "" | ".")).collect::<Vec<_>>().join("/")
    });
    parts.collect::<Vec<_>>().join(":")
}

/// One report about one or more items, as it stands in `docs/EVALUATION.md`.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationReport<'a> {
    pub date: &'a str,
    pub items: &'a [(&'a ItemId, &'a str, &'a Evaluation)],
    pub recommendations: &'a [String],
    pub architecture_observations: &'a [String],
}

impl EvaluationReport<'_> {
    pub fn render(&self) -> String {
        let passed = self.items.iter().filter(|(_, _, evaluation)| evaluation.passed()).count();
        let mut text = format!("# Evaluation — {}\n\n## Summary\n", line_of_text(self.date));
        let _ = writeln!(text, "- **Features evaluated**: {}", self.items.len());
        let _ = writeln!(text, "- **Passed**: {passed}");
        let _ = writeln!(text, "- **Failed**: {}", self.items.len() - passed);
        let _ = writeln!(text, "- **Overall grade**: {}\n\n## Features\n", self.grade());
        for (id, name, evaluation) in self.items {
            item_block(&mut text, id, name, evaluation);
        }
        let critical: Vec<String> = self
            .items
            .iter()
            .filter(|(_, _, evaluation)| !evaluation.passed())
            .map(|(id, _, evaluation)| format!("{id}: {}", evaluation.cause.sentence()))
            .collect();
        list(&mut text, "Critical Issues", &critical);
        list(&mut text, "Recommendations", self.recommendations);
        list(&mut text, "Architecture Observations", self.architecture_observations);
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// A to C where everything passed, D or F where something failed, by the mean of all scores.
    pub fn grade(&self) -> char {
        let scores = self.items.iter().flat_map(|(_, _, evaluation)| evaluation.scores.all());
        let (sum, count) =
            scores.fold((0_u32, 0_u32), |(sum, count), (_, score)| (sum + u32::from(score.score), count + 1));
        let tenths = (sum * 10).checked_div(count).unwrap_or_default();
        let all_passed = count > 0 && self.items.iter().all(|(_, _, evaluation)| evaluation.passed());
        match (all_passed, tenths) {
            (true, 45..) => 'A',
            (true, 35..) => 'B',
            (true, _) => 'C',
            (false, 25..) => 'D',
            (false, _) => 'F',
        }
    }
}

/// Where a report is kept when the next one takes its place, so that no verdict vanishes.
pub fn kept_evaluation_path(date: &str, id: &ItemId, iteration: u32) -> String {
    let day: String =
        date.chars().take(10).filter(|letter| letter.is_ascii_digit() || *letter == '-').collect();
    let day = if day.is_empty() { "undated".to_owned() } else { day };
    format!("docs/evaluations/{day}-{id}-iteration-{iteration}.md")
}

fn item_block(text: &mut String, id: &ItemId, name: &str, evaluation: &Evaluation) {
    let _ = writeln!(text, "### {id} — {}", line_of_text(name));
    for (label, score) in evaluation.scores.all() {
        let _ = writeln!(text, "- **{label}**: {} — {}", score.score, line_of_text(&score.reason));
    }
    let verdict = if evaluation.passed() { StatedVerdict::Pass } else { StatedVerdict::Fail };
    let _ = writeln!(text, "- **Verdict**: {verdict}");
    for waiver in &evaluation.waivers {
        let _ = writeln!(text, "- **Waived**: {} — {}", waiver.finding, line_of_text(&waiver.reason));
    }
    if !evaluation.passed() {
        let _ = writeln!(text, "- **Root Cause**: {}", evaluation.cause.sentence());
    }
    text.push_str("- **Issues Found**:");
    text.push_str(if evaluation.issues.is_empty() { " none\n" } else { "\n" });
    for (number, issue) in evaluation.issues.iter().enumerate() {
        let place = match (issue.file.trim(), issue.line) {
            ("", _) => String::new(),
            (file, Some(line)) => format!("{}:{line}: ", line_of_text(file)),
            (file, None) => format!("{}: ", line_of_text(file)),
        };
        let _ = writeln!(text, "  {}. {place}{}", number + 1, line_of_text(&issue.text));
    }
    let fix = line_of_text(&evaluation.fix);
    let _ = writeln!(text, "- **Recommended Fix**: {}\n", if fix.is_empty() { "none" } else { &fix });
}

fn list(text: &mut String, title: &str, sentences: &[String]) {
    let _ = writeln!(text, "## {title}");
    if sentences.is_empty() {
        text.push_str("None.\n");
    }
    for sentence in sentences {
        let _ = writeln!(text, "- {}", line_of_text(sentence));
    }
    text.push('\n');
}

fn line_of_text(text: &str) -> String {
    one_line(text, MAX_LINE_CHARS)
}
