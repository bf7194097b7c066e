//! Checkouts that many runs have below their workspaces. Each can be made again from its tree, so that the one that was used
//! longest ago goes first, unless a run that has not ended stands on it.

use crate::control::disk_use::size_of;
use crate::control::find;
use crate::fault::{git_fault, journal_fault};
use crate::host::Host;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use windlass_control_api::Fault;
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::CleanItem;
use windlass_engine::Journal;
use windlass_git_workspaces::{pristine_checkouts, remove_pristine};

/// A run that begins right now may have looked for it and not be recorded yet.
const JUST_USED: Duration = Duration::from_mins(10);

pub(crate) struct Shared {
    path: PathBuf,
    pub(crate) bytes: u64,
}

/// Those of all repositories, the one that was used longest ago first.
pub(crate) fn all(host: &Host, left: &mut u64) -> Vec<Shared> {
    let folders = std::fs::read_dir(host.state.all_pristine()).into_iter().flatten().flatten();
    let mut paths: Vec<(SystemTime, PathBuf)> = folders
        .flat_map(|folder| pristine_checkouts(&folder.path()))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .collect();
    paths.sort();
    paths.into_iter().map(|(_, path)| Shared { bytes: size_of(&path, left), path }).collect()
}

/// Takes away what nobody stands on until no more than `too_much` is left over. Comes back with what went, and its bytes.
pub(super) async fn take(
    host: &Host,
    shared: &[Shared],
    mut too_much: u64,
    mode: CleanMode,
) -> Result<Vec<(CleanItem, u64)>, Fault> {
    let mut gone = Vec::new();
    if shared.is_empty() {
        return Ok(gone);
    }
    let needed = needed(host).await?;
    for one in shared {
        let name = one.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let age = one.path.metadata().ok().and_then(|about| about.modified().ok()?.elapsed().ok());
        if too_much == 0 || needed.contains(&name) || age.is_none_or(|age| age < JUST_USED) {
            continue;
        }
        if mode == CleanMode::Remove {
            remove_pristine(&one.path).map_err(git_fault)?;
        }
        let item = CleanItem {
            run: String::new(),
            kind: "shared checkout".to_owned(),
            what: one.path.display().to_string(),
            why: "it can be made again, and no run that has not ended stands on it".to_owned(),
        };
        too_much = too_much.saturating_sub(one.bytes);
        gone.push((item, one.bytes));
    }
    Ok(gone)
}

/// The trees on which runs stand that have not ended.
async fn needed(host: &Host) -> Result<Vec<String>, Fault> {
    let mut trees = Vec::new();
    for head in host.journal.runs().await.map_err(journal_fault)? {
        let Some(tree) = crate::workspaces::base_of_layers(&host.state, &head.run) else { continue };
        let (_, _, run) = find::run(host, head.run.as_str()).await?;
        if !run.ended {
            trees.push(tree);
        }
    }
    Ok(trees)
}
