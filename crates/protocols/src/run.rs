//! The state of one run: a fold of its facts. `evolve` is total and is all that replay runs.

use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::budget::Budget;
use crate::kernel::person::Word;
use crate::protocol::Protocol;
use crate::vocabulary::{Actor, EffectId, RunId};
use alloc::collections::BTreeMap;
use alloc::string::String;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Run {
    /// Absent until the first fact.
    pub started: Option<Started>,
    pub next_effect: u64,
    /// Requested and not answered. Sending these again under the same id is the whole of recovery.
    pub unsettled: BTreeMap<EffectId, Effect>,
    pub stop: Option<StopAsked>,
    pub ended: bool,
    /// A person has seen how it ended and lets it be.
    pub dismissed: bool,
    /// A person goes on by hand; nobody else does until they hand it back.
    pub taken_over: Option<TakenOver>,
    /// How many facts were folded; the journal's expected version.
    pub version: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub id: RunId,
    pub budget: Budget,
    pub protocol: Protocol,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopAsked {
    pub by: Actor,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOver {
    pub by: Actor,
    pub branch: String,
}

impl Run {
    pub fn replay<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Self {
        let mut run = Self::default();
        for fact in facts {
            run.evolve(fact);
        }
        run
    }

    pub fn evolve(&mut self, fact: &Fact) {
        self.version += 1;
        match fact {
            Fact::RunStarted { run, spec, .. } => {
                self.started =
                    Some(Started { id: run.clone(), budget: spec.budget(), protocol: Protocol::begin(spec) });
            }
            Fact::EffectRequested { effect, request } => {
                self.next_effect = self.next_effect.max(effect.0.saturating_add(1));
                self.unsettled.insert(*effect, request.clone());
            }
            Fact::EffectSettled { effect, outcome } => {
                self.unsettled.remove(effect);
                if let Some(started) = &mut self.started {
                    started.budget.charge(outcome.usage());
                }
            }
            Fact::StopAsked { by, reason } => {
                self.stop = Some(StopAsked { by: by.clone(), reason: reason.clone() });
            }
            Fact::RunReopened { caps, .. } => {
                self.ended = false;
                self.dismissed = false;
                self.stop = None;
                if let Some(started) = &mut self.started {
                    started.budget.extend(*caps);
                }
            }
            Fact::LandingAsked { .. } => self.ended = false,
            Fact::RunEnded => self.ended = true,
            Fact::PersonSaid { by, word } => self.hear(by, word),
            Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_) => {}
        }
        if let Some(started) = &mut self.started {
            started.protocol.evolve(fact);
        }
    }
    fn hear(&mut self, by: &Actor, word: &Word) {
        match word {
            Word::Skip { .. } => self.dismissed = true,
            Word::TakeOver { branch } => {
                self.dismissed = false;
                self.taken_over = Some(TakenOver { by: by.clone(), branch: branch.clone() });
            }
            Word::HandBack { .. } | Word::LetGo => self.taken_over = None,
            Word::Approve { .. } | Word::Reject { .. } | Word::Waive(_) => {}
        }
    }
}
