//! What the base branch has of rounds that are over: their ids and items, and the number that no round had yet.

use super::Reading;
use crate::fault::git_fault;
use std::collections::BTreeMap;
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::round::{Selection, files};
use windlass_control_api::Fault;

const ROUNDS: &str = "orchestrator/rounds/";
const UPDATES: &str = "orchestrator/roadmap-updates/";

/// Rounds on the base branch that selected something, and what.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    pub(super) rounds: Vec<String>,
    pub(super) items: Vec<String>,
}

/// The round and the name of a file of its folder.
fn of_round(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix(ROUNDS)?.split_once('/')
}

pub(super) fn read(reading: &Reading<'_>) -> Result<Archive, Fault> {
    let says = |path: &str| {
        of_round(path).is_some_and(|(_, name)| name == files::SELECTION_RECORD || name == files::PLAN)
    };
    let found = reading.repository.files_at(&reading.base.tree, says).map_err(git_fault)?;
    let mut selections: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (path, content) in &found {
        let Some((round, name)) = of_round(path) else { continue };
        let text = String::from_utf8_lossy(content);
        let item =
            if name == files::SELECTION_RECORD { of_record(round, &text) } else { of_plan(round, &text) };
        let known = selections.entry(round.to_owned()).or_default();
        // Where a record stands beside a plan, the record says what was selected.
        if item.is_some() && (known.is_none() || name == files::SELECTION_RECORD) {
            *known = item;
        }
    }
    let items = selections.values().flatten().cloned().collect();
    Ok(Archive { rounds: selections.into_keys().collect(), items })
}

/// Old records are history and not held to today's rules: one field is enough.
fn of_record(round: &str, text: &str) -> Option<String> {
    if let Ok(selection) = Selection::from_record(round, text) {
        return Some(selection.lineage.extracted_item_id);
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(value.get("extracted_item_id")?.as_str()?.to_owned())
}

fn of_plan(round: &str, text: &str) -> Option<String> {
    Selection::from_plan(round, text).ok().map(|selection| selection.lineage.extracted_item_id)
}

/// One above every number that a round folder, a live round, an update or a branch has.
pub(super) fn next_number(reading: &Reading<'_>, archive: &Archive, branches: &[String]) -> u32 {
    let folders = reading.files.iter().filter_map(|path| of_round(path)).map(|(round, _)| round);
    let updates = reading.files.iter().filter_map(|path| path.strip_prefix(UPDATES));
    let live = reading.state.rounds.iter().map(|round| round.round_id.as_str());
    let update = reading.state.roadmap_update.iter().map(|update| update.source_round_id.as_str());
    let merged = archive.rounds.iter().map(String::as_str);
    let branches = branches.iter().map(String::as_str);
    let all = folders.chain(updates).chain(live).chain(update).chain(merged).chain(branches);
    u32::try_from(names::next_round_number(all)).unwrap_or(u32::MAX)
}
