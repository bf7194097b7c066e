//! Making skills, giving them new texts, and taking many in at once. All of it is a user's.

use super::{Change, Skill, SkillStatus};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{JsonText, KeyRole, ProjectId, SkillId, SkillVersionId};
use crate::protocol::story_queue::words::{check_length, check_text};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const PROMPT_CHARACTERS: usize = 200_000;
const IMPORTED_AT_ONCE: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateSkill {
    pub name: String,
    pub description: String,
    pub prompt_text: String,
    pub project: Option<ProjectId>,
    pub metadata: JsonText,
}

/// With its first version.
pub fn create_skill(draft: &mut Draft<'_>, ask: CreateSkill) -> Decided<SkillId> {
    draft.caller().require_at_least(KeyRole::User)?;
    check_new(&ask)?;
    if draft.ledger().skills.named(ask.project, &ask.name).is_some() {
        let message = format!("a skill named {} exists already", ask.name);
        return Err(Refusal::new(Kind::Conflict, message)
            .with_detail("name", "has already been taken")
            .with_remedy("add a version to it: `windlass story skill update NAME --file FILE` (POST /skills/:id/versions)"));
    }
    Ok(record_new(draft, ask))
}

fn check_new(ask: &CreateSkill) -> Decided<()> {
    check_text("name", &ask.name, 255)?;
    check_length("description", &ask.description, 10_000)?;
    check_text("prompt_text", &ask.prompt_text, PROMPT_CHARACTERS)
}

fn record_new(draft: &mut Draft<'_>, ask: CreateSkill) -> SkillId {
    let skill = SkillId(draft.ids().fresh());
    let change = Change::Created {
        skill,
        name: ask.name,
        description: ask.description,
        project: ask.project,
        metadata: ask.metadata,
    };
    draft.record(ask.project, facts::Change::Skills(change));
    record_version(draft, skill, ask.project, NewVersion { prompt_text: ask.prompt_text, changelog: None });
    skill
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    pub prompt_text: String,
    pub changelog: Option<String>,
}

/// Answers the version's number.
pub fn add_version(draft: &mut Draft<'_>, skill: SkillId, ask: NewVersion) -> Decided<u32> {
    draft.caller().require_at_least(KeyRole::User)?;
    let kept = existing(draft, skill)?;
    let (project, status) = (kept.project, kept.status);
    if status == SkillStatus::Archived {
        return Err(archived(&kept.name));
    }
    check_text("prompt_text", &ask.prompt_text, PROMPT_CHARACTERS)?;
    check_length("changelog", ask.changelog.as_deref().unwrap_or_default(), 10_000)?;
    record_version(draft, skill, project, ask);
    Ok(existing(draft, skill)?.current().map_or(1, |version| version.number))
}

fn archived(name: &str) -> Refusal {
    Refusal::new(Kind::Conflict, format!("the skill {name} is archived")).with_remedy(
        "make it active first: `windlass story skill activate NAME`, or PATCH it with \"status\": \"active\"",
    )
}

fn record_version(draft: &mut Draft<'_>, skill: SkillId, project: Option<ProjectId>, ask: NewVersion) {
    let version = SkillVersionId(draft.ids().fresh());
    let change =
        Change::VersionAdded { skill, version, prompt_text: ask.prompt_text, changelog: ask.changelog };
    draft.record(project, facts::Change::Skills(change));
}

pub(super) fn existing<'a>(draft: &'a Draft<'_>, id: SkillId) -> Decided<&'a Skill> {
    draft.ledger().skills.skills.get(&id).ok_or_else(|| Refusal::not_found("skill"))
}

/// What is absent stays as it is. The text is not among it: that is a new version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSkill {
    pub description: Option<String>,
    pub status: Option<SkillStatus>,
    pub metadata: Option<JsonText>,
}

pub fn change_skill(draft: &mut Draft<'_>, skill: SkillId, ask: ChangeSkill) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let kept = existing(draft, skill)?;
    let project = kept.project;
    let description = ask.description.unwrap_or_else(|| kept.description.clone());
    let status = ask.status.unwrap_or(kept.status);
    let metadata = ask.metadata.unwrap_or_else(|| kept.metadata.clone());
    check_length("description", &description, 10_000)?;
    draft.record(project, facts::Change::Skills(Change::Changed { skill, description, status, metadata }));
    Ok(())
}

pub fn archive_skill(draft: &mut Draft<'_>, skill: SkillId) -> Decided<()> {
    let ask = ChangeSkill { status: Some(SkillStatus::Archived), ..ChangeSkill::default() };
    change_skill(draft, skill, ask)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSkill {
    pub name: String,
    pub description: Option<String>,
    pub prompt_text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    pub total: usize,
    pub created: usize,
    pub updated: usize,
    pub unchanged: usize,
}

/// All or none: creates what is missing, and adds a version where the trimmed text differs.
pub fn import_skills(
    draft: &mut Draft<'_>,
    project: Option<ProjectId>,
    skills: Vec<ImportedSkill>,
) -> Decided<Imports> {
    draft.caller().require_at_least(KeyRole::User)?;
    if skills.len() > IMPORTED_AT_ONCE {
        return Err(Refusal::field("skills", &format!("should be at most {IMPORTED_AT_ONCE}")));
    }
    let mut names = BTreeSet::new();
    for (place, skill) in skills.iter().enumerate() {
        let at_place = |mut refusal: Refusal| {
            refusal.message = format!("skills[{place}].{}", refusal.message);
            refusal
        };
        check_new(&as_new(project, skill.clone())).map_err(at_place)?;
        if !names.insert(skill.name.as_str()) {
            let twice = format!("{} stands twice in this import", skill.name);
            return Err(at_place(Refusal::field("name", &twice)));
        }
        let kept = draft.ledger().skills.named(project, &skill.name);
        if let Some(kept) = kept.filter(|kept| kept.status == SkillStatus::Archived) {
            return Err(archived(&kept.name));
        }
    }
    let mut imports = Imports { total: skills.len(), ..Imports::default() };
    for skill in skills {
        let known = draft.ledger().skills.named(project, &skill.name).map(|kept| {
            let same = kept.current().is_some_and(|now| now.prompt_text.trim() == skill.prompt_text.trim());
            (kept.id, same)
        });
        match known {
            None => {
                record_new(draft, as_new(project, skill));
                imports.created += 1;
            }
            Some((_, true)) => imports.unchanged += 1,
            Some((id, false)) => {
                let changelog = Some("imported".into());
                record_version(draft, id, project, NewVersion { prompt_text: skill.prompt_text, changelog });
                imports.updated += 1;
            }
        }
    }
    Ok(imports)
}

fn as_new(project: Option<ProjectId>, skill: ImportedSkill) -> CreateSkill {
    CreateSkill {
        name: skill.name,
        description: skill.description.unwrap_or_default(),
        prompt_text: skill.prompt_text,
        project,
        metadata: JsonText::default(),
    }
}
