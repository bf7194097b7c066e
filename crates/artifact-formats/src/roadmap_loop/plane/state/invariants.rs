//! The rules of section 3.3 that one `state.json` can be held against by itself, each with its number and weight.
//! It knows the state only; what the roadmap says is handed in.

use super::records::{ControllerStage, Retry, RoundRecord};
use super::{STATE_FILE, StateFile};
use crate::fault::excerpt;
use crate::repo_path::RepoPath;
use crate::roadmap_loop::plane::names::{revision_number, roadmap_dir};
use crate::roadmap_loop::plane::problem::{Problem, Severity};

pub(super) fn broken(state: &StateFile) -> Vec<Problem> {
    let mut found = bundle(state);
    found.extend(rounds(state));
    found.extend(stage_and_update(state));
    found.extend(finished_with_leftovers(state));
    for pointer in &state.legacy_keys {
        found.push(fatal(
            "3.3.6",
            pointer,
            "this key belongs to an older contract; the plane needs a migration",
        ));
    }
    for pointer in &state.unknown_keys {
        found.push(warning("3.3.7", pointer, "this key is unknown; it is kept and not interpreted"));
    }
    if let Retry::Other(raw) = &state.retry {
        let message = format!("another controller's bookkeeping, kept and not interpreted: {}", excerpt(raw));
        found.push(warning("3.3.7", "/retry", message));
    }
    found
}

pub(super) fn stale_done(state: &StateFile, bundle_is_terminal: bool) -> Option<Problem> {
    let is_stale = state.controller_stage == Some(ControllerStage::Done) && !bundle_is_terminal;
    is_stale.then(|| {
        let message = "the stage is \"done\" although the active roadmap has unfinished milestones";
        recoverable("3.3.5", "/controller_stage", message)
    })
}

/// Rule 3.3.1; absent fields were reported when they were read.
fn bundle(state: &StateFile) -> Vec<Problem> {
    let mut found = Vec::new();
    if let Some(revision) = &state.roadmap_revision
        && revision_number(revision).is_none()
    {
        let message = format!("must be \"rev-\" and a number such as 001; found {}", excerpt(revision));
        found.push(fatal("3.3.1", "/roadmap_revision", message));
    }
    let Some(active) = state.bundle() else { return found };
    if let Err(fault) = RepoPath::parse(&active.dir) {
        found.push(fatal("3.3.1", "/roadmap_dir", format!("the path {} {fault}", excerpt(&active.dir))));
    } else if active.dir != roadmap_dir(&active.roadmap_id, &active.revision) {
        let wanted = roadmap_dir(&active.roadmap_id, &active.revision);
        let message = format!(
            "{} is not where this roadmap's revision lies, {}",
            excerpt(&active.dir),
            excerpt(&wanted)
        );
        found.push(fatal("3.3.1", "/roadmap_dir", message));
    }
    found
}

/// Rule 3.3.2, and that a relative worktree stays inside the repository.
fn rounds(state: &StateFile) -> Vec<Problem> {
    let mut found = Vec::new();
    let live = state.live_rounds().count();
    if let Some(most) = state.max_parallel_rounds
        && live > most as usize
    {
        let message =
            format!("{live} rounds are live and at most {most} may be; no round is started until they fit");
        found.push(recoverable("3.3.2", "/active_rounds", message));
    }
    for (index, round) in state.rounds.iter().enumerate() {
        let place = |key: &str| format!("/active_rounds/{index}/{key}");
        if leaves_repository(&round.worktree_path) {
            let message = format!("the worktree {} leaves the repository", excerpt(&round.worktree_path));
            found.push(fatal("3.2", place("worktree_path"), message));
        }
        if state.base_branch.as_ref() == Some(&round.branch) {
            let message = "a round works on a branch of its own, never on the base branch".to_owned();
            found.push(fatal("3.2", place("branch"), message));
        }
        if round.round_id.contains(['/', '\\']) || matches!(round.round_id.as_str(), "." | "..") {
            let message = format!("the id {} is no name of a folder", excerpt(&round.round_id));
            found.push(fatal("3.2", place("round_id"), message));
        }
        let earlier = &state.rounds[..index];
        let mut twice = |key: &str, same: &dyn Fn(&RoundRecord) -> bool| {
            if let Some(other) = earlier.iter().find(|other| same(other)) {
                let message = format!("the round {} has the same {key}", excerpt(&other.round_id));
                found.push(fatal("3.3.2", place(key), message));
            }
        };
        twice("round_id", &|other| other.round_id == round.round_id);
        twice("branch", &|other| other.branch == round.branch);
        twice("worktree_path", &|other| same_place(&other.worktree_path, &round.worktree_path));
    }
    found
}

fn leaves_repository(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

/// Two spellings of one folder, as far as it can be told without a disk: an absolute path may end with a relative one.
fn same_place(one: &str, two: &str) -> bool {
    let normal = |path: &str| {
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        format!("{}{}", if path.starts_with('/') { "/" } else { "" }, parts.join("/"))
    };
    let (one, two) = (normal(one), normal(two));
    let ends = |long: &str, short: &str| {
        long.starts_with('/') && !short.starts_with('/') && long.ends_with(&format!("/{short}"))
    };
    one == two || ends(&one, &two) || ends(&two, &one)
}

/// Rule 3.3.4: the stage and the record say the same, and where they do not, the record is right.
fn stage_and_update(state: &StateFile) -> Option<Problem> {
    let message = match (state.controller_stage?, &state.roadmap_update) {
        (ControllerStage::UpdateRoadmap, None) => {
            // A record that is there and cannot be read was reported, and is no absent one.
            let unreadable = state.problems.iter().any(|problem| problem.rule == "13.2");
            (!unreadable).then_some("the stage is \"update-roadmap\" and no update is recorded")?
        }
        (ControllerStage::DispatchRounds | ControllerStage::Done, Some(_)) => {
            "an update is recorded and the stage is not \"update-roadmap\"; the record counts"
        }
        _ => return None,
    };
    Some(recoverable("3.3.4", "/controller_stage", message))
}

/// Rule 3.3.5, as far as the state alone can tell.
fn finished_with_leftovers(state: &StateFile) -> Option<Problem> {
    if state.controller_stage != Some(ControllerStage::Done) || state.is_complete(true) {
        return None;
    }
    let mut left = Vec::new();
    let live: Vec<&str> = state.live_rounds().map(|round| round.round_id.as_str()).collect();
    if !live.is_empty() {
        left.push(format!("live rounds ({})", live.join(", ")));
    }
    if state.roadmap_update.is_some() {
        left.push("a roadmap update".to_owned());
    }
    if !state.resume_errors.is_empty() {
        left.push("recorded errors".to_owned());
    }
    let message = format!("the stage is \"done\" although there are {}", left.join(" and "));
    Some(recoverable("3.3.5", "/controller_stage", message))
}

fn fatal(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem::fatal(rule, STATE_FILE, message).at_pointer(pointer)
}

fn recoverable(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Problem {
    fatal(rule, pointer, message).weighing(Severity::Recoverable)
}

fn warning(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Problem {
    fatal(rule, pointer, message).weighing(Severity::Warning)
}
