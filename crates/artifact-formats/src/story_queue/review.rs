//! A reviewer's verdict, criterion by criterion. A criterion nobody named was not looked at, and a verdict that passes all the
//! same does not count as one.

use super::Criterion;
use super::spoken_criteria::{Said, spoken_of};
use crate::task_loop::{Reason, Verdict, VerdictReport};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    Critical,
    High,
    Medium,
    Low,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// Absent where it is about no single criterion.
    pub ac_id: Option<String>,
    pub description: String,
}

/// What the queue keeps of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoryReview {
    pub story: String,
    /// `pass` or `fail`.
    pub result: &'static str,
    pub summary: String,
    pub iteration: u32,
    pub findings: Vec<Finding>,
    pub acs_verified: Vec<String>,
    pub acs_failed: Vec<String>,
}

impl StoryReview {
    /// Holds what the reviewer said against the story's criteria.
    pub fn of(story: &str, iteration: u32, verdict: &VerdictReport, criteria: &[Criterion]) -> Self {
        let mut review = Self::empty(story, iteration);
        for reason in &verdict.reasons {
            review.take(reason, criteria, verdict.verdict);
        }
        for criterion in criteria {
            let named =
                review.acs_verified.contains(&criterion.id) || review.acs_failed.contains(&criterion.id);
            if !named {
                review.fail(criterion, Severity::High, "the reviewer did not say whether it is met");
            }
        }
        let passed = verdict.verdict == Verdict::Pass && review.acs_failed.is_empty();
        review.result = if passed { "pass" } else { "fail" };
        review.summary = review.in_words(&verdict.required_changes);
        review
    }

    /// Without a reviewer: what the engine itself found stands in the way.
    pub fn by_engine(story: &str, iteration: u32, found: &str) -> Self {
        let finding = Finding { severity: Severity::Critical, ac_id: None, description: found.to_owned() };
        Self { summary: found.to_owned(), findings: vec![finding], ..Self::empty(story, iteration) }
    }

    pub fn passed(&self) -> bool {
        self.result == "pass"
    }

    fn empty(story: &str, iteration: u32) -> Self {
        Self {
            story: story.to_owned(),
            result: "fail",
            summary: String::new(),
            iteration,
            findings: Vec::new(),
            acs_verified: Vec::new(),
            acs_failed: Vec::new(),
        }
    }

    /// `AC-1 verified`, `AC-1 failed HIGH`; anything else is a finding about the whole where the verdict is a no.
    fn take(&mut self, reason: &Reason, criteria: &[Criterion], verdict: Verdict) {
        let named = spoken_of(reason, criteria.iter().map(|criterion| criterion.id.as_str()));
        let criterion = named.and_then(|(id, said)| Some((criteria.iter().find(|one| one.id == id)?, said)));
        let Some((criterion, said)) = criterion else {
            if verdict != Verdict::Pass {
                let description = format!("{}: {}", reason.check, reason.details);
                self.findings.push(Finding { severity: Severity::High, ac_id: None, description });
            }
            return;
        };
        match said {
            Said::Verified => {
                // A no to it elsewhere in the same verdict weighs more.
                if !self.acs_failed.contains(&criterion.id) && !self.acs_verified.contains(&criterion.id) {
                    self.acs_verified.push(criterion.id.clone());
                }
            }
            Said::Failed(words) => {
                let named = words.split_whitespace().next().and_then(severity);
                self.fail(criterion, named.unwrap_or(Severity::High), &reason.details);
            }
            Said::Neither => self.fail(criterion, Severity::High, &reason.details),
        }
    }

    fn fail(&mut self, criterion: &Criterion, severity: Severity, why: &str) {
        self.acs_verified.retain(|id| *id != criterion.id);
        if !self.acs_failed.contains(&criterion.id) {
            self.acs_failed.push(criterion.id.clone());
        }
        let ac_id = Some(criterion.id.clone());
        self.findings.push(Finding { severity, ac_id, description: why.to_owned() });
    }

    fn in_words(&self, required_changes: &[String]) -> String {
        if self.passed() {
            return format!("{} acceptance criteria are met", self.acs_verified.len());
        }
        let mut said: Vec<String> = self
            .findings
            .iter()
            .map(|finding| match &finding.ac_id {
                Some(id) => format!("{id}: {}", finding.description),
                None => finding.description.clone(),
            })
            .collect();
        said.extend(required_changes.iter().map(|change| format!("wanted: {change}")));
        if said.is_empty() { "the reviewer said no without a reason".to_owned() } else { said.join("; ") }
    }
}

fn severity(word: &str) -> Option<Severity> {
    let known = [
        ("critical", Severity::Critical),
        ("high", Severity::High),
        ("medium", Severity::Medium),
        ("low", Severity::Low),
    ];
    let word = word.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
    known.into_iter().find_map(|(name, severity)| word.eq_ignore_ascii_case(name).then_some(severity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExtraKeys;

    fn criteria(ids: &[&str]) -> Vec<Criterion> {
        let one = |id: &&str| Criterion { id: (*id).into(), text: "x".into(), kind: None, path: None };
        ids.iter().map(one).collect()
    }

    fn verdict(word: Verdict, reasons: &[(&str, &str)]) -> VerdictReport {
        VerdictReport {
            task_id: "T".into(),
            verdict: word,
            reasons: reasons.iter().map(|(check, details)| Reason::new(*check, *details)).collect(),
            required_changes: Vec::new(),
            suggested_tests: Vec::new(),
            requirements_checked: Vec::new(),
            requirements_missing: Vec::new(),
            notes: String::new(),
            waivers: Vec::new(),
            extra: ExtraKeys::default(),
        }
    }

    #[test]
    fn a_pass_that_names_every_criterion_passes() {
        let said = verdict(Verdict::Pass, &[("AC-1 verified", "in a.rs"), ("AC-10: verified", "in b.rs")]);
        let review = StoryReview::of("US-1.1", 1, &said, &criteria(&["AC-1", "AC-10"]));
        assert!(review.passed(), "{review:?}");
        assert_eq!(review.acs_verified, ["AC-1", "AC-10"]);
    }

    #[test]
    fn a_pass_over_a_criterion_nobody_looked_at_is_none() {
        let said = verdict(Verdict::Pass, &[("AC-1 verified", "in a.rs")]);
        let review = StoryReview::of("US-1.1", 1, &said, &criteria(&["AC-1", "AC-2"]));
        assert!(!review.passed());
        assert_eq!(review.acs_failed, ["AC-2"]);
        assert!(review.summary.contains("AC-2: the reviewer did not say"), "{}", review.summary);
    }

    #[test]
    fn a_failed_criterion_outweighs_the_word_pass_and_its_own_yes() {
        let said =
            verdict(Verdict::Pass, &[("AC-1 verified", "yes"), ("AC-1 failed CRITICAL", "no tenant check")]);
        let review = StoryReview::of("US-1.1", 2, &said, &criteria(&["AC-1"]));
        assert_eq!((review.result, review.acs_verified.len()), ("fail", 0));
        let finding = &review.findings[0];
        assert_eq!((finding.severity, finding.ac_id.as_deref()), (Severity::Critical, Some("AC-1")));
    }

    #[test]
    fn a_no_about_the_whole_is_a_finding_without_a_criterion() {
        let said = verdict(Verdict::Reject, &[("AC-1 verified", "yes"), ("tests", "there are none")]);
        let review = StoryReview::of("US-1.1", 1, &said, &criteria(&["AC-1"]));
        assert!(!review.passed());
        assert_eq!(review.findings.len(), 1);
        assert_eq!(review.summary, "tests: there are none");
    }
}
