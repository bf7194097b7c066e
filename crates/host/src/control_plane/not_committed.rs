//! A plane that lies whole in the checkout and not on the base branch: its set-up or migration was interrupted, or somebody
//! wrote it and did not commit. Taken for an old one it would be migrated.

use super::Trouble;
use std::path::Path;
use windlass_artifact_formats::roadmap_loop::plane::{PlaneKind, Recognised, STATE_FILE, StateFile, names};

/// `committed` are the plane's files on the base branch, which make no plane that can be run.
pub(super) fn whole_here(
    top: &Path,
    state: &StateFile,
    (committed, roadmap): (&[String], Option<&str>),
) -> Option<Trouble> {
    let bundle = state.bundle()?;
    let folders = [names::PLANE_DIR.to_owned(), format!("{}/roles", names::PLANE_DIR), bundle.dir];
    let here: Vec<String> = folders.iter().flat_map(|folder| files_in(top, folder)).collect();
    let found: Vec<&str> = here.iter().map(String::as_str).collect();
    let PlaneKind::Runs(files) = PlaneKind::of(&Recognised::Ours(state.clone()), &found, roadmap) else {
        return None;
    };
    let only_here: Vec<String> =
        here.into_iter().filter(|path| path != STATE_FILE && !committed.contains(path)).collect();
    (!only_here.is_empty()).then(|| Trouble::not_committed(files.generation, &only_here))
}

fn files_in(top: &Path, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(top.join(folder)).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let named = plain.filter_map(|entry| Some(format!("{folder}/{}", entry.file_name().to_str()?)));
    let mut files: Vec<String> = named.collect();
    files.sort();
    files
}
