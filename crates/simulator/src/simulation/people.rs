//! Persons who answer: any word at any time, about any tree. What must be refused is the protocol's to know; that a run
//! is never left in a hand that went away is checked here.

use super::person;
use crate::answers::{artifact, gate_of};
use crate::checks::{Check, Violation};
use crate::host::{Host, TurnFault, Turned};
use windlass_protocols::kernel::gate::{FindingName, Waiver};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{EffectId, Observation, TreeId};

impl Host {
    pub(super) fn say(&mut self) -> Result<(), Violation> {
        let word = self.draw_word();
        let fault = self.draw_fault();
        self.turn(person(), Observation::PersonSaid { word }, fault).map(drop)
    }

    fn draw_word(&mut self) -> Word {
        let taken = u32::from(self.ledger.borrow().run.taken_over.is_some());
        let held = u32::from(self.is_a_round_held());
        let reason = || "so it is".to_owned();
        match self.choices.weighted(&[
            (4, "approve"),
            (1, "reject"),
            (2, "skip"),
            (6 - 4 * taken, "take-over"),
            (1 + 12 * taken, "hand-back"),
            (1 + 4 * taken, "let-go"),
            (4 - 3 * taken + 40 * held, "waive"),
        ]) {
            "waive" => Word::Waive(self.draw_waiver()),
            "approve" => Word::Approve { tree: self.draw_tree() },
            "reject" => Word::Reject { reason: reason() },
            "skip" => Word::Skip { reason: reason() },
            "take-over" => Word::TakeOver { branch: "windlass/take-over/it".to_owned() },
            "hand-back" => {
                let next = self.ledger.borrow().run.next_effect;
                let report = artifact("handoff.json", EffectId(next));
                Word::HandBack { tree: self.draw_tree(), report }
            }
            _ => Word::LetGo,
        }
    }

    /// So few rounds of a roadmap wait with findings that whoever speaks then mostly means them.
    fn is_a_round_held(&self) -> bool {
        let ledger = self.ledger.borrow();
        match ledger.run.started.as_ref().map(|started| &started.protocol) {
            Some(Protocol::RoadmapRounds(state)) => !state.held_over_gate().is_empty(),
            _ => false,
        }
    }

    /// Of a finding that is open, or of any.
    fn draw_waiver(&mut self) -> Waiver {
        let open = gate_of(&self.ledger.borrow().run)
            .and_then(|gate| gate.unwaived().first().map(|finding| finding.kind));
        let finding = open.unwrap_or(FindingName::CiChanged);
        Waiver { finding, reason: "so it is".to_owned() }
    }

    /// One of those that were there, or a new one.
    fn draw_tree(&mut self) -> TreeId {
        let known = self.world.borrow().truth.last_tree.clone();
        match known {
            Some(tree) if self.choices.once_in(2) => tree,
            _ => {
                let truth = &mut self.world.borrow_mut().truth;
                truth.trees += 1;
                TreeId::new(format!("tree-{}", truth.trees))
            }
        }
    }

    /// Whoever has the work in hand can always bring it back, and the run then comes to an end of its own.
    pub(super) fn give_back(&mut self) -> Result<(), Violation> {
        if self.ledger.borrow().run.taken_over.is_none() {
            return Ok(());
        }
        let word = if self.choices.once_in(2) {
            Word::LetGo
        } else {
            Word::HandBack { tree: self.draw_tree(), report: artifact("handoff.json", EffectId(u64::MAX)) }
        };
        match self.turn(person(), Observation::PersonSaid { word }, TurnFault::None)? {
            Turned::Stored => self.come_to_the_end(),
            Turned::Refused(rejection) => {
                Err(Violation::new(Check::WayOn, format!("the work cannot be handed back: {rejection}")))
            }
            Turned::Unclear => Err(Violation::new(Check::WayOn, "no engine was there to hand back to")),
        }
    }
}
