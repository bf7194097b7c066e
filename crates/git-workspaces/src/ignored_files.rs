//! What of the files that a tree's rules tell git to leave alone is recorded all the same: everything while it is little,
//! what cannot be made again while that is little, and otherwise a word about why not. Decides nothing else.

use std::collections::BTreeMap;

use crate::blockers::blockers;
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits};
use crate::index_file::path_for_key;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use std::path::Path;

/// Directories whose content a tool makes anew from what is tracked, by their names alone.
const MADE_AGAIN: [&[u8]; 2] = [b"node_modules", b"__pycache__"];
/// How a directory says of itself that it is a cache; build tools put this file into what they make.
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// What becomes of files that the tree's rules tell git to leave alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoredFiles {
    LeftOut,
    /// Taken up like all others while they are not more than this. If they are, caches are left out; if the rest is still
    /// more, that is a hazard and none is taken up.
    Recorded(SnapshotLimits),
    /// The same, but where even the rest is too much, all of it may be left out: others can make it again.
    RecordedIfFew(SnapshotLimits),
}

/// Ignored files that are not in a snapshot, though they were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub files: usize,
    /// Of the files that were counted before there were too many.
    pub bytes: u64,
    /// The caches among them; empty where everything ignored was left out.
    pub caches: Vec<RepoPath>,
}

/// What is to be staged besides what is not ignored.
pub(crate) enum Chosen {
    Nothing,
    Everything,
    Only(Vec<RepoPath>),
}

pub(crate) struct Choice {
    pub(crate) chosen: Chosen,
    pub(crate) left_out: Option<LeftOut>,
    pub(crate) hazard: Option<Hazard>,
}

impl Choice {
    fn of(chosen: Chosen) -> Self {
        Self { chosen, left_out: None, hazard: None }
    }
}

impl Repository {
    /// Everything in a workspace that the rules there tell git to leave alone, as of the last look at it under this key. A
    /// directory with nothing else in it counts once.
    pub fn ignored_in(&self, workspace: &Path, key: &str) -> Result<Vec<RepoPath>, GitError> {
        let root = ConfinedDir::open(workspace)?;
        // Where git cannot be asked, nothing is recorded either, and that is told.
        if !blockers(&root)?.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call_in(root.path(), &path_for_key(&self.control.indexes(), key));
        let listed = call.args(["ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z"]).run()?;
        Ok(listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }

    pub(crate) fn choose_ignored(
        &self,
        root: &ConfinedDir,
        index: &Path,
        ignored: IgnoredFiles,
    ) -> Result<Choice, GitError> {
        let limits = match ignored {
            IgnoredFiles::LeftOut => return Ok(Choice::of(Chosen::Nothing)),
            IgnoredFiles::Recorded(limits) | IgnoredFiles::RecordedIfFew(limits) => limits,
        };
        let call = self.call_in(root.path(), index);
        let listed = call.args(["ls-files", "-o", "-i", "--exclude-standard", "-z"]).run()?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new);
        let paths: Vec<RepoPath> = paths.collect();
        let (files, bytes) = (paths.len(), size_of(root, &paths, limits)?);
        if files <= limits.paths && bytes <= limits.bytes {
            return Ok(Choice::of(Chosen::Everything));
        }
        let mut caches = Caches { root, known: BTreeMap::new() };
        let mut rest = Vec::new();
        for path in paths {
            if !caches.hold(&path)? {
                rest.push(path);
            }
        }
        let left = size_of(root, &rest, limits)?;
        if rest.len() <= limits.paths && left <= limits.bytes {
            let left_out = LeftOut {
                files: files - rest.len(),
                bytes: bytes.saturating_sub(left),
                caches: caches.found(),
            };
            return Ok(Choice { chosen: Chosen::Only(rest), left_out: Some(left_out), hazard: None });
        }
        let all = LeftOut { files, bytes, caches: Vec::new() };
        Ok(match ignored {
            IgnoredFiles::Recorded(_) => Choice {
                hazard: Some(Hazard::TooMuchIgnored { files: rest.len(), bytes: left }),
                ..Choice::of(Chosen::Nothing)
            },
            IgnoredFiles::LeftOut | IgnoredFiles::RecordedIfFew(_) => {
                Choice { left_out: Some(all), ..Choice::of(Chosen::Nothing) }
            }
        })
    }
}

/// Of so many of them as are within the limit; looking at all of a dependency tree would only tell by how much it is over.
fn size_of(root: &ConfinedDir, paths: &[RepoPath], limits: SnapshotLimits) -> Result<u64, GitError> {
    let mut bytes = 0_u64;
    for path in paths.iter().take(limits.paths) {
        bytes = bytes.saturating_add(root.kind_of(path)?.map_or(0, |(_, size)| size));
    }
    Ok(bytes)
}

/// Which directories are caches, each looked at once.
struct Caches<'r> {
    root: &'r ConfinedDir,
    known: BTreeMap<Vec<u8>, bool>,
}

impl Caches<'_> {
    fn hold(&mut self, path: &RepoPath) -> Result<bool, GitError> {
        let bytes = path.as_bytes();
        for (end, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let directory = &bytes[..end];
            let is_cache = if let Some(known) = self.known.get(directory) {
                *known
            } else {
                let found = self.is_cache(directory)?;
                self.known.insert(directory.to_vec(), found);
                found
            };
            if is_cache {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_cache(&self, directory: &[u8]) -> Result<bool, GitError> {
        let name = directory.rsplit(|byte| *byte == b'/').next().unwrap_or(directory);
        if MADE_AGAIN.contains(&name) {
            return Ok(true);
        }
        let tag = RepoPath::new([directory, b"/", CACHE_TAG.as_bytes()].concat());
        if self.root.kind_of(&tag)?.is_none() {
            return Ok(false);
        }
        // One that cannot be read says nothing.
        let found = self.root.read_file(&tag, 64 * 1024).ok().flatten();
        Ok(found.is_some_and(|(_, content)| content.starts_with(CACHE_SIGNATURE)))
    }

    fn found(self) -> Vec<RepoPath> {
        let caches = self.known.into_iter().filter(|(_, is_cache)| *is_cache);
        caches.map(|(directory, _)| RepoPath::new(directory)).collect()
    }
}
