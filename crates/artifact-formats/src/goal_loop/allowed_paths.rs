//! Which files an item's change may touch: what its design, `affected_files` and `location` name, and always tests and
//! the loop's own documents. A change elsewhere is scope creep. It knows paths as text, not what is in them.

use super::budget::BUDGET_FILE;
use super::contract::CONTRACT_FILE;
use super::evaluation::EVALUATION_FILE;
use super::features::{FEATURES_FILE, Feature};
use super::progress::PROGRESS_FILE;
use super::run_log::RUN_LOG_FILE;
use super::trajectory::TRAJECTORY_FILE;
use crate::repo_path::RepoPath;

/// What the engine alone writes: files, and folders with a slash at their end.
pub const LOOP_PATHS: [&str; 8] = [
    FEATURES_FILE,
    CONTRACT_FILE,
    BUDGET_FILE,
    RUN_LOG_FILE,
    PROGRESS_FILE,
    EVALUATION_FILE,
    "docs/evaluations/",
    "docs/designs/",
];
const TEST_FOLDERS: [&str; 6] = ["test", "tests", "__tests__", "spec", "specs", "testdata"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Files, folders and patterns, as they were named.
    Paths(Vec<String>),
    /// Nothing names files, so nothing can be outside.
    Unstated,
}

impl Allowed {
    /// From the item and the file list of its design. Texts that are no paths inside the repository allow nothing.
    pub fn for_item(item: &Feature, design_files: &[String]) -> Self {
        let named = design_files.iter().chain(&item.affected_files).chain(&item.location);
        let mut paths: Vec<String> = Vec::new();
        for name in named {
            // `src/a.rs:12` and `src/a.rs (new)` are how people list files.
            let name = without_remark(name);
            let Ok(path) = RepoPath::parse(name) else { continue };
            let path = if name.ends_with('/') { format!("{path}/") } else { path.to_string() };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        if paths.is_empty() { Self::Unstated } else { Self::Paths(paths) }
    }

    pub fn allows(&self, path: &str) -> bool {
        match self {
            Self::Unstated => true,
            Self::Paths(paths) => {
                is_always_allowed(path) || paths.iter().any(|allowed| covers(allowed, path))
            }
        }
    }

    /// The changed files that the item may not touch, in their order.
    pub fn outside<'p>(&self, changed: &'p [String]) -> Vec<&'p str> {
        changed.iter().map(String::as_str).filter(|path| !self.allows(path)).collect()
    }
}

/// Tests, the loop's own documents, and the log that hooks of the original keep.
pub fn is_always_allowed(path: &str) -> bool {
    is_loop_file(path) || path == TRAJECTORY_FILE || is_test_path(path)
}

/// Documents that the engine writes; what an agent does to them is no part of its change.
pub fn is_loop_file(path: &str) -> bool {
    LOOP_PATHS.iter().any(|own| path == *own || (own.ends_with('/') && path.starts_with(own)))
}

fn without_remark(name: &str) -> &str {
    let name =
        [" (", " — ", " - ", " # "].iter().fold(name, |name, mark| name.split(mark).next().unwrap_or(name));
    let name = match name.split_once(':') {
        Some((path, rest)) if rest.starts_with(|letter: char| letter.is_ascii_digit()) => path,
        _ => name,
    };
    name.trim().trim_matches('`')
}

/// By folder or by the file names that test runners look for.
pub fn is_test_path(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    if parts.iter().any(|part| TEST_FOLDERS.contains(&part.to_ascii_lowercase().as_str())) {
        return true;
    }
    let stem = name.split('.').next().unwrap_or_default();
    let marked = ["_test", "_tests", "_spec", "-test", "-spec"].iter().any(|end| stem.ends_with(end));
    let infixed = [".test.", ".spec."].iter().any(|infix| name.contains(infix));
    let prefixed = stem.starts_with("test_") || stem == "tests" || stem == "conftest";
    // `InvoiceTest.java` and `InvoiceTests.cs`, and not `Contest.java`.
    let camel = ["Test", "Tests"].iter().any(|end| {
        let before = stem.strip_suffix(end).and_then(|stem| stem.chars().next_back());
        before.is_some_and(|letter| letter.is_lowercase() || letter.is_ascii_digit())
    });
    marked || infixed || prefixed || camel
}

/// A folder covers what is below it, a pattern what it matches, a name itself and, if it is a folder, what is below.
pub(crate) fn covers(allowed: &str, path: &str) -> bool {
    if allowed.contains(['*', '?']) {
        let folder = allowed.strip_suffix('/').map(|folder| format!("{folder}/**"));
        let pattern: Vec<&str> = folder.as_deref().unwrap_or(allowed).split('/').collect();
        return matches_parts(&pattern, &path.split('/').collect::<Vec<_>>());
    }
    let bare = allowed.trim_end_matches('/');
    path == bare || path.strip_prefix(bare).is_some_and(|rest| rest.starts_with('/'))
}

/// `**` stands for any number of folders, `*` and `?` stay inside one name.
fn matches_parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], _) => !path.is_empty(),
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| matches_parts(rest, &path[skip..])),
        ([first, rest @ ..], [name, names @ ..]) => {
            let (first, name): (Vec<char>, Vec<char>) = (first.chars().collect(), name.chars().collect());
            matches_name(&first, &name) && matches_parts(rest, names)
        }
        _ => false,
    }
}

fn matches_name(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=name.len()).any(|skip| matches_name(rest, &name[skip..])),
        (['?', rest @ ..], [_, names @ ..]) => matches_name(rest, names),
        ([first, rest @ ..], [letter, names @ ..]) => first == letter && matches_name(rest, names),
        _ => false,
    }
}
