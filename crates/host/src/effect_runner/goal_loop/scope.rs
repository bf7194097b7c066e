//! What a builder did beyond its item, from the difference between what it was shown and what it left. What it says about
//! that is not asked.

use super::files;
use crate::context::RunContext;
use crate::fault::git_fault;
use windlass_artifact_formats::goal_loop::{
    Allowed, DefinitionChanges, DesignDocument, FEATURES_FILE, FeatureList, FieldOwner, ItemChange,
    added_lines, is_loop_file, is_test_path, scan_secrets,
};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Change, ChangeKind, TreeId};
use windlass_protocols::ArtifactRef;
use windlass_protocols::outcome::{Finding, FindingKind};
use windlass_protocols::protocol::goal_contract::iteration::Iteration;
use windlass_protocols::protocol::goal_contract::state::State;

/// More of one kind than this say nothing new.
const MAX_NAMED: usize = 20;

pub(super) struct Changes<'a> {
    pub(super) before: &'a TreeId,
    pub(super) after: &'a TreeId,
    pub(super) differing: &'a [Change],
    /// Of the content without the loop's files.
    pub(super) patch: &'a ArtifactRef,
}

pub(super) fn committed() -> Finding {
    Finding { kind: FindingKind::Committed, about: Vec::new() }
}

pub(super) fn findings(
    context: &RunContext,
    state: &State,
    open: &Iteration,
    found: &Changes<'_>,
) -> Result<Vec<Finding>, Fault> {
    let paths: Vec<String> = found.differing.iter().map(|change| change.path.to_string()).collect();
    let (owned, own): (Vec<String>, Vec<String>) = paths.into_iter().partition(|path| is_loop_file(path));
    let mut findings = queue_findings(context, open, found, owned.iter().any(|path| path == FEATURES_FILE))?;
    let others: Vec<String> = owned.into_iter().filter(|path| path != FEATURES_FILE).collect();
    findings.extend(named(FindingKind::LoopFile, others));
    if let Some(allowed) = allowed(context, state, open)? {
        let mut outside: Vec<String> = allowed.outside(&own).into_iter().map(ToOwned::to_owned).collect();
        // What measures is nobody's to change on the way, unless the item says that it is about just that.
        let stated = |path: &String| matches!(&allowed, Allowed::Paths(paths) if paths.contains(path));
        let instrument = own.iter().filter(|path| is_instrument(state, path) && !stated(path));
        outside.extend(instrument.filter(|path| !outside.contains(path)).cloned().collect::<Vec<_>>());
        findings.extend(named(FindingKind::OutsidePaths, outside));
    }
    let deleted = found.differing.iter().filter(|change| change.kind == ChangeKind::Deleted);
    let deleted = deleted.map(|change| change.path.to_string()).filter(|path| is_test_path(path));
    findings.extend(named(FindingKind::TestsDeleted, deleted.collect()));
    let patch = files::text(context, found.patch)?;
    let secrets = scan_secrets(&added_lines(&patch)).iter().map(ToString::to_string).collect();
    findings.extend(named(FindingKind::Secret, secrets));
    Ok(findings)
}

fn named(kind: FindingKind, mut about: Vec<String>) -> Option<Finding> {
    let more = about.len().saturating_sub(MAX_NAMED);
    about.truncate(MAX_NAMED);
    if more > 0 {
        about.push(format!("and {more} more"));
    }
    (!about.is_empty()).then_some(Finding { kind, about })
}

/// Which files are the item's; absent where nothing says so and the level lets it be built all the same.
pub(super) fn allowed(
    context: &RunContext,
    state: &State,
    open: &Iteration,
) -> Result<Option<Allowed>, Fault> {
    let list = files::features(context, state, None)?;
    let Some(item) = list.get(&files::item_id(&open.item)?) else { return Ok(None) };
    let design = match &state.item(&open.item).design {
        Some(design) => design.paths.clone(),
        None => match &item.design_doc {
            Some(path) => files::text_at_head(context, state, path)?
                .map(|text| DesignDocument::parse(&text).files)
                .unwrap_or_default(),
            None => Vec::new(),
        },
    };
    Ok(Some(Allowed::for_item(item, &design)))
}

/// A status it set is put back and told; a definition it changed is work that belongs to nobody.
fn queue_findings(
    context: &RunContext,
    open: &Iteration,
    found: &Changes<'_>,
    touched: bool,
) -> Result<Vec<Finding>, Fault> {
    if !touched {
        return Ok(Vec::new());
    }
    let read = |tree: &TreeId| {
        let bytes = context.repository.file_at(tree, FEATURES_FILE).map_err(git_fault)?;
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok::<_, Fault>(text.and_then(|text| FeatureList::parse(&text).ok()))
    };
    let (Some(before), Some(after)) = (read(found.before)?, read(found.after)?) else {
        return Ok(vec![Finding { kind: FindingKind::LoopFile, about: vec![FEATURES_FILE.to_owned()] }]);
    };
    let changes = DefinitionChanges::between(&before, &after);
    let active = files::item_id(&open.item)?;
    let mut set = Vec::new();
    let mut edited = Vec::new();
    for change in &changes.items {
        let (engine, person): (Vec<_>, Vec<_>) = match change {
            ItemChange::Changed { fields, .. } => {
                fields.iter().partition(|field| field.owner == FieldOwner::Engine)
            }
            ItemChange::Added(_) | ItemChange::Removed(_) => {
                edited.push(change.sentence());
                continue;
            }
        };
        // The status of its own item is what its stand-alone protocol tells it to write; another item's is not its own.
        let own = *change.id() == active;
        if !person.is_empty() || (!own && !engine.is_empty()) {
            edited.push(change.sentence());
        } else if !engine.is_empty() {
            set.push(change.sentence());
        }
    }
    Ok(named(FindingKind::StatusSet, set).into_iter().chain(named(FindingKind::ItemEdited, edited)).collect())
}

/// Whether a test or pre-commit command names this file.
fn is_instrument(state: &State, path: &str) -> bool {
    let words = state.spec.measures().flat_map(|command| command.split([' ', '\t', ';', '&', '|', '(', ')']));
    words.map(|word| word.trim_matches(['"', '\''])).any(|word| word.trim_start_matches("./") == path)
}
