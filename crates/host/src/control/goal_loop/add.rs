//! `windlass goal add`: one more item at the end of the queue, every other byte as it was.

use super::init::{put, unusable};
use super::setup::{Files, Found};
use crate::fault::git_fault;
use windlass_artifact_formats::control_loop::RepoPath;
use windlass_artifact_formats::goal_loop::{
    FEATURES_FILE, Feature, ItemContract, ItemId, ItemStatus, NewItem, Priority,
};
use windlass_control_api::goal_setup::{AddItem, AddedItem, NewItemKind};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

/// What every refactoring has to keep.
const STILL_GREEN: &str = "Existing tests still pass";

pub(crate) fn add(command: &AddItem) -> Result<AddedItem, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let files = Files::read(checkout.work_tree());
    let features = match &files.features {
        Found::Ours(features) => features,
        Found::Missing => {
            return Err(Fault::new(Code::GoalFiles, format!("{FEATURES_FILE} is not there"))
                .kept("nothing was written")
                .hint("begin a queue: `windlass goal init --feature \"NAME: criterion; criterion\"`"));
        }
        Found::Foreign(_) | Found::Invalid(_) => return Err(unusable(&files)),
    };
    let bad = |why: String| Fault::new(Code::BadArgument, why).kept("nothing was written");
    let prefix = match command.kind {
        NewItemKind::Feature => 'F',
        NewItemKind::Refactoring => 'R',
        NewItemKind::Bug => 'B',
    };
    let id = features.next_id(prefix).ok_or_else(|| bad(format!("no id of {prefix} is left")))?;
    let item = item(command, id.clone(), features.items()).map_err(bad)?;
    let longer = features.append(&item).map_err(|fault| bad(fault.to_string()))?;
    put(checkout.work_tree(), FEATURES_FILE, longer.text())?;
    Ok(AddedItem {
        in_scope: files.contract.ours().is_some_and(|contract| contract.scope.contains(&id)),
        id: id.to_string(),
        name: item.name,
        file: FEATURES_FILE.to_owned(),
    })
}

fn item<'f>(
    command: &AddItem,
    id: ItemId,
    others: impl Iterator<Item = &'f Feature>,
) -> Result<NewItem, String> {
    let name = command.name.trim().to_owned();
    let mut criteria: Vec<String> = command.criteria.iter().map(|one| one.trim().to_owned()).collect();
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    if criteria.is_empty() || criteria.iter().any(String::is_empty) {
        return Err("an item needs criteria that can be checked: give `--criterion \"…\"`".to_owned());
    }
    let refactoring = command.kind == NewItemKind::Refactoring;
    if refactoring && !criteria.iter().any(|one| one.eq_ignore_ascii_case(STILL_GREEN)) {
        criteria.push(STILL_GREEN.to_owned());
    }
    let mut dependencies = Vec::new();
    for text in &command.dependencies {
        dependencies.push(ItemId::parse(text).ok_or_else(|| format!("`{text}` is no id such as F001"))?);
    }
    Ok(NewItem {
        id,
        description: command.description.clone().unwrap_or_else(|| name.clone()),
        name,
        priority: command.priority.unwrap_or_else(|| after_all(others)),
        status: ItemStatus::NotStarted,
        acceptance_criteria: criteria,
        contract: ItemContract::default(),
        dependencies,
        kind: refactoring.then(|| "structural".to_owned()),
        affected_files: paths(&command.paths)?,
        risk: refactoring.then(|| "low".to_owned()),
        rollback_plan: None,
    })
}

/// As they were written: a slash at the end says that a folder is meant.
fn paths(given: &[String]) -> Result<Vec<String>, String> {
    for path in given {
        RepoPath::parse(path).map_err(|fault| format!("the path `{path}` {fault}"))?;
    }
    Ok(given.to_vec())
}

#[expect(clippy::cast_possible_truncation, reason = "a priority beyond the range is as good as its end")]
fn after_all<'f>(others: impl Iterator<Item = &'f Feature>) -> i64 {
    let highest = others.fold(0.0_f64, |highest, item| match item.priority {
        Priority::Given(value) => highest.max(value),
        Priority::Unstated => highest,
    });
    (highest.floor() as i64).saturating_add(1)
}
