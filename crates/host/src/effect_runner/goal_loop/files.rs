//! The loop's own files in the form of the original, from the state of the run, sealed evidence and the newest commit
//! alone: written twice they are the same bytes. Only the engine writes them; whatever a builder does to them is undone.

use super::shown;
use crate::context::RunContext;
use crate::fault::{bug, git_fault};
use windlass_artifact_formats::goal_loop::{
    BUDGET_FILE, Budget, CONTRACT_FILE, Caps, Contract, DesignDocument, DesignStatus, FEATURES_FILE,
    FeatureList, ItemContract, ItemId, ItemStatus, LOOP_PATHS, PROGRESS_FILE, RUN_LOG_FILE, Used,
    design_path,
};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Overlay, TreeId};
use windlass_protocols::effect::CommitItem;
use windlass_protocols::outcome::{DesignReport, Usage};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::protocol::goal_contract::item::ItemState;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Status};
use windlass_protocols::protocol::goal_contract::reports::ContractWords;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{ArtifactRef, Millis, Run};

/// A path in the repository and what is to stand there.
pub(super) type LoopFile = (String, Vec<u8>);

/// Every file of the loop from this tree, or from nowhere.
pub(super) fn owned_from(tree: Option<&TreeId>) -> Vec<(&'static str, Option<&TreeId>)> {
    LOOP_PATHS.iter().map(|owned| (*owned, tree)).collect()
}

/// A content without the loop's files: what verdicts are about.
pub(crate) fn plant(context: &RunContext, tree: &TreeId) -> Result<TreeId, Fault> {
    let parts = Overlay { content: tree, replaced: &owned_from(None), removed: &[], files: &[] };
    context.repository.overlay(&parts).map_err(git_fault)
}

pub(super) fn state(run: &Run) -> Result<&State, Fault> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::GoalContract(state)) => Ok(state),
        _ => Err(bug("a step of a goal loop in another loop")),
    }
}

pub(super) fn at_head(context: &RunContext, state: &State, path: &str) -> Result<Option<Vec<u8>>, Fault> {
    let head = shown::newest(context, state)?;
    context.repository.file_at(&head.tree, path).map_err(git_fault)
}

pub(super) fn text_at_head(context: &RunContext, state: &State, path: &str) -> Result<Option<String>, Fault> {
    Ok(at_head(context, state, path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// What a text people edit is sealed as.
pub(super) fn source_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The text as it was last read: a person's newest, or the loop's own.
pub(super) fn source(context: &RunContext, state: &State, path: &str) -> Result<Option<String>, Fault> {
    let sources = state.queue.iter().flat_map(|queue| &queue.sources);
    let found = sources.into_iter().find(|artifact| artifact.name == source_name(path));
    found.map(|artifact| text(context, artifact)).transpose()
}

pub(super) fn text(context: &RunContext, artifact: &ArtifactRef) -> Result<String, Fault> {
    Ok(String::from_utf8_lossy(&context.evidence.read(artifact)?).into_owned())
}

/// `2026-01-31T12:00:00Z`, as the loop's files write moments.
pub(super) fn iso(at: Millis) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "unknown".to_owned(), |moment| moment.to_string())
}

pub(super) fn item_id(id: &str) -> Result<ItemId, Fault> {
    ItemId::parse(id).ok_or_else(|| bug(format!("{id} is no id of an item")))
}

/// The queue's text with everything the engine knows of its items written into it.
pub(super) fn features(
    context: &RunContext,
    state: &State,
    complete: Option<&str>,
) -> Result<FeatureList, Fault> {
    let text = source(context, state, FEATURES_FILE)?.ok_or_else(|| bug("a goal loop without a queue"))?;
    let mut list = FeatureList::parse(&text).map_err(|faults| bug(faults.to_string()))?;
    let uses_unapproved = state.level().is_some_and(|level| level != Autonomy::L1);
    for (id, known) in &state.items {
        let item = item_id(id)?;
        // Somebody may have taken it out of the file since.
        if list.get(&item).is_none() {
            continue;
        }
        let now = if complete == Some(id.as_str()) { Some(Status::Complete) } else { known.status() };
        if let Some(status) = now {
            list = edited(list.set_status(&item, written(status)))?;
        }
        if let Some(design) = &known.design {
            list = with_design(&list, &item, known)?;
            if known.design_approved || uses_unapproved {
                list = with_contract(&list, &item, design)?;
            }
        }
    }
    Ok(list)
}

fn with_design(list: &FeatureList, item: &ItemId, known: &ItemState) -> Result<FeatureList, Fault> {
    let list = edited(list.set_true(item, "designed"))?;
    let list = edited(list.set_text(item, "design_doc", &design_path(item)))?;
    if known.design_approved { edited(list.set_text(item, "design_status", "approved")) } else { Ok(list) }
}

/// What the design made of the contract, unless a person has written another one since.
fn with_contract(list: &FeatureList, item: &ItemId, design: &DesignReport) -> Result<FeatureList, Fault> {
    let stands = list.get(item).map(|item| contract_words(&item.contract));
    match &design.refined {
        Some(refined) if stands.as_ref() == Some(&refined.from) => {
            let ContractWords { deliverable, verification } = refined.to.clone();
            edited(list.set_contract(item, &ItemContract { deliverable, verification }))
        }
        _ => Ok(list.clone()),
    }
}

pub(super) fn contract_words(contract: &ItemContract) -> ContractWords {
    let ItemContract { deliverable, verification } = contract.clone();
    ContractWords { deliverable, verification }
}

fn edited<E: std::fmt::Display>(result: Result<FeatureList, E>) -> Result<FeatureList, Fault> {
    result.map_err(|error| bug(format!("the queue could not be edited: {error}")))
}

const fn written(status: Status) -> ItemStatus {
    match status {
        Status::NotStarted => ItemStatus::NotStarted,
        Status::InProgress => ItemStatus::InProgress,
        Status::Complete => ItemStatus::Complete,
        Status::NeedsRework => ItemStatus::NeedsRework,
        Status::Blocked => ItemStatus::Blocked,
        Status::Existing => ItemStatus::Existing,
        Status::Cancelled => ItemStatus::Cancelled,
    }
}

/// What a planner or a builder finds: the queue with its item in progress, the ledger, the designs.
pub(super) fn before_building(context: &RunContext, state: &State) -> Result<Vec<LoopFile>, Fault> {
    let mut files =
        vec![(FEATURES_FILE.to_owned(), features(context, state, None)?.text().as_bytes().to_vec())];
    files.extend(designs(context, state)?);
    if let Some(text) = source(context, state, CONTRACT_FILE)? {
        files.push((CONTRACT_FILE.to_owned(), text.into_bytes()));
    }
    files.push((RUN_LOG_FILE.to_owned(), super::ledger::run_log(context, state)?.into_bytes()));
    Ok(files)
}

fn designs(context: &RunContext, state: &State) -> Result<Vec<LoopFile>, Fault> {
    let mut files = Vec::new();
    for (id, known) in &state.items {
        let Some(design) = &known.design else { continue };
        let document = DesignDocument::parse(&text(context, &design.artifact)?);
        let approved = known.design_approved.then(|| document.with_status(DesignStatus::Approved)).flatten();
        let text = approved.as_ref().unwrap_or(&document).text().as_bytes().to_vec();
        files.push((design_path(&item_id(id)?), text));
    }
    Ok(files)
}

/// Everything of the loop that goes into this commit.
pub(super) fn of_commit(
    context: &RunContext,
    state: &State,
    asked: &CommitItem,
) -> Result<Vec<LoopFile>, Fault> {
    let complete = asked.item.as_deref();
    let mut files =
        vec![(FEATURES_FILE.to_owned(), features(context, state, complete)?.text().as_bytes().to_vec())];
    files.extend(designs(context, state)?);
    files.push((BUDGET_FILE.to_owned(), budget(context, state, asked)?.into_bytes()));
    files.push((RUN_LOG_FILE.to_owned(), super::ledger::run_log(context, state)?.into_bytes()));
    files.push((PROGRESS_FILE.to_owned(), super::ledger::progress(context, state, asked)?.into_bytes()));
    files.push((CONTRACT_FILE.to_owned(), contract(context, state, asked)?.into_bytes()));
    files.extend(super::evaluations::of_commit(context, state, asked)?);
    Ok(files)
}

fn budget(context: &RunContext, state: &State, asked: &CommitItem) -> Result<String, Fault> {
    let spec = context.goal_loop()?;
    let text = match source(context, state, BUDGET_FILE)? {
        Some(text) => text,
        None => Budget::template(&Caps::default(), &spec.began),
    };
    let budget = Budget::parse(&text).map_err(|faults| bug(faults.to_string()))?;
    let commits = state.commits.len() + usize::from(asked.item.is_some());
    let used = used(state.iteration, commits, &asked.used);
    let budget = budget.with_start(&spec.began).and_then(|budget| budget.with_used(&used));
    Ok(budget.map_err(|faults| bug(faults.to_string()))?.text().to_owned())
}

pub(super) fn used(iterations: u32, commits: usize, usage: &Usage) -> Used {
    Used {
        iterations,
        commits: u32::try_from(commits).unwrap_or(u32::MAX),
        wall_clock_minutes: u32::try_from(usage.duration.0 / 60_000).unwrap_or(u32::MAX),
        tokens: usage.tokens,
        cost_micros: i64::try_from(usage.cost_micros).unwrap_or(i64::MAX),
    }
}

/// The contract as people left it, its inbox brought up to date when the run ends.
fn contract(context: &RunContext, state: &State, asked: &CommitItem) -> Result<String, Fault> {
    let text = source(context, state, CONTRACT_FILE)?.ok_or_else(|| bug("a goal loop without a contract"))?;
    let mut contract = Contract::parse(&text).map_err(|faults| bug(faults.to_string()))?;
    let accepted = state.items.iter().filter(|(_, known)| known.passed).map(|(id, _)| id.as_str());
    for id in accepted.chain(asked.item.as_deref()) {
        contract = contract.without_inbox_line(&item_id(id)?).map_err(|faults| bug(faults.to_string()))?;
    }
    if asked.item.is_none() {
        for line in super::ledger::inbox(context, state)? {
            contract = contract.with_inbox_line(&line).map_err(|faults| bug(faults.to_string()))?;
        }
    }
    Ok(contract.text().to_owned())
}

/// How the run ended, for the closing commit.
pub(super) fn end(state: &State) -> Result<&End, Fault> {
    state.end.as_ref().ok_or_else(|| bug("a closing commit of a run that goes on"))
}

/// Whether a page is one of the loop's by its first heading; an empty one is.
pub(super) fn is_titled(text: &str, title: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let heading =
        |line: &str| line.strip_prefix("# ").is_some_and(|words| words.trim_start().starts_with(title));
    first.is_none_or(heading)
}
