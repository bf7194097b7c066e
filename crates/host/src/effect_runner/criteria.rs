//! Criteria that a judge must speak of one by one: what an answer leaves out, and the files that their words seem to name, as they
//! are in the judged tree. The wording lives in `artifact-formats`.

use crate::context::RunContext;
use crate::fault::git_fault;
use windlass_artifact_formats::story_queue::{self, seemingly_named};
use windlass_artifact_formats::task_loop::VerdictReport;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Part, Repository, TreeId};
use windlass_protocols::Role;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::spec::{CriterionToJudge, TaskSpec};

/// Files that are honest without any content.
const EMPTY_BY_NATURE: [&str; 5] = ["__init__.py", "py.typed", ".gitkeep", ".keep", ".nojekyll"];

pub(super) fn ids(spec: &TaskSpec) -> Vec<&str> {
    spec.criteria.iter().map(|criterion| criterion.id.as_str()).collect()
}

/// What is wrong with a verdict that leaves a criterion out; nothing for everybody who is asked something else.
pub(super) fn left_unsaid(
    context: &RunContext,
    asked: &RunAgent,
    verdict: &VerdictReport,
) -> Result<Vec<String>, Fault> {
    let criteria = to_speak_of(context, asked);
    let mut with_missing = Vec::new();
    for criterion in criteria {
        let missing = looked_at(context, asked, criterion)?.into_iter().filter(|(_, there)| !there);
        with_missing.push((criterion.id.as_str(), missing.map(|(path, _)| path).collect()));
    }
    Ok(story_queue::left_unsaid(verdict, &with_missing))
}

/// Told to whoever judges, after everything else; empty where no criterion seems to name a file.
pub(super) fn shown(context: &RunContext, asked: &RunAgent) -> Result<String, Fault> {
    let mut lines = Vec::new();
    for criterion in to_speak_of(context, asked) {
        for (path, there) in looked_at(context, asked, criterion)? {
            lines.push((criterion.id.as_str(), path, there));
        }
    }
    Ok(seemingly_named(&lines))
}

fn to_speak_of<'a>(context: &'a RunContext, asked: &RunAgent) -> &'a [CriterionToJudge] {
    match &context.spec {
        Spec::JudgedTask(spec) if asked.role == Role::Judge => &spec.criteria,
        _ => &[],
    }
}

fn looked_at<'a>(
    context: &RunContext,
    asked: &RunAgent,
    criterion: &'a CriterionToJudge,
) -> Result<Vec<(&'a str, bool)>, Fault> {
    let Some(tree) = &asked.tree else { return Ok(Vec::new()) };
    let tree = crate::context::git_tree(tree)?;
    let there = |path: &'a String| Ok((path.as_str(), is_somewhere(&context.repository, &tree, path)?));
    criterion.seems_to_name.iter().map(there).collect()
}

/// Whether a tree has a file of this name with content, from its top or in any folder: words rarely say the whole path.
pub(crate) fn is_somewhere(repository: &Repository, tree: &TreeId, path: &str) -> Result<bool, Fault> {
    if is_there(repository, tree, path)? {
        return Ok(true);
    }
    let ending = format!("/{path}");
    for known in repository.paths_of(tree, Part::Everything).map_err(git_fault)? {
        let Ok(known) = std::str::from_utf8(known.as_bytes()) else { continue };
        if known.ends_with(&ending) && is_there(repository, tree, known)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file with content, or a directory with files.
pub(crate) fn is_there(repository: &Repository, tree: &TreeId, path: &str) -> Result<bool, Fault> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let may_be_empty = EMPTY_BY_NATURE.contains(&path.rsplit('/').next().unwrap_or(path));
    if let Some(content) = repository.file_at(tree, path).map_err(git_fault)? {
        return Ok(may_be_empty || content.iter().any(|byte| !byte.is_ascii_whitespace()));
    }
    Ok(!repository.names_at(tree, path).map_err(git_fault)?.is_empty())
}
