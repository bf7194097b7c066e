//! The place in which a person goes on with a maker's work: made from the maker's last content, and taken down like any
//! maker's place. Asked twice it finds what it made the first time.

use super::answer;
use super::capture::{Taken, take, take_from};
use super::land::author;
use super::prepare::exclude;
use crate::context::{RunContext, git_tree};
use crate::fault::git_fault;
use std::path::PathBuf;
use windlass_artifact_formats::ExtraKeys;
use windlass_artifact_formats::task_loop::Handoff as HandoffFile;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Commit, CommitRequest, Keeping, Moment};
use windlass_protocols::{ArtifactRef, Role, TreeId};

/// Where a person works on a run, by the branch that was given to them.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) key: String,
    /// Below `refs/windlass/kept/`.
    pub(crate) kept_name: String,
    pub(crate) branch: String,
}

impl Place {
    /// A run that is taken over again gets another branch, and so another place: nothing of the first is lost.
    pub(crate) fn of(context: &RunContext, branch: &str) -> Self {
        let run = context.run.as_str();
        let number = branch.rsplit_once(run).map_or("", |(_, number)| number);
        let name = format!("take-over{number}");
        Self {
            path: context.run_dir().join("worktrees").join(&name),
            key: format!("{run}-{name}"),
            kept_name: format!("{run}/{name}"),
            branch: branch.to_owned(),
        }
    }

    pub(crate) fn stands(&self, context: &RunContext) -> Result<bool, Fault> {
        let worktree = context.repository.worktree_at(&self.path).map_err(git_fault)?;
        Ok(context.repository.stands(&worktree))
    }
}

/// What stands in the place, and what of the maker's content could not be brought there.
pub(crate) struct Made {
    pub(crate) tree: TreeId,
    pub(crate) left_out: Vec<String>,
}

/// Whose work is taken over, and what it stands on.
pub(crate) struct Maker {
    pub(crate) role: Role,
    pub(crate) base: Commit,
}

/// Makes the place with exactly what the maker last left. Everything of the maker's, ignored files too, is kept first:
/// what the person hands back will take its place.
pub(crate) fn make(context: &RunContext, maker: &Maker, place: &Place, time: Moment) -> Result<Made, Fault> {
    let Maker { role, base } = maker;
    let repository = &context.repository;
    let taken = take(context, *role, &base.tree)?.map_err(unusable)?;
    let tree = taken.snapshot.tree.clone();
    if !place.stands(context)? {
        let maker = repository.worktree_at(&context.worktree(*role)).map_err(git_fault)?;
        let name =
            format!("{}/{role}-before-{}", context.run, place.kept_name.rsplit('/').next().unwrap_or(""));
        let ignored = crate::control::clean::KEPT_IGNORED_FILES;
        let keeping = Keeping { name: &name, time, ignored };
        repository.keep(&maker, &context.index_key(*role), base, &keeping).map_err(git_fault)?;
        let stands_on = as_commit(context, base, &tree, time)?;
        repository.add_worktree(&place.path, &place.branch, &place.key, &stands_on).map_err(git_fault)?;
        exclude(context)?;
    }
    Ok(Made { tree: TreeId::new(tree.as_str()), left_out: taken.hazards })
}

/// The maker's content as a commit in the user's repository, so that every git command works on it there.
fn as_commit(
    context: &RunContext,
    base: &Commit,
    tree: &windlass_git_workspaces::TreeId,
    time: Moment,
) -> Result<Commit, Fault> {
    if *tree == base.tree {
        return Ok(base.clone());
    }
    let author = author(&context.author).map_err(git_fault)?;
    let message = format!(
        "{}: as it was taken over\n\nWindlass-Run: {}\nWindlass-Tree: {tree}\n",
        context.spec.task(),
        context.run
    );
    let request = CommitRequest {
        tree,
        parents: std::slice::from_ref(&base.id),
        message: &message,
        author: &author,
        committer: &author,
        time,
    };
    context.repository.publish_new(&request, &base.tree).map_err(git_fault)
}

/// A person's work, taken down by the engine whether they committed it or not, with a hand-off in their name.
pub(crate) fn take_down(
    context: &RunContext,
    base: &Commit,
    place: &Place,
    (person, note): (&str, Option<&str>),
) -> Result<(TreeId, ArtifactRef), Fault> {
    let Taken { snapshot, hazards } =
        take_from(context, Role::Doer, (&place.path, &place.key), &base.tree)?.map_err(unusable)?;
    if !hazards.is_empty() {
        return Err(unusable(hazards.join("; ")));
    }
    let touched = snapshot.changes.iter().map(|change| change.path.as_path().display().to_string());
    let file = HandoffFile {
        task_id: context.spec.task().to_string(),
        summary: note.unwrap_or("a person took the work over and hands it back").to_owned(),
        requirements_touched: Vec::new(),
        files_touched: touched.collect(),
        assumptions: Vec::new(),
        smoke_checks: Vec::new(),
        notes: format!("made by {person} by hand, on {}", place.branch),
        extra: ExtraKeys::default(),
    };
    let report = answer::handoff(context, &file)?.artifact;
    Ok((TreeId::new(snapshot.tree.as_str()), report))
}

/// Puts what a person handed back where the maker works, who goes on from there.
pub(super) fn bring_in(context: &RunContext, tree: &TreeId) -> Result<(), Fault> {
    let (path, key) = (context.worktree(Role::Doer), context.index_key(Role::Doer));
    context.repository.materialise(&path, &key, &git_tree(tree)?).map(drop).map_err(git_fault)
}

fn unusable(reason: String) -> Fault {
    Fault::new(Code::NotAllowedNow, format!("the worktree cannot be taken as a change: {reason}"))
        .kept("the worktree as it is; the run stands as it stood")
        .hint("mend what the message names, then try again")
}
