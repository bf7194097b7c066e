//! A reviewer's answer about one story. A pass that names a failed criterion or an open grave finding is no pass, whatever it says.

use crate::faults::Faults;
use serde::Deserialize;

const FILE: &str = "the review";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewResult {
    Pass,
    Fail,
    Partial,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReviewFinding {
    /// CRITICAL, HIGH, MEDIUM or LOW.
    pub severity: String,
    #[serde(default)]
    pub ac_id: Option<String>,
    pub description: String,
}

impl ReviewFinding {
    fn is_grave(&self) -> bool {
        matches!(self.severity.to_ascii_uppercase().as_str(), "CRITICAL" | "HIGH")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReviewAnswer {
    pub story_id: String,
    pub result: ReviewResult,
    pub summary: String,
    #[serde(default)]
    pub iteration: Option<u32>,
    #[serde(default)]
    pub findings: Vec<ReviewFinding>,
    #[serde(default)]
    pub acs_verified: Vec<String>,
    #[serde(default)]
    pub acs_failed: Vec<String>,
}

/// `expected` are the ids of the story's criteria: each is either verified or failed, and a pass fails none.
pub fn parse_review_answer(text: &str, story: &str, expected: &[&str]) -> Result<ReviewAnswer, Faults> {
    let answer: ReviewAnswer = serde_json::from_str(text)
        .map_err(|error| Faults::one(FILE, format!("it cannot be read: {error}")))?;
    let mut sentences = Vec::new();
    if answer.story_id != story {
        sentences.push(format!("it is about {}, and {story} was to be reviewed", answer.story_id));
    }
    if answer.summary.trim().is_empty() {
        sentences.push("its summary is empty".to_owned());
    }
    for finding in &answer.findings {
        let known = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];
        if !known.contains(&finding.severity.to_ascii_uppercase().as_str()) {
            sentences.push(format!("no severity is called {}", finding.severity));
        }
    }
    let judged = |id: &str| answer.acs_verified.iter().chain(&answer.acs_failed).any(|named| named == id);
    for id in expected.iter().filter(|id| !judged(id)) {
        sentences.push(format!("criterion {id} is neither verified nor failed"));
    }
    for id in answer.acs_verified.iter().filter(|id| answer.acs_failed.contains(id)) {
        sentences.push(format!("criterion {id} is both verified and failed"));
    }
    if answer.result == ReviewResult::Pass {
        if let Some(id) = answer.acs_failed.first() {
            sentences.push(format!("it passes although criterion {id} failed"));
        }
        if let Some(finding) = answer.findings.iter().find(|finding| finding.is_grave()) {
            sentences.push(format!("it passes although it found: {}", finding.description));
        }
    }
    Faults::unless_empty(FILE, sentences, || Some(answer))
}
