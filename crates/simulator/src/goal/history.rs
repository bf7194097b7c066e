//! The loop's branch as git would keep it: the same commit from the same arguments, another from others, each on the one
//! before, and one for each item. Knows nothing about why a commit is asked for.

use crate::checks::{Check, Violation};
use windlass_protocols::effect::CommitItem;
use windlass_protocols::{CommitId, TreeId};

#[derive(Default)]
pub(crate) struct History {
    commits: Vec<Committed>,
    /// Says that it committed and did not; a planted bug.
    pub(crate) skips: bool,
}

pub(crate) struct Committed {
    pub(crate) item: Option<String>,
    pub(crate) tree: TreeId,
    id: CommitId,
}

fn id(asked: &CommitItem) -> CommitId {
    CommitId::new(format!(
        "{} {} of {} on [{}] at {} with {}",
        asked.item.as_deref().unwrap_or("summary"),
        asked.iteration,
        asked.tree,
        asked.parent.as_str().split(" on ").next().unwrap_or_default(),
        asked.decided_at.0,
        asked.used.tokens
    ))
}

impl History {
    /// Whether exactly this was committed before.
    pub(crate) fn has(&self, asked: &CommitItem) -> bool {
        self.commits.last().is_some_and(|last| last.id == id(asked))
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = (&str, &TreeId)> {
        self.commits.iter().filter_map(|commit| Some((commit.item.as_deref()?, &commit.tree)))
    }

    pub(crate) fn commit(&mut self, asked: &CommitItem) -> Result<CommitId, Violation> {
        let commit = id(asked);
        if self.has(asked) {
            return Ok(commit);
        }
        let head = self.commits.last().map(|last| &last.id);
        if head.is_some_and(|head| *head != asked.parent) {
            let sentence =
                format!("`{commit}` was to follow `{}`; the branch stands at {head:?}", asked.parent);
            return Err(Violation::new(Check::CommittedOnce, sentence));
        }
        if let Some(item) = &asked.item
            && self.items().any(|(there, _)| there == item)
        {
            return Err(Violation::new(Check::CommittedOnce, format!("{item} has two commits")));
        }
        if !self.skips {
            let (item, tree) = (asked.item.clone(), asked.tree.clone());
            self.commits.push(Committed { item, tree, id: commit.clone() });
        }
        Ok(commit)
    }
}
