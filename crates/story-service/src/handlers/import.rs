//! Whole plans in and out. The shape of a payload is read here, with the place of every complaint; what it may do is the
//! core's.

use crate::asked::{Asked, Reply};
use crate::handlers::export;
use crate::handlers::stories::{criteria_of, hours_of, number_of};
use crate::resolve::project_in_path;
use crate::route::Kind::{Boolean, List, Text};
use crate::route::{Route, Who, needs, takes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use windlass_control_api::stories::LONGEST_PLAN;
use windlass_control_api::stories::Method::Post;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::plan::{
    self, Import, ImportEdge, ImportEpic, ImportMode, ImportStory, InitialStatus, StoryNumber,
};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyRole};

pub(crate) const ROUTES: &[Route] = &[
    Route::write(
        Post,
        "/projects/:id/import",
        Who::Exactly(&[KeyRole::Orchestrator, KeyRole::User, KeyRole::Superadmin]),
        "Take in epics, stories and dependencies, all or nothing",
        import,
    )
    .query(&[takes("merge", Boolean)])
    .body(&[
        needs("epics", List),
        takes("story_dependencies", List),
        takes("epic_dependencies", List),
        takes("merge", Boolean),
        takes("reason", Text),
    ])
    .longest(LONGEST_PLAN),
    Route::read(
        "/projects/:id/export",
        Who::AtLeast(KeyRole::Agent),
        "A project as one document",
        export::export,
    ),
];

fn import(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let merge = asked.query_flag("merge")? || asked.flag("merge") == Some(true);
    let mode = if merge { ImportMode::Merge } else { ImportMode::Fresh };
    let mut faults = Faults::default();
    let epics = asked.list("epics").iter().enumerate();
    let mut story_dependencies = edges(
        asked,
        "story_dependencies",
        [["story", "story_number"], ["depends_on", "depends_on_story"]],
        &mut faults,
        |path, value| number_of(path, Some(value)),
    );
    let said: BTreeSet<_> = story_dependencies.iter().map(|edge| (edge.from, edge.on)).collect();
    let in_stories = edges_in_stories(asked.list("epics"), &mut faults);
    let unsaid = in_stories.difference(&said).map(|(from, on)| ImportEdge { from: *from, on: *on });
    story_dependencies.extend(unsaid);
    let ask = Import {
        project,
        mode,
        epics: epics.filter_map(|(place, value)| epic(place, value, &mut faults)).collect(),
        story_dependencies,
        epic_dependencies: edges(
            asked,
            "epic_dependencies",
            [["epic", "epic_number"], ["depends_on", "depends_on_epic"]],
            &mut faults,
            |path, value| epic_number(path, Some(value)),
        ),
        reason: asked.owned("reason"),
    };
    faults.none()?;
    let with_status = ask.epics.iter().flat_map(|epic| &epic.stories);
    let with_status = with_status.filter(|story| story.initial != InitialStatus::Pending);
    let with_status: Vec<String> = with_status.map(|story| story.number.to_string()).collect();
    let report = plan::import(draft, ask)?;
    let counts = report.counts;
    let mut body = json!({
        "epics_created": counts.epics_created,
        "stories_created": counts.stories_created,
        "dependencies_created": counts.dependencies_created,
    });
    if merge {
        let orphan =
            |orphan: &plan::Orphan| json!({ "number": orphan.number.to_string(), "title": orphan.title });
        body["epics_updated"] = json!(counts.epics_updated);
        body["stories_updated"] = json!(counts.stories_updated);
        body["dependencies_existing"] = json!(counts.dependencies_existing);
        body["statuses_ignored"] = json!(with_status);
        body["stories_orphaned"] = report.orphans.iter().map(orphan).collect::<Vec<_>>().into();
    }
    Ok(Reply::ok(json!({ "import": body })).with_status(if merge { 200 } else { 201 }))
}

/// Everything that is wrong with the payload's shape: an author mends a file once, not twenty times.
#[derive(Default)]
struct Faults(Vec<(String, String)>);

impl Faults {
    fn keep<T>(&mut self, read: Decided<T>) -> Option<T> {
        read.map_err(|refusal| self.0.extend(refusal.details)).ok()
    }

    fn none(self) -> Decided<()> {
        if self.0.is_empty() { Ok(()) } else { Err(plan::import_invalid(self.0)) }
    }
}

/// One object of the payload, and where it stands.
struct At<'a> {
    path: String,
    value: &'a Value,
}

impl At<'_> {
    fn under(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.value.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Decided<Option<String>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(Refusal::field(&self.under(name), "must be a text")),
        }
    }

    fn object(&self, name: &str) -> Decided<Option<JsonText>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) if value.is_object() => Ok(Some(JsonText(value.to_string()))),
            Some(_) => Err(Refusal::field(&self.under(name), "must be an object")),
        }
    }

    fn list(&self, name: &str) -> Decided<&[Value]> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(Refusal::field(&self.under(name), "must be a list")),
        }
    }
}

fn epic_number(path: &str, value: Option<&Value>) -> Decided<u32> {
    let number = match value {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_u64(),
        None => return Err(Refusal::field(path, "is missing")),
    };
    let number = number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| Refusal::field(path, &format!("must be a whole number between 1 and {}", u32::MAX)))
}

fn epic(place: usize, value: &Value, faults: &mut Faults) -> Option<ImportEpic> {
    let at = At { path: format!("epics[{place}]"), value };
    let epic = faults.keep(epic_itself(&at));
    let stories = faults.keep(at.list("stories")).unwrap_or_default().iter().enumerate();
    let at_story = |place: usize, value| At { path: format!("{}.stories[{place}]", at.path), value };
    let stories = stories.filter_map(|(place, value)| faults.keep(story(&at_story(place, value))));
    let stories = stories.collect();
    Some(ImportEpic { stories, ..epic? })
}

/// Without its stories.
fn epic_itself(at: &At<'_>) -> Decided<ImportEpic> {
    if !at.value.is_object() {
        return Err(Refusal::field(&at.path, "must be an object"));
    }
    let position = at.get("position").map(|value| {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| Refusal::field(&at.under("position"), "must be a whole number, 0 or more"))
    });
    Ok(ImportEpic {
        number: epic_number(&at.under("number"), at.get("number"))?,
        title: at.text("title")?,
        description: at.text("description")?,
        phase: at.text("phase")?,
        position: position.transpose()?,
        metadata: at.object("metadata")?,
        stories: Vec::new(),
    })
}

fn story(at: &At<'_>) -> Decided<ImportStory> {
    if !at.value.is_object() {
        return Err(Refusal::field(&at.path, "must be an object"));
    }
    let verified = at.text("initial_verified_status")?.is_some_and(|status| status == "verified");
    let reported = match at.text("initial_agent_status")?.as_deref() {
        None | Some("pending") => false,
        Some("reported_done") => true,
        Some(_) => {
            return Err(Refusal::field(
                &at.under("initial_agent_status"),
                "must be pending or reported_done",
            ));
        }
    };
    let initial = match (verified, reported) {
        (true, _) => InitialStatus::Verified,
        (false, true) => InitialStatus::ReportedDone,
        (false, false) => InitialStatus::Pending,
    };
    Ok(ImportStory {
        number: number_of(&at.under("number"), at.get("number"))?,
        title: at.text("title")?,
        description: at.text("description")?,
        criteria: criteria_of(&at.under("acceptance_criteria"), at.get("acceptance_criteria"))?,
        estimated_hours: hours_of(&at.under("estimated_hours"), at.get("estimated_hours"))?,
        metadata: at.object("metadata")?,
        initial,
    })
}

/// What a story says that it waits for, as planning files write it. A number that cannot be read is told of with its story.
fn edges_in_stories(epics: &[Value], faults: &mut Faults) -> BTreeSet<(StoryNumber, StoryNumber)> {
    let mut found = BTreeSet::new();
    for (epic, value) in epics.iter().enumerate() {
        let stories = value.get("stories").and_then(Value::as_array);
        for (place, value) in stories.into_iter().flatten().enumerate() {
            let at = At { path: format!("epics[{epic}].stories[{place}]"), value };
            let Ok(from) = number_of("number", at.get("number")) else { continue };
            for name in ["dependencies", "depends_on", "depends_on_stories"] {
                for on in faults.keep(at.list(name)).unwrap_or_default() {
                    let on = number_of(&at.under(name), Some(on));
                    found.extend(faults.keep(on).map(|on| (from, on)));
                }
            }
        }
    }
    found
}

fn edges<N>(
    asked: &Asked,
    list: &str,
    [from, on]: [[&str; 2]; 2],
    faults: &mut Faults,
    read: impl Fn(&str, &Value) -> Decided<N>,
) -> Vec<ImportEdge<N>> {
    let end = |place: usize, value: &Value, names: [&str; 2]| {
        let path = format!("{list}[{place}].{}", names[0]);
        let found = names
            .iter()
            .find_map(|name| value.get(*name))
            .ok_or_else(|| Refusal::field(&path, "is missing"))?;
        read(&path, found)
    };
    let one = |(place, value): (usize, &Value)| {
        Ok(ImportEdge { from: end(place, value, from)?, on: end(place, value, on)? })
    };
    asked.list(list).iter().enumerate().filter_map(|edge| faults.keep(one(edge))).collect()
}
