//! What people call things: ids, slugs and numbers. A number needs its project, said or the only one that has it.

use crate::asked::Asked;
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::plan::StoryNumber;
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::vocabulary::{AgentId, EpicId, ProjectId, StoryId};

pub(crate) fn project(ledger: &Ledger, word: &str) -> Decided<ProjectId> {
    let plan = &ledger.plan;
    if let Ok(id) = word.parse() {
        return plan.project(id).map(|project| project.id).ok_or_else(|| Refusal::not_found("project"));
    }
    if let Some(project) = plan.project_by_slug(word) {
        return Ok(project.id);
    }
    let mut named = plan.projects().filter(|project| project.name == word);
    match (named.next(), named.next()) {
        (Some(project), None) => Ok(project.id),
        (None, _) => Err(Refusal::not_found("project")),
        (Some(_), Some(_)) => {
            Err(Refusal::new(Kind::Conflict, format!("several projects are called {word}"))
                .with_code(RefusalCode::Ambiguous)
                .with_remedy("name it by its slug: `windlass story project list` has it"))
        }
    }
}

/// `project_id` or `project` in the query, if either is there.
pub(crate) fn project_in_query(ledger: &Ledger, asked: &Asked) -> Decided<Option<ProjectId>> {
    asked.query("project_id").or_else(|| asked.query("project")).map(|word| project(ledger, word)).transpose()
}

fn project_said(ledger: &Ledger, asked: &Asked) -> Decided<Option<ProjectId>> {
    let in_body = asked.text("project_id").or_else(|| asked.text("project"));
    match project_in_query(ledger, asked)? {
        Some(id) => Ok(Some(id)),
        None => in_body.map(|word| project(ledger, word)).transpose(),
    }
}

pub(crate) fn epic(ledger: &Ledger, asked: &Asked, word: &str) -> Decided<EpicId> {
    let missing = || Refusal::not_found("epic");
    if let Ok(id) = word.parse() {
        return ledger.plan.epic(id).map(|epic| epic.id).ok_or_else(missing);
    }
    let number: u32 = word.trim_start_matches("epic-").parse().map_err(|_| missing())?;
    if let Some(project) = project_said(ledger, asked)? {
        return ledger.plan.epic_by_number(project, number).map(|epic| epic.id).ok_or_else(missing);
    }
    let found: Vec<EpicId> = ledger
        .plan
        .projects()
        .filter_map(|project| ledger.plan.epic_by_number(project.id, number))
        .map(|epic| epic.id)
        .collect();
    only(&found, "epic", word)
}

pub(crate) fn story(ledger: &Ledger, asked: &Asked, word: &str) -> Decided<StoryId> {
    let missing = || Refusal::not_found("story");
    if let Ok(id) = word.parse() {
        return ledger.plan.story(id).map(|story| story.id).ok_or_else(missing);
    }
    let number: StoryNumber = word.parse().map_err(|_| missing())?;
    if let Some(project) = project_said(ledger, asked)? {
        return ledger.plan.story_by_number(project, number).map(|story| story.id).ok_or_else(missing);
    }
    let found: Vec<StoryId> = ledger.plan.stories_numbered(number).map(|story| story.id).collect();
    only(&found, "story", word)
}

/// An agent by id or name.
pub(crate) fn agent(ledger: &Ledger, word: &str) -> Decided<AgentId> {
    let found = match word.parse() {
        Ok(id) => ledger.tenancy.agent(id),
        Err(_) => ledger.tenancy.agent_by_name(word),
    };
    found.map(|agent| agent.id).ok_or_else(|| Refusal::not_found("agent"))
}

fn only<Id: Copy>(found: &[Id], what: &str, word: &str) -> Decided<Id> {
    match found {
        [] => Err(Refusal::not_found(what)),
        [one] => Ok(*one),
        _ => Err(Refusal::new(Kind::Conflict, format!("several projects have the {what} {word}"))
            .with_code(RefusalCode::Ambiguous)),
    }
}

/// The ones in the path of this request.
pub(crate) fn story_in_path(ledger: &Ledger, asked: &Asked) -> Decided<StoryId> {
    story(ledger, asked, asked.parameter("id"))
}

pub(crate) fn epic_in_path(ledger: &Ledger, asked: &Asked) -> Decided<EpicId> {
    epic(ledger, asked, asked.parameter("id"))
}

pub(crate) fn project_in_path(ledger: &Ledger, asked: &Asked) -> Decided<ProjectId> {
    project(ledger, asked.parameter("id"))
}
