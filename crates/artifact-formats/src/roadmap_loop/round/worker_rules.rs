//! When work may be split among workers: each has a scope that no other touches, all have their own places, and somebody
//! integrates. It judges the plan as written, not what workers did.

use std::collections::BTreeSet;

use super::files;
use super::plan::{Complexity, Integration, RoundPlan, Worker, WorkerMode, worker_branch, worker_worktree};
use crate::repo_path::RepoPath;

/// Everything about a plan's workers that is against the rules, in sentences for the planner.
pub(super) fn faults(round_id: &str, plan: &RoundPlan) -> Vec<String> {
    let mut faults = Vec::new();
    match plan.worker_mode {
        WorkerMode::None => {
            if !plan.workers.is_empty() {
                faults.push("worker mode none allows no workers".to_owned());
            }
            if plan.integration.is_some() {
                faults.push("worker mode none allows no integration".to_owned());
            }
        }
        WorkerMode::Fanout => {
            if plan.workers.is_empty() {
                faults.push("worker mode fanout needs workers".to_owned());
            }
            if plan.profile.as_ref().is_some_and(|profile| profile.complexity == Complexity::Simple) {
                faults.push("a simple task has no workers; choose another complexity".to_owned());
            }
            for worker in &plan.workers {
                own_faults(round_id, worker, plan, &mut faults);
            }
            shared_faults(plan, &mut faults);
            integration_faults(round_id, plan, &mut faults);
        }
    }
    faults
}

fn own_faults(round_id: &str, worker: &Worker, plan: &RoundPlan, faults: &mut Vec<String>) {
    let id = &worker.worker_id;
    if !is_plain_id(id) {
        faults.push(format!("worker id \"{id}\" must be letters, digits, dots, dashes and underscores"));
        return;
    }
    for (what, found, expected) in places(round_id, worker) {
        if !names(found, &expected) {
            faults.push(format!("worker {id}: {what} must be \"{expected}\", found \"{found}\""));
        }
    }
    if worker.write_scope.is_empty() {
        faults.push(format!("worker {id}: the write scope is empty"));
    }
    for scope in &worker.write_scope {
        match prefix(scope) {
            Ok(parts) if parts.first().is_some_and(|first| first == "orchestrator") => {
                faults.push(format!("worker {id}: the write scope \"{scope}\" is the control plane's"));
            }
            Ok(_) => {}
            Err(why) => faults.push(format!("worker {id}: the write scope \"{scope}\" {why}")),
        }
    }
    for other in &worker.depends_on_worker_ids {
        if plan.worker(other).is_none() {
            faults.push(format!("worker {id} depends on \"{other}\", and there is no such worker"));
        }
    }
}

fn places<'w>(round_id: &str, worker: &'w Worker) -> [(&'static str, &'w str, String); 5] {
    let id = &worker.worker_id;
    let own = |name| files::in_round(round_id, &files::of_worker(id, name));
    [
        ("branch", &worker.branch, worker_branch(round_id, id)),
        ("worktree_path", &worker.worktree_path, worker_worktree(round_id, id)),
        ("assignment_path", &worker.assignment_path, own(files::ASSIGNMENT)),
        ("implementation_notes_path", &worker.implementation_notes_path, own(files::NOTES)),
        ("handoff_path", &worker.handoff_path, own(files::HANDOFF)),
    ]
}

/// A place as expected, also when it is written as an absolute path or from the round's own folder.
fn names(found: &str, expected: &str) -> bool {
    let absolute = found.starts_with('/') && found.ends_with(&format!("/{expected}"));
    let short = found.starts_with("workers/") && expected.ends_with(&format!("/{found}"));
    found == expected || absolute || short
}

fn shared_faults(plan: &RoundPlan, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for worker in &plan.workers {
        if !seen.insert(worker.worker_id.as_str()) {
            faults.push(format!("worker id \"{}\" is used twice", worker.worker_id));
        }
    }
    for (at, one) in plan.workers.iter().enumerate() {
        for other in &plan.workers[at + 1..] {
            for (a, b) in overlaps(one, other) {
                let (one, other) = (&one.worker_id, &other.worker_id);
                faults.push(format!("the write scopes of {one} (\"{a}\") and {other} (\"{b}\") overlap"));
            }
        }
    }
    if let Some(id) = in_a_cycle(&plan.workers) {
        faults.push(format!("worker {id} waits for itself through its dependencies"));
    }
}

fn overlaps<'w>(one: &'w Worker, other: &'w Worker) -> Vec<(&'w str, &'w str)> {
    let mut found = Vec::new();
    for a in &one.write_scope {
        for b in &other.write_scope {
            if let (Ok(first), Ok(second)) = (prefix(a), prefix(b))
                && first.iter().zip(&second).all(|(x, y)| x == y)
            {
                found.push((a.as_str(), b.as_str()));
            }
        }
    }
    found
}

/// The folders and names of a path prefix. Compared part by part: `src/ab` is not inside `src/a`.
fn prefix(scope: &str) -> Result<Vec<String>, String> {
    let bare = scope.trim_end_matches("/**").trim_end_matches("/*");
    if bare.contains(['*', '?', '[']) {
        return Err("is a pattern; name folders or files".to_owned());
    }
    let path = RepoPath::parse(bare).map_err(|fault| fault.to_string())?;
    Ok(path.as_str().split('/').map(str::to_owned).collect())
}

/// Takes away workers that wait for nobody until none is left, or only those that wait for each other.
fn in_a_cycle(workers: &[Worker]) -> Option<&str> {
    let mut left: Vec<&Worker> = workers.iter().collect();
    loop {
        let before = left.len();
        let ids: BTreeSet<&str> = left.iter().map(|worker| worker.worker_id.as_str()).collect();
        left.retain(|worker| worker.depends_on_worker_ids.iter().any(|id| ids.contains(id.as_str())));
        if left.len() == before {
            return left.first().map(|worker| worker.worker_id.as_str());
        }
    }
}

fn integration_faults(round_id: &str, plan: &RoundPlan, faults: &mut Vec<String>) {
    let Some(integration) = &plan.integration else {
        faults.push("worker mode fanout needs a named integration".to_owned());
        return;
    };
    let Integration { depends_on_worker_ids, integration_notes_path, .. } = integration;
    for id in depends_on_worker_ids {
        if plan.worker(id).is_none() {
            faults.push(format!("the integration depends on \"{id}\", and there is no such worker"));
        }
    }
    let expected = files::in_round(round_id, files::NOTES);
    if integration_notes_path != &expected && integration_notes_path != files::NOTES {
        faults.push(format!(
            "the integration_notes_path must be \"{expected}\", found \"{integration_notes_path}\""
        ));
    }
}

fn is_plain_id(id: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !id.is_empty() && id.len() <= 64 && !id.starts_with(['.', '-']) && id.chars().all(allowed)
}
