//! One seed from beginning to end: a faulty season in which anything may happen, then a calm one in which the run must
//! come to its end, then the ways on that an ended run must still have. What may happen in the first is in `moves`.

mod moves;
mod people;

use crate::answers::Season;
use crate::checks::{Check, Violation, is_done, waits_to_be_landed};
use crate::control;
use crate::goal;
use crate::host::{Host, TurnFault, Turned};
use crate::planted::PlantedBug;
use crate::roadmap;
use windlass_engine::{Journal, ready};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::judged_task::spec::{Adopted, Landing};
use windlass_protocols::{Actor, EffectId, Millis, Observation, Outcome, Rejection};

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
                let how = self.choices.below(4);
                match (&mut spec, how) {
                    (Spec::JudgedTask(task), 0) => task.caps.rounds = 0,
                    (Spec::JudgedTask(task), 1) => task.text.clear(),
                    (Spec::JudgedTask(task), 2) => task.adopted = Some(from_round_zero()),
                    (Spec::JudgedTask(task), _) => task.checks.push("\t".to_owned()),
                    (Spec::FeedbackControl(flow), _) => control::profile::spoil(flow, how),
                    (Spec::GoalContract(goal), _) => goal::profile::spoil(goal, how),
                    (Spec::RoadmapRounds(spec), _) => roadmap::profile::spoil(spec, how),
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

    fn come_to_the_end(&mut self) -> Result<(), Violation> {
        let moves = self.profile.of.calm_moves();
        for _ in 0..moves {
            self.moves += 1;
            if self.has_mail() {
                self.read_mail()?;
            }
            if self.ended() {
                return Ok(());
            }
            if self.world.borrow().deliverable().is_empty() {
                // What vanished while others were under way is missed only by whoever comes next.
                self.restart()?;
                if self.world.borrow().deliverable().is_empty() {
                    return Err(Violation::new(
                        Check::Ends,
                        "the run has not ended and nothing is under way",
                    ));
                }
            }
            self.deliver()?;
        }
        Err(Violation::new(Check::Ends, format!("the run has not ended after {moves} calm moves")))
    }

    /// Accepted work can be landed, and everything else can be taken up by somebody who gives it enough room.
    fn way_on(&mut self) -> Result<(), Violation> {
        self.give_back()?;
        let (lands, reopens) = {
            let ledger = self.ledger.borrow();
            let lands = waits_to_be_landed(&ledger.facts);
            (lands, !lands && !is_done(&ledger.run))
        };
        // Taking a run up again is another whole run; some seeds pay for it, so that all can be many.
        let reopens = reopens && self.choices.weighted(&[(1, true), (2, false)]);
        if reopens && self.the_word_waited_for()? {
            return self.come_to_the_end();
        }
        let body = if lands {
            Observation::LandingRequested { landing: Landing::Branch("rescued".to_owned()) }
        } else if reopens {
            Observation::Reopened { caps: plenty(), note: None, limits: NewLimits::default() }
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
