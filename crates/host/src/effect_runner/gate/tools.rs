//! The programs that checks run: found on a search path that holds nothing of the maker's, and the same ones as at the base.
//! A file that stands before the real program is a finding, whoever put it there.

use crate::context::{RunContext, git_tree};
use crate::durable_file::{Flush, replace};
use crate::fault::bug;
use crate::state_dir::make_private;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::gate::Instruments;
use windlass_control_api::Fault;
use windlass_git_workspaces::Difference;
use windlass_protocols::TreeId;
use windlass_protocols::kernel::gate::{FindingName, GateFinding};

pub(crate) const FILE_NAME: &str = "tools.json";
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program as it stood when it was looked at: whatever is written or put in its place changes one of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// What each name led to; absent where it led nowhere.
type Tools = BTreeMap<String, Option<Stamp>>;

/// The search path of checks: absolute places outside the run's own directory. A relative one would be looked up in the tree
/// that is checked.
pub(crate) fn search_path(context: &RunContext) -> OsString {
    let run = context.run_dir();
    let kept = entries(context).filter(|entry| {
        let real = entry.canonicalize().unwrap_or_else(|_| entry.clone());
        entry.is_absolute() && !entry.starts_with(run) && !real.starts_with(run)
    });
    std::env::join_paths(kept).unwrap_or_else(|_| OsString::from(USUAL))
}

fn entries(context: &RunContext) -> impl Iterator<Item = PathBuf> + '_ {
    let path = context.environment.get("PATH").unwrap_or(USUAL);
    path.split(':').map(PathBuf::from)
}

/// Remembers the programs before any maker could touch them. Once in a run.
pub(in super::super) fn remember(context: &RunContext, base: &TreeId) -> Result<(), Fault> {
    let file = context.state.run(&context.run).join(FILE_NAME);
    if context.spec.place().gate.is_off() || file.exists() {
        return Ok(());
    }
    let instruments = super::touched::Guard::of(context, &git_tree(base)?).instruments;
    let found: Tools = instruments.programs.iter().map(|name| (name.clone(), stamp(context, name))).collect();
    let text = serde_json::to_vec(&found).map_err(|error| bug(error.to_string()))?;
    make_private(&context.state.run(&context.run))?;
    replace(&file, &text, Flush::ToDisk)
}

/// Programs that are others now than they were then.
pub(in super::super) fn replaced(context: &RunContext) -> Option<GateFinding> {
    if context.spec.place().gate.is_off() {
        return None;
    }
    let text = std::fs::read(context.state.run(&context.run).join(FILE_NAME)).ok()?;
    let before: Tools = serde_json::from_slice(&text).ok()?;
    let about: Vec<String> = before
        .into_iter()
        .filter_map(|(name, before)| {
            let now = stamp(context, &name);
            if now == before {
                return None;
            }
            Some(match (before, now) {
                (Some(before), Some(now)) if before.path == now.path => {
                    format!("`{name}` at {} was changed during the run", now.path.display())
                }
                (before, Some(now)) => {
                    let was =
                        before.map_or_else(|| "nowhere".to_owned(), |one| one.path.display().to_string());
                    format!("`{name}` is found at {} now, and was found {was} before", now.path.display())
                }
                (_, None) => format!("`{name}` is not found any more"),
            })
        })
        .collect();
    (!about.is_empty()).then_some(GateFinding { kind: FindingName::CheckReplacedOnPath, about })
}

/// Files that the change put where a relative entry of the user's search path would find them before the real program. The
/// checks run without such entries; whoever runs them by hand does not.
pub(super) fn in_the_tree(
    context: &RunContext,
    instruments: &Instruments,
    differences: &[Difference],
) -> Vec<GateFinding> {
    let there = differences.iter().filter(|one| one.after.is_some());
    let about: Vec<String> = there
        .filter_map(|one| {
            let path = one.path.as_path();
            let (name, entry) = shadowed(context, instruments, path)?;
            Some(format!(
                "{} stands before `{name}` for the relative entry `{}` of PATH",
                path.display(),
                entry.display()
            ))
        })
        .collect();
    if about.is_empty() {
        return Vec::new();
    }
    vec![GateFinding { kind: FindingName::CheckReplacedOnPath, about }]
}

/// Whether a file there would be found before a program that a check runs.
pub(super) fn shadows(context: &RunContext, instruments: &Instruments, path: &str) -> bool {
    shadowed(context, instruments, Path::new(path)).is_some()
}

/// The program's name, and the relative entry of the search path by which the file is found before it.
fn shadowed(context: &RunContext, instruments: &Instruments, path: &Path) -> Option<(String, PathBuf)> {
    let (name, folder) = (path.file_name()?.to_str()?, path.parent()?);
    if !instruments.programs.contains(name) {
        return None;
    }
    let plain =
        |entry: &PathBuf| entry.components().filter(|one| one.as_os_str() != ".").eq(folder.components());
    let entry = entries(context).filter(|entry| !entry.is_absolute()).find(plain)?;
    let entry = if entry.as_os_str().is_empty() { PathBuf::from(".") } else { entry };
    Some((name.to_owned(), entry))
}

fn stamp(context: &RunContext, name: &str) -> Option<Stamp> {
    let path = search_path(context);
    std::env::split_paths(&path).find_map(|folder| {
        let path = folder.join(name);
        let found = path.metadata().ok().filter(|found| found.is_file() && found.mode() & 0o111 != 0)?;
        Some(Stamp {
            path,
            device: found.dev(),
            inode: found.ino(),
            bytes: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    })
}
