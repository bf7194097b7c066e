//! A directory of planning files as one import payload, with a report of everything that was not taken as written: what stands
//! twice, what was renumbered, what depends on a story that is not there. Nothing is chosen or dropped in silence.

use super::numbering::{Numbered, Renumbering, bare, numbered};
use super::planning_file::{PlanningFile, read};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq)]
pub struct PlanningImport {
    /// As `POST /projects/:id/import` takes it.
    pub payload: Value,
    pub report: PlanningReport,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanningReport {
    pub epics: usize,
    pub stories: usize,
    pub dependencies: usize,
    pub duplicates: Vec<Duplicate>,
    /// The id as written and the number it got, for ids that are not `major.minor`.
    pub renumbered: Vec<(String, String)>,
    pub unmapped: Vec<Unmapped>,
    pub dangling: Vec<Dangling>,
    pub unreadable: Vec<Unreadable>,
}

impl PlanningReport {
    /// Every file became a story and every dependency an edge.
    pub fn is_whole(&self) -> bool {
        self.duplicates.is_empty()
            && self.unmapped.is_empty()
            && self.dangling.is_empty()
            && self.unreadable.is_empty()
    }
}

/// Two files with one number: the first by path is taken. A renumbering by path takes both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub number: String,
    pub taken: String,
    pub left_out: String,
}

/// An id that no rule turns into a number; it needs a renumbering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmapped {
    pub id: String,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    pub story: String,
    pub depends_on: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub path: String,
    pub why: String,
}

/// Files come as (path, text), in any order.
pub fn import_of_planning_files<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    renumbering: &Renumbering,
) -> PlanningImport {
    let mut report = PlanningReport::default();
    let sorted: BTreeMap<&str, &str> = files.into_iter().collect();
    let mut read_files = Vec::new();
    for (path, text) in sorted {
        match read(path, text) {
            Ok(file) => read_files.push(file),
            Err(why) => report.unreadable.push(Unreadable { path: path.to_owned(), why }),
        }
    }
    let stories = number_all(read_files, renumbering, &mut report);
    let payload = payload(&stories, renumbering, &mut report);
    PlanningImport { payload, report }
}

/// Plain numbers first: a rule never takes a number that somebody wrote.
fn number_all(
    files: Vec<PlanningFile>,
    renumbering: &Renumbering,
    report: &mut PlanningReport,
) -> BTreeMap<String, PlanningFile> {
    let mut stories: BTreeMap<String, PlanningFile> = BTreeMap::new();
    let mut by_rule = Vec::new();
    for file in files {
        let decided = renumbering.of(&file.id, &file.path).and_then(numbered);
        let changed = decided.is_some();
        match decided.or_else(|| numbered(&file.id)) {
            Some(Numbered::AsWritten(number)) => {
                if changed {
                    report.renumbered.push((file.id.clone(), number.clone()));
                }
                take(&mut stories, number, file, report);
            }
            Some(Numbered::ByRule(number)) => by_rule.push((number, file)),
            None => report.unmapped.push(Unmapped { id: file.id, path: file.path }),
        }
    }
    for (number, file) in by_rule {
        report.renumbered.push((file.id.clone(), number.clone()));
        take(&mut stories, number, file, report);
    }
    report.renumbered.sort();
    stories
}

fn take(
    stories: &mut BTreeMap<String, PlanningFile>,
    number: String,
    file: PlanningFile,
    report: &mut PlanningReport,
) {
    if let Some(taken) = stories.get(&number) {
        report.duplicates.push(Duplicate { number, taken: taken.path.clone(), left_out: file.path });
    } else {
        stories.insert(number, file);
    }
}

fn payload(
    stories: &BTreeMap<String, PlanningFile>,
    renumbering: &Renumbering,
    report: &mut PlanningReport,
) -> Value {
    // Of two stories with one id, who depends on it means the one that kept its number.
    let mut numbers: BTreeMap<&str, &str> = BTreeMap::new();
    for (number, file) in stories {
        let id = bare(&file.id);
        if id == number.as_str() {
            numbers.insert(id, number);
        } else {
            numbers.entry(id).or_insert(number);
        }
    }
    let number_of = |id: &str| {
        let decided = renumbering.of_id(id).map(str::to_owned);
        decided.or_else(|| numbers.get(bare(id)).map(|number| (*number).to_owned()))
    };
    let mut epics: BTreeMap<u64, (Map<String, Value>, Vec<Value>)> = BTreeMap::new();
    let mut edges: BTreeSet<(String, String)> = BTreeSet::new();
    let mut ordered: Vec<(&String, &PlanningFile)> = stories.iter().collect();
    ordered.sort_by_key(|(number, _)| sort_key(number));
    for (number, file) in ordered {
        let (epic, rows) = epics.entry(file.epic_number).or_default();
        for (key, value) in [("title", &file.epic_title), ("phase", &file.epic_phase)] {
            if let Some(value) = value {
                epic.entry(key).or_insert_with(|| json!(value));
            }
        }
        let mut story = Map::from_iter([("number".to_owned(), json!(number))]);
        story.extend(file.story.clone());
        rows.push(Value::Object(story));
        for id in &file.depends_on {
            match number_of(id).filter(|on| stories.contains_key(on)) {
                Some(on) => {
                    edges.insert((number.clone(), on));
                }
                None => report.dangling.push(Dangling { story: number.clone(), depends_on: id.clone() }),
            }
        }
    }
    report.epics = epics.len();
    report.stories = stories.len();
    report.dependencies = edges.len();
    let epic_row = |(number, (mut epic, stories)): (u64, (Map<String, Value>, Vec<Value>))| {
        epic.insert("number".to_owned(), json!(number));
        epic.entry("title").or_insert_with(|| json!(format!("Epic {number}")));
        epic.insert("stories".to_owned(), Value::Array(stories));
        Value::Object(epic)
    };
    let edge_row = |(story, on): &(String, String)| json!({ "story": story, "depends_on": on });
    json!({
        "epics": epics.into_iter().map(epic_row).collect::<Vec<Value>>(),
        "story_dependencies": edges.iter().map(edge_row).collect::<Vec<Value>>(),
        "epic_dependencies": [],
    })
}

fn sort_key(number: &str) -> (u32, u32) {
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
