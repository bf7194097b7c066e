//! Goal loops as a simulation makes them up: with and without tests, caps, tightening, trust in what was there before.

use crate::choices::Choices;
use crate::profile::{cap, gate};
use std::collections::BTreeMap;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::goal_contract::queue::Autonomy;
use windlass_protocols::protocol::goal_contract::spec::{Claimed, DesignRule, GoalSpec, Home, Tightened};
use windlass_protocols::{CommitId, Millis, Role, TaskId};

const ROLES: [Role; 3] = [Role::Planner, Role::Builder, Role::Evaluator];

pub(crate) fn spec(choices: &mut Choices) -> GoalSpec {
    let once = choices.once_in(10);
    let rounds = choices.weighted(&[(4, 10), (1, 2), (1, 5)]);
    let caps = Caps {
        rounds: if once { 1 } else { rounds },
        time: cap(choices, 60 * 60_000).map(Millis),
        tokens: cap(choices, 60_000),
        cost_micros: cap(choices, 30_000),
        output_bytes: cap(choices, 120_000),
        step_time: Millis::minutes(30),
        step_idle: None,
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    };
    GoalSpec {
        task: TaskId::new("TASK-1"),
        text: "every item works".to_owned(),
        caps,
        once,
        tightened: tightened(choices),
        suite: (!choices.once_in(8)).then(|| "make test".to_owned()),
        pre_commit: if choices.once_in(3) { vec!["make lint".to_owned()] } else { Vec::new() },
        claimed: choices.weighted(&[(3, Claimed::Recheck), (1, Claimed::Trust)]),
        design: choices.weighted(&[(4, DesignRule::Auto), (1, DesignRule::Always), (1, DesignRule::Never)]),
        home: choices.weighted(&[(1, Home::OwnBranch), (1, Home::InPlace)]),
        began: "2026-01-31T12:00:00Z".to_owned(),
        patience: Patience { tries: choices.weighted(&[(2, 5), (1, 0), (1, 1)]), ..Patience::default() },
        place: Place {
            repository: "/r".to_owned(),
            common_dir: "/r/.git".to_owned(),
            run_dir: "/r/.windlass/runs/1".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new("commit-base"),
            doer_branch: "loop/every-item".to_owned(),
            judge_branch: String::new(),
            agents: ROLES.map(|role| (role, "first".to_owned())).into(),
            fallbacks: fallbacks(choices),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: gate(choices),
        },
    }
}

fn tightened(choices: &mut Choices) -> Tightened {
    if !choices.once_in(4) {
        return Tightened::default();
    }
    let scope = ["F001", "R002", "E004"].map(str::to_owned);
    Tightened {
        scope: choices.once_in(3).then(|| scope.into()),
        autonomy: choices.weighted(&[(2, None), (1, Some(Autonomy::L1)), (1, Some(Autonomy::L2))]),
        commits: choices.weighted(&[(2, None), (1, Some(1)), (1, Some(2))]),
        rework: choices.weighted(&[(2, None), (1, Some(1))]),
    }
}

/// Makes a goal loop one that must be refused.
pub(crate) fn spoil(spec: &mut GoalSpec, how: u32) {
    match how {
        0 => spec.caps.rounds = 0,
        1 => spec.text.clear(),
        2 => spec.tightened.commits = Some(0),
        _ => spec.pre_commit.push("\t".to_owned()),
    }
}

fn fallbacks(choices: &mut Choices) -> BTreeMap<Role, Vec<String>> {
    let roles = ROLES.into_iter().filter(|_| choices.once_in(3));
    roles.map(|role| (role, vec!["second".to_owned()])).collect()
}
