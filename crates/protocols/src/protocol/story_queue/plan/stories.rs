//! Stories: added and changed by orchestrators, deleted by users. What was contracted cannot be reworded behind a back.

use super::changes::{Change, StoryEdit};
use super::dependencies::drop_edges_of_story;
use super::entities::{CentiHours, Criterion, Story, StoryNumber};
use super::projects::{LONGEST_DESCRIPTION, LONGEST_TITLE, at_most, filled, required};
use crate::protocol::story_queue::custody::{self, ViolationKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::tenancy;
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole, StoryId};
use crate::protocol::story_queue::work::{self, AgentStatus, VerifiedStatus};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const MOST_CRITERIA: usize = 500;

#[derive(Clone, Debug)]
pub struct AddStory {
    pub epic: EpicId,
    pub number: StoryNumber,
    pub title: String,
    pub description: Option<String>,
    pub criteria: Vec<Criterion>,
    pub estimated_hours: Option<CentiHours>,
    pub metadata: JsonText,
}

/// Whether an edit of a story under work is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditForce {
    #[default]
    Ordinary,
    /// By a user; the story is quarantined until somebody looked.
    Forced,
}

pub fn add_story(draft: &mut Draft, ask: AddStory) -> Decided<Story> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    let plan = &draft.ledger().plan;
    let project = plan.epic(ask.epic).ok_or_else(|| Refusal::not_found("epic"))?.project;
    required("title", &ask.title, LONGEST_TITLE)?;
    at_most("description", ask.description.as_deref(), LONGEST_DESCRIPTION)?;
    require_criteria(&ask.criteria)?;
    if plan.story_by_number(project, ask.number).is_some() {
        let why = format!("the project already has a story {}", ask.number);
        return Err(Refusal::new(Kind::Conflict, why).with_detail("number", "has already been taken"));
    }
    keep_story(draft, ask)
}

/// After every check, here and in the import.
pub(super) fn keep_story(draft: &mut Draft, ask: AddStory) -> Decided<Story> {
    let project = draft.ledger().plan.epic(ask.epic).ok_or_else(|| Refusal::not_found("epic"))?.project;
    let story = Story {
        id: StoryId(draft.ids().fresh()),
        project,
        epic: ask.epic,
        number: ask.number,
        title: ask.title,
        description: filled(ask.description),
        criteria: ask.criteria,
        estimated_hours: ask.estimated_hours,
        metadata: ask.metadata,
        wording: 1,
        created: draft.at(),
        updated: draft.at(),
    };
    let change = Change::StoryAdded { story: Box::new(story.clone()) };
    draft.record(Some(project), facts::Change::Plan(change));
    Ok(story)
}

pub fn change_story(draft: &mut Draft, id: StoryId, now: StoryEdit, force: EditForce) -> Decided<Story> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    if let Some(title) = &now.title {
        required("title", title, LONGEST_TITLE)?;
    }
    at_most("description", now.description.as_deref(), LONGEST_DESCRIPTION)?;
    if let Some(criteria) = &now.criteria {
        require_criteria(criteria)?;
    }
    let rewording = require_rewordable(draft, id, &now, force)?;
    if rewording != Rewording::Harmless {
        custody::require_going(draft)?;
    }
    keep_change(draft, id, now, rewording);
    draft.ledger().plan.story(id).cloned().ok_or_else(|| Refusal::not_found("story"))
}

/// What an edit does to the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewording {
    /// None was made, or the edit leaves its words alone.
    Harmless,
    /// The story goes back and has to be contracted again.
    VoidsContract,
    /// Forced under work: recorded against the story.
    Quarantines,
}

/// Title, description and criteria are what was acknowledged: the implementer's ground does not move under their feet.
pub(super) fn require_rewordable(
    draft: &Draft,
    id: StoryId,
    now: &StoryEdit,
    force: EditForce,
) -> Decided<Rewording> {
    let ledger = draft.ledger();
    let story = ledger.plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    let standing = ledger.work.track(id).map(|track| track.standing).unwrap_or_default();
    let settled = standing.verified == VerifiedStatus::Verified;
    if !story.before(now).rewords(now) {
        return Ok(Rewording::Harmless);
    }
    match standing.agent {
        AgentStatus::Pending if !settled => Ok(Rewording::Harmless),
        AgentStatus::Contracted | AgentStatus::Assigned if !settled => Ok(Rewording::VoidsContract),
        _ if force == EditForce::Forced && draft.caller().role >= KeyRole::User => Ok(Rewording::Quarantines),
        _ => Err(Refusal::new(
            Kind::Conflict,
            format!("story {} is under work or done: its words were acknowledged as they read", story.number),
        )
        .with_code(RefusalCode::ContractBound)
        .with_context("current_agent_status", standing.agent.name())
        .with_context("current_verified_status", standing.verified.name())),
    }
}

pub(super) fn keep_change(draft: &mut Draft, id: StoryId, now: StoryEdit, rewording: Rewording) -> bool {
    let Some(story) = draft.ledger().plan.story(id) else { return false };
    let (project, was) = (story.project, story.before(&now));
    if was == now {
        return false;
    }
    let change = Change::StoryChanged { story: id, was: Box::new(was), now: Box::new(now) };
    draft.record(Some(project), facts::Change::Plan(change));
    match rewording {
        Rewording::Harmless => {}
        Rewording::VoidsContract => work::void_contract(draft, id),
        Rewording::Quarantines => {
            work::void_verdict(draft, id);
            let note =
                Refusal::new(Kind::Conflict, "its words were changed by force while under work or done");
            custody::refuse_as_violation(draft, id, ViolationKind::CriteriaChangedUnderWork, note);
        }
    }
    true
}

pub fn delete_story(draft: &mut Draft, id: StoryId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    require_not_held(draft, id)?;
    let story = draft.ledger().plan.story(id).cloned().ok_or_else(|| Refusal::not_found("story"))?;
    let project = story.project;
    drop_edges_of_story(draft, id);
    draft.record(Some(project), facts::Change::Plan(Change::StoryDeleted { story: Box::new(story) }));
    Ok(())
}

/// With a story that is held what it is held for would go from sight; an agent's key takes none away.
pub(super) fn require_not_held(draft: &Draft, id: StoryId) -> Decided<()> {
    if draft.ledger().work.track(id).is_none_or(|track| track.quarantine.is_empty()) {
        return Ok(());
    }
    tenancy::left_to_people(draft, "a quarantined story is deleted by people, and this key is an agent's")
}

pub(super) fn require_criteria(criteria: &[Criterion]) -> Decided<()> {
    if criteria.len() > MOST_CRITERIA {
        return Err(Refusal::field(
            "acceptance_criteria",
            &format!("should be at most {MOST_CRITERIA} items"),
        ));
    }
    let mut seen = BTreeSet::new();
    for (place, criterion) in criteria.iter().enumerate() {
        let path = |field: &str| format!("acceptance_criteria[{place}].{field}");
        required(&path("criterion"), &criterion.criterion, LONGEST_DESCRIPTION)?;
        required(&path("id"), &criterion.ac_id, 255)?;
        if !seen.insert(criterion.ac_id.as_str()) {
            return Err(Refusal::field(&path("id"), &format!("{} is used twice", criterion.ac_id)));
        }
    }
    Ok(())
}
