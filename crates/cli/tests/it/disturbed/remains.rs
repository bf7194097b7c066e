//! Every file that is left in the repository and the state directory, by name: worktrees, branches, locks, temporary files.
//! Names that differ from run to run are replaced by words, and counted.

use super::Steps;
use super::books::Books;
use crate::crash_points::{files, without_ids};
use std::collections::BTreeMap;
use std::path::Path;
use windlass_test_support::{Repository, World};

pub(crate) struct Remains(BTreeMap<String, usize>);

impl Remains {
    pub(crate) fn of(world: &World, repository: &Repository, books: &Books) -> Self {
        let mut names = BTreeMap::new();
        for place in [repository.path(), &world.state_dir()] {
            for file in files(place) {
                *names.entry(name(world.path(), &file, books)).or_default() += 1;
            }
        }
        Self(names)
    }

    /// What there is more or less of than after an undisturbed run. Of a step that was lost it is kept what it had made.
    pub(crate) fn beyond(&self, undisturbed: &Self, steps: Steps) -> Vec<String> {
        let names = self.0.keys().chain(undisturbed.0.keys());
        let rightly = |name: &str| {
            of_its_own(name)
                || (steps == Steps::MayBeLost
                    && ["interrupted-", "orchestrator-"]
                        .iter()
                        .any(|kept| name.contains(&format!("/kept/RUN/{kept}"))))
        };
        let mut names: Vec<&String> = names.filter(|name| !rightly(name)).collect();
        names.sort();
        names.dedup();
        let count = |remains: &Self, name: &String| remains.0.get(name).copied().unwrap_or_default();
        let differs = |name: &&&String| {
            let (now, then) = (count(self, name), count(undisturbed, name));
            if counted(name) { now != then } else { (now == 0) != (then == 0) }
        };
        let told = |name: &&String| {
            format!("{} of {name}, undisturbed {}", count(self, name), count(undisturbed, name))
        };
        names.iter().filter(differs).map(told).collect()
    }
}

/// A step that was lost and asked again has a directory more, and each process looks up for itself what it needs of the
/// private control directory: there it counts only which kinds of files there are.
fn counted(name: &str) -> bool {
    !["/effects/*/", "/indexes/tree-", "/imported/", "/objects/pack/"].iter().any(|part| name.contains(part))
}

/// What git itself leaves when it is killed, and takes away when it collects garbage.
fn of_its_own(name: &str) -> bool {
    name.contains("/objects/") && name.contains("/tmp_")
}

fn name(world: &Path, file: &Path, books: &Books) -> String {
    let name = file.strip_prefix(world).expect("found there").to_string_lossy().into_owned();
    let name = books.runs().fold(name, |name, run| name.replace(run, "RUN"));
    let mut parts: Vec<&str> = name.split('/').collect();
    if let Some(effects) = parts.iter().position(|part| *part == "effects")
        && let Some(number) = parts.get_mut(effects + 1)
    {
        *number = "*";
    }
    let name = parts.join("/");
    match name.rsplit_once('-') {
        // A ref that keeps something ends with the beginning of its id.
        Some((kept, id)) if name.contains("/refs/windlass/kept/") && id.len() == 12 => format!("{kept}-ID"),
        _ => without_ids(&without_makers(&without_uuids(&name))),
    }
}

/// A copy of a story is named after whoever works in it, whose id is drawn.
fn without_makers(name: &str) -> String {
    let parts = name.split('/').map(|part| match part.rsplit_once('-') {
        Some((story, maker)) if part.starts_with("UUID-") && maker.len() == 12 => format!("{story}-MAKER"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

fn without_uuids(name: &str) -> String {
    let dashes = [8, 13, 18, 23];
    let is_uuid = |text: &str| {
        text.bytes()
            .enumerate()
            .all(|(at, byte)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
    };
    let found = (0..name.len()).find(|at| name.get(*at..at + 36).is_some_and(is_uuid));
    found.map_or_else(
        || name.to_owned(),
        |at| format!("{}UUID{}", &name[..at], without_uuids(&name[at + 36..])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remains(names: &[&str]) -> Remains {
        let mut counts = BTreeMap::new();
        for name in names {
            *counts.entry((*name).to_owned()).or_default() += 1;
        }
        Remains(counts)
    }

    #[test]
    fn what_is_left_over_or_missing_is_found() {
        let undisturbed = remains(&["r/.git/HEAD", "state/runs/RUN/effects/*/exit.json"]);
        let wrong = |names: &[&str], steps| remains(names).beyond(&undisturbed, steps);
        let again =
            ["r/.git/HEAD", "state/runs/RUN/effects/*/exit.json", "state/runs/RUN/effects/*/exit.json"];
        assert_eq!(wrong(&again, Steps::AllKnown), Vec::<String>::new());
        let lock = wrong(
            &[&again[..], &["r/.git/index.lock", "r/.git/objects/12/tmp_obj_x"]].concat(),
            Steps::AllKnown,
        );
        assert_eq!(lock, ["1 of r/.git/index.lock, undisturbed 0"]);
        assert_eq!(wrong(&again[1..], Steps::AllKnown), ["0 of r/.git/HEAD, undisturbed 1"]);
        let kept = [&again[..], &["r/.git/refs/windlass/kept/RUN/interrupted-1-ID"]].concat();
        assert_eq!(wrong(&kept, Steps::MayBeLost), Vec::<String>::new());
        assert_eq!(wrong(&kept, Steps::AllKnown).len(), 1);
    }

    #[test]
    fn ids_in_names_are_words() {
        let uuid = "a/01a1ec98-0dee-7883-8c47-6c02ea3ccddf/01a1ec98-0e52-76db-8a47-63d1621ff81a/b";
        assert_eq!(without_uuids(uuid), "a/UUID/UUID/b");
        assert_eq!(without_makers("copies/UUID-1-61befb75c8d7/.git"), "copies/UUID-1-MAKER/.git");
    }
}
