//! The two documents of a semantic roadmap update: the planner's `…-roadmap-update.md` and the reviewer's decision about it.
//! The new revision itself is a bundle like any other and is read elsewhere.

use super::labelled::{Label, Labelled, readable};
use super::review::StatedDecision;
use crate::faults::Faults;
use crate::fields::choice;

const UPDATE: &str = "roadmap-update.md";
const REVIEW: &str = "roadmap-update-review.md";

/// Where the two documents of an update stand, from the top of the repository.
pub fn update_artifact(round_id: &str) -> String {
    format!("orchestrator/roadmap-updates/{round_id}-{UPDATE}")
}

pub fn update_review_artifact(round_id: &str) -> String {
    format!("orchestrator/roadmap-updates/{round_id}-{REVIEW}")
}

choice! {
    UpdateTrigger {
        /// An approved review asked for it.
        MergedRound = "merged-round",
        /// A planner found no bounded round.
        PlannerRequest = "planner-request",
    }
}

/// What the controller recorded about the update; the document must say the same.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedUpdate<'a> {
    pub source_round_id: &'a str,
    pub trigger: UpdateTrigger,
    pub roadmap_id: &'a str,
    pub prior_revision: &'a str,
    pub proposed_revision: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoadmapUpdate {
    pub source_round_id: String,
    pub trigger: UpdateTrigger,
    /// Nothing for a planner's request, which never merges.
    pub merged_commit: Option<String>,
    pub evidence: String,
    pub roadmap_id: String,
    pub prior_revision: String,
    pub proposed_revision: String,
    pub files_changed: Vec<String>,
    pub rationale: String,
    pub new_roadmap_dir: String,
}

impl RoadmapUpdate {
    pub fn parse(text: &str, expected: &ExpectedUpdate<'_>) -> Result<Self, Faults> {
        let text = readable(UPDATE, text)?;
        let document = Labelled::read(UPDATE, &text);
        let source = document.required("Source Round").and_then(|section| source_of(&document, &section));
        let change = document.required("Roadmap Change").map(|section| {
            let known = ["Roadmap id", "Prior revision", "Proposed revision", "Files changed"];
            let labels = section.labels(&known);
            let files = labels.ids(known[3]);
            if files.is_empty() {
                document.report("### Roadmap Change: \"Files changed:\" names no file".to_owned());
            }
            ([labels.filled(known[0]), labels.filled(known[1]), labels.filled(known[2])], files)
        });
        let rationale = document.required("Rationale").map(|section| section.text()).unwrap_or_default();
        if rationale.is_empty() {
            document.report("### Rationale: must not be empty".to_owned());
        }
        let new_roadmap_dir = document.required("State Activation").map(|section| {
            let known = [
                "Requires state.json roadmap metadata update",
                "Requires state metadata update",
                "New roadmap_dir when applicable",
                "New roadmap_dir",
            ];
            let labels = section.labels(&known);
            let needs = labels.get(known[0]).or_else(|| labels.get(known[1])).and_then(Label::word);
            if !matches!(needs.as_deref(), Some("yes" | "true")) {
                document.report("### State Activation: must say that the state changes: yes".to_owned());
            }
            let dir = labels.get(known[2]).or_else(|| labels.get(known[3])).and_then(Label::text);
            dir.unwrap_or_default()
        });
        let update = source.zip(change).map(|((round, trigger, merged_commit, evidence), (ids, files))| {
            let [roadmap_id, prior_revision, proposed_revision] = ids;
            Self {
                source_round_id: round,
                trigger,
                merged_commit,
                evidence,
                roadmap_id,
                prior_revision,
                proposed_revision,
                files_changed: files,
                rationale,
                new_roadmap_dir: new_roadmap_dir.unwrap_or_default(),
            }
        });
        for sentence in update.iter().flat_map(|update| update.differences(expected)) {
            document.report(sentence);
        }
        document.finish(update)
    }

    fn differences(&self, expected: &ExpectedUpdate<'_>) -> Vec<String> {
        let pairs = [
            ("Round id", self.source_round_id.as_str(), expected.source_round_id),
            ("Trigger", self.trigger.as_str(), expected.trigger.as_str()),
            ("Prior revision", &self.prior_revision, expected.prior_revision),
            ("Proposed revision", &self.proposed_revision, expected.proposed_revision),
        ];
        let differs = |(label, found, wanted): &(&str, &str, &str)| {
            (found != wanted).then(|| format!("\"{label}:\" must be {wanted}, found {found}"))
        };
        let mut faults: Vec<String> = pairs.iter().filter_map(differs).collect();
        let ends = format!("{}/{}", self.roadmap_id, self.proposed_revision);
        if !self.new_roadmap_dir.trim_end_matches('/').ends_with(&ends) {
            let found = &self.new_roadmap_dir;
            faults.push(format!(
                "### State Activation: the new roadmap_dir must end with {ends}, found {found}"
            ));
        }
        faults
    }

    /// The update moves on to another family, which the approving review must say as well.
    pub fn migrates_family(&self, expected: &ExpectedUpdate<'_>) -> bool {
        self.roadmap_id != expected.roadmap_id
    }
}

type Source = (String, UpdateTrigger, Option<String>, String);

fn source_of(document: &Labelled<'_>, section: &super::labelled::Section<'_, '_>) -> Option<Source> {
    let labels = section.labels(&["Round id", "Trigger", "Merged commit", "Evidence"]);
    let round = labels.filled("Round id");
    let trigger = labels.choice::<UpdateTrigger>("Trigger");
    let commit = labels.required("Merged commit").and_then(Label::text);
    let evidence = labels.filled("Evidence");
    match (trigger, &commit) {
        (Some(UpdateTrigger::MergedRound), None) => {
            document.report("### Source Round: \"Merged commit:\" is needed after a merged round".to_owned());
        }
        (Some(UpdateTrigger::PlannerRequest), Some(_)) => {
            document
                .report("### Source Round: a planner's request has no merged commit; write none".to_owned());
        }
        _ => {}
    }
    Some((round, trigger?, commit, evidence))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateReview {
    pub decision: StatedDecision,
    /// The roadmap id that an approval moves on to; nothing where the family stays.
    pub family_migration: Option<String>,
}

impl UpdateReview {
    /// The decision line is exactly `APPROVED`, or `REJECTED:` with reason and required changes.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        let text = readable(REVIEW, text)?;
        let document = Labelled::read(REVIEW, &text);
        for title in ["Checks Run", "Roadmap Compliance"] {
            if document.required(title).is_some_and(|section| !section.has_words()) {
                document.report(format!("### {title}: must not be empty"));
            }
        }
        let family_migration = document.optional("Roadmap Compliance").and_then(|section| {
            let labels = section.labels(&["Family migration"]);
            labels.get("Family migration").and_then(Label::text)
        });
        let decision = document.required("Decision").and_then(|section| {
            let stated = StatedDecision::find(section.lines().iter().map(|line| line.text));
            stated.map_err(|why| document.report(format!("### Decision: {why}"))).ok()
        });
        document.finish(decision.map(|decision| Self { decision, family_migration }))
    }
}
