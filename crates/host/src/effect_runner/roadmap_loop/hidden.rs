//! Artifacts of a role that an ignore rule of the tree hides from git: the loop asked for them, so they are taken all the
//! same. Only plain texts no larger than an artifact can be; everything else that is ignored stays where it is.

use super::capture::{named, write_set};
use super::site::{Site, Step};
use crate::control_plane::folder::{self, Found};
use windlass_git_workspaces::{Commit, Overlay, TreeId};
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::CaptureWork;

/// Paths that were hidden and are in the tree now.
#[derive(Debug, Default)]
pub(super) struct Hidden(Vec<String>);

impl Hidden {
    /// Adds to what git sees of a worktree what the role was to write and git does not see.
    pub(super) fn reveal(
        site: &Site<'_>,
        asked: &CaptureWork,
        (plane, parent): (&Plane, &Commit),
        tree: &mut TreeId,
    ) -> Step<Self> {
        let mut revealed = Vec::new();
        // A plan says what else its planner may write, and may be hidden itself.
        for _ in 0..2 {
            let set = write_set(site, asked, plane, parent, tree)?;
            let top = site.place(&asked.worktree);
            let (files, folders) = set.artifacts();
            let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
            for path in files {
                if let Found::Text(text) = folder::read(&top, path) {
                    texts.push((path.clone(), text.into_bytes()));
                }
            }
            for folder in folders {
                let within = folder::read_all(&top, folder).texts.into_iter();
                let within = within.map(|(name, text)| (format!("{folder}/{name}"), text.into_bytes()));
                texts.extend(within.filter(|(path, _)| set.takes(path.as_bytes())));
            }
            let mut hidden = Vec::new();
            for (path, text) in texts {
                if site.repository.file_at(tree, &path)?.is_none() {
                    hidden.push((path, text));
                }
            }
            if hidden.is_empty() {
                break;
            }
            let parts = Overlay { content: tree, replaced: &[], removed: &[], files: &hidden };
            *tree = site.repository.overlay_to_show(&parts)?;
            revealed.extend(hidden.into_iter().map(|(path, _)| path));
        }
        Ok(Self(revealed))
    }

    /// What lies there and is in no tree, for git is told to ignore it.
    pub(super) fn all_but(&self, site: &Site<'_>, worktree: &str) -> Step<Vec<String>> {
        let found = site.repository.ignored_in(&site.place(worktree), &Site::key(worktree))?;
        let found = found.iter().map(ToString::to_string);
        // A folder of which all is ignored is named as one.
        let taken = |path: &String| {
            self.0.iter().any(|own| own == path || (path.ends_with('/') && own.starts_with(path.as_str())))
        };
        Ok(named(found.filter(|path| !taken(path)).collect()))
    }
}
