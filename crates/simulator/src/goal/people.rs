//! People who answer a goal loop that rests: yes and no to what is proposed and to what is not, an item let be, work taken
//! over and handed back. What is refused must be refused, and what is asked for must be taken.

use super::goal_state;
use crate::answers::artifact;
use crate::checks::{Check, Violation};
use crate::host::{Host, TurnFault, Turned};
use windlass_protocols::kernel::gate::{FindingName, Waiver};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::goal_contract::end::{Cause, End, Proposed};
use windlass_protocols::protocol::goal_contract::person::at_hand;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{Actor, EffectId, Observation, Rejection, Run, TreeId};

/// What a person can answer to.
struct Waiting {
    proposed: Option<Proposed>,
    taken_over: bool,
    item: Option<String>,
    start: TreeId,
    /// Findings about the gate that it waits with.
    findings: Vec<FindingName>,
}

fn waiting(run: &Run, state: &State) -> Waiting {
    let proposed = match &state.end {
        Some(End::AwaitsApproval { proposed, .. }) => Some(proposed.clone()),
        _ => None,
    };
    let asks = matches!(state.end, Some(End::Escalated { cause: Cause::GateFindings { .. } }));
    let open = state.open.as_ref().filter(|_| asks);
    let findings = open.map(|open| open.gate.unwaived().iter().map(|finding| finding.kind).collect());
    let head = state.head.as_ref().map(|(_, tree)| tree.clone());
    let start = state.open.as_ref().map(|open| open.start.clone()).or(head);
    Waiting {
        proposed,
        taken_over: run.taken_over.is_some(),
        item: at_hand(state),
        start: start.unwrap_or_else(|| TreeId::new(crate::answers::BASE_TREE)),
        findings: findings.unwrap_or_default(),
    }
}

impl Host {
    /// One word of a person, mostly one that makes sense.
    pub(crate) fn person_speaks(&mut self, fault: TurnFault) -> Result<(), Violation> {
        let Some(waiting) = self.waits_with() else {
            return Ok(());
        };
        let yes = 8 * u32::from(waiting.proposed.is_some());
        let word = self.choices.weighted(&[
            (1 + yes, "approve"),
            (1 + yes / 2, "reject"),
            (3, "skip"),
            (2, "take over"),
            (1 + 12 * u32::from(waiting.taken_over), "hand back"),
            (1 + 4 * u32::from(waiting.taken_over), "let go"),
            (1 + yes / 4, "approve another"),
            (1, "reject silently"),
            (1 + 20 * u32::from(!waiting.findings.is_empty()), "waive"),
            (1, "waive silently"),
        ]);
        let word = match word {
            "waive" => waive(&waiting, "as asked"),
            "waive silently" => waive(&waiting, " "),
            "reject" => Word::Reject { reason: "not like this".to_owned() },
            "reject silently" => Word::Reject { reason: " ".to_owned() },
            "skip" => Word::Skip { reason: "not now".to_owned() },
            "take over" => Word::TakeOver { branch: "ada/by-hand".to_owned() },
            "hand back" => self.hands_back(&waiting),
            "let go" => Word::LetGo,
            "approve another" => Word::Approve { tree: TreeId::new("tree-of-somebody") },
            _ => Word::Approve { tree: TreeId::new(waiting.proposed.as_ref().map_or("", Proposed::name)) },
        };
        self.say_to(&waiting, word, fault)
    }

    /// The word that an ended run waits for, if it waits for a particular one.
    pub(crate) fn the_word_waited_for(&mut self) -> Result<bool, Violation> {
        let Some(waiting) = self.waits_with() else {
            return Ok(false);
        };
        let word = match &waiting.proposed {
            _ if waiting.taken_over => self.hands_back(&waiting),
            Some(proposed) => Word::Approve { tree: TreeId::new(proposed.name()) },
            None if !waiting.findings.is_empty() => waive(&waiting, "as asked"),
            None => return Ok(false),
        };
        self.say_to(&waiting, word, TurnFault::None)?;
        Ok(true)
    }

    fn waits_with(&self) -> Option<Waiting> {
        let ledger = self.ledger.borrow();
        goal_state(&ledger.run).map(|state| waiting(&ledger.run, state))
    }

    fn hands_back(&mut self, waiting: &Waiting) -> Word {
        let report = artifact("handoff.json", EffectId(self.ledger.borrow().run.next_effect));
        Word::HandBack { tree: self.made_by_hand(waiting), report }
    }

    fn made_by_hand(&mut self, waiting: &Waiting) -> TreeId {
        let deed = self.temper.building.act(&mut self.choices);
        let item = waiting.item.clone().unwrap_or_default();
        self.world.borrow_mut().truth.goal.works.made(&waiting.start, &item, deed, &mut self.choices)
    }

    fn say_to(&mut self, waiting: &Waiting, word: Word, fault: TurnFault) -> Result<(), Violation> {
        let wrong = |why: String| Err(Violation::new(Check::PersonHeard, why));
        let fits = fits(waiting, &word);
        let approved = match &word {
            Word::Approve { tree } if fits == Some(true) => Some(tree.as_str().to_owned()),
            _ => None,
        };
        let name = word.name();
        // Whether the yes was stored is not known when the line breaks; that it was given is.
        self.world.borrow_mut().truth.goal.approved.extend(approved);
        let by = Actor::Human("ada".to_owned());
        match (self.turn(by, Observation::PersonSaid { word }, fault)?, fits) {
            (Turned::Stored, Some(false)) => wrong(format!("{name} was taken, and nobody asked for it")),
            (Turned::Refused(rejection), Some(true)) => wrong(format!("{name} was refused: {rejection}")),
            (
                Turned::Refused(
                    Rejection::NotAsked { .. } | Rejection::OtherTree { .. } | Rejection::TakenOver { .. },
                )
                | Turned::Unclear,
                _,
            ) => Ok(()),
            (Turned::Refused(rejection), _) => wrong(format!("{name} was refused oddly: {rejection}")),
            (Turned::Stored, _) => {
                self.coverage.count("word", name);
                Ok(())
            }
        }
    }
}

fn waive(waiting: &Waiting, reason: &str) -> Word {
    let finding = waiting.findings.first().copied().unwrap_or(FindingName::CiChanged);
    Word::Waive(Waiver { finding, reason: reason.to_owned() })
}

/// Whether the run must take it, must refuse it, or may do either.
fn fits(waiting: &Waiting, word: &Word) -> Option<bool> {
    if waiting.taken_over && !matches!(word, Word::HandBack { .. } | Word::LetGo) {
        return Some(false);
    }
    match word {
        Word::Approve { tree } => {
            Some(waiting.proposed.as_ref().is_some_and(|proposed| proposed.name() == tree.as_str()))
        }
        Word::Reject { reason } => Some(waiting.proposed.is_some() && !reason.trim().is_empty()),
        Word::Waive(waiver) => {
            Some(waiting.findings.contains(&waiver.finding) && !waiver.reason.trim().is_empty())
        }
        Word::HandBack { .. } | Word::LetGo => Some(waiting.taken_over),
        Word::TakeOver { .. } if waiting.item.is_none() => Some(false),
        // A commit that nobody saw the end of is looked for first.
        Word::TakeOver { .. } | Word::Skip { .. } => None,
    }
}
