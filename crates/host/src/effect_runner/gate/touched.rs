//! Which protected paths a change touched, and what can be said of that by reading. Nothing is run here.

use super::tools;
use crate::context::RunContext;
use crate::fault::git_fault;
use std::collections::{BTreeMap, BTreeSet};
use windlass_artifact_formats::gate::{Instruments, Protected, ProtectedPaths, TestTexts};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Difference, FileId, TreeId};
use windlass_protocols::kernel::gate::{FindingName, GateFinding, PathKind, Touch, TouchedPath};

/// More paths than this are not recorded one by one. Those that take something away come first.
const MOST_PATHS: usize = 1000;
/// More of one finding say nothing new.
const MOST_NAMED: usize = 12;

/// What a change did to what measures it.
#[derive(Default)]
pub(in super::super) struct Looked {
    pub(in super::super) touched: Vec<TouchedPath>,
    pub(in super::super) findings: Vec<GateFinding>,
}

/// What protects paths in a run whose checks are these commands.
pub(super) struct Guard {
    pub(super) paths: ProtectedPaths,
    pub(super) instruments: Instruments,
    /// Files that make would make for a check.
    made: BTreeSet<String>,
}

impl Guard {
    /// By the commands and the scripts as they are at the base: the maker's version could name others.
    pub(super) fn of(context: &RunContext, base: &TreeId) -> Self {
        let rules = &context.spec.place().gate;
        let instruments =
            Instruments::of(&super::measures(&context.spec), |path| text_at(context, base, path));
        let checks = instruments.files.clone();
        let (protected, unprotected) = (rules.protected.clone(), rules.unprotected.clone());
        // What lies in a folder that make had found already changes nothing for it.
        let new =
            |path: &&String| context.repository.names_at(base, path).is_ok_and(|names| names.is_empty());
        let made = instruments.made.iter().filter(new).cloned().collect();
        Self { paths: ProtectedPaths { protected, unprotected, checks }, instruments, made }
    }

    /// Why a path is protected; a new one can be by what it stands before.
    fn kind(&self, path: &str, new: bool) -> Option<PathKind> {
        if self.is_made(path) {
            return Some(PathKind::Check);
        }
        let stands_for = || new && (self.stands_before_a_module(path) || self.makes_a_folder(path));
        self.paths.kind(path).map(kind_of).or_else(|| stands_for().then_some(PathKind::Check))
    }

    /// Whether make would take a file there for what a check has to make first.
    fn is_made(&self, path: &str) -> bool {
        !self.paths.spares(path) && self.made.contains(path)
    }

    /// The same for a folder that begins with a file there.
    fn makes_a_folder(&self, path: &str) -> bool {
        let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        !self.paths.spares(path) && folders.any(|folder| self.made.contains(folder))
    }

    /// Whether a new file there would be loaded in the place of what a check is made of.
    fn stands_before_a_module(&self, path: &str) -> bool {
        !self.paths.spares(path) && self.instruments.stands_before_a_module(path)
    }
}

/// One step of a change that was looked at before: what is to be known to tell whether it has to be looked at again.
pub(in super::super) struct Step<'a> {
    pub(in super::super) paths: &'a [String],
    /// Whether something was found or touched before it.
    pub(in super::super) touched_before: bool,
}

/// As [`look`], for a change that grows step by step: one that touches nothing protected costs no comparison of whole trees.
pub(in super::super) fn look_after_step(
    context: &RunContext,
    (base, tree): (&TreeId, &TreeId),
    step: &Step<'_>,
) -> Result<Looked, Fault> {
    if context.spec.place().gate.is_off() || base == tree {
        return Ok(Looked::default());
    }
    let guard = Guard::of(context, base);
    let touches = |path: &String| {
        guard.kind(path, true).is_some()
            || tools::shadows(context, &guard.instruments, path)
            || (!guard.paths.spares(path) && holds_inner_tests(context, base, path))
    };
    if !step.touched_before && !step.paths.iter().any(touches) {
        return Ok(Looked::default());
    }
    look_with(context, &guard, (base, tree))
}

/// Looks at a change from one tree to another.
pub(in super::super) fn look(
    context: &RunContext,
    (base, tree): (&TreeId, &TreeId),
) -> Result<Looked, Fault> {
    if context.spec.place().gate.is_off() || base == tree {
        return Ok(Looked::default());
    }
    look_with(context, &Guard::of(context, base), (base, tree))
}

fn look_with(context: &RunContext, guard: &Guard, (base, tree): (&TreeId, &TreeId)) -> Result<Looked, Fault> {
    let differences = context.repository.differences(base, tree).map_err(git_fault)?;
    let mut touched = touched(guard, &differences);
    let mut findings = by_kind(guard, &touched);
    findings.extend(package_scripts(context, guard, (base, tree), &touched));
    findings.extend(losses(context, guard, (base, tree), &differences)?);
    findings.extend(tools::in_the_tree(context, &guard.instruments, &differences));
    touched.sort_by_key(TouchedPath::only_adds_a_test);
    touched.truncate(MOST_PATHS);
    Ok(Looked { touched, findings: merged(findings) })
}

/// Every protected path that differs, renamed ones as one.
pub(super) fn touched(guard: &Guard, differences: &[Difference]) -> Vec<TouchedPath> {
    let mut gone: BTreeMap<String, FileId> = BTreeMap::new();
    for difference in differences {
        if let (Some(before), None) = (difference.before, difference.after) {
            gone.insert(difference.path.to_string(), before);
        }
    }
    let mut found = Vec::new();
    for difference in differences {
        let path = difference.path.to_string();
        // One that lay there at the base is a part of the product, however it is called.
        let Some(kind) = guard.kind(&path, difference.before.is_none()) else { continue };
        let how = match (difference.before, difference.after) {
            (Some(_), Some(_)) => Touch::Modified,
            (None, Some(after)) => {
                let from = gone.iter().find(|(from, id)| **id == after && guard.kind(from, false).is_some());
                match from.map(|(from, _)| from.clone()) {
                    Some(from) => {
                        gone.remove(&from);
                        Touch::Renamed { from }
                    }
                    None => Touch::Added,
                }
            }
            (_, None) => continue,
        };
        found.push(TouchedPath { path, kind, how });
    }
    for path in gone.into_keys() {
        found.extend(guard.kind(&path, false).map(|kind| TouchedPath { path, kind, how: Touch::Deleted }));
    }
    found
}

const fn kind_of(protected: Protected) -> PathKind {
    match protected {
        Protected::Test => PathKind::Test,
        Protected::Check => PathKind::Check,
        Protected::Ci => PathKind::Ci,
        Protected::Configuration => PathKind::Configuration,
        Protected::Manifest => PathKind::Manifest,
        Protected::Lock => PathKind::Lock,
        Protected::Named => PathKind::Named,
    }
}

/// What the touch of a path says by itself. A new file of CI or configuration takes nothing away that was there; what it does
/// to the checks is seen when they run without it. Whoever brings the script of a check along writes its own check.
fn by_kind(guard: &Guard, touched: &[TouchedPath]) -> Vec<GateFinding> {
    // Whoever is taken for a part of a check by a guess alone must know the way out.
    let words = |one: &TouchedPath| {
        let why = if guard.instruments.guessed.contains(&one.path) {
            "by its name"
        } else if guard.is_made(&one.path) || guard.makes_a_folder(&one.path) {
            "which make would take for what it has to make"
        } else {
            return one.words();
        };
        if one.kind != PathKind::Check {
            return one.words();
        }
        let way_out = "if it is the work itself, begin a run with";
        format!("{}, {why}; {way_out} `--unprotect {}`", one.words(), one.path)
    };
    let finding = |one: &TouchedPath| {
        let kind = match (one.kind, &one.how) {
            (PathKind::Check, _) => FindingName::CheckChanged,
            (_, Touch::Added) | (PathKind::Test | PathKind::Manifest, _) => return None,
            (PathKind::Ci, _) => FindingName::CiChanged,
            (PathKind::Configuration | PathKind::Named, _) => FindingName::ConfigurationChanged,
            (PathKind::Lock, _) => FindingName::LockChanged,
        };
        Some(GateFinding { kind, about: vec![words(one)] })
    };
    touched.iter().filter_map(finding).collect()
}

fn package_scripts(
    context: &RunContext,
    guard: &Guard,
    (base, tree): (&TreeId, &TreeId),
    touched: &[TouchedPath],
) -> Vec<GateFinding> {
    let manifests = guard.instruments.package_scripts.iter().map(|(path, _)| path);
    let changed = manifests.filter(|path| touched.iter().any(|one| one.path == **path)).filter_map(|path| {
        let text = |tree| text_at(context, tree, path).unwrap_or_default();
        let script = guard.instruments.package_script_changed(path, &text(base), &text(tree))?;
        Some(GateFinding {
            kind: FindingName::CheckChanged,
            about: vec![format!("script `{script}` of {path}")],
        })
    });
    changed.collect()
}

/// Tests, assertions and skip marks of the files that can hold some.
fn losses(
    context: &RunContext,
    guard: &Guard,
    (base, tree): (&TreeId, &TreeId),
    differences: &[Difference],
) -> Result<Vec<GateFinding>, Fault> {
    let wanted = |path: &str| {
        TestTexts::can_hold(path)
            && (guard.paths.kind(path) == Some(Protected::Test) || !guard.paths.spares(path))
    };
    let paths: BTreeMap<String, &Difference> =
        differences.iter().map(|one| (one.path.to_string(), one)).filter(|(path, _)| wanted(path)).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let read = |tree: &TreeId| {
        let files = context.repository.files_at(tree, |path| paths.contains_key(path)).map_err(git_fault)?;
        let texts =
            files.into_iter().map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()));
        Ok::<BTreeMap<String, String>, Fault>(texts.collect())
    };
    let (before, after) = (read(base)?, read(tree)?);
    let mut texts = TestTexts::default();
    for path in paths.keys() {
        texts.add(path, before.get(path).map(String::as_str), after.get(path).map(String::as_str));
    }
    let losses = texts.losses();
    let named = [
        (FindingName::TestDeleted, losses.deleted),
        (FindingName::TestSkipped, losses.skipped),
        (FindingName::WeakenedAssertions, losses.weakened),
    ];
    let findings = named.into_iter().filter(|(_, about)| !about.is_empty());
    Ok(findings.map(|(kind, about)| GateFinding { kind, about }).collect())
}

/// Whether a file of the code had tests in it at the base: by its text, for what a step did to it can stand in lines that say
/// nothing of tests, or in a file that no longer renders as text.
fn holds_inner_tests(context: &RunContext, base: &TreeId, path: &str) -> bool {
    TestTexts::can_hold(path)
        && text_at(context, base, path).is_some_and(|text| TestTexts::holds_some(path, &text))
}

fn text_at(context: &RunContext, tree: &TreeId, path: &str) -> Option<String> {
    let bytes = context.repository.file_at(tree, path).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// One finding of each name.
pub(super) fn merged(findings: Vec<GateFinding>) -> Vec<GateFinding> {
    let mut merged: Vec<GateFinding> = Vec::new();
    for finding in findings {
        match merged.iter_mut().find(|known| known.kind == finding.kind) {
            Some(known) => known.about.extend(finding.about),
            None => merged.push(finding),
        }
    }
    for finding in &mut merged {
        let more = finding.about.len().saturating_sub(MOST_NAMED);
        finding.about.truncate(MOST_NAMED);
        if more > 0 {
            finding.about.push(format!("and {more} more"));
        }
    }
    merged
}
