//! The strict reader of a run directory's layout: our own runs must show no problem at all.
//! It knows names and kinds of entries, not what the files say.

use super::run_directory::{EntryKind, RunDirectory, round_number};
use super::verdict::Verdict;

/// What kind of run the directory should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    Real,
    /// Prompts only: no worktrees, one round.
    DryRun,
}

/// One departure from the layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutProblem {
    #[error("{path} is missing")]
    Missing { path: String },
    #[error("{path} does not belong into a run directory")]
    Unexpected { path: String },
    #[error("{path} is not a {expected}")]
    WrongKind { path: String, expected: &'static str },
    #[error("{path} exists although {because}")]
    TooEarly { path: String, because: &'static str },
}

const DOER_FILES: [&str; 4] = ["doer.prompt.md", "doer.last.md", "handoff.json", "patch.diff"];
const JUDGE_FILES: [&str; 4] = ["judge.prompt.md", "judge.last.md", "verdict.json", "eval-results.json"];
const AUDIT_FILES: [&str; 4] = ["audit.prompt.md", "audit.last.md", "audit.json", "audit-results.json"];
const TOP_FILES: [&str; 4] = ["task.txt", "worktrees.env", "summary.json", "windlass.json"];
const TOP_DIRECTORIES: [&str; 4] = ["rounds", "worktrees", "worktrees/doer", "worktrees/judge"];

/// Everything in a listing that departs from the layout. What lies inside the two worktrees is the
/// repository's own business, and worktrees may be gone once a run has ended.
pub fn check_layout(directory: &RunDirectory, kind: RunKind) -> Vec<LayoutProblem> {
    let mut problems = Vec::new();
    for (path, found) in directory.entries() {
        if let Some(problem) = entry_problem(path, found) {
            problems.push(problem);
        }
    }
    let mut demand = |path: &str, there: bool| {
        if !there {
            problems.push(LayoutProblem::Missing { path: path.to_owned() });
        }
    };
    demand("task.txt", directory.has_file("task.txt"));
    demand("rounds", directory.entries().any(|(path, _)| path == "rounds"));
    match kind {
        RunKind::Real => demand("worktrees.env", directory.has_file("worktrees.env")),
        RunKind::DryRun => demand("summary.json", directory.has_file("summary.json")),
    }
    let rounds = directory.rounds();
    let last = rounds.last().copied().unwrap_or_default();
    for round in 1..=last {
        demand(&format!("rounds/round-{round}"), rounds.contains(&round));
    }
    for round in &rounds {
        let path = format!("rounds/round-{round}/doer.prompt.md");
        demand(&path, directory.has_file(&path));
    }
    if kind == RunKind::DryRun {
        demand("rounds/round-1", rounds.contains(&1));
        problems.extend(dry_run_problems(directory));
    } else {
        for round in rounds {
            problems.extend(order_problems(directory, round));
        }
    }
    problems
}

fn entry_problem(path: &str, found: EntryKind) -> Option<LayoutProblem> {
    if path.starts_with("worktrees/doer/") || path.starts_with("worktrees/judge/") {
        return None;
    }
    let Some(expected) = expected_kind(path) else {
        return Some(LayoutProblem::Unexpected { path: path.to_owned() });
    };
    let word = if expected == EntryKind::File { "regular file" } else { "directory" };
    (found != expected).then(|| LayoutProblem::WrongKind { path: path.to_owned(), expected: word })
}

fn expected_kind(path: &str) -> Option<EntryKind> {
    if TOP_FILES.contains(&path) {
        return Some(EntryKind::File);
    }
    if TOP_DIRECTORIES.contains(&path) {
        return Some(EntryKind::Directory);
    }
    let in_rounds = path.strip_prefix("rounds/")?;
    let (round, name) = in_rounds.split_once('/').unwrap_or((in_rounds, ""));
    round_number(round)?;
    if name.is_empty() || name == "logs" {
        return Some(EntryKind::Directory);
    }
    let is_artifact = [DOER_FILES, JUDGE_FILES, AUDIT_FILES].concat().contains(&name);
    let is_log = name.strip_prefix("logs/").is_some_and(is_log_name);
    (is_artifact || is_log).then_some(EntryKind::File)
}

/// `cmd-<NN>.stdout.log` or `cmd-<NN>.stderr.log`, at least two digits.
fn is_log_name(name: &str) -> bool {
    let number = name
        .strip_prefix("cmd-")
        .and_then(|rest| rest.strip_suffix(".stdout.log").or_else(|| rest.strip_suffix(".stderr.log")));
    number.is_some_and(|digits| digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn dry_run_problems(directory: &RunDirectory) -> Vec<LayoutProblem> {
    let allowed = |path: &str| path.ends_with(".prompt.md") || !path.starts_with("rounds/round-1/");
    let real = |path: &str| path.starts_with("worktrees") || !allowed(path);
    let because = "a dry run starts nothing";
    let early = directory.entries().filter(|(path, _)| real(path));
    early.map(|(path, _)| LayoutProblem::TooEarly { path: path.to_owned(), because }).collect()
}

/// A role's files may stand only where the role before it has delivered.
fn order_problems(directory: &RunDirectory, round: u32) -> Vec<LayoutProblem> {
    let delivered = directory.round_has(round, "handoff.json") && directory.round_has(round, "patch.diff");
    let passed = directory.verdict(round) == Some(Verdict::Pass);
    let mut problems = Vec::new();
    let mut forbid = |names: &[&str], because| {
        for name in names {
            if directory.round_has(round, name) {
                let path = format!("rounds/round-{round}/{name}");
                problems.push(LayoutProblem::TooEarly { path, because });
            }
        }
    };
    if !delivered {
        forbid(&JUDGE_FILES, "the doer has not delivered");
    }
    if !passed {
        forbid(&AUDIT_FILES, "the judge has not passed the round");
    }
    problems
}
