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
    let there =
        |path: &'a String| Ok((path.as_str(), found_somewhere(&context.repository, &tree, path)?.is_some()));
    criterion.seems_to_name.iter().map(there).collect()
}

/// A file of this name with content, from the top of the tree or in any folder: words rarely say the whole path. What was found,
/// in words.
pub(crate) fn found_somewhere(
    repository: &Repository,
    tree: &TreeId,
    path: &str,
) -> Result<Option<String>, Fault> {
    if let Some(found) = found_at(repository, tree, path)? {
        return Ok(Some(found));
    }
    let ending = format!("/{path}");
    for known in repository.paths_of(tree, Part::Everything).map_err(git_fault)? {
        let Ok(known) = std::str::from_utf8(known.as_bytes()) else { continue };
        if known.ends_with(&ending)
            && let Some(file) = file_with_content(repository, tree, known)?
        {
            return Ok(Some(in_words(path, known, &file)));
        }
    }
    Ok(None)
}

/// A file with content, or a directory that has one and is not named as a file would be. What was found, in words.
pub(crate) fn found_at(repository: &Repository, tree: &TreeId, path: &str) -> Result<Option<String>, Fault> {
    let bare = path.trim_start_matches("./").trim_end_matches('/');
    if !path.ends_with('/')
        && let Some(file) = file_with_content(repository, tree, bare)?
    {
        return Ok(Some(in_words(path, bare, &file)));
    }
    if !path.ends_with('/') && is_named_as_a_file(bare) {
        return Ok(None);
    }
    let start = format!("{bare}/");
    for known in repository.paths_of(tree, Part::Everything).map_err(git_fault)? {
        let Ok(known) = std::str::from_utf8(known.as_bytes()) else { continue };
        if known.starts_with(&start) && file_with_content(repository, tree, known)?.is_some() {
            return Ok(Some(format!("{bare}/")));
        }
    }
    Ok(None)
}

/// The path of the plain file that is meant, which is another one where a link leads there.
fn file_with_content(repository: &Repository, tree: &TreeId, path: &str) -> Result<Option<String>, Fault> {
    let Some(file) = repository.plain_file_at(tree, path).map_err(git_fault)? else { return Ok(None) };
    let may_be_empty = EMPTY_BY_NATURE.contains(&last_name(path));
    let counts = may_be_empty || file.content.iter().any(|byte| !byte.is_ascii_whitespace());
    Ok(counts.then_some(file.path))
}

/// With an ending; a dot at the beginning only hides.
fn is_named_as_a_file(path: &str) -> bool {
    last_name(path).trim_start_matches('.').contains('.')
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whoever reads it learns where a link leads: to find a file that was there before is no work.
fn in_words(asked: &str, path: &str, file: &str) -> String {
    if path == file { asked.to_owned() } else { format!("{asked}, a link to {file}") }
}
