//! The loop's branch as git would keep it: the same commit from the same arguments, another from others, each on the one
//! before. Knows nothing about why a commit is asked for.

use crate::checks::{Check, Violation};
use windlass_protocols::CommitId;
use windlass_protocols::effect::CommitIteration;

#[derive(Default)]
pub(crate) struct Branch {
    commits: Vec<(String, CommitId)>,
    /// Says that it committed and did not; a planted bug.
    pub(crate) skips: bool,
}

fn id(asked: &CommitIteration) -> CommitId {
    CommitId::new(format!(
        "{} ({}) of {} on {} at {}: {}",
        asked.label,
        asked.status.word(),
        asked.plant,
        asked.parent.as_str().split(' ').next().unwrap_or_default(),
        asked.decided_at.0,
        asked.action
    ))
}

impl Branch {
    /// Whether exactly this was committed before.
    pub(crate) fn has(&self, asked: &CommitIteration) -> bool {
        self.commits.last().is_some_and(|(_, head)| *head == id(asked))
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.commits.iter().map(|(label, _)| label.as_str())
    }

    pub(crate) fn commit(&mut self, asked: &CommitIteration) -> Result<CommitId, Violation> {
        let commit = id(asked);
        if self.has(asked) {
            return Ok(commit);
        }
        let head = self.commits.last().map(|(_, head)| head);
        if head.is_some_and(|head| *head != asked.parent) {
            let sentence =
                format!("`{commit}` was to follow `{}`; the branch stands at {head:?}", asked.parent);
            return Err(Violation::new(Check::CommittedOnce, sentence));
        }
        if self.labels().any(|label| label == asked.label) {
            let sentence = format!("iteration {} has two commits", asked.label);
            return Err(Violation::new(Check::CommittedOnce, sentence));
        }
        if self.skips {
            return Ok(commit);
        }
        self.commits.push((asked.label.clone(), commit.clone()));
        Ok(commit)
    }
}
