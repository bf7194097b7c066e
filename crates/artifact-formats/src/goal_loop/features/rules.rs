//! Rules that look at all items together: each id once, every dependency there, none in a circle.
//! It knows ids and dependencies only.

use std::collections::{HashMap, HashSet};

use super::Placed;
use super::read::place;
use crate::goal_loop::item_id::ItemId;

/// What is broken, one sentence each, with its place.
pub(super) fn broken(text: &str, items: &[Placed]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut first: HashMap<&ItemId, &Placed> = HashMap::new();
    for placed in items {
        let id = &placed.feature.id;
        if let Some(earlier) = first.get(id) {
            sentences.push(format!(
                "{}: {id}: this id is taken by the item at {}",
                place(text, placed.span.start),
                place(text, earlier.span.start)
            ));
        } else {
            first.insert(id, placed);
        }
    }
    for placed in items {
        for dependency in placed.feature.dependencies.iter().filter(|id| !first.contains_key(id)) {
            sentences.push(format!(
                "{}: {}: depends on {dependency}, which is not in the file",
                place_of_dependencies(text, placed),
                placed.feature.id
            ));
        }
    }
    for circle in circles(items, &first) {
        let names: Vec<&str> = circle.iter().map(|id| id.as_str()).collect();
        let at = first.get(circle[0]).map(|placed| place_of_dependencies(text, placed)).unwrap_or_default();
        sentences.push(format!("{at}: {}: dependencies go in a circle: {}", circle[0], names.join(" → ")));
    }
    sentences
}

fn place_of_dependencies(text: &str, placed: &Placed) -> String {
    let field = placed.fields.iter().find(|(key, _)| key == "dependencies");
    place(text, field.map_or(placed.span.start, |(_, span)| span.start))
}

/// One path per circle, first item repeated at the end. Walks without recursion: a chain can be long.
fn circles<'p>(items: &'p [Placed], by_id: &HashMap<&'p ItemId, &'p Placed>) -> Vec<Vec<&'p ItemId>> {
    let mut found = Vec::new();
    let mut done: HashSet<&ItemId> = HashSet::new();
    for start in items.iter().map(|placed| &placed.feature.id) {
        let mut path: Vec<(&ItemId, usize)> = Vec::new();
        let mut on_path: HashSet<&ItemId> = HashSet::new();
        if !done.contains(start) {
            path.push((start, 0));
            on_path.insert(start);
        }
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let dependencies = by_id.get(id).map_or(&[][..], |placed| &placed.feature.dependencies);
            let Some(dependency) = dependencies.get(*next) else {
                done.insert(id);
                on_path.remove(id);
                path.pop();
                continue;
            };
            *next += 1;
            if on_path.contains(dependency) {
                let from = path.iter().position(|(id, _)| *id == dependency).unwrap_or_default();
                let circle = path[from..].iter().map(|(id, _)| *id).chain([dependency]);
                found.push(circle.collect());
            } else if !done.contains(dependency) && by_id.contains_key(dependency) {
                path.push((dependency, 0));
                on_path.insert(dependency);
            }
        }
    }
    found
}
