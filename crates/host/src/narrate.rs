//! Facts in sentences, for people. Says nothing the fact does not say.

mod control_loop;
mod goal_loop;
mod roadmap_loop;

use windlass_control_api::events::{LogEntry, Tone};
use windlass_engine::{JournalError, Stored};
use windlass_protocols::effect::{Ask, Purpose};
use windlass_protocols::explain;
use windlass_protocols::kernel::availability::FOR_GOOD;
use windlass_protocols::kernel::gate::{GateFinding, NewTests};
use windlass_protocols::outcome::{Outcome, StepEnd, Trouble, VerdictWord};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::spec::CapRule;
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, OutKind, RetryKind, Source};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Effect, Fact, Role, Run, RunId};

/// Follows a run fact by fact, because some sentences need what went before.
pub(crate) struct Narrator {
    run: Run,
    id: RunId,
}

impl Narrator {
    pub(crate) fn new(id: RunId) -> Self {
        Self { run: Run::default(), id }
    }

    /// For a run whose beginning has been told.
    pub(crate) fn going_on(id: RunId, run: Run) -> Self {
        Self { run, id }
    }

    pub(crate) fn tell(&mut self, stored: &Stored) -> Result<LogEntry, JournalError> {
        let fact = stored.fact(&self.id)?;
        let raw = serde_json::from_str(&stored.payload).unwrap_or_default();
        Ok(self.entry(stored.version, stored.at.0, &fact, raw))
    }

    pub(crate) fn entry(
        &mut self,
        version: u64,
        at_ms: u64,
        fact: &Fact,
        raw: serde_json::Value,
    ) -> LogEntry {
        let ends_a_wait = self.ends_a_wait(fact);
        let is_known = goal_loop::is_known(&self.run, fact);
        self.run.evolve(fact);
        let (text, tone) = if ends_a_wait {
            ("the wait was broken off".to_owned(), Tone::Attention)
        } else if is_known {
            (String::new(), Tone::Quiet)
        } else {
            self.sentence(fact)
        };
        LogEntry {
            version,
            at_ms,
            kind: fact.name().to_owned(),
            round: round(&self.run),
            text,
            tone,
            fact: raw,
        }
    }

    /// Nobody worked, so no step was interrupted.
    fn ends_a_wait(&self, fact: &Fact) -> bool {
        let Fact::EffectSettled { effect, outcome: Outcome::Interrupted { .. } } = fact else { return false };
        matches!(self.run.unsettled.get(effect), Some(Effect::Wait(_)))
    }

    fn sentence(&self, fact: &Fact) -> (String, Tone) {
        match fact {
            Fact::RunStarted { spec, by, .. } => {
                let (task, mut most) = (spec.task(), spec.caps().rounds);
                if let Spec::FeedbackControl(spec) = spec
                    && spec.cap_rule == CapRule::StrictOriginal
                {
                    most = most.saturating_sub(1);
                }
                let what = match spec {
                    Spec::JudgedTask(_) | Spec::RoadmapRounds(_) => "round",
                    Spec::FeedbackControl(_) => "actuation",
                    Spec::GoalContract(_) => "iteration",
                };
                let most = match most {
                    0 => format!("no {what}, as the original counts"),
                    1 => format!("one {what}"),
                    u32::MAX if matches!(spec, Spec::RoadmapRounds(_)) => {
                        "rounds until the roadmap is complete".to_owned()
                    }
                    u32::MAX => format!("{what}s as the contract caps them"),
                    _ => format!("up to {most} {what}s"),
                };
                (format!("{by} starts {task}: {most}"), Tone::Plain)
            }
            Fact::EffectRequested { request, .. } => {
                let (text, tone) = match request {
                    Effect::RunChecks(checks) if goal_loop::state(&self.run).is_some() => {
                        goal_loop::pre_commit(checks)
                    }
                    request => requested(request),
                };
                let stand_in = explain::stand_in(&self.run, request);
                (stand_in.map_or(text.clone(), |agent| format!("{text}: its fallback {agent}")), tone)
            }
            Fact::EffectSettled { outcome, .. } => settled(outcome),
            Fact::StopAsked { by, reason } => (format!("{by} asks it to stop: {reason}"), Tone::Attention),
            Fact::RunReopened { by, note, .. } => match note {
                Some(note) => (format!("{by} takes it up again: {note}"), Tone::Plain),
                None => (format!("{by} takes it up again"), Tone::Plain),
            },
            Fact::PersonSaid { by, word } => (format!("{by} {}", word.words()), Tone::Plain),
            Fact::LandingAsked { by, .. } => (format!("{by} asks to land the accepted change"), Tone::Plain),
            // What is stopped does not go on.
            Fact::JudgedTask(TaskFact::StepRetried { kind: RetryKind::Interrupted, .. })
                if self.run.stop.is_some() =>
            {
                (String::new(), Tone::Quiet)
            }
            Fact::JudgedTask(fact) => task(fact),
            Fact::FeedbackControl(fact) => control_loop::sentence(&self.run, fact),
            Fact::GoalContract(fact) => goal_loop::sentence(&self.run, fact),
            Fact::RoadmapRounds(fact) => roadmap_loop::sentence(&self.run, fact),
            // A tenant's stream is no run: its own views tell it.
            Fact::StoryQueue(_) => (String::new(), Tone::Quiet),
            Fact::RunEnded => (explain::explain(&self.run).now, Tone::Quiet),
        }
    }
}

fn round(run: &Run) -> u32 {
    run.started.as_ref().map_or(0, |started| started.protocol.round())
}

fn requested(request: &Effect) -> (String, Tone) {
    match request {
        Effect::RunAgent(agent) => {
            let again = match (&agent.ask, agent.attempt) {
                (Ask::Repair { .. }, _) => ", asked to mend its answer",
                (Ask::Fresh { .. }, 1) => "",
                (Ask::Fresh { .. }, _) => ", once more",
            };
            let verb = match agent.role {
                Role::Doer => "the doer works",
                Role::Judge => "the judge looks at the change",
                Role::Auditor => "the auditor looks at the change",
                Role::Sensor => "a sensor measures",
                Role::Controller => "the controller looks and plans",
                Role::Actuator => "the actuator works",
                Role::Planner => "the planner designs it",
                Role::Builder => "the builder works",
                Role::Evaluator => "the evaluator looks at it",
                Role::Implementer => "the implementer works",
                Role::Reviewer => "the reviewer looks at it",
                Role::Investigator => "the investigator looks into it",
            };
            if let Some(asked) = &agent.work {
                return (format!("{}{again}", roadmap_loop::working(&asked.work)), Tone::Plain);
            }
            let place = match &agent.item {
                Some(item) => format!("{item}: "),
                None => control_loop::place(agent.node.as_ref()),
            };
            (format!("{place}{verb}{again}"), Tone::Plain)
        }
        Effect::RunChecks(checks) => {
            let count = checks.commands.len();
            let plural = if count == 1 { "check" } else { "checks" };
            let place = match checks.purpose {
                Purpose::Baseline => "at the base",
                Purpose::Acceptance => "on the change",
                Purpose::Audit => "for the audit",
            };
            (format!("the engine runs {count} {plural} {place}"), Tone::Plain)
        }
        Effect::InspectGate(gate) => {
            let count = gate.commands.len();
            let plural = if count == 1 { "check" } else { "checks" };
            let text =
                format!("the engine runs {count} {plural} with the base's own tests and configuration");
            (text, Tone::Plain)
        }
        Effect::Wait(wait) => {
            let until = local_time(wait.until.0);
            (format!("waiting until {until} to ask the {}: {}", wait.role, wait.why), Tone::Attention)
        }
        Effect::LandChange(_) => ("landing".to_owned(), Tone::Quiet),
        Effect::Measure(asked) => control_loop::measuring(asked),
        Effect::CommitIteration(asked) => (format!("committing iteration {}", asked.label), Tone::Quiet),
        Effect::ReadQueue { .. } => ("reading the contract and the queue".to_owned(), Tone::Quiet),
        Effect::RunSuite(asked) => goal_loop::testing(asked),
        Effect::CommitItem(asked) => goal_loop::committing(asked),
        Effect::Plane(step) => roadmap_loop::stepping(step),
        Effect::PrepareWorkspaces => ("preparing the workspaces".to_owned(), Tone::Quiet),
        Effect::CaptureChange { .. } => ("taking the snapshot".to_owned(), Tone::Quiet),
        Effect::CloseRun(_) => ("closing".to_owned(), Tone::Quiet),
    }
}

fn settled(outcome: &Outcome) -> (String, Tone) {
    match outcome {
        Outcome::AgentEnded(report) => match (&report.trouble, &report.end) {
            (Some(trouble), _) => (format!("the {} {}", report.role, troubled(trouble)), Tone::Bad),
            (None, StepEnd::Exited { code: 0 }) => {
                (format!("the {} is done{}", report.role, control_loop::with_model(report)), Tone::Quiet)
            }
            (None, other) => (format!("the {} {}", report.role, ended(other)), Tone::Bad),
        },
        Outcome::ChecksRan(report) => {
            let red: Vec<String> =
                report.red().map(|result| format!("`{}` {}", result.command, ended(&result.end))).collect();
            match (red.is_empty(), report.purpose) {
                (true, _) => ("all green".to_owned(), Tone::Good),
                (false, Purpose::Baseline) => {
                    (format!("red before any change: {}", red.join(", ")), Tone::Attention)
                }
                (false, Purpose::Acceptance | Purpose::Audit) => {
                    (format!("red: {}", red.join(", ")), Tone::Bad)
                }
            }
        }
        Outcome::Lost { reason, .. } => {
            (format!("nobody saw the end of this step: {reason}"), Tone::Attention)
        }
        Outcome::Interrupted { .. } => ("the step was interrupted".to_owned(), Tone::Attention),
        Outcome::Refused { reason } => (reason.clone(), Tone::Bad),
        Outcome::GateInspected(report) => {
            let news: Vec<String> = report.new_tests.iter().map(NewTests::words).collect();
            (news.join(", "), Tone::Quiet)
        }
        Outcome::SuiteRan(report) => goal_loop::tested(report),
        Outcome::Plane(outcome) => roadmap_loop::stepped(outcome),
        Outcome::Measured(_)
        | Outcome::QueueRead(_)
        | Outcome::ItemCommitted { .. }
        | Outcome::IterationCommitted { .. }
        | Outcome::Prepared { .. }
        | Outcome::ChangeCaptured(_)
        | Outcome::Landed(_)
        | Outcome::Waited
        | Outcome::Closed => (String::new(), Tone::Quiet),
    }
}

fn troubled(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Limited { why, .. } => format!("was told to wait: {why}"),
        Trouble::Unavailable { why } => format!("could not reach its provider: {why}"),
        Trouble::Misconfigured { why } => format!("cannot work as it is set up: {why}"),
        Trouble::CapPassed { dimension } => format!("used up its {dimension} and was ended"),
        Trouble::Destructive { command } => format!("was ended for a destructive command: {command}"),
        Trouble::Failed { why } => why.clone(),
    }
}

fn ended(end: &StepEnd) -> String {
    match end {
        StepEnd::Exited { code } => format!("exited with {code}"),
        StepEnd::Signaled { signal } => format!("was ended by signal {signal}"),
        StepEnd::TotalLimit => "ran into its time limit".to_owned(),
        StepEnd::IdleLimit => "was silent too long".to_owned(),
        StepEnd::OutputLimit => "printed too much".to_owned(),
        StepEnd::MemoryLimit => "used too much memory".to_owned(),
        StepEnd::ProcessLimit => "started too many processes".to_owned(),
        StepEnd::NotStarted { reason } => format!("could not be started: {reason}"),
    }
}

fn task(fact: &TaskFact) -> (String, Tone) {
    match fact {
        TaskFact::BaseFixed { commit, .. } => {
            (format!("the base is {}", short(commit.as_str())), Tone::Plain)
        }
        TaskFact::ChecksPassed { gate, .. } if !gate.is_empty() => found(gate),
        TaskFact::GateInspected { report } if !report.findings.is_empty() => found(&report.findings),
        TaskFact::BaselineMeasured { .. }
        | TaskFact::HandoffTaken { .. }
        | TaskFact::ChecksPassed { .. }
        | TaskFact::GateInspected { .. } => (String::new(), Tone::Quiet),
        TaskFact::RoundOpened { round } => (format!("round {round}"), Tone::Plain),
        TaskFact::ChangeTaken { change } => {
            let plural = if change.files_changed == 1 { "file" } else { "files" };
            let text =
                format!("{} {plural} changed, tree {}", change.files_changed, short(change.tree.as_str()));
            if change.gate.is_empty() {
                return (text, Tone::Plain);
            }
            let (findings, tone) = found(&change.gate);
            (format!("{text}; {findings}"), tone)
        }
        TaskFact::RepairAsked { role, faults } => {
            (format!("the {role}'s answer cannot be used: {}", faults.join("; ")), Tone::Attention)
        }
        TaskFact::StepRetried { stage, why, kind } => {
            let again = match kind {
                RetryKind::Interrupted => "goes on",
                RetryKind::Lost | RetryKind::Failed => "tried again",
            };
            (format!("{}: {why}; {again}", stage_words(*stage)), Tone::Attention)
        }
        TaskFact::AgentOut { agent, until, kind: OutKind::Misconfigured, .. } if *until == FOR_GOOD => {
            (format!("{agent} is not asked again before a person has looked"), Tone::Attention)
        }
        TaskFact::AgentOut { agent, until, .. } => {
            (format!("{agent} is not asked before {}", local_time(until.0)), Tone::Attention)
        }
        TaskFact::VerdictTaken { role, word, source, waivers, .. } => {
            let (text, tone) = verdict(*role, *word, source);
            let names: Vec<&str> = waivers.iter().map(|waiver| waiver.finding.name()).collect();
            if names.is_empty() {
                (text, tone)
            } else {
                (format!("{text}, waives {}", names.join(", ")), tone)
            }
        }
        TaskFact::RoundRejected { round, by, .. } => {
            (format!("round {round} rejected: {}", by.words()), Tone::Bad)
        }
        TaskFact::Concluded { end } => conclusion(end),
        TaskFact::Landed { commit, reference, .. } => {
            (format!("landed as {} on {reference}", short(commit.as_str())), Tone::Good)
        }
    }
}

fn found(findings: &[GateFinding]) -> (String, Tone) {
    let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    (format!("found about the gate: {}", names.join(", ")), Tone::Attention)
}

const fn stage_words(stage: Stage) -> &'static str {
    stage.words()
}

fn verdict(role: Role, word: VerdictWord, source: &Source) -> (String, Tone) {
    let tone = match word {
        VerdictWord::Pass => Tone::Good,
        VerdictWord::Reject => Tone::Bad,
        VerdictWord::NeedsHuman => Tone::Attention,
    };
    let said = if role == Role::Auditor { word.gate_word() } else { word.word() };
    match source {
        Source::Agent { .. } => (format!("the {role} says {said}"), tone),
        Source::Engine { why } => (format!("the engine says {said}: {why}"), tone),
    }
}

fn conclusion(end: &End) -> (String, Tone) {
    match end {
        End::Accepted { tree } => (format!("accepted: tree {}", short(tree.as_str())), Tone::Good),
        End::Rejected { by } => (format!("rejected: {}", by.words()), Tone::Bad),
        End::NeedsHuman { .. } => ("needs a person".to_owned(), Tone::Attention),
        End::Exhausted { dimension } => (format!("nothing is left of its {dimension}"), Tone::Attention),
        End::Stopped { by, .. } => (format!("stopped by {by}"), Tone::Attention),
        End::SetupFailed { reason } => (format!("could not be set up: {reason}"), Tone::Bad),
    }
}

pub(crate) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// A moment in the user's own time zone.
pub(crate) fn local_time(at_ms: u64) -> String {
    let millis = i64::try_from(at_ms).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(moment) => moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "some unknown time".to_owned(),
    }
}
