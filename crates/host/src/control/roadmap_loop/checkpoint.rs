//! Exactly one commit with exactly the named files, shown in the user's checkout. What is to be done is written down before
//! anything of the user's is touched, so that a killed command is finished by the next one and never made twice.

use crate::control::goal_loop::put;
use crate::durable_file::{Flush, replace};
use crate::effect_runner::{author, in_the_way};
use crate::fault::{file_fault, git_fault};
use crate::host::Host;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{
    Commit, CommitId, CommitRequest, FastForward, GitError, Moment, Overlay, Repository, TreeId,
};

/// A checkpoint that was begun.
#[derive(Serialize, Deserialize)]
struct Begun {
    /// Absent where the repository has no commit yet.
    from: Option<String>,
    to: String,
    tree: String,
    paths: Vec<String>,
}

pub(super) struct Checkpoints<'a> {
    host: &'a Host,
    repository: &'a Repository,
}

impl<'a> Checkpoints<'a> {
    pub(super) fn of(host: &'a Host, repository: &'a Repository) -> Self {
        Self { host, repository }
    }

    /// Finishes what a killed command began, where the branch still stands where it stood. Says which commit came of it.
    pub(super) fn finish_begun(&self) -> Result<Option<String>, Fault> {
        let Some(begun) = self.begun() else { return Ok(None) };
        let head = self.head()?;
        let stands = head.as_ref().map(|head| head.id.to_string());
        if stands != begun.from && stands.as_deref() != Some(begun.to.as_str()) {
            // The branch went on without it: what was begun is of no use to anybody any more.
            self.forget();
            return Ok(None);
        }
        if stands == begun.from {
            self.write_files(&begun)?;
        }
        // Otherwise all files were there before the branch moved, and people may have worked on them since.
        self.move_branch(&begun)?;
        Ok(Some(begun.to))
    }

    pub(super) fn make(&self, files: &[(String, String)], message: &str) -> Result<String, Fault> {
        let head = self.head()?;
        if let Some(head) = &head {
            self.repository.import(head).map_err(git_fault)?;
        }
        let base = match &head {
            Some(head) => head.tree.clone(),
            None => self.repository.empty_tree().map_err(git_fault)?,
        };
        self.nothing_staged(&base, files)?;
        let content: Vec<(String, Vec<u8>)> =
            files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        let parts = Overlay { content: &base, replaced: &[], removed: &[], files: &content };
        let tree = self.repository.overlay(&parts).map_err(git_fault)?;
        let settings = self.host.settings_for(Some(self.repository.checkout().work_tree()), &[])?;
        let author = author(settings.text("author").unwrap_or_default()).map_err(git_fault)?;
        let parents: Vec<CommitId> = head.iter().map(|head| head.id.clone()).collect();
        let request = CommitRequest {
            tree: &tree,
            parents: &parents,
            message,
            author: &author,
            committer: &author,
            time: Moment { seconds: crate::clock::timestamp().as_second(), offset_minutes: 0 },
        };
        let commit = self.repository.publish_new(&request, &base).map_err(git_fault)?;
        let begun = Begun {
            from: head.map(|head| head.id.to_string()),
            to: commit.id.to_string(),
            tree: tree.to_string(),
            paths: in_order(files),
        };
        let text = serde_json::to_vec(&begun).map_err(|error| crate::fault::bug(error.to_string()))?;
        replace(&self.place(), &text, Flush::ToDisk)?;
        self.write_files(&begun)?;
        self.move_branch(&begun)?;
        Ok(begun.to)
    }

    /// What is staged beside our files would keep the branch from moving, after everything was written.
    fn nothing_staged(&self, base: &TreeId, files: &[(String, String)]) -> Result<(), Fault> {
        let staged = self.repository.staged_changes(base).map_err(git_fault)?;
        let others: Vec<String> =
            staged.into_iter().filter(|path| !files.iter().any(|(ours, _)| ours == path)).collect();
        if others.is_empty() {
            return Ok(());
        }
        let message = format!("no commit was made: staged changes: {}", others.join(", "));
        Err(Fault::new(Code::NotAllowedNow, message)
            .kept("nothing was written")
            .hint("commit them, or take them out of the index with `git restore --staged`; then run the same command again"))
    }

    fn write_files(&self, begun: &Begun) -> Result<(), Fault> {
        let tree = TreeId::parse(&begun.tree).map_err(git_fault)?;
        let top = self.repository.checkout().work_tree();
        for path in &begun.paths {
            let Some(content) = self.repository.file_at(&tree, path).map_err(git_fault)? else { continue };
            if std::fs::read(top.join(path)).is_ok_and(|found| found == content) {
                continue;
            }
            put(top, path, &String::from_utf8_lossy(&content))?;
        }
        Ok(())
    }

    fn move_branch(&self, begun: &Begun) -> Result<(), Fault> {
        let tree = TreeId::parse(&begun.tree).map_err(git_fault)?;
        let to = Commit { id: CommitId::parse(&begun.to).map_err(git_fault)?, tree };
        let moved = match &begun.from {
            Some(from) => {
                let from = self.repository.resolve_commit(from).map_err(git_fault)?;
                self.repository.import(&from).map_err(git_fault)?;
                self.repository.fast_forward_current(&from, &to)
            }
            None => self.repository.first_commit(&to),
        };
        match moved.map_err(git_fault)? {
            FastForward::Done => {
                self.forget();
                Ok(())
            }
            FastForward::Refused(reason) => {
                Err(Fault::new(Code::NotAllowedNow, format!("no commit was made: {}", in_the_way(&reason)))
                    .kept("everything that was there; the new files lie in your checkout, not committed")
                    .hint("make room, then run the same command again: it finishes what it began"))
            }
        }
    }

    /// Nothing where the checked-out branch has no commit.
    fn head(&self) -> Result<Option<Commit>, Fault> {
        match self.repository.head() {
            Ok(head) => Ok(Some(head)),
            Err(GitError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(git_fault(error)),
        }
    }

    fn begun(&self) -> Option<Begun> {
        serde_json::from_slice(&std::fs::read(self.place()).ok()?).ok()
    }

    fn forget(&self) {
        let place = self.place();
        if let Err(error) = std::fs::remove_file(&place) {
            // Finished a second time it changes nothing, so a note that stays does no harm.
            let _ = file_fault("remove", &place, &error);
        }
    }

    fn place(&self) -> PathBuf {
        self.host.state.control(&self.repository.checkout().repository_key()).join("checkpoint.json")
    }
}

/// The state last: it points at all the others.
fn in_order(files: &[(String, String)]) -> Vec<String> {
    let mut paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
    paths.sort_by_key(|path| (path == STATE_FILE, path.clone()));
    paths
}
