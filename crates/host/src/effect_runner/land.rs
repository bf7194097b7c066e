//! Brings an accepted tree home: one commit on the base whose tree is exactly the judged one. Doing it twice makes the
//! same commit and changes nothing.

use super::capture::base_tree;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::{file_fault, git_fault};
use crate::state_dir::make_private;
use std::fs::File;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_git_workspaces::{
    Commit, CommitRequest, FastForward, GitError, Identity, Moment, NotFastForwarded, ReferenceUpdate,
};
use windlass_protocols::effect::LandChange;
use windlass_protocols::outcome::LandedCommit;
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{CommitId, EffectId, Outcome, Run, TreeId};

const SUBJECT_CHARS: usize = 72;

pub(super) fn run(
    context: &RunContext,
    effect: EffectId,
    asked: &LandChange,
    run: &Run,
) -> Result<Outcome, Fault> {
    let repository = &context.repository;
    let base_tree = git_tree(&base_tree(run)?)?;
    let base = Commit { id: git_commit(&asked.base)?, tree: base_tree.clone() };
    let tree = git_tree(&asked.tree)?;
    let author = author(&context.author).map_err(git_fault)?;
    let seconds = i64::try_from(asked.decided_at.0 / 1000).unwrap_or(i64::MAX);
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&base.id),
        message: &message(context, asked),
        author: &author,
        committer: &author,
        time: Moment { seconds, offset_minutes: 0 },
    };
    let commit = match repository.publish_new(&request, &base_tree) {
        Ok(commit) => commit,
        Err(error @ (GitError::ForgedObject { .. } | GitError::MissingObjects { .. })) => {
            return Ok(Outcome::Refused { reason: error.to_string() });
        }
        Err(error) => return Err(git_fault(error)),
    };
    mark_begun(context, effect)?;
    let reference = match place(context, asked, &base, &commit)? {
        Ok(reference) => reference,
        Err(reason) => return Ok(Outcome::Refused { reason }),
    };
    Ok(Outcome::Landed(LandedCommit {
        commit: CommitId::new(commit.id.as_str()),
        tree: TreeId::new(commit.tree.as_str()),
        reference,
    }))
}

/// Whether the user's branch or files may have been touched already: from then on only going through with it leaves
/// them whole.
pub(super) fn has_begun(context: &RunContext, effect: EffectId) -> bool {
    mark(context, effect).exists()
}

fn mark(context: &RunContext, effect: EffectId) -> PathBuf {
    context.state.effect(&context.run, effect).join("landing-begun")
}

fn mark_begun(context: &RunContext, effect: EffectId) -> Result<(), Fault> {
    make_private(&context.state.effect(&context.run, effect))?;
    let path = mark(context, effect);
    File::create(&path).and_then(|file| file.sync_all()).map_err(|error| file_fault("write", &path, &error))
}

/// The reference that now holds the commit, or why it could not be moved.
fn place(
    context: &RunContext,
    asked: &LandChange,
    base: &Commit,
    commit: &Commit,
) -> Result<Result<String, String>, Fault> {
    let repository = &context.repository;
    match &asked.landing {
        Landing::None => Ok(Err("no place to land was given".to_owned())),
        Landing::Branch(branch) => {
            let reference = format!("refs/heads/{branch}");
            match repository.update_reference(&reference, &commit.id, None) {
                Ok(ReferenceUpdate::Updated) => Ok(Ok(branch.clone())),
                Ok(ReferenceUpdate::Conflict { found }) if found.as_ref() == Some(&commit.id) => {
                    Ok(Ok(branch.clone()))
                }
                Ok(ReferenceUpdate::Conflict { .. }) => {
                    Ok(Err(format!("branch {branch} is there already and stands elsewhere")))
                }
                Err(error) if is_the_users_to_mend(&error) => Ok(Err(error.to_string())),
                Err(error) => Err(git_fault(error)),
            }
        }
        Landing::Current => {
            let branch = repository.current_branch().map_err(git_fault)?;
            let Some(branch) = branch else {
                return Ok(Err("no branch is checked out".to_owned()));
            };
            let name = branch.strip_prefix("refs/heads/").unwrap_or(&branch).to_owned();
            match repository.fast_forward_current(base, commit) {
                Ok(FastForward::Done) => Ok(Ok(name)),
                Ok(FastForward::Refused(reason)) => Ok(Err(in_the_way(&reason))),
                Err(error) if is_the_users_to_mend(&error) => Ok(Err(error.to_string())),
                Err(error) => Err(git_fault(error)),
            }
        }
    }
}

/// A name that cannot be, another branch in the way of it, a lock: asking git again would not help.
fn is_the_users_to_mend(error: &GitError) -> bool {
    matches!(
        error,
        GitError::BadReferenceName { .. }
            | GitError::ReferenceBlocked { .. }
            | GitError::ReferenceLocked { .. }
    )
}

pub(crate) fn in_the_way(reason: &NotFastForwarded) -> String {
    match reason {
        NotFastForwarded::HeadIsDetached => "no branch is checked out".to_owned(),
        NotFastForwarded::HeadMoved { found } => {
            format!(
                "the branch has moved to {} since the run began",
                crate::narrate::short(found.id.as_str())
            )
        }
        NotFastForwarded::InTheWay { detail } => format!("your checkout has changes in the way: {detail}"),
        NotFastForwarded::IndexBusy => "another git is at work in your checkout".to_owned(),
        NotFastForwarded::BranchMoved => "the branch moved in the last moment".to_owned(),
    }
}

/// Who a commit is by, from `Name <e-mail>` or a bare name.
pub(crate) fn author(text: &str) -> Result<Identity, GitError> {
    match text.split_once('<') {
        Some((name, email)) => Identity::new(name, email.trim_end().trim_end_matches('>')),
        None => Identity::new(text, "windlass@localhost"),
    }
}

/// A message is read in a terminal: what would move its cursor or change its colours has no place in it.
fn without_control_characters(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect()
}

/// Subject, task, and trailers that lead from the commit to the evidence.
fn message(context: &RunContext, asked: &LandChange) -> String {
    use std::fmt::Write;
    let task = context.spec.task().as_str();
    let text = without_control_characters(context.spec.text());
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(task);
    let mut subject: String = first.chars().take(SUBJECT_CHARS).collect();
    if first.chars().count() > SUBJECT_CHARS {
        subject.pop();
        subject.push('…');
    }
    let mut message = format!("{subject}\n\n");
    if text.trim() != first || subject.ends_with('…') {
        let _ = write!(message, "{}\n\n", text.trim());
    }
    let _ = writeln!(message, "Windlass-Run: {}", context.run);
    let _ = writeln!(message, "Windlass-Task: {task}");
    let _ = writeln!(message, "Windlass-Round: {}", asked.round);
    let _ = writeln!(message, "Windlass-Tree: {}", asked.tree);
    for artifact in &asked.evidence {
        let label = if artifact.name.starts_with("audit") { "Audit" } else { "Verdict" };
        let _ = writeln!(message, "Windlass-{label}: sha256:{}", artifact.digest);
    }
    message
}
