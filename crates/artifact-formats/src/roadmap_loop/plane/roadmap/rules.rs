//! Rules that look at a whole roadmap: every id once, every reference there, no circle, and two readings of one roadmap
//! saying the same. It knows the model, not the file it came from.

use std::collections::HashSet;

use super::{Place, Roadmap};
use crate::fault::excerpt;
use crate::roadmap_loop::plane::problem::Problem;

/// Everything broken about ids and dependencies, under the rule of the file's generation.
pub(crate) fn graph_faults(rule: &'static str, file: &str, roadmap: &Roadmap) -> Vec<Problem> {
    let fault = |place: &Place, message: String| {
        Problem::fatal(rule, file, message).at_pointer(&place.pointer).at_line(place.line)
    };
    let mut found = Vec::new();
    if roadmap.milestones.is_empty() {
        found.push(Problem::fatal(
            "5.1",
            file,
            "the roadmap has no milestones; that is an error, not a finished one",
        ));
    }
    let mut seen = HashSet::new();
    for milestone in &roadmap.milestones {
        if !seen.insert(milestone.id.as_str()) {
            let message = format!("the milestone id {} is used twice", excerpt(&milestone.id));
            found.push(fault(&milestone.place, message));
        }
        for missing in milestone.depends_on.iter().filter(|id| roadmap.milestone(id).is_none()) {
            let message =
                format!("{} depends on the unknown milestone {}", excerpt(&milestone.id), excerpt(missing));
            found.push(fault(&milestone.place, message));
        }
    }
    let mut seen = HashSet::new();
    for direction in &roadmap.directions {
        if !seen.insert(direction.id.as_str()) {
            let message = format!("the direction id {} is used twice", excerpt(&direction.id));
            found.push(fault(&direction.place, message));
        }
        if roadmap.milestone(&direction.milestone).is_none() {
            let (id, milestone) = (excerpt(&direction.id), excerpt(&direction.milestone));
            let message = format!("the direction {id} belongs to the unknown milestone {milestone}");
            found.push(fault(&direction.place, message));
        }
    }
    if let Some(circle) = circle(roadmap) {
        let place =
            roadmap.milestone(&circle[0]).map(|milestone| milestone.place.clone()).unwrap_or_default();
        found.push(fault(&place, format!("dependencies go in a circle: {}", circle.join(" → "))));
    }
    found
}

/// One circle of dependencies, its first milestone repeated at the end.
fn circle(roadmap: &Roadmap) -> Option<Vec<String>> {
    let mut free: HashSet<&str> = HashSet::new();
    loop {
        let before = free.len();
        for milestone in &roadmap.milestones {
            let is_free = |id: &String| free.contains(id.as_str()) || roadmap.milestone(id).is_none();
            if milestone.depends_on.iter().all(is_free) {
                free.insert(&milestone.id);
            }
        }
        if free.len() == before {
            break;
        }
    }
    // Every milestone left depends on another one left, so walking on must come back somewhere.
    let mut at = roadmap.milestones.iter().find(|milestone| !free.contains(milestone.id.as_str()))?;
    let mut path: Vec<String> = Vec::new();
    loop {
        if let Some(start) = path.iter().position(|id| *id == at.id) {
            path.push(at.id.clone());
            return Some(path.split_off(start));
        }
        path.push(at.id.clone());
        let next =
            at.depends_on.iter().find(|id| roadmap.milestone(id).is_some() && !free.contains(id.as_str()))?;
        at = roadmap.milestone(next)?;
    }
}

/// What a view and its `roadmap.md` say differently: ids of milestones, their statuses, ids of directions. Titles differ
/// in punctuation in real planes and do not count.
pub(crate) fn differences(view: &Roadmap, view_file: &str, text: &Roadmap, text_file: &str) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut fault = |file: &str, place: &Place, message: String| {
        found.push(Problem::fatal("4.3", file, message).at_pointer(&place.pointer).at_line(place.line));
    };
    for milestone in &view.milestones {
        let id = excerpt(&milestone.id);
        match text.milestone(&milestone.id) {
            None => fault(view_file, &milestone.place, format!("the milestone {id} is not in {text_file}")),
            Some(other) if other.status != milestone.status => {
                let (here, there) = (milestone.status, other.status);
                fault(
                    view_file,
                    &milestone.place,
                    format!("the milestone {id} is {here} here and {there} in {text_file}"),
                );
            }
            Some(_) => {}
        }
    }
    for milestone in text.milestones.iter().filter(|milestone| view.milestone(&milestone.id).is_none()) {
        let message = format!("the milestone {} is not in {view_file}", excerpt(&milestone.id));
        fault(text_file, &milestone.place, message);
    }
    for direction in view.directions.iter().filter(|direction| text.direction(&direction.id).is_none()) {
        let message = format!("the direction {} is not in {text_file}", excerpt(&direction.id));
        fault(view_file, &direction.place, message);
    }
    for direction in text.directions.iter().filter(|direction| view.direction(&direction.id).is_none()) {
        let message = format!("the direction {} is not in {view_file}", excerpt(&direction.id));
        fault(text_file, &direction.place, message);
    }
    found
}
