//! The outside: children under way, what became of them, and what is really true about trees and places. Notes what an
//! engine must not do when it asks for something; knows nothing about how a run is decided.

use crate::checks::{Check, Violation};
use crate::control::branch::Branch;
use crate::control::plant::Plant;
use crate::goal::GoalTruth;
use crate::ledger::Ledger;
use crate::roadmap::repo::Repo;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use windlass_protocols::effect::LandChange;
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{CommitId, Effect, EffectId, Outcome, TreeId};

pub(crate) struct World {
    ledger: Rc<RefCell<Ledger>>,
    /// The engine that holds the lease; every other one is a ghost.
    pub(crate) incarnation: u32,
    pub(crate) flights: BTreeMap<EffectId, Flight>,
    pub(crate) truth: Truth,
    pub(crate) violation: Option<Violation>,
    /// Carries a re-sent effect out once more instead of finding out about the first time; a planted bug.
    pub(crate) forgets_first_attempt: bool,
}

/// An effect that was asked for, and what became of it.
pub(crate) struct Flight {
    pub(crate) request: Effect,
    /// Whose channel its answer goes to.
    pub(crate) started_by: u32,
    pub(crate) fate: Fate,
    pub(crate) carried_out: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Fate {
    UnderWay,
    /// Ended; the answer waits to be delivered, or was delivered and may come again.
    Answered(Box<Outcome>),
    /// The child is gone and nobody saw how: silent until somebody asks again.
    Vanished,
    /// Asked again after it vanished: it can only be called lost.
    KnownToBeLost,
}

/// What is so in the world, whatever anybody reports.
#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) trees: u32,
    pub(crate) last_tree: Option<TreeId>,
    green: BTreeMap<(TreeId, String), bool>,
    pub(crate) judge_passed: BTreeSet<TreeId>,
    pub(crate) auditor_passed: BTreeSet<TreeId>,
    landed: BTreeMap<String, CommitId>,
    pub(crate) plant: Plant,
    pub(crate) branch: Branch,
    pub(crate) goal: GoalTruth,
    /// The repository of a roadmap loop; absent until somebody looks at it.
    pub(crate) roadmap: Option<Repo>,
    /// The newest step of its controller that was carried out.
    pub(crate) last_plane_step: Option<EffectId>,
}

impl Truth {
    /// A command on a tree is green or red once and for all.
    pub(crate) fn measure(&mut self, tree: &TreeId, command: &str, draw: impl FnOnce() -> bool) -> bool {
        *self.green.entry((tree.clone(), command.to_owned())).or_insert_with(draw)
    }

    pub(crate) fn is_green(&self, tree: &TreeId, command: &str) -> bool {
        self.green.get(&(tree.clone(), command.to_owned())) == Some(&true)
    }

    /// Makes the commit that these arguments make, as git would: the same from the same, another from others.
    fn land(&mut self, land: &LandChange) -> Result<CommitId, Violation> {
        let evidence: Vec<&str> = land.evidence.iter().map(|artifact| artifact.digest.as_str()).collect();
        let commit = CommitId::new(format!(
            "commit of {} on {} at {} by {}",
            land.tree,
            land.base,
            land.decided_at.0,
            evidence.join("+")
        ));
        let place = place(&land.landing);
        match self.landed.insert(place.clone(), commit.clone()) {
            Some(before) if before != commit => {
                Err(Violation::new(Check::LandedOnce, format!("{place} got `{before}`, then `{commit}`")))
            }
            Some(_) | None => Ok(commit),
        }
    }
}

pub(crate) fn place(landing: &Landing) -> String {
    match landing {
        Landing::None => "nowhere".to_owned(),
        Landing::Branch(name) => name.clone(),
        Landing::Current => "the current branch".to_owned(),
    }
}

impl World {
    pub(crate) fn new(ledger: Rc<RefCell<Ledger>>) -> Self {
        Self {
            ledger,
            incarnation: 0,
            flights: BTreeMap::new(),
            truth: Truth::default(),
            violation: None,
            forgets_first_attempt: false,
        }
    }

    /// The first thing that went wrong is the one to look at.
    pub(crate) fn note(&mut self, check: Check, sentence: String) {
        self.violation.get_or_insert(Violation::new(check, sentence));
    }

    pub(crate) fn start(&mut self, incarnation: u32, effect: EffectId, request: &Effect) {
        let caught_up = self.ledger.borrow_mut().catch_up();
        if let Err(violation) = caught_up {
            self.violation.get_or_insert(violation);
        }
        let name = request.name();
        if incarnation != self.incarnation {
            self.note(Check::Fencing, format!("a fenced-off engine started effect {effect} ({name})"));
        }
        let stored = self.ledger.borrow().run.unsettled.get(&effect) == Some(request);
        let reused = self.flights.get(&effect).is_some_and(|flight| flight.request != *request);
        if reused {
            self.note(
                Check::IdNamesOneEffect,
                format!("effect {effect} is now {name} and was something else before"),
            );
        }
        if !stored {
            self.note(
                Check::StoredFirst,
                format!("effect {effect} ({name}) was started and the journal does not ask for it"),
            );
        }
        match self.flights.get_mut(&effect) {
            None => {
                let flight = Flight {
                    request: request.clone(),
                    started_by: incarnation,
                    fate: Fate::UnderWay,
                    carried_out: 1,
                };
                self.flights.insert(effect, flight);
            }
            Some(flight) => {
                if flight.started_by == incarnation {
                    let sentence = format!("effect {effect} ({name}) was started twice by one engine");
                    return self.note(Check::StartedOnce, sentence);
                }
                flight.started_by = incarnation;
                if matches!(flight.fate, Fate::Vanished) {
                    flight.fate = Fate::KnownToBeLost;
                }
                if self.forgets_first_attempt {
                    flight.carried_out += 1;
                    flight.fate = Fate::UnderWay;
                }
                // Only what vanished may be done a second time, and only under a new id.
                if flight.carried_out > 1 {
                    let sentence = format!("effect {effect} ({name}) was carried out twice");
                    self.note(Check::StartedOnce, sentence);
                }
            }
        }
    }

    /// Effects whose answer can reach the engine that holds the lease.
    pub(crate) fn deliverable(&self) -> Vec<EffectId> {
        let ledger = self.ledger.borrow();
        self.flights
            .iter()
            .filter(|(id, flight)| {
                flight.started_by == self.incarnation
                    && ledger.run.unsettled.contains_key(id)
                    && !matches!(flight.fate, Fate::Vanished)
            })
            .map(|(id, _)| *id)
            .collect()
    }

    /// Effects that somebody may have seen an answer of and that are long settled.
    pub(crate) fn settled(&self) -> Vec<(EffectId, Outcome)> {
        let ledger = self.ledger.borrow();
        self.flights
            .iter()
            .filter(|(id, _)| !ledger.run.unsettled.contains_key(id))
            .filter_map(|(id, flight)| match &flight.fate {
                Fate::Answered(outcome) => Some((*id, (**outcome).clone())),
                Fate::UnderWay | Fate::Vanished | Fate::KnownToBeLost => None,
            })
            .collect()
    }

    /// The deed itself, which happens whether or not anybody hears of it.
    pub(crate) fn land(&mut self, land: &LandChange) -> CommitId {
        match self.truth.land(land) {
            Ok(commit) => commit,
            Err(violation) => {
                self.violation.get_or_insert(violation);
                CommitId::new("a second commit")
            }
        }
    }
}
