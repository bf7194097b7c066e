//! The queue and the contract as files: drawn once, read at every safe point, edited by people in between and by the engine
//! where it keeps its word about an item. What a run makes of it is not known here.

use crate::answers::artifact;
use crate::choices::Choices;
use crate::profile::cap;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Design, Item, Limits, Queue, Status};
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{EffectId, Millis};

pub(crate) fn draw(choices: &mut Choices) -> Queue {
    let mut items: Vec<Item> = Vec::new();
    let count = choices.below(5) + 1;
    for id in ["F001", "R002", "B003", "E004", "F005"].into_iter().take(count as usize) {
        let before: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        items.push(item(choices, id, &before));
    }
    let mut scope = Vec::new();
    for item in &items {
        if !choices.once_in(6) {
            scope.push(item.id.clone());
        }
    }
    Queue {
        items,
        scope,
        autonomy: autonomy(choices),
        limits: Limits {
            iterations: choices.weighted(&[(3, 10), (1, 1), (1, 3), (1, 6)]),
            commits: choices.weighted(&[(3, 15), (1, 1), (1, 2)]),
            rework: choices.weighted(&[(2, 2), (1, 1), (2, 3)]),
            time: cap(choices, 30 * 60_000).map(Millis),
            tokens: cap(choices, 30_000),
            cost_micros: cap(choices, 15_000),
        },
        parks: choices.once_in(3),
        sources: vec![artifact("FEATURES.json", EffectId(0))],
        notices: Vec::new(),
    }
}

fn autonomy(choices: &mut Choices) -> Autonomy {
    choices.weighted(&[(4, Autonomy::L2), (3, Autonomy::L1), (1, Autonomy::L3)])
}

/// It depends on what stands before it in the file only: a circle is refused by whoever reads the file.
fn item(choices: &mut Choices, id: &str, before: &[String]) -> Item {
    let existing = u32::from(id.starts_with('E')) * 20;
    let mut dependencies = Vec::new();
    for id in before {
        if choices.once_in(4) {
            dependencies.push(id.clone());
        }
    }
    Item {
        id: id.to_owned(),
        name: format!("item {id}"),
        priority: choices.weighted(&[(3, Some(1_000)), (1, None), (1, Some(500)), (1, Some(2_000))]),
        status: choices.weighted(&[
            (12, Status::NotStarted),
            (2, Status::NeedsRework),
            (1, Status::InProgress),
            (3, Status::Complete),
            (1, Status::Blocked),
            (1, Status::Cancelled),
            (existing, Status::Existing),
        ]),
        dependencies,
        criteria: choices.below(7),
        paths_stated: !choices.once_in(3),
        risky: choices.once_in(6),
        design: choices.weighted(&[(3, Design::None), (1, Design::Draft), (1, Design::Approved)]),
        passed_before: choices.once_in(3),
    }
}

/// What a person does to the files while nobody reads them.
pub(crate) fn edit(queue: &mut Queue, choices: &mut Choices) {
    match choices.below(9) {
        1 => queue.autonomy = autonomy(choices),
        2 => queue.limits.iterations = choices.below(12),
        3 => queue.limits.commits = choices.below(6),
        4 => queue.limits.rework = choices.below(4),
        5 => drop(queue.scope.pop()),
        6 => {
            queue.scope = queue.items.iter().map(|item| item.id.clone()).collect();
        }
        7 => {
            let which = choices.below(5) as usize;
            let status =
                choices.weighted(&[(2, Status::NotStarted), (2, Status::Cancelled), (1, Status::Complete)]);
            if let Some(item) = queue.items.get_mut(which) {
                item.status = status;
            }
        }
        8 => queue.parks = !queue.parks,
        _ => queue.limits.tokens = cap(choices, 60_000),
    }
}

/// The engine's own words stand in the files, as far as people left them there.
pub(crate) fn keep_up(queue: &mut Queue, state: &State) {
    for item in &mut queue.items {
        let status = state.item(&item.id).status();
        if let Some(status) = status.filter(|_| item.status != Status::Cancelled) {
            item.status = status;
            item.passed_before |= status == Status::Complete;
        }
    }
}
