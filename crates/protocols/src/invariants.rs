//! What must hold of every journal, whatever the loop: checked by the simulator after every step and by `verify`.

use crate::fact::Fact;
use crate::kernel::person::Word;
use crate::protocol::{feedback_control, goal_contract, judged_task, roadmap_rounds};
use crate::run::Run;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Sentences about what is wrong; none is the only good answer.
pub fn violations(facts: &[Fact]) -> Vec<String> {
    let mut wrong = Vec::new();
    effects(facts, &mut wrong);
    ends(facts, &mut wrong);
    judged_task::invariants::violations(facts, &mut wrong);
    feedback_control::invariants::violations(facts, &mut wrong);
    goal_contract::invariants::violations(facts, &mut wrong);
    roadmap_rounds::invariants::violations(facts, &mut wrong);
    wrong
}

fn effects(facts: &[Fact], wrong: &mut Vec<String>) {
    let mut requested = BTreeSet::new();
    let mut settled = BTreeSet::new();
    for fact in facts {
        match fact {
            Fact::EffectRequested { effect, .. } if !requested.insert(*effect) => {
                wrong.push(format!("effect {effect} was requested twice"));
            }
            Fact::EffectSettled { effect, .. } => {
                if !requested.contains(effect) {
                    wrong.push(format!("effect {effect} was settled before it was requested"));
                }
                if !settled.insert(*effect) {
                    wrong.push(format!("effect {effect} was settled twice"));
                }
            }
            _ => {}
        }
    }
}

fn ends(facts: &[Fact], wrong: &mut Vec<String>) {
    let mut run = Run::default();
    for (position, fact) in facts.iter().enumerate() {
        if position == 0 && !matches!(fact, Fact::RunStarted { .. }) {
            wrong.push(format!("the first fact is {}", fact.name()));
        }
        if position > 0 && matches!(fact, Fact::RunStarted { .. }) {
            wrong.push(format!("fact {position} starts the run again"));
        }
        let may_follow_the_end =
            matches!(fact, Fact::RunReopened { .. } | Fact::LandingAsked { .. } | Fact::PersonSaid { .. });
        if run.ended && !may_follow_the_end {
            wrong.push(format!("fact {position} ({}) follows the end of the run", fact.name()));
        }
        let gives_back = matches!(fact, Fact::PersonSaid { word: Word::HandBack { .. } | Word::LetGo, .. });
        if run.taken_over.is_some() != gives_back {
            wrong.push(format!("fact {position} ({}) is not for whoever has the work in hand", fact.name()));
        }
        if !run.ended && matches!(fact, Fact::PersonSaid { .. }) {
            wrong.push(format!("fact {position} answers a run that works"));
        }
        run.evolve(fact);
        if matches!(fact, Fact::RunEnded) && !run.unsettled.is_empty() {
            wrong.push(format!("the run ended with {} effects unsettled", run.unsettled.len()));
        }
    }
}
