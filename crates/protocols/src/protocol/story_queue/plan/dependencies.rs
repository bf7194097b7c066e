//! What waits for what. Edges stay a graph without cycles, and the two levels never wait for each other crosswise.

use super::State;
use super::changes::Change;
use super::entities::{Dependency, Edge};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{DependencyId, EpicId, KeyRole, ProjectId, StoryId};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub fn depend(draft: &mut Draft, edge: Edge) -> Decided<Dependency> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    let plan = &draft.ledger().plan;
    let project = plan.require_ends(edge)?;
    if plan.dependency_of(edge).is_some() {
        return Err(
            Refusal::new(Kind::Conflict, "this dependency already exists").with_code(RefusalCode::Duplicate)
        );
    }
    plan.require_no_cycle(edge)?;
    plan.require_no_deadlock(edge)?;
    Ok(keep_edge(draft, project, edge))
}

pub(super) fn keep_edge(draft: &mut Draft, project: ProjectId, edge: Edge) -> Dependency {
    let id = DependencyId(draft.ids().fresh());
    let dependency = Dependency { id, project, edge, created: draft.at() };
    draft.record(Some(project), facts::Change::Plan(Change::DependencyAdded { dependency }));
    dependency
}

/// Whoever waited for the story waits no longer, and is told so by an entry.
pub(super) fn drop_edges_of_story(draft: &mut Draft, id: StoryId) {
    let plan = &draft.ledger().plan;
    let needs = plan.story_needs(id).map(|on| Edge::Story { from: id, on });
    let serves = plan.story_serves(id).map(|from| Edge::Story { from, on: id });
    let edges: Vec<Edge> = needs.chain(serves).collect();
    drop_edges(draft, &edges);
}

pub(super) fn drop_edges_of_epic(draft: &mut Draft, id: EpicId) {
    let plan = &draft.ledger().plan;
    let needs = plan.epic_needs(id).map(|on| Edge::Epic { from: id, on });
    let serves = plan.epic_serves(id).map(|from| Edge::Epic { from, on: id });
    let edges: Vec<Edge> = needs.chain(serves).collect();
    drop_edges(draft, &edges);
}

fn drop_edges(draft: &mut Draft, edges: &[Edge]) {
    for edge in edges {
        if let Some(dependency) = draft.ledger().plan.dependency_of(*edge).copied() {
            let change = Change::DependencyRemoved { dependency };
            draft.record(Some(dependency.project), facts::Change::Plan(change));
        }
    }
}

pub fn undepend(draft: &mut Draft, id: DependencyId) -> Decided<Dependency> {
    draft.caller().require_at_least(KeyRole::User)?;
    let dependency = *draft.ledger().plan.dependency(id).ok_or_else(|| Refusal::not_found("dependency"))?;
    let change = Change::DependencyRemoved { dependency };
    draft.record(Some(dependency.project), facts::Change::Plan(change));
    Ok(dependency)
}

impl State {
    fn require_ends(&self, edge: Edge) -> Decided<ProjectId> {
        let (from, on, oneself) = match edge {
            Edge::Story { from, on } => {
                let project = |id| self.story(id).map(|story| story.project);
                let missing = || Refusal::not_found("story");
                (project(from).ok_or_else(missing)?, project(on).ok_or_else(missing)?, from == on)
            }
            Edge::Epic { from, on } => {
                let project = |id| self.epic(id).map(|epic| epic.project);
                let missing = || Refusal::not_found("epic");
                (project(from).ok_or_else(missing)?, project(on).ok_or_else(missing)?, from == on)
            }
        };
        if oneself {
            return Err(Refusal::field("depends_on", "nothing can depend on itself")
                .with_code(RefusalCode::SelfDependency));
        }
        if from != on {
            return Err(Refusal::field("depends_on", "must be in the same project"));
        }
        Ok(from)
    }

    /// A cycle is told by the numbers people wrote, from the start back to it.
    fn require_no_cycle(&self, edge: Edge) -> Decided<()> {
        let path = match edge {
            Edge::Story { from, on } => path_between(on, from, |id| self.story_needs(id)).map(|path| {
                self.told(path.into_iter(), |plan, id| plan.story(*id).map(|s| s.number.to_string()))
            }),
            Edge::Epic { from, on } => path_between(on, from, |id| self.epic_needs(id)).map(|path| {
                self.told(path.into_iter(), |plan, id| plan.epic(*id).map(|e| e.number.to_string()))
            }),
        };
        let Some(path) = path else { return Ok(()) };
        let closing = path.last().cloned().unwrap_or_default();
        let told = format!("{closing} → {}", path.join(" → "));
        Err(Refusal::new(Kind::Invalid, format!("the dependency would close a cycle: {told}"))
            .with_code(RefusalCode::DependencyCycle)
            .with_context("cycle", told))
    }

    fn told<Id>(
        &self,
        path: impl Iterator<Item = Id>,
        name: fn(&Self, &Id) -> Option<String>,
    ) -> Vec<String> {
        path.filter_map(|id| name(self, &id)).collect()
    }
}

/// The shortest way from start to goal along the edges, both included; `None` where there is none.
pub(super) fn path_between<Id: Copy + Ord, I: Iterator<Item = Id>>(
    start: Id,
    goal: Id,
    needs: impl Fn(Id) -> I,
) -> Option<Vec<Id>> {
    let mut came_from: BTreeMap<Id, Id> = BTreeMap::new();
    let mut seen = BTreeSet::from([start]);
    let mut next = VecDeque::from([start]);
    while let Some(at) = next.pop_front() {
        if at == goal {
            let mut path = Vec::from([goal]);
            let mut step = goal;
            while let Some(before) = came_from.get(&step) {
                path.push(*before);
                step = *before;
            }
            path.reverse();
            return Some(path);
        }
        for need in needs(at) {
            if seen.insert(need) {
                came_from.insert(need, at);
                next.push_back(need);
            }
        }
    }
    None
}

/// One cycle among the edges, if there is one; linear, for the import checks thousands at once.
pub(super) fn find_cycle<Id: Copy + Ord>(edges: &BTreeMap<Id, Vec<Id>>) -> Option<Vec<Id>> {
    let mut finished = BTreeSet::new();
    for start in edges.keys() {
        if finished.contains(start) {
            continue;
        }
        // The trail is the way from the start, each with how many of its edges were followed.
        let mut trail = Vec::from([(*start, 0_usize)]);
        let mut on_trail = BTreeSet::from([*start]);
        while let Some((at, followed)) = trail.last_mut() {
            let Some(next) = edges.get(at).and_then(|needs| needs.get(*followed)).copied() else {
                finished.insert(*at);
                on_trail.remove(at);
                trail.pop();
                continue;
            };
            *followed += 1;
            if on_trail.contains(&next) {
                let mut cycle: Vec<Id> =
                    trail.iter().map(|(id, _)| *id).skip_while(|id| *id != next).collect();
                cycle.push(next);
                return Some(cycle);
            }
            if !finished.contains(&next) {
                on_trail.insert(next);
                trail.push((next, 0));
            }
        }
    }
    None
}
