//! Roadmap loops as a simulation makes them up: with few and many rounds, caps, chains of agents and limits of their own.

use crate::choices::Choices;
use crate::profile::{cap, gate};
use std::collections::BTreeMap;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::roadmap_rounds::spec::{RoadmapSpec, RoundLimits};
use windlass_protocols::{CommitId, Millis, Role, TaskId};

const ROLES: [Role; 4] = [Role::Planner, Role::Implementer, Role::Reviewer, Role::Investigator];

pub(crate) fn spec(choices: &mut Choices) -> RoadmapSpec {
    let caps = Caps {
        rounds: choices.weighted(&[(4, 8), (1, 1), (1, 3), (1, 5)]),
        time: cap(choices, 120 * 60_000).map(Millis),
        tokens: cap(choices, 120_000),
        cost_micros: cap(choices, 60_000),
        output_bytes: cap(choices, 240_000),
        step_time: Millis::minutes(30),
        step_idle: None,
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    };
    let fallbacks: BTreeMap<Role, Vec<String>> = ROLES
        .into_iter()
        .filter(|_| choices.once_in(3))
        .map(|role| (role, vec!["second".to_owned()]))
        .collect();
    RoadmapSpec {
        task: TaskId::new("TASK-1"),
        text: "two milestones and more".to_owned(),
        caps,
        limits: limits(choices),
        parallel: choices.weighted(&[(4, None), (1, Some(1)), (1, Some(2))]),
        checks: if choices.once_in(4) { Vec::new() } else { vec!["make test".to_owned()] },
        patience: Patience { tries: choices.weighted(&[(2, 5), (1, 0), (1, 1)]), ..Patience::default() },
        place: Place {
            repository: "/r".to_owned(),
            common_dir: "/r/.git".to_owned(),
            run_dir: "/r/.windlass/runs/1".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new("commit-base"),
            doer_branch: "main".to_owned(),
            judge_branch: String::new(),
            agents: ROLES.map(|role| (role, "first".to_owned())).into(),
            fallbacks,
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: gate(choices),
        },
        left_behind: Vec::new(),
    }
}

pub(crate) fn limits(choices: &mut Choices) -> RoundLimits {
    let of = |choices: &mut Choices| choices.weighted(&[(5, 3), (1, 1), (1, 2)]);
    RoundLimits { same_mechanism: of(choices), review_cycles: of(choices), update_rejections: of(choices) }
}

/// Makes a roadmap loop one that must be refused.
pub(crate) fn spoil(spec: &mut RoadmapSpec, how: u32) {
    match how {
        0 => spec.caps.rounds = 0,
        1 => spec.parallel = Some(0),
        2 => spec.limits.review_cycles = 0,
        _ => spec.caps.step_time = Millis(0),
    }
}
