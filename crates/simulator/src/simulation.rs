//! One seed from beginning to end: a faulty season in which anything may happen, then a calm one in which the run must
//! come to its end, then the ways on that an ended run must still have.

use crate::answers::Season;
use crate::checks::{Check, Violation, end_of, waits_to_be_landed};
use crate::host::{Host, TurnFault, Turned};
use crate::misfits::misfit;
use crate::planted::PlantedBug;
use crate::profile::landing;
use crate::world::Fate;
use windlass_engine::{EngineError, Journal, JournalError, ready};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::outcome::Usage;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::spec::{Adopted, Landing};
use windlass_protocols::{Actor, EffectId, Millis, Observation, Outcome, Rejection};

/// Far more than the longest calm run needs: five rounds, each with every step repeated as often as it may be.
const CALM_MOVES: u32 = 400;

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
}

fn person() -> Actor {
    Actor::Human("somebody".to_owned())
}

impl Host {
    pub(crate) fn simulate(&mut self) -> Result<(), Violation> {
        self.restart()?;
        let spec = self.profile.spec(&mut self.choices);
        self.before_the_start(&spec)?;
        self.begin(&spec)?;
        let moves = 10 + self.choices.below(self.profile.moves);
        for _ in 0..moves {
            if !self.make_a_move(&spec)? {
                break;
            }
        }
        self.season = Season::Calm;
        self.story.tell(|| "from here on nothing goes wrong".to_owned());
        self.temper.losing = false;
        if self.world.borrow().deliverable().is_empty() {
            self.restart()?;
        }
        self.come_to_the_end()?;
        self.way_on()?;
        self.ledger.borrow().prove()
    }

    /// What is refused while there is no run.
    fn before_the_start(&mut self, spec: &Spec) -> Result<(), Violation> {
        match self.choices.weighted(&[(12, 0), (1, 1), (1, 2), (1, 3)]) {
            1 => self
                .expect_refused(Observation::StopRequested { reason: "too early".to_owned() }, |rejection| {
                    matches!(rejection, Rejection::NotStarted)
                }),
            2 => {
                let mut spec = spec.clone();
                let Spec::JudgedTask(task) = &mut spec;
                match self.choices.below(4) {
                    0 => task.caps.rounds = 0,
                    1 => task.text.clear(),
                    2 => task.adopted = Some(from_round_zero()),
                    _ => task.checks.push("\t".to_owned()),
                }
                let start = Observation::Start { run: self.id.clone(), spec };
                self.expect_refused(start, |rejection| matches!(rejection, Rejection::InvalidSpec { .. }))
            }
            3 => self.expect_refused(
                Observation::EffectFinished { effect: EffectId(0), outcome: Outcome::Closed },
                |rejection| matches!(rejection, Rejection::NotUnsettled { .. }),
            ),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, spec: &Spec) -> Result<(), Violation> {
        while self.ledger.borrow().facts.is_empty() {
            let start = Observation::Start { run: self.id.clone(), spec: spec.clone() };
            let fault = self.draw_fault();
            if let Turned::Refused(rejection) = self.turn(person(), start, fault)? {
                return Err(Violation::new(Check::Answers, format!("a good start was refused: {rejection}")));
            }
        }
        Ok(())
    }

    fn draw_fault(&mut self) -> TurnFault {
        let bad = match self.season {
            Season::Faulty => self.profile.faults_in_a_hundred,
            Season::Calm => 0,
        };
        self.choices.weighted(&[
            (5 * (100 - bad), TurnFault::None),
            (bad, TurnFault::CrashBeforeAppend),
            (bad, TurnFault::CrashAfterAppend),
            (bad, TurnFault::CrashAfterDispatch),
            (bad, TurnFault::AppendRefused),
            (bad, TurnFault::AppendUnknown),
        ])
    }

    /// Returns whether the faulty season goes on.
    fn make_a_move(&mut self, spec: &Spec) -> Result<bool, Violation> {
        self.moves += 1;
        let ended = self.ended();
        let running = u32::from(!ended);
        let over = u32::from(ended);
        let mail = u32::from(self.has_mail());
        let ghost = u32::from(self.ghost.is_some());
        let answers = u32::from(!self.world.borrow().deliverable().is_empty());
        let first = if ended { (40, Move::Rest) } else { (60 * answers + 1, Move::Deliver) };
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
            (1 + 16 * over, Move::Land),
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
        }
        Ok(true)
    }

    fn deliver(&mut self) -> Result<(), Violation> {
        let waiting = self.world.borrow().deliverable();
        let Some(effect) = self.one_of(&waiting) else {
            return Ok(());
        };
        let outcome = self.outcome_of(effect);
        let fault = self.draw_fault();
        let turned = self.turn(Actor::Engine, Observation::EffectFinished { effect, outcome }, fault)?;
        match turned {
            Turned::Stored | Turned::Unclear => Ok(()),
            Turned::Refused(rejection) => Err(Violation::new(
                Check::Answers,
                format!("the answer to effect {effect} was refused: {rejection}"),
            )),
        }
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
            None => Observation::Reopened { caps: plenty(), note: None },
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

    fn has_mail(&self) -> bool {
        ready::block_on(self.truth().messages(&self.id)).is_ok_and(|mail| !mail.is_empty())
    }

    /// First the journal, then the acknowledgement: in this order a crash repeats a message and never loses one.
    fn read_mail(&mut self) -> Result<(), Violation> {
        let mail = ready::block_on(self.truth().messages(&self.id)).unwrap_or_default();
        let Some(message) = mail.into_iter().next() else {
            return Ok(());
        };
        let acknowledge = |host: &Self| {
            ready::block_on(host.truth().acknowledge(&message))
                .map_err(|error| Violation::new(Check::StopIsKept, error.to_string()))
        };
        if self.profile.planted == Some(PlantedBug::StopAcknowledgedTooEarly) {
            acknowledge(self)?;
        }
        let fault = self.draw_fault();
        let stop = Observation::StopRequested { reason: message.body.clone() };
        match self.turn(person(), stop, fault)? {
            Turned::Stored => acknowledge(self),
            Turned::Refused(Rejection::AlreadyEnded) => {
                self.stops.pointless(&message.body);
                acknowledge(self)
            }
            Turned::Refused(rejection) => {
                Err(Violation::new(Check::Answers, format!("a request to stop was refused: {rejection}")))
            }
            Turned::Unclear => Ok(()),
        }
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
        match self.turn(person(), Observation::Reopened { caps, note }, fault)? {
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

    fn come_to_the_end(&mut self) -> Result<(), Violation> {
        for _ in 0..CALM_MOVES {
            self.moves += 1;
            if self.has_mail() {
                self.read_mail()?;
            }
            if self.ended() {
                return Ok(());
            }
            if self.world.borrow().deliverable().is_empty() {
                return Err(Violation::new(Check::Ends, "the run has not ended and nothing is under way"));
            }
            self.deliver()?;
        }
        Err(Violation::new(Check::Ends, format!("the run has not ended after {CALM_MOVES} calm moves")))
    }

    /// Accepted work can be landed, and everything else can be taken up by somebody who gives it enough room.
    fn way_on(&mut self) -> Result<(), Violation> {
        let (lands, reopens) = {
            let ledger = self.ledger.borrow();
            let accepted = matches!(end_of(&ledger.run), Some(End::Accepted { .. }));
            let lands = waits_to_be_landed(&ledger.facts);
            (lands, !lands && !accepted)
        };
        // Taking a run up again is another whole run; some seeds pay for it, so that all can be many.
        let reopens = reopens && self.choices.weighted(&[(1, true), (2, false)]);
        let body = if lands {
            Observation::LandingRequested { landing: Landing::Branch("rescued".to_owned()) }
        } else if reopens {
            Observation::Reopened { caps: plenty(), note: None }
        } else {
            return Ok(());
        };
        match self.turn(person(), body, TurnFault::None)? {
            Turned::Stored => self.come_to_the_end(),
            Turned::Refused(rejection) => {
                Err(Violation::new(Check::WayOn, format!("the ended run cannot go on: {rejection}")))
            }
            Turned::Unclear => Err(Violation::new(Check::WayOn, "no engine was there to go on")),
        }
    }

    fn expect_refused(
        &mut self,
        body: Observation,
        proper: impl Fn(&Rejection) -> bool,
    ) -> Result<(), Violation> {
        let text = format!("{body:?}");
        match self.turn(Actor::Engine, body, TurnFault::None)? {
            Turned::Refused(rejection) if proper(&rejection) => Ok(()),
            Turned::Refused(rejection) => Err(Violation::new(
                Check::Answers,
                format!("refused for another reason ({rejection}): {text}"),
            )),
            Turned::Stored | Turned::Unclear => {
                Err(Violation::new(Check::Answers, format!("not refused: {text}")))
            }
        }
    }

    fn one_of<T: Clone>(&mut self, several: &[T]) -> Option<T> {
        match several {
            [] => None,
            [only] => Some(only.clone()),
            _ => {
                let bound = u32::try_from(several.len()).unwrap_or(u32::MAX);
                several.get(self.choices.below(bound) as usize).cloned()
            }
        }
    }
}

fn from_round_zero() -> Adopted {
    Adopted { round: 0, tree: None, handoff: None, verdict: None, audit: None }
}

fn plenty() -> CapChange {
    CapChange {
        more_rounds: 5,
        more_time: Millis::minutes(10_000),
        more_tokens: 1_000_000_000,
        more_cost_micros: 1_000_000_000,
        more_output_bytes: 1_000_000_000,
    }
}
