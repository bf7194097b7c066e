//! What this process was told about ids: where two histories part, what is written between two commits, what a small file
//! holds. An id means the same for ever, so nothing here grows old; it is bounded because a run may look at many.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::{Commit, CommitId, Oid, TreeId};
use crate::layered_view::{BaseListing, Delta};
use crate::repo_path::RepoPath;

/// More than the rounds that live at once have pairs of commits.
const ANSWERS: usize = 64;
/// A larger file is read again: the plane of a loop is made of small ones.
const LARGEST_FILE: usize = 256 * 1024;
/// Of all kept files together.
const FILE_BYTES: usize = 4 * 1024 * 1024;

/// A trailer's values with the commits they stand in.
pub(crate) type Trailers = Vec<(CommitId, String)>;

/// The one that was looked at last stands first.
type Files = VecDeque<(Oid, Vec<u8>)>;

/// Shared by all handles on one repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct IdMemory {
    bases: Answers<(CommitId, CommitId), Option<Commit>>,
    ancestors: Answers<(CommitId, CommitId), bool>,
    trailers: Answers<(String, CommitId, CommitId), Trailers>,
    /// Trees that lie in the control directory with all they need.
    whole: Answers<TreeId, ()>,
    deltas: Answers<(TreeId, TreeId), Arc<Delta>>,
    /// Which of some new paths are ignored, by a digest of these and the rules.
    ignored: Answers<[u8; 32], Vec<RepoPath>>,
    /// The base whose checkout lies below the workspaces of this run. One: it may be large.
    base: Arc<Mutex<Option<Arc<BaseListing>>>>,
    files: Arc<Mutex<Files>>,
}

impl IdMemory {
    pub(crate) fn bases(&self) -> &Answers<(CommitId, CommitId), Option<Commit>> {
        &self.bases
    }

    pub(crate) fn ancestors(&self) -> &Answers<(CommitId, CommitId), bool> {
        &self.ancestors
    }

    pub(crate) fn trailers(&self) -> &Answers<(String, CommitId, CommitId), Trailers> {
        &self.trailers
    }

    pub(crate) fn deltas(&self) -> &Answers<(TreeId, TreeId), Arc<Delta>> {
        &self.deltas
    }

    pub(crate) fn ignored(&self) -> &Answers<[u8; 32], Vec<RepoPath>> {
        &self.ignored
    }

    pub(crate) fn newest_base(&self) -> Option<Arc<BaseListing>> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn base(&self, tree: &TreeId) -> Option<Arc<BaseListing>> {
        self.newest_base().filter(|base| base.tree == *tree)
    }

    pub(crate) fn keep_base(&self, base: &Arc<BaseListing>) {
        *self.base.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(base));
    }

    pub(crate) fn whole(&self) -> &Answers<TreeId, ()> {
        &self.whole
    }

    pub(crate) fn file(&self, id: Oid) -> Option<Vec<u8>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let at = files.iter().position(|(found, _)| *found == id)?;
        let found = files.remove(at)?;
        let content = found.1.clone();
        files.push_front(found);
        Some(content)
    }

    pub(crate) fn keep_file(&self, id: Oid, content: &[u8]) {
        if content.len() > LARGEST_FILE {
            return;
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|(found, _)| *found != id);
        files.push_front((id, content.to_vec()));
        let mut bytes: usize = files.iter().map(|(_, content)| content.len()).sum();
        while bytes > FILE_BYTES {
            bytes -= files.pop_back().map_or(bytes, |(_, content)| content.len());
        }
    }
}

/// Questions that were answered before; the oldest is forgotten first.
#[derive(Debug, Clone)]
pub(crate) struct Answers<Q, A> {
    known: Arc<Mutex<VecDeque<(Q, A)>>>,
}

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Self {
        Self { known: Arc::default() }
    }
}

impl<Q: PartialEq, A: Clone> Answers<Q, A> {
    pub(crate) fn get(&self, question: &Q) -> Option<A> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(asked, _)| asked == question).map(|(_, answer)| answer.clone())
    }

    pub(crate) fn keep(&self, question: Q, answer: &A) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_front((question, answer.clone()));
        known.truncate(ANSWERS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_and_the_file_not_looked_at_go_first() {
        let answers: Answers<usize, usize> = Answers::default();
        (0..=ANSWERS).for_each(|number| answers.keep(number, &(number * 2)));
        assert_eq!(
            (answers.get(&0), answers.get(&1), answers.get(&ANSWERS)),
            (None, Some(2), Some(ANSWERS * 2))
        );

        let memory = IdMemory::default();
        let id = |number: u8| Oid::from_bytes(&[number; 20]);
        let piece = vec![7; LARGEST_FILE];
        let fits = u8::try_from(FILE_BYTES / LARGEST_FILE).unwrap();
        (0..fits).for_each(|number| memory.keep_file(id(number), &piece));
        assert!(memory.file(id(0)).is_some(), "all of them fit, and the first was looked at last");
        memory.keep_file(id(fits), &piece);
        assert!(memory.file(id(1)).is_none() && memory.file(id(0)).is_some());
        memory.keep_file(id(99), &vec![7; LARGEST_FILE + 1]);
        assert!(memory.file(id(99)).is_none(), "too large to be kept");
    }
}
