//! Stories: what is to be done, what is ready, what is blocked.

use crate::asked::{Asked, Look, Reply};
use crate::resolve::{epic_in_path, project_in_path, project_in_query, story_in_path};
use crate::route::Kind::{Any, Boolean, Integer, List, Number, Object, Text};
use crate::route::{Field, Route, Who, needs, takes};
use crate::{resolve, views};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::plan::{
    self, AddStory, CentiHours, Criterion, CriterionStatus, EditForce, Story, StoryEdit, StoryNumber,
};
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole};
use windlass_protocols::protocol::story_queue::work::{AgentStatus, Listed, VerifiedStatus};

const READING: Who = Who::AtLeast(KeyRole::Agent);
const PLANNING: Who = Who::AtLeast(KeyRole::Orchestrator);

const NEW_STORY: &[Field] = &[
    needs("number", Any),
    needs("title", Text),
    takes("description", Text),
    takes("acceptance_criteria", List),
    takes("estimated_hours", Number),
    takes("metadata", Object),
    takes("epic_number", Integer),
];
const WHERE: &[Field] = &[
    takes("project_id", Text),
    takes("project", Text),
    takes("epic_id", Text),
    takes("limit", Integer),
    takes("offset", Integer),
    takes("page", Integer),
    takes("page_size", Integer),
];

pub(crate) const ROUTES: &[Route] = &[
    Route::read("/stories/ready", READING, "Pending stories with every dependency verified", ready)
        .query(WHERE),
    Route::read("/stories/blocked", READING, "Stories that wait for others, and for which", blocked)
        .query(WHERE),
    Route::read("/stories/awaiting-verification", READING, "Reported stories without a verdict", awaiting)
        .query(WHERE),
    Route::read("/stories", READING, "Stories of a project", list).query(&[
        takes("project_id", Text),
        takes("project", Text),
        takes("epic_id", Text),
        takes("agent_status", Text),
        takes("verified_status", Text),
        takes("limit", Integer),
        takes("offset", Integer),
        takes("page", Integer),
        takes("page_size", Integer),
    ]),
    Route::read("/stories/:id", READING, "One story with its dependencies, artifacts and verdicts", show),
    Route::read("/stories/:id/acceptance_criteria", READING, "What must hold when it is done", criteria),
    Route::write(Patch, "/stories/:id", PLANNING, "Change a story; new words void its contract", change)
        .body(&[
            takes("title", Text),
            takes("description", Text),
            takes("acceptance_criteria", List),
            takes("estimated_hours", Number),
            takes("metadata", Object),
            takes("force", Boolean),
        ]),
    Route::write(Delete, "/stories/:id", Who::AtLeast(KeyRole::User), "Delete a story", delete),
    Route::read("/epics/:id/stories", READING, "An epic's stories", of_epic).query(WHERE),
    Route::write(Post, "/epics/:id/stories", PLANNING, "Add a story to an epic", add_to_epic).body(NEW_STORY),
    Route::write(Post, "/projects/:id/stories", PLANNING, "Add a story by its epic's number", add_to_project)
        .body(NEW_STORY),
];

/// One story's row, with what this list says besides.
fn row(ledger: &Ledger, story: &Story, more: Option<(&'static str, Value)>) -> Value {
    let mut shown = views::plan::story(ledger, story);
    if let (Some((name, value)), Value::Object(fields)) = (more, &mut shown) {
        fields.insert(name.to_owned(), value);
    }
    shown
}

fn rows(look: &Look<'_>, asked: &Asked, stories: &[&Story]) -> Decided<Reply> {
    Ok(Reply::ok(asked.page(100, 500)?.of(stories, |story| row(look.ledger, story, None))))
}

/// A page of a list of work. Only its own stories are looked at, and those of the epic where one is named: of ten thousand
/// others nothing is asked.
fn places(
    look: &Look<'_>,
    asked: &Asked,
    listed: Listed<'_>,
    more: impl Fn(&Story) -> Option<(&'static str, Value)>,
) -> Decided<Reply> {
    let page = asked.page(100, 500)?;
    let plan = &look.ledger.plan;
    let epic = asked.query("epic_id").map(|word| resolve::epic(look.ledger, asked, word)).transpose()?;
    let (stories, total): (Vec<&Story>, usize) = match epic {
        None => {
            let places = listed.iter().skip(page.skip).take(page.size);
            (places.filter_map(|(_, _, id)| plan.story(*id)).collect(), listed.len())
        }
        Some(epic) => {
            let is_listed = |story: &&Story| listed.contains(&(story.project, story.number, story.id));
            let all: Vec<&Story> = plan.stories_of(epic).filter(is_listed).collect();
            (all.iter().copied().skip(page.skip).take(page.size).collect(), all.len())
        }
    };
    let data = stories.into_iter().map(|story| row(look.ledger, story, more(story))).collect();
    Ok(Reply::ok(page.envelope(data, total)))
}

fn ready(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_query(look.ledger, asked)?;
    places(look, asked, look.ledger.work.ready(project), |_| None)
}

fn awaiting(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_query(look.ledger, asked)?;
    places(look, asked, look.ledger.work.awaiting_verdict(project), |_| None)
}

fn blocked(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_query(look.ledger, asked)?;
    let more = |story: &Story| Some(("blocking_dependencies", blockers(look.ledger, story)));
    places(look, asked, look.ledger.work.blocked(project), more)
}

fn blockers(ledger: &Ledger, story: &Story) -> Value {
    let found = ledger.work.blockers(&ledger.plan, story);
    let one = |blocker: &windlass_protocols::protocol::story_queue::work::Blocker| {
        let other = ledger.plan.story(blocker.story)?;
        let standing = ledger.work.track(blocker.story).map(|track| track.standing).unwrap_or_default();
        Some(json!({
            "id": other.id,
            "number": other.number.to_string(),
            "title": other.title,
            "agent_status": standing.agent.name(),
            "verified_status": standing.verified.name(),
            "through_epic_id": blocker.epic,
        }))
    };
    found.iter().filter_map(one).collect::<Vec<_>>().into()
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let Some(project) = project_in_query(look.ledger, asked)? else {
        return Err(Refusal::new(Kind::Malformed, "say whose stories: project_id is missing"));
    };
    let epic = asked.query("epic_id").map(|word| resolve::epic(look.ledger, asked, word)).transpose()?;
    let agent = named(asked, "agent_status", &AgentStatus::ALL, AgentStatus::name)?;
    let verified = named(asked, "verified_status", &VerifiedStatus::ALL, VerifiedStatus::name)?;
    let standing =
        |story: &Story| look.ledger.work.track(story.id).map(|track| track.standing).unwrap_or_default();
    let stories: Vec<&Story> = look
        .ledger
        .plan
        .stories_of_project(project)
        .filter(|story| epic.is_none_or(|epic| story.epic == epic))
        .filter(|story| agent.is_none_or(|status| standing(story).agent == status))
        .filter(|story| verified.is_none_or(|status| standing(story).verified == status))
        .collect();
    rows(look, asked, &stories)
}

fn named<T: Copy>(asked: &Asked, field: &str, all: &[T], name: fn(T) -> &'static str) -> Decided<Option<T>> {
    let Some(text) = asked.query(field) else { return Ok(None) };
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.map(Some).ok_or_else(|| Refusal::field(field, "is not a status"))
}

fn show(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(look.ledger, asked)?;
    let story = look.ledger.plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    let mut shown = views::plan::story(look.ledger, story);
    let numbered = |id| {
        look.ledger
            .plan
            .story(id)
            .map(|story| json!({ "id": story.id, "number": story.number.to_string(), "title": story.title }))
    };
    let needs: Vec<Value> = look.ledger.plan.story_needs(id).filter_map(numbered).collect();
    let serves: Vec<Value> = look.ledger.plan.story_serves(id).filter_map(numbered).collect();
    let track = look.ledger.work.track(id);
    if let (Value::Object(fields), Some(track)) = (&mut shown, track) {
        let artifacts: Vec<Value> = track.artifacts.iter().map(views::work::artifact).collect();
        let latest = track.verifications.last().map_or(Value::Null, views::work::verification);
        let mission = look.ledger.plan.project(story.project).and_then(|project| project.mission.clone());
        fields.insert("dependencies".into(), json!(needs));
        fields.insert("dependents".into(), json!(serves));
        fields.insert("blocking_dependencies".into(), blockers(look.ledger, story));
        fields.insert("artifacts".into(), json!(artifacts));
        fields.insert("latest_verification".into(), latest);
        fields.insert("project_mission".into(), json!(mission));
    }
    let next = views::work::next_actions(look.ledger, id, look.caller.role);
    Ok(Reply::ok(json!({ "story": shown, "next_actions": next })))
}

fn criteria(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(look.ledger, asked)?;
    let story = look.ledger.plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    let data = views::plan::criteria(look.ledger, story);
    Ok(Reply::ok(json!({ "data": data, "meta": { "total_count": data.len() } })))
}

/// A text, or a number which becomes one.
pub(crate) fn number_of(path: &str, value: Option<&Value>) -> Decided<StoryNumber> {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_u64() => number.to_string(),
        // As JSON 1.10 and 1.1 are one number, and here they are two stories.
        Some(Value::Number(number)) => {
            let why = format!("{number} must be written as text, in quotes: \"3.1\"");
            return Err(Refusal::field(path, &why));
        }
        _ => return Err(Refusal::field(path, "is missing")),
    };
    let wrong = |_| Refusal::field(path, &format!("{text} is no number like 3 or 3.1, each part 0 to 9999"));
    text.parse().map_err(wrong)
}

pub(crate) fn hours_of(path: &str, value: Option<&Value>) -> Decided<Option<CentiHours>> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let sound = number.filter(|hours| (0.0..=100_000.0).contains(hours));
    let hours = sound.ok_or_else(|| Refusal::field(path, "must be a number of hours"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and ten million")]
    Ok(Some(CentiHours((hours * 100.0).round() as u32)))
}

const GIVEN_BY_VERDICTS: [&str; 5] =
    ["status", "verified_at", "verified_by_agent_id", "verified_by_dispatch_id", "evidence_path"];

/// `description` is the criterion's text and wins over `criterion`; a bare text is one too. Other keys are kept.
pub(crate) fn criteria_of(path: &str, value: Option<&Value>) -> Decided<Option<Vec<Criterion>>> {
    let Some(list) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let list = list.as_array().ok_or_else(|| Refusal::field(path, "must be a list"))?;
    let mut criteria = Vec::with_capacity(list.len());
    for (place, value) in list.iter().enumerate() {
        let fields = value
            .as_object()
            .ok_or_else(|| Refusal::field(&format!("{path}[{place}]"), "must be an object"))?;
        let mut rest = fields.clone();
        let mut take = |name: &str| rest.shift_remove(name).filter(|value| !value.is_null());
        let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(ToOwned::to_owned));
        let (ac, id) = (text(take("ac_id")), text(take("id")));
        let (said, criterion) = (text(take("description")), text(take("criterion")));
        let verification = take("verification_criterion").or_else(|| take("verification"));
        // A status and what belongs to it are given by verdicts, not by authors; an export shows them.
        for given in GIVEN_BY_VERDICTS {
            let _ = take(given);
        }
        criteria.push(Criterion {
            ac_id: id.or(ac).unwrap_or_else(|| format!("AC-{}", place + 1)),
            criterion: said.or(criterion).unwrap_or_default(),
            verification: verification.map(|value| JsonText(value.to_string())),
            extra: JsonText(Value::Object(rest).to_string()),
            status: CriterionStatus::default(),
        });
    }
    Ok(Some(criteria))
}

fn add(draft: &mut Draft<'_>, asked: &Asked, epic: EpicId) -> Decided<Reply> {
    let ask = AddStory {
        epic,
        number: number_of("number", asked.value("number"))?,
        title: asked.needed("title"),
        description: asked.owned("description"),
        criteria: criteria_of("acceptance_criteria", asked.value("acceptance_criteria"))?.unwrap_or_default(),
        estimated_hours: hours_of("estimated_hours", asked.value("estimated_hours"))?,
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let story = plan::add_story(draft, ask)?;
    Ok(Reply::created(json!({ "story": views::plan::story(draft.ledger(), &story) })))
}

fn add_to_epic(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let epic = epic_in_path(draft.ledger(), asked)?;
    add(draft, asked, epic)
}

fn add_to_project(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let number = asked.number("epic_number")?.ok_or_else(|| Refusal::field("epic_number", "is missing"))?;
    let number = crate::handlers::plan::small("epic_number", number)?;
    let epic = draft.ledger().plan.epic_by_number(project, number).map(|epic| epic.id);
    add(draft, asked, epic.ok_or_else(|| Refusal::not_found("epic"))?)
}

fn of_epic(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let epic = epic_in_path(look.ledger, asked)?;
    let stories: Vec<&Story> = look.ledger.plan.stories_of(epic).collect();
    rows(look, asked, &stories)
}

fn change(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    for name in ["verified_status", "agent_status"] {
        if asked.body.contains_key(name) {
            return Err(Refusal::field(name, "is not edited: it follows from what is done and verified")
                .with_remedy(
                    "take the step that leads there; `windlass story status STORY` shows which comes next",
                ));
        }
    }
    let now = StoryEdit {
        title: asked.owned("title"),
        description: asked.owned("description"),
        criteria: criteria_of("acceptance_criteria", asked.value("acceptance_criteria"))?,
        estimated_hours: hours_of("estimated_hours", asked.value("estimated_hours"))?,
        metadata: asked.json("metadata"),
    };
    let force = if asked.flag("force") == Some(true) { EditForce::Forced } else { EditForce::Ordinary };
    plan::change_story(draft, id, now, force)?;
    Ok(Reply::ok(json!({ "story": views::plan::story_by_id(draft.ledger(), id) })))
}

fn delete(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    plan::delete_story(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}
