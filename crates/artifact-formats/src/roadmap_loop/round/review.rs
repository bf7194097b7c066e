//! What the reviewer decided about a round: the model, and how it is read from a structured `review.md`. A decision that is
//! clear but not classified is told apart from a file that cannot be read, for the loop treats them differently.

use super::closeout_fields::{closeout_of, mode_faults};
use super::files;
use super::labelled::{Label, Labelled, readable};
use crate::fault::excerpt;
use crate::faults::Faults;
use crate::fields::choice;
use crate::gate::{Waiver, listed_waivers};
use crate::one_line::one_line;
use crate::roadmap_loop::closeout::Closeout;
use crate::roadmap_loop::lineage::Lineage;

const MAX_SUMMARY_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub decision: ReviewDecision,
    pub evidence_summary: String,
    /// Records repeat it; structured Markdown does not.
    pub lineage: Option<Lineage>,
    /// Where prose and record, or two fields, do not say the same. The decision stands all the same.
    pub contradictions: Vec<String>,
    /// Findings about the gate that the reviewer lets be.
    pub waivers: Vec<Waiver>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewDecision {
    Approved {
        closeout: Closeout,
    },
    Rejected {
        retry_target: RetryTarget,
        required_changes: Vec<String>,
    },
    /// Approved without a valid closeout, or rejected without a lawful retry target: neither merges nor is retried as is.
    Unclassified {
        why: String,
    },
}

choice! {
    RetryTarget {
        /// Fits the current plan.
        Implement = "implement",
        /// Scope, lineage, verification strategy, fan-out or order must change.
        Plan = "plan",
        /// No lawful retry in this round.
        Blocked = "blocked",
    }
}

/// The line under Decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedDecision {
    Approved,
    Rejected(String),
}

impl StatedDecision {
    fn word(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected(_) => "rejected",
        }
    }

    /// Nothing where two lines contradict each other or none decides.
    pub(super) fn find<'t>(lines: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        let mut found: Vec<Self> = Vec::new();
        let mut open = false;
        for line in lines {
            let bare = line.trim().trim_start_matches("- ").trim_matches(['*', '_', '`', ' ']);
            if bare == "APPROVED" || bare == "APPROVED." {
                found.push(Self::Approved);
                open = false;
            } else if let Some(reason) = bare.strip_prefix("REJECTED:") {
                found.push(Self::Rejected(reason.trim().to_owned()));
                open = true;
            } else if bare.starts_with("APPROVED") || bare.starts_with("REJECTED") {
                return Err(format!(
                    "the decision must be exactly APPROVED, or REJECTED: and the reason; found {}",
                    excerpt(line.trim())
                ));
            } else if bare.is_empty() {
                open = false;
            } else if let Some(Self::Rejected(reason)) = found.last_mut().filter(|_| open) {
                // A long reason wraps.
                reason.push(' ');
                reason.push_str(bare);
            }
        }
        match (found.pop(), found.is_empty()) {
            (None, _) => Err("there is no line APPROVED or REJECTED: …".to_owned()),
            (Some(_), false) => Err("there is more than one decision".to_owned()),
            (Some(Self::Rejected(reason)), true) if reason.trim().is_empty() => {
                Err("REJECTED: needs its reason behind the colon".to_owned())
            }
            (Some(decision), true) => Ok(decision),
        }
    }
}

/// What the prose of a review beside a record says, to be held against it.
pub(super) fn prose_decision(text: &str) -> Option<StatedDecision> {
    let text = readable(files::REVIEW, text).ok()?;
    let document = Labelled::read(files::REVIEW, &text);
    let section = document.optional("Decision")?;
    StatedDecision::find(section.lines().iter().map(|line| line.text)).ok()
}

pub(super) fn contradiction(record: &str, prose: &StatedDecision) -> Option<String> {
    let word = prose.word();
    (word != record)
        .then(|| format!("review.md says {word} and review-record.json says {record}; the record counts"))
}

impl Review {
    /// Reads a structured `review.md` of a round that works on that milestone.
    pub fn from_markdown(text: &str, milestone_id: &str) -> Result<Self, Faults> {
        let text = readable(files::REVIEW, text)?;
        let document = Labelled::read(files::REVIEW, &text);
        let stated = document.required("Decision").and_then(|section| {
            let stated = StatedDecision::find(section.lines().iter().map(|line| line.text));
            stated.map_err(|why| document.report(format!("### Decision: {why}"))).ok()
        });
        for title in ["Checks Run", "Evidence"] {
            if document.required(title).is_some_and(|section| !section.has_words()) {
                document.report(format!("### {title}: must not be empty"));
            }
        }
        let evidence = document.optional("Evidence").map(|section| section.text()).unwrap_or_default();
        let mut unknown = Vec::new();
        let waivers = document.optional("Waivers").map(|section| section.text()).unwrap_or_default();
        let waivers = listed_waivers(&waivers, &mut unknown);
        for fault in unknown {
            document.report(format!("### Waivers: {fault}"));
        }
        let Some(stated) = stated else { return document.finish(None) };
        let unusable = document.take_faults();
        let fields = MarkdownFields::read(&document, milestone_id);
        // Faults of the closeout and of the retry leave the decision readable and unclassified.
        let unclassified = document.take_faults();
        let mut contradictions = Vec::new();
        let decision = fields.decide(&stated, unclassified, &mut contradictions);
        let evidence_summary = one_line(&evidence, MAX_SUMMARY_CHARS);
        Faults::unless_empty(files::REVIEW, unusable, || {
            Some(Self { decision, evidence_summary, lineage: None, contradictions, waivers })
        })
    }
}

/// What a structured review says beside its decision.
struct MarkdownFields {
    /// Nothing where there is no section, or its target is `none`.
    retry: Option<RetryTarget>,
    required_changes: Vec<String>,
    closeout: Option<Closeout>,
    has_closeout: bool,
    blocking: bool,
}

impl MarkdownFields {
    fn read(document: &Labelled<'_>, milestone_id: &str) -> Self {
        let mut retry = None;
        let mut required_changes = Vec::new();
        if let Some(section) = document.optional("Retry") {
            let labels = section.labels(&["Retry target", "Required changes"]);
            let word = labels.required("Retry target").and_then(Label::word);
            retry = match word.as_deref() {
                Some("none") => None,
                _ => labels.choice::<RetryTarget>("Retry target"),
            };
            required_changes = labels.required("Required changes").map(Label::entries).unwrap_or_default();
        }
        let closeout = document.optional("Roadmap Closeout");
        let blocking = document.optional("Findings").is_some_and(|section| {
            // The others are named so that they end the value of the first.
            let known = ["Blocking", "Problem", "Evidence", "Suggested fix", "Retry target"];
            let found = super::labelled::labels(section.lines(), &known);
            let mut blocking = found.iter().filter(|label| label.name == known[0]);
            blocking.any(|label| matches!(label.word().as_deref(), Some("yes" | "true")))
        });
        Self {
            retry,
            required_changes,
            has_closeout: closeout.is_some(),
            closeout: closeout.and_then(|section| closeout_of(&section, milestone_id)),
            blocking,
        }
    }

    fn decide(
        self,
        stated: &StatedDecision,
        mut why: Vec<String>,
        contradictions: &mut Vec<String>,
    ) -> ReviewDecision {
        match stated {
            StatedDecision::Approved => {
                if !self.has_closeout {
                    why.push("approved without a section \"### Roadmap Closeout\"".to_owned());
                }
                if let Some(target) = self.retry {
                    why.push(format!("approved, and yet the retry target is {target}"));
                }
                if !self.required_changes.is_empty() {
                    why.push("approved, and yet changes are required".to_owned());
                }
                if self.blocking {
                    why.push("approved, and yet a finding is blocking".to_owned());
                }
                why.extend(self.closeout.iter().flat_map(mode_faults));
                approved_or(self.closeout, why)
            }
            StatedDecision::Rejected(_) => {
                if self.closeout.as_ref().is_some_and(Closeout::has_edits) {
                    contradictions
                        .push("rejected, and yet a closeout is stated; it does not count".to_owned());
                }
                // Whatever is wrong with a closeout that does not count is no fault.
                why.retain(|sentence| sentence.contains("### Retry"));
                rejected_or(self.retry, self.required_changes, why)
            }
        }
    }
}

pub(super) fn approved_or(closeout: Option<Closeout>, mut why: Vec<String>) -> ReviewDecision {
    match closeout {
        Some(closeout) if why.is_empty() => ReviewDecision::Approved { closeout },
        _ => {
            if why.is_empty() {
                why.push("approved without a valid closeout".to_owned());
            }
            ReviewDecision::Unclassified { why: why.join("; ") }
        }
    }
}

pub(super) fn rejected_or(
    retry_target: Option<RetryTarget>,
    required_changes: Vec<String>,
    mut why: Vec<String>,
) -> ReviewDecision {
    if retry_target.is_none() && why.is_empty() {
        why.push("rejected without a retry target of implement, plan or blocked".to_owned());
    }
    if required_changes.is_empty() {
        why.push("rejected without required changes".to_owned());
    }
    match retry_target {
        Some(retry_target) if why.is_empty() => ReviewDecision::Rejected { retry_target, required_changes },
        _ => ReviewDecision::Unclassified { why: why.join("; ") },
    }
}
