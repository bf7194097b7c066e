//! Roadmap updates on the base branch, or live, that say a merged round asked for them, held against what the review of that
//! round says. History is never mended; that the two do not agree is told.

use super::Reading;
use crate::fault::git_fault;
use std::collections::{BTreeMap, BTreeSet};
use windlass_artifact_formats::roadmap_loop::plane::UpdateTrigger;
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_control_api::Fault;

const UPDATES: &str = "orchestrator/roadmap-updates/";
const DOCUMENT: &str = "-roadmap-update.md";
const SEMANTIC: &str = "semantic-update-required";

/// One sentence for each whose source round asked for nothing.
pub(super) fn without_a_cause(reading: &Reading<'_>) -> Result<Vec<String>, Fault> {
    let archived = reading.files.iter().filter_map(|path| source_of(path));
    let live =
        reading.state.roadmap_update.iter().filter(|update| update.trigger == UpdateTrigger::MergedRound);
    let live: BTreeSet<&str> = live.map(|update| update.source_round_id.as_str()).collect();
    let sources: BTreeSet<&str> = archived.chain(live.iter().copied()).collect();
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for round in &sources {
        wanted.insert(document_of(round));
        wanted.extend(
            [files::REVIEW_RECORD, files::REVIEW].map(|name| format!("{}/{name}", files::round_dir(round))),
        );
    }
    let found =
        reading.repository.files_at(&reading.base.tree, |path| wanted.contains(path)).map_err(git_fault)?;
    let texts: BTreeMap<String, String> =
        found.into_iter().map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned())).collect();
    let mut told = Vec::new();
    for round in sources {
        let says = texts.get(&document_of(round)).and_then(|text| label(text, "Source Round", "Trigger"));
        if says.as_deref() != Some("merged-round") && !live.contains(round) {
            continue;
        }
        let at = |name: &str| texts.get(&format!("{}/{name}", files::round_dir(round)));
        let recorded = at(files::REVIEW_RECORD).and_then(|text| mode_of_record(text));
        let mode = recorded.or_else(|| label(at(files::REVIEW)?, "Roadmap Closeout", "Mode"));
        if let Some(mode) = mode.filter(|mode| mode != SEMANTIC) {
            told.push(format!(
                "{}: it says merged-round, but the review of {round} says {mode} and asks for no update (rule 24.4)",
                document_of(round)
            ));
        }
    }
    Ok(told)
}

fn source_of(path: &str) -> Option<&str> {
    path.strip_prefix(UPDATES)?.strip_suffix(DOCUMENT)
}

fn document_of(round: &str) -> String {
    format!("{UPDATES}{round}{DOCUMENT}")
}

/// Old files are not held to today's rules: the one word is enough.
fn mode_of_record(text: &str) -> Option<String> {
    let record: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(record.get("roadmap_closeout")?.get("mode")?.as_str()?.to_owned())
}

fn label(text: &str, section: &str, name: &str) -> Option<String> {
    let after = text.lines().skip_while(|line| line.trim() != format!("### {section}")).skip(1);
    let within = after.take_while(|line| !line.starts_with("### "));
    within
        .filter_map(|line| line.trim_start_matches(['-', '*', ' ']).split_once(':'))
        .find_map(|(key, value)| (key.trim() == name).then(|| value.trim().trim_matches('`').to_owned()))
}
