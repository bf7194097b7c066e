//! Whether a person edits the set-up while a run works with the copy that it pinned: in the checkout the run was started in, or
//! with a commit on its base branch. It is told, and nothing else comes of it. No git of the person's is asked, for their
//! configuration is not read while agents are about.

use super::capture::agent_files;
use crate::context::{RunContext, git_commit};
use crate::control::control_loop::setup::SetupFiles;
use crate::control::control_loop::{InCommit, InWorkTree};
use crate::fault::git_fault;
use windlass_artifact_formats::control_loop::{FLOW_FILE, paths};
use windlass_control_api::Fault;
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Dialect, Workplace};

/// Files of the set-up that are not what the run began with, in the order of their names. What cannot be found out holds no
/// commit up.
pub(super) fn since_the_start(context: &RunContext, spec: &ControlSpec) -> Vec<String> {
    let mut edited = in_checkout(context, spec).unwrap_or_default();
    edited.extend(on_base_branch(context, spec).unwrap_or_default());
    edited.sort();
    edited.dedup();
    edited
}

/// Line ends are a matter of the checkout. A file that is not there may be outside of a sparse one.
fn in_checkout(context: &RunContext, spec: &ControlSpec) -> Result<Vec<String>, Fault> {
    if !stands_where_it_began(context, spec)? {
        return Ok(Vec::new());
    }
    let repository = &context.repository;
    let base = repository.resolve_commit(git_commit(&spec.place.base)?.as_str()).map_err(git_fault)?;
    let (checkout, pinned) =
        (InWorkTree(repository.checkout().work_tree()), InCommit(repository, &base.tree));
    let mut edited = agent_files(spec);
    match spec.dialect {
        Dialect::Hierarchical => edited.push(FLOW_FILE.to_owned()),
        Dialect::Flat => {
            let names = checkout.names_in(paths::AGENTS_DIRECTORY);
            edited.extend(names.iter().map(|name| format!("{}/{name}", paths::AGENTS_DIRECTORY)));
        }
    }
    let text = |bytes: Vec<u8>| bytes.into_iter().filter(|byte| *byte != b'\r').collect::<Vec<u8>>();
    edited.retain(|path| {
        let found = checkout.read(path).filter(|_| is_of_the_setup(spec, path)).map(text);
        found.is_some_and(|found| pinned.read(path).map(text) != Some(found))
    });
    Ok(edited)
}

/// Another branch may well have another set-up.
fn stands_where_it_began(context: &RunContext, spec: &ControlSpec) -> Result<bool, Fault> {
    let repository = &context.repository;
    let began = match spec.workplace {
        Workplace::InPlace => &spec.place.doer_branch,
        Workplace::OwnWorktree => &spec.base_branch,
    };
    Ok(match repository.current_branch().map_err(git_fault)? {
        Some(branch) => branch.strip_prefix("refs/heads/") == Some(began.as_str()),
        None => repository.head().map_err(git_fault)?.id.as_str() == began.as_str(),
    })
}

fn on_base_branch(context: &RunContext, spec: &ControlSpec) -> Result<Vec<String>, Fault> {
    let repository = &context.repository;
    let base = git_commit(&spec.place.base)?;
    let branch = format!("refs/heads/{}", spec.base_branch);
    let Some(tip) = repository.read_reference(&branch).map_err(git_fault)?.filter(|tip| *tip != base) else {
        return Ok(Vec::new());
    };
    let named = agent_files(spec);
    let places: Vec<&str> =
        named.iter().map(String::as_str).chain([FLOW_FILE, paths::AGENTS_DIRECTORY]).collect();
    let differ = |from: &windlass_git_workspaces::CommitId| {
        let found = repository.differing_in_history(from, &tip, &places).map_err(git_fault)?;
        Ok::<_, Fault>(found.iter().map(ToString::to_string).collect::<Vec<String>>())
    };
    let mut edited = differ(&base)?;
    if spec.taken_along {
        // What was taken along was never on the branch: only what was committed there since is an edit.
        let before = repository.resolve_commit(&format!("{base}^")).map_err(git_fault)?;
        let since = differ(&before.id)?;
        edited.retain(|path| since.contains(path));
    }
    edited.retain(|path| is_of_the_setup(spec, path));
    Ok(edited)
}

/// Of a flat set-up one more sensor is a part as well; of a flow only what it names.
fn is_of_the_setup(spec: &ControlSpec, path: &str) -> bool {
    let name = path.strip_prefix(paths::AGENTS_DIRECTORY).and_then(|rest| rest.strip_prefix('/'));
    let is_sensor =
        name.is_some_and(|name| name.starts_with(paths::SENSOR_PREFIX) && name.strip_suffix(".md").is_some());
    match spec.dialect {
        Dialect::Hierarchical if path == FLOW_FILE => true,
        Dialect::Flat if is_sensor => true,
        Dialect::Hierarchical | Dialect::Flat => agent_files(spec).iter().any(|named| named == path),
    }
}
