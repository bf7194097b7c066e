//! What waits for a person, over all repositories. The lines kept beside the facts say which runs to look at, so that ten
//! thousand runs that do not wait cost nothing but their line.

use super::roadmap_loop::superseded;
use super::{find, queries, stories};
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::host::Host;
use std::collections::BTreeSet;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::inbox::{EvidenceView, InboxEntry};
use windlass_engine::{Journal, RunHead, Stored, engine};
use windlass_git_workspaces::Checkout;
use windlass_protocols::inbox::{Waiting, waiting};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{ArtifactRef, Run, RunId};

/// Beyond these a list is no help; `windlass show` has the rest.
const ARTIFACTS: usize = 6;
const LINES: usize = 12;
const TITLE_CHARS: usize = 100;

pub(crate) async fn inbox(host: &Host, repository: Option<&Path>) -> Result<Vec<InboxEntry>, Fault> {
    let wanted = match repository {
        Some(path) => {
            let checkout = Checkout::discover(path).map_err(git_fault)?;
            Some(checkout.common_dir().to_string_lossy().into_owned())
        }
        None => None,
    };
    let all = host.journal.runs().await.map_err(journal_fault)?;
    let mut heads = all.clone();
    heads.retain(|head| headline::line(head, false).waits);
    if wanted.is_some() {
        heads.retain(|head| headline::common_dir(head) == wanted);
    }
    heads.sort_by_key(|head| (head.updated_at, head.started_at));
    // A story stands for the run of its last attempt: an answer to that alone would never reach the queue.
    let mut entries = stories::inbox(host, wanted.as_deref());
    let attempts: BTreeSet<String> = entries.iter().map(|entry| entry.run.clone()).collect();
    for head in heads {
        if attempts.contains(head.run.as_str()) || superseded::by(host, &all, &head).await?.is_some() {
            continue;
        }
        let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
        let run = engine::replay(&head.run, &stored).map_err(journal_fault)?;
        if let Some(waiting) = waiting(&run) {
            entries.push(entry(host, &head, &stored, &run, waiting)?);
        }
    }
    entries.sort_by_key(|entry| entry.waits_since_ms);
    Ok(entries)
}

fn entry(
    host: &Host,
    head: &RunHead,
    stored: &[Stored],
    run: &Run,
    waiting: Waiting,
) -> Result<InboxEntry, Fault> {
    let protocol = find::protocol(run)?;
    let line = headline::line(head, false);
    Ok(InboxEntry {
        run: head.run.to_string(),
        kind: line.kind,
        repository: line.repository,
        task: line.task,
        title: in_one_line(protocol.text()),
        question: waiting.question.word().to_owned(),
        cause: waiting.cause,
        said: bounded(waiting.said),
        tree: waiting.tree.map(|tree| tree.to_string()),
        tried: bounded(waiting.tried),
        evidence: evidence(host, &head.run, stored, protocol)?,
        suggestion: waiting.suggestion,
        commands: waiting.commands,
        waits_since_ms: line.updated_at_ms,
    })
}

/// What the last round left, the newest first, and how to see the whole.
fn evidence(
    host: &Host,
    id: &RunId,
    stored: &[Stored],
    protocol: &Protocol,
) -> Result<Vec<EvidenceView>, Fault> {
    let sealed = queries::sealed(id, stored)?;
    let last = sealed.last().map_or(0, |(round, _)| *round);
    let mut files: Vec<ArtifactRef> = Vec::new();
    for (_, artifact) in sealed.into_iter().rev().take_while(|(round, _)| *round == last) {
        let known = files.iter().any(|file| file.digest == artifact.digest);
        if files.len() < ARTIFACTS && !known && tells_something(&artifact) {
            files.push(artifact);
        }
    }
    let files = files.into_iter().map(|artifact| EvidenceView {
        see: host.evidence.path_of(&artifact.digest).to_string_lossy().into_owned(),
        what: artifact.name,
    });
    let changed = match protocol {
        Protocol::JudgedTask(state) => state.change.is_some(),
        Protocol::FeedbackControl(state) => state.captures > 0,
        Protocol::GoalContract(state) => state.open.as_ref().is_some_and(|open| open.change.is_some()),
        Protocol::RoadmapRounds(_) => false,
    };
    let diff =
        changed.then(|| EvidenceView { what: "the change".to_owned(), see: format!("windlass diff {id}") });
    let whole = EvidenceView { what: "everything".to_owned(), see: format!("windlass show {id}") };
    Ok(diff.into_iter().chain(files).chain([whole]).collect())
}

/// What an agent was told is no evidence, and neither is an empty file; the patch is what `diff` shows.
fn tells_something(artifact: &ArtifactRef) -> bool {
    let name = artifact.name.as_str();
    artifact.bytes > 0 && !name.ends_with(".prompt.md") && name != "patch.diff"
}

fn in_one_line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.chars().count() <= TITLE_CHARS {
        return first.to_owned();
    }
    let mut cut: String = first.chars().take(TITLE_CHARS - 1).collect();
    cut.push('…');
    cut
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}
