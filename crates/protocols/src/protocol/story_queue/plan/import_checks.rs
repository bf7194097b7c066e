//! Everything that can be wrong with an import, found before anything is taken in.

use super::changes::ImportMode;
use super::circles;
use super::dependencies::find_cycle;
use super::entities::StoryNumber;
use super::import::{Import, ImportEdge, ImportEpic, ImportStory, InitialStatus};
use super::projects::{LONGEST_DESCRIPTION, LONGEST_TITLE, at_most, required};
use super::stories::{EditForce, Rewording, require_criteria, require_rewordable};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{KeyRole, ProjectId, StoryId};
use crate::protocol::story_queue::work::require_no_maker;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

const MOST_EPICS: usize = 500;
const MOST_STORIES: usize = 20_000;

/// What the checks found out on the way.
pub(super) struct Checked {
    pub(super) rewordings: BTreeMap<StoryId, Rewording>,
}

pub(super) fn check(draft: &Draft, ask: &Import) -> Decided<Checked> {
    let stories = ask.epics.iter().map(|epic| epic.stories.len()).sum::<usize>();
    if ask.epics.len() > MOST_EPICS || stories > MOST_STORIES {
        let why = format!("at most {MOST_EPICS} epics and {MOST_STORIES} stories at once");
        return Err(Refusal::new(Kind::Invalid, why).with_code(RefusalCode::ImportTooLarge));
    }
    if ask.mode == ImportMode::Fresh {
        require_new(draft, ask)?;
    }
    let mut checked = Checked { rewordings: BTreeMap::new() };
    let mut faults = Vec::new();
    let mut epics = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for (place, epic) in ask.epics.iter().enumerate() {
        let path = format!("epics[{place}]");
        if let Some(first) = epics.insert(epic.number, path.clone()) {
            faults.push((format!("{path}.number"), format!("{} is also at {first}", epic.number)));
        }
        let known = draft.ledger().plan.epic_by_number(ask.project, epic.number).is_some();
        faults.extend(epic_faults(&path, epic, known));
        for (place, story) in epic.stories.iter().enumerate() {
            let path = format!("{path}.stories[{place}]");
            if let Some(first) = seen.insert(story.number, path.clone()) {
                faults.push((format!("{path}.number"), format!("{} is also at {first}", story.number)));
            }
            story_faults(draft, ask, &path, story, &mut checked, &mut faults);
        }
    }
    if !faults.is_empty() {
        return Err(import_invalid(faults));
    }
    check_edges(draft, ask, &epics, &seen)?;
    let stories = ask.epics.iter().flat_map(|epic| &epic.stories);
    if ask.mode == ImportMode::Fresh
        && stories.into_iter().any(|story| story.initial == InitialStatus::Verified)
    {
        require_no_maker(draft, ask.project)?;
    }
    Ok(checked)
}

/// All complaints at once: an author fixes a file once, not twenty times.
pub fn import_invalid(faults: Vec<(String, String)>) -> Refusal {
    let (path, why) = faults.first().cloned().unwrap_or_default();
    let more = faults.len() - 1;
    let message =
        if more == 0 { format!("{path}: {why}") } else { format!("{path}: {why} (and {more} more)") };
    let mut refusal = Refusal::new(Kind::Invalid, message).with_code(RefusalCode::ImportInvalid);
    refusal.details = faults;
    refusal.details.truncate(100);
    refusal
}

fn require_new(draft: &Draft, ask: &Import) -> Decided<()> {
    let plan = &draft.ledger().plan;
    let known_epic = |epic: &&ImportEpic| plan.epic_by_number(ask.project, epic.number).is_some();
    let known_story = |story: &&ImportStory| plan.story_by_number(ask.project, story.number).is_some();
    let epics: Vec<String> =
        ask.epics.iter().filter(known_epic).map(|epic| epic.number.to_string()).collect();
    let stories = ask.epics.iter().flat_map(|epic| &epic.stories);
    let stories: Vec<String> = stories.filter(known_story).map(|story| story.number.to_string()).collect();
    if epics.is_empty() && stories.is_empty() {
        return Ok(());
    }
    let told = [("epic", &epics), ("story", &stories)].map(|(kind, numbers)| counted(kind, numbers));
    let told: Vec<String> = told.into_iter().flatten().collect();
    Err(Refusal::new(Kind::Conflict, format!("these exist already: {}", told.join(", ")))
        .with_code(RefusalCode::ImportDuplicates)
        .with_context("duplicate_epic_numbers", epics.join(","))
        .with_context("duplicate_story_numbers", stories.join(",")))
}

/// `2 stories (1.1, 1.2)`; beyond twenty the others are counted.
fn counted(kind: &str, numbers: &[String]) -> Option<String> {
    const MOST_NAMED: usize = 20;
    let named = numbers.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match numbers.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match (numbers, kind) {
        ([], _) => None,
        ([one], kind) => Some(format!("1 {kind} ({one})")),
        (_, "story") => Some(format!("{} stories ({named}{more})", numbers.len())),
        (_, kind) => Some(format!("{} {kind}s ({named}{more})", numbers.len())),
    }
}

fn epic_faults(path: &str, epic: &ImportEpic, known: bool) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    if epic.number == 0 {
        faults.push((format!("{path}.number"), "must be greater than 0".to_string()));
    }
    faults.extend(text_faults(path, epic.title.as_deref(), epic.description.as_deref(), known));
    if let Err(refusal) = at_most("phase", epic.phase.as_deref(), LONGEST_TITLE) {
        faults.extend(under(path, refusal));
    }
    faults
}

fn text_faults(
    path: &str,
    title: Option<&str>,
    description: Option<&str>,
    known: bool,
) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    // A merge may leave the title of what exists alone.
    if (title.is_some() || !known)
        && let Err(refusal) = required("title", title.unwrap_or_default(), LONGEST_TITLE)
    {
        faults.extend(under(path, refusal));
    }
    if let Err(refusal) = at_most("description", description, LONGEST_DESCRIPTION) {
        faults.extend(under(path, refusal));
    }
    faults
}

fn under(path: &str, refusal: Refusal) -> Vec<(String, String)> {
    if refusal.details.is_empty() {
        return Vec::from([(path.to_string(), refusal.message)]);
    }
    refusal.details.into_iter().map(|(field, why)| (format!("{path}.{field}"), why)).collect()
}

fn story_faults(
    draft: &Draft,
    ask: &Import,
    path: &str,
    story: &ImportStory,
    checked: &mut Checked,
    faults: &mut Vec<(String, String)>,
) {
    let known = draft.ledger().plan.story_by_number(ask.project, story.number).map(|story| story.id);
    let texts = text_faults(path, story.title.as_deref(), story.description.as_deref(), known.is_some());
    faults.extend(texts);
    if let Err(refusal) = require_criteria(story.criteria.as_deref().unwrap_or_default()) {
        faults.extend(under(path, refusal));
    }
    if story.initial == InitialStatus::Verified && ask.mode == ImportMode::Fresh {
        let field = format!("{path}.initial_verified_status");
        if draft.caller().role < KeyRole::User {
            faults.push((field, "only a user or superadmin imports verified stories".to_string()));
        } else if ask.reason.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
            faults.push((field, "needs a reason for the whole import".to_string()));
        }
    }
    // Deleting what was worked on and bringing it back as done would close it without anybody's verdict.
    let laundered = ask.mode == ImportMode::Fresh
        && story.initial != InitialStatus::Pending
        && draft.ledger().work.was_worked_on(ask.project, story.number);
    if laundered {
        let why = format!(
            "story {} was worked on here before it was deleted: bring it in as pending, and have it reported, reviewed and verified",
            story.number
        );
        faults.push((format!("{path}.initial_agent_status"), why));
    }
    // A merge edits by the same rule as a single edit: it cannot reword what is under work.
    if let Some(id) = known {
        match require_rewordable(draft, id, &story.edit(), EditForce::Ordinary) {
            Ok(rewording) => {
                checked.rewordings.insert(id, rewording);
            }
            Err(refusal) => faults.push((path.to_string(), refusal.message)),
        }
    }
}

fn check_edges(
    draft: &Draft,
    ask: &Import,
    epics: &BTreeMap<u32, String>,
    stories: &BTreeMap<StoryNumber, String>,
) -> Decided<()> {
    let plan = &draft.ledger().plan;
    let mut faults = Vec::new();
    let story_known = |number: &StoryNumber| {
        stories.contains_key(number) || plan.story_by_number(ask.project, *number).is_some()
    };
    let epic_known =
        |number: &u32| epics.contains_key(number) || plan.epic_by_number(ask.project, *number).is_some();
    faults.extend(edge_faults("story_dependencies", "story", &ask.story_dependencies, story_known));
    faults.extend(edge_faults("epic_dependencies", "epic", &ask.epic_dependencies, epic_known));
    if !faults.is_empty() {
        return Err(import_invalid(faults));
    }
    let graph = Graph::of(draft, ask);
    require_acyclic("story", &graph.stories)?;
    require_acyclic("epic", &graph.epics)?;
    graph.require_no_deadlock()
}

fn edge_faults<N: Ord + Display>(
    list: &str,
    kind: &str,
    edges: &[ImportEdge<N>],
    known: impl Fn(&N) -> bool,
) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    for (place, edge) in edges.iter().enumerate() {
        for (field, number) in [(kind, &edge.from), ("depends_on", &edge.on)] {
            if !known(number) {
                faults.push((format!("{list}[{place}].{field}"), format!("there is no {kind} {number}")));
            }
        }
        if edge.from == edge.on {
            faults.push((
                format!("{list}[{place}].depends_on"),
                format!("{kind} {} depends on itself", edge.on),
            ));
        }
    }
    faults
}

fn require_acyclic<N: Copy + Ord + Display>(kind: &str, edges: &BTreeMap<N, Vec<N>>) -> Decided<()> {
    let Some(cycle) = find_cycle(edges) else { return Ok(()) };
    let path: Vec<String> = cycle.iter().map(ToString::to_string).collect();
    let path = path.join(" → ");
    Err(Refusal::new(Kind::Invalid, format!("{kind} dependencies form a cycle: {path}"))
        .with_code(RefusalCode::DependencyCycle)
        .with_context("cycle", path))
}

/// Edges by number, of what exists and of what comes, together.
struct Graph {
    stories: BTreeMap<StoryNumber, Vec<StoryNumber>>,
    epics: BTreeMap<u32, Vec<u32>>,
    epic_of: BTreeMap<StoryNumber, u32>,
}

impl Graph {
    fn of(draft: &Draft, ask: &Import) -> Self {
        let mut graph = Self::existing(draft, ask.project);
        for epic in &ask.epics {
            for story in &epic.stories {
                // A merge never moves a story, so what exists wins.
                graph.epic_of.entry(story.number).or_insert(epic.number);
            }
        }
        for edge in &ask.story_dependencies {
            graph.stories.entry(edge.from).or_default().push(edge.on);
        }
        for edge in &ask.epic_dependencies {
            graph.epics.entry(edge.from).or_default().push(edge.on);
        }
        graph
    }

    fn existing(draft: &Draft, project: ProjectId) -> Self {
        let plan = &draft.ledger().plan;
        let mut graph = Self { stories: BTreeMap::new(), epics: BTreeMap::new(), epic_of: BTreeMap::new() };
        for epic in plan.epics_of(project) {
            let needs = plan.epic_needs(epic.id).filter_map(|id| plan.epic(id)).map(|epic| epic.number);
            graph.epics.insert(epic.number, needs.collect());
            for story in plan.stories_of(epic.id) {
                let needs =
                    plan.story_needs(story.id).filter_map(|id| plan.story(id)).map(|story| story.number);
                graph.stories.insert(story.number, needs.collect());
                graph.epic_of.insert(story.number, epic.number);
            }
        }
        graph
    }

    fn require_no_deadlock(&self) -> Decided<()> {
        let waits = circles::by_number(&self.stories, &self.epics, &self.epic_of);
        match find_cycle(&waits) {
            None => Ok(()),
            Some(cycle) => Err(circles::deadlock(&circles::told_by_number(&cycle))),
        }
    }
}
