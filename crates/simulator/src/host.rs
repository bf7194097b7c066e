//! Plays the process around an engine: opens it, loses it, opens it again, hands it observations with a fault on the
//! way. Holds every step against the checks. Which observation comes when is not decided here.

use crate::answers::{Answering, Season};
use crate::checks::{Check, Checker, Violation};
use crate::choices::Choices;
use crate::coverage::{Coverage, outcome_name};
use crate::ledger::{Ledger, Proving};
use crate::planted::{BentEngine, PlantedBug};
use crate::ports::{FaultyJournal, JournalFault, Runner, SimClock};
use crate::profile::Profile;
use crate::stops::Stops;
use crate::story::Story;
use crate::temper::Temper;
use crate::world::{Fate, World};
use std::cell::RefCell;
use std::rc::Rc;
use windlass_engine::{Engine, EngineError, Journal, JournalError, Lease, LeaseAnswer, MemoryJournal, ready};
use windlass_protocols::outcome::Usage;
use windlass_protocols::{Actor, EffectId, Fact, Millis, Observation, Outcome, Rejection, Run, RunId};

/// The engine under test, or its copy with something wrong.
pub(crate) enum Subject {
    Real(Box<Engine<FaultyJournal, Runner, SimClock>>),
    Bent(Box<BentEngine>),
}

impl Subject {
    pub(crate) fn run(&self) -> &Run {
        match self {
            Self::Real(engine) => engine.run(),
            Self::Bent(engine) => engine.run(),
        }
    }

    pub(crate) fn observe(&mut self, by: Actor, body: Observation) -> Result<Vec<Fact>, EngineError> {
        match self {
            Self::Real(engine) => ready::block_on(engine.observe(by, body)),
            Self::Bent(engine) => engine.observe(by, body),
        }
    }
}

/// What goes wrong with one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnFault {
    None,
    CrashBeforeAppend,
    CrashAfterAppend,
    CrashAfterDispatch,
    /// The append fails and the process lives on.
    AppendRefused,
    AppendUnknown,
}

impl TurnFault {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::CrashBeforeAppend => "crash-before-append",
            Self::CrashAfterAppend => "crash-after-append",
            Self::CrashAfterDispatch => "crash-after-dispatch",
            Self::AppendRefused => "append-refused",
            Self::AppendUnknown => "append-unknown",
        }
    }

    const fn of_journal(self) -> Option<JournalFault> {
        match self {
            Self::CrashBeforeAppend | Self::AppendRefused => Some(JournalFault::AppendNotStored),
            Self::CrashAfterAppend | Self::AppendUnknown => Some(JournalFault::AppendStored),
            Self::None | Self::CrashAfterDispatch => None,
        }
    }

    const fn crashes(self) -> bool {
        matches!(self, Self::CrashBeforeAppend | Self::CrashAfterAppend | Self::CrashAfterDispatch)
    }
}

/// What the one who brought an observation gets to know.
pub(crate) enum Turned {
    Stored,
    Refused(Rejection),
    /// The engine or the line broke: only the journal can tell.
    Unclear,
}

/// What happens to children and to the right to write when an engine is opened again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reopening {
    SameProcess,
    AnotherProcess,
}

pub(crate) struct Host {
    pub(crate) profile: Profile,
    pub(crate) choices: Choices,
    pub(crate) story: Story,
    pub(crate) coverage: Coverage,
    pub(crate) id: RunId,
    pub(crate) journal: FaultyJournal,
    pub(crate) ledger: Rc<RefCell<Ledger>>,
    pub(crate) world: Rc<RefCell<World>>,
    pub(crate) temper: Temper,
    pub(crate) season: Season,
    pub(crate) stops: Stops,
    /// An engine that does not know yet that its lease was taken over.
    pub(crate) ghost: Option<Subject>,
    pub(crate) moves: u64,
    now: u64,
    clock: SimClock,
    engine: Option<Subject>,
    lease: Lease,
    checker: Checker,
    checking: bool,
}

impl Host {
    pub(crate) fn new(profile: Profile, mut choices: Choices, story: Story, proving: Proving) -> Self {
        let id = RunId::new("run-1");
        let journal = FaultyJournal::default();
        let checking = matches!(proving, Proving::EveryRow);
        let ledger = Rc::new(RefCell::new(Ledger::new(journal.truth(), id.clone(), proving)));
        let mut world = World::new(Rc::clone(&ledger));
        world.forgets_first_attempt = profile.planted == Some(PlantedBug::CarriesOutAgain);
        world.truth.branch.skips = profile.planted == Some(PlantedBug::SkipsCommits);
        world.truth.goal.history.skips = profile.planted == Some(PlantedBug::SkipsCommits);
        let temper = Temper::draw(&mut choices, profile.of);
        Self {
            profile,
            choices,
            story,
            coverage: Coverage::default(),
            lease: Lease { key: id.as_str().to_owned(), fence: 0 },
            id,
            journal,
            ledger,
            world: Rc::new(RefCell::new(world)),
            temper,
            season: Season::Faulty,
            stops: Stops::default(),
            ghost: None,
            moves: 0,
            now: 1_000_000,
            clock: SimClock::default(),
            engine: None,
            checker: Checker::default(),
            checking,
        }
    }

    pub(crate) fn truth(&self) -> MemoryJournal {
        self.journal.truth()
    }

    pub(crate) fn ended(&self) -> bool {
        self.ledger.borrow().run.ended
    }

    pub(crate) fn move_clock(&mut self, by: i64) {
        self.now = self.now.saturating_add_signed(by);
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.now)
    }

    /// One observation, with what may go wrong on its way.
    pub(crate) fn turn(
        &mut self,
        by: Actor,
        body: Observation,
        fault: TurnFault,
    ) -> Result<Turned, Violation> {
        self.now += 7;
        self.clock.set(self.now);
        self.story.tell(|| format!("{by} brings {}", brief(&body)));
        let Some(engine) = &mut self.engine else {
            return Ok(Turned::Unclear);
        };
        self.journal.arm(fault.of_journal());
        let result = engine.observe(by, body);
        self.journal.arm(None);
        let turned = match result {
            Ok(_) => {
                // A bent engine may call a failed append a success; it must not be saved by a restart.
                self.check()?;
                if fault == TurnFault::CrashAfterDispatch {
                    self.fall(fault)?;
                }
                Turned::Stored
            }
            Err(EngineError::Rejected(rejection)) => {
                self.story.tell(|| format!("refused: {rejection}"));
                self.coverage.rejection(&rejection);
                Turned::Refused(rejection)
            }
            Err(EngineError::Journal(JournalError::Unavailable { .. })) if fault.of_journal().is_some() => {
                self.fall(fault)?;
                Turned::Unclear
            }
            Err(EngineError::Journal(error)) => {
                let sentence = format!("the holder of the lease was refused: {error}");
                return Err(Violation::new(Check::Fencing, sentence));
            }
        };
        self.check()?;
        Ok(turned)
    }

    fn fall(&mut self, fault: TurnFault) -> Result<(), Violation> {
        self.coverage.count("fault", fault.name());
        self.story.tell(|| format!("FAULT {}", fault.name()));
        self.engine = None;
        self.check()?;
        if fault.crashes() {
            self.children_may_die();
            self.open(Reopening::AnotherProcess)
        } else {
            self.open(Reopening::SameProcess)
        }
    }

    /// The process is killed between two turns and started again.
    pub(crate) fn crash(&mut self) -> Result<(), Violation> {
        self.coverage.count("fault", "crash-while-idle");
        self.story.tell(|| "FAULT crash-while-idle".to_owned());
        self.engine = None;
        self.children_may_die();
        self.restart()
    }

    /// A second engine takes the run; the first one does not know.
    pub(crate) fn taken_over(&mut self) -> Result<(), Violation> {
        self.coverage.count("fault", "taken-over");
        self.story.tell(|| "FAULT taken-over: another engine takes the lease".to_owned());
        self.ghost = self.engine.take();
        self.restart()
    }

    pub(crate) fn restart(&mut self) -> Result<(), Violation> {
        self.open(Reopening::AnotherProcess)?;
        self.check()
    }

    fn children_may_die(&mut self) {
        let mut world = self.world.borrow_mut();
        for effect in self.ledger.borrow().run.unsettled.keys() {
            if let Some(flight) = world.flights.get_mut(effect)
                && self.choices.weighted(&[(3, false), (2, true)])
            {
                flight.fate = Fate::Vanished;
                self.story.tell(|| format!("the child of effect {effect} died with it"));
            }
        }
    }

    fn open(&mut self, reopening: Reopening) -> Result<(), Violation> {
        loop {
            if reopening == Reopening::AnotherProcess {
                self.take_lease()?;
            }
            let incarnation = {
                let mut world = self.world.borrow_mut();
                world.incarnation += 1;
                world.incarnation
            };
            let fails = self.season == Season::Faulty && self.choices.once_in(25);
            self.journal.arm(fails.then_some(JournalFault::ReadFails));
            let runner = Runner { world: Rc::clone(&self.world), incarnation };
            let ports = (self.journal.clone(), runner, self.clock.clone());
            let opened = match self.profile.planted {
                None => ready::block_on(Engine::open(ports, self.id.clone(), self.lease.clone(), headline))
                    .map(|engine| Subject::Real(Box::new(engine))),
                Some(bug) => BentEngine::open(ports, self.id.clone(), self.lease.clone(), bug)
                    .map(|engine| Subject::Bent(Box::new(engine))),
            };
            self.journal.arm(None);
            match opened {
                Ok(engine) => {
                    self.story
                        .tell(|| format!("engine {incarnation} reads version {}", engine.run().version));
                    self.engine = Some(engine);
                    return Ok(());
                }
                Err(EngineError::Journal(JournalError::Unavailable { .. })) if fails => {
                    self.coverage.count("fault", "crash-while-recovering");
                    self.story.tell(|| "FAULT crash-while-recovering".to_owned());
                }
                Err(error) => return Err(Violation::new(Check::Replay, error.to_string())),
            }
        }
    }

    fn take_lease(&mut self) -> Result<(), Violation> {
        let owner = format!("owner {}", self.world.borrow().incarnation);
        let truth = self.truth();
        let answer = ready::block_on(async {
            match truth.acquire(self.id.as_str(), &owner, self.now()).await? {
                LeaseAnswer::Held(holder) => truth.take_over(&holder, &owner, self.now()).await,
                granted @ LeaseAnswer::Granted(_) => Ok(granted),
            }
        });
        match answer {
            Ok(LeaseAnswer::Granted(lease)) if lease.fence > self.lease.fence => {
                self.lease = lease;
                Ok(())
            }
            other => Err(Violation::new(Check::Fencing, format!("no higher fence was granted: {other:?}"))),
        }
    }

    /// Everything that must hold now; the story gets what was stored since.
    pub(crate) fn check(&mut self) -> Result<(), Violation> {
        let noted = self.world.borrow_mut().violation.take();
        let result = {
            let mut ledger = self.ledger.borrow_mut();
            let live = self.engine.as_ref().map(Subject::run);
            if self.checking {
                let world = self.world.borrow();
                self.checker.step(&mut ledger, &world.truth, live)
            } else {
                ledger.catch_up()
            }
        };
        self.story.rows(&self.ledger.borrow().rows);
        if let Some(violation) = noted {
            return Err(violation);
        }
        result?;
        self.stops.are_kept(&self.truth(), &self.id, &self.ledger.borrow())
    }

    /// What the child of this effect has to say, drawn when it is first asked for.
    pub(crate) fn outcome_of(&mut self, effect: EffectId) -> Outcome {
        let mut world = self.world.borrow_mut();
        let Some(flight) = world.flights.get(&effect) else {
            return lost();
        };
        let (request, fate) = (flight.request.clone(), flight.fate.clone());
        let outcome = match fate {
            Fate::Answered(outcome) => *outcome,
            Fate::Vanished | Fate::KnownToBeLost => lost(),
            Fate::UnderWay => Answering {
                choices: &mut self.choices,
                temper: self.temper,
                season: self.season,
                run: &self.ledger.borrow().run,
            }
            .answer(&mut world, effect, &request),
        };
        if let Some(flight) = world.flights.get_mut(&effect) {
            flight.fate = Fate::Answered(Box::new(outcome.clone()));
        }
        outcome
    }
}

fn lost() -> Outcome {
    Outcome::Lost { reason: "no child with that start time".to_owned(), usage: Usage::default() }
}

fn headline(run: &Run) -> String {
    format!("{{\"version\":{}}}", run.version)
}

fn brief(body: &Observation) -> String {
    match body {
        Observation::Start { spec, .. } => format!("a start: {}", crate::story::short(&format!("{spec:?}"))),
        Observation::EffectFinished { effect, outcome } => {
            format!("the end of effect {effect}: {}", outcome_name(outcome))
        }
        Observation::StopRequested { reason } => format!("a request to stop: {reason}"),
        Observation::Reopened { caps, .. } => format!("a reopening: {caps:?}"),
        Observation::LandingRequested { landing } => format!("a request to land: {landing:?}"),
        Observation::PersonSaid { word } => format!("a person's word: {word:?}"),
    }
}
