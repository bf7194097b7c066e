//! Prompts with versions, and what came of each version. A version never changes; a new text is a new version.
//! Reading order: this file, `commands`, `results`.

mod commands;
mod results;

pub use commands::{
    ChangeSkill, CreateSkill, ImportedSkill, Imports, NewVersion, add_version, archive_skill, change_skill,
    create_skill, import_skills,
};
pub use results::{
    CostPerformance, Metrics, RecordResult, SkillResult, VersionStats, cost_performance, record_result, stats,
};

use super::facts::Entry;
use super::vocabulary::{
    JsonText, Micros, ProjectId, SkillId, SkillResultId, SkillVersionId, StoryId, VerificationId,
};
use super::words::words;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub skills: BTreeMap<SkillId, Skill>,
    versions: BTreeMap<SkillVersionId, (SkillId, u32)>,
    by_name: BTreeMap<(Option<ProjectId>, String), SkillId>,
}

words! {
    pub enum SkillStatus {
        Active = "active",
        Archived = "archived",
    }
}

words! {
    /// How the verification ended that a result belongs to.
    pub enum Verdict {
        Pass = "pass",
        Fail = "fail",
        Partial = "partial",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub id: SkillId,
    pub name: String,
    pub description: String,
    pub project: Option<ProjectId>,
    pub status: SkillStatus,
    pub metadata: JsonText,
    pub created_at: Micros,
    pub updated_at: Micros,
    /// Version 1 first.
    pub versions: Vec<Version>,
    pub results: Vec<SkillResult>,
}

impl Skill {
    pub fn current(&self) -> Option<&Version> {
        self.versions.last()
    }

    pub fn version(&self, number: u32) -> Option<&Version> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.versions.get(place)
    }

    pub fn results_of(&self, number: u32) -> impl Iterator<Item = &SkillResult> {
        self.results.iter().filter(move |result| result.version == number)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub id: SkillVersionId,
    pub number: u32,
    pub prompt_text: String,
    pub changelog: Option<String>,
    pub created_by: String,
    pub created_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Created {
        skill: SkillId,
        name: String,
        description: String,
        project: Option<ProjectId>,
        metadata: JsonText,
    },
    /// Its number is the next: entries are in order.
    VersionAdded {
        skill: SkillId,
        version: SkillVersionId,
        prompt_text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changelog: Option<String>,
    },
    Changed {
        skill: SkillId,
        description: String,
        status: SkillStatus,
        metadata: JsonText,
    },
    ResultRecorded {
        result: SkillResultId,
        skill: SkillId,
        version: u32,
        verification: Option<VerificationId>,
        story: StoryId,
        verdict: Verdict,
        metrics: Box<Metrics>,
    },
}

impl State {
    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Created { skill, name, description, project, metadata } => {
                self.by_name.insert((*project, name.clone()), *skill);
                let created = Skill {
                    id: *skill,
                    name: name.clone(),
                    description: description.clone(),
                    project: *project,
                    status: SkillStatus::Active,
                    metadata: metadata.clone(),
                    created_at: entry.at,
                    updated_at: entry.at,
                    versions: Vec::new(),
                    results: Vec::new(),
                };
                self.skills.insert(*skill, created);
            }
            Change::VersionAdded { skill, version, prompt_text, changelog } => {
                let Some(kept) = self.skills.get_mut(skill) else { return };
                let number = u32::try_from(kept.versions.len()).unwrap_or(u32::MAX).saturating_add(1);
                kept.updated_at = entry.at;
                kept.versions.push(Version {
                    id: *version,
                    number,
                    prompt_text: prompt_text.clone(),
                    changelog: changelog.clone(),
                    created_by: entry.by.label.clone(),
                    created_at: entry.at,
                });
                self.versions.insert(*version, (*skill, number));
            }
            Change::Changed { skill, description, status, metadata } => {
                if let Some(kept) = self.skills.get_mut(skill) {
                    kept.description.clone_from(description);
                    kept.status = *status;
                    kept.metadata = metadata.clone();
                    kept.updated_at = entry.at;
                }
            }
            Change::ResultRecorded { result, skill, version, verification, story, verdict, metrics } => {
                if let Some(kept) = self.skills.get_mut(skill) {
                    kept.results.push(SkillResult {
                        id: *result,
                        version: *version,
                        verification: *verification,
                        story: *story,
                        verdict: *verdict,
                        metrics: (**metrics).clone(),
                        at: entry.at,
                    });
                }
            }
        }
    }

    pub fn named(&self, project: Option<ProjectId>, name: &str) -> Option<&Skill> {
        self.by_name.get(&(project, name.into())).and_then(|id| self.skills.get(id))
    }

    pub fn version(&self, id: SkillVersionId) -> Option<(&Skill, &Version)> {
        let (skill, number) = self.versions.get(&id)?;
        let skill = self.skills.get(skill)?;
        Some((skill, skill.version(*number)?))
    }

    /// By name; the pattern is part of a name, in any case, and `*` or `%` stand for anything.
    pub fn matching<'a>(&'a self, pattern: &str) -> impl Iterator<Item = &'a Skill> {
        let parts: Vec<String> = pattern.to_lowercase().split(['*', '%']).map(String::from).collect();
        self.by_name.values().filter_map(|id| self.skills.get(id)).filter(move |skill| {
            let name = skill.name.to_lowercase();
            let mut rest = name.as_str();
            parts.iter().all(|part| match rest.split_once(part.as_str()) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            })
        })
    }
}
