//! What people answered, as they wrote it ([`Outline`]), and what it comes to once everything left open is filled in and
//! held against the rules ([`Family`]). Words become one line each, so that no answer can break the files made of it.

use serde::Deserialize;
use std::collections::HashSet;

use super::questions::{BESIDE_EACH_OTHER, QUESTIONS};
use crate::control_loop::slug;
use crate::faults::Faults;
use crate::roadmap_loop::closeout::MilestoneStatus;

pub const DEFAULT_LANE: &str = "main";
const ANSWERS: &str = "the answers";
const HINTS: [&str; 2] = ["serial-by-default", "lane-safe-only"];

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Outline {
    pub title: String,
    pub outcome: String,
    pub non_goals: Vec<String>,
    pub architecture_posture: String,
    pub compatibility_promises: Vec<String>,
    pub verification_standard: String,
    pub sequencing_strategy: String,
    pub concurrency_posture: String,
    pub risk_posture: String,
    pub deferred_alternatives: Vec<String>,
    pub baseline_checks: Vec<String>,
    pub manual_checks: Vec<String>,
    pub max_parallel_rounds: Option<u32>,
    pub milestones: Vec<OutlineMilestone>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct OutlineMilestone {
    pub id: String,
    pub title: String,
    pub intent: String,
    pub completion_signal: String,
    /// Ids, or numbers of milestones in the file.
    pub depends_on: Vec<String>,
    pub lane: String,
    pub notes: String,
    pub directions: Vec<OutlineDirection>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct OutlineDirection {
    pub id: String,
    pub summary: String,
    pub why_now: String,
    pub preconditions: Vec<String>,
    pub parallel_hints: String,
    pub boundary_notes: String,
    pub extraction_notes: String,
}

/// A family that can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    pub title: String,
    pub ledger: Ledger,
    pub baseline_checks: Vec<String>,
    pub manual_checks: Vec<String>,
    pub max_parallel_rounds: u32,
    pub milestones: Vec<FamilyMilestone>,
}

/// What was agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    pub outcome: String,
    pub non_goals: Vec<String>,
    pub architecture_posture: String,
    pub compatibility_promises: Vec<String>,
    pub verification_standard: String,
    pub sequencing_strategy: String,
    pub concurrency_posture: String,
    pub risk_posture: String,
    pub deferred_alternatives: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyMilestone {
    pub id: String,
    pub status: MilestoneStatus,
    pub title: String,
    pub intent: String,
    pub completion_signal: String,
    pub depends_on: Vec<String>,
    pub lane: String,
    pub notes: String,
    pub directions: Vec<FamilyDirection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyDirection {
    pub id: String,
    pub summary: String,
    pub why_now: String,
    pub preconditions: Vec<String>,
    pub parallel_hints: String,
    pub boundary_notes: String,
    pub extraction_notes: String,
}

impl Ledger {
    /// Name and words of every entry, in the order it is agreed to.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let joined = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join("; ") };
        vec![
            ("Outcome", self.outcome.clone()),
            ("Non-goals", joined(&self.non_goals)),
            ("Architecture posture", self.architecture_posture.clone()),
            ("Compatibility promises", joined(&self.compatibility_promises)),
            ("Verification standard", self.verification_standard.clone()),
            ("Sequencing strategy", self.sequencing_strategy.clone()),
            ("Concurrency posture", self.concurrency_posture.clone()),
            ("Risk posture", self.risk_posture.clone()),
            ("Deferred alternatives", joined(&self.deferred_alternatives)),
        ]
    }
}

impl Outline {
    /// The family, or everything that keeps it from being one.
    pub fn settle(&self) -> Result<Family, Faults> {
        let mut faults = Vec::new();
        for (key, value) in [("title", &self.title), ("outcome", &self.outcome)] {
            if plain(value).is_empty() {
                faults.push(format!("`{key}` is missing"));
            }
        }
        if self.milestones.is_empty() {
            faults.push("there is no milestone; one is needed at least".to_owned());
        }
        let max_parallel_rounds = self.max_parallel_rounds.unwrap_or(1);
        if max_parallel_rounds == 0 {
            faults.push("`max-parallel-rounds` must be 1 or more".to_owned());
        }
        let ids: Vec<String> = self
            .milestones
            .iter()
            .enumerate()
            .map(|(index, milestone)| milestone.settled_id(index))
            .collect();
        let milestones: Vec<FamilyMilestone> = self
            .milestones
            .iter()
            .enumerate()
            .map(|(index, milestone)| milestone.settle(index, &ids, &mut faults))
            .collect();
        faults.extend(id_faults(&milestones));
        faults.extend(circle_fault(&milestones));
        Faults::unless_empty(ANSWERS, faults, || {
            Some(Family {
                title: plain(&self.title),
                ledger: self.ledger(),
                baseline_checks: plain_all(&self.baseline_checks),
                manual_checks: plain_all(&self.manual_checks),
                max_parallel_rounds,
                milestones,
            })
        })
    }

    fn ledger(&self) -> Ledger {
        let or_recommended = |key: &str, given: &str| match plain(given) {
            given if given.is_empty() => recommended(key),
            given => given,
        };
        Ledger {
            outcome: plain(&self.outcome),
            non_goals: plain_all(&self.non_goals),
            architecture_posture: or_recommended("architecture-posture", &self.architecture_posture),
            compatibility_promises: plain_all(&self.compatibility_promises),
            verification_standard: or_recommended("verification-standard", &self.verification_standard),
            sequencing_strategy: or_recommended("sequencing-strategy", &self.sequencing_strategy),
            concurrency_posture: match plain(&self.concurrency_posture) {
                // Planners read both: the words must not forbid what the number allows.
                given if given.is_empty() && self.max_parallel_rounds.is_some_and(|most| most > 1) => {
                    BESIDE_EACH_OTHER.to_owned()
                }
                given => or_recommended("concurrency-posture", &given),
            },
            risk_posture: or_recommended("risk-posture", &self.risk_posture),
            deferred_alternatives: plain_all(&self.deferred_alternatives),
        }
    }
}

impl OutlineMilestone {
    fn settled_id(&self, index: usize) -> String {
        match plain(&self.id) {
            id if id.is_empty() => format!("milestone-{:02}-{}", index + 1, slug(&self.title)),
            id => id,
        }
    }

    fn settle(&self, index: usize, ids: &[String], faults: &mut Vec<String>) -> FamilyMilestone {
        let id = ids[index].clone();
        let title = plain(&self.title);
        if title.is_empty() {
            faults.push(format!("milestone {} has no title", index + 1));
        }
        let intent = or(plain(&self.intent), &title);
        let depends_on = self.depends_on.iter().filter_map(|name| {
            let found = milestone_named(name, ids);
            if found.is_none() {
                faults.push(format!("{id} depends on `{}`, which is no milestone of this file", plain(name)));
            }
            found
        });
        let depends_on = depends_on.collect();
        let mut given = self.directions.clone();
        if given.is_empty() {
            // A milestone nobody has looked into yet still needs one place to begin.
            given.push(OutlineDirection { summary: intent.clone(), ..OutlineDirection::default() });
        }
        let directions = given.iter().enumerate();
        let directions =
            directions.map(|(place, direction)| direction.settle((index, place), &id, ids, faults)).collect();
        FamilyMilestone {
            completion_signal: or(
                plain(&self.completion_signal),
                "Its checks pass and a reviewer names the evidence.",
            ),
            status: MilestoneStatus::Pending,
            lane: or(plain(&self.lane), DEFAULT_LANE),
            notes: or(plain(&self.notes), "none"),
            id,
            title,
            intent,
            depends_on,
            directions,
        }
    }
}

impl OutlineDirection {
    fn settle(
        &self,
        (milestone, place): (usize, usize),
        owner: &str,
        ids: &[String],
        faults: &mut Vec<String>,
    ) -> FamilyDirection {
        let summary = plain(&self.summary);
        if summary.is_empty() {
            faults.push(format!("direction {} of {owner} has no summary", place + 1));
        }
        let parallel_hints = or(plain(&self.parallel_hints), HINTS[0]);
        if !HINTS.contains(&parallel_hints.as_str()) {
            faults.push(format!(
                "direction {} of {owner}: `parallel-hints` must be {} or {}, found `{parallel_hints}`",
                place + 1,
                HINTS[0],
                HINTS[1]
            ));
        }
        let minted = || format!("direction-{:02}-{:02}-{}", milestone + 1, place + 1, slug(&summary));
        let id = Some(plain(&self.id)).filter(|id| !id.is_empty()).unwrap_or_else(minted);
        let known = |text: &String| milestone_named(text, ids).unwrap_or_else(|| plain(text));
        FamilyDirection {
            id,
            summary,
            why_now: or(plain(&self.why_now), "none"),
            preconditions: self.preconditions.iter().map(known).filter(|text| !text.is_empty()).collect(),
            parallel_hints,
            boundary_notes: or(plain(&self.boundary_notes), "none"),
            extraction_notes: or(plain(&self.extraction_notes), "none"),
        }
    }
}

/// By id, or by its number in the file.
fn milestone_named(name: &str, ids: &[String]) -> Option<String> {
    let name = plain(name);
    let by_number = || ids.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    ids.iter().find(|id| **id == name).or_else(by_number).cloned()
}

fn id_faults(milestones: &[FamilyMilestone]) -> Vec<String> {
    let mut faults = Vec::new();
    let directions =
        milestones.iter().flat_map(|milestone| &milestone.directions).map(|direction| &direction.id);
    for (kind, ids) in [
        ("milestone", milestones.iter().map(|milestone| &milestone.id).collect::<Vec<_>>()),
        ("direction", directions.collect()),
    ] {
        let mut seen = HashSet::new();
        for id in ids {
            if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
                faults.push(format!("the {kind} id `{id}` may have letters, digits, `-`, `_` and `.` only"));
            }
            if !seen.insert(id) {
                faults.push(format!("the {kind} id `{id}` is there twice"));
            }
        }
    }
    faults
}

fn circle_fault(milestones: &[FamilyMilestone]) -> Option<String> {
    let mut free: HashSet<&str> = HashSet::new();
    for _ in milestones {
        let ready =
            milestones.iter().filter(|one| one.depends_on.iter().all(|id| free.contains(id.as_str())));
        let ready: Vec<&str> = ready.map(|one| one.id.as_str()).collect();
        free.extend(ready);
    }
    let stuck: Vec<&str> =
        milestones.iter().map(|one| one.id.as_str()).filter(|id| !free.contains(id)).collect();
    (!stuck.is_empty()).then(|| format!("dependencies go in a circle: {}", stuck.join(", ")))
}

fn recommended(key: &str) -> String {
    let question = QUESTIONS.iter().find(|question| question.key == key);
    question
        .and_then(|question| question.suggestions.first())
        .map(|first| first.text)
        .unwrap_or_default()
        .to_owned()
}

fn or(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}

fn plain_all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| plain(text)).filter(|text| !text.is_empty()).collect()
}

/// One line, and nothing in it that would begin a comment in Markdown and hide the rest of the file.
pub(super) fn plain(text: &str) -> String {
    let visible: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ").replace("<!--", "< !--")
}
