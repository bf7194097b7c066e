//! Makes a verified item a commit, or closes the loop's files with one. Doing it twice makes the same commit and changes
//! nothing. The user's hooks are not run: a hook is a program that an agent could have written.

use super::super::loop_branch;
use super::files;
use super::ledger;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::{CommitRequest, GitError, Overlay};
use windlass_protocols::effect::CommitItem;
use windlass_protocols::kernel::gate::Gate;
use windlass_protocols::protocol::goal_contract::spec::Home;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{CommitId, Outcome, Run};

pub(in super::super) fn run(context: &RunContext, asked: &CommitItem, run: &Run) -> Result<Outcome, Fault> {
    let (spec, state) = (context.goal_loop()?, files::state(run)?);
    let repository = &context.repository;
    let parent = repository.resolve_commit(git_commit(&asked.parent)?.as_str()).map_err(git_fault)?;
    let replaced = files::owned_from(Some(&parent.tree));
    let parts = Overlay {
        content: &git_tree(&asked.tree)?,
        replaced: &replaced,
        removed: &[],
        files: &files::of_commit(context, state, asked)?,
    };
    let tree = repository.overlay(&parts).map_err(git_fault)?;
    let author = super::super::author(&context.author).map_err(git_fault)?;
    let message = message(context, state, asked)?;
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&parent.id),
        message: &message,
        author: &author,
        committer: &author,
        time: loop_branch::moment(asked.decided_at),
    };
    let commit = match repository.publish_new(&request, &parent.tree) {
        Ok(commit) => commit,
        Err(error @ (GitError::ForgedObject { .. } | GitError::MissingObjects { .. })) => {
            return Ok(Outcome::Refused { reason: error.to_string() });
        }
        Err(error) => return Err(git_fault(error)),
    };
    let in_place = spec.home == Home::InPlace;
    let placed = loop_branch::place(context, (&spec.place.doer_branch, in_place), &parent, &commit)?;
    Ok(match placed {
        Ok(()) => Outcome::ItemCommitted {
            commit: CommitId::new(commit.id.as_str()),
            tree: windlass_protocols::TreeId::new(commit.tree.as_str()),
        },
        Err(reason) => Outcome::Refused { reason },
    })
}

fn waived(gate: &Gate) -> String {
    let waived = |name: &&str| gate.waivers.iter().any(|waiver| waiver.finding.name() == *name);
    let names: Vec<&str> = gate.findings.iter().map(|finding| finding.kind.name()).filter(waived).collect();
    if names.is_empty() { String::new() } else { format!("Windlass-Waived: {}\n", names.join(", ")) }
}

/// One item for one commit, and in the trailers who said yes to what.
fn message(context: &RunContext, state: &State, asked: &CommitItem) -> Result<String, Fault> {
    let run = &context.run;
    let Some(id) = &asked.item else {
        let outcome = files::end(state)?.outcome().unwrap_or_default();
        return Ok(format!("chore(loop): run summary\n\nWindlass-Run: {run}\nWindlass-Outcome: {outcome}\n"));
    };
    let subject = ledger::subject(state, id)?;
    let open = state.open.as_ref();
    let evaluation = open.and_then(|open| open.passed.as_ref());
    let evaluation = evaluation.map(|artifact| format!("Windlass-Evaluation: sha256:{}\n", artifact.digest));
    let tests = open
        .and_then(|open| open.suite.as_ref())
        .map(|suite| format!("Windlass-Tests: sha256:{}\n", suite.log.digest));
    let waived = open.map(|open| waived(&open.gate)).unwrap_or_default();
    let approved = if open.is_some_and(|open| open.approved) { "Windlass-Approved: yes\n" } else { "" };
    Ok(format!(
        "{subject}\n\nWindlass-Run: {run}\nWindlass-Item: {id}\nWindlass-Iteration: {}\nWindlass-Tree: {}\n{}{}{waived}{approved}",
        asked.iteration,
        asked.tree,
        evaluation.unwrap_or_default(),
        tests.unwrap_or_default(),
    ))
}
