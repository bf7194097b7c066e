//! Reads contract, queue and budget as people left them. A file that somebody edited in the checkout since the run began
//! counts as it is there; every other one as the loop last committed it. What cannot be read is refused and never written.

use super::files;
use crate::context::{RunContext, git_commit};
use crate::fault::git_fault;
use crate::goal_queue;
use std::path::Path;
use windlass_artifact_formats::goal_loop::{
    BUDGET_FILE, Budget, CONTRACT_FILE, Caps, Contract, DesignDocument, FEATURES_FILE, Feature, FeatureList,
    Recognised, RunLog,
};
use windlass_control_api::Fault;
use windlass_protocols::protocol::goal_contract::queue::{Item, Queue};
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{Outcome, Run};

/// Larger than any file people keep by hand.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

pub(in super::super) fn run(context: &RunContext, run: &Run) -> Result<Outcome, Fault> {
    let state = files::state(run)?;
    Ok(match read(context, state)? {
        Ok(queue) => Outcome::QueueRead(Box::new(queue)),
        Err(reason) => Outcome::Refused { reason },
    })
}

fn read(context: &RunContext, state: &State) -> Result<Result<Queue, String>, Fault> {
    let mut texts = Vec::new();
    for path in [FEATURES_FILE, CONTRACT_FILE, BUDGET_FILE] {
        texts.push(match current(context, state, path)? {
            Ok(text) => text,
            Err(reason) => return Ok(Err(reason)),
        });
    }
    let [Some(features), Some(contract), budget] = texts.as_slice() else {
        return Ok(Err(format!(
            "{FEATURES_FILE} and {CONTRACT_FILE} are needed; `windlass goal init` makes them"
        )));
    };
    let features_text = features;
    let list = match FeatureList::parse(features) {
        Ok(list) => list,
        Err(faults) => return Ok(Err(faults.to_string())),
    };
    let contract = match Contract::parse(contract) {
        Ok(contract) => contract,
        Err(faults) => return Ok(Err(faults.to_string())),
    };
    let mut sources = vec![
        context.evidence.seal(files::source_name(FEATURES_FILE), features_text.as_bytes())?,
        context.evidence.seal(files::source_name(CONTRACT_FILE), contract.text().as_bytes())?,
    ];
    let mut notices = Vec::new();
    let caps = match budget {
        None => Caps::default(),
        Some(text) => match Budget::parse(text) {
            Ok(budget) => {
                sources.push(context.evidence.seal(files::source_name(BUDGET_FILE), text.as_bytes())?);
                notices.extend(budget.notices.iter().cloned());
                budget.caps
            }
            Err(faults) => return Ok(Err(faults.to_string())),
        },
    };
    let log = run_log(context, state)?;
    let mut items = Vec::new();
    for feature in list.items() {
        items.push(item(context, state, feature, &log)?);
    }
    let mut queue = goal_queue::queue(&contract, &list, &caps, items);
    queue.sources = sources;
    queue.notices.extend(notices);
    Ok(Ok(queue))
}

/// The text that counts now: a person's newest, or the loop's own.
fn current(context: &RunContext, state: &State, path: &str) -> Result<Result<Option<String>, String>, Fault> {
    let head = files::at_head(context, state, path)?;
    let base = context.repository.resolve_commit(git_commit(&context.spec.place().base)?.as_str());
    let base = context.repository.file_at(&base.map_err(git_fault)?.tree, path).map_err(git_fault)?;
    let of_person = match in_checkout(context, path) {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    let edited = of_person.filter(|text| Some(text) != head.as_ref() && Some(text) != base.as_ref());
    let Some(bytes) = edited.or(head).or(base) else { return Ok(Ok(None)) };
    Ok(String::from_utf8(bytes).map(Some).map_err(|_| format!("{path} is not text")))
}

/// A link or a device there is nothing a person wrote.
fn in_checkout(context: &RunContext, path: &str) -> Result<Option<Vec<u8>>, String> {
    let place = context.repository.checkout().work_tree().join(Path::new(path));
    let Ok(found) = place.symlink_metadata() else { return Ok(None) };
    if !found.is_file() {
        return Err(format!("{path} in your checkout is not a plain file"));
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(format!("{path} in your checkout is larger than {MAX_FILE_BYTES} bytes"));
    }
    std::fs::read(&place)
        .map(Some)
        .map_err(|error| format!("{path} in your checkout cannot be read: {error}"))
}

fn run_log(context: &RunContext, state: &State) -> Result<RunLog, Fault> {
    let text = files::at_head(context, state, windlass_artifact_formats::goal_loop::RUN_LOG_FILE)?;
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    Ok(match RunLog::recognise(&text) {
        Recognised::Ours(log) => log,
        Recognised::Foreign(_) | Recognised::Invalid(_) => RunLog::new(),
    })
}

fn item(context: &RunContext, state: &State, feature: &Feature, log: &RunLog) -> Result<Item, Fault> {
    let design = match &feature.design_doc {
        Some(path) => files::at_head(context, state, path)?
            .map(|bytes| DesignDocument::parse(&String::from_utf8_lossy(&bytes))),
        None => None,
    };
    Ok(goal_queue::item(feature, Some(log), design.as_ref()))
}
