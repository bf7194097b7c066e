//! What may happen in the faulty season, one move at a time: answers that come twice or not at all, engines that are
//! replaced, clocks that jump, people who change their minds. Which one happens is drawn; what must hold is checked.

use super::{person, plenty};
use crate::checks::{Check, Violation};
use crate::host::{Host, Turned};
use crate::misfits::misfit;
use crate::profile::{Loop, landing};
use crate::world::Fate;
use windlass_engine::{EngineError, Journal, JournalError, ready};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::outcome::Usage;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::{Actor, EffectId, Millis, Observation, Outcome, Rejection};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Deliver,
    Rest,
    Crash,
    Double,
    Misfit,
    Vanish,
    TakeOver,
    GhostActs,
    ClockForward,
    ClockBack,
    PostStop,
    ReadMail,
    StartAgain,
    Reopen,
    Land,
    Say,
    Speak,
}

impl Host {
    /// Returns whether the faulty season goes on.
    pub(super) fn make_a_move(&mut self, spec: &Spec) -> Result<bool, Violation> {
        self.moves += 1;
        let ended = self.ended();
        let running = u32::from(!ended);
        let over = u32::from(ended);
        let mail = u32::from(self.has_mail());
        let ghost = u32::from(self.ghost.is_some());
        let answers = u32::from(!self.world.borrow().deliverable().is_empty());
        let people = over * u32::from(self.profile.of == Loop::GoalContract);
        // A person's word is what a resting goal loop waits for: most of its seeds go on.
        let first = if ended { (40 - 32 * people, Move::Rest) } else { (60 * answers + 1, Move::Deliver) };
        let chosen = self.choices.weighted(&[
            first,
            (4 + 10 * running * (1 - answers), Move::Crash),
            (4, Move::Double),
            (4 * running, Move::Misfit),
            (3 * running, Move::Vanish),
            (2, Move::TakeOver),
            (8 * ghost, Move::GhostActs),
            (2, Move::ClockForward),
            (2, Move::ClockBack),
            (1, Move::PostStop),
            (12 * mail, Move::ReadMail),
            (1, Move::StartAgain),
            (1 + 16 * over, Move::Reopen),
            (1 + 16 * over * (1 - people), Move::Land),
            (1 + 16 * over * (1 - people), Move::Say),
            (30 * people, Move::Speak),
        ]);
        match chosen {
            Move::Rest => return Ok(false),
            Move::Deliver => self.deliver()?,
            Move::Crash => self.crash()?,
            Move::Double => self.double()?,
            Move::Misfit => self.misfit()?,
            Move::Vanish => self.vanish(),
            Move::TakeOver => self.taken_over()?,
            Move::GhostActs => self.ghost_acts()?,
            Move::ClockForward | Move::ClockBack => self.clock_jumps(chosen),
            Move::PostStop => self.post_stop()?,
            Move::ReadMail => self.read_mail()?,
            Move::StartAgain => {
                let start = Observation::Start { run: self.id.clone(), spec: spec.clone() };
                self.expect_refused(start, |rejection| matches!(rejection, Rejection::AlreadyStarted))?;
            }
            Move::Reopen => self.reopen()?,
            Move::Land => self.land()?,
            Move::Say => self.say()?,
            Move::Speak => {
                let fault = self.draw_fault();
                self.person_speaks(fault)?;
            }
        }
        Ok(true)
    }

    fn double(&mut self) -> Result<(), Violation> {
        let settled = self.world.borrow().settled();
        let Some((effect, outcome)) = self.one_of(&settled) else {
            return Ok(());
        };
        self.coverage.count("fault", "answer-doubled");
        self.story.tell(|| "FAULT answer-doubled".to_owned());
        self.expect_refused(Observation::EffectFinished { effect, outcome }, |rejection| {
            matches!(rejection, Rejection::NotUnsettled { .. })
        })
    }

    fn misfit(&mut self) -> Result<(), Violation> {
        let waiting = self.world.borrow().deliverable();
        let Some(effect) = self.one_of(&waiting) else {
            return Ok(());
        };
        let Some(request) = self.ledger.borrow().run.unsettled.get(&effect).cloned() else {
            return Ok(());
        };
        let outcome = misfit(&mut self.choices, effect, &request);
        self.coverage.count("fault", "answer-misfits");
        self.story.tell(|| format!("FAULT answer-misfits: {outcome:?}"));
        self.expect_refused(Observation::EffectFinished { effect, outcome }, |rejection| {
            matches!(rejection, Rejection::OutcomeDoesNotFit { .. })
        })
    }

    /// A child disappears, before or after it did what it was asked for.
    fn vanish(&mut self) {
        let waiting = self.world.borrow().deliverable();
        let Some(effect) = self.one_of(&waiting) else {
            return;
        };
        if self.choices.once_in(2) {
            let _ = self.outcome_of(effect);
        }
        self.coverage.count("fault", "answer-vanished");
        self.story.tell(|| format!("FAULT answer-vanished: nobody hears of effect {effect}"));
        if let Some(flight) = self.world.borrow_mut().flights.get_mut(&effect) {
            flight.fate = Fate::Vanished;
        }
    }

    fn ghost_acts(&mut self) -> Result<(), Violation> {
        let Some(mut ghost) = self.ghost.take() else {
            return Ok(());
        };
        let unsettled: Vec<EffectId> = ghost.run().unsettled.keys().copied().collect();
        let body = match self.one_of(&unsettled) {
            Some(effect) => Observation::EffectFinished {
                effect,
                outcome: Outcome::Lost { reason: "seen by the ghost".to_owned(), usage: Usage::default() },
            },
            None => Observation::Reopened { caps: plenty(), note: None, limits: NewLimits::default() },
        };
        self.story.tell(|| format!("the ghost brings {body:?}"));
        match ghost.observe(Actor::Engine, body) {
            Err(EngineError::Journal(JournalError::Fenced { .. })) => {
                self.coverage.count("fault", "ghost-fenced");
            }
            Err(EngineError::Rejected(_)) => self.ghost = Some(ghost),
            Err(EngineError::Journal(error)) => {
                let sentence = format!("a ghost was refused for another reason than its lease: {error}");
                return Err(Violation::new(Check::Fencing, sentence));
            }
            Ok(_) => {
                return Err(Violation::new(
                    Check::Fencing,
                    "an engine whose lease was taken over wrote to the journal",
                ));
            }
        }
        self.check()
    }

    fn clock_jumps(&mut self, chosen: Move) {
        let far = i64::from(self.choices.below(100_000_000)) + 1;
        let (name, by) =
            if chosen == Move::ClockForward { ("clock-forward", far) } else { ("clock-back", -far) };
        self.coverage.count("fault", name);
        self.story.tell(|| format!("FAULT {name} by {far}"));
        self.move_clock(by);
    }

    fn post_stop(&mut self) -> Result<(), Violation> {
        let reason = self.stops.next();
        self.coverage.count("fault", "stop-posted");
        self.story.tell(|| format!("somebody posts `{reason}`"));
        let posted = ready::block_on(self.truth().post(&self.id, &reason, self.now()));
        posted.map_err(|error| Violation::new(Check::StopIsKept, error.to_string()))
    }

    fn reopen(&mut self) -> Result<(), Violation> {
        let caps = CapChange {
            more_rounds: self.choices.below(3),
            more_time: Millis(u64::from(self.choices.below(3)) * 600_000),
            more_tokens: u64::from(self.choices.below(3)) * 20_000,
            more_cost_micros: u64::from(self.choices.below(3)) * 10_000,
            more_output_bytes: u64::from(self.choices.below(3)) * 40_000,
        };
        let note = self.choices.once_in(2).then(|| "look at the tests".to_owned());
        let fault = self.draw_fault();
        match self.turn(
            person(),
            Observation::Reopened { caps, note, limits: NewLimits::default() },
            fault,
        )? {
            Turned::Stored => self.coverage.count("fault", "reopened"),
            Turned::Refused(_) | Turned::Unclear => {}
        }
        Ok(())
    }

    fn land(&mut self) -> Result<(), Violation> {
        let landing = landing(&mut self.choices);
        let fault = self.draw_fault();
        match self.turn(person(), Observation::LandingRequested { landing }, fault)? {
            Turned::Stored => self.coverage.count("fault", "landing-asked"),
            Turned::Refused(_) | Turned::Unclear => {}
        }
        Ok(())
    }
}
