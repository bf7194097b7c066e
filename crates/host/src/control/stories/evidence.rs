//! What the engine itself can see of a story's work: the commit, its tree, and the files that criteria and reports name. It also
//! says what it could not look at, so that nobody takes its silence for a look.

use super::plan::Story;
use crate::effect_runner::{found_in_tree, found_somewhere_in_tree};
use serde_json::Value;
use windlass_artifact_formats::story_queue::{Criterion, Named, NamedFile, named_files};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Repository};

/// The kind of a criterion that people alone can judge, whatever its words name.
const BY_HAND: &str = "manual";
pub(super) const COMMIT: &str = "commit_diff";

/// What came of looking, criterion by criterion.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Looked {
    /// What is missing or empty, in words; with any of it the story is sent back.
    pub(super) missing: Vec<String>,
    found: Vec<String>,
    /// Files that are not there, and that a criterion only seems to name: whoever reviewed has answered for them.
    doubtful: Vec<String>,
    /// Criteria that name nothing to look for.
    unseen: Vec<String>,
}

impl Looked {
    /// One sentence for the run and for the verification.
    pub(super) fn words(&self) -> String {
        let mut said = Vec::new();
        if !self.found.is_empty() {
            said.push(format!("the engine found {}", self.found.join(", ")));
        }
        if !self.doubtful.is_empty() {
            said.push(format!("not there, and the reviewer says not needed: {}", self.doubtful.join(", ")));
        }
        if !self.unseen.is_empty() {
            let names = if self.unseen.len() == 1 { "names" } else { "name" };
            said.push(format!("{} {names} no file, so only the reviewer looked", self.unseen.join(", ")));
        }
        said.join("; ")
    }
}

pub(super) fn look(
    repository: &Repository,
    commit: &Commit,
    story: &Story,
    reports: &[Value],
) -> Result<Looked, Fault> {
    let mut looked = Looked::default();
    for criterion in &story.criteria {
        look_for(repository, commit, criterion, &mut looked)?;
    }
    for report in reports.iter().filter(|report| is_of_this_work(report, story)) {
        let path = report["path"].as_str().unwrap_or_default();
        if report["artifact_type"] == COMMIT {
            let details = &report["details"];
            if details["tree"].as_str().is_some_and(|tree| tree != commit.tree.as_str())
                && is_newest(report, reports)
            {
                looked.missing.push(format!("the report is about the tree {}", details["tree"]));
            }
        } else if report["exists"] != false && found_in_tree(repository, &commit.tree, path)?.is_none() {
            looked.missing.push(format!("{path}, which a report names, is not there or empty"));
        }
    }
    Ok(looked)
}

fn look_for(
    repository: &Repository,
    commit: &Commit,
    criterion: &Criterion,
    looked: &mut Looked,
) -> Result<(), Fault> {
    let id = &criterion.id;
    if let Some(path) = said_to_be(criterion) {
        match found_in_tree(repository, &commit.tree, path)? {
            Some(found) => looked.found.push(format!("{found} ({id})")),
            None => looked.missing.push(format!("{id}: {path} is not there or empty")),
        }
        return Ok(());
    }
    let mut seen = false;
    for NamedFile { path, named } in in_words(criterion) {
        let found = found_somewhere_in_tree(repository, &commit.tree, &path)?;
        seen |= found.is_some() || named == Named::Plainly;
        match (found, named) {
            (Some(found), _) => looked.found.push(format!("{found} ({id})")),
            (None, Named::Plainly) => looked.missing.push(format!(
                "{id}: {path} is not there or empty; if the criterion does not ask for it, its `verification_criterion` must \
                 be of type `manual`"
            )),
            (None, Named::Perhaps) => looked.doubtful.push(format!("{path} ({id})")),
        }
    }
    if !seen {
        looked.unseen.push(id.clone());
    }
    Ok(())
}

/// The file that the plan itself gives for a criterion. A route is no file.
fn said_to_be(criterion: &Criterion) -> Option<&str> {
    let by_hand = criterion.kind.as_deref() == Some(BY_HAND);
    criterion.path.as_deref().filter(|path| !by_hand && !path.starts_with('/'))
}

fn in_words(criterion: &Criterion) -> Vec<NamedFile> {
    if criterion.kind.as_deref() == Some(BY_HAND) { Vec::new() } else { named_files(&criterion.text) }
}

/// Files that whoever reviews must answer for where they are missing: taken from words that may mean something else.
pub(super) fn to_answer_for(criterion: &Criterion) -> Vec<String> {
    if said_to_be(criterion).is_some() {
        return Vec::new();
    }
    let guessed = in_words(criterion).into_iter().filter(|file| file.named == Named::Perhaps);
    guessed.map(|file| file.path).collect()
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
