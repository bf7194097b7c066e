//! Drives one run in the foreground: everything that can wake it is on this screen. Answers become observations, facts
//! become files and events, signals and messages become requests to stop.

use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::effect_runner::{Answered, HostRunner, Telling};
use crate::fault::{bug, engine_fault, journal_fault};
use crate::headline;
use crate::holder::HeldRepository;
use crate::host::Host;
use crate::narrate::Narrator;
use crate::notify::Follower;
use crate::past::Past;
use crate::projection::Projector;
use crate::shutdown::Listening;
use crate::spending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_control_api::Fault;
use windlass_control_api::events::{Event, Progress, Watcher};
use windlass_control_api::money::Spent;
use windlass_engine::{Clock, Engine, EngineError, Journal, JournalError, Lease};
use windlass_journal::SqliteJournal;
use windlass_process_supervisor::Shutdown;
use windlass_protocols::{Actor, Effect, Fact, Observation, Run, RunId};

/// How often the screen and the mailbox are looked at. Nothing that matters waits for this.
const TICK: Duration = Duration::from_millis(200);

pub(crate) struct Driver<'a> {
    context: Arc<RunContext>,
    engine: Engine<SqliteJournal, HostRunner, SystemClock>,
    answers: mpsc::UnboundedReceiver<Answered>,
    projector: Projector,
    narrator: Narrator,
    watcher: &'a dyn Watcher,
    aim: Aim,
    shutdown: Listening,
    asked_to_shut_down: Option<Shutdown>,
    repository: Option<&'a HeldRepository>,
    /// What the steps that have ended used.
    spent: Spent,
    /// Puts down what people who do not watch are to be told.
    follower: Option<Follower>,
}

/// What whoever drives a run has in their hands.
pub(crate) struct Hands<'a> {
    pub(crate) lease: Lease,
    /// Absent where a run is only ended and its repository is in another process's hands.
    pub(crate) repository: Option<&'a HeldRepository>,
}

/// What a run is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    GoOn,
    /// Nothing that has not begun is begun, a landing least of all.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driven {
    Ended,
    /// The process was asked to go; the run can be resumed.
    Interrupted,
}

/// What a person or another process leaves in a run's mailbox.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct StopMessage {
    pub(crate) stop: String,
    pub(crate) by: String,
}

impl<'a> Driver<'a> {
    /// Reads the run and brings its directory in line. What is unsettled waits for `go_to_the_end`: whoever brings an
    /// observation along must not have started anything when it is refused.
    pub(crate) async fn open(
        host: &Host,
        context: Arc<RunContext>,
        hands: Hands<'a>,
        watcher: &'a dyn Watcher,
        (mut past, aim): (Past, Aim),
    ) -> Result<Driver<'a>, Fault> {
        let shutdown = host.shutdown.borrow()?;
        let journal = host.journal.clone();
        let run = context.run.clone();
        past.catch_up(&journal).await?;
        let Past { facts, run: folded, .. } = past;
        check_end(&journal, &run, folded.version).await.map_err(journal_fault)?;
        let narrator = Narrator::going_on(run.clone(), folded.clone());
        if folded.ended {
            drop_old_mail(&journal, &run).await?;
        }
        let (runner, answers) = HostRunner::new(Arc::clone(&context));
        let engine = Engine::over((journal, runner, SystemClock), run, hands.lease, folded, headline::of);
        let mut projector = Projector::new(&context);
        for text in projector.catch_up(&context, &facts)? {
            watcher.hear(&Event::Notice { text });
        }
        for text in &context.notify.untrusted {
            watcher.hear(&Event::Notice { text: text.clone() });
        }
        let known = (facts.as_slice(), engine.run());
        let follower = Follower::open(&host.courier, (&context.run, &context.notify), known);
        let follower = follower.unwrap_or_else(|fault| {
            watcher.hear(&Event::Notice { text: format!("nobody will be notified: {}", fault.message) });
            None
        });
        Ok(Self {
            context,
            engine,
            answers,
            projector,
            narrator,
            watcher,
            aim,
            shutdown,
            asked_to_shut_down: None,
            repository: hands.repository,
            spent: spending::of_facts(&facts),
            follower,
        })
    }

    /// Records the wish and tells whatever is under way.
    pub(crate) async fn stop(&mut self, by: Actor, reason: String) -> Result<(), Fault> {
        let before = self.engine.run().version;
        match self.engine.observe(by, Observation::StopRequested { reason }).await {
            Ok(facts) => self.tell(before, &facts),
            Err(EngineError::Rejected(_)) => {}
            Err(error) => return Err(engine_fault(error)),
        }
        self.engine.runner().tell_children(Telling::Stop);
        Ok(())
    }

    pub(crate) const fn spent(&self) -> Spent {
        self.spent
    }

    pub(crate) fn run(&self) -> &Run {
        self.engine.run()
    }

    /// One observation from outside: start, reopen, land.
    pub(crate) async fn observe(&mut self, by: Actor, observation: Observation) -> Result<(), Fault> {
        self.look_after_repository()?;
        // What facts speak of must be as durable as they are.
        self.context.evidence.flush()?;
        let before = self.engine.run().version;
        let facts = self.engine.observe(by, observation).await.map_err(engine_fault)?;
        self.tell(before, &facts);
        for text in self.projector.follow(&self.context, &facts)? {
            self.notice(&text);
        }
        for text in self.engine.runner().clear_the_way()? {
            self.notice(&text);
        }
        Ok(())
    }

    fn launch(&mut self) -> Result<(), Fault> {
        match self.aim {
            Aim::GoOn => self.engine.runner().launch(),
            Aim::Stop => self.engine.runner().launch_only_what_began()?,
        }
        Ok(())
    }

    pub(crate) async fn go_to_the_end(&mut self) -> Result<Driven, Fault> {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        if let Some(request) = self.shutdown.waiting().await
            && self.shut_down(request)
        {
            return Ok(Driven::Interrupted);
        }
        loop {
            if self.engine.run().ended {
                return Ok(Driven::Ended);
            }
            if self.asked_to_shut_down.is_some() && self.engine.runner().is_idle() {
                return Ok(Driven::Interrupted);
            }
            if self.asked_to_shut_down.is_none() {
                self.launch()?;
            }
            tokio::select! {
                answer = self.answers.recv() => match answer {
                    Some(answer) => self.answered(answer).await?,
                    None => return Err(bug("the effect runner went away")),
                },
                request = self.shutdown.next() => {
                    if self.shut_down(request) {
                        return Ok(Driven::Interrupted);
                    }
                }
                _ = tick.tick() => {
                    self.look_after_repository()?;
                    self.read_mail().await?;
                    self.show_progress();
                }
            }
        }
    }

    /// Nothing is decided for a repository that another process has by now.
    fn look_after_repository(&self) -> Result<(), Fault> {
        if let Some(text) = self.repository.map(HeldRepository::look_after).transpose()?.flatten() {
            self.notice(&text);
        }
        Ok(())
    }

    async fn answered(&mut self, answer: Answered) -> Result<(), Fault> {
        self.engine.runner().forget(answer.effect);
        let outcome = answer.result?;
        if self.asked_to_shut_down.is_some() {
            // The result is safe where the step left it; whoever resumes the run takes it up from there.
            return Ok(());
        }
        let observation = Observation::EffectFinished { effect: answer.effect, outcome };
        self.observe(Actor::Engine, observation).await
    }

    /// First: no new steps, children are told. Second: children are killed. Third: gone at once.
    fn shut_down(&mut self, request: Shutdown) -> bool {
        self.asked_to_shut_down = Some(request);
        let run = &self.context.run;
        match request {
            Shutdown::First => {
                self.engine.runner().tell_children(Telling::Stop);
                let again = match self.engine.runner().under_way().next() {
                    Some((_, under_way)) => match under_way.effect {
                        Effect::RunAgent(_) => {
                            " (the agent is told to end, and asked anew then; again to kill the agent)"
                        }
                        Effect::RunChecks(_) => " (again to kill the check)",
                        _ => "",
                    },
                    None => "",
                };
                self.notice(&format!(
                    "stopping; everything is kept and `windlass resume {run}` goes on{again}"
                ));
                false
            }
            Shutdown::Second => {
                self.engine.runner().tell_children(Telling::Kill);
                self.notice("killing the agent (again to leave at once)");
                false
            }
            Shutdown::Third => {
                self.follower.iter().for_each(Follower::leave_at_once);
                true
            }
        }
    }

    async fn read_mail(&mut self) -> Result<(), Fault> {
        let messages = self.engine.journal().messages(&self.context.run).await.map_err(journal_fault)?;
        for message in messages {
            if let Ok(StopMessage { stop, by }) = serde_json::from_str(&message.body) {
                self.stop(Actor::Human(by), stop).await?;
            }
            self.engine.journal().acknowledge(&message).await.map_err(journal_fault)?;
        }
        Ok(())
    }

    fn tell(&mut self, before: u64, facts: &[Fact]) {
        let at = SystemClock.now();
        self.spent = self.spent.plus(spending::of_facts(facts));
        for (version, fact) in (before..).zip(facts) {
            let raw = serde_json::to_value(fact).unwrap_or_default();
            let entry = self.narrator.entry(version, at.0, fact, raw);
            self.watcher.hear(&Event::Fact(entry));
        }
        if let Some(Err(fault)) = self.follower.as_mut().map(|follower| follower.follow(facts)) {
            self.notice(&format!("somebody could not be notified yet: {}", fault.message));
        }
    }

    fn notice(&self, text: &str) {
        self.watcher.hear(&Event::Notice { text: text.to_owned() });
    }

    fn show_progress(&mut self) {
        let (round, rounds) = headline::rounds(self.engine.run());
        let iteration = headline::iteration(self.engine.run());
        let runner = self.engine.runner();
        // Agents that work side by side are told of in one line; a step of the controller beside them passes by.
        let (agents, others): (Vec<_>, Vec<_>) =
            runner.under_way().partition(|(_, step)| matches!(step.effect, Effect::RunAgent(_)));
        let shown = if agents.is_empty() { others.into_iter().take(1).collect() } else { agents };
        let Some((_, longest)) = shown.iter().max_by_key(|(_, step)| step.since.elapsed()) else { return };
        let step = shown.iter().fold(Spent::default(), |spent, (_, step)| spent.plus(step.spent()));
        let progress = Progress {
            round,
            rounds,
            iteration,
            actor: actors(&shown.iter().map(|(_, step)| &step.effect).collect::<Vec<_>>()),
            elapsed_ms: u64::try_from(longest.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            last_line: shown.iter().find_map(|(effect, _)| runner.last_line(**effect)),
            step,
            run: self.spent.plus(step),
        };
        self.watcher.hear(&Event::Progress(progress));
    }
}

/// What is found in the mailbox of an ended run was meant for what has ended, and came too late for it.
async fn drop_old_mail(journal: &SqliteJournal, run: &RunId) -> Result<(), Fault> {
    for message in journal.messages(run).await.map_err(journal_fault)? {
        journal.acknowledge(&message).await.map_err(journal_fault)?;
    }
    Ok(())
}

/// Nothing is built on a record whose end was cut off, which its chain cannot tell.
async fn check_end(journal: &SqliteJournal, run: &RunId, version: u64) -> Result<(), JournalError> {
    let heads = journal.runs().await?;
    let listed = heads.iter().find(|head| head.run == *run).map_or(0, |head| head.version);
    if listed == version {
        return Ok(());
    }
    let why = format!("the list says {listed} facts, the journal has {version}");
    Err(JournalError::Corrupt { run: run.clone(), version: listed.min(version), why })
}

/// Everybody at work. Of several, each is named with its round.
fn actors(effects: &[&Effect]) -> String {
    let named = |effect: &&Effect| match effect {
        Effect::RunAgent(agent) if effects.len() > 1 => match &agent.work {
            Some(asked) => format!("{} {}", asked.work.round, agent.role),
            None => agent.role.to_string(),
        },
        effect => actor(effect).to_owned(),
    };
    effects.iter().map(named).collect::<Vec<_>>().join(", ")
}

const fn actor(effect: &Effect) -> &'static str {
    match effect {
        Effect::RunAgent(agent) => agent.role.word(),
        Effect::RunChecks(_) | Effect::InspectGate(_) => "checks",
        Effect::PrepareWorkspaces => "workspaces",
        Effect::CaptureChange { .. } => "snapshot",
        Effect::Measure(_) => "sensors",
        Effect::CommitIteration(_) | Effect::CommitItem(_) => "commit",
        Effect::ReadQueue { .. } => "queue",
        Effect::RunSuite(_) => "tests",
        Effect::Plane(_) => "control plane",
        Effect::LandChange(_) => "landing",
        Effect::Wait(_) => "waiting",
        Effect::CloseRun(_) => "summary",
    }
}
