//! What an agent left, once it was taken down: from then on it counts. What could not be taken down is no word of anybody,
//! and is looked at again before anybody else is asked.

use super::book::Phase;
use super::state::State;
use super::steps::{WorkCaptured, WorkKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What whoever left something is told that nobody may look at.
pub(super) fn unsafe_words(hazard: &str) -> String {
    format!("what was left cannot be taken over safely: {hazard}")
}

impl State {
    /// A sound agent's word counts from now on; a failed one's is looked at by the ladder.
    pub(super) fn take_work(&mut self, captured: &WorkCaptured) {
        self.plane_is_old = true;
        self.book.note_ignored(captured);
        let known = self.book.work(&captured.work);
        if !captured.hazards.is_empty() && !known.outdated {
            // Nothing of it was committed: what it was shown stays what it is held against.
            (known.untaken, known.came_back, known.phase) = (true, false, Phase::Idle);
            if let Some(book) = self.book.rounds.get_mut(&captured.work.round) {
                let new = captured.hazards.iter().map(|hazard| unsafe_words(hazard));
                let new: Vec<String> = new.filter(|words| !book.told.contains(words)).collect();
                book.told.extend(new);
            }
            return;
        }
        known.untaken = false;
        known.about = known.shown.take();
        known.taken = Some(captured.commit.clone());
        if captured.work.kind == WorkKind::Review {
            let about = known.about.clone();
            self.carry_gate(&captured.work, about.as_ref(), &captured.commit);
        }
        let known = self.book.work(&captured.work);
        if known.outdated {
            known.is_over();
            return;
        }
        let failed = match &known.phase {
            Phase::Capturing { failed } | Phase::Left { failed } => failed.clone(),
            Phase::Idle | Phase::Asked | Phase::Failed { .. } => None,
        };
        known.repairing = None;
        known.came_back = failed.is_none();
        if known.came_back {
            known.told.clear();
        }
        known.phase = failed.map_or(Phase::Idle, |why| Phase::Failed { why });
    }
}
