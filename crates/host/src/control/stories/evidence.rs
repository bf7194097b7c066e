//! What the engine itself can see of a story's work: the commit, its tree, and the files that criteria and reports name.

use super::plan::Story;
use crate::fault::git_fault;
use serde_json::Value;
use windlass_artifact_formats::story_queue::Criterion;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Repository, TreeId};

/// Kinds of criteria that say where to look.
const LOOKED_FOR: [&str; 4] = ["test", "code", "route", "migration"];
pub(super) const COMMIT: &str = "commit_diff";

/// What is missing or empty, in words; nothing where everything is there.
pub(super) fn missing(
    repository: &Repository,
    commit: &Commit,
    story: &Story,
    reports: &[Value],
) -> Result<Vec<String>, Fault> {
    let mut missing = Vec::new();
    for criterion in &story.criteria {
        let Some(path) = place_of(criterion) else { continue };
        if !is_there(repository, &commit.tree, path)? {
            missing.push(format!("{}: {path} is not there or empty", criterion.id));
        }
    }
    for report in reports.iter().filter(|report| is_of_this_work(report, story)) {
        let path = report["path"].as_str().unwrap_or_default();
        if report["artifact_type"] == COMMIT {
            let details = &report["details"];
            if details["tree"].as_str().is_some_and(|tree| tree != commit.tree.as_str())
                && is_newest(report, reports)
            {
                missing.push(format!("the report is about the tree {}", details["tree"]));
            }
        } else if report["exists"] != false && !is_there(repository, &commit.tree, path)? {
            missing.push(format!("{path}, which a report names, is not there or empty"));
        }
    }
    Ok(missing)
}

/// Where the criterion says that it can be seen.
fn place_of(criterion: &Criterion) -> Option<&str> {
    let kind = criterion.kind.as_deref().unwrap_or_default();
    criterion.path.as_deref().filter(|_| LOOKED_FOR.contains(&kind))
}

/// For which criteria the engine itself has looked, in words: the others stand on the reviewer's word alone.
pub(super) fn looked_at(story: &Story) -> String {
    let ids = |looked: bool| -> Vec<&str> {
        let fitting = story.criteria.iter().filter(|one| place_of(one).is_some() == looked);
        fitting.map(|one| one.id.as_str()).collect()
    };
    let (looked, others) = (ids(true), ids(false));
    match (looked.as_slice(), others.as_slice()) {
        ([], []) => "it has no criteria, so the engine looked for nothing".to_owned(),
        ([], others) => format!("the engine looked for nothing itself: {} name no file", others.join(", ")),
        (looked, []) => format!("the engine found what {} name", looked.join(", ")),
        (looked, others) => {
            let (looked, others) = (looked.join(", "), others.join(", "));
            format!("the engine found what {looked} name; {others} name no file")
        }
    }
}

/// Reports of earlier attempts are about other work.
fn is_of_this_work(report: &Value, story: &Story) -> bool {
    let said = report["inserted_at"].as_str().unwrap_or_default();
    story.assigned_at.is_empty() || said >= story.assigned_at.as_str()
}

fn is_newest(report: &Value, reports: &[Value]) -> bool {
    let said = |report: &Value| report["inserted_at"].as_str().unwrap_or_default().to_owned();
    let commits = reports.iter().filter(|other| other["artifact_type"] == COMMIT);
    commits.map(said).max().is_none_or(|newest| newest == said(report))
}

/// A file with content, or a directory with files.
fn is_there(repository: &Repository, tree: &TreeId, path: &str) -> Result<bool, Fault> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if let Some(content) = repository.file_at(tree, path).map_err(git_fault)? {
        return Ok(content.iter().any(|byte| !byte.is_ascii_whitespace()));
    }
    Ok(!repository.names_at(tree, path).map_err(git_fault)?.is_empty())
}
