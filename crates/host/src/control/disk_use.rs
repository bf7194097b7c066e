//! What the worktrees of all runs take on the disk, by repository and by what they are for. Looks only; deletes nothing.

use super::clean::shared;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_control_api::views::{DiagnosisLine, Health};
use windlass_engine::{Journal, RunHead};

pub(crate) const MEGABYTE: u64 = 1024 * 1024;
/// A walk that finds more stops and says so: a look must come to an end.
pub(crate) const MOST_FILES: u64 = 2_000_000;

/// What worktrees are for; the first two are made again for every look.
pub(crate) const CHECKERS: &str = "checkers";
pub(crate) const SENSORS: &str = "sensors";

/// One worktree, and what it takes.
pub(crate) struct Used {
    pub(crate) head: RunHead,
    pub(crate) repository: String,
    pub(crate) kind: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// Everything that stands, and whether all of it was counted.
pub(crate) async fn all(host: &Host) -> Result<(Vec<Used>, Counted), Fault> {
    let mut used = Vec::new();
    let mut left = MOST_FILES;
    for head in host.journal.runs().await.map_err(journal_fault)? {
        let line = headline::line(&head, false);
        for (kind, path) in worktrees(Path::new(&line.run_dir)) {
            let bytes = size_of(&path, &mut left);
            let (head, repository) = (head.clone(), line.repository.clone());
            used.push(Used { head, repository, kind, path, bytes });
        }
    }
    Ok((used, if left == 0 { Counted::NotAll } else { Counted::All }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    All,
    NotAll,
}

/// One line per repository that has any, and whether all together are more than the budget; without one, how much it is.
pub(crate) async fn lines(host: &Host, budget: Option<u64>) -> Result<Vec<DiagnosisLine>, Fault> {
    let (found, counted) = all(host).await?;
    let mut used: BTreeMap<String, BTreeMap<&'static str, u64>> = BTreeMap::new();
    for one in found {
        *used.entry(one.repository).or_default().entry(one.kind).or_default() += one.bytes;
    }
    let mut left = MOST_FILES;
    let shared: u64 = shared::all(host, &mut left).iter().map(|one| one.bytes).sum();
    let all: u64 = used.values().flat_map(BTreeMap::values).sum::<u64>() + shared;
    let over = budget.is_some_and(|budget| all > budget);
    let of = budget.map_or(String::new(), |budget| format!(" of {} MB", budget / MEGABYTE));
    let more = if counted == Counted::NotAll { ", and more than was counted" } else { "" };
    Ok(used
        .into_iter()
        .map(|(repository, kinds)| {
            let told: Vec<String> =
                kinds.iter().map(|(kind, bytes)| format!("{kind} {} MB", bytes / MEGABYTE)).collect();
            let with = if shared > 0 { " with shared checkouts" } else { "" };
            let details =
                format!("{repository}: {}{more}; {} MB{of} in all{with}", told.join(", "), all / MEGABYTE);
            let (state, fix) = if over {
                (
                    Health::Warning,
                    format!(
                        "`windlass clean --repo {repository}` takes those of ended runs, after they are kept"
                    ),
                )
            } else {
                (Health::Good, String::new())
            };
            DiagnosisLine { what: "worktrees".to_owned(), state, details, fix }
        })
        .collect())
}

/// By what they are for, told by their names.
fn worktrees(run_dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let listed = std::fs::read_dir(run_dir.join("worktrees")).into_iter().flatten().flatten();
    let directories = listed
        .map(|entry| entry.path())
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()));
    directories
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let kind = match name.as_ref() {
                "doer" | "actuator" | "builder" | "implementer" => "makers",
                "judge" | "controller" | "evaluator" | "reviewer" => CHECKERS,
                name if name.starts_with("sensor-") => SENSORS,
                _ => "people",
            };
            (kind, path.clone())
        })
        .collect()
}

/// What is allocated, links not followed; what cannot be looked at counts nothing.
pub(crate) fn size_of(directory: &Path, left: &mut u64) -> u64 {
    let mut bytes = 0_u64;
    let mut open = vec![directory.to_owned()];
    while let Some(current) = open.pop() {
        for entry in std::fs::read_dir(&current).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return bytes };
            *left = rest;
            let Ok(found) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(found.blocks().saturating_mul(512));
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
