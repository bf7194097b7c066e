//! The repository of a simulated roadmap: the base branch with its bundles, branches of rounds, updates and workers, and which
//! worktrees stand. It changes only by what somebody does to it; what anybody thinks of it is not known here.

use super::file::StateFile;
use std::collections::BTreeMap;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    Direction, Evidence, Generation, Milestone, UpdateReview, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;
use windlass_protocols::{CommitId, Digest};

pub(crate) struct Repo {
    pub(crate) generation: Generation,
    pub(crate) state: StateFile,
    /// The revisions of the roadmap as the base branch has them.
    pub(crate) bundles: BTreeMap<String, Bundle>,
    pub(crate) base: Vec<BaseCommit>,
    pub(crate) branches: BTreeMap<String, Branch>,
    pub(crate) merged_items: Vec<String>,
    pub(crate) limits: RoundLimits,
    /// Which content each approving file was written about; absent where nobody here can know.
    pub(crate) approvals: BTreeMap<Digest, Option<u32>>,
    counter: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bundle {
    pub(crate) milestones: Vec<(Milestone, u32)>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) edits: u32,
    /// What it says about each milestone, as a number that is another after every edit.
    pub(crate) words: BTreeMap<String, u32>,
}

pub(crate) struct BaseCommit {
    pub(crate) id: CommitId,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Begin,
    /// Somebody's code.
    Code,
    /// Somebody's change of the control plane.
    Plane,
    Round(String),
    Update(String),
}

pub(crate) struct Branch {
    pub(crate) head: CommitId,
    /// What the newest commit was made on, and how many files it changed.
    before: Option<(CommitId, u64)>,
    /// Where in the base branch it begins.
    pub(crate) fork: usize,
    pub(crate) stands: bool,
    /// Files changed in the worktree since the newest commit.
    dirty: u64,
    /// Changes whenever something changes that a review is about.
    pub(crate) content: u32,
    pub(crate) evidence: Evidence,
    /// The revision and its words as the branch has them from the base.
    pub(crate) knows: (String, BTreeMap<String, u32>),
    pub(crate) authored: bool,
    /// The proposed revision calls milestones done that are not.
    pub(crate) boasts: bool,
    pub(crate) author_faults: Vec<String>,
    pub(crate) update_review: Option<UpdateReview>,
    pub(crate) review_faults: Vec<String>,
    pub(crate) share: WorkerState,
}

impl Repo {
    pub(crate) fn new(generation: Generation, state: StateFile, bundle: Bundle, limits: RoundLimits) -> Self {
        Self {
            generation,
            bundles: BTreeMap::from([(state.revision.clone(), bundle)]),
            state,
            base: vec![BaseCommit { id: CommitId::new("commit-base"), what: What::Begin }],
            branches: BTreeMap::new(),
            merged_items: Vec::new(),
            limits,
            approvals: BTreeMap::new(),
            counter: 0,
        }
    }

    /// A number that nobody had before.
    pub(crate) fn fresh(&mut self) -> u32 {
        self.counter += 1;
        self.counter
    }

    pub(crate) fn head(&self) -> CommitId {
        self.base.last().map_or_else(|| CommitId::new("commit-base"), |commit| commit.id.clone())
    }

    /// Whether what the file approves is what is there.
    pub(crate) fn approves(&self, approval: &Digest, content: u32) -> bool {
        self.approvals.get(approval).is_some_and(|about| about.is_none_or(|about| about == content))
    }

    pub(crate) fn bundle(&self) -> Option<&Bundle> {
        self.bundles.get(&self.state.revision)
    }

    /// The active revision and what it says.
    pub(crate) fn words(&self) -> (String, BTreeMap<String, u32>) {
        let words = self.bundle().map(|bundle| bundle.words.clone()).unwrap_or_default();
        (self.state.revision.clone(), words)
    }

    /// Whether the roadmap says something else about the round's milestone than its branch has.
    pub(crate) fn says_otherwise(&self, branch: &Branch) -> bool {
        let (revision, words) = self.words();
        let milestone = branch.evidence.plan.as_ref().map(|plan| &plan.milestone);
        let of = |words: &BTreeMap<String, u32>| milestone.and_then(|id| words.get(id).copied());
        branch.knows.0 != revision || of(&branch.knows.1) != of(&words)
    }

    pub(crate) fn merged_as(&self, what: &What) -> Option<&CommitId> {
        self.base.iter().find(|commit| commit.what == *what).map(|commit| &commit.id)
    }

    pub(crate) fn commit_to_base(&mut self, what: What) -> CommitId {
        let id = CommitId::new(format!("commit-{}", self.fresh()));
        self.base.push(BaseCommit { id: id.clone(), what });
        id
    }

    /// Whether code came to the base since that place; rounds bring code.
    pub(crate) fn code_since(&self, fork: usize) -> bool {
        self.base.iter().skip(fork + 1).any(|commit| matches!(commit.what, What::Code | What::Round(_)))
    }

    /// The branch, made where it is not there, with its worktree.
    pub(crate) fn open(&mut self, name: &str) -> &mut Branch {
        let fork = self.base.len() - 1;
        let head = self.head();
        let content = self.fresh();
        let knows = self.words();
        let branch = self.branches.entry(name.to_owned()).or_insert_with(|| Branch {
            head,
            before: None,
            fork,
            stands: true,
            dirty: 0,
            content,
            evidence: Evidence::default(),
            knows,
            authored: false,
            boasts: false,
            author_faults: Vec::new(),
            update_review: None,
            review_faults: Vec::new(),
            share: WorkerState::Running,
        });
        branch.stands = true;
        branch
    }

    /// Makes what lies in the worktree a commit of the branch: how many files it changed, or why it is not done.
    pub(crate) fn capture(&mut self, name: &str, parent: &CommitId) -> Result<(CommitId, u64), String> {
        let number = self.fresh();
        let Some(branch) = self.branches.get_mut(name) else {
            return Err(format!("the branch {name} is gone"));
        };
        if branch.head != *parent {
            return match &branch.before {
                Some((before, changed)) if before == parent && branch.dirty == 0 => {
                    Ok((branch.head.clone(), *changed))
                }
                _ => Err(format!("the branch {name} moved")),
            };
        }
        if branch.dirty == 0 {
            return Ok((branch.head.clone(), 0));
        }
        branch.advance(CommitId::new(format!("{name}@{number}")));
        let changed = branch.before.as_ref().map_or(0, |(_, changed)| *changed);
        Ok((branch.head.clone(), changed))
    }
}

impl Branch {
    /// Takes away whatever a reviewer left; comes back with whether there was anything.
    pub(crate) fn sets_review_aside(&mut self) -> bool {
        let of_round = self.evidence.review.take().is_some() || !self.evidence.review_faults.is_empty();
        let of_update = self.update_review.take().is_some() || !self.review_faults.is_empty();
        self.evidence.review_faults.clear();
        self.review_faults.clear();
        if of_round || of_update {
            self.touch();
        }
        of_round || of_update
    }

    pub(crate) fn touch(&mut self) {
        self.dirty += 1;
    }

    pub(crate) fn advance(&mut self, head: CommitId) {
        let before = core::mem::replace(&mut self.head, head);
        self.before = Some((before, self.dirty));
        self.dirty = 0;
    }
}
