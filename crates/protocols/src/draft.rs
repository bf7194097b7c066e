//! The decision: a scratch copy of the run that records facts as it goes, so that a protocol reads top to bottom.
//! What may be refused is refused here; nothing here can fail halfway.

use crate::effect::Effect;
use crate::fact::{FACT_VERSION, Fact};
use crate::kernel::budget::{Budget, Dimension};
use crate::kernel::person::Word;
use crate::observation::{Observation, Rejection, Stamped};
use crate::protocol::{self, Protocol};
use crate::run::{Run, StopAsked};
use crate::vocabulary::{EffectId, Millis};
use alloc::string::ToString;
use alloc::vec::Vec;

/// Turns what happened into what is so from now on. Nothing changes until the facts are appended.
pub fn decide(run: &Run, observed: &Stamped<Observation>) -> Result<Vec<Fact>, Rejection> {
    let mut draft = Draft { run: run.clone(), facts: Vec::new(), now: observed.at };
    match &observed.body {
        Observation::Start { run: id, spec } => {
            if run.started.is_some() {
                return Err(Rejection::AlreadyStarted);
            }
            spec.validate()?;
            draft.record(Fact::RunStarted {
                version: FACT_VERSION,
                run: id.clone(),
                spec: spec.clone(),
                by: observed.by.clone(),
            });
            protocol::go_on(&mut draft);
        }
        Observation::EffectFinished { effect, outcome } => {
            let Some(request) = run.unsettled.get(effect) else {
                return Err(Rejection::NotUnsettled { effect: *effect });
            };
            if !outcome.fits(request) {
                return Err(Rejection::OutcomeDoesNotFit { effect: *effect });
            }
            draft.record(Fact::EffectSettled { effect: *effect, outcome: outcome.clone() });
            protocol::settled(&mut draft, request, outcome);
        }
        Observation::StopRequested { reason } => {
            require_running(run)?;
            draft.record(Fact::StopAsked { by: observed.by.clone(), reason: reason.clone() });
        }
        Observation::Reopened { caps, note, limits } => {
            require_ended(run)?;
            require_in_our_hands(run)?;
            protocol::may_reopen(run, *caps, limits)?;
            draft.record(Fact::RunReopened { by: observed.by.clone(), caps: *caps, note: note.clone() });
            protocol::take_limits(&mut draft, limits);
            protocol::go_on(&mut draft);
        }
        Observation::LandingRequested { landing } => {
            require_ended(run)?;
            require_in_our_hands(run)?;
            protocol::land(&mut draft, &observed.by, landing)?;
        }
        Observation::PersonSaid { word } => {
            require_ended(run)?;
            require_fitting_hands(run, word)?;
            protocol::person_said(&mut draft, &observed.by, word)?;
        }
    }
    Ok(draft.facts)
}

fn require_running(run: &Run) -> Result<(), Rejection> {
    match (&run.started, run.ended) {
        (None, _) => Err(Rejection::NotStarted),
        (Some(_), true) => Err(Rejection::AlreadyEnded),
        (Some(_), false) => Ok(()),
    }
}

fn require_ended(run: &Run) -> Result<(), Rejection> {
    match (&run.started, run.ended) {
        (None, _) => Err(Rejection::NotStarted),
        (Some(_), false) => Err(Rejection::NotEnded),
        (Some(_), true) => Ok(()),
    }
}

/// What a person took over is theirs until they hand it back.
fn require_in_our_hands(run: &Run) -> Result<(), Rejection> {
    match &run.taken_over {
        Some(taken) => Err(Rejection::TakenOver { by: taken.by.clone(), branch: taken.branch.clone() }),
        None => Ok(()),
    }
}

fn require_fitting_hands(run: &Run, word: &Word) -> Result<(), Rejection> {
    match word {
        Word::HandBack { .. } | Word::LetGo if run.taken_over.is_none() => {
            Err(Rejection::NotAsked { why: "nobody took it over".to_string() })
        }
        Word::HandBack { .. } | Word::LetGo => Ok(()),
        Word::Approve { .. }
        | Word::Reject { .. }
        | Word::Skip { .. }
        | Word::TakeOver { .. }
        | Word::Waive(_) => require_in_our_hands(run),
    }
}

pub(crate) struct Draft {
    run: Run,
    facts: Vec<Fact>,
    now: Millis,
}

impl Draft {
    pub(crate) fn record(&mut self, fact: Fact) {
        self.run.evolve(&fact);
        self.facts.push(fact);
    }

    pub(crate) fn request(&mut self, request: Effect) {
        let effect = EffectId(self.run.next_effect);
        self.record(Fact::EffectRequested { effect, request });
    }

    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// # Panics
    /// Never: a protocol is only asked after the fact that begins the run was recorded.
    pub(crate) fn protocol(&self) -> &Protocol {
        &self.run.started.as_ref().expect("the first fact was recorded").protocol
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.run.started.as_ref().expect("the first fact was recorded").budget
    }

    pub(crate) fn stop(&self) -> Option<&StopAsked> {
        self.run.stop.as_ref()
    }

    pub(crate) fn exhausted(&self) -> Option<Dimension> {
        self.budget().exhausted()
    }
}
