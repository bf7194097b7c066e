//! A goal loop's state in the words of the border.

use crate::shell_words::quoted;
use windlass_control_api::goal_loop::{
    CommitView, Counter, GoalReport, ItemView, IterationView, ProposedView, TestCount,
};
use windlass_protocols::Run;
use windlass_protocols::protocol::goal_contract::end::{End, Proposed};
use windlass_protocols::protocol::goal_contract::facts::Ending;
use windlass_protocols::protocol::goal_contract::iteration::PastIteration;
use windlass_protocols::protocol::goal_contract::queue::{Queue, Work};
use windlass_protocols::protocol::goal_contract::spec::Home;
use windlass_protocols::protocol::goal_contract::state::State;

pub(crate) fn of(run: &Run, state: &State) -> GoalReport {
    let limits = state.limits();
    let end = state.end.as_ref().filter(|_| run.ended);
    let used = |used: usize, cap: u32| Counter { used: u32::try_from(used).unwrap_or(u32::MAX), cap };
    GoalReport {
        outcome: end.and_then(End::outcome),
        branch: state.spec.place.doer_branch.clone(),
        base_branch: state.spec.place.base_ref.clone(),
        autonomy: state.level().map(|level| level.word().to_owned()),
        iterations: Counter { used: state.iteration, cap: limits.map_or(0, |limits| limits.iterations) },
        commits_used: used(state.commits.len(), limits.map_or(0, |limits| limits.commits)),
        items: state.queue.as_ref().map(|queue| items(state, queue)).unwrap_or_default(),
        proposed: end.and_then(proposed),
        commits: state
            .commits
            .iter()
            .map(|(item, commit)| CommitView { item: item.clone(), commit: commit.to_string() })
            .collect(),
        iterations_done: state.past.iter().map(iteration).collect(),
        notices: state.queue.as_ref().map(|queue| queue.notices.clone()).unwrap_or_default(),
        flaky: state.baseline.as_ref().map(|baseline| baseline.flaky.clone()).unwrap_or_default(),
        next_steps: next_steps(state),
    }
}

fn items(state: &State, queue: &Queue) -> Vec<ItemView> {
    let view = |item: &windlass_protocols::protocol::goal_contract::queue::Item| {
        let known = state.item(&item.id);
        ItemView {
            id: item.id.clone(),
            name: item.name.clone(),
            status: known.status().unwrap_or(item.status).word().to_owned(),
            in_scope: queue.scope.contains(&item.id),
            rework: known.rework,
            causes: known.causes.iter().map(|failed| failed.cause.clone()).collect(),
            parked: known.parked,
        }
    };
    queue.items.iter().map(view).collect()
}

fn proposed(end: &End) -> Option<ProposedView> {
    let End::AwaitsApproval { item, proposed } = end else { return None };
    Some(ProposedView {
        item: item.clone(),
        kind: match proposed {
            Proposed::Change { .. } => "change",
            Proposed::Design { .. } => "design",
        },
        tree: proposed.name().to_owned(),
    })
}

fn iteration(past: &PastIteration) -> IterationView {
    let (result, why) = match &past.ending {
        Ending::Accepted => ("accepted", String::new()),
        Ending::Rework { by, cause, .. } => ("rework", by.sentence(cause)),
        Ending::Inconclusive { why } => ("inconclusive", why.clone()),
        Ending::Escalated { why } => ("escalated", why.clone()),
    };
    IterationView {
        number: past.number,
        item: past.item.clone(),
        work: match past.work {
            Work::Build => "build",
            Work::Rework => "rework",
            Work::Recheck => "recheck",
        },
        result,
        why,
        tests: past.tests.map(|(passed, total)| TestCount { passed, total }),
        commit: past.commit.as_ref().map(ToString::to_string),
        findings: past.findings.clone(),
    }
}

fn next_steps(state: &State) -> Vec<String> {
    let (branch, base) = (&state.spec.place.doer_branch, &state.spec.place.base_ref);
    if state.commits.is_empty() || state.spec.home == Home::InPlace {
        return Vec::new();
    }
    vec![
        format!("git log --oneline {}", quoted(&format!("{base}..{branch}"))),
        format!("git diff {}", quoted(&format!("{base}...{branch}"))),
        format!("git merge {}", quoted(branch)),
    ]
}
